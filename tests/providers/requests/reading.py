"""Recorded request bodies read back into our types: what the readers of all protocols share.

A reader takes a body in its normal form (see `rules`) and gives the `ModelRequest` that should
encode to it. What a request has no place for is named by a reason that follows from the body,
never from what an encoder makes of it.
"""

from __future__ import annotations

import typing
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from agentkit_core import InlineBytes, ModelRequest, Part, Text, Uri
from agentkit_core.provider import Projection, Target
from agentkit_providers import Endpoint
from agentkit_providers._protocol_kit._media_types import plain_type, type_of
from agentkit_providers.endpoints import default_registry
from providers.requests.rules import Rule

Body = dict[str, Any]
"""A request body, or an object inside one."""


MENDED = "the recorded history breaks a rule that we mend: "
"""How the reasons begin for which a history is not sent as it was recorded."""


class NotExpressible(Exception):
    """The body says something that a `ModelRequest` has no place for; the text says what."""


class TargetedProjection(Projection, typing.Protocol):
    """A projection that also says what its models can be sent."""

    def target(self, model: str) -> Target:
        """Say what the model can be sent."""
        ...


class Reading(NamedTuple):
    """A body in our types."""

    request: ModelRequest
    projection: TargetedProjection
    """The vendor's, with the quirks that the body shows."""
    quirks: frozenset[str] = frozenset()
    """Which of them are not those of the vendor's row."""

    @property
    def extra(self) -> Iterator[str]:
        """Which fields go through `ModelOptions.extra`, those of objects one by one."""
        for fields in self.request.options.extra.values():
            assert isinstance(fields, dict)
            for name, value in fields.items():
                if isinstance(value, dict):
                    yield from (f"{name}.{key}" for key in value)
                else:
                    yield name


class Protocol(NamedTuple):
    """How the requests of one protocol are read and compared."""

    rules: tuple[Rule, ...]
    read: Callable[[Mapping[str, Any], Body], Reading]
    """From a recorded exchange and its body in normal form."""


def vendor_row(vendor: str, api: str, names: Mapping[str, str]) -> Endpoint:
    """The row of a vendor that speaks a protocol; one of a stranger where there is none.

    Args:
        vendor: As the recordings call it.
        api: The protocol.
        names: Vendors that our rows call otherwise; `""` is the stranger.
    """
    rows = {row.name: row for row in default_registry if row.api == api}
    return rows.get(names.get(vendor, vendor), rows[names[""]])


Q = TypeVar("Q", bound=Struct)


def laid_over(own: Q, shown: Mapping[str, Any]) -> tuple[Q, frozenset[str]]:
    """Lay the quirks that a body shows over a vendor's own; and name those that differ."""
    differing = {name: one for name, one in shown.items() if one != getattr(own, name)}
    return replace(own, **differing), frozenset(differing)


class Fields:
    """An object of a body that is read field by field, so that nothing is passed over."""

    def __init__(self, value: Mapping[str, Any]) -> None:
        self.left = dict(value)
        """What nobody has read so far."""

    def take(self, name: str, default: Any = None) -> Any:
        """Read a field; the default where it is absent."""
        return self.left.pop(name, default)

    def end(self, what: str) -> None:
        """Say that all has been read.

        Args:
            what: What this object is, for the reason.

        Raises:
            NotExpressible: Something is left.
        """
        if self.left:
            names = ", ".join(sorted(self.left))
            raise NotExpressible(f"{what} has what our types have no field for: {names}")


def needed(body: Body, *names: str) -> None:
    """Check that a body has what every request of its protocol has.

    Raises:
        NotExpressible: It has not.
    """
    for name in names:
        if name not in body:
            raise NotExpressible(f"there is no `{name}`, which every request of ours has")


def one_text(parts: Sequence[Part], what: str) -> None:
    """Check that there are not several texts where an encoder writes them as one.

    Raises:
        NotExpressible: There are.
    """
    if sum(isinstance(part, Text) for part in parts) > 1 and len(parts) > 1:
        raise NotExpressible(f"several texts in {what}, which we send as one")


def bytes_or_address(base64: str, mime_type: str) -> InlineBytes | Uri:
    """The bytes themselves; a `data:` address where they are not written in the usual base64.

    Raises:
        NotExpressible: They are an image of another type than is said, which is never sent so.
    """
    try:
        content = b64decode(base64, validate=True)
    except ValueError:
        content = b""
    said, shown = plain_type(mime_type), type_of(content)
    if said.startswith("image/") and said != shown:
        raise NotExpressible(f"{MENDED}an image of another type than it says")
    if b64encode(content).decode() == base64:
        return InlineBytes(content)
    return Uri(f"data:{mime_type};base64,{base64}")
