"""A model that answers from a script, for tests."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any

from msgspec import Struct

from agentkit_core import (
    FailureKind,
    FinishReason,
    JsonValue,
    ModelRequest,
    Part,
    Provenance,
    ProviderFailure,
    Reasoning,
    SessionId,
    Text,
    TokenUsage,
    ToolCall,
    ToolCallId,
    Usage,
    to_json,
)
from agentkit_core.provider import (
    AppendText,
    BeginPart,
    ModelEvent,
    PartId,
    ResponseFailed,
    ResponseFinished,
    ResponseStarted,
    UsageReported,
)
from agentkit_core.provider import CommitPart as _CommitPart

Batch = Sequence[ModelEvent]


class Reply(Struct, frozen=True, kw_only=True):
    """One answer of a scripted model.

    Attributes:
        batches: What comes of it, one network read after another.
        hangs: Whether the answer never ends after that; needs an event loop.
    """

    batches: tuple[Batch, ...]
    hangs: bool = False

    @classmethod
    def of(
        cls,
        *parts: str | Part,
        finish_reason: FinishReason | None = None,
        usage: Usage | None = None,
        failure: ProviderFailure | None = None,
        hangs: bool = False,
        piece: int = 8,
    ) -> Reply:
        """Make an answer of its parts.

        Args:
            *parts: What it consists of; a text becomes a text part. Text, reasoning and the
                arguments of calls come in pieces, other parts whole.
            finish_reason: Why it ends; None means that it is completed, or waits for its calls.
            usage: What it used; None means one request with unknown numbers.
            failure: What goes wrong in the end; None means nothing.
            hangs: Whether it never ends.
            piece: How many characters come with a read.
        """
        made = [Text(text=part) if isinstance(part, str) else part for part in parts]
        batches: list[Batch] = [
            batch for at, part in enumerate(made) for batch in _pieces(part, f"part-{at}", piece)
        ]
        if usage is not None:
            batches.append((UsageReported(usage),))
        if failure is not None:
            batches.append((ResponseFailed(failure),))
        elif not hangs:
            calls = any(isinstance(part, ToolCall) for part in made)
            usual = FinishReason.TOOL_CALL if calls else FinishReason.COMPLETED
            batches.append((ResponseFinished(finish_reason or usual),))
        return cls(batches=tuple(batches), hangs=hangs)


Scripted = Reply | str | ToolCall | ProviderFailure | Callable[[ModelRequest], "Scripted"]
"""An answer, or what it consists of, or what makes it of the request."""


def say(text: str, *, input: int = 10, output: int = 5) -> Reply:  # noqa: A002
    """Make an answer that is a text, with a usage of so many tokens."""
    tokens = TokenUsage(input=input, output=output)
    return Reply.of(text, usage=Usage(tokens=tokens, requests=1, reported_requests=1))


def call(name: str, arguments: dict[str, JsonValue] | None = None, call_id: str = "c1") -> ToolCall:
    """Make a tool call; as an answer, it stands alone."""
    return ToolCall(id=ToolCallId(call_id), name=name, input=arguments or {})


def fail(
    kind: FailureKind = FailureKind.OVERLOADED,
    *,
    retryable: bool = True,
    retry_after_s: float | None = None,
) -> ProviderFailure:
    """Make a failure; as an answer, nothing comes before it."""
    return ProviderFailure(
        kind=kind,
        message="scripted failure",
        retryable=retryable,
        retry_after_s=retry_after_s,
    )


class ScriptedModel:
    """A model that gives the answers it was told to give, one per request, in order.

    Fits `Model` and `BlockingModel`. A request beyond the script fails, and says so.

    Args:
        *script: The answers; a function is asked with the request.
        name: The model's id.
    """

    def __init__(self, *script: Scripted, name: str = "scripted") -> None:
        self.requests: list[ModelRequest] = []
        """What it was asked, in order."""
        self.open_responses = 0
        """How many answers are being read and were not closed."""
        self._script = list(script)
        self._name = name

    @property
    def name(self) -> str:
        """The model's id."""
        return self._name

    def open(self, session_id: SessionId, /) -> _Conversation:
        """Open a session for an event loop."""
        return _Conversation(self)

    def open_blocking(self, session_id: SessionId, /) -> _BlockingConversation:
        """Open a session for callers without an event loop."""
        return _BlockingConversation(self)

    def answer(self, request: ModelRequest) -> Reply:
        """Take a request and say what comes of it."""
        at = len(self.requests)
        self.requests.append(request)
        if at >= len(self._script):
            text = f"the script has {len(self._script)} answers and was asked for one more"
            return _reply(ProviderFailure(kind=FailureKind.INVALID_REQUEST, message=text), request)
        return _reply(self._script[at], request)

    def started(self) -> ResponseStarted:
        """What each answer begins with."""
        return ResponseStarted(Provenance("scripted", "scripted", self._name))


class _Conversation:
    def __init__(self, model: ScriptedModel) -> None:
        self._model = model

    async def respond(self, request: ModelRequest, /) -> AsyncIterator[Batch]:
        from anyio import sleep_forever  # an event loop runs, so it is there
        from anyio.lowlevel import checkpoint

        reply = self._model.answer(request)
        self._model.open_responses += 1
        try:
            yield (self._model.started(),)
            for batch in reply.batches:
                await checkpoint()
                yield batch
            if reply.hangs:
                await sleep_forever()
        finally:
            self._model.open_responses -= 1

    async def close(self) -> None:
        return None


class _BlockingConversation:
    def __init__(self, model: ScriptedModel) -> None:
        self._model = model

    def respond(self, request: ModelRequest, /) -> Iterator[Batch]:
        reply = self._model.answer(request)
        self._model.open_responses += 1
        try:
            yield (self._model.started(),)
            yield from reply.batches
            if reply.hangs:
                raise RuntimeError("an answer that hangs would block for ever")
        finally:
            self._model.open_responses -= 1

    def close(self) -> None:
        return None


def _reply(scripted: Scripted, request: ModelRequest) -> Reply:
    match scripted:
        case Reply():
            return scripted
        case str() | ToolCall():
            return Reply.of(scripted)
        case ProviderFailure():
            return Reply.of(failure=scripted)
        case _:
            return _reply(scripted(request), request)


def _pieces(part: Part, name: str, size: int) -> Iterator[Batch]:
    part_id = PartId(name)
    match part:
        case Text(text=whole):
            opening: Any = Text(text="", metadata=part.metadata)
        case Reasoning(summary=str(whole)):
            opening = Reasoning(summary="", metadata=part.metadata)
        case ToolCall():
            whole = part.raw_input or to_json(part.input).decode()
            opening = ToolCall(id=part.id, name=part.name, metadata=part.metadata)
        case _:
            yield (_CommitPart(part),)
            return
    yield (BeginPart(part_id, opening),)
    for at in range(0, len(whole), size):
        yield (AppendText(part_id, whole[at : at + size]),)
