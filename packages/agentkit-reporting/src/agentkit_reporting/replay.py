"""Replay: a record of `JsonlReporter` read back into events, transcripts and differences.

`read_record` gives the envelopes of a record, line by line, for any reporter:

    for envelope in read_record("run.jsonl"):
        report(envelope)

`transcript_of` gives the transcript of a session in it, and `diff` says where two runs part.
docs/packages/reporting.md describes the format.
"""

from agentkit_reporting._diff import RunDifference, diff
from agentkit_reporting._record import (
    RecordProblem,
    RecordProblemKind,
    RecordSource,
    read_record,
)
from agentkit_reporting._transcript import transcript_of

__all__ = [
    "RecordProblem",
    "RecordProblemKind",
    "RecordSource",
    "RunDifference",
    "diff",
    "read_record",
    "transcript_of",
]
