"""Keys that a function of the caller's gives: late, slowly, not at all, or wrong.

What the function raises is a failure of the world, like a provider that does not answer. What it
returns is checked, for it is the caller's own code.
"""

from __future__ import annotations

import sys
from asyncio import AbstractEventLoop, CancelledError, current_task
from collections.abc import Callable
from contextlib import suppress
from contextvars import Context, copy_context
from functools import partial
from inspect import isawaitable, iscoroutine, iscoroutinefunction, signature
from threading import Thread
from typing import Any, Final

import anyio
from anyio.lowlevel import current_token

from agentkit_core import FailureKind, ProviderFailure
from agentkit_providers._secrets._secret import Secret
from agentkit_providers.failures._redact import redact_lookalikes
from agentkit_providers.model._auth import UnusableKey, check_key
from agentkit_providers.transport._network_errors import is_network_trouble

_ADVICE: Final = "return the key as a string or a Secret"
_NO_LOOP: Final = (
    "the function in api_key= is asynchronous, and this call has no event loop; use `complete`, "
    "`stream` or an asynchronous session, or pass a plain function"
)


class KeyFunction:
    """A function that gives a key. It may know a secret itself, so nothing of it is shown.

    Each request calls it, and requests at the same time call it at the same time. On an event loop
    a plain function runs in a worker thread.

    Args:
        provider: The name of the endpoint that the key is for.
        function: A plain or an async function without arguments.

    Raises:
        UnusableKey: The function needs arguments.
    """

    __slots__ = ("_function", "_provider", "is_async")

    def __init__(self, provider: str, function: Callable[[], Any]) -> None:
        self._provider = provider
        self._function = function
        self.is_async = _is_async(function)
        """Whether the function is seen to be async; others may return an awaitable too."""
        try:
            signature(function).bind()
        except ValueError:
            pass  # the signature is not known
        except TypeError as error:
            problem = f"the function in api_key= is called without arguments ({error})"
            raise UnusableKey(provider, problem) from None

    def __repr__(self) -> str:
        return "KeyFunction(***)"

    def __reduce__(self) -> tuple[type[KeyFunction], tuple[str, Callable[[], Any]]]:
        return KeyFunction, (self._provider, self._function)

    def require_plain(self) -> None:
        """Refuse a function that needs an event loop.

        Raises:
            UnusableKey: The function is async.
        """
        if self.is_async:
            raise UnusableKey(self._provider, _NO_LOOP)

    def fetch_blocking(self) -> Secret | ProviderFailure:
        """Call the function without an event loop.

        Returns:
            The key; a failure where the function raises.

        Raises:
            UnusableKey: The function gives something else, or is async.
        """
        self.require_plain()
        try:
            given = self._function()
        except Exception as error:
            return self._failure(error)
        if isawaitable(given):
            _close(given)
            raise UnusableKey(self._provider, _NO_LOOP)
        return self._checked(given)

    async def fetch(self) -> Secret | ProviderFailure:
        """Call the function on an event loop, which goes on meanwhile; see `fetch_blocking`."""
        try:
            given = self._function() if self.is_async else await _in_thread(self._function)
            if isinstance(given, _Raised):
                if not isinstance(given.error, Exception | CancelledError):
                    raise given.error
                return self._failure(given.error)
            if isawaitable(given):
                given = await given
        except CancelledError as error:
            if not _is_cancelled_by_others():
                raise
            return self._failure(error)
        except Exception as error:
            return self._failure(error)
        return self._checked(given)

    def _checked(self, given: Any) -> Secret:
        text = given.reveal() if isinstance(given, Secret) else given
        if isinstance(text, str) and text.strip():
            return check_key(self._provider, given if isinstance(given, Secret) else Secret(text))
        if isinstance(text, str):
            what = "a blank string" if text else "an empty string"
        else:
            what = "None" if text is None else f"a value of type {type(text).__name__}"
        _close(given)
        advice = "decode it to a string" if isinstance(text, bytes | bytearray) else _ADVICE
        raise UnusableKey(self._provider, f"the function in api_key= gave {what}; {advice}")

    def _failure(self, error: BaseException) -> ProviderFailure:
        message = f"the function in api_key= for {self._provider!r} raised {_described(error)}"
        return ProviderFailure(
            kind=FailureKind.AUTH,
            message=redact_lookalikes(message),
            retryable=is_network_trouble(error),
        )


def _is_async(function: Callable[..., Any]) -> bool:
    while isinstance(function, partial):
        function = function.func
    return iscoroutinefunction(function) or iscoroutinefunction(
        getattr(type(function), "__call__", None)  # noqa: B004 - asks for the method, not whether
    )


def _is_cancelled_by_others() -> bool:
    """Whether something that a function awaited was cancelled, and not the task that awaits it."""
    try:
        task = current_task()
    except RuntimeError:
        return True  # another event loop, whose own exception would have arrived
    return task is not None and not task.cancelling()


class _Raised:
    def __init__(self, error: BaseException) -> None:
        self.error = error


async def _in_thread(function: Callable[[], Any]) -> Any:
    """Call a function in a thread; return what it returns, or what it raises.

    A cancelled call does not wait for the function, and nothing is left of what it returns later.
    The thread is a daemon, so neither the event loop nor the process waits for it when it ends.
    """
    returned: list[Any] = []
    is_left = False
    ended, set_soon = anyio.Event(), _scheduler_of_loop()

    def call() -> None:
        try:
            returned.append(function())
        except BaseException as error:
            returned.append(_Raised(error))
        if is_left:
            _close(returned[0])
            return
        with suppress(RuntimeError):  # the event loop has ended meanwhile
            set_soon(ended.set)

    try:
        run = _context_of_thread().run
        Thread(target=run, args=(call,), name="agentkit-key", daemon=True).start()
        await ended.wait()
    except BaseException:
        is_left = True
        for value in returned:
            _close(value)
        raise
    return returned[0]


def _context_of_thread() -> Context:
    """Copy the context variables, without the one that says that an event loop runs here."""
    context = copy_context()
    sniffio = sys.modules.get("sniffio")
    if sniffio is not None:
        context.run(sniffio.current_async_library_cvar.set, None)
    return context


def _scheduler_of_loop() -> Callable[[Callable[[], Any]], Any]:
    """What runs a function on this event loop, called from any thread."""
    loop = current_token().native_token
    if isinstance(loop, AbstractEventLoop):
        return loop.call_soon_threadsafe
    schedule: Callable[[Callable[[], Any]], Any] = loop.run_sync_soon  # type: ignore[attr-defined]
    return schedule


def _close(value: Any) -> None:
    """Close a coroutine that nobody will await."""
    if iscoroutine(value):
        value.close()


def _described(error: BaseException) -> str:
    cause = error.__cause__
    return _named(error) if cause is None else f"{_named(error)} (caused by {_named(cause)})"


def _named(error: BaseException) -> str:
    text = str(error).strip()
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
