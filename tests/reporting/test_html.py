"""A page shows all of a run, whatever became of it, and its file is never half written."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agentkit_core import (
    Item,
    Provenance,
    SessionId,
    Text,
    TextOutput,
    TokenUsage,
    ToolCall,
    ToolCallId,
    ToolResult,
    Usage,
)
from agentkit_core.provider import AppendText, BeginPart, PartId
from agentkit_loop import Agent
from agentkit_loop.events import (
    ContentDelta,
    Diagnostic,
    Envelope,
    ItemsAppended,
    ModelCallStarted,
    RunFinished,
    RunStarted,
    RunSuspended,
    TurnFinished,
    TurnStarted,
)
from agentkit_loop.stores import MemoryStore
from agentkit_loop.testing import ScriptedModel, call
from agentkit_reporting import JsonlReporter, UsageReporter
from agentkit_reporting._page._charts import usage_charts
from agentkit_reporting.html import HtmlReporter, render_page, write_page
from agentkit_reporting.replay import read_record
from agentkit_tools_core import tool
from support.examples import examples
from support.html_outline import outline
from support.page_runs import Story, long_run, showcase
from support.runs import enveloped, walked

PAGE = render_page(showcase())
TEXT = outline(PAGE).text


@pytest.mark.parametrize(
    "words",
    [
        "Which paintings came back",
        "I search for those that came back",  # reasoning
        "Reasoning, withheld by the provider",
        "search_catalogue",
        "returned from restoration",  # an argument
        "Woman with a lute",  # a result
        "Varnish renewed; colours are clear.",  # an inner agent's tool
        "ask_restorer runs read_report",  # progress
        "SELECT id, title FROM paintings",
        "Attempt 1 failed: overloaded, HTTP 529: try again later. Another attempt after 1.5 s",
        "Of course. The label co",  # what another attempt replaced
        "Asked a person (approval): approved, with other arguments",
        "The good paper is expensive.",
        "Ran with other arguments",
        "paper_left",  # details, which no model reads
        "failed, 120 ms",
        "Could not be read: the JSON ends inside a string",
        '{"painting": 17, "unit": "cm',
        "Input arrived while the turn ran",
        "Tools of the model: new: print_label; gone: old_label",
        "Changed model; the model is large-1",
        "https://example.com/harbour.jpg",
        "File, report.pdf, application/pdf, 12 bytes",
        "artifact-9",
        "<svg xmlns='http://www.w3.org/2000/svg'>",
        "Block example.citation",
        "done in the background",
        "What the model was told",
        "The transcript was rewritten; it has 2 items now",
        "The transcript was not changed: a summary was empty",
        "Interrupted: the answer ended early.",
        "Ended early: it was cancelled",
        "an answer came after the turn had been cancelled",
        "Ended early: invalid_request, HTTP 400: the image is too large",
        "Asked a person (approval): no answer yet",
        "waits for a person",
        "The record ends before this turn does.",
        "small-2",
        "0.0004 USD or more",
    ],
)
def test_the_page_shows(words: str) -> None:
    assert words in TEXT


def test_a_page_is_closed_well_and_its_ids_are_unique() -> None:
    elements = outline(PAGE).elements
    ids = [attributes["id"] for _, attributes in elements if "id" in attributes]
    targets = [
        (attributes["href"] or "")[1:] for name, attributes in elements
        if name == "a" and (attributes["href"] or "").startswith("#")
    ]  # fmt: skip

    assert len(ids) == len(set(ids))
    assert set(targets) <= set(ids)
    assert sum(name == "img" for name, _ in elements) == 2
    assert [name for name, _ in elements if name in {"audio", "video"}] == ["audio", "video"]


def test_headings_leave_no_level_out() -> None:
    levels = [int(name[1]) for name, _ in outline(PAGE).elements if re.fullmatch(r"h\d", name)]

    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert max(levels) == 5, "the entries of the inner agent"


def test_the_timeline_has_the_calls_of_inner_agents_below_the_call_that_began_them() -> None:
    _, _, timeline = PAGE.partition("<h2>Timeline</h2>")
    steps = re.findall(r'class="step depth-(\d)"><[^>]*>(\w+)</span> <[^>]*>([^<]*)<', timeline)

    assert steps[:7] == [
        ("0", "Model", "small-2"),
        ("0", "Tool", "search_catalogue"),
        ("0", "Tool", "ask_restorer"),
        ("1", "Model", "tiny-1"),
        ("1", "Tool", "read_report"),
        ("1", "Model", "tiny-1"),
        ("0", "Model", "small-2"),
    ]
    assert "failed" in timeline


def test_charts_say_in_words_what_they_draw() -> None:
    labels = [
        attributes["aria-label"] for name, attributes in outline(PAGE).elements
        if name == "svg" and "role" in attributes
    ]  # fmt: skip

    assert labels == [
        "Tokens of each turn: 22,480 in all, at most 8,320",
        "Cost of each turn in USD: 0.091 in all, at most 0.043",
    ]


def test_the_charts_of_a_single_turn_have_a_column_for_each_model_call() -> None:
    first_turn = [one for one in showcase() if one.session_id != "session-4f1d"]
    page = outline(render_page(first_turn))

    assert "Tokens of each model call" in page.text
    assert sum(attributes.get("class") == "bar-output" for _, attributes in page.elements) == 2


@pytest.mark.parametrize("counts", [(-3, 3), (-5, -1), (0, 0), (-3, 7)])
def test_charts_of_a_damaged_record_have_no_column_below_zero(counts: tuple[int, int]) -> None:
    used = [Usage(TokenUsage(output=count), requests=1) for count in counts]
    drawn = str(usage_charts("turn", used))

    assert ("at most 7" in drawn) is (max(counts) == 7)
    assert 'height="-' not in drawn


def test_u06_the_charts_of_turns_have_everything_that_was_used() -> None:
    log = showcase()
    usage = UsageReporter()
    for envelope in log:
        usage(envelope)
    total = usage.summary().with_tools
    (tokens, cost) = [
        attributes["aria-label"] or "" for name, attributes in outline(PAGE).elements
        if name == "svg" and "role" in attributes
    ]  # fmt: skip

    assert f": {total.tokens.total:,} in all" in tokens
    assert f": {total.cost.amounts['USD']:.4g}".rstrip("0") in cost


@tool
def weather(city: str) -> str:
    """Say what the weather is like."""
    return f"sunny in {city}"


def test_a_real_session_gives_the_same_page_from_its_reporter_and_from_its_events(
    tmp_path: Path,
) -> None:
    path = tmp_path / "run.html"
    log: list[Envelope] = []
    inner = Agent(
        model=ScriptedModel(call("weather", {"city": "Rome"}), "It is sunny."),
        tools=[weather],
        reporters=[reporter := HtmlReporter(path), log.append],
    )
    outer = Agent(
        model=ScriptedModel(call("ask", {"task": "How is it in Rome?"}), "Sunny!"),
        tools=[inner.as_tool("ask", "Knows the weather.", blocking=True)],
        reporters=[reporter, log.append],
    )
    with outer.session_blocking() as session:
        session.prompt("What is it like in Rome?")

    page = path.read_text(encoding="utf-8")
    assert page == render_page(log)
    text = outline(page).text
    assert "Inner agent" in text
    assert text.index("What is it like in Rome?") < text.index("Sunny!")
    assert page.count('class="session"') == 1


def test_m07_a_record_gives_the_page_that_its_run_gave(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with JsonlReporter(path) as report:
        for envelope in showcase():
            report(envelope)

    assert render_page(read_record(path)) == PAGE


@tool(needs_approval=True)
def pay(amount: int) -> str:
    """Pay."""
    return f"paid {amount}"


def test_o02_a_session_that_is_left_has_a_page_that_says_so(tmp_path: Path) -> None:
    path = tmp_path / "run.html"
    agent = Agent(
        model=ScriptedModel(call("pay", {"amount": 3})),
        tools=[pay],
        reporters=[HtmlReporter(path)],
    )
    with agent.session_blocking(store=MemoryStore(), session_id=SessionId("s")) as session:
        session.submit("Pay 3.")
        session.next()

    text = outline(path.read_text(encoding="utf-8")).text
    assert "Left, to go on later" in text
    assert "The session was left during this turn; it can go on later." in text
    assert "waits for a person" in text


@pytest.mark.parametrize("end", range(0, len(showcase()), 13))
def test_o02_a_record_may_end_anywhere(end: int) -> None:
    outline(render_page(showcase()[:end]))


@pytest.mark.parametrize("start", range(1, len(showcase()), 17))
def test_a_record_may_begin_anywhere(start: int) -> None:
    outline(render_page(showcase()[start:]))


@examples(8)
@given(st.integers(0, 500))
def test_every_walk_of_the_kernel_gives_a_page(seed: int) -> None:
    outline(render_page(walked(seed)))


def test_turns_of_several_sessions_are_numbered_on_the_page_as_a_whole() -> None:
    log: list[Envelope] = []
    for own in ("a", "b"):
        story = Story(log, own)
        story.begin("turn-1", Item.user(f"words of {own}"))
        story.answer(Text("yes"))
        story.end()
    page = render_page(log)

    assert re.findall(r'id="(turn-\d)"><h3[^>]*>(Turn \d) ', page) == [
        ("turn-1", "Turn 1"),
        ("turn-2", "Turn 2"),
    ]
    assert re.findall(r'<th scope="row"[^>]*>(Turn \d)<', page) == ["Turn 1", "Turn 2"]
    assert re.findall(r"<h2[^>]*>(.*?)</h2>", page)[:2] == ["Session a", "Session b"]


def test_an_empty_record_is_a_page_that_says_so() -> None:
    assert "Nothing was said in this record." in outline(render_page([])).text


def test_an_answer_that_is_being_received_is_shown_as_incomplete() -> None:
    part = PartId("a")
    begun = (BeginPart(part, Text("")), AppendText(part, "It is su"))
    log = enveloped([TurnStarted(), ModelCallStarted(1, 1, "m"), ContentDelta(begun)])

    text = outline(render_page(log)).text
    assert "It is su" in text
    assert "The record ends before this answer does." in text


def test_p01_what_is_reported_twice_is_shown_once() -> None:
    log = enveloped([RunStarted(), TurnStarted(), ItemsAppended((Item.user("once only"),), 1)])
    again = [replace(log[0], event=RunStarted(resumed=True), seq=9), *log[1:]]
    numbered = [replace(envelope, number=envelope.seq) for envelope in log]
    resumed = [replace(envelope, number=envelope.seq, seq=9) for envelope in again[1:]]

    for twice in ([*log, *again], [*numbered, *resumed]):
        page = render_page(twice, title="A title")
        assert page.count('class="entry user"') == 1


def test_a_session_that_begins_anew_under_the_same_id_is_shown_too() -> None:
    log = enveloped([RunStarted(), TurnStarted(), ItemsAppended((Item.user("one"),), 1)])
    anew = enveloped([RunStarted(), TurnStarted(), ItemsAppended((Item.user("two"),), 1)])

    text = outline(render_page([*log, *anew])).text
    assert "one" in text
    assert "two" in text


def test_sessions_that_name_each_other_as_parents_are_both_shown() -> None:
    log: list[Envelope] = []
    for own, other in (("a", "b"), ("b", "a")):
        story = Story(log, own)
        story.say(RunStarted(False, other, ToolCallId("c")))  # type: ignore[arg-type]
        story.begin("turn-1", Item.user(f"words of {own}"))

    text = outline(render_page(log)).text
    assert "words of a" in text
    assert "words of b" in text


def test_results_of_calls_that_are_not_in_the_record_are_shown_alone() -> None:
    result = ToolResult(call_id=ToolCallId("c9"), output=TextOutput("orphaned words"))
    log = enveloped([TurnStarted(), ItemsAppended((Item.tool(result),), 7)])

    assert "orphaned words" in outline(render_page(log)).text


def test_times_that_no_calendar_has_are_shown_as_numbers() -> None:
    log = [replace(envelope, at=10**20) for envelope in enveloped([Diagnostic("late")])]

    assert f"{10**20} ms" in outline(render_page(log)).text


def test_agents_within_agents_are_shown_down_to_a_depth() -> None:
    log: list[Envelope] = []
    for depth in range(12):
        story = Story(log, f"s{depth}")
        story.say(RunStarted(False, f"s{depth - 1}", ToolCallId("c")) if depth else RunStarted())  # type: ignore[arg-type]
        story.begin("turn-1", Item.user(f"level {depth}."))
        story.answer(ToolCall(id=ToolCallId("c"), name="deeper"))

    text = outline(render_page(log)).text
    assert "level 8." in text
    assert "Inner agents below this one are not shown." in text


def test_a_very_long_text_loses_its_middle_and_says_so() -> None:
    log = enveloped([TurnStarted(), ItemsAppended((Item.user("a" * 300_000 + "end"),), 1)])

    page = render_page(log)
    assert "100003 characters are not shown" in page
    assert "aend" in page


def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The lengths of the pages that are written from now on."""
    written: list[int] = []
    write = Path.write_text

    def count(self: Path, data: str, *args: Any, **options: Any) -> int:
        written.append(len(data))
        return write(self, data, *args, **options)

    monkeypatch.setattr(Path, "write_text", count)
    return written


