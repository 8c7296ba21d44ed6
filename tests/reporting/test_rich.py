"""The live view in a terminal: what a person sees on the screen, and in the terminal's history."""

from __future__ import annotations

import io
import re
from decimal import Decimal
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit_core import (
    ApprovalId,
    ApprovalKind,
    ApprovalRequest,
    CostUsage,
    FailureKind,
    FinishReason,
    JsonValue,
    ProviderFailure,
    Reasoning,
    SessionId,
    StructuredOutput,
    Text,
    TextOutput,
    TokenUsage,
    ToolCall,
    ToolCallId,
    ToolFailure,
    ToolResult,
    TurnId,
    Usage,
)
from agentkit_core.provider import AppendText, BeginPart, CommitPart, PartId
from agentkit_loop import Agent, GrantScope, TurnEnd, TurnResult
from agentkit_loop.events import (
    ApprovalOutcome,
    ApprovalRequired,
    ApprovalResolved,
    AttemptSuperseded,
    ContentDelta,
    Diagnostic,
    Envelope,
    Event,
    InputRejected,
    ModelCallFinished,
    ModelCallStarted,
    RetryScheduled,
    RunFinished,
    RunStarted,
    RunSuspended,
    ToolCallRequested,
    ToolDetached,
    ToolExecutionStarted,
    ToolProgress,
    ToolResultReceived,
    TurnFinished,
    TurnStarted,
)
from agentkit_loop.ports import Reporter
from agentkit_loop.testing import ScriptedModel, call, say
from agentkit_reporting import TextReporter
from agentkit_tools_core import tool
from support.runs import SESSION, enveloped, walked

pyte = pytest.importorskip("pyte")
pytest.importorskip("rich")

from rich.console import Console  # noqa: E402

from agentkit_reporting._terminal_view._blocks import BlockSplitter  # noqa: E402
from agentkit_reporting._terminal_view._screen import Screen  # noqa: E402
from agentkit_reporting.rich import RichReporter  # noqa: E402

