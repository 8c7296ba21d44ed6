"""The four protocols have one shape: who knows one folder finds everything in the other three."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, get_type_hints

import pytest

import agentkit_providers
from agentkit_core import ModelRequest
from agentkit_providers._protocol_kit._body_decoder import BodyDecoder
from agentkit_providers._protocol_kit._encoded_options import EncodedOptions, EncodedThinking
from agentkit_providers._protocol_kit._projection_base import VendorProjection

PROTOCOLS = {
    "anthropic_messages": "AnthropicMessages",
    "google_generate": "GoogleGenerate",
    "openai_chat": "OpenAIChat",
    "openai_responses": "OpenAIResponses",
}
"""Folder to the name of its projection, with which its other classes' names begin."""

FILES = {
    "__init__",
    "_common_events",
    "_decode",
    "_decode_parts",
    "_encode",
    "_encode_items",
    "_encode_options",
    "_finish",
    "_fitting",
    "_media",
    "_metadata_keys",
    "_projection",
    "_quirks",
    "_thinking",
    "_usage",
    "_wire_events",
    "_wire_request",
}
ROOT = Path(agentkit_providers.__file__).parent


def module(protocol: str, file: str) -> ModuleType:
    return importlib.import_module(f"agentkit_providers.{protocol}.{file}")


def parameters(function: Callable[..., Any]) -> list[str]:
    return list(inspect.signature(function).parameters)


def source_files() -> Iterator[Path]:
    yield from sorted(ROOT.rglob("*.py"))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_protocol_has_the_common_files(protocol: str) -> None:
    assert {path.stem for path in (ROOT / protocol).glob("*.py")} >= FILES


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_classes_are_named_for_their_protocol(protocol: str) -> None:
    name = PROTOCOLS[protocol]
    projection = getattr(module(protocol, "_projection"), name)
    encoder = getattr(module(protocol, "_encode"), f"{name}Encoder")
    decoder = getattr(module(protocol, "_decode"), f"{name}Decoder")

    assert issubclass(projection, VendorProjection)
    assert projection.api == protocol == module(protocol, "_metadata_keys").API
    assert type(projection()._encoder()) is encoder
    assert type(projection().decoder(ModelRequest(model="m"))) is decoder
    assert issubclass(decoder, BodyDecoder)
    assert parameters(encoder) == ["target_of", "quirks", "kept"]
    assert parameters(decoder) == ["request", "provider", "quirks"]
    assert {"_take_common", "_take_payload"} <= set(vars(decoder))
    assert inspect.isclass(module(protocol, "_decode_parts").ResponseParts)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_functions_of_one_name_take_the_same_things(protocol: str) -> None:
    options = module(protocol, "_encode_options").encode_options
    thinking = module(protocol, "_thinking").encode_thinking
    item = module(protocol, "_encode_items").encode_item
    usage = module(protocol, "_usage").parse_usage

    assert parameters(options) == ["request", "items", "quirks"]
    assert issubclass(get_type_hints(options)["return"], EncodedOptions)
    assert parameters(thinking) == ["request", "quirks"]
    assert issubclass(get_type_hints(thinking)["return"], EncodedThinking)
    assert parameters(item)[:2] == ["items", "at"]
    assert parameters(usage)[:2] == ["report", "quirks"]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_content_means_the_content_of_some_parts_in_every_protocol(protocol: str) -> None:
    assert parameters(module(protocol, "_encode_items")._content) == ["parts"]
    named_so = [
        path.stem
        for path in (ROOT / protocol).glob("*.py")
        if hasattr(module(protocol, path.stem), "_content")
    ]

    assert named_so == ["_encode_items"]


def test_files_and_classes_stay_small() -> None:
    long = {
        str(path.relative_to(ROOT)): lines
        for path in source_files()
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > 350
    }
    wide = {
        f"{name}.{value.__name__}": len(methods)
        for path in source_files()
        if path.stem != "genai_prices"
        for name in [".".join(path.relative_to(ROOT.parent).with_suffix("").parts)]
        for value in vars(importlib.import_module(name.removesuffix(".__init__"))).values()
        if inspect.isclass(value) and value.__module__ == name
        if len(methods := own_methods(value)) > 25
    }

    assert not long
    assert not wide


def own_methods(cls: type) -> set[str]:
    """The methods and properties of a class, those inherited from this package included."""
    return {
        name
        for base in cls.__mro__
        if base.__module__.startswith("agentkit_")
        for name, value in vars(base).items()
        if inspect.isfunction(value) or isinstance(value, (property, classmethod, staticmethod))
    }


def test_the_root_of_the_package_holds_folders_and_public_modules_only() -> None:
    assert {path.name for path in ROOT.glob("*.py")} == {
        "__init__.py",
        "endpoints.py",
        "testing.py",
    }
