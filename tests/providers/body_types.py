"""The vendors' own types of a request, loaded when a test first needs them: that takes a second."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from pydantic import TypeAdapter


@cache
def _type_named(module: str, name: str) -> tuple[Any, TypeAdapter[Any]]:
    body = getattr(import_module(module), name)
    return body, TypeAdapter(body)


def accepted_by(module: str, params: str, written: dict[str, Any], *, streamed: bool) -> Any:
    """Check a body with the types of a vendor's SDK, which must know all of its fields.

    Args:
        module: Where the types are.
        params: What their names begin with.
        written: The body.
        streamed: Whether it asks for a stream.

    Returns:
        The body as validated. Its lists are read lazily: what is in them is checked when they are
        read to the end.
    """
    known, _ = _type_named(module, f"{params}Streaming")
    assert set(written) <= known.__required_keys__ | known.__optional_keys__
    _, body = _type_named(module, f"{params}{'Streaming' if streamed else 'NonStreaming'}")
    return body.validate_python(written)
