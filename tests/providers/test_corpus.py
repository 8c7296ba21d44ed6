"""Every recorded exchange reads as the vendor's own SDK read it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentkit_core.provider import fold_response
from providers import corpus
from providers.recorded.sent_back import NOT_SENT_BACK, missing_in_next_request
from support.chat_bodies import delta, stream

pytestmark = pytest.mark.slow

ANSWER = {"sse": stream(delta("stop", content="hi")).decode(), "expected": {"text": "hi"}}
REFUSED = {
    "status": 429,
    "response": {"error": {"message": "no", "code": "busy"}},
    "retry_after": "7",
    "expected": {"error": {"message": "no", "code": "busy", "sdk_exception": "RateLimitError"}},
}


def write(folder: Path, name: str, **exchange: Any) -> None:
    (folder / f"{name}.json").write_text(json.dumps(exchange), "utf-8")


@pytest.mark.parametrize("protocol", sorted(corpus.PROTOCOLS))
def test_every_recorded_exchange_reads_as_the_vendors_sdk_reads_it(
    protocol: str, shared: Path
) -> None:
    report = corpus.report_of(shared / "wire-corpus" / "dev" / protocol)

    assert report.compared, "nothing was compared"
    assert not report.mismatches, "\n".join(map(str, report.mismatches))


def test_what_a_vendor_wants_back_is_in_the_next_request(shared: Path) -> None:
    missing = set[str]()
    for exchange in corpus.exchanges(shared / "wire-corpus" / "dev"):
        if exchange["status"] >= 400:
            continue
        projection = corpus.projection_of(exchange)
        response = fold_response(corpus.events_of(exchange, projection, [corpus.body_of(exchange)]))
        if response.failure is None and missing_in_next_request(exchange, projection, response):
            missing.add(exchange["id"])

    assert missing == set(NOT_SENT_BACK)


def test_exchanges_may_leave_out_what_is_not_known(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, "bare", protocol="openai-chat", **ANSWER)
    write(tmp_path, "null", protocol="openai-chat", vendor=None, request=None, model=None, **ANSWER)
    write(tmp_path, "refused", protocol="openai-chat", vendor="new", **REFUSED)
    write(tmp_path, "other", protocol="of-tomorrow", **ANSWER)
    (tmp_path / "broken.json").write_text("{", "utf-8")

    assert corpus.main([str(tmp_path)]) == 0

    shown = capsys.readouterr()
    assert "openai-chat text 2/2" in shown.out
    assert "openai-chat http error 1/1" in shown.out
    assert "of-tomorrow skipped: no projection yet (1 files)" in shown.out
    assert "broken.json is no JSON" in shown.err


@pytest.mark.parametrize(
    ("exchange", "named"),
    [
        ({**ANSWER, "expected": {"text": "ho"}}, "one: text is 'hi', should be 'ho'"),
        ({**REFUSED, "retry_after": "8", "response": {}}, "one: error.message is"),
        ({**REFUSED, "response": None}, "one: raised is"),
        ({"sse": "data: [", "expected": {"text": ""}}, "one: raised is"),
    ],
)
def test_what_does_not_agree_is_named_and_the_exit_code_says_so(
    exchange: dict[str, Any], named: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, "one", protocol="openai-chat", **exchange)

    assert corpus.main([str(tmp_path)]) == 1
    assert named in capsys.readouterr().out


def test_a_folder_without_exchanges_is_a_mistake(tmp_path: Path) -> None:
    assert corpus.main([str(tmp_path)]) == 2
