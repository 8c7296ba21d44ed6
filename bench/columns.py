"""The columns of the table: the floors, agentkit, and the libraries that people would pick instead.

Standard library only, because it is read in the environment of each column.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module

from answers import Dialect
from worker import Worker

BOTH: tuple[Dialect, ...] = ("openai", "anthropic")


@dataclass(frozen=True)
class Column:
    """One column.

    Attributes:
        name: As it is printed and chosen; of a peer also that of its environment and lock file.
        module: The module of its worker, in this folder.
        worker: The class of its worker.
        imports: What a program that uses it has to import.
        dialects: Those that it speaks.
        requires: What the environment of a peer is to contain; empty if it is not a peer.
        settings: Variables for its process.
    """

    name: str
    module: str
    worker: str
    imports: str
    dialects: tuple[Dialect, ...] = BOTH
    requires: tuple[str, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)

    def new_worker(self, base_url: str, dialect: Dialect) -> Worker:
        """Import the libraries of this column only, and make its worker."""
        worker: Worker = getattr(import_module(self.module), self.worker)(base_url, dialect)
        return worker


AGENTKIT = "import agentkit_core, agentkit_loop, agentkit_providers, agentkit_tools_core"

FLOOR = Column("floor", "floor_httpx", "HttpxFloor", "import asyncio, httpx, msgspec")
OWN = (
    FLOOR,
    Column("sockets", "floor_sockets", "SocketFloor", "import asyncio, msgspec"),
    Column("run", "contender", "Run", AGENTKIT),
    Column("stream", "contender", "Streamed", AGENTKIT),
)
"""The columns that need no environment of their own."""

PEERS = (
    Column(
        "openai",
        "peers.openai",
        "OpenAISDK",
        "from openai import AsyncOpenAI",
        dialects=("openai",),
        requires=("openai",),
    ),
    Column(
        "anthropic",
        "peers.anthropic",
        "AnthropicSDK",
        "from anthropic import AsyncAnthropic",
        dialects=("anthropic",),
        requires=("anthropic",),
    ),
    Column(
        "pydantic-ai",
        "peers.pydantic_ai",
        "PydanticAI",
        "from pydantic_ai import Agent; from pydantic_ai.models.openai import OpenAIChatModel",
        requires=("pydantic-ai-slim[openai,anthropic]",),
    ),
    Column(
        "openai-agents",
        "peers.openai_agents",
        "OpenAIAgents",
        "from agents import Agent, OpenAIChatCompletionsModel, Runner",
        dialects=("openai",),
        requires=("openai-agents",),
        settings={"OPENAI_AGENTS_DISABLE_TRACING": "1"},
    ),
    Column(
        "litellm",
        "peers.litellm",
        "LiteLLM",
        "import litellm",
        requires=("litellm",),
        # Without the first, each import downloads a list of prices; without the second, five
        # hundred connections are open at once at most.
        settings={
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "AIOHTTP_CONNECTOR_LIMIT_PER_HOST": "1000",
        },
    ),
    Column(
        "langgraph",
        "peers.langgraph",
        "LangGraph",
        "from langchain.agents import create_agent; from langchain_openai import ChatOpenAI",
        requires=("langgraph", "langchain", "langchain-openai", "langchain-anthropic"),
        settings={"LANGSMITH_TRACING": "false", "LANGCHAIN_TRACING_V2": "false"},
    ),
    Column(
        "strands-agents",
        "peers.strands_agents",
        "StrandsAgents",
        "from strands import Agent; from strands.models.openai import OpenAIModel",
        requires=("strands-agents[openai,anthropic]",),
    ),
)

COLUMNS = {column.name: column for column in (*OWN, *PEERS)}