A = PartId("a")
CALL = ToolCallId("call-1")
SEQUENCE = re.compile(r"\x1b\[\??[0-9;]*[A-Za-z]")
OURS = re.compile(r"\x1b\[(?:\?(?:25|2026)[hl]|\d*A|[JK]|[0-9;]*m)")
"""The sequences that the view itself writes."""
HARMFUL = re.compile("[\x00-\x09\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


class Terminal:
    """A terminal of a size, and a view that writes to it."""

    def __init__(self, width: int = 60, height: int = 16, **options: object) -> None:
        self.screen = pyte.HistoryScreen(width, height, history=10_000, ratio=1)
        self._stream = pyte.Stream(self.screen)
        self.written: list[str] = []
        file = SimpleNamespace(
            write=self._write, flush=lambda: None, encoding="utf-8", isatty=lambda: True
        )
        self.console = Console(
            file=file,  # type: ignore[arg-type]
            force_terminal=True,
            color_system="standard",
            width=width,
            height=height,
            legacy_windows=False,
            _environ={},
        )
        self.report = RichReporter(self.console, animate=False, **options)  # type: ignore[arg-type]
        self._seq = 0

    def _write(self, text: str) -> int:
        self.written.append(text)
        self._stream.feed(text)
        return len(text)

    def type(self, *lines: str) -> object:
        """Return a function that reads these lines, as a terminal echoes them."""
        waiting = iter(lines)

        def read(prompt: str) -> str:
            line = next(waiting, None)
            self._write(prompt)
            if line is None:
                raise EOFError
            self._write(line + "\r\n")
            return line

        return read

    def show(self, *events: Event) -> Terminal:
        for envelope in enveloped(events):
            self.report(envelope)
        return self

    @property
    def lines(self) -> list[str]:
        """All lines, those that have scrolled out first, without empty ones at the end."""
        past = [
            "".join(line[at].data for at in range(self.screen.columns)).rstrip()
            for line in self.screen.history.top
        ]
        lines = [*past, *(line.rstrip() for line in self.screen.display)]
        while lines and not lines[-1]:
            lines.pop()
        return lines

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    @property
    def cursor_is_shown(self) -> bool:
        return not self.screen.cursor.hidden


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock of the view that stands still; its time is the only entry, in seconds."""
    now = [100.0]
    stopped = SimpleNamespace(monotonic=lambda: now[0], time=lambda: 1_767_225_600.0 + now[0])
    monkeypatch.setattr("agentkit_reporting._terminal_view._view.time", stopped)
    return now


def text(*chunks: str) -> ContentDelta:
    return ContentDelta((BeginPart(A, Text(text="")), *(AppendText(A, chunk) for chunk in chunks)))


def more(chunk: str) -> ContentDelta:
    return ContentDelta((AppendText(A, chunk),))


def done(usage: Usage | None = None) -> ModelCallFinished:
    return ModelCallFinished(
        call=1, attempt=1, finish_reason=FinishReason.COMPLETED, usage=usage or Usage(requests=1)
    )


def turn_end(end: TurnEnd = TurnEnd.COMPLETED, **facts: object) -> TurnFinished:
    return TurnFinished(TurnResult(turn_id=TurnId("turn-1"), end=end, **facts))  # type: ignore[arg-type]


def result(output: str, **facts: object) -> ToolResultReceived:
    value = ToolResult(CALL, TextOutput(output), **facts)  # type: ignore[arg-type]
    return ToolResultReceived(call_id=CALL, name="t", result=value)


STARTED = ModelCallStarted(call=1, attempt=1, model="small")
REQUESTED = ToolCallRequested(ToolCall(CALL, "read_file", {"path": "README.md"}))

ANSWER = """# Weather

It is *sunny* in `Rome`, see [the map](https://example.com/map).

- one
- two
  - nested

| city | °C |
|------|----|
| Rome | 18 |

```python
def f():
    return 1
```

Done.
"""
SEEN = """\
  Weather

  It is sunny in Rome, see the map (https://example.com/map).

   • one
   • two
      • nested

   city  °C
   ────────
   Rome  18

    def f():
        return 1

  Done."""


@pytest.mark.parametrize("cut", [1, 7, 10_000])
def test_an_answer_is_rendered_the_same_however_it_is_cut(cut: int) -> None:
    terminal = Terminal(width=80)
    chunks = [ANSWER[at : at + cut] for at in range(0, len(ANSWER), cut)]
    terminal.show(TurnStarted(), STARTED, text(), *map(more, chunks), done(), turn_end())

    assert terminal.text == SEEN + "\n\n  [0 requests]"


@pytest.mark.usefixtures("clock")
def test_what_is_whole_is_written_once_and_what_grows_is_written_over() -> None:
    terminal = Terminal(height=10, frames_per_s=1000)
    words = [f"paragraph{n:03}" for n in range(20)]
    terminal.show(TurnStarted(), STARTED, text())
    for word in words:
        for chunk in (word[:5], word[5:], "\n\n"):
            terminal.report(enveloped([more(chunk)])[0])
            terminal.report._view.draw()
    terminal.show(done(), turn_end())

    assert [line.strip() for line in terminal.lines if "paragraph" in line] == words
    # Nothing goes up further than the lines that may change, and nothing clears the screen.
    for frame in terminal.written:
        ups = [int(up or 1) for up in re.findall(r"\x1b\[(\d*)A", frame)]
        assert len(ups) <= 1
        assert all(up < 8 for up in ups)
        assert "\x1b[2J" not in frame
    frames = [at for at, frame in enumerate(terminal.written) if words[3] in frame]
    assert len(frames) <= 5  # while it grew, and when it stayed
    assert frames == list(range(frames[0], frames[-1] + 1))


def test_the_lines_that_change_fit_the_window_and_the_text_is_not_lost() -> None:
    terminal = Terminal(width=40, height=8, frames_per_s=1000)
    code = [f"line{n:03}" for n in range(50)]
    terminal.show(TurnStarted(), STARTED, text("```\n"))
    for line in code:
        terminal.report(enveloped([more(line + "\n")])[0])
        terminal.report._view.draw()
    terminal.show(more("```\n"), done(), turn_end())

    assert [line.strip() for line in terminal.lines if "line" in line] == code


@given(st.text(st.sampled_from("ab *_`#->|\n1.)~[]!<&;日😀"), max_size=120), st.integers(1, 9))
def test_blocks_do_not_depend_on_cuts_and_lose_no_line(source: str, cut: int) -> None:
    whole, pieces = BlockSplitter(), BlockSplitter()
    blocks = whole.feed(source) + whole.finish()
    cuts = [source[at : at + cut] for at in range(0, len(source), cut)]

    assert [block for piece in cuts for block in pieces.feed(piece)] + pieces.finish() == blocks
    words = [line for block in blocks for line in block.text.split("\n") if line.strip()]
    assert words == [line for line in source.split("\n") if line.strip()]


@given(st.text(st.sampled_from("ab *_`#->|\n1.)[]!<日😀"), max_size=80))
def test_no_letter_of_an_answer_is_lost(source: str) -> None:
    terminal = Terminal(width=50)
    terminal.show(TurnStarted(), STARTED, text(source), done(), turn_end(), RunFinished())

    code = re.findall(r"(?m)^ {0,3}(?:```|~~~)(.*)", source)  # the language of a code block
    letters = sorted(re.sub(r"[^ab日😀]", "", source))
    shown = sorted(re.sub(r"[^ab日😀]", "", "".join(terminal.lines[:-1])))
    assert code or shown == letters


def test_a_long_answer_costs_work_in_proportion_to_its_length() -> None:
    def parsed(paragraph: str, count: int) -> int:
        splitter = BlockSplitter()
        size = 0
        for _ in range(count):
            size += sum(len(block.text) for block in splitter.feed(paragraph))
            growing = splitter.growing
            size += 0 if growing is None else min(len(growing.text), 10_000) // 10_000
        return size

    assert parsed("word " * 20, 2000) <= 2.2 * parsed("word " * 20, 1000)
    splitter = BlockSplitter()
    splitter.feed("- item\n" * 3 + "x" * 100_000)
    growing = splitter.growing
    assert growing is not None
    assert len(growing.text) <= 12_000


def test_wide_characters_line_up() -> None:
    table = "| 名前 | emoji |\n|---|---|\n| 東京 | 😀 |\n| abcd | x |\n"
    terminal = Terminal().show(TurnStarted(), STARTED, text(table), done(), turn_end())

    rows = [line for line in terminal.screen.buffer.values() if line[3].data in "名東a"]
    columns = [next(at for at in range(6, 20) if row[at].data in ("e", "😀", "x")) for row in rows]
    assert len(rows) == 3
    assert len(set(columns)) == 1


def test_a_call_is_shown_while_it_runs_and_once_when_it_has_ended() -> None:
    terminal = Terminal()
    terminal.show(TurnStarted(), STARTED, text("Let me see."), done(), REQUESTED)
    terminal.show(
        ToolExecutionStarted(CALL, "read_file", {"path": "README.md"}),
        ToolProgress(CALL, "half of it"),
    )
    terminal.report._view.draw()
    assert 'read_file {"path":"README.md"}' in terminal.text
    assert "half of it" in terminal.text
    assert "small" in terminal.lines[-1]

    terminal.show(result("one\ntwo\n" + "more\n" * 8), turn_end())
    assert terminal.lines == [
        "  Let me see.",
        "",
        '✓ read_file {"path":"README.md"}',
        "  one",
        "  two",
        "  more",
        "  more",
        "  … 6 more lines",
        "",
        "  [0 requests]",
    ]
    assert terminal.cursor_is_shown


def test_a_failure_is_told_once_with_its_kind() -> None:
    terminal = Terminal()
    failed = result("no such file", is_error=True, failure=ToolFailure.NOT_FOUND)
    terminal.show(TurnStarted(), REQUESTED, failed)
    failure = ProviderFailure(kind=FailureKind.SERVER, message="down", status=500)
    terminal.show(
        text("Half"),
        done(),
        AttemptSuperseded(1, 1),
        RetryScheduled(call=1, attempt=1, wait_s=1.0, failure=failure),
        turn_end(TurnEnd.ERROR, failure=failure),
    )

    assert "  failed (not_found)" in terminal.text
    assert terminal.text.count("no such file") == 1
    assert "! the answer so far is discarded" in terminal.lines
    assert "! server, HTTP 500: down; trying again in 1.0 s" in terminal.lines
    assert "! server, HTTP 500: down" in terminal.lines


EDIT: dict[str, JsonValue] = {"path": "a.py", "old_text": "x = 1\ny\n", "new_text": "x = 2\ny\n"}
DIFF = "--- a.py\n+++ a.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n"


@pytest.mark.parametrize(
    ("arguments", "output"),
    [
        (EDIT, ToolResult(CALL, TextOutput("ok"))),
        ({}, ToolResult(CALL, TextOutput("ok"), details=EDIT)),
        ({}, ToolResult(CALL, TextOutput("ok"), details={"diff": DIFF})),
        ({}, ToolResult(CALL, StructuredOutput({"before": "x = 1", "after": "x = 2"}))),
        ({}, ToolResult(CALL, TextOutput(DIFF))),
    ],
    ids=["arguments", "details", "diff in details", "structured", "text"],
)
def test_an_edit_is_shown_as_a_diff(arguments: dict[str, JsonValue], output: ToolResult) -> None:
    terminal = Terminal().show(
        TurnStarted(),
        ToolCallRequested(ToolCall(CALL, "edit", arguments)),
        ToolResultReceived(call_id=CALL, name="edit", result=output),
        turn_end(),
    )

    assert "  -x = 1" in terminal.lines
    assert "  +x = 2" in terminal.lines
    assert "old_text" not in terminal.text
    row = terminal.screen.buffer[terminal.lines.index("  +x = 2")]
    assert row[2].fg == "green"


def request(
    summary: str = "delete /a", want: ApprovalKind = ApprovalKind.APPROVAL, **facts: object
) -> ApprovalRequest:
    return ApprovalRequest(
        id=ApprovalId("tool.t:0123"),
        call=ToolCall(CALL, "t"),
        kind="tool.t",
        summary=summary,
        want=want,
        **facts,  # type: ignore[arg-type]
    )


def test_an_approval_is_shown_whole_and_once_and_answered_in_place() -> None:
    @tool(needs_approval=True)
    def delete(path: str) -> str:
        """Delete a file."""
        return f"deleted {path}"

    terminal = Terminal(width=50)
    terminal.report = RichReporter(terminal.console, animate=False, read=terminal.type("why", "y"))  # type: ignore[arg-type]
    path = "/" + "x" * 120
    agent = Agent(
        model=ScriptedModel(call("delete", {"path": path}), say("Done.")),
        tools=[delete],
        reporters=[terminal.report],
        on_approval=terminal.report.ask,
    )
    agent.run_blocking("Delete it")

    flat = "".join(line.strip() for line in terminal.lines)
    asked = flat[: flat.index("y yes")]
    assert terminal.lines[1].startswith('  {"path"')
    assert asked.count(path) == 1
    assert asked.startswith("? delete")
    assert "tool.delete" not in flat
    assert terminal.text.count("n no: ") == 2
    assert "approved" not in flat
    assert "  Done." in terminal.lines
    assert terminal.cursor_is_shown


def test_what_an_inner_agent_asks_is_asked_once() -> None:
    @tool(needs_approval=True)
    def delete(path: str) -> str:
        """Delete a file."""
        return "gone"

    terminal = Terminal(height=40)
    report = RichReporter(terminal.console, animate=False, read=terminal.type("y"))  # type: ignore[arg-type]
    plain: list[str] = []
    reporters: list[Reporter] = [report, TextReporter(write=plain.append)]
    inner = Agent(
        model=ScriptedModel(call("delete", {"path": "/a"}), say("Deleted.")),
        tools=[delete],
        reporters=reporters,
    )
    outer = Agent(
        model=ScriptedModel(call("helper", {"task": "x"}), say("Done.")),
        tools=[inner.as_tool("helper", "Helps.", blocking=True)],
        reporters=reporters,
        on_approval=report.ask,
    )
    outer.run_blocking("Go")

    assert [line.strip() for line in terminal.lines if "?" in line] == ['? delete {"path":"/a"}']
    lines = "".join(plain).splitlines()
    assert [line for line in lines if line.startswith("?")] == [
        '? delete {"path":"/a"}',
        "? approved",
    ]


@pytest.mark.parametrize(
    ("typed", "scope"),
    [
        ("y", GrantScope.ONCE),
        ("YES", GrantScope.ONCE),
        ("s", GrantScope.SESSION),
        ("always", GrantScope.KIND),
        ("n", None),
        ("", None),
        (None, None),
    ],
)
def test_what_a_person_types_decides(typed: str | None, scope: GrantScope | None) -> None:
    terminal = Terminal()
    lines = [] if typed is None else [typed]
    report = RichReporter(terminal.console, animate=False, read=terminal.type(*lines))  # type: ignore[arg-type]
    decision = report.ask(request())

    assert decision.approve == (scope is not None)
    assert scope is None or decision.scope is scope
    assert "? delete /a" in terminal.lines


@pytest.mark.parametrize(
    ("schema", "typed", "answer"),
    [
        (None, "42", "42"),
        ({"type": "string"}, "true", "true"),
        ({"type": "integer"}, "42", 42),
        ({"type": "object"}, '{"a":1}', {"a": 1}),
        ({"type": "integer"}, "many", "many"),
    ],
)
def test_a_question_gets_what_was_typed(
    schema: dict[str, JsonValue] | None, typed: str, answer: JsonValue
) -> None:
    terminal = Terminal()
    report = RichReporter(terminal.console, animate=False, read=terminal.type(typed))  # type: ignore[arg-type]
    asked = request("How many?", ApprovalKind.QUESTION, schema=schema)

    assert report.ask(asked).answer == answer


def test_a_login_is_confirmed_or_refused() -> None:
    terminal = Terminal()
    report = RichReporter(terminal.console, animate=False, read=terminal.type("", "n"))  # type: ignore[arg-type]

    assert report.ask(request(want=ApprovalKind.AUTH)).approve
    assert not report.ask(request(want=ApprovalKind.AUTH)).approve


def test_a_decision_that_was_made_elsewhere_is_told() -> None:
    terminal = Terminal().show(
        TurnStarted(),
        REQUESTED,
        ApprovalRequired(request(reason="it is outside")),
        ApprovalRequired(request()),
        ApprovalResolved(
            approval_id=ApprovalId("tool.t:0123"), call_id=CALL, outcome=ApprovalOutcome.DENIED
        ),
        turn_end(),
    )

    assert terminal.lines[:3] == ["? delete /a", "  it is outside", "? denied"]


def test_the_line_below_tells_model_context_tokens_cost_and_time(clock: list[float]) -> None:
    terminal = Terminal(width=100, context_window=10_000)
    usage = Usage(TokenUsage(1200, 80), CostUsage({"USD": Decimal("0.0123")}), 1, 1, 1)
    terminal.show(TurnStarted(), STARTED, done(usage))
    clock[0] += 75
    terminal.report._view.draw()

    assert terminal.lines[-1].endswith(
        "small · context 1,280 of 10,000 (13%) · 1,200 in · 80 out · about 0.012 USD · 1 min 15 s"
    )


def test_deltas_are_drawn_some_times_a_second(clock: list[float]) -> None:
    terminal = Terminal(frames_per_s=10)
    terminal.show(TurnStarted(), STARTED, text())
    before = len(terminal.written)
    for _ in range(500):
        clock[0] += 0.002
        terminal.show(more("word "))

    assert 8 <= len(terminal.written) - before <= 12


def test_frames_that_take_long_to_draw_are_drawn_less_often(
    clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = Terminal(frames_per_s=100)
    terminal.show(TurnStarted(), STARTED, text())
    write = terminal.report._view._screen.draw
    frames: list[float] = []

    def slow(self: Screen, live: list[str]) -> None:
        clock[0] += 0.1
        frames.append(clock[0])
        write(live)

    monkeypatch.setattr(Screen, "draw", slow)
    for _ in range(1000):
        clock[0] += 0.01
        terminal.show(more("word "))

    assert len(frames) <= 12  # of ten seconds, a tenth is for frames


@pytest.mark.parametrize("seed", range(4))
def test_any_run_is_shown_and_leaves_the_terminal_in_order(seed: int) -> None:
    terminal = Terminal()
    for envelope in walked(seed):
        terminal.report(envelope)
    terminal.report.close()

    assert terminal.cursor_is_shown


def of(session_id: str, *events: Event) -> list[Envelope]:
    return enveloped(events, session_id=SessionId(session_id))


def test_an_inner_agent_is_shown_under_its_call() -> None:
    terminal = Terminal()
    started = RunStarted(parent_session_id=SESSION, parent_call_id=CALL)
    terminal.show(TurnStarted(), ToolCallRequested(ToolCall(CALL, "t", {"task": "look"})))
    for envelope in of("inner", started, TurnStarted(), text("Inner words."), done(), turn_end()):
        terminal.report(envelope)
    terminal.show(result("found"), turn_end())

    assert terminal.lines == [
        '▸ t {"task":"look"}',
        "",
        "    Inner words.",
        "",
        "✓ t",
        "",
        "  [0 requests]",
    ]


def test_several_sessions_at_once_are_told_apart() -> None:
    terminal = Terminal()
    for name in ("one", "two", "one"):
        events = of(name, TurnStarted(), text(f"I am {name}."), done())
        for envelope in events:
            terminal.report(envelope)
    terminal.report.close()

    assert terminal.lines == [
        "  I am one.",
        "",
        "↳ session two",
        "",
        "  I am two.",
        "",
        "↳ session one",
        "",
        "  I am one.",
    ]


EVIL = "a\x1b]52;c;x\x07b\x1b[2J\x9b6n\x08\u202ec [red]markup[/red] &#8238; \\\u202e"


def test_z07_no_event_lets_a_stranger_drive_the_terminal() -> None:
    failure = ProviderFailure(kind=FailureKind.SERVER, message=EVIL, code=EVIL)
    name = ToolCallId(EVIL)
    terminal = Terminal(show_reasoning=True)
    terminal.show(
        RunStarted(),
        TurnStarted(),
        ModelCallStarted(call=1, attempt=1, model=EVIL),
        text(*EVIL),
        ContentDelta((CommitPart(Text(EVIL)), CommitPart(Reasoning(summary=EVIL)))),
        ContentDelta((BeginPart(PartId("b"), ToolCall(name, EVIL)),)),
        text(f"```{EVIL}\n{EVIL}\n```\n| {EVIL} |\n|---|\n| {EVIL} |\n<http://a/%1b[2J{EVIL}>"),
        done(),
        ToolCallRequested(ToolCall(name, EVIL, {EVIL: EVIL})),
        ToolExecutionStarted(name, EVIL, {EVIL: 1}),
        ToolProgress(name, EVIL),
        ApprovalRequired(request(EVIL, reason=EVIL)),
        result(EVIL),
        result(EVIL, is_error=True),
        result("x", details={"old": EVIL, "new": "y", "diff": f"@@\n+{EVIL}"}),
        RetryScheduled(call=1, attempt=1, wait_s=0, failure=failure),
        ToolDetached(CALL, EVIL),
        InputRejected(EVIL),
        Diagnostic(EVIL),
        turn_end(TurnEnd.ERROR, error=EVIL),
        RunSuspended(),
    )

    for frame in terminal.written:
        assert HARMFUL.search(OURS.sub("", frame)) is None
    assert "[red]markup[/red]" in terminal.text


@pytest.mark.parametrize("fake", ["? pay 1", "✓ pay", "! stopped"])
def test_vs13_what_a_model_writes_never_begins_at_the_left(fake: str) -> None:
    terminal = Terminal(show_reasoning=True)
    terminal.show(
        TurnStarted(),
        text(f"{fake}\n\n{fake}\n{fake}\n\n    {fake}\n```\n{fake}\n```\n> {fake}\n- {fake}"),
        ContentDelta((CommitPart(Reasoning(summary=f"x\n{fake}")),)),
        done(),
        REQUESTED,
        result(f"x\n{fake}"),
        ApprovalRequired(request(f"{'x' * 56} {fake}")),
        Diagnostic(f"{'x' * 56} {fake}"),
        RunSuspended(),
    )

    assert terminal.text.count(fake[2:]) >= 8
    assert not any(line.startswith(fake) for line in terminal.lines)


def test_o02_a_run_that_is_stopped_leaves_the_terminal_in_order() -> None:
    terminal = Terminal()
    terminal.show(TurnStarted(), STARTED, text("Half an ans"), REQUESTED)
    assert terminal.screen.cursor.hidden

    terminal.report.close()
    assert terminal.cursor_is_shown
    assert terminal.lines == ["  Half an ans"]

    with terminal.report:
        terminal.show(turn_end(TurnEnd.CANCELLED))
    assert terminal.lines[1:3] == ["", "! it was cancelled"]


def test_a_window_that_changes_its_width_loses_nothing() -> None:
    terminal = Terminal(width=60, frames_per_s=1000)
    terminal.show(TurnStarted(), STARTED, text("First words.\n\n"))
    for width in (60, 50, 70, 40):
        terminal.screen.resize(16, width)
        terminal.console.width = width
        terminal.show(more(f"At width {width}.\n\n"))
        terminal.report._view.draw()
    terminal.show(done(), turn_end())

    for words in ("First words.", *(f"At width {width}." for width in (60, 50, 70, 40))):
        assert terminal.text.count(words) == 1


@pytest.mark.parametrize(
    "options",
    [
        {"force_terminal": False},
        {"force_terminal": True, "no_color": True},
        {"force_terminal": True, "_environ": {"TERM": "dumb"}},
        {"force_terminal": True, "_environ": {"NO_COLOR": "1"}},
        {"force_terminal": True, "legacy_windows": True},
    ],
    ids=["pipe", "no colour", "dumb", "NO_COLOR", "old Windows"],
)
def test_where_lines_cannot_change_there_are_plain_lines(options: dict[str, object]) -> None:
    file = io.StringIO()
    report = RichReporter(Console(file=file, **{"_environ": {}, **options}))  # type: ignore[arg-type]
    for envelope in enveloped([TurnStarted(), text("*Hello*"), done(), REQUESTED, result("x")]):
        report(envelope)
    report.close()

    assert file.getvalue() == '*Hello*\n> read_file {"path":"README.md"}\n< t: x\n'


def test_it_moves_only_while_a_turn_runs() -> None:
    terminal = Terminal()
    report = RichReporter(terminal.console, frames_per_s=1000)
    ticker = report._ticker
    assert ticker is not None
    stops = [ticker._stop]
    for event in (RunStarted(), TurnStarted(), turn_end(), RunFinished()):
        report(enveloped([event])[0])
        stops.append(ticker._stop)

    assert [stop is not None for stop in stops] == [False, False, True, False, False]
    assert stops[2] is not None
    assert stops[2].is_set()


def test_o03_a_terminal_that_is_gone_is_the_drivers_to_deal_with() -> None:
    def broken(_: str) -> int:
        raise BrokenPipeError

    terminal = Terminal()
    terminal.console.file.write = broken  # type: ignore[method-assign]
    with pytest.raises(BrokenPipeError):
        terminal.show(TurnStarted())
    with pytest.raises(BrokenPipeError):
        terminal.show(Diagnostic("x"))
