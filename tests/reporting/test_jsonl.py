"""Each event is one whole line of JSON, whatever it holds and whatever happens to the file."""

from __future__ import annotations

import errno
import io
import json
import os
from pathlib import Path
from threading import Thread
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit_core import (
    CostUsage,
    FinishReason,
    InlineBytes,
    Item,
    Media,
    Modality,
    TextOutput,
    ToolCallId,
    ToolResult,
    TurnId,
    Usage,
)
from agentkit_core.provider import AppendText, CommitPart, PartId
from agentkit_loop import TurnEnd, TurnResult
from agentkit_loop.events import (
    ContentDelta,
    Diagnostic,
    Envelope,
    Event,
    ItemsAppended,
    ModelCallFinished,
    RunStarted,
    ToolResultReceived,
    TurnFinished,
    TurnStarted,
)
from agentkit_reporting import JsonlLine, JsonlReporter
from support.runs import SESSION, TURN, enveloped

LINE = msgspec.json.Decoder(JsonlLine)

RUN: list[Event] = [
    TurnStarted(),
    ItemsAppended((Item.user("hi"),), 1),
    ContentDelta(
        (
            AppendText(PartId("a"), "héllo\x1b[2J"),
            CommitPart(
                Media(modality=Modality.IMAGE, mime_type="image/png", data=InlineBytes(b"\x00\xff"))
            ),
        )
    ),
    ModelCallFinished(
        call=1,
        attempt=1,
        finish_reason=FinishReason.COMPLETED,
        usage=Usage(cost=CostUsage({}), requests=1),
    ),
    ToolResultReceived(
        call_id=ToolCallId("c"),
        name="t",
        result=ToolResult(call_id=ToolCallId("c"), output=TextOutput("ok")),
    ),
    TurnFinished(TurnResult(turn_id=TurnId("turn-1"), end=TurnEnd.COMPLETED)),
]


def told(*events: Event, turn_id: TurnId | None = TURN) -> bytes:
    file = io.BytesIO()
    report = JsonlReporter(file)
    for envelope in enveloped(events, turn_id=turn_id):
        report(envelope)
    return file.getvalue()


def test_r02_a_line_has_this_shape() -> None:
    assert told(RunStarted(), turn_id=None) == (
        b'{"v":1,"seq":1,"ts":1767225600001,"session_id":"s","turn_id":null,'
        b'"event":{"type":"run_started"}}\n'
    )


def test_r02_every_line_of_a_run_is_json_and_says_what_it_is() -> None:
    lines = told(*RUN).splitlines()
    decoded: list[dict[str, Any]] = [json.loads(line) for line in lines]

    assert [value["seq"] for value in decoded] == list(range(1, len(RUN) + 1))
    assert [value["event"]["type"] for value in decoded] == [
        "turn_started",
        "items_appended",
        "content_delta",
        "model_call_finished",
        "tool_result_received",
        "turn_finished",
    ]
    assert {value["turn_id"] for value in decoded} == {"turn-1"}


def test_r02_what_was_written_reads_back_as_the_same_events() -> None:
    lines = [LINE.decode(line) for line in told(*RUN).splitlines()]

    assert [line.event for line in lines] == RUN


def test_z07_text_is_kept_with_its_control_bytes_escaped() -> None:
    line = told(RUN[2])

    assert b"\x1b" not in line
    assert json.loads(line)["event"]["deltas"][0]["chunk"] == "héllo\x1b[2J"
    assert "héllo".encode() in line


def test_z07_what_a_terminal_would_obey_is_escaped_though_json_need_not() -> None:
    told_raw = "a\x7fb\x9b2Jc\x9d0;t\x9cd\x85e\u2028f\u2029g\u202eh\u2066i\u2069 é€😀\u2027\u2030"

    line = told(Diagnostic(told_raw))

    assert json.loads(line)["event"]["message"] == told_raw
    assert len(line.decode().splitlines()) == 1
    left = {character for character in line.decode() if not character.isascii()}
    assert left == set("é€😀\u2027\u2030")
    assert b"\x7f" not in line


@given(st.lists(st.text(st.characters(min_codepoint=0) | st.characters(categories=["Cs"]))))
def test_w01_whatever_the_text_one_event_is_one_line(texts: list[str]) -> None:
    data = told(*(Diagnostic(text) for text in texts))

    assert data.count(b"\n") == len(texts)
    assert [json.loads(line)["seq"] for line in data.split(b"\n")[:-1]] == [
        *range(1, len(texts) + 1)
    ]


