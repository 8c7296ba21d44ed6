"""The text of answers, taken from the events of a run."""

from __future__ import annotations

from collections.abc import Iterable

from agentkit_core import Part, Text
from agentkit_core.provider import AppendText, BeginPart, CommitPart, Delta, PartId
from agentkit_loop._errors import TurnNotCompleted
from agentkit_loop._result import TurnEnd, TurnResult
from agentkit_loop.events import ContentDelta, Event, ModelCallStarted, TurnFinished


class AnswerText:
    """Takes the text of answers from the events of a run, without reasoning and arguments.

    Attributes:
        last: The result of the last turn that ended; None if none did.
    """

    __slots__ = ("_others", "_texts", "last")

    def __init__(self) -> None:
        self._texts: dict[PartId, list[str]] = {}
        """What has come of each text part that is growing."""
        self._others: set[PartId] = set()
        """Parts that are growing and are no text."""
        self.last: TurnResult | None = None

    def take(self, event: Event) -> str:
        """Return the text that an event adds; empty if it adds none."""
        match event:
            case ModelCallStarted():
                self._texts.clear()
                self._others.clear()
            case TurnFinished(result=result):
                self.last = result
            case ContentDelta(deltas=deltas):
                return self._text_in(deltas)
            case _:
                pass
        return ""

    def require_completed(self) -> None:
        """Check that the last turn was completed: a text alone does not show that it was not.

        Raises:
            TurnNotCompleted: It was not.
        """
        if self.last is not None and self.last.end is not TurnEnd.COMPLETED:
            raise TurnNotCompleted(self.last)

    def _text_in(self, deltas: Iterable[Delta]) -> str:
        pieces: list[str] = []
        for delta in deltas:
            match delta:
                case AppendText(part_id=part_id, chunk=chunk) if part_id not in self._others:
                    # Text for a part that never began becomes a text part, as in a lenient fold.
                    self._texts.setdefault(part_id, []).append(chunk)
                    pieces.append(chunk)
                case BeginPart(part_id=part_id, part=Text(text=text)):
                    self._texts[part_id] = [text]
                    pieces.append(text)
                case BeginPart(part_id=part_id):
                    self._others.add(part_id)
                case CommitPart(part_id=part_id, part=part):
                    pieces.append(self._rest_of(part_id, part))
                case _:
                    pass
        return "".join(pieces)

    def _rest_of(self, part_id: PartId | None, part: Part) -> str:
        """Return what a part that is complete has beyond what came before."""
        before = "" if part_id is None else "".join(self._texts.pop(part_id, ()))
        if not isinstance(part, Text) or not part.text.startswith(before):
            return ""
        return part.text[len(before) :]
