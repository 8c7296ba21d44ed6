"""The errors for names that are not registered: providers, protocols, quirks."""

from __future__ import annotations

from agentkit_core import AgentkitError


class UnknownProvider(AgentkitError):
    """No provider of this name is registered."""

    def __init__(self, name: str, known: tuple[str, ...]) -> None:
        super().__init__(
            f"{name!r} is not a registered provider; use one of {', '.join(known) or '(none)'}. "
            f"For another server with an OpenAI-compatible API use 'compatible:<model>' and "
            f"pass base_url=…"
        )
        self.name = name
        self.known = known


class UnknownApi(AgentkitError):
    """An endpoint names a protocol that is not registered."""

    def __init__(self, api: str, known: tuple[str, ...]) -> None:
        super().__init__(
            f"{api!r} is not a registered protocol; use one of {', '.join(known)}, or register "
            f"yours with `Registry.register_api`"
        )
        self.api = api
        self.known = known


class UnknownQuirk(AgentkitError):
    """A quirk is set that the protocol does not have."""

    def __init__(self, names: tuple[str, ...], known: tuple[str, ...]) -> None:
        listed = ", ".join(map(repr, names))
        super().__init__(f"the protocol has no quirk named {listed}; use one of {', '.join(known)}")
        self.names = names
        self.known = known
