"""Stores for sessions: files, SQLite, memory; each works with and without an event loop."""

from agentkit_loop.persistence._records import (
    DamagedSave,
    RevisionGap,
    Salvage,
    SessionInUse,
    StaleSave,
    StoreLocked,
)
from agentkit_loop.stores._file import FileStore
from agentkit_loop.stores._memory import MemoryStore
from agentkit_loop.stores._sqlite import SqliteStore

__all__ = [
    "FileStore",
    "MemoryStore",
    "SqliteStore",
    # what can be read of a damaged session
    "Salvage",
    # errors that stores raise
    "DamagedSave",
    "RevisionGap",
    "SessionInUse",
    "StaleSave",
    "StoreLocked",
]
