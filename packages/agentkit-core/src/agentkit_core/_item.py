"""Items: the entries of a transcript. Each has a kind and consists of parts.

    system        instructions that define the agent
    developer     instructions of the application
    context       background material: project notes, summaries
    user          input of the user
    assistant     the model's answer, and the tools it calls
    tool          the results of one round of tool calls, and nothing else
    notification  an event outside the conversation: a background job ended

An item checks, when it is made, that its kind can contain its parts.
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
from agentkit_core.settings import Settings, check_values
from agentkit_core.values import Record, StringEnum


class ItemKind(StringEnum):
    """Who an item comes from, or what it is for."""

    SYSTEM = "system"
    DEVELOPER = "developer"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    CONTEXT = "context"
    NOTIFICATION = "notification"


# Python 3.11 needs some 1,500 machine instructions for `ItemKind.TOOL`, as much as for a small
# function. What is done with each item of a history uses these names.
SYSTEM: Final = ItemKind.SYSTEM
DEVELOPER: Final = ItemKind.DEVELOPER
USER: Final = ItemKind.USER
ASSISTANT: Final = ItemKind.ASSISTANT
TOOL: Final = ItemKind.TOOL


class Provenance(Record, frozen=True, omit_defaults=True):
    """Which model produced an assistant item, and over which protocol.

    Signatures, item ids and encrypted reasoning are valid only for the model that produced them;
    `same_model` compares.

    Attributes:
        provider: The vendor: `openai`, `groq`, …
        api: The wire protocol: `openai_chat`, …
        model: The model that the request named.
        response_id: The provider's id of the response; None if it gave none.
        response_model: The model that answered; None if the provider did not name it.
    """

    provider: str
    api: str
    model: str
    response_id: str | None = None
    response_model: str | None = None

    def same_model(self, provider: str, api: str, model: str) -> bool:
        """Whether provider, protocol and requested model are all the same."""
        return self.model == model and self.api == api and self.provider == provider


class Item(Settings, frozen=True, omit_defaults=True):
    """One entry of a transcript.

    Make items with `Item.user("hi")`, `Item.assistant(…)`, …. To change a field, make a copy with
    `msgspec.structs.replace(item, …)`.

    Attributes:
        kind: Who the item comes from, or what it is for.
        parts: The content, in order; may be empty.
        metadata: Data that owners attach, by namespaced key; often empty.
        id: The id of the item; None if it has none.
        created_at: When the item was appended, in milliseconds since the Unix epoch, as the caller
            says; None if unknown.
        provenance: For assistant items: which model produced it; None if unknown.
        finish_reason: For assistant items: why the response ended; None if unknown.
        usage: For assistant items: what the response used; None if unknown.
        failure: For the partial output of a failed response: what went wrong; else None.
        interrupted: For assistant items: whether cancelling or a failure ended the response early.

    Raises:
        MisplacedPart: A tool call is in an item that is not an assistant item, a tool result is in
            an item that is not a tool item, or a tool item contains something else.
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
        # Most values have the right types, and the general check takes far longer to see that.
        made_at, reason = self.created_at, self.finish_reason
        if (
            type(self.kind) is not ItemKind
            or (self.interrupted is not False and self.interrupted is not True)
            or (made_at is not None and type(made_at) is not int)
            or (reason is not None and type(reason) is not FinishReason)
        ):
            check_values(self)
        item_kind = self.kind
        for part in self.parts:
            kind = type(part)
            if kind is Text and item_kind is not TOOL:
                continue
            if (kind is ToolResult) is not (item_kind is TOOL) or (
                kind is ToolCall and item_kind is not ASSISTANT
            ):
                raise MisplacedPart(KIND_OF_PART[kind].value, kind=item_kind.value)

    @property
    def text(self) -> str:
        """The text parts, joined without a separator; empty if there are none."""
        return "".join(part.text for part in self.parts if type(part) is Text)

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The tool calls, in order."""
        if self.kind is not ASSISTANT:
            return ()
        return tuple([part for part in self.parts if type(part) is ToolCall])

    @property
    def tool_results(self) -> tuple[ToolResult, ...]:
        """The tool results, in order."""
        if self.kind is not TOOL:
            return ()
        return tuple([part for part in self.parts if type(part) is ToolResult])

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
        """Make a tool item from the results of one round of calls, in call order."""
        return cls(ItemKind.TOOL, results)

    @classmethod
    def notification(cls, *content: str | Part) -> Item:
        """Make a notification item; text becomes a text part."""
        return cls._of(ItemKind.NOTIFICATION, content)

    @classmethod
    def _of(cls, kind: ItemKind, content: tuple[str | Part, ...]) -> Item:
        for part in content:
            if not isinstance(part, str) and type(part) not in KIND_OF_PART:
                raise TypeError(
                    f"{part!r} is not a valid part of an item; give texts and parts, such as "
                    f"Text(…) or Media(…)"
                )
        return cls(kind, tuple(Text(part) if isinstance(part, str) else part for part in content))


ANSWERABLE_KINDS: Final = frozenset({ItemKind.USER, ItemKind.TOOL, ItemKind.NOTIFICATION})
"""Kinds of item that the model has to answer when they are the last of a transcript."""


def has_calls(item: Item) -> bool:
    """Whether an item contains a tool call; faster than `tool_calls`."""
    if item.kind is ASSISTANT:
        for part in item.parts:
            if type(part) is ToolCall:
                return True
    return False


def with_parts(item: Item, parts: Sequence[Part]) -> Item:
    """Return an item with other parts; the same item if the parts are the same objects."""
    unchanged = len(parts) == len(item.parts) and all(map(is_, parts, item.parts))
    return item if unchanged else replace(item, parts=tuple(parts))
