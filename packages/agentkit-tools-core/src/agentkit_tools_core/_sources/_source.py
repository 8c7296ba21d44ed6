"""The contract of a source of tools, such as a registry."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from agentkit_core import ToolSpec
from agentkit_tools_core._contract._tool import Tool


class ToolSource(Protocol):
    """A collection of tools, such as a registry. It may be read from any thread while it changes.

    A source that also has tools which are not described to the model is a `HidingSource`.
    """

    @property
    def revision(self) -> int:
        """A number that grows with every change, and only then.

        Read it before `specs` and `get`, so that no change is missed.
        """
        ...

    def specs(self) -> tuple[ToolSpec, ...]:
        """Return the descriptions for the model, each name once, in a stable order.

        The same object until something changes; empty if there are no tools.
        """
        ...

    def get(self, name: str, /) -> Tool | None:
        """Return the tool with this exact name, hidden or not; None if there is none."""
        ...


@runtime_checkable
class HidingSource(Protocol):
    """A source with hidden tools: the model can call them, but gets no description of them.

    A tool result can add the description of a hidden tool (`ToolReturn.added_tools`).
    """

    def hidden(self) -> tuple[ToolSpec, ...]:
        """Return the specs of the hidden tools, each name once, in a stable order."""
        ...


def hidden_specs(source: ToolSource) -> tuple[ToolSpec, ...]:
    """Return the specs of a source's hidden tools; empty if it has none."""
    return source.hidden() if isinstance(source, HidingSource) else ()
