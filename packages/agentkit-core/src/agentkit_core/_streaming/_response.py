"""What a model's answer consists of: events while it comes, a response when it is over.

Before the end come `ResponseStarted` (at most once), deltas and `UsageReported` in any
order; the end is one `ResponseFinished` or `ResponseFailed`. `ResponseFold` folds them.
A response that came whole gives the same events in fewer, larger pieces.
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
    """The provider has begun to answer, and this is what it calls the answer."""

    provenance: Provenance


class UsageReported(Record, frozen=True, tag="usage_reported", tag_field="type"):
    """The usage of this response as known now.

    It takes the place of what was reported before, number by number: None changes nothing.
    """

    usage: Usage


class ResponseFinished(
    Struct, frozen=True, omit_defaults=True, tag="response_finished", tag_field="type"
):
    """The response is whole.

    Attributes:
        native_reasons: The provider's own words, in the order they came; empty and repeated ones do
            no harm.
        metadata: For the item that the response becomes.
    """

    finish_reason: FinishReason
    native_reasons: tuple[str, ...] = ()
    metadata: MetadataMap = field(default_factory=dict)


class ResponseFailed(
    Struct, frozen=True, omit_defaults=True, tag="response_failed", tag_field="type"
):
    """The response failed; what came before is partial.

    Attributes:
        metadata: For the item that the partial response becomes.
    """

    failure: ProviderFailure
    metadata: MetadataMap = field(default_factory=dict)


ModelEvent = Delta | ResponseStarted | UsageReported | ResponseFinished | ResponseFailed
"""One step of a model's answer."""


class ModelResponse(Record, frozen=True, omit_defaults=True):
    """A model's answer, whole or as far as it came.

    Attributes:
        item: The assistant item: parts, usage, finish reason, provenance.
        failure: What went wrong; None when the answer is whole.
    """

    item: Item
    failure: ProviderFailure | None = None

    @property
    def usage(self) -> Usage:
        """What the response used, as far as it is known."""
        return self.item.usage or Usage(requests=1)


class ResponseFold:
    """Folds the events of one response, batch by batch.

    Args:
        strict: Raise `DeltaOutOfOrder` on deltas that do not fit, rather than pass over them.
    """

    def __init__(self, *, strict: bool = False) -> None:
        self._fold = Fold(strict=strict)
        self._provenance: Provenance | None = None
        self._usage: Usage | None = None
        self._end: ResponseFinished | ResponseFailed | None = None

    @property
    def ended(self) -> bool:
        """Whether the end has been seen; events after it are not looked at."""
        return self._end is not None

    @property
    def failure(self) -> ProviderFailure | None:
        """What went wrong, once a `ResponseFailed` has been seen."""
        return self._end.failure if isinstance(self._end, ResponseFailed) else None

    @property
    def has_content(self) -> bool:
        """Whether any part has begun, so that a retry would show something again."""
        return self._fold.has_parts

    def feed(self, events: Iterable[ModelEvent]) -> None:
        """Take the next events.

        Raises:
            DeltaOutOfOrder: If strict, a delta does not fit.
        """
        if self._end is not None:
            return
        feed = self._fold.feed
        for event in events:
            # Nearly all events are text.
            if type(event) is AppendText:
                feed(event)
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
        """Show the response as far as it has come, unfinished parts included."""
        item = Item(
            ItemKind.ASSISTANT,
            self._fold.partial(),
            provenance=self._provenance,
            usage=self._usage,
        )
        return ModelResponse(item)

    def finish(self) -> ModelResponse:
        """Close the response.

        Without an end event it is a failure of kind `stream_cut`. A failed response keeps
        its parts but marks the open ones (see `Fold.finish`) and is `interrupted`.
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
        """Close the response because nobody wants the rest.

        Text and finished parts are kept, unfinished reasoning and tool calls are dropped: a
        provider would refuse the former, and the latter are not what the model meant.
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
            provenance=self._provenance,
            finish_reason=reason,
            usage=self._usage or Usage(requests=1),
            failure=end.failure if isinstance(end, ResponseFailed) else None,
            interrupted=failed,
        )


def fold_response(events: Iterable[ModelEvent], *, strict: bool = False) -> ModelResponse:
    """Fold all events of one response.

    Raises:
        DeltaOutOfOrder: If strict, a delta does not fit.
    """
    folding = ResponseFold(strict=strict)
    folding.feed(events)
    return folding.finish()