def test_pages_of_a_long_run_are_written_seldom(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = counted(monkeypatch)
    with HtmlReporter(tmp_path / "run.html") as report:
        for envelope in long_run(240):
            report(envelope)

    assert len(written) < 20, "of 60 turns"
    assert sum(written) < 8 * written[-1]


def test_inner_sessions_that_end_do_not_write_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = counted(monkeypatch)
    report = HtmlReporter(tmp_path / "run.html")
    story = Story([])
    story.say(RunStarted())
    story.begin("turn-1", Item.user("go"))
    for number in range(20):
        inner = Story(story.log, f"inner-{number}")
        inner.say(RunStarted(False, story.session_id, ToolCallId("c")), RunFinished())
    for envelope in story.log:
        report(envelope)

    assert not written


def test_o02_a_page_is_written_when_a_session_is_left_in_the_middle_of_a_turn(
    tmp_path: Path,
) -> None:
    path = tmp_path / "run.html"
    report = HtmlReporter(path)
    story = Story([])
    story.say(RunStarted())
    story.begin("turn-1", Item.user("go"))
    story.say(RunSuspended())
    for envelope in story.log:
        report(envelope)

    assert path.exists()


def test_a_page_is_written_when_a_turn_ends_and_when_it_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "run.html"
    log = showcase()
    first_end = next(at for at, one in enumerate(log) if isinstance(one.event, TurnFinished))
    report = HtmlReporter(path, title="A title")
    for envelope in log[: first_end + 12]:
        report(envelope)

    assert "<title>A title</title>" in path.read_text(encoding="utf-8")
    for envelope in log[first_end + 12 :]:
        report(envelope)
    report.close()
    assert path.read_text(encoding="utf-8") == render_page(log, title="A title")
    path.unlink()
    report.close()
    assert not path.exists(), "nothing has happened since"


def test_o03_a_page_that_cannot_be_written_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.html"
    write_page([], path)
    before = path.read_bytes()

    def fail(self: Path, data: str, *args: Any, **options: Any) -> int:
        self.write_bytes(b"<!DOCT")
        raise OSError(28, "no space left")

    report = HtmlReporter(path)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_text", fail)
        report(enveloped([Diagnostic("a")])[0])
        with pytest.raises(OSError, match="no space"):
            report.close()
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["run.html"]
    report.close()
    assert path.read_bytes() != before


@pytest.mark.skipif(os.name != "posix", reason="Windows has no modes")
def test_vs15_a_new_page_can_be_read_by_its_owner_only_and_an_old_one_keeps_its_mode(
    tmp_path: Path,
) -> None:
    new, real, link = tmp_path / "new.html", tmp_path / "real.html", tmp_path / "link.html"
    real.touch()
    real.chmod(0o664)
    link.symlink_to(real)
    for path in (new, link):
        write_page([], path)

    assert new.stat().st_mode & 0o777 == 0o600
    assert link.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o664
    assert real.stat().st_size


def test_the_style_and_the_script_are_short_and_plain_text() -> None:
    for name in ("style.css", "script.js"):
        source = files("agentkit_reporting._page").joinpath(name).read_text(encoding="utf-8")
        assert len(source.splitlines()) < 350
        assert "</" not in source
        assert "http" not in source
    assert not re.search(r"innerHTML|insertAdjacentHTML|document\.write|eval\(", source)


def test_a_model_answer_names_the_model_that_answered() -> None:
    item = replace(
        Item.assistant("yes"),
        provenance=Provenance("example", "openai_chat", "alias", response_model="real-2026"),
    )
    assert "real-2026" in render_page(enveloped([TurnStarted(), ItemsAppended((item,), 1)]))


_: Callable[[Envelope], None] = HtmlReporter("never-written.html")
