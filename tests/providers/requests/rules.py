"""What means the same is written the same: rules that bring bodies into a normal form.

A recorded body and ours are compared in it. Each rule holds for a whole protocol and carries
the reason why the two ways of writing mean the same; none knows a single recording.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import Any, Final, NamedTuple

OPAQUE: Final = frozenset(
    {"schema", "parameters", "input_schema", "parametersJsonSchema", "responseSchema"}
    | {"responseJsonSchema", "arguments", "args", "input", "response"}
)
"""Fields that hold someone else's JSON, in which nothing may be changed."""


class Rule(NamedTuple):
    """One way in which two bodies may differ and mean the same."""

    name: str
    because: str
    apply: Callable[[Any], None]
    """Changes a body in place."""


_CUT: Final = re.compile(r"(?P<rest>[A-Za-z0-9+/=]*)\.{3}\[\d+ more base64 characters removed\]$")


def without_cuts(value: Any) -> Any:
    """Shorten base64 that recordings cut to the part that is there and can be decoded."""
    if isinstance(value, dict):
        return {key: without_cuts(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [without_cuts(entry) for entry in value]
    if not isinstance(value, str) or (cut := _CUT.search(value)) is None:
        return value
    rest = cut["rest"]
    return value[: cut.start()] + rest[: len(rest) // 4 * 4]


def normal(body: Any, rules: Iterable[Rule]) -> Any:
    """Write a body in its normal form; the body itself is left as it is."""
    copied = without_cuts(deepcopy(body))
    for rule in rules:
        rule.apply(copied)
    return copied


def drop_nulls(value: Any) -> None:
    """Take out fields that are null, but for those in someone else's JSON."""
    if isinstance(value, dict):
        for key in [key for key, one in value.items() if one is None]:
            del value[key]
        for key, one in value.items():
            if key not in OPAQUE or isinstance(one, list):
                drop_nulls(one)
    elif isinstance(value, list):
        for entry in value:
            drop_nulls(entry)


def drop_default(name: str, default: Any) -> Callable[[Any], None]:
    """Make a rule's change: a top-level field that has its default is taken out."""

    def apply(body: Any) -> None:
        if name in body and body[name] == default and type(body[name]) is type(default):
            del body[name]

    return apply


def by_content(values: list[Any]) -> None:
    """Sort a list whose order does not count."""
    values.sort(key=lambda entry: json.dumps(entry, sort_keys=True))


def parsed(text: Any) -> Any:
    """The JSON that a text holds; the text itself where it holds none."""
    if not isinstance(text, str):
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text
