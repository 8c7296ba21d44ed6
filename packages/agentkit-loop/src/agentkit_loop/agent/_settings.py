"""The settings of a session: how the model is called, and with which tools."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Protocol

from msgspec.structs import replace

from agentkit_core import Item, ModelOptions, ThinkingLevel
from agentkit_loop.agent._access import SessionAccess
from agentkit_loop.agent._prompt import Prompt, instructions_of
from agentkit_loop.agent._tool_offer import ToolOffer
from agentkit_loop.kernel._config import LoopConfig
from agentkit_loop.kernel._inputs import Configure
from agentkit_loop.ports import BlockingModel, Model, provider_of
from agentkit_tools_core import Tool, ToolSource

if TYPE_CHECKING:  # the drivers are imported only where they are used
    from agentkit_loop.drivers._engine import Engine

AnyModel = Model | BlockingModel


class ModelChanger(Protocol):
    """Has another model called: the driver of a session."""

    def prepare_model(self, model: AnyModel) -> Callable[[], None]:
        """Open a model; return the function that has it called from then on.

        Raises:
            WrongModelForm: The model cannot be used in this kind of session.
        """
        ...


class SessionSettings:
    """The settings of one session, as `session.settings`.

    A change applies from the next model call on, and one of `config` at once. All of it may be
    used from any thread, also while the session works. Setting anything raises `SessionClosed` once
    the session is over.

    Args:
        engine: The session's engine.
        access: Posts inputs to it.
        offer: Offers tools to the model.
        changer: Has another model called.
    """

    __slots__ = ("_access", "_changer", "_engine", "_offer")

    def __init__(
        self,
        engine: Engine,
        access: SessionAccess,
        offer: ToolOffer,
        changer: ModelChanger,
    ) -> None:
        self._engine = engine
        self._access = access
        self._offer = offer
        self._changer = changer

    @property
    def model(self) -> str:
        """The name of the model that is called."""
        return self._engine.state.model

    @property
    def options(self) -> ModelOptions:
        """The options of all model calls."""
        return self._engine.state.options

    @options.setter
    def options(self, options: ModelOptions) -> None:
        self._access.post(Configure(options=options))

    @property
    def thinking(self) -> ThinkingLevel | None:
        """How hard the model thinks: `options.thinking`. None leaves it to the model."""
        return self.options.thinking

    @thinking.setter
    def thinking(self, level: ThinkingLevel | None) -> None:
        self.options = replace(self.options, thinking=level)

    @property
    def instructions(self) -> tuple[Item, ...]:
        """The items before the transcript in each request; a text may be set as well."""
        return self._engine.state.instructions

    @instructions.setter
    def instructions(self, instructions: Prompt) -> None:
        self._access.post(Configure(instructions=instructions_of(instructions)))

    @property
    def tools(self) -> ToolSource:
        """The source of the model's tools; a list of tools may be set as well."""
        return self._offer.tools

    @tools.setter
    def tools(self, tools: Iterable[Tool] | ToolSource) -> None:
        self._access.require_open()
        self._offer.replace_tools(tools)

    @property
    def config(self) -> LoopConfig:
        """How the loop behaves: limits, queue modes and so on."""
        return self._engine.state.config

    @config.setter
    def config(self, config: LoopConfig) -> None:
        self._access.post(Configure(config=config))

    def use_once(self, options: ModelOptions) -> None:
        """Use other options in the running turn, or else in the next one, and only there.

        Raises:
            SessionClosed: The session is over.
        """
        self._access.post(Configure(once=options))

    def change_model(self, model: AnyModel) -> None:
        """Call another model from the next model call on.

        Args:
            model: For a `BlockingSession`, one with `open_blocking`; else one with `open`. A model
                that cannot be opened changes nothing.

        Raises:
            WrongModelForm: The model cannot be used in this kind of session.
            SessionClosed: The session is over.
        """
        self._access.require_open()
        use_model = self._changer.prepare_model(model)
        self._access.post(Configure(model=model.name, provider=provider_of(model)))
        use_model()
