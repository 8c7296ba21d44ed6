"""What changed between two looks at a source, for whoever has to tell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Final

from agentkit_core import ToolSpec
from agentkit_core.json import canonical_json
from agentkit_core.values import Record

_DIGEST_LENGTH: Final = 16


class CatalogueChanges(Record, frozen=True, omit_defaults=True):
    """The names of tools that came, went or became others; all empty when nothing changed.

    Attributes:
        added: In the order of the new specs.
        removed: In the order of the old digests.
        changed: Still there with another spec; in the order of the new specs.
    """

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)


def spec_digests(specs: Iterable[ToolSpec]) -> dict[str, str]:
    """Sum up specs: from each name, in order, to 16 hexadecimal digits of all that it says.

    Equal specs have equal digests, in any process.

    Raises:
        TypeError: A schema or metadata are not JSON.
    """
    return {spec.name: sha256(canonical_json(spec)).hexdigest()[:_DIGEST_LENGTH] for spec in specs}


def catalogue_changes(before: Mapping[str, str], specs: Iterable[ToolSpec]) -> CatalogueChanges:
    """Say what changed since then.

    Args:
        before: What `spec_digests` said then.
        specs: What there is now.

    Raises:
        TypeError: A schema or metadata are not JSON.
    """
    now = spec_digests(specs)
    return CatalogueChanges(
        added=tuple(name for name in now if name not in before),
        removed=tuple(name for name in before if name not in now),
        changed=tuple(name for name in now if before.get(name, now[name]) != now[name]),
    )
