"""The errors for names that are not registered: providers, protocols, quirks."""

from __future__ import annotations

from agentkit_core import AgentkitError


def _choice(name: str, known: tuple[str, ...]) -> str:
    """Say what to write instead of a name: the nearest ones, or else all of them."""
    from difflib import get_close_matches  # slow to import, and names are right as a rule

    nearest = get_close_matches(name.lower(), known, n=3, cutoff=0.6)
    if nearest:
        return f"did you mean {' or '.join(map(repr, nearest))}?"
    return f"use one of {', '.join(known) or '(none)'}."


class UnknownProvider(AgentkitError):
    """No provider of this name is registered."""

    def __init__(self, name: str, known: tuple[str, ...]) -> None:
        super().__init__(
            f"{name!r} is not a registered provider; {_choice(name, known)} For another server "
            f"with an OpenAI-compatible API use 'compatible:<model>' and pass base_url=…"
        )
        self.name = name
        self.known = known


class UnknownApi(AgentkitError):
    """An endpoint names a protocol that is not registered."""

    def __init__(self, api: str, known: tuple[str, ...]) -> None:
        super().__init__(
            f"{api!r} is not a registered protocol; {_choice(api, known)} Or register yours with "
            f"`Registry.register_api`"
        )
        self.api = api
        self.known = known


class UnknownQuirk(AgentkitError):
    """A quirk is set that the protocol does not have."""

    def __init__(self, names: tuple[str, ...], known: tuple[str, ...]) -> None:
        listed = ", ".join(map(repr, names))
        super().__init__(f"the protocol has no quirk named {listed}; {_choice(names[0], known)}")
        self.names = names
        self.known = known
