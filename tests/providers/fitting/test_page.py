"""The page of the rules says what the tables say."""

from __future__ import annotations

from importlib import import_module

import msgspec
import pytest

from agentkit_core import UnsupportedContent
from providers.fitting.page import BENDING, PAGE, PROTOCOLS, page


def test_the_page_is_what_the_tables_say() -> None:
    assert PAGE.read_text(encoding="utf-8") == page()


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_rule_cites_a_public_source(protocol: str) -> None:
    for rule in import_module(f"agentkit_providers.{protocol}._fitting").RULES:
        for source in rule.source.split(", "):
            assert source.startswith("https://") or "#" in source, rule.name
        assert rule.condition
        assert rule.effect


def test_the_facts_of_the_page_are_quirks() -> None:
    known: set[str] = set()
    for protocol in PROTOCOLS:
        quirks: type[msgspec.Struct] = import_module(f"agentkit_providers.{protocol}").Quirks
        known.update(quirks.__struct_fields__)

    assert known >= BENDING
    assert issubclass(UnsupportedContent, Exception)
