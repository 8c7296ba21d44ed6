"""An assistant with three tools that answers one prompt: the five packages together.

    python examples/assistant                                 # no key: a scripted stand-in
    python examples/assistant "What is 12 * 7? What is in LICENSE?"
    python examples/assistant --model openai:gpt-5-mini       # key from OPENAI_API_KEY
    python examples/assistant --model compatible:my-model --base-url http://localhost:8000/v1
    python examples/assistant --model local                   # llama.cpp on this machine

It shows the answer while it arrives, and tool calls, results and usage: as a live view if rich is
installed and this is a terminal, else as plain lines. It writes a record of the run as JSON lines.
Before it writes a file, it asks: for this call, for these arguments in this session, or for all
files in this session. The exit code is 0 if the model answered, 1 if it failed during the run, 2 if
the run could not begin (a missing key, an unknown model, a refused connection), and 130 if Ctrl-C
stopped it.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import anyio
from approving import ask_person
from local_model import NoLocalModel, local_server
from standin import answer
from workspace_tools import workspace_tools

from agentkit_core import AgentkitError, FailureKind, ModelOptions
from agentkit_loop import Agent, OnApproval, TurnEnd, TurnResult
from agentkit_loop.events import Envelope, TurnFinished
from agentkit_loop.ports import Reporter
from agentkit_providers import HttpModel, connect
from agentkit_providers.replay import ReplayServer
from agentkit_reporting import JsonlReporter, TextReporter

DEFAULT_PROMPT = "What is in this folder, what does its README say, and what is (17 + 4) * 2?"
INSTRUCTIONS = (
    "You are an assistant who works in a folder. Use the tools to look things up and to "
    "calculate; do not guess. Answer briefly."
)
LOCAL = ModelOptions(max_output_tokens=64)  # a base model does not stop by itself
NOT_BEGUN = frozenset(
    {FailureKind.AUTH, FailureKind.NOT_FOUND, FailureKind.CONNECTION, FailureKind.BILLING}
)


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="assistant", description=__doc__.split("\n\n")[0])
    parser.add_argument("prompt", nargs="?", default=DEFAULT_PROMPT)
    parser.add_argument(
        "--model",
        default="stand-in",
        help="stand-in (default), local, or <provider>:<model> such as openai:gpt-5-mini",
    )
    parser.add_argument("--base-url", help="where the model answers, instead of its usual address")
    parser.add_argument(
        "--folder", type=Path, default=Path(), help="the folder to work in (default: .)"
    )
    parser.add_argument("--record", type=Path, help="where to write the record (JSON lines)")
    return parser.parse_args()


@contextmanager
def open_model(name: str, base_url: str | None) -> Iterator[tuple[HttpModel, str]]:
    """Yield the model and a line that describes it; stop its server, if it has one, at the end."""
    if name == "stand-in":
        with ReplayServer(answer) as server:
            model = connect("compatible:stand-in", base_url=server.url)
            yield model, f"no model, a stand-in that follows rules, over HTTP at {server.url}"
    elif name == "local":
        with local_server() as url:
            yield (
                connect("llamacpp:gemma-3-270m", base_url=url),
                f"llama.cpp at {url}, a base model",
            )
    else:
        model = connect(name, base_url=base_url)
        yield model, f"{name} at {model.base_url}"


def open_view() -> tuple[Reporter, OnApproval]:
    """Return what shows a run and what asks a person: live in a terminal, if rich is installed."""
    if sys.stdout.isatty():
        with suppress(ImportError):
            from agentkit_reporting.rich import RichReporter

            view = RichReporter()
            return view, view.ask
    return TextReporter(), ask_person


class Screen:
    """Shows a run; `main` says why one failed, so that it is said once."""

    def __init__(self, view: Reporter) -> None:
        self._view = view

    def __call__(self, envelope: Envelope) -> None:
        """Show one event."""
        event = envelope.event
        if isinstance(event, TurnFinished) and event.result.end in (
            TurnEnd.ERROR,
            TurnEnd.CANCELLED,
        ):
            return
        self._view(envelope)


async def run(options: argparse.Namespace, record: Path) -> TurnResult:
    """Run the agent and print what happens."""
    with (
        open_model(options.model, options.base_url) as (model, what),
        JsonlReporter(record) as recorder,
    ):
        print(f"model: {what}", flush=True)
        print(f"you: {options.prompt}\n", flush=True)
        view, ask = open_view()
        agent = Agent(
            model=model,
            tools=workspace_tools(options.folder),
            instructions=INSTRUCTIONS,
            options=LOCAL if options.model == "local" else None,
            on_approval=ask,
            reporters=[Screen(view), recorder],
        )
        return await agent.run(options.prompt)


def main() -> int:
    """Run the assistant; see the exit codes above."""
    options = arguments()
    if not options.folder.is_dir():
        print(f"assistant: {options.folder} is not a folder", file=sys.stderr)
        return 2
    record = options.record or Path(tempfile.mkdtemp(prefix="assistant-")) / "run.jsonl"
    try:
        result = anyio.run(run, options, record)
    except KeyboardInterrupt:
        print(f"assistant: stopped by Ctrl-C; record: {record}", file=sys.stderr)
        return 130
    except (AgentkitError, NoLocalModel, OSError) as error:
        print(f"assistant: {error}", file=sys.stderr)
        return 2
    print(f"record: {record}")
    if result.end is not TurnEnd.ERROR:
        return 0
    print(f"assistant: {' '.join(result.describe_end().split())}", file=sys.stderr)
    return 2 if result.failure is not None and result.failure.kind in NOT_BEGUN else 1


if __name__ == "__main__":
    sys.exit(main())
