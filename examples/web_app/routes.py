"""The web application: a page, and requests that any process can answer."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import anyio
from conversations import Conversations, NoSuchSession
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from agentkit_core import ApprovalId, SessionId
from agentkit_loop import Agent, UnknownApproval
from agentkit_loop.ports import Reporter
from agentkit_loop.stores import SessionInUse

_NAME: Final = re.compile(r"[a-z0-9-]{1,64}")
_PAGE: Final = Path(__file__).with_name("page.html").read_text(encoding="utf-8")


def _hash_of(element: str) -> str:
    """Return the source by which a policy allows the one script or style of the page."""
    content = _PAGE.partition(f"<{element}>")[2].partition(f"</{element}>")[0]
    return f"'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'"


_HEADERS: Final = {
    "content-security-policy": (
        f"default-src 'none'; script-src {_hash_of('script')}; style-src {_hash_of('style')}; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
}


def web_app(make_agent: Callable[[Reporter], Agent], folder: Path) -> Starlette:
    """Make the application of one process.

    Args:
        make_agent: Makes an agent that tells a reporter what happens.
        folder: Where sessions and records are kept, shared by all processes.
    """

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[dict[str, Any]]:
        async with anyio.create_task_group() as tasks:
            conversations = Conversations(make_agent, folder, tasks)
            yield {"conversations": conversations}
            await conversations.leave()

    return Starlette(
        routes=[
            Route("/", page),
            Route("/sessions/{name}", state),
            Route("/sessions/{name}/events", events),
            Route("/sessions/{name}/prompt", prompt, methods=["POST"]),
            Route("/sessions/{name}/approvals/{approval_id}", decide, methods=["POST"]),
            Route("/sessions/{name}/continue", go_on, methods=["POST"]),
            Route("/sessions/{name}/cancel", cancel, methods=["POST"]),
        ],
        # Other sites cannot reach a server on this machine by a name of theirs.
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=["127.0.0.1", "localhost"])],
        exception_handlers={
            SessionInUse: _refuse(409),
            UnknownApproval: _refuse(404),
            NoSuchSession: _refuse(404),
        },
        lifespan=lifespan,
    )


async def page(request: Request) -> Response:
    """Send the page."""
    return HTMLResponse(_PAGE, headers=_HEADERS)


async def state(request: Request) -> Response:
    """Send the transcript so far, what waits, and the number of the event to go on after."""
    return JSONResponse(await _conversations(request).state(_name(request)))


async def events(request: Request) -> Response:
    """Send what happens as server-sent events, from the one after `Last-Event-ID` on.

    A browser sends that header when it connects again. The page begins with `?after=`.
    """
    after = request.headers.get("last-event-id") or request.query_params.get("after") or "0"
    if not after.isdecimal():
        raise HTTPException(400, "the id of an event is a number")
    follow = _conversations(request).events(_name(request), int(after))

    async def body() -> AsyncIterator[str]:
        yield "retry: 500\n\n"
        async for number, message in follow:
            yield f"id: {number}\ndata: {json.dumps(message)}\n\n"

    return StreamingResponse(
        body(),
        media_type="text/event-stream",
        headers={"cache-control": "no-store", "x-accel-buffering": "no"},
    )


async def prompt(request: Request) -> Response:
    """Begin a turn: `{"text": …}`."""
    text = (await _json(request)).get("text")
    if not isinstance(text, str) or not text.strip():
        raise HTTPException(400, "a prompt is a text")
    await _conversations(request).prompt(_name(request), text)
    return Response(status_code=202)


async def decide(request: Request) -> Response:
    """Answer an approval: `{"yes": true}` or `{"yes": false}`."""
    yes = (await _json(request)).get("yes")
    if not isinstance(yes, bool):
        raise HTTPException(400, "an answer is true or false")
    approval_id = ApprovalId(request.path_params["approval_id"])
    await _conversations(request).decide(_name(request), approval_id, yes=yes)
    return Response(status_code=202)


async def go_on(request: Request) -> Response:
    """Go on with a turn on which no process works any more."""
    await _json(request)
    await _conversations(request).go_on(_name(request))
    return Response(status_code=202)


async def cancel(request: Request) -> Response:
    """Cancel the turn that is under way."""
    await _json(request)
    await _conversations(request).cancel(_name(request))
    return Response(status_code=202)


def _conversations(request: Request) -> Conversations:
    conversations: Conversations = request.state.conversations
    return conversations


def _name(request: Request) -> SessionId:
    """Return the session that a request is about; here belongs who may see it."""
    name: str = request.path_params["name"]
    if not _NAME.fullmatch(name):
        raise HTTPException(404, "there is no such session")
    return SessionId(name)


async def _json(request: Request) -> dict[str, Any]:
    """Read a JSON object. A form of another site cannot send this content type."""
    if request.headers.get("content-type") != "application/json":
        raise HTTPException(415, "send application/json")
    try:
        body = await request.json()
    except ValueError:
        raise HTTPException(400, "the body is not JSON") from None
    if not isinstance(body, dict):
        raise HTTPException(400, "the body is not an object")
    return body


def _refuse(status: int) -> Callable[[Request, Exception], Response]:
    def answer(request: Request, error: Exception) -> Response:
        return JSONResponse({"error": str(error)}, status_code=status)

    return answer
