"""What a running tool may ask of its surroundings."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar

from agentkit_core import ApprovalId, JsonValue
from agentkit_tools_core._errors import MissingDependency
from agentkit_tools_core._request import ToolRequest

T = TypeVar("T")


class ToolContext:
    """One call, seen from inside the tool.

    A function gets it by annotating a parameter with this class; the model is not told of that
    parameter. All of it may be used from any thread.
    """

    __slots__ = ("_cancelled", "_dependencies", "_progress", "approved", "request")

    request: ToolRequest
    """The call that is answered."""
    approved: frozenset[ApprovalId]
    """The approvals that were granted for this call."""

    def __init__(
        self,
        request: ToolRequest,
        *,
        progress: Callable[[str, JsonValue], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
        dependencies: Mapping[type[Any], object] | None = None,
        approved: Collection[ApprovalId] = (),
    ) -> None:
        """Made by whoever runs the call.

        Args:
            request: The call.
            progress: Takes a message and data; callable from any thread. None drops both.
            cancelled: Says whether the call is still wanted; callable from any thread. None
                means that it is never cancelled.
            dependencies: Objects of the host, by the type that tools ask for.
            approved: The approvals that were granted for this call.
        """
        self.request = request
        self.approved = frozenset(approved)
        self._progress = progress
        self._cancelled = cancelled
        self._dependencies: Mapping[type[Any], object] = dependencies or {}

    @property
    def cancelled(self) -> bool:
        """Whether the result is no longer wanted.

        An async tool is cancelled where it waits and need not look; a sync tool that takes long
        should look now and then and return early.
        """
        return self._cancelled is not None and self._cancelled()

    def progress(self, message: str, data: JsonValue = None) -> None:
        """Tell how far the call is. The model does not see it, reporters and hosts do.

        Args:
            message: For people, one line.
            data: The same for programs.
        """
        if self._progress is not None:
            self._progress(message, data)

    def get(self, kind: type[T]) -> T:
        """Find the host's object of a type: a database, a client, a user.

        Args:
            kind: The very type under which the host registered it; no subclass is tried.

        Raises:
            MissingDependency: The host registered nothing under that type.
        """
        try:
            found: Any = self._dependencies[kind]
        except KeyError:
            raise MissingDependency(kind, tool=self.request.name) from None
        return found  # type: ignore[no-any-return]
