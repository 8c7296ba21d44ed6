"""Artifacts: large tool outputs that are stored whole, and the tool that reads them back.

`OutputLimits(action=OverflowAction.STORE, store=…)` puts outputs that are too long into a store;
the model gets the beginning and an id, and reads on with `read_artifact_tool(store)`.
`FileArtifacts` reads and writes files of its own folder.
"""

from agentkit_tools_core._outputs._artifacts import (
    ArtifactSlice,
    ArtifactStore,
    FileArtifacts,
    InvalidOffset,
    MemoryArtifacts,
    UnknownArtifact,
)
from agentkit_tools_core._outputs._read_tool import read_artifact_tool

__all__ = [
    "ArtifactSlice",
    "ArtifactStore",
    "FileArtifacts",
    "InvalidOffset",
    "MemoryArtifacts",
    "UnknownArtifact",
    "read_artifact_tool",
]
