"""Changes of a source of tools, found by comparing digests of the specs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Final

from agentkit_core import ToolSpec
from agentkit_core.json import canonical_json
from agentkit_core.values import Record

_DIGEST_LENGTH: Final = 16


class CatalogueChanges(Record, frozen=True, omit_defaults=True):
    """The names of tools that were added, removed or changed; all empty if nothing changed.

    Attributes:
        added: The names of new tools, in the order of the new specs.
        removed: The names of removed tools, in the order of the old digests.
        changed: The names of tools with another spec than before, in the order of the new specs.
    """

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)


def spec_digests(specs: Iterable[ToolSpec]) -> dict[str, str]:
    """Return a digest of each spec, by name and in order: 16 hexadecimal digits.

    Equal specs have equal digests, in any process.

    Raises:
        TypeError: A schema or metadata are not JSON.
    """
    return {spec.name: sha256(canonical_json(spec)).hexdigest()[:_DIGEST_LENGTH] for spec in specs}


def catalogue_changes(before: Mapping[str, str], specs: Iterable[ToolSpec]) -> CatalogueChanges:
    """Compare specs with earlier digests.

    Args:
        before: The earlier result of `spec_digests`.
        specs: The current specs.

    Raises:
        TypeError: A schema or metadata are not JSON.
    """
    now = spec_digests(specs)
    return CatalogueChanges(
        added=tuple(name for name in now if name not in before),
        removed=tuple(name for name in before if name not in now),
        changed=tuple(name for name in now if before.get(name, now[name]) != now[name]),
    )
