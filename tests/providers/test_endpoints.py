import re
import subprocess
import sys
from typing import Any
from urllib.parse import urlsplit

import msgspec
import pytest

from agentkit_core import Modality, ThinkingLevel
from agentkit_providers import Endpoint, MissingBaseUrl, UnknownProvider, UnknownQuirk, connect
from agentkit_providers._protocol_kit._thinking_levels import supported_level
from agentkit_providers.catalogue import ModelCard
from agentkit_providers.endpoints import Registry, UnknownApi, default_registry
from agentkit_providers.openai_chat import OpenAIChat, Quirks
from support.tiny_chat import TinyChat

ROWS = list(default_registry)


def test_k03_importing_the_package_loads_no_http_client_and_no_protocol() -> None:
    program = "import agentkit_providers, sys; print(*sys.modules)"
    run = [sys.executable, "-I", "-c", program]

    loaded = set(subprocess.run(run, capture_output=True, text=True, check=True).stdout.split())

    assert "agentkit_providers.model" in loaded
    assert not loaded & {"httpx", "httpcore", "anyio", "asyncio", "ssl", "certifi"}
    assert not {name for name in loaded if "openai_chat" in name or "transport" in name}


def test_k03_importing_and_connecting_reads_no_variable_of_the_environment() -> None:
    program = """
import os
class Watched(dict):
    def read(self, name, *rest):
        assert "KEY" not in name and "TOKEN" not in name, name
        return dict.get(self, name, *rest)
    get = __getitem__ = __contains__ = read
os.environ = Watched()
import agentkit_providers.endpoints
for row in agentkit_providers.endpoints.default_registry:
    agentkit_providers.connect(row.name + ":m", base_url="http://127.0.0.1:1")
"""
    subprocess.run([sys.executable, "-I", "-c", program], check=True)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_the_quirks_of_every_row_are_quirks(row: Endpoint) -> None:
    quirks = getattr(connect(f"{row.name}:m", base_url="http://x").projection, "quirks")  # noqa: B009

    assert quirks == msgspec.convert(row.quirks, type(quirks))
    assert set(row.quirks) <= set(type(quirks).__struct_fields__)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_what_every_row_says_of_single_models_are_quirks_too(row: Endpoint) -> None:
    for pattern in row.models:
        model = re.sub(r"\[(.).*?\]", r"\1", pattern).replace("*", "x")

        quirks = getattr(connect(f"{row.name}:{model}", base_url="http://x").projection, "quirks")  # noqa: B009

        # A pattern may also take back what another pattern of the row says.
        others = [quirk for other in row.models if other != pattern for quirk in row.models[other]]
        taken_back = not {*others}.isdisjoint(row.models[pattern])
        assert taken_back or quirks != msgspec.convert(row.quirks, type(quirks)), pattern


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_every_row_has_an_address_that_paths_can_be_put_behind(row: Endpoint) -> None:
    address = urlsplit(row.base_url)
    if not row.base_url:
        with pytest.raises(MissingBaseUrl):
            connect(f"{row.name}:m")
        return

    assert not row.base_url.endswith("/")
    assert not address.query
    assert address.scheme == ("http" if address.hostname == "localhost" else "https")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_every_row_with_an_address_and_a_key_says_where_the_key_is_found(row: Endpoint) -> None:
    assert row.key_env or not (row.key_required and row.base_url)


def test_no_variable_is_read_for_a_server_of_unknown_owner() -> None:
    assert default_registry.get("compatible").key_env == ()


def test_quirks_that_a_caller_gives_go_over_the_rows_own() -> None:
    row = Endpoint(name="one", quirks={"developer_role": False, "json_schema": False})
    registry = Registry([row])

    laid_over = registry.projection(row, {"json_schema": True})
    replaced = registry.projection(row, Quirks(parallel_tools=False))

    assert isinstance(laid_over, OpenAIChat)
    assert laid_over.quirks == Quirks(developer_role=False)
    assert isinstance(replaced, OpenAIChat)
    assert replaced.quirks == Quirks(parallel_tools=False)


def test_a_quirk_that_does_not_exist_is_refused_before_anything_is_sent() -> None:
    with pytest.raises(UnknownQuirk) as unknown:
        connect("openai:m", quirks={"developer_rule": False})
    with pytest.raises(msgspec.ValidationError):
        connect("openai:m", quirks={"developer_role": "no"})

    assert unknown.value.names == ("developer_rule",)
    assert "developer_role" in unknown.value.known


