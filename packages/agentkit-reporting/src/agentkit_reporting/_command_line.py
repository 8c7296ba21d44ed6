"""The command line: shows, sums up, compares and replays records.

Nothing that a record contains can control the terminal: all of it is cleaned.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from agentkit_core import Usage
from agentkit_loop.events import Envelope
from agentkit_reporting._diff import diff
from agentkit_reporting._format import brief, describe_usage
from agentkit_reporting._line_writer import LineWriter
from agentkit_reporting._outline import outline
from agentkit_reporting._record import RecordProblem, read_record
from agentkit_reporting._span_tree import spans_of
from agentkit_reporting._terminal_safe import clean
from agentkit_reporting._text import TextReporter
from agentkit_reporting._usage import UsageReporter

_DIFFERENT: Final = 1
_FAILED: Final = 2
_INTERRUPTED: Final = 130
_WIDTH: Final = 200
_LONGEST_WAIT_S: Final = 3600.0
"""How long a replay waits at most between two events; a damaged time would wait for ever."""
_MOST_PROBLEMS: Final = 20
"""How many odd lines of a record are named; the others are counted."""


class _CommandError(Exception):
    """The command cannot be carried out; the message says why."""


def main(arguments: Sequence[str]) -> int:
    """Carry out a command, and return the exit code: 1 if runs differ, 2 if something failed."""
    _open_missing_streams()
    parsed = _parser().parse_args(_with_command(arguments))
    try:
        code: int = parsed.command(parsed)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has what it wants. What is still to be flushed at exit goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return _INTERRUPTED
    except (_CommandError, OSError) as error:
        sys.stderr.write(f"error: {clean(_describe(error))}\n")
        return _FAILED
    return code


def _open_missing_streams() -> None:
    """Let what is written go nowhere if the process began without an output."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            nowhere = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - until the end
            setattr(sys, name, nowhere)


def _describe(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def _with_command(arguments: Sequence[str]) -> list[str]:
    """Let the command stand after the file, or be left out."""
    first, *others = arguments or [""]
    if not first or first in _COMMANDS or first.startswith("-"):
        return [*arguments]
    if others and others[0] in _COMMANDS:
        return [others[0], first, *others[1:]]
    return ["show", *arguments]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m agentkit_reporting",
        description="Look at records of runs, which JsonlReporter has written.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, (command, about) in _COMMANDS.items():
        sub = commands.add_parser(name, help=about, description=about)
        sub.set_defaults(command=command)
        sub.add_argument("file", metavar="FILE.jsonl", help="the record")
        match name:
            case "html":
                sub.add_argument("-o", "--output", help="the page; by default FILE.html")
                sub.add_argument("--title", help="the title of the page")
            case "diff":
                sub.add_argument("other", metavar="OTHER.jsonl", help="the record of another run")
            case "replay":
                sub.add_argument(
                    "--speed",
                    type=_positive,
                    metavar="TIMES",
                    help="wait as the run did, this many times as fast; by default do not wait",
                )
                sub.add_argument("--reasoning", action="store_true", help="show the reasoning too")
    return parser


def _positive(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return number


def _show(parsed: argparse.Namespace) -> int:
    lines = LineWriter(None, None, colour=False)
    usage = UsageReporter()
    for run in spans_of(_counted(_read(parsed.file), usage)):
        for line in outline(run):
            lines.line(line)
            lines.flush()
    lines.line(f"all: {describe_usage(usage.summary().with_tools)}")
    lines.flush()
    return 0


def _counted(envelopes: Iterable[Envelope], usage: UsageReporter) -> Iterator[Envelope]:
    for envelope in envelopes:
        usage(envelope)
        yield envelope


def _usage(parsed: argparse.Namespace) -> int:
    reporter = UsageReporter()
    for envelope in _read(parsed.file):
        reporter(envelope)
    summary = reporter.summary()
    lines = LineWriter(None, None, colour=False)
    lines.line(f"all: {describe_usage(summary.with_tools)}")
    if summary.interrupted.requests:
        lines.line(f"of these, interrupted: {describe_usage(summary.interrupted)}")
    turns = {f"{session} {turn or ''}": used for (session, turn), used in summary.turns.items()}
    _table(lines, "by model", summary.models)
    _table(lines, "by session", {str(name): used for name, used in summary.sessions.items()})
    _table(lines, "by turn", turns)
    _table(lines, "by tool, from models that are not in the record", summary.by_tool)
    lines.flush()
    return 0


def _table(lines: LineWriter, title: str, rows: Mapping[str, Usage]) -> None:
    if rows:
        lines.line(f"{title}:")
    for name, used in rows.items():
        lines.line(f"  {brief(name, _WIDTH)}: {describe_usage(used)}")


def _html(parsed: argparse.Namespace) -> int:
    # Imported late: the other commands need none of it.
    from agentkit_reporting.html import write_page

    record = Path(parsed.file)
    if not record.name:
        raise _CommandError(f"{parsed.file!r} is not the name of a file; give that of a record")
    path = Path(parsed.output or record.with_suffix(".html"))
    if path.exists() and path.samefile(parsed.file):
        raise _CommandError(f"the page would replace the record {parsed.file}; use --output")
    write_page(_read(parsed.file), path, title=parsed.title)
    sys.stdout.write(f"{clean(str(path))}\n")
    return 0


def _diff(parsed: argparse.Namespace) -> int:
    difference = diff(_read(parsed.file), _read(parsed.other))
    text = "the runs do not differ" if difference is None else difference.describe()
    lines = LineWriter(None, None, colour=False)
    lines.line(text)
    lines.flush()
    return 0 if difference is None else _DIFFERENT


def _replay(parsed: argparse.Namespace) -> int:
    show = TextReporter(show_reasoning=parsed.reasoning)
    last_ms: int | None = None
    for envelope in _read(parsed.file):
        if parsed.speed is not None and last_ms is not None and envelope.at > last_ms:
            wait_s = (envelope.at - last_ms) / 1000 / parsed.speed
            time.sleep(min(wait_s, _LONGEST_WAIT_S))
        last_ms = envelope.at
        show(envelope)
    return 0


_COMMANDS: Final[Mapping[str, tuple[Callable[[argparse.Namespace], int], str]]] = {
    "show": (_show, "show what happened and how long it took, a line for each call"),
    "usage": (_usage, "sum up tokens and costs"),
    "html": (_html, "write the run as an HTML page"),
    "diff": (_diff, "say where two runs part; the exit code is 1 if they do"),
    "replay": (_replay, "show the run as it was shown in a terminal"),
}


def _read(path: str) -> Iterator[Envelope]:
    """Read a record, and tell of its odd lines on stderr.

    Raises:
        OSError: It cannot be read.
        _CommandError: None of its lines can be.
    """
    problems = 0

    def tell(problem: RecordProblem) -> None:
        nonlocal problems
        problems += 1
        if problems <= _MOST_PROBLEMS:
            name, text = clean(path), brief(problem.message, _WIDTH)
            sys.stderr.write(f"{name}, line {problem.line}: {text}\n")

    is_empty = True
    for envelope in read_record(path, on_problem=tell):
        is_empty = False
        yield envelope
    if problems > _MOST_PROBLEMS:
        sys.stderr.write(f"{clean(path)}: {problems} problems in all\n")
    if is_empty:
        raise _CommandError(f"{path} has no events; give a file that JsonlReporter has written")
