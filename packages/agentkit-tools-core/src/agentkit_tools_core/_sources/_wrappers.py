"""Sources of tools made of other sources: renamed, filtered, hidden, combined.

The classes here wrap sources and copy nothing: changes of the inner source
show immediately, and so does its revision.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final, Self

from msgspec.structs import replace

from agentkit_core import ToolSpec
from agentkit_core.settings import member_of
from agentkit_core.values import StringEnum
from agentkit_tools_core._contract._names import is_tool_name
from agentkit_tools_core._contract._tool import Tool
from agentkit_tools_core._errors import DuplicateTool, InvalidToolName
from agentkit_tools_core._sources._renamed_tool import rename_tool
from agentkit_tools_core._sources._source import ToolSource, hidden_specs

_Specs = tuple[tuple[ToolSpec, ...], tuple[ToolSpec, ...]]
"""The specs that are described to the model, and those that are hidden."""


class _Wrapper(ABC):
    """A source made of others; it reads them again when their revision has grown."""

    __slots__ = ("__weakref__", "_cache")

    _cache: tuple[int, _Specs] | None

    def __new__(cls, *_: Any, **__: Any) -> Self:
        wrapper = super().__new__(cls)
        wrapper._cache = None
        return wrapper

    @property
    @abstractmethod
    def revision(self) -> int:
        """A number that grows with every change of a wrapped source."""

    @abstractmethod
    def _read_specs(self) -> _Specs:
        """Read the specs of the wrapped sources."""

    def _current(self) -> _Specs:
        # The revision is read before the specs, so that no change in between is missed.
        revision = self.revision
        cache = self._cache
        if cache is None or cache[0] != revision:
            cache = (revision, self._read_specs())
            self._cache = cache
        return cache[1]

    def specs(self) -> tuple[ToolSpec, ...]:
        """Return the descriptions for the model, in order; the same object until a change.

        Raises:
            InvalidToolName: A tool that was added inside has no valid name here.
            DuplicateTool: Two tools have the same name here.
        """
        return self._current()[0]

    def hidden(self) -> tuple[ToolSpec, ...]:
        """Return the specs of the hidden tools; raises the errors of `specs`."""
        return self._current()[1]


class _OneSource(_Wrapper):
    """A wrapper around one source."""

    __slots__ = ("_source",)

    _source: ToolSource

    @property
    def revision(self) -> int:
        """The revision of the wrapped source."""
        return self._source.revision

    def _outer_spec(self, spec: ToolSpec) -> ToolSpec | None:
        """Return the spec that callers of the wrapper get; None if the tool is left out."""
        return spec

    def _read_specs(self) -> _Specs:
        visible = tuple(filter(None, map(self._outer_spec, self._source.specs())))
        hidden = tuple(filter(None, map(self._outer_spec, hidden_specs(self._source))))
        names: set[str] = set()
        for spec in (*visible, *hidden):
            if not is_tool_name(spec.name):
                raise InvalidToolName(spec.name)
            if spec.name in names:
                raise DuplicateTool(spec.name)
            names.add(spec.name)
        return visible, hidden


class PrefixedTools(_OneSource):
    """A source whose tools are called `<prefix>_<name>`.

    The tool itself gets its own name in the invocation. In `ToolReturn.added_tools`, names have the
    prefix, because they are the names that the model uses.
    """

    __slots__ = ("_prefix", "_source")

    def __init__(self, prefix: str, source: ToolSource) -> None:
        """Wrap a source.

        Raises:
            InvalidToolName: A name with the prefix is not a valid tool name.
        """
        if not is_tool_name(prefix):
            raise InvalidToolName(prefix)
        self._prefix = f"{prefix}_"
        self._source = source
        self._current()

    def _outer_spec(self, spec: ToolSpec) -> ToolSpec:
        return replace(spec, name=self._prefix + spec.name)

    def get(self, name: str, /) -> Tool | None:
        """Return the tool with this name, including the prefix; None if there is none."""
        if not name.startswith(self._prefix):
            return None
        tool = self._source.get(name.removeprefix(self._prefix))
        return None if tool is None else rename_tool(tool, name)


class RenamedTools(_OneSource):
    """A source in which some tools have other names; the old names are no longer valid.

    The tool itself gets its own name in the invocation. Names of tools that do not exist, or not
    yet, are ignored.
    """

    __slots__ = ("_new", "_old", "_source")

    def __init__(self, source: ToolSource, names: Mapping[str, str]) -> None:
        """Wrap a source.

        Args:
            source: The source.
            names: From the old name of each tool to its new name.

        Raises:
            InvalidToolName: A new name is not a valid tool name.
            DuplicateTool: Two tools would have the same name.
        """
        self._source = source
        self._new: Final = dict(names)
        self._old: Final = {new: old for old, new in names.items()}
        times = Counter(self._new.values())
        for new in self._new.values():
            if not is_tool_name(new):
                raise InvalidToolName(new)
            if times[new] > 1:
                raise DuplicateTool(new)
        self._current()

    def _outer_spec(self, spec: ToolSpec) -> ToolSpec:
        return replace(spec, name=self._new.get(spec.name, spec.name))

    def get(self, name: str, /) -> Tool | None:
        """Return the tool with this name: the new one, if the tool was renamed."""
        old = self._old.get(name)
        renamed = None if old is None else self._source.get(old)
        if renamed is not None:
            return rename_tool(renamed, name)
        return None if name in self._new else self._source.get(name)


class FilteredTools(_OneSource):
    """A source from which some tools are removed: they are neither described nor callable."""

    __slots__ = ("_predicate", "_source")

    def __init__(self, source: ToolSource, predicate: Callable[[ToolSpec], bool]) -> None:
        """Wrap a source.

        Args:
            source: The source.
            predicate: Says which tools to keep; it must always answer the same for the same spec.
        """
        self._source = source
        self._predicate = predicate
        self._current()

    def _outer_spec(self, spec: ToolSpec) -> ToolSpec | None:
        return spec if self._predicate(spec) else None

    def get(self, name: str, /) -> Tool | None:
        """Return the tool with this name; None if there is none, or it is filtered out."""
        tool = self._source.get(name)
        return tool if tool is not None and self._predicate(tool.spec) else None


class HiddenTools(_OneSource):
    """A source whose tools are all hidden: the model can call them but gets no descriptions."""

    __slots__ = ("_source",)

    def __init__(self, source: ToolSource) -> None:
        """Wrap a source."""
        self._source = source
        self._current()

    def _read_specs(self) -> _Specs:
        visible, hidden = super()._read_specs()
        return (), (*visible, *hidden)

    def get(self, name: str, /) -> Tool | None:
        """Return the tool with this name; None if there is none."""
        return self._source.get(name)


class Collision(StringEnum):
    """What happens if two sources have tools of the same name."""

    FIRST_WINS = "first_wins"
    LAST_WINS = "last_wins"
    REFUSE = "refuse"
    """`DuplicateTool` is raised."""


class CombinedTools(_Wrapper):
    """Several sources as one: the tools of each source, in the order of the sources.

    If two tools have the same name, one wins: it is the one that is described and called, and the
    other one is not available. A hidden tool can win as well; the name is then hidden.
    """

    __slots__ = ("_collision", "_order", "_sources")

    def __init__(self, *sources: ToolSource, collision: Collision = Collision.FIRST_WINS) -> None:
        """Wrap sources.

        Args:
            sources: The sources, in order.
            collision: What happens if two sources have tools of the same name.

        Raises:
            DuplicateTool: Two tools have the same name, and `collision` is `REFUSE`.
            ValueError: `collision` is not a valid word.
        """
        self._sources = sources
        self._collision = collision = member_of(Collision, collision, "collision")
        last = collision is Collision.LAST_WINS
        self._order = tuple(reversed(sources)) if last else sources
        self._current()

    @property
    def revision(self) -> int:
        """The sum of the revisions of all sources; it grows with each of them."""
        return sum(source.revision for source in self._sources)

    def get(self, name: str, /) -> Tool | None:
        """Return the tool that wins under this name; None if there is none."""
        for source in self._order:
            if (tool := source.get(name)) is not None:
                return tool
        return None

    def _read_specs(self) -> _Specs:
        of_sources = [(source.specs(), hidden_specs(source)) for source in self._sources]
        in_order = reversed(of_sources) if self._order is not self._sources else of_sources
        taken = set[str]()
        winners: list[_Specs] = []
        for specs in in_order:
            visible, hidden = (
                tuple(spec for spec in some if self._wins(spec.name, taken)) for some in specs
            )
            winners.append((visible, hidden))
            taken.update(spec.name for some in specs for spec in some)
        if in_order is not of_sources:
            winners.reverse()
        return (
            tuple(spec for visible, _ in winners for spec in visible),
            tuple(spec for _, hidden in winners for spec in hidden),
        )

    def _wins(self, name: str, taken: Collection[str]) -> bool:
        if name in taken and self._collision is Collision.REFUSE:
            raise DuplicateTool(name)
        return name not in taken
