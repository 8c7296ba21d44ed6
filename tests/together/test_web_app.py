"""The web application of the examples, over real HTTP, with restarts, and in a real browser."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

uvicorn = pytest.importorskip("uvicorn")
pytest.importorskip("starlette")

from agentkit_core import ToolCall  # noqa: E402
from agentkit_loop import Agent  # noqa: E402
from agentkit_loop.ports import Reporter  # noqa: E402
from agentkit_loop.testing import Reply, ScriptedModel, call, say  # noqa: E402
from agentkit_tools_core import tool  # noqa: E402
from support.browser import PROGRAM, Browser, Tab, opened  # noqa: E402

SERVE = Path(__file__).parents[2] / "examples" / "web_app" / "serve.py"
sys.path.insert(0, str(SERVE.parent))

from routes import web_app  # noqa: E402

Message = dict[str, Any]
MARKUP = "<img src=x onerror=window.ran=1><script>window.ran=1</script>"


@tool(needs_approval=True)
def send_mail(to: str) -> str:
    """Send a mail."""
    return f"sent to {to}"


@tool
async def wait() -> str:
    """Wait for ever."""
    await anyio.sleep_forever()
    return "never"


class Process:
    """A server in a thread, which shares nothing with others but its folder."""

    def __init__(self, folder: Path, script: list[Reply | ToolCall], port: int = 0) -> None:
        model = ScriptedModel(*script)

        def make_agent(reporter: Reporter) -> Agent:
            return Agent(model=model, tools=[send_mail, wait], reporters=[reporter])

        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._socket.bind(("127.0.0.1", port))
        self._socket.listen()  # connections wait until the server takes them
        self.port: int = self._socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._server = uvicorn.Server(
            uvicorn.Config(
                web_app(make_agent, folder),
                log_level="critical",
                timeout_graceful_shutdown=0,
                ws="none",
            )
        )
        sockets = [self._socket]
        self._thread = threading.Thread(target=self._server.run, args=(sockets,), daemon=True)
        self._thread.start()
        self.http = httpx.Client(
            base_url=f"{self.url}/sessions/s1", timeout=20, follow_redirects=True
        )

    def stop(self) -> None:
        self.http.close()
        self._server.should_exit = True
        self._thread.join(20)
        assert not self._thread.is_alive()

    def post(self, path: str, body: Message | None = None) -> int:
        return self.http.post(path, json=body or {}).status_code

    def state(self) -> Message:
        state: Message = self.http.get("").raise_for_status().json()
        return state

    def waiting(self) -> str:
        """Return the id of the one approval that waits, as soon as one does."""
        while not (waiting := self.state()["waiting"]):
            time.sleep(0.01)
        (request,) = waiting
        return str(request["id"])

    @contextmanager
    def events(
        self, after: int = 0, *, last_event_id: int | None = None
    ) -> Iterator[Iterator[tuple[int, Message]]]:
        headers = {} if last_event_id is None else {"last-event-id": str(last_event_id)}
        with self.http.stream("GET", f"/events?after={after}", headers=headers) as response:
            response.raise_for_status()
            yield messages(response.iter_lines())


def messages(lines: Iterator[str]) -> Iterator[tuple[int, Message]]:
    number = 0
    for line in lines:
        field, _, value = line.partition(": ")
        if field == "id":
            number = int(value)
        elif field == "data":
            yield number, json.loads(value)


def until(kind: str, events: Iterator[tuple[int, Message]]) -> list[tuple[int, Message]]:
    """Return events up to the first one of a kind."""
    taken = []
    for number, message in events:
        taken.append((number, message))
        if message["type"] == kind:
            break
    return taken


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Process]]:
    """Start processes that serve one folder, each with a script for its model."""
    running: list[Process] = []

    def begin(*script: Reply | ToolCall, port: int = 0) -> Process:
        running.append(Process(tmp_path / "folder", list(script), port))
        return running[-1]

    yield begin
    for process in running:
        process.stop()


def test_an_answer_streams_before_it_is_whole_and_is_kept(start: Callable[..., Process]) -> None:
    process = start(say("It is sunny."))
    with process.events() as events:
        assert process.post("/prompt", {"text": "How is Rome?"}) == 202
        told = [message for _, message in until("end", events)]

    kinds = [message["type"] for message in told]
    assert kinds.index("text") < len(kinds) - 1 - kinds[::-1].index("items")
    streamed = "".join(message["text"] for message in told if message["type"] == "text")
    assert streamed == "It is sunny."
    assert told[-1]["end"] == "completed"
    assert [item["text"] for item in process.state()["items"]] == ["How is Rome?", "It is sunny."]
    assert not process.state()["running"]


@pytest.mark.parametrize(("yes", "result"), [(True, "sent to ada"), (False, "no")])
def test_another_process_answers_an_approval_and_the_browser_of_the_first_sees_it(
    start: Callable[..., Process], yes: bool, result: str
) -> None:
    first = start(Reply.of("One moment.", call("send_mail", {"to": "ada"})))
    with first.events() as events:
        first.post("/prompt", {"text": "Write to Ada."})
        (_, asked) = until("approval", events)[-1]
        assert asked["input"] == {"to": "ada"}

        second = start(say("Done."))
        approval_id = second.waiting()
        assert second.post(f"/approvals/{approval_id}", {"yes": yes}) == 202
        told = [message for _, message in until("end", events)]

    assert any(message.get("id") == approval_id for message in told), "it is resolved"
    items = second.state()["items"]
    assert result in items[2]["results"][0]["text"]
    assert items[-1]["text"] == "Done."
    assert second.post(f"/approvals/{approval_id}", {"yes": True}) == 404, "once only"


def test_a_restart_in_the_middle_of_a_turn_loses_nothing(start: Callable[..., Process]) -> None:
    old = start(call("send_mail", {"to": "ada"}))
    old.post("/prompt", {"text": "Write to Ada."})
    approval_id = old.waiting()
    old.stop()

    new = start(say("Done."))
    state = new.state()
    assert state["running"]
    assert [item["kind"] for item in state["items"]] == ["user", "assistant"]
    with new.events(after=state["event"]) as events:
        assert new.post(f"/approvals/{approval_id}", {"yes": True}) == 202
        assert until("end", events)[-1][1]["end"] == "completed"
    assert len(new.state()["items"]) == 4


def test_a_turn_that_ran_when_the_server_stopped_goes_on(start: Callable[..., Process]) -> None:
    old = start(call("wait", {}))
    with old.events() as events:
        old.post("/prompt", {"text": "Wait."})
        until("items", events)
        until("items", events)
    old.stop()

    new = start(say("It was interrupted."))
    assert new.state()["running"]
    with new.events(after=new.state()["event"]) as events:
        assert new.post("/continue") == 202
        assert until("end", events)[-1][1]["end"] == "completed"
    assert new.state()["items"][-1]["text"] == "It was interrupted."


def test_a_browser_that_connects_again_misses_nothing_and_gets_nothing_twice(
    start: Callable[..., Process],
) -> None:
    process = start(call("send_mail", {"to": "ada"}), say("Done."))
    with process.events() as events:
        process.post("/prompt", {"text": "Write to Ada."})
        seen = until("approval", events)
    process.post(f"/approvals/{process.waiting()}", {"yes": True})
    while process.state()["running"]:
        time.sleep(0.01)

    with process.events(last_event_id=seen[-1][0]) as events:
        later = until("end", events)
    with process.events() as events:
        everything = until("end", events)

    assert seen + later == everything


def test_two_browsers_see_the_same_and_one_of_them_is_told_that_the_session_is_in_use(
    start: Callable[..., Process],
) -> None:
    first, second = start(call("wait", {})), start(say("never said"))
    with first.events() as events, second.events() as others:
        first.post("/prompt", {"text": "Wait."})
        until("items", events)
        until("items", others)

        refused = second.http.post("/prompt", json={"text": "Me too."})
        assert refused.status_code == 409
        assert "somebody else works on session" in refused.json()["error"]

        assert second.post("/cancel") == 202, "from a process that does not run the turn"
        told, others_told = until("end", events), until("end", others)

    assert told == others_told
    assert told[-1][1]["end"] == "cancelled"


def test_a_turn_that_waits_for_a_person_can_be_cancelled(start: Callable[..., Process]) -> None:
    process = start(call("send_mail", {"to": "ada"}), say("Hello."))
    process.post("/prompt", {"text": "Write to Ada."})
    process.waiting()
    with process.events() as events:
        assert process.post("/cancel") == 202
        assert until("end", events)[-1][1]["end"] == "cancelled"
        assert process.post("/prompt", {"text": "Hello?"}) == 202
        assert until("end", events)[-1][1]["end"] == "completed"


def test_requests_that_mean_nothing_and_those_of_other_sites_are_refused(
    start: Callable[..., Process],
) -> None:
    process = start()
    form = {"content-type": "text/plain"}

    assert process.http.post("/prompt", content='{"text":"x"}', headers=form).status_code == 415
    assert process.http.get("", headers={"host": "elsewhere.example"}).status_code == 400
    assert process.http.get("/events", headers={"last-event-id": "x"}).status_code == 400
    assert process.http.get(f"{process.url}/sessions/..%2fx").status_code == 404
    assert process.post("/prompt", {"text": " "}) == 400
    assert process.post("/approvals/none", {"yes": True}) == 404
    assert process.post("/cancel") == process.post("/continue") == 404
    assert process.state() == {"items": [], "event": 0, "waiting": [], "running": False}


@pytest.mark.slow
def test_a_server_that_is_killed_loses_nothing(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        sys.executable,
        str(SERVE),
        "--port",
        str(port),
        "--folder",
        str(tmp_path / "folder"),
    ]
    http = httpx.Client(
        base_url=f"http://127.0.0.1:{port}/sessions/s1",
        timeout=20,
    )

    def state_when(is_right: Callable[[Message], bool]) -> Message:
        while True:
            state: Message = http.get("", follow_redirects=True).json()
            if is_right(state):
                return state
            time.sleep(0.02)

    def wait_until_it_listens() -> None:
        while True:
            with suppress(httpx.ConnectError):
                http.get("", follow_redirects=True)
                return
            time.sleep(0.05)

    for attempt in range(2):
        server = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            wait_until_it_listens()
            if attempt == 0:
                assert http.post("/prompt", json={"text": "Write to a@b.example"}).is_success
                (request,) = state_when(lambda state: bool(state["waiting"]))["waiting"]
            else:
                path = f"/approvals/{request['id']}"
                assert http.post(path, json={"yes": True}).is_success
                items = state_when(lambda state: len(state["items"]) == 4)["items"]
        finally:
            server.kill()
            server.wait()
    http.close()

    assert [item["kind"] for item in items] == ["user", "assistant", "tool", "assistant"]
    assert items[2]["results"][0]["text"].startswith("sent to a@b.example")


def wait_for(tab: Tab, condition: str) -> None:
    """Wait until an expression is true in a page."""
    tab.run(
        "new Promise((done, fail) => { const end = Date.now() + 20000; const look = () => {"
        f" if ({condition}) done(); else if (Date.now() > end) fail(document.body.innerText);"
        " else setTimeout(look, 20); }; look(); })"
    )


@pytest.mark.slow
@pytest.mark.skipif(PROGRAM is None, reason="needs Chromium; on Debian: apt-get install chromium")
def test_a_person_types_approves_and_finds_the_conversation_again_after_a_restart(
    start: Callable[..., Process], tmp_path: Path
) -> None:
    script = Reply.of(f"I ask first. {MARKUP}", call("send_mail", {"to": MARKUP}))
    old = start(script)
    browser = Browser(tmp_path / "profile")
    log = "document.getElementById('log')"
    try:
        with opened(browser, f"{old.url}/#a-name") as tab:
            wait_for(tab, "document.body.dataset.connected === 'yes'")
            tab.run("document.getElementById('text').focus()")
            tab.send("Input.insertText", text="Write to Ada.")
            tab.press("Enter", 13, "\r")
            wait_for(tab, "document.querySelector('.approval button')")
            assert "I ask first. <img" in tab.run(f"{log}.innerText")

            old.stop()
            wait_for(tab, "document.body.dataset.connected === 'no'")
            start(say("It is sent."), port=old.port)
            wait_for(tab, "document.body.dataset.connected === 'yes'")
            tab.run("document.querySelector('.approval button').click()")
            wait_for(tab, f"{log}.innerText.includes('It is sent.')")
            assert tab.run("document.querySelectorAll('.approval').length") == 0
            seen = tab.run(f"{log}.innerText")

        with opened(browser, f"{old.url}/#a-name") as tab:
            wait_for(tab, "document.body.dataset.connected === 'yes'")
            assert tab.run(f"{log}.innerText") == seen
            assert tab.run("window.ran") is None
            assert tab.run(f"{log}.querySelectorAll('img, script').length") == 0
    finally:
        browser.close()
