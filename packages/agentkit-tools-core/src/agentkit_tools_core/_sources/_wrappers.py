"""Sources of tools: what can be called, what a model is told of it, and one made of several.

A registry is a source. The others here stand around sources and copy nothing: what changes
inside shows outside, and so does the revision.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Final, Protocol

from msgspec.structs import replace

from agentkit_core import ToolSpec
from agentkit_core.values import StringEnum
from agentkit_tools_core._contract._names import is_tool_name
from agentkit_tools_core._contract._tool import Tool
from agentkit_tools_core._errors import DuplicateTool, InvalidToolName
from agentkit_tools_core._sources._renamed_tool import under_its_own_name


class ToolSource(Protocol):
    """Where tools come from. May be read from any thread while it changes.

    A source may also have `hidden() -> tuple[ToolSpec, ...]`, like `specs`: the tools that can
    be called and of which a model is not told, until a result adds them. See `hidden_specs`.
    """

    @property
    def revision(self) -> int:
        """Grows with every change, and only then; never read later than what it stands for."""
        ...

    def specs(self) -> tuple[ToolSpec, ...]:
        """What a model is told, each name once, in an order that changes leave alone.

        The same object until something changes. Empty when there is nothing to tell.
        """
        ...

    def get(self, name: str, /) -> Tool | None:
        """Find a tool by its exact name, told of or not; None when there is none."""
        ...


def hidden_specs(source: ToolSource) -> tuple[ToolSpec, ...]:
    """Say which tools of a source can be called though no model is told of them."""
    hidden: Callable[[], tuple[ToolSpec, ...]] | None = getattr(source, "hidden", None)
    return () if hidden is None else hidden()


class _Around(ABC):
    """A source made of others: reads them anew when their revision has grown."""

    _read: tuple[int, tuple[ToolSpec, ...], tuple[ToolSpec, ...]] | None = None

    @property
    @abstractmethod
    def revision(self) -> int:
        """Grows with every change inside."""

    @abstractmethod
    def _look(self) -> tuple[tuple[ToolSpec, ...], tuple[ToolSpec, ...]]:
        """Read what is told and what is hidden."""

    def _current(self) -> tuple[int, tuple[ToolSpec, ...], tuple[ToolSpec, ...]]:
        # Read before the specs: a change in between is then read again, never missed.
        revision = self.revision
        read = self._read
        if read is None or read[0] != revision:
            read = (revision, *self._look())
            self._read = read
        return read

    def specs(self) -> tuple[ToolSpec, ...]:
        """What a model is told, in order; the same object until something changes.

        Raises:
            InvalidToolName: What was added inside gets a name that not every provider takes.
            DuplicateTool: What was added inside gets a name that is taken.
        """
        return self._current()[1]

    def hidden(self) -> tuple[ToolSpec, ...]:
        """What can be called and is not told; raises like `specs`."""
        return self._current()[2]


class _OneSource(_Around):
    """One source, seen through something."""

    _source: ToolSource

    @property
    def revision(self) -> int:
        """That of the source inside."""
        return self._source.revision

    def _seen(self, spec: ToolSpec) -> ToolSpec | None:
        """Say what a spec looks like from outside; None where it is not to be seen."""
        return spec

    def _look(self) -> tuple[tuple[ToolSpec, ...], tuple[ToolSpec, ...]]:
        told = tuple(filter(None, map(self._seen, self._source.specs())))
        hidden = tuple(filter(None, map(self._seen, hidden_specs(self._source))))
        taken: set[str] = set()
        for spec in (*told, *hidden):
            if not is_tool_name(spec.name):
                raise InvalidToolName(spec.name)
            if spec.name in taken:
                raise DuplicateTool(spec.name)
            taken.add(spec.name)
        return told, hidden


class PrefixedTools(_OneSource):
    """A source whose tools are called `<prefix>_<name>`.

    A tool itself sees its own name in the request. Names that a result adds
    (`ToolReturn.added_tools`) are those that a model uses, so with the prefix.
    """

    def __init__(self, prefix: str, source: ToolSource) -> None:
        """Stand around a source.

        Raises:
            InvalidToolName: A name, with the prefix, is not one that every provider takes.
        """
        if not is_tool_name(prefix):
            raise InvalidToolName(prefix)
        self._prefix = f"{prefix}_"
        self._source = source
        self._current()

    def _seen(self, spec: ToolSpec) -> ToolSpec:
        return replace(spec, name=self._prefix + spec.name)

    def get(self, name: str, /) -> Tool | None:
        """Find a tool by its name with the prefix; None when there is none."""
        if not name.startswith(self._prefix):
            return None
        tool = self._source.get(name.removeprefix(self._prefix))
        return None if tool is None else under_its_own_name(tool, called=name)


class RenamedTools(_OneSource):
    """A source some of whose tools have other names; the old ones lead nowhere.

    A tool itself sees its own name in the request. Names that are not there, maybe not yet, are
    passed over.
    """

    def __init__(self, source: ToolSource, names: Mapping[str, str]) -> None:
        """Stand around a source.

        Args:
            source: The source.
            names: From the old name to the new one.

        Raises:
            InvalidToolName: A new name is not one that every provider takes.
            DuplicateTool: A name would mean two tools.
        """
        self._source = source
        self._new: Final = dict(names)
        self._old: Final = {new: old for old, new in names.items()}
        for new in self._new.values():
            if not is_tool_name(new):
                raise InvalidToolName(new)
            if list(self._new.values()).count(new) > 1:
                raise DuplicateTool(new)
        self._current()

    def _seen(self, spec: ToolSpec) -> ToolSpec:
        return replace(spec, name=self._new.get(spec.name, spec.name))

    def get(self, name: str, /) -> Tool | None:
        """Find a tool by its new name, or by its name if it has no new one."""
        old = self._old.get(name)
        renamed = None if old is None else self._source.get(old)
        if renamed is not None:
            return under_its_own_name(renamed, called=name)
        return None if name in self._new else self._source.get(name)


class FilteredTools(_OneSource):
    """A source of which only some tools are there: the others are not told and not called."""

    def __init__(self, source: ToolSource, predicate: Callable[[ToolSpec], bool]) -> None:
        """Stand around a source.

        Args:
            source: The source.
            predicate: Says which tools are there; the same answer for the same spec.
        """
        self._source = source
        self._predicate = predicate
        self._current()

    def _seen(self, spec: ToolSpec) -> ToolSpec | None:
        return spec if self._predicate(spec) else None

    def get(self, name: str, /) -> Tool | None:
        """Find a tool by its name; None when there is none, or it is filtered out."""
        tool = self._source.get(name)
        return tool if tool is not None and self._predicate(tool.spec) else None


class HiddenTools(_OneSource):
    """A source of which a model is told nothing; its tools can be called, and all are hidden."""

    def __init__(self, source: ToolSource) -> None:
        """Stand around a source."""
        self._source = source
        self._current()

    def _look(self) -> tuple[tuple[ToolSpec, ...], tuple[ToolSpec, ...]]:
        told, hidden = super()._look()
        return (), (*told, *hidden)

    def get(self, name: str, /) -> Tool | None:
        """Find a tool by its name; None when there is none."""
        return self._source.get(name)


class Collision(StringEnum):
    """What happens where two sources have a tool of one name."""

    FIRST_WINS = "first_wins"
    LAST_WINS = "last_wins"
    REFUSE = "refuse"
    """`DuplicateTool` is raised."""


class CombinedTools(_Around):
    """Several sources as one, source by source in their order.

    Of two tools with one name one wins, and it is the one that is called as well as the one
    that is told; a tool that loses is not there at all. A hidden tool wins over one that is
    told like any other, and is then hidden.
    """

    def __init__(self, *sources: ToolSource, collision: Collision = Collision.FIRST_WINS) -> None:
        """Stand around sources.

        Raises:
            DuplicateTool: Two tools have one name, and that is to be refused.
        """
        self._sources = sources
        self._collision = collision
        last = collision is Collision.LAST_WINS
        self._order = tuple(reversed(sources)) if last else sources
        self._current()

    @property
    def revision(self) -> int:
        """The sum of the revisions inside, which grows with each of them."""
        return sum(source.revision for source in self._sources)

    def get(self, name: str, /) -> Tool | None:
        """Find the tool that wins under a name; None when there is none."""
        for source in self._order:
            if (tool := source.get(name)) is not None:
                return tool
        return None

    def _look(self) -> tuple[tuple[ToolSpec, ...], tuple[ToolSpec, ...]]:
        told: list[ToolSpec] = []
        hidden: list[ToolSpec] = []
        for at, source in enumerate(self._sources):
            told += [spec for spec in source.specs() if self._wins(at, spec.name)]
            hidden += [spec for spec in hidden_specs(source) if self._wins(at, spec.name)]
        return tuple(told), tuple(hidden)

    def _wins(self, at: int, name: str) -> bool:
        if self._collision is Collision.LAST_WINS:
            return all(other.get(name) is None for other in self._sources[at + 1 :])
        taken = any(other.get(name) is not None for other in self._sources[:at])
        if taken and self._collision is Collision.REFUSE:
            raise DuplicateTool(name)
        return not taken
