"""Answers to requests that did not fit the model's context window."""

import pytest

from agentkit_core import FailureKind, FinishReason, Item, ModelRequest, TokenUsage, Usage
from agentkit_core.provider import ModelEvent, ResponseFinished, UsageReported, fold_response
from agentkit_providers import connect
from agentkit_providers.catalogue import ModelCard
from agentkit_providers.catalogue._window import WindowDecoder
from agentkit_providers.replay import ReplayServer, openai_chat

WINDOW = 1000


class Told:
    """A decoder that gives what it was told to give."""

    def __init__(self, *events: ModelEvent) -> None:
        self._events = events

    def feed(self, chunk: bytes, /) -> tuple[ModelEvent, ...]:
        return ()

    def finish(self) -> tuple[ModelEvent, ...]:
        return self._events


@pytest.mark.parametrize(
    ("tokens", "reason", "fits"),
    [
        (TokenUsage(input=1000, output=5), FinishReason.COMPLETED, True),
        (TokenUsage(input=1001, output=5), FinishReason.COMPLETED, False),
        (TokenUsage(input=600, cache_read=401, output=5), FinishReason.COMPLETED, False),
        (TokenUsage(input=990, output=0), FinishReason.MAX_TOKENS, False),
        (TokenUsage(input=990, output=1), FinishReason.MAX_TOKENS, True),
        (TokenUsage(input=980, output=0), FinishReason.MAX_TOKENS, True),
        (TokenUsage(input=990), FinishReason.MAX_TOKENS, True),
        (TokenUsage(), FinishReason.COMPLETED, True),
    ],
)
def test_x10_an_answer_to_what_did_not_fit_the_window_is_a_failure(
    tokens: TokenUsage, reason: FinishReason, fits: bool
) -> None:
    told = Told(
        UsageReported(Usage(tokens, requests=1, reported_requests=1)),
        ResponseFinished(reason, ("word",)),
    )

    response = fold_response(WindowDecoder(told, WINDOW).finish())

    if fits:
        assert response.failure is None
        return
    assert response.failure is not None
    assert response.failure.kind is FailureKind.CONTEXT_LENGTH
    assert (response.failure.tokens, response.failure.token_limit) == (tokens.prompt, WINDOW)
    assert not response.failure.retryable
    assert response.usage.tokens == tokens, "what was used is known all the same"


def test_x10_the_window_on_a_models_card_is_checked_over_http() -> None:
    card = ModelCard(vendor="compatible", id="small", context_window=WINDOW)
    script = [openai_chat.text("fine", usage=(999, 1)), openai_chat.text("cut", usage=(2000, 1))]
    with ReplayServer(script) as server:
        model = connect("compatible:small", base_url=server.url, card=card)
        request = ModelRequest(model="small", items=(Item.user("hi"),))

        assert model.complete_blocking(request).failure is None
        failed = model.complete_blocking(request)

    assert failed.failure is not None
    assert failed.failure.kind is FailureKind.CONTEXT_LENGTH
    assert failed.item.text == "cut"
