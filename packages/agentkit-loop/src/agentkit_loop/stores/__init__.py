"""Stores of sessions: in files, in SQLite, in memory. Each can be awaited and can block."""

from agentkit_loop.stores._file import FileStore
from agentkit_loop.stores._memory import MemoryStore
from agentkit_loop.stores._sqlite import SqliteStore

__all__ = ["FileStore", "MemoryStore", "SqliteStore"]
