"""agentkit-reporting: reporters, which are functions of an event of a run."""

from agentkit_reporting._buffered import BackgroundReporter, BufferedReporter, QueueOverflow
from agentkit_reporting._guard import FailurePolicy, GuardedReporter
from agentkit_reporting._jsonl import JsonlLine, JsonlReporter
from agentkit_reporting._tee import TeeReporter
from agentkit_reporting._terminal_safe import TerminalCleaner, clean
from agentkit_reporting._text import TextReporter
from agentkit_reporting._transcript import TranscriptReporter
from agentkit_reporting._usage import UsageReporter, UsageSummary

__all__ = [
    # for people
    "TerminalCleaner",
    "TextReporter",
    "clean",
    # for programs
    "JsonlLine",
    "JsonlReporter",
    "TranscriptReporter",
    "UsageReporter",
    "UsageSummary",
    # reporters around reporters
    "BackgroundReporter",
    "BufferedReporter",
    "FailurePolicy",
    "GuardedReporter",
    "QueueOverflow",
    "TeeReporter",
]
