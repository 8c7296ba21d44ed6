"""Responses: the events of a response while it arrives, and the response when it is complete.

A response consists of one `ResponseStarted`, then deltas in any order, and one `ResponseFinished`
or `ResponseFailed` at the end; `UsageReported` may come at any time before the end, and a response
that fails may lack its `ResponseStarted`. `ResponseFold` folds these events. A response that is not
streamed gives the same kinds of events, fewer and larger.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct, field

from agentkit_core._failure import FailureKind, ProviderFailure
from agentkit_core._finish import FinishReason, with_native_reasons
from agentkit_core._item import Item, ItemKind, Provenance
from agentkit_core._metadata import MetadataMap
from agentkit_core._streaming._delta import AppendText, Delta
from agentkit_core._streaming._fold import Fold
from agentkit_core._usage import Usage
from agentkit_core.values import Record


class ResponseStarted(Record, frozen=True, tag="response_started", tag_field="type"):
    """The provider has begun to answer.

    Attributes:
        provenance: Which model answers, and the provider's id of the response.
    """

    provenance: Provenance


class UsageReported(Record, frozen=True, tag="usage_reported", tag_field="type"):
    """Reports the usage of this response so far.

    Attributes:
        usage: The usage so far. Each number replaces the one reported before; None keeps it.
    """

    usage: Usage


class ResponseFinished(
    Struct, frozen=True, omit_defaults=True, tag="response_finished", tag_field="type"
):
    """The response is complete.

    Attributes:
        finish_reason: Why the response ended.
        native_reasons: The provider's own reasons, in order; empty and repeated ones are ignored.
        metadata: Metadata for the assistant item; often empty.
        provenance: What replaces the provenance of the start, where the provider named its model
            or gave its id of the response only later; None where it holds.
    """

    finish_reason: FinishReason
    native_reasons: tuple[str, ...] = ()
    metadata: MetadataMap = field(default_factory=dict)
    provenance: Provenance | None = None


class ResponseFailed(
    Struct, frozen=True, omit_defaults=True, tag="response_failed", tag_field="type"
):
    """The response failed; what arrived before is incomplete.

    Attributes:
        failure: What went wrong.
        metadata: Metadata for the assistant item; often empty.
        provenance: As for `ResponseFinished`.
    """

    failure: ProviderFailure
    metadata: MetadataMap = field(default_factory=dict)
    provenance: Provenance | None = None


ModelEvent = Delta | ResponseStarted | UsageReported | ResponseFinished | ResponseFailed
"""One event of a response."""


class ModelResponse(Record, frozen=True, omit_defaults=True):
    """A model's answer, complete or partial.

    Attributes:
        item: The assistant item: parts, usage, finish reason, provenance.
        failure: What went wrong; None if the response is complete.
    """

    item: Item
    failure: ProviderFailure | None = None

    @property
    def usage(self) -> Usage:
        """The usage of the response, as far as it is known."""
        return self.item.usage or Usage(requests=1)


class ResponseFold:
    """Folds the events of one response into a `ModelResponse`.

    Args:
        strict: Whether a delta that does not fit raises `DeltaOutOfOrder`; otherwise it is ignored.
    """

    __slots__ = ("__weakref__", "_end", "_fold", "_provenance", "_usage")

    def __init__(self, *, strict: bool = False) -> None:
        self._fold = Fold(strict=strict)
        self._provenance: Provenance | None = None
        self._usage: Usage | None = None
        self._end: ResponseFinished | ResponseFailed | None = None

    @property
    def ended(self) -> bool:
        """Whether the response has ended; later events are ignored."""
        return self._end is not None

    @property
    def failure(self) -> ProviderFailure | None:
        """What went wrong, after a `ResponseFailed`; None before, or if nothing did."""
        return self._end.failure if isinstance(self._end, ResponseFailed) else None

    @property
    def has_content(self) -> bool:
        """Whether any part has begun, so that a retry would repeat something already shown."""
        return self._fold.has_parts

    def feed(self, events: Iterable[ModelEvent]) -> None:
        """Take the next events, in order.

        Raises:
            DeltaOutOfOrder: In strict mode: a delta does not fit.
        """
        if self._end is not None:
            return
        feed, append_to = self._fold.feed, self._fold._append_to
        for event in events:
            # Nearly all events are text for a part that is open: no call of `feed` for these.
            if type(event) is AppendText:
                append = append_to.get(event.part_id)
                if append is None:
                    feed(event)
                else:
                    append(event.chunk)
            elif isinstance(event, ResponseFinished | ResponseFailed):
                self._end = event
                return
            elif isinstance(event, UsageReported):
                self._report(event.usage)
            elif isinstance(event, ResponseStarted):
                self._provenance = event.provenance
            else:
                feed(event)

    def _report(self, usage: Usage) -> None:
        self._usage = usage if self._usage is None else self._usage.updated_by(usage)

    def partial(self) -> ModelResponse:
        """Return the response as far as it has arrived, including open parts."""
        item = Item(
            ItemKind.ASSISTANT,
            self._fold.partial(),
            provenance=self._provenance,
            usage=self._usage,
        )
        return ModelResponse(item)

    def finish(self) -> ModelResponse:
        """Close the response and return it.

        Without an end event it is a failure of kind `stream_cut`. A failed response keeps its
        parts, marks the open ones (see `Fold.finish`) and is `interrupted`.
        """
        end = self._end
        if isinstance(end, ResponseFinished):
            return ModelResponse(self._item(end.finish_reason, end))
        if end is None:
            end = ResponseFailed(
                ProviderFailure(
                    kind=FailureKind.STREAM_CUT,
                    message="the response ended before its end mark",
                    retryable=True,
                )
            )
        return ModelResponse(self._item(FinishReason.ERROR, end), end.failure)

    def cancel(self) -> ModelResponse:
        """Close a response that the caller cancelled, and return it.

        Text and committed parts are kept. Open reasoning is dropped because providers reject it,
        and open tool calls because their arguments are incomplete.
        """
        item = Item(
            ItemKind.ASSISTANT,
            self._fold.keepable(),
            provenance=self._provenance,
            finish_reason=FinishReason.CANCELLED,
            usage=self._usage or Usage(requests=1),
            interrupted=True,
        )
        return ModelResponse(item)

    def _item(self, reason: FinishReason, end: ResponseFinished | ResponseFailed) -> Item:
        failed = isinstance(end, ResponseFailed)
        native = () if isinstance(end, ResponseFailed) else end.native_reasons
        return Item(
            ItemKind.ASSISTANT,
            self._fold.finish(cut=failed),
            metadata=with_native_reasons(end.metadata, native),
            provenance=end.provenance or self._provenance,
            finish_reason=reason,
            usage=self._usage or Usage(requests=1),
            failure=end.failure if isinstance(end, ResponseFailed) else None,
            interrupted=failed,
        )


def fold_response(events: Iterable[ModelEvent], *, strict: bool = False) -> ModelResponse:
    """Fold all events of one response and return it.

    Raises:
        DeltaOutOfOrder: In strict mode: a delta does not fit.
    """
    response = ResponseFold(strict=strict)
    response.feed(events)
    return response.finish()
