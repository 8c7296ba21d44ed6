"""Whatever is spoilt in a decoded answer, the comparison with the corpus notices."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import Struct

from agentkit_core import ModelResponse
from providers import corpus
from providers.recorded.comparing import UNKNOWN
from providers.recorded.handmade import handmade
from providers.recorded.noticing import Noticed
from providers.recorded.spoiling import kinds_of_fields, struct_types

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def noticed(shared: Path) -> Noticed:
    noticed = Noticed()
    recorded = corpus.exchanges(shared / "wire-corpus" / "dev")
    noticed.spoil_all([*recorded, *handmade()])
    return noticed


def test_answers_written_by_hand_read_like_recorded_ones() -> None:
    report = corpus.check(handmade())

    assert not report.mismatches, "\n".join(map(str, report.mismatches))


@pytest.mark.parametrize("kind", kinds_of_fields())
def test_a_field_that_is_spoilt_is_noticed(kind: str, noticed: Noticed) -> None:
    assert noticed.tried[kind], "it was never spoilt"
    assert not noticed.unnoticed.get(kind), "\n".join(noticed.unnoticed[kind])


def test_metadata_that_is_spoilt_is_noticed(noticed: Noticed) -> None:
    keys = {kind.partition("[")[2] for kind in noticed.tried if "[" in kind}

    assert not noticed.unnoticed, noticed.unnoticed
    # What a vendor wants back unchanged, whatever else there is.
    assert {
        "'anthropic_messages.signature']",
        "'anthropic_messages.redacted_data']",
        "'google_generate.signature']",
        "'google_generate.pieces']",
        "'openai_chat.reasoning_details']",
        "'openai_chat.extra_content']",
        "'openai_responses.item']",
    } <= keys


def test_a_field_that_is_new_is_spoilt_too() -> None:
    class Answer(Struct):
        later: str | None = None

    assert struct_types(Answer) == [Answer]
    assert "ModelResponse.failure" in kinds_of_fields()
    assert set(struct_types(ModelResponse)) > {ModelResponse}


def test_every_field_that_a_reading_may_not_know_is_needed(shared: Path) -> None:
    dev = shared / "wire-corpus" / "dev"
    reports = [corpus.report_of(dev / protocol) for protocol in sorted(corpus.PROTOCOLS)]
    reports.append(corpus.check(handmade()))

    unknown = {field for report in reports for field in report.unknown}
    assert set(UNKNOWN) <= unknown
    assert set(corpus.NOT_COMPARED) <= unknown
