"""Opens sessions: connects model, driver and session object, and ends all three together."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    contextmanager,
    suppress,
)
from types import TracebackType
from typing import TYPE_CHECKING

from agentkit_core import SessionId
from agentkit_loop._errors import ReporterFailed, WrongModelForm, WrongStoreForm
from agentkit_loop.agent._blocking_session import BlockingSession
from agentkit_loop.agent._opening import AgentParts, ParentRun, SessionStart, new_session_id
from agentkit_loop.agent._session import Session
from agentkit_loop.drivers._session_lease import SessionLease
from agentkit_loop.kernel._state import ParentCall
from agentkit_loop.persistence._records import Saved
from agentkit_loop.ports import BlockingModel, BlockingStore, Model, Store
from agentkit_tools_core import ToolSuspended
from agentkit_tools_core.sync import require_no_awaitable

if TYPE_CHECKING:  # the drivers are imported only where they are used
    from agentkit_loop.drivers.concurrent import ConcurrentDriver


@contextmanager
def leased(store: object, session_id: SessionId) -> Iterator[SessionLease]:
    """Take the lease of a session before it is loaded; give it back if the block raises.

    Raises:
        SessionInUse: Somebody else works on the session.
    """
    lease = SessionLease(store, session_id)
    lease.take()
    try:
        yield lease
    except BaseException:
        lease.release()
        raise


async def load_saved(store: Store, session_id: SessionId) -> Saved | None:
    """Load what a store has of a session; None if it was never saved.

    Raises:
        WrongStoreForm: The store has no `save`.
        RecordError: What is stored cannot be read.
    """
    if not isinstance(store, Store):
        raise WrongStoreForm(store, "save")
    return await store.load(session_id)


def load_saved_blocking(store: BlockingStore, session_id: SessionId) -> Saved | None:
    """Load what a store has of a session, without an event loop; see `load_saved`."""
    if not isinstance(store, BlockingStore):
        raise WrongStoreForm(store, "save_blocking")
    return require_no_awaitable(store.load_blocking(session_id), "the store's `load_blocking`")


class OpenSession:
    """Opens a session for asyncio and trio, and leaves it.

    At the end, a session with a store is left there as it stands; any other one is closed. Not a
    generator: an event loop that ends closes all generators at once, and one that another one waits
    for would be closed twice.

    Args:
        parts: What the agent is made of.
        begin: Returns what the session begins with.
        store: Where it is saved; None means nowhere.
        parent: The run whose tool it is; None for a session of its own.
    """

    # Not a subclass of `AbstractAsyncContextManager`, which would give it a dict of attributes.
    __slots__ = ("_begin", "_driver", "_parent", "_parts", "_session", "_store")

    def __init__(
        self,
        parts: AgentParts,
        begin: Callable[[], Awaitable[SessionStart]],
        *,
        store: Store | None = None,
        parent: ParentRun | None = None,
    ) -> None:
        self._parts = parts
        self._begin = begin
        self._store = store
        self._parent = parent
        self._driver: ConcurrentDriver | None = None
        self._session: Session | None = None

    async def __aenter__(self) -> Session:
        """Open the session.

        Raises:
            WrongModelForm: The model has no `open`.
            RuntimeError: It was opened before.
        """
        from agentkit_loop.drivers._background_group import BackgroundGroup  # imports anyio
        from agentkit_loop.drivers.concurrent import ConcurrentDriver

        if self._driver is not None:
            raise RuntimeError("this session was opened before; call `session` or `resume` again")
        begin, parts = await self._begin(), self._parts
        if not isinstance(parts.model, Model):
            raise WrongModelForm(parts.model.name, "open")
        setup = parts.engine_setup(begin, self._parent)
        model = parts.model.open(begin.state.session_id)
        background = BackgroundGroup()
        driver = ConcurrentDriver(model, setup, background, store=self._store)
        self._session = Session(driver, on_approval=parts.on_approval)
        self._driver = driver
        del self._begin  # it holds the history that the session began with
        try:
            driver.engine.begin(begin.head, begin.effects)
            driver.engine.rest()
        except BaseException as error:
            await self.__aexit__(type(error), error, error.__traceback__)
            raise
        return self._session

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Leave the session."""
        session, driver = self._session, self._driver
        assert session is not None and driver is not None  # noqa: S101, PT018  (it was opened)
        goes_on = _goes_on(self._store, self._parent, error)
        leave = session.suspend if goes_on else session.close
        try:
            if error is not None:
                with suppress(ReporterFailed):  # the first exception is the one to raise
                    await leave()
            elif not session._engine.is_over:
                await leave()
        finally:
            await driver.wait_for_tasks()


@contextmanager
def open_session_blocking(
    parts: AgentParts,
    begin: SessionStart,
    *,
    store: BlockingStore | None = None,
    parent: ParentRun | None = None,
) -> Iterator[BlockingSession]:
    """Open a session without an event loop; see `OpenSession`.

    Raises:
        WrongModelForm: The model has no `open_blocking`.
    """
    from agentkit_loop.drivers.blocking import BlockingDriver

    if not isinstance(parts.model, BlockingModel):
        raise WrongModelForm(parts.model.name, "open_blocking")
    setup = parts.engine_setup(begin, parent)
    model = parts.model.open_blocking(begin.state.session_id)
    driver = BlockingDriver(model, setup, store=store)
    session = BlockingSession(driver, on_approval=parts.on_approval)
    try:
        driver.engine.begin(begin.head, begin.effects)
        driver.engine.rest()
        del begin, setup  # a long session need not keep the history that it began with
        yield session
    except BaseException as error:
        with suppress(ReporterFailed):  # the first exception is the one to raise
            session.suspend() if _goes_on(store, parent, error) else session.close()
        raise
    if not driver.engine.is_over:
        session.suspend() if _goes_on(store, parent) else session.close()


def _goes_on(store: object, parent: ParentRun | None, error: BaseException | None = None) -> bool:
    """Whether a session that is left may go on later, so that its turn is not cancelled."""
    # The snapshot of an inner session that waits for a person is in the outer one's call.
    return store is not None or (parent is not None and isinstance(error, ToolSuspended))


def open_inner_session(
    parts: AgentParts,
    snapshot: bytes | None,
    outer: ParentRun,
    call: ParentCall | None,
) -> AbstractAsyncContextManager[Session]:
    """Open a session for one call of an agent's tool; see `AgentTool`.

    Args:
        parts: What the agent is made of.
        snapshot: Where to go on; None starts a new session.
        outer: The run that made the call.
        call: The call; None if it is of no session.
    """
    parts = parts.within(outer.dependencies)

    async def begin() -> SessionStart:
        return _begin_inner(parts, snapshot, call)

    return OpenSession(parts, begin, parent=outer)


def open_inner_session_blocking(
    parts: AgentParts,
    snapshot: bytes | None,
    outer: ParentRun,
    call: ParentCall | None,
) -> AbstractContextManager[BlockingSession]:
    """Open a session for one call of an agent's tool, without an event loop."""
    parts = parts.within(outer.dependencies)
    begin = _begin_inner(parts, snapshot, call)
    return open_session_blocking(parts, begin, parent=outer)


def _begin_inner(
    parts: AgentParts, snapshot: bytes | None, call: ParentCall | None
) -> SessionStart:
    if snapshot is not None:
        return parts.resume(snapshot)
    return parts.start(new_session_id(), parent=call)