def test_a_path_is_opened_at_the_first_event_and_appended_to(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    first, second = enveloped([Diagnostic("a"), Diagnostic("b")])

    with JsonlReporter(path) as report:
        assert not path.exists()
        report(first)
        assert path.read_bytes().count(b"\n") == 1, "it is written at once"
    with JsonlReporter(str(path)) as report:
        report(second)
    report(first)
    report.close()
    report.close()

    assert [json.loads(line)["seq"] for line in path.read_text().splitlines()] == [1, 2, 1]


def test_a_text_file_is_written_to_and_left_open() -> None:
    file = io.StringIO()
    with JsonlReporter(file) as report:
        report(enveloped([Diagnostic("é")])[0])

    assert not file.closed
    assert json.loads(file.getvalue())["event"]["message"] == "é"


def test_a_line_that_someone_left_unfinished_is_not_written_on(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(b'{"v":1}\n{"v":1,"se')
    with JsonlReporter(path) as report:
        report(enveloped([Diagnostic("a")])[0])

    lines = path.read_bytes().splitlines()
    assert lines[:2] == [b'{"v":1}', b'{"v":1,"se']
    assert json.loads(lines[2])["seq"] == 1


def test_an_event_that_is_no_json_leaves_no_trace(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    odd = ToolResult(call_id=ToolCallId("c"), output=TextOutput("a"), details=object())  # type: ignore[arg-type]
    good, bad, after = enveloped(
        [
            Diagnostic("a"),
            ToolResultReceived(call_id=ToolCallId("c"), name="t", result=odd),
            Diagnostic("b"),
        ]
    )
    with JsonlReporter(path) as report:
        report(good)
        with pytest.raises(TypeError):
            report(bad)
        report(after)

    assert [json.loads(line)["seq"] for line in path.read_text().splitlines()] == [1, 3]


class FullDisk:
    """A file on a disk that takes `room` bytes more."""

    def __init__(self, file: Any, room: int) -> None:
        self.file, self.room = file, room

    def write(self, data: bytes) -> int:
        if not self.room:
            raise OSError(errno.ENOSPC, "no space left")
        taken = self.file.write(data[: self.room])
        self.room -= taken
        return int(taken)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)


@pytest.mark.parametrize("room", [0, 1, 50])
def test_o03_a_full_disk_leaves_whole_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    path = tmp_path / "run.jsonl"
    first, lost, last = enveloped([Diagnostic("a"), Diagnostic("b"), Diagnostic("c")])
    with JsonlReporter(path) as report:
        report(first)
    disk: list[FullDisk] = []
    opened = Path.open

    def open_on_full_disk(self: Path, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        file = opened(self, mode, *args, **kwargs)
        if "a" not in mode:
            return file
        disk.append(FullDisk(file, room))
        return disk[-1]

    monkeypatch.setattr(Path, "open", open_on_full_disk)
    with JsonlReporter(path) as report:
        with pytest.raises(OSError, match="no space"):
            report(lost)
        assert path.read_bytes().endswith(b"\n")
        disk[0].room = 10_000
        report(last)

    assert [json.loads(line)["seq"] for line in path.read_text().splitlines()] == [1, 3]


def test_the_session_is_that_of_the_envelope() -> None:
    envelope = Envelope(seq=3, session_id=SESSION, at=5, event=TurnStarted())
    file = io.BytesIO()
    JsonlReporter(file)(envelope)

    assert LINE.decode(file.getvalue()) == JsonlLine(1, 3, 5, SESSION, None, TurnStarted())


@pytest.mark.skipif(os.name != "posix", reason="Windows has no modes")
@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
def test_vs15_a_new_file_can_be_read_by_its_owner_only(tmp_path: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        with JsonlReporter(tmp_path / "run.jsonl") as report:
            report(enveloped([Diagnostic("a")])[0])
    finally:
        os.umask(before)
    assert (tmp_path / "run.jsonl").stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(os.name != "posix", reason="Windows has no modes")
def test_vl25_a_file_that_exists_keeps_its_mode_and_its_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real.jsonl", tmp_path / "run.jsonl"
    real.touch(0o600)
    real.chmod(0o640)
    link.symlink_to(real)
    with JsonlReporter(link) as report:
        report(enveloped([Diagnostic("a")])[0])

    assert link.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    assert real.read_text()


def test_sessions_on_several_threads_write_whole_lines(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with JsonlReporter(path) as report, io.StringIO() as text:
        report_text = JsonlReporter(text)

        def run() -> None:
            for envelope in enveloped(RUN * 10):
                report(envelope)
                report_text(envelope)

        threads = [Thread(target=run) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        written = text.getvalue().splitlines()

    for lines in (written, path.read_text(encoding="utf-8").splitlines()):
        assert len(lines) == 4 * 10 * len(RUN)
        for line in lines:
            LINE.decode(line)
