"""A web application with an agent: answers stream, calls wait for approval, restarts lose nothing.

    python examples/web_app/serve.py                                # no key: a stand-in answers
    python examples/web_app/serve.py --model openai:gpt-5-mini      # key from OPENAI_API_KEY

Needs starlette and uvicorn. Stop it and start it again at any moment, or start a second one on
another port and the same folder.
"""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import uvicorn
from demo_agent import mail_agent, stand_in
from routes import web_app

from agentkit_providers import connect
from agentkit_providers.replay import ReplayServer


def main() -> None:
    """Serve until Ctrl-C."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--model", help="<provider>:<model>; without it, a stand-in answers")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--folder", type=Path, default=Path("conversations"))
    options = parser.parse_args()
    with ExitStack() as stack:
        if options.model is None:
            server = stack.enter_context(ReplayServer(stand_in))
            model = connect("compatible:stand-in", base_url=server.url)
        else:
            model = connect(options.model)
        app = web_app(partial(mail_agent, model), options.folder)
        # Streams to browsers never end by themselves, so a shutdown does not wait for them.
        uvicorn.run(app, host="127.0.0.1", port=options.port, timeout_graceful_shutdown=1)


if __name__ == "__main__":
    main()
