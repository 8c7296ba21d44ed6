"""Items: the entries of a transcript, each of one kind and made of parts.

    system        what the agent is to be
    developer     the application's own instructions
    context       standing material: project notes, summaries
    user          what the user says
    assistant     what the model says and which tools it calls
    tool          the results of one round of calls, and nothing else
    notification  what happened meanwhile: a background job ended

What a kind may hold is checked when an item is made.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import is_
from typing import Final

from msgspec import field
from msgspec.structs import replace

from agentkit_core._errors import MisplacedPart
from agentkit_core._failure import ProviderFailure
from agentkit_core._finish import FinishReason
from agentkit_core._ids import MessageId
from agentkit_core._metadata import MetadataMap
from agentkit_core._part import KIND_OF_PART, Part, Text, ToolCall, ToolResult
from agentkit_core._usage import Usage
from agentkit_core.values import Record, StringEnum


class ItemKind(StringEnum):
    """Whose voice an item is."""

    SYSTEM = "system"
    DEVELOPER = "developer"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    CONTEXT = "context"
    NOTIFICATION = "notification"


class Provenance(Record, frozen=True, omit_defaults=True):
    """Which model made an assistant item, and over which protocol.

    Signatures, item ids and encrypted reasoning are worth something only to where they
    came from: `same_model` says whether that is so.

    Attributes:
        provider: Who answered: `openai`, `groq`, …
        api: The wire protocol: `openai_chat`, …
        model: The model that was asked for.
        response_id: The provider's own id of the response.
        response_model: The model that answered, where the provider names it.
    """

    provider: str
    api: str
    model: str
    response_id: str | None = None
    response_model: str | None = None

    def same_model(self, provider: str, api: str, model: str) -> bool:
        """Whether provider, protocol and requested model are all these."""
        return self.model == model and self.api == api and self.provider == provider


class Item(Record, frozen=True, omit_defaults=True):
    """One entry of a transcript.

    Make one with `Item.user("hi")`, `Item.assistant(…)`, …; change a field with
    `msgspec.structs.replace(item, …)`; the old item stays as it was.

    Raises:
        MisplacedPart: A tool call outside an assistant item, a tool result outside a tool
            item, or anything else inside one.

    Attributes:
        parts: In the order in which they were said.
        created_at: When it was appended, in milliseconds since the Unix epoch; given by the caller.
        provenance: Assistant items: who made it.
        finish_reason: Assistant items: why the response ended.
        usage: Assistant items: what the response used.
        failure: Assistant items that are the partial output of a failed response: what went wrong.
        interrupted: Assistant items: whether the response was cut off, by cancelling or by a
            failure.
    """

    kind: ItemKind
    parts: tuple[Part, ...] = ()
    metadata: MetadataMap = field(default_factory=dict)
    id: MessageId | None = None
    created_at: int | None = None
    provenance: Provenance | None = None
    finish_reason: FinishReason | None = None
    usage: Usage | None = None
    failure: ProviderFailure | None = None
    interrupted: bool = False

    def __post_init__(self) -> None:
        tool_item = self.kind is ItemKind.TOOL
        for part in self.parts:
            kind = type(part)
            if (kind is ToolResult) is not tool_item or (
                kind is ToolCall and self.kind is not ItemKind.ASSISTANT
            ):
                raise MisplacedPart(KIND_OF_PART[kind].value, kind=self.kind.value)

    @property
    def text(self) -> str:
        """The text parts, joined with nothing between; empty when there are none."""
        return "".join(part.text for part in self.parts if type(part) is Text)

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The tool calls, in order."""
        return tuple(part for part in self.parts if type(part) is ToolCall)

    @property
    def tool_results(self) -> tuple[ToolResult, ...]:
        """The tool results, in order."""
        return tuple(part for part in self.parts if type(part) is ToolResult)

    @classmethod
    def system(cls, *content: str | Part) -> Item:
        """Make a system item; text becomes a text part."""
        return cls._of(ItemKind.SYSTEM, content)

    @classmethod
    def developer(cls, *content: str | Part) -> Item:
        """Make a developer item; text becomes a text part."""
        return cls._of(ItemKind.DEVELOPER, content)

    @classmethod
    def context(cls, *content: str | Part) -> Item:
        """Make a context item; text becomes a text part."""
        return cls._of(ItemKind.CONTEXT, content)

    @classmethod
    def user(cls, *content: str | Part) -> Item:
        """Make a user item; text becomes a text part."""
        return cls._of(ItemKind.USER, content)

    @classmethod
    def assistant(cls, *content: str | Part) -> Item:
        """Make an assistant item; text becomes a text part."""
        return cls._of(ItemKind.ASSISTANT, content)

    @classmethod
    def tool(cls, *results: ToolResult) -> Item:
        """Make a tool item of the results of one round, in call order."""
        return cls(ItemKind.TOOL, results)

    @classmethod
    def notification(cls, *content: str | Part) -> Item:
        """Make a notification item; text becomes a text part."""
        return cls._of(ItemKind.NOTIFICATION, content)

    @classmethod
    def _of(cls, kind: ItemKind, content: tuple[str | Part, ...]) -> Item:
        for one in content:
            if not isinstance(one, str) and type(one) not in KIND_OF_PART:
                raise TypeError(f"an item is made of texts and parts, not of {one!r}")
        return cls(kind, tuple(Text(one) if isinstance(one, str) else one for one in content))


ANSWERABLE_KINDS: Final = frozenset({ItemKind.USER, ItemKind.TOOL, ItemKind.NOTIFICATION})
"""Kinds of item that ask for an answer of the model when they stand last."""


def has_calls(item: Item) -> bool:
    """Whether there is any tool call; the quick question before `tool_calls`."""
    return item.kind is ItemKind.ASSISTANT and ToolCall in map(type, item.parts)


def with_parts(item: Item, parts: Sequence[Part]) -> Item:
    """Give an item other parts; the same item when they are the same objects."""
    same = len(parts) == len(item.parts) and all(map(is_, parts, item.parts))
    return item if same else replace(item, parts=tuple(parts))
