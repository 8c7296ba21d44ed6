"""The tools that a session offers to the model, with the tool for a typed result while needed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from agentkit_loop.extensions._structured import ResultRequest
from agentkit_tools_core import CombinedTools, Tool, ToolSource

if TYPE_CHECKING:  # the drivers are imported only where they are used
    from agentkit_loop.drivers._engine import Engine


class ToolOffer:
    """The tools of one session.

    Args:
        engine: The session's engine.

    Attributes:
        tools: The source of the host's tools, without the tool for a typed result.
    """

    __slots__ = ("_engine", "_result_tool", "tools")

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.tools: ToolSource = engine.executor.source
        self._result_tool: ToolSource | None = None

    def replace_tools(self, tools: Iterable[Tool] | ToolSource) -> None:
        """Offer other tools from the next model call on.

        Raises:
            TypeError: Something in it is not a tool.
            DuplicateTool: Two tools have one name.
            InvalidToolName: A tool's name is not valid.
        """
        # The checks come first, so that an error leaves the offer as it is.
        self._offer(self._engine.executor.with_tools(tools).source, self._result_tool)

    @contextmanager
    def request_result(self, request: ResultRequest[Any]) -> Iterator[None]:
        """Request a result of a type from the turns that run in the block."""
        hooks = self._engine.hooks.hooks
        if request.tools is not None:
            self._offer(self.tools, request.tools)
        # It is the last hook, so it sees what the host's hooks have made of a response.
        self._engine.use_hooks(hooks.with_last(request))
        try:
            yield
        finally:
            self._engine.use_hooks(hooks)
            if self._result_tool is not None:
                self._offer(self.tools, None)

    def _offer(self, tools: ToolSource, result_tool: ToolSource | None) -> None:
        source = tools if result_tool is None else CombinedTools(result_tool, tools)
        self._engine.executor = self._engine.executor.with_tools(source)
        self.tools, self._result_tool = tools, result_tool
