"""The command shows records; it fails in one line, and prints nothing that controls a terminal."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

from agentkit_core import ToolCall, ToolCallId
from agentkit_loop import Agent
from agentkit_loop.events import Diagnostic, RunFinished, RunStarted
from agentkit_loop.testing import ScriptedModel, say
from agentkit_reporting import JsonlReporter
from agentkit_reporting._command_line import main
from agentkit_tools_core import tool
from support.runs import enveloped

NASTY = "\x1b]0;x\x07\x1b[2J\u202e\x9b"


@tool
def look(city: str) -> str:
    """Look."""
    return f"sunny in {city}{NASTY}"


def record(folder: Path, name: str = "run.jsonl", *, city: str = "Rome") -> str:
    path = folder / name
    call = ToolCall(id=ToolCallId("c1"), name="look", input={"city": city + NASTY})
    model = ScriptedModel(call, say(f"It is sunny.{NASTY}"), name=f"small{NASTY}")
    with JsonlReporter(path) as report:
        Agent(model=model, tools=[look], reporters=[report]).run_blocking("go")
    return str(path)


def shown(capsys: pytest.CaptureFixture[str]) -> str:
    out, err = capsys.readouterr()
    assert err == ""
    assert out.replace("\n", "").isprintable()
    return out


def test_z07_show_has_a_line_for_each_call(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", record(tmp_path)]) == 0

    run, turn, first, call, second, total = shown(capsys).splitlines()
    assert run.startswith("session session-")
    assert turn.startswith("  turn-1, ok, ")
    assert first.startswith("    model call 1: small, ")
    assert call.startswith('    tool call look {"city":"Rome')
    assert ", 10 tokens in, 5 out, ok, " in second
    assert total == "all: 2 requests, 10 tokens in, 5 out, or more"


def test_usage_sums_up(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["usage", record(tmp_path)]) == 0

    lines = shown(capsys).splitlines()
    assert lines[0] == "all: 2 requests, 10 tokens in, 5 out, or more"
    assert [line for line in lines if not line.startswith(" ")][1:] == [
        "by model:",
        "by session:",
        "by turn:",
    ]
    assert "  small: 2 requests, 10 tokens in, 5 out, or more" in lines


def test_replay_shows_a_run_as_a_terminal_has_shown_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []
    monkeypatch.setattr(time, "sleep", slept.append)
    path = tmp_path / "run.jsonl"
    with JsonlReporter(path) as report:
        for envelope in enveloped([Diagnostic("a"), Diagnostic("b")]):
            report(envelope)

    assert main(["replay", str(path)]) == 0
    assert shown(capsys) == "! a\n! b\n"
    assert slept == []
    assert main(["replay", str(path), "--speed", "2"]) == 0
    assert slept == [0.0005]
    capsys.readouterr()
    assert main(["replay", record(tmp_path, "other.jsonl")]) == 0
    assert "It is sunny." in shown(capsys)


def test_diff_says_where_two_runs_part(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = record(tmp_path), record(tmp_path, "second.jsonl")
    other = record(tmp_path, "other.jsonl", city="Paris")

    assert main(["diff", first, second]) == 0
    assert shown(capsys) == "the runs do not differ\n"
    assert main(["diff", first, other]) == 1
    where, left, right = shown(capsys).splitlines()
    assert where.endswith("at turn-1, item 2 (assistant), part 1 (call of look), argument city")
    assert left.startswith("  left (event ")
    assert "Paris" in right


def test_html_writes_a_page_beside_the_record(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = record(tmp_path)

    assert main(["html", path]) == 0
    assert shown(capsys) == f"{tmp_path / 'run.html'}\n"
    page = (tmp_path / "run.html").read_text(encoding="utf-8")
    assert "It is sunny." in page
    assert main(["html", path, "-o", str(tmp_path / "b.html"), "--title", "Weather"]) == 0
    assert "<title>Weather" in (tmp_path / "b.html").read_text(encoding="utf-8")
    before = Path(path).read_bytes()
    capsys.readouterr()
    assert main(["html", path, "-o", path]) == 2
    assert Path(path).read_bytes() == before


def test_the_command_may_stand_after_the_file_or_be_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = record(tmp_path)
    said = []
    for arguments in (["show", path], [path, "show"], [path]):
        assert main(arguments) == 0
        said.append(shown(capsys))

    assert len({*said}) == 1
    assert main([path, "diff", path]) == 0


@pytest.mark.parametrize("command", ["show", "usage", "html", "diff", "replay"])
def test_what_cannot_be_read_is_said_in_one_line(
    tmp_path: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    good = [record(tmp_path)] if command == "diff" else []
    empty = tmp_path / "empty.jsonl"
    empty.write_text("")
    for wrong in (tmp_path / f"none{NASTY}.jsonl", tmp_path, empty):
        assert main([command, str(wrong), *good]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith("error: ")
        assert err.count("\n") == 1
        assert "Errno" not in err
        assert err[:-1].isprintable()


def test_odd_lines_are_told_of_and_the_rest_is_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = Path(record(tmp_path))
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{NASTY}\n" * 30)

    assert main(["usage", str(path)]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("all: 2 requests")
    assert len(err.splitlines()) == 21
    assert err.splitlines()[-1].endswith(": 30 problems in all")
    assert err.replace("\n", "").isprintable()


@pytest.mark.parametrize(
    "arguments", [[], ["show"], ["diff", "a"], ["--nonsense"], ["replay", "a", "--speed", "x"]]
)
def test_a_wrong_command_line_is_explained(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)

    assert ended.value.code == 2
    assert "usage: python -m agentkit_reporting" in capsys.readouterr().err


def test_o03_a_reader_that_leaves_ends_the_command_in_silence(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "agentkit_reporting", "show", record(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""

    assert process.returncode == 0


@pytest.mark.parametrize("path", ["", ".", "/"])
def test_what_has_no_name_is_no_record_and_gets_no_page(
    path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["html", path]) == 2
    assert "is not the name of a file" in capsys.readouterr().err


def test_a_process_without_outputs_runs_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = record(tmp_path)
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)

    assert main(["show", path]) == 0
    assert main(["show", str(tmp_path / "none.jsonl")]) == 2
    sys.stdout.close()
    sys.stderr.close()


@pytest.mark.parametrize("command", ["show", "usage", "html", "replay"])
def test_times_that_no_calendar_has_are_shown(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "odd.jsonl"
    odd = [
        msgspec.structs.replace(envelope, at=at)
        for envelope, at in zip(
            enveloped([RunStarted(), Diagnostic("x"), RunFinished()]),
            (2**63 - 1, -(2**63), 0),
            strict=True,
        )
    ]
    with JsonlReporter(path) as report:
        for envelope in odd:
            report(envelope)

    assert main([command, str(path)]) == 0
    if command == "show":
        assert f"began {2**63 - 1} ms" in shown(capsys)


def test_a_replay_never_waits_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, waits = tmp_path / "odd.jsonl", list[float]()
    monkeypatch.setattr(time, "sleep", waits.append)
    with JsonlReporter(path) as report:
        for envelope, at in zip(
            enveloped([Diagnostic("a"), Diagnostic("b")]), (0, 2**62), strict=True
        ):
            report(msgspec.structs.replace(envelope, at=at))

    assert main(["replay", "--speed", "1", str(path)]) == 0
    assert waits == [3600]
