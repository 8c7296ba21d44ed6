"""Home: where calls run that may outlive a turn, a task group that ends with its session."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import anyio.abc


@asynccontextmanager
async def home(*, needed: bool) -> AsyncIterator[anyio.abc.TaskGroup | None]:
    """Open a group for the calls of a session that go on in the background.

    What is raised within comes out as it is and not in a group: nobody who catches it looks into
    one. What still runs in the end is cancelled.

    Args:
        needed: Whether there is one at all. A group ties the session to the task that opens it,
            so sessions without such calls do without.
    """
    if not needed:
        yield None
        return
    struck: BaseException | None = None
    try:
        async with anyio.create_task_group() as group:
            try:
                yield group
            except BaseException as error:
                struck = error
                raise
            finally:
                group.cancel_scope.cancel()
    except BaseExceptionGroup as group:
        if struck is None:
            raise
        if isinstance(struck, BaseExceptionGroup) and len(group.exceptions) == 1:
            struck = group.exceptions[0]  # under trio another object, of the same exceptions
        raise struck from struck.__cause__