def test_a_row_registered_again_is_replaced_and_unregistered_is_gone() -> None:
    registry = Registry([Endpoint(name="one", base_url="http://a")])
    registry.register(Endpoint(name="one", base_url="http://b"))
    registry.register(Endpoint(name="another", base_url="http://c"))

    assert registry.get("one").base_url == "http://b"
    assert registry.names() == ("another", "one")
    assert [row.name for row in registry] == ["another", "one"]

    registry.unregister("one")

    with pytest.raises(UnknownProvider) as unknown:
        registry.get("one")
    assert unknown.value.known == ("another",)
    assert "'one'" in str(unknown.value)
    assert "another" in str(unknown.value)


def test_what_is_registered_in_one_registry_is_in_no_other() -> None:
    Registry().register(Endpoint(name="only-here"))

    assert "only-here" not in default_registry.names()


def test_a_protocol_of_ones_own_is_found_by_its_name() -> None:
    registry = Registry([Endpoint(name="mine", base_url="http://a", api="tiny_chat")])
    with pytest.raises(UnknownApi) as unknown:
        connect("mine:m", registry=registry)
    assert "openai_chat" in unknown.value.known
    assert "tiny_chat" not in unknown.value.known

    registry.register_api("tiny_chat", lambda endpoint, quirks: TinyChat())

    assert isinstance(connect("mine:m", registry=registry).projection, TinyChat)


# One model of a row.


def quirks_of(
    row: Endpoint, model: str, card: ModelCard | None = None, given: Any = None
) -> Quirks:
    projection = Registry().projection(row.for_model(model, card), given)
    assert isinstance(projection, OpenAIChat)
    return projection.quirks


def test_what_a_row_says_of_a_model_is_laid_over_its_quirks_in_order() -> None:
    row = Endpoint(
        name="one",
        quirks={"json_schema": False, "parallel_tools": False},
        models={
            "Qwen/*": {"parallel_tools": True, "supports_seed": False},
            "*-32b": {"supports_seed": True, "supports_store": False},
        },
    )

    assert quirks_of(row, "other") == Quirks(json_schema=False, parallel_tools=False)
    assert quirks_of(row, "qwen/tiny") == Quirks(json_schema=False, supports_seed=False)
    assert quirks_of(row, "Qwen/Q-32B") == Quirks(json_schema=False, supports_store=False)


def test_a_callers_quirks_are_laid_over_what_the_row_says_of_the_model() -> None:
    row = Endpoint(name="one", models={"m*": {"json_schema": False, "supports_seed": False}})

    assert quirks_of(row, "m1", given={"json_schema": True}) == Quirks(supports_seed=False)
    assert quirks_of(row, "m1", given=Quirks(supports_store=False)) == Quirks(supports_store=False)


def test_a_quirk_of_a_model_that_does_not_exist_is_refused() -> None:
    row = Endpoint(name="one", models={"m*": {"developer_rule": False}})

    assert quirks_of(row, "other") == Quirks()
    with pytest.raises(UnknownQuirk):
        quirks_of(row, "m1")


def test_what_the_catalogue_knows_of_a_model_is_laid_under_what_the_row_says() -> None:
    words: dict[ThinkingLevel, str | None] = {ThinkingLevel.MINIMAL: None}
    card = ModelCard(vendor="one", id="m", thinking_levels=words)
    row = Endpoint(name="one", models={"m2": {"thinking_level_map": {"low": "default"}}})

    assert quirks_of(row, "m", card).thinking_level_map == words
    assert quirks_of(row, "m2", card).thinking_level_map == {ThinkingLevel.LOW: "default"}


def test_a_model_that_cannot_think_has_no_level_but_off() -> None:
    card = ModelCard(vendor="one", id="m", reasoning=False)
    levels = quirks_of(Endpoint(name="one"), "m", card).thinking_level_map

    assert {supported_level(asked, levels) for asked in ThinkingLevel} == {ThinkingLevel.OFF}


def test_a_model_is_sent_the_media_that_both_it_and_its_vendor_take() -> None:
    sees = ModelCard(vendor="one", id="m", media_in=frozenset({Modality.IMAGE, Modality.VIDEO}))
    row = Endpoint(name="one", quirks={"media": ["image", "audio"]})

    assert quirks_of(row, "m").media == {Modality.IMAGE, Modality.AUDIO}
    assert quirks_of(row, "m", sees).media == {Modality.IMAGE}
    assert quirks_of(row, "m", sees, {"media": ["audio"]}).media == {Modality.AUDIO}
