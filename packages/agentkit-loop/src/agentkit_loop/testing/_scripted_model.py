"""A model that answers from a script, for tests."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any

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
from agentkit_core.values import Record

Batch = Sequence[ModelEvent]


class Reply(Record, frozen=True, kw_only=True):
    """One answer of a scripted model.

    Attributes:
        batches: The model events of the answer, one batch per network read.
        hangs: Whether the answer never ends after them; this needs an event loop.
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
        """Make an answer from its parts.

        Args:
            *parts: The parts; a string becomes a text part. Text, reasoning and the arguments of
                calls come in pieces, other parts in one piece.
            finish_reason: Why the answer ends; None means `tool_call` if it has calls, else
                `completed`.
            usage: What the answer used; None means one request without token counts.
            failure: A failure at its end; None means none.
            hangs: Whether the answer never ends.
            piece: How many characters come with each network read.
        """
        all_parts = [Text(text=part) if isinstance(part, str) else part for part in parts]
        batches: list[Batch] = [
            batch
            for at, part in enumerate(all_parts)
            for batch in _pieces(part, f"part-{at}", piece)
        ]
        if usage is not None:
            batches.append((UsageReported(usage),))
        if failure is not None:
            batches.append((ResponseFailed(failure),))
        elif not hangs:
            has_calls = any(isinstance(part, ToolCall) for part in all_parts)
            default = FinishReason.TOOL_CALL if has_calls else FinishReason.COMPLETED
            batches.append((ResponseFinished(finish_reason or default),))
        return cls(batches=tuple(batches), hangs=hangs)


Scripted = Reply | str | ToolCall | ProviderFailure | Callable[[ModelRequest], "Scripted"]
"""An answer, its only part, a failure, or a function that makes one of these from the request."""


def say(text: str, *, input: int = 10, output: int = 5) -> Reply:  # noqa: A002
    """Make an answer that is one text and uses this many tokens."""
    tokens = TokenUsage(input=input, output=output)
    return Reply.of(text, usage=Usage(tokens=tokens, requests=1, reported_requests=1))


def call(name: str, arguments: dict[str, JsonValue] | None = None, call_id: str = "c1") -> ToolCall:
    """Make a tool call; in a script, it is an answer with nothing else."""
    return ToolCall(id=ToolCallId(call_id), name=name, input=arguments or {})


def fail(
    kind: FailureKind = FailureKind.OVERLOADED,
    *,
    retryable: bool = True,
    retry_after_s: float | None = None,
) -> ProviderFailure:
    """Make a failure; in a script, it is an answer with nothing before it."""
    return ProviderFailure(
        kind=kind,
        message="scripted failure",
        retryable=retryable,
        retry_after_s=retry_after_s,
    )


class ScriptedModel:
    """A model that gives the answers of a script, one per request, in order.

    It is a `Model` and a `BlockingModel`. A request beyond the script fails, and says so.

    Args:
        *script: The answers; a function is called with the request.
        name: The model's id.

    Attributes:
        requests: The requests so far, in order.
        open_responses: How many responses are being read and are not closed.
    """

    __slots__ = ("__weakref__", "_name", "_script", "open_responses", "requests")

    def __init__(self, *script: Scripted, name: str = "scripted") -> None:
        self.requests: list[ModelRequest] = []
        self.open_responses = 0
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
        """Record a request, and return the next answer of the script."""
        at = len(self.requests)
        self.requests.append(request)
        if at >= len(self._script):
            text = (
                f"the script has {len(self._script)} answers, and this is request {at + 1}; "
                f"add an answer to the script"
            )
            return _reply(ProviderFailure(kind=FailureKind.INVALID_REQUEST, message=text), request)
        return _reply(self._script[at], request)

    def start_event(self) -> ResponseStarted:
        """Return the event with which each answer begins."""
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
            yield (self._model.start_event(),)
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
            yield (self._model.start_event(),)
            yield from reply.batches
            if reply.hangs:
                raise RuntimeError("an answer with hangs=True needs an event loop; use `open`")
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
