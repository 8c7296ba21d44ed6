"""A run as plain text for people at a terminal.

    It is sunny in Rome.                       the answer, while it arrives
    > weather {"city":"Rome"}                  the model calls a tool
      weather: looking it up                   progress
    < weather: 18 °C and sunny                 the output of the tool, shortened
      report continues in the background       its result arrives later
    ? delete_file {"path":"/a"}                a person has to approve
    ? approved                                 and has
    ! rate_limit, HTTP 429: slow down          an error or a warning
    [2 requests, 1,200 tokens in, 80 out]      the usage of the turn

Text of models and tools cannot control the terminal; see `_terminal_safe`. A line of an answer that
begins with a question mark gets a backslash before it, so that it cannot be taken for an approval.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TextIO

from agentkit_core import JsonValue, ToolCallId
from agentkit_core.text import make_visible, shorten_middle
from agentkit_loop import TurnEnd, TurnResult
from agentkit_loop.events import (
    ApprovalRequired,
    ApprovalResolved,
    AttemptSuperseded,
    ContentDelta,
    Diagnostic,
    Envelope,
    InputRejected,
    ModelCallFinished,
    MutationFinished,
    MutationOutcome,
    RetryScheduled,
    RunFinished,
    RunStarted,
    RunSuspended,
    ToolCallRequested,
    ToolCatalogChanged,
    ToolDetached,
    ToolExecutionStarted,
    ToolProgress,
    ToolResultReceived,
    TranscriptRewritten,
    TurnFinished,
)
from agentkit_reporting._format import brief, brief_json, brief_output, describe_usage
from agentkit_reporting._line_writer import LineWriter, Style
from agentkit_reporting._open_requests import OpenRequests
from agentkit_reporting._streamed_answer import AnswerWriter
from agentkit_reporting._terminal_safe import clean

_MOST_OF_A_SUMMARY: Final = 10_000
"""How many characters of an approval are shown; the line says how many are missing."""
_ENDS: Final[Mapping[TurnEnd, str]] = {
    TurnEnd.MAX_TOKENS: "the answer reached a limit on its length",
    TurnEnd.BLOCKED: "a content filter or the model refused to answer",
    TurnEnd.EMPTY: "the model answered with nothing, twice",
    TurnEnd.CANCELLED: "cancelled",
}


class TextReporter:
    """Writes a run for people: the streamed text, and short lines for everything else."""

    __slots__ = (
        "__weakref__",
        "_answer",
        "_calls",
        "_lines",
        "_max_width",
        "_requests",
        "_show_usage",
        "_writers",
    )

    def __init__(
        self,
        file: TextIO | None = None,
        *,
        write: Callable[[str], object] | None = None,
        colour: bool = False,
        show_reasoning: bool = False,
        show_usage: bool = True,
        max_width: int = 200,
    ) -> None:
        """Write to a file, or through a function.

        Args:
            file: The file; it is flushed after each event. By default the current `sys.stdout`.
            write: A function that takes the text instead of a file; called once per event.
            colour: Whether to colour lines with ANSI sequences.
            show_reasoning: Whether to show the model's reasoning, as far as it is streamed.
            show_usage: Whether each turn ends with a line about its usage.
            max_width: How many characters of arguments, results and the like to show, at least 1.
                The answer is always complete, and so are approvals of up to 10,000 characters.
        """
        self._lines = LineWriter(file, write, colour=colour)
        self._answer = AnswerWriter(self._lines, show_reasoning=show_reasoning)
        self._show_usage = show_usage
        self._max_width = max_width
        self._calls: dict[ToolCallId, tuple[str, dict[str, JsonValue]]] = {}
        self._requests = OpenRequests()
        self._writers: dict[type[Any], Callable[[Any], None]] = {
            ContentDelta: self._write_content,
            ModelCallFinished: self._write_call_end,
            AttemptSuperseded: self._write_superseded_answer,
            RetryScheduled: self._write_retry,
            ToolCallRequested: self._write_call,
            ToolExecutionStarted: self._write_changed_call,
            ToolProgress: self._write_progress,
            ToolResultReceived: self._write_result,
            ToolDetached: self._write_detached_call,
            ToolCatalogChanged: self._write_catalogue_change,
            MutationFinished: self._write_mutation,
            TranscriptRewritten: self._write_rewrite,
            ApprovalRequired: self._write_approval,
            ApprovalResolved: self._write_decision,
            InputRejected: self._write_rejected_input,
            Diagnostic: self._write_diagnostic,
            TurnFinished: self._write_turn_end,
            RunStarted: self._requests.begin_run,
            RunSuspended: self._write_suspension,
            RunFinished: self._requests.end_run,
        }

    def __call__(self, envelope: Envelope) -> None:
        """Write one event; some kinds of events are not shown.

        Raises:
            OSError: The text cannot be written.
        """
        write = self._writers.get(type(envelope.event))
        if write is not None:
            self._requests.session_id = envelope.session_id
            write(envelope.event)
            self._lines.flush()

    def _write_content(self, event: ContentDelta) -> None:
        self._answer.write(event.deltas)

    def _write_call_end(self, _: ModelCallFinished) -> None:
        # A failure is shown by a later event: another attempt, or the end of the turn.
        self._answer.end()

    def _write_superseded_answer(self, _: AttemptSuperseded) -> None:
        self._warn("the answer so far is discarded")

    def _write_retry(self, event: RetryScheduled) -> None:
        self._warn(f"{event.failure.describe()}; trying again in {event.wait_s:.1f} s")

    def _write_call(self, event: ToolCallRequested) -> None:
        call = event.call
        self._calls[call.id] = (call.name, call.input)
        self._call_line(call.name, call.raw_input or call.input)

    def _write_changed_call(self, event: ToolExecutionStarted) -> None:
        name, requested = self._calls.setdefault(event.call_id, (event.name, event.input))
        if requested != event.input:
            only_more = requested.items() <= event.input.items()
            how = "completed" if only_more else "changed"
            self._call_line(f"{name}, {how}:", event.input)

    def _write_progress(self, event: ToolProgress) -> None:
        name, _ = self._calls.get(event.call_id, (event.call_id, {}))
        text = f"{self._brief(name)}: {self._brief(event.message)}"
        self._lines.line(f"  {text}", Style.DIM)

    def _write_result(self, event: ToolResultReceived) -> None:
        self._calls.pop(event.call_id, None)
        result = event.result
        shown = brief_output(result.output, self._max_width)
        name = self._brief(event.name) + (" in the background" if event.background else "")
        if result.is_error:
            why = f" ({result.failure.value})" if result.failure else ""
            self._lines.line(f"< {name} failed{why}: {shown}", Style.RED)
        else:
            self._lines.line(f"< {name}: {shown}", Style.DIM)

    def _write_detached_call(self, event: ToolDetached) -> None:
        self._lines.line(f"  {self._brief(event.name)} continues in the background", Style.DIM)

    def _write_catalogue_change(self, event: ToolCatalogChanged) -> None:
        changes = [
            *(f"+{name}" for name in event.added),
            *(f"-{name}" for name in event.removed),
            *(f"~{name}" for name in event.changed),
        ]
        self._lines.line(f"  tools: {self._brief(' '.join(changes))}", Style.DIM)

    def _write_mutation(self, event: MutationFinished) -> None:
        if event.outcome is MutationOutcome.ROLLED_BACK:
            self._warn(f"the transcript was not changed: {event.reason}")

    def _write_rewrite(self, event: TranscriptRewritten) -> None:
        self._lines.line(f"  the transcript was rewritten: {len(event.items)} items", Style.DIM)

    def _write_approval(self, event: ApprovalRequired) -> None:
        request = event.request
        if not self._requests.add(request):
            return
        # A person decides on what is shown, so it is not shortened as other lines are.
        summary = shorten_middle(make_visible(request.summary), _MOST_OF_A_SUMMARY)
        self._lines.line(f"? {summary}", Style.YELLOW)
        if request.reason is not None:
            reason = shorten_middle(make_visible(request.reason), _MOST_OF_A_SUMMARY)
            self._lines.line(f"  {reason}", Style.YELLOW)

    def _write_decision(self, event: ApprovalResolved) -> None:
        summary = self._requests.resolve(event)
        if summary is None:
            return
        changed = ", arguments changed" if event.patched else ""
        # Which of several; the id is a fingerprint, which says nothing to a person.
        which = f": {self._brief(summary)}" if summary else ""
        self._lines.line(f"? {event.outcome.value}{changed}{which}", Style.YELLOW)

    def _write_rejected_input(self, event: InputRejected) -> None:
        self._warn(f"not accepted: {event.reason}")

    def _write_diagnostic(self, event: Diagnostic) -> None:
        self._warn(event.message)

    def _write_turn_end(self, event: TurnFinished) -> None:
        self._answer.end()
        self._calls.clear()
        result = event.result
        if result.end is not TurnEnd.COMPLETED:
            self._warn(_describe_end(result))
        if self._show_usage:
            self._lines.line(f"[{clean(describe_usage(result.usage))}]", Style.DIM)

    def _write_suspension(self, event: RunSuspended) -> None:
        # The session may be left in the middle of an answer.
        self._answer.end()
        self._requests.end_run(event)

    def _call_line(self, name: str, arguments: str | dict[str, JsonValue]) -> None:
        width = self._max_width
        shown = (
            brief(arguments, width) if isinstance(arguments, str) else brief_json(arguments, width)
        )
        self._lines.line(f"> {self._brief(name)} {shown}", Style.DIM)

    def _warn(self, text: str) -> None:
        self._lines.line(f"! {self._brief(text)}", Style.RED)

    def _brief(self, text: str) -> str:
        return brief(text, self._max_width)


def _describe_end(result: TurnResult) -> str:
    if result.failure is not None:
        return result.failure.describe()
    if result.error is not None:
        return result.error
    if result.end is TurnEnd.LIMIT:
        return f"the turn reached a limit: {result.limit}"
    return _ENDS.get(result.end, result.end.value)
