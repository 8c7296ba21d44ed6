"""A candidate's entries as parts: generateContent, read plainly."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Final

from msgspec.structs import replace

from agentkit_core import (
    Custom,
    File,
    InlineBytes,
    Media,
    Modality,
    Part,
    Reasoning,
    Text,
    ToolCall,
    Uri,
)
from providers.recorded.comparing import unknown
from providers.recorded.readings import broken_call, call

_API: Final = "google_generate"
_NO_BLOCK: Final = ("text", "thought", "thoughtSignature", "partMetadata", "videoMetadata")
"""Fields of an entry that are not what it consists of."""


def parts_of(entries: list[dict[str, Any]], *, cut: bool) -> list[Part]:
    """A candidate's entries as parts: neighbouring texts are one, cut at any place by a stream."""
    parts: list[Part] = []
    run: list[dict[str, Any]] = []
    at = 0
    while at < len(entries):
        entry = entries[at]
        if "text" in entry and not entry["text"] and not entry.get("thoughtSignature"):
            at += 1
            continue
        if entry.get("text"):
            if run and (run[0].get("thought") is True) is not (entry.get("thought") is True):
                parts.append(_run(run))
                run = []
            run.append(entry)
            at += 1
            continue
        if run:
            parts.append(_run(run))
            run = []
        if "functionCall" not in entry:
            part = _other(entry)
            parts += [part] if part is not None else []
            at += 1
            continue
        pieces = [entry]
        while pieces[-1]["functionCall"].get("willContinue") and at + 1 < len(entries):
            following = entries[at + 1].get("functionCall")
            if following is None or following.get("name"):
                break
            pieces.append(entries[at + 1])
            at += 1
        at += 1
        if pieces[0]["functionCall"].get("name"):
            open_end = bool(pieces[-1]["functionCall"].get("willContinue"))
            parts.append(_call(pieces, cut=cut and open_end and at == len(entries)))
    return [*parts, _run(run)] if run else parts


def _run(run: list[dict[str, Any]]) -> Part:
    signatures = [entry.get("thoughtSignature") for entry in run]
    metadata: dict[str, Any] = {}
    if len(run) == 1 and signatures[0]:
        metadata[f"{_API}.signature"] = signatures[0]
    elif any(signatures):
        pieces: list[list[Any]] = []
        for entry, signature in zip(run, signatures, strict=True):
            if pieces and not signature and not pieces[-1][1]:
                pieces[-1][0] += len(entry["text"])
            else:
                pieces.append([len(entry["text"]), signature or None])
        metadata[f"{_API}.pieces"] = pieces
    text = "".join(entry["text"] for entry in run)
    if run[0].get("thought") is True:
        return Reasoning(text, metadata=metadata)
    return Text(text, metadata=metadata)


def _call(pieces: list[dict[str, Any]], *, cut: bool) -> ToolCall:
    head = pieces[0]["functionCall"]
    values: dict[str, Any] = {}
    for piece in pieces:
        for partial in piece["functionCall"].get("partialArgs") or []:
            _put(values, partial)
    signature = next(
        (s for piece in reversed(pieces) if (s := piece.get("thoughtSignature"))), None
    )
    metadata: dict[str, Any] = {f"{_API}.call_id": head["id"]} if head.get("id") else {}
    if signature:
        metadata[f"{_API}.signature"] = signature
    arguments = head.get("args") or values or None
    whole = call(head.get("id"), head["name"], arguments, metadata)
    if not cut:
        return whole
    return replace(
        broken_call(whole, ""), raw_input=unknown("ToolCall.input_error", lambda _: True)
    )


def _put(root: dict[str, Any], partial: Mapping[str, Any]) -> None:
    """Put one value of streamed arguments where its path says; texts grow."""
    steps: list[str | int] = [
        int(place) if place else name
        for name, place in re.findall(r"\.([^.\[\]]+)|\[(\d+)\]", partial["jsonPath"])
    ]
    names = ("stringValue", "numberValue", "boolValue", "nullValue")
    known = [name for name in names if name in partial]
    if not known:
        return
    value = None if known == ["nullValue"] else partial[known[0]]
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    holder: Any = root
    for step, following in pairwise(steps):
        empty: Any = [] if isinstance(following, int) else {}
        if isinstance(step, int):
            if step == len(holder):
                holder.append(empty)
        else:
            holder.setdefault(step, empty)
        holder = holder[step]
    last = steps[-1]
    if isinstance(last, int):
        if last == len(holder):
            holder.append(value)
        else:
            holder[last] += value
    else:
        holder[last] = holder[last] + value if isinstance(holder.get(last), str) else value


def _other(entry: dict[str, Any]) -> Part | None:
    """Media, or an entry that only the vendor understands; None for one that says nothing."""
    signature = entry.get("thoughtSignature")
    metadata: dict[str, Any] = {f"{_API}.signature": signature} if signature else {}
    if "inlineData" in entry or "fileData" in entry:
        blob = entry.get("inlineData") or entry["fileData"]
        mime_type = blob.get("mimeType", "")
        data = InlineBytes(b64decode(blob["data"])) if "data" in blob else Uri(blob["fileUri"])
        if entry.get("thought"):
            return Reasoning(data=data, metadata={**metadata, f"{_API}.mime_type": mime_type})
        kind = mime_type.partition("/")[0]
        if kind not in ("image", "audio", "video"):
            return File(data, mime_type or None, metadata=metadata)
        return Media(Modality(kind), mime_type, data, metadata=metadata)
    name = next((key for key in entry if key not in _NO_BLOCK), None)
    if name is not None or signature:
        return Custom(f"{_API}.{name or 'text'}", entry)
    return None
