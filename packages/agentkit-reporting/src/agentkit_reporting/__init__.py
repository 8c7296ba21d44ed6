"""agentkit-reporting: reporters, which are functions that take an event of a run."""

from agentkit_reporting._background import BackgroundReporter, QueueOverflow
from agentkit_reporting._buffered import BufferedReporter
from agentkit_reporting._guard import FailurePolicy, GuardedReporter
from agentkit_reporting._jsonl import JsonlLine, JsonlReporter
from agentkit_reporting._tee import TeeReporter
from agentkit_reporting._terminal_safe import TerminalCleaner, clean
from agentkit_reporting._text import TextReporter
from agentkit_reporting._transcript import TranscriptReporter
from agentkit_reporting._usage import UsageReporter, UsageSummary

__version__ = "0.1.0"

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
    # reporters that wrap or combine others
    "BackgroundReporter",
    "BufferedReporter",
    "FailurePolicy",
    "GuardedReporter",
    "QueueOverflow",
    "TeeReporter",
]
