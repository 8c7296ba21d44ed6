"""Base URLs with a query, and headers in which several have a say."""

from __future__ import annotations

import pytest

from agentkit_core import Item, ModelOptions, ModelRequest, ThinkingLevel, ToolSpec
from agentkit_providers import MissingBaseUrl, connect
from agentkit_providers.model._headers import merge_headers
from agentkit_providers.model._urls import join_url
from agentkit_providers.replay import ReplayServer, anthropic_messages, google_generate, openai_chat


@pytest.mark.parametrize(
    ("base_url", "path", "joined"),
    [
        ("http://h/v1", "/chat", "http://h/v1/chat"),
        ("http://h/v1/", "/chat", "http://h/v1/chat"),
        ("http://h/v1?a=1", "/chat", "http://h/v1/chat?a=1"),
        ("http://h/v1/?a=1&b=2", "/chat", "http://h/v1/chat?a=1&b=2"),
        ("http://h/v1?", "/chat", "http://h/v1/chat"),
        ("http://h?a=x/y", "/chat", "http://h/chat?a=x/y"),
        ("http://h/v1?a=1", "/m:stream?alt=sse", "http://h/v1/m:stream?a=1&alt=sse"),
        ("http://h/v1?alt=json&a", "/m?alt=sse", "http://h/v1/m?a&alt=sse"),
    ],
)
def test_vp13_the_path_goes_before_the_query(base_url: str, path: str, joined: str) -> None:
    assert join_url(base_url, path) == joined


@pytest.mark.parametrize(
    ("name", "below", "asked_at"),
    [
        (
            "azure:gpt-4.1",
            "/openai/deployments/gpt41?api-version=2024-10-21",
            "/openai/deployments/gpt41/chat/completions?api-version=2024-10-21",
        ),
        ("google:gemini-3-pro", "/v1beta?x=1", "/v1beta/models/gemini-3-pro:streamGenerateContent"),
        ("anthropic:claude-opus-4-6", "/v1/?x=1", "/v1/messages?x=1"),
    ],
)
def test_vp13_a_server_is_asked_at_the_path_with_the_query(
    name: str, below: str, asked_at: str
) -> None:
    answers = {"azure": openai_chat, "google": google_generate, "anthropic": anthropic_messages}
    answer = answers[name.partition(":")[0]].text("ok")
    with ReplayServer([answer]) as server:
        model = connect(name, base_url=server.url + below, api_key="k" * 12)
        response = model.complete_blocking(ModelRequest(model=model.name, items=[Item.user("hi")]))
        assert response.item.text == "ok"
        assert server.requests[0].path.startswith(asked_at)


def test_vp13_an_address_with_a_fragment_is_refused_without_showing_its_query() -> None:
    with pytest.raises(MissingBaseUrl) as caught:
        connect("compatible:m", base_url="http://h/v1?key=secret#top")

    assert "secret" not in str(caught.value)
    assert "fragment" in str(caught.value)


@pytest.mark.parametrize("header", ["anthropic-beta", "Anthropic-Beta"])
def test_vp18_the_betas_of_the_caller_and_of_the_library_are_sent_each_once(header: str) -> None:
    interleaved = "interleaved-thinking-2025-05-14"
    with ReplayServer([anthropic_messages.text("ok")]) as server:
        model = connect(
            "anthropic:claude-sonnet-4-5",
            base_url=server.url,
            api_key="k" * 12,
            headers={header: f"context-1m-2025-08-07, {interleaved}"},
        )
        model.complete_blocking(
            ModelRequest(
                model=model.name,
                items=[Item.user("hi")],
                tools=(ToolSpec("f"),),
                options=ModelOptions(
                    thinking=ThinkingLevel.HIGH,
                    extra={"anthropic_messages": {"betas": "a-1,b-2"}},
                ),
            )
        )
        sent = server.requests[0].headers["anthropic-beta"].split(",")

    assert sorted(sent) == sorted([interleaved, "a-1", "b-2", "context-1m-2025-08-07"])
    assert "betas" not in server.requests[0].json


def test_vp18_none_takes_the_header_away() -> None:
    assert merge_headers({"anthropic-beta": "a"}, {"Anthropic-Beta": None}) == {}
    assert merge_headers({"anthropic-beta": "a"}, {"anthropic-beta": "b,a"}) == {
        "anthropic-beta": "a,b"
    }
    assert merge_headers({"x": "a"}, {"x": "b"}) == {"x": "b"}
