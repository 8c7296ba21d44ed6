"""The main job, run as a person runs it: a command, what it shows, what it leaves."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from agentkit_providers.replay import Answer, ReplayServer, openai_chat

ASSISTANT = Path(__file__).parents[2] / "examples" / "assistant"
SECRET = "sk-test-SECRET123"


def assistant(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, ASSISTANT, *words],
        capture_output=True,
        encoding="utf-8",
        env={"PYTHONIOENCODING": "utf-8", **environment},
        timeout=50,
        check=False,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "work"
    made.mkdir()
    (made / "README.md").write_text("# Notes\n\nThree small words.\n", encoding="utf-8")
    (made / "sub").mkdir()
    (tmp_path / "secret.txt").write_text("not yours", encoding="utf-8")
    return made


def test_without_a_key_it_says_what_it_is_uses_its_tools_and_leaves_a_record(
    folder: Path, tmp_path: Path
) -> None:
    record = tmp_path / "run.jsonl"

    done = assistant("What is (17 + 4) * 2?", "--folder", str(folder), "--record", str(record))

    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("model: no model, a stand-in")
    assert "http://127.0.0.1:" in lines[0]
    assert lines[1] == "you: What is (17 + 4) * 2?"
    assert "(17 + 4) * 2 = 42" in done.stdout
    assert "README.md has 5 words and begins: # Notes" in done.stdout
    assert "> read_file" in done.stdout
    assert "3 requests" in done.stdout
    assert lines[-1] == f"record: {record}"
    events = [json.loads(line)["event"]["type"] for line in record.read_text("utf-8").splitlines()]
    assert events[0] == "run_started"
    assert events.count("tool_result_received") == 3
    assert events.count("turn_finished") == 1


def test_its_file_tools_stay_in_the_folder(folder: Path, tmp_path: Path) -> None:
    (folder / "link").symlink_to(tmp_path / "secret.txt")
    paths = ["../secret.txt", str(tmp_path / "secret.txt"), "link", "sub/../../secret.txt", "a\0b"]
    script = [
        openai_chat.tool_calls([("read_file", {"path": path}) for path in paths]),
        openai_chat.text("I could not."),
    ]
    with ReplayServer(script) as server:
        done = assistant(
            "Read it.",
            "--folder", str(folder), "--model", "compatible:any", "--base-url", server.url,
        )  # fmt: skip

        results = [one for one in server.requests[1].json["messages"] if one["role"] == "tool"]

    assert done.returncode == 0, done.stderr
    assert len(results) == len(paths)
    for path, result in zip(paths, results, strict=True):
        assert "not yours" not in result["content"]
        assert "outside the workspace" in result["content"] or "\0" in path
    assert "not yours" not in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--model", "openai:gpt-5-mini"], "OPENAI_API_KEY"),
        (["--model", "nobody:gpt"], "nobody"),
        (["--model", "gpt-5-mini"], "gpt-5-mini"),
        (["--model", "compatible:any", "--base-url", "http://127.0.0.1:9"], "127.0.0.1:9"),
        (["--folder", "/does/not/exist"], "/does/not/exist"),
    ],
    ids=["no key", "unknown provider", "no provider", "connection refused", "no folder"],
)
def test_what_cannot_be_asked_is_one_clear_line_and_exit_code_2(
    words: list[str], said: str
) -> None:
    done = assistant("Hello", *words)

    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith("assistant: ")
    assert said in line


def test_a_refused_key_is_exit_code_2_and_does_not_show() -> None:
    refusal = {"error": {"message": f"Incorrect API key provided: {SECRET}", "code": "no"}}
    with ReplayServer([Answer.error(401, refusal)]) as server:
        done = assistant(
            "Hello", "--model", "openai:any", "--base-url", server.url, OPENAI_API_KEY=SECRET
        )

    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "SECRET123" not in done.stdout + done.stderr


def command(*words: str) -> list[str]:
    """The command that runs the main job."""
    return [sys.executable, str(ASSISTANT), *words]


def at(server: ReplayServer) -> list[str]:
    """The options that name a server."""
    return ["--base-url", server.url]


def shown(done: subprocess.CompletedProcess[str]) -> str:
    """All that a person sees."""
    return done.stdout + done.stderr


def test_vu12_a_missing_key_is_told_once_and_no_request_is_counted() -> None:
    done = assistant("Hello", "--model", "openai:gpt-5-mini")

    assert done.returncode == 2
    assert "cancelled" not in shown(done)
    assert "request" not in done.stdout
    assert shown(done).count("OPENAI_API_KEY") == 1


def test_vu12_a_failure_of_the_provider_is_told_once() -> None:
    refusal = {"error": {"message": "the weather is bad", "code": "no"}}
    with ReplayServer([Answer.error(401, refusal)]) as server:
        done = assistant(
            "Hello", "--model", "openai:any", "--base-url", server.url, OPENAI_API_KEY="k"
        )

    assert shown(done).count("the weather is bad") == 1


def hear_sigint() -> None:
    """Hear SIGINT, which background processes of a shell ignore, and so their children."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise there")
def test_vu12_ctrl_c_is_one_line_with_the_record_and_exit_code_130(tmp_path: Path) -> None:
    record = tmp_path / "run.jsonl"
    slow = openai_chat.text("word " * 2000).with_pace(0.05)
    with (
        ReplayServer([slow]) as server,
        subprocess.Popen(
            command("Hello", "--record", str(record), "--model", "compatible:any", *at(server)),
            preexec_fn=hear_sigint,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            env={"PYTHONIOENCODING": "utf-8", "PYTHONUNBUFFERED": "1"},
        ) as process,
    ):
        assert process.stdout is not None
        while "word" not in process.stdout.read(8):
            pass
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)

    assert process.returncode == 130
    assert errors == f"assistant: stopped by Ctrl-C; record: {record}\n"
    events = [json.loads(line)["event"]["type"] for line in record.read_text("utf-8").splitlines()]
    assert events[-1] == "run_finished"


def write_twice() -> list[Answer]:
    return [
        openai_chat.tool_calls(
            [("write_file", {"path": name, "text": "hi"}) for name in ("a.txt", "b.txt")]
        ),
        openai_chat.text("Done."),
    ]


def test_vu13_without_a_terminal_nothing_is_approved(folder: Path) -> None:
    with ReplayServer(write_twice()) as server:
        done = assistant(
            "Write.", "--folder", str(folder), "--model", "compatible:m", "--base-url", server.url
        )

    assert done.returncode == 0
    assert not (folder / "a.txt").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
@pytest.mark.parametrize(
    ("typed", "written"), [("y\nn\n", ["a.txt"]), ("k\n", ["a.txt", "b.txt"]), ("n\nn\n", [])]
)
def test_vu13_a_person_approves_this_call_these_arguments_or_this_kind(
    folder: Path, typed: str, written: list[str]
) -> None:
    import pty

    ours, theirs = pty.openpty()
    with ReplayServer(write_twice()) as server:
        os.write(ours, typed.encode())
        done = subprocess.run(
            command("Write.", "--folder", str(folder), "--model", "compatible:m", *at(server)),
            stdin=theirs,
            capture_output=True,
            encoding="utf-8",
            env={"PYTHONIOENCODING": "utf-8"},
            timeout=50,
            check=False,
        )
    os.close(ours)
    os.close(theirs)

    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in folder.glob("*.txt")) == written
    assert done.stdout.count('? write_file {"path":"a.txt","text":"hi"}') == 1
    assert "[" not in done.stdout.replace("[2 requests", "")
    for words in ("this call", "these arguments in this session", "this kind in this session"):
        assert words in done.stdout
