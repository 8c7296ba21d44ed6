"""Events of model calls: which tools are offered, attempts, deltas, retries."""

from __future__ import annotations

from agentkit_core import FinishReason, ModelOptions, Provenance, ProviderFailure, Usage
from agentkit_core.provider import Delta
from agentkit_loop.events._event import EventRecord


class ToolCatalogChanged(EventRecord, frozen=True, tag="tool_catalog_changed"):
    """The model is offered other tools than with the last call.

    Attributes:
        added: The names of new tools, sorted.
        removed: The names of tools that are no longer offered, sorted.
        changed: The names of tools whose description or arguments changed, sorted.
    """

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


class ModelCallStarted(EventRecord, frozen=True, tag="model_call_started"):
    """An attempt at a model call begins.

    Attributes:
        call: The number of the call in its turn, from 1.
        attempt: The number of the attempt at this call, from 1.
        model: The id of the model that is called: the session's, or the one that a hook chose.
        provider: The name of the model's provider; None if the model does not say.
        options: The options of the request, as hooks have left them; None in records of older
            versions.
    """

    call: int
    attempt: int
    model: str
    provider: str | None = None
    options: ModelOptions | None = None


class ContentDelta(EventRecord, frozen=True, tag="content_delta"):
    """More of the answer has come.

    Attributes:
        deltas: The deltas of one network read, in order; never empty.
    """

    deltas: tuple[Delta, ...]


class ModelCallFinished(EventRecord, frozen=True, kw_only=True, tag="model_call_finished"):
    """An attempt at a model call has ended: with an answer, a failure or a cancellation.

    Attributes:
        call: The number of the call in its turn, from 1.
        attempt: The number of the attempt at this call, from 1.
        finish_reason: Why the answer ended.
        usage: What the attempt has used.
        provenance: Which model answered; None if that is not known.
        failure: What went wrong; None if the model answered.
    """

    call: int
    attempt: int
    finish_reason: FinishReason
    usage: Usage
    provenance: Provenance | None = None
    failure: ProviderFailure | None = None


class AttemptSuperseded(EventRecord, frozen=True, tag="attempt_superseded"):
    """The deltas of a failed attempt do not count; another attempt starts from the beginning.

    Attributes:
        call: The number of the call in its turn, from 1.
        attempt: The number of the failed attempt, from 1.
    """

    call: int
    attempt: int


class RetryScheduled(EventRecord, frozen=True, kw_only=True, tag="retry_scheduled"):
    """The model will be called again after a wait.

    Attributes:
        call: The number of the call in its turn, from 1.
        attempt: The number of the failed attempt, from 1.
        wait_s: The wait, in seconds.
        failure: What went wrong.
    """

    call: int
    attempt: int
    wait_s: float
    failure: ProviderFailure
