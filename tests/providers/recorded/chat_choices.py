"""One choice of a Chat Completions answer, put together delta by delta."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping
from typing import Any, Final

from agentkit_core import (
    Custom,
    InlineBytes,
    Media,
    Modality,
    Part,
    Reasoning,
    Text,
    Uri,
)
from providers.recorded.readings import call, json_text, part_broken_off

_API: Final = "openai_chat"
_GROW: Final = ("text", "reasoning", "refusal", "audio")
"""Kinds of run that grow delta by delta."""
_THOUGHTS: Final = ("reasoning_content", "reasoning", "reasoning_text")


class Choice:
    """One choice, put together delta by delta."""

    def __init__(self, audio_type: str) -> None:
        self.words: list[str] = []
        self.refused = False
        self.metadata: dict[str, Any] = {}
        self._audio_type = audio_type
        self._runs: list[dict[str, Any]] = []
        """Each `{"kind": …}` and what it gathers; calls stand where they begin."""

    @property
    def calls(self) -> list[dict[str, Any]]:
        return [run for run in self._runs if run["kind"] == "call" and _says_something(run)]

    @property
    def word(self) -> str:
        return next((word for word in self.words if word), "").lower()

    def take(self, delta: Mapping[str, Any]) -> None:
        details = [entry for entry in delta.get("reasoning_details") or [] if entry]
        source = next((name for name in _THOUGHTS if delta.get(name)), "reasoning_details")
        thought = delta.get(source) if source in _THOUGHTS else _shown(details)
        sealed = any(entry.get("signature") or entry.get("data") for entry in details)
        if thought or (sealed and self._kind != "reasoning"):
            self._run("reasoning")["text"] += thought
            if thought:
                self._run("reasoning")["metadata"].setdefault(f"{_API}.reasoning_field", source)
        if self._kind == "reasoning":
            self._run("reasoning")["details"] += details
        self._take_content(delta.get("content") or "")
        touched: list[int] = []
        for fragment in delta.get("tool_calls") or []:
            self._take_call(fragment, touched)
        if delta.get("refusal"):
            self.refused = True
            self._run("refusal")["text"] += delta["refusal"]
        for image in delta.get("images") or []:
            self._runs.append({"kind": "image", "url": image["image_url"]["url"]})
        self._take_audio(delta.get("audio") or {})
        if delta.get("annotations"):
            self._beside["openai_chat.annotations"] = [
                *self._beside.get("openai_chat.annotations", []),
                *delta["annotations"],
            ]
        function = delta.get("function_call") or {}
        if function.get("name") or function.get("arguments"):
            self._take_call({"function": function}, [])
        if delta.get("extra_content") is not None:
            self._beside["openai_chat.extra_content"] = delta["extra_content"]
        if delta.get("executed_tools"):
            known = self.metadata.setdefault(f"{_API}.executed_tools", [])
            known += delta["executed_tools"]

    @property
    def _kind(self) -> str:
        return self._runs[-1]["kind"] if self._runs else ""

    @property
    def _beside(self) -> dict[str, Any]:
        """Where marks belong: to the text that is open, else to the whole answer."""
        if self._kind != "text":
            return self.metadata
        metadata: dict[str, Any] = self._runs[-1]["metadata"]
        return metadata

    def _run(self, kind: str) -> dict[str, Any]:
        if self._kind != kind:
            self._runs.append(
                {"kind": kind, "text": "", "details": [], "metadata": {}, "data": b""}
            )
        return self._runs[-1]

    def _take_content(self, content: Any) -> None:
        plain = isinstance(content, str)
        entries: list[Any] = [{"type": "text", "text": content}] if plain else content
        for entry in entries:
            match entry["type"]:
                case "thinking":
                    thought = "".join(piece["text"] for piece in entry["thinking"])
                    if thought:
                        run = self._run("reasoning")
                        run["text"] += thought
                        run["metadata"].setdefault(f"{_API}.reasoning_field", "content")
                case "text":
                    if entry["text"]:
                        self._run("text")["text"] += entry["text"]
                case "image_url":
                    url = entry["image_url"]
                    self._runs.append(
                        {"kind": "image", "url": url["url"] if isinstance(url, dict) else url}
                    )
                case _:
                    self._runs.append({"kind": "custom", "entry": entry})

    def _take_audio(self, audio: Mapping[str, Any]) -> None:
        if audio.get("data") or audio.get("transcript"):
            run = self._run("audio")
            run["text"] += audio.get("transcript") or ""
            run["data"] += b64decode(audio.get("data") or "")
            if audio.get("id"):
                run["metadata"]["openai_chat.audio_id"] = audio["id"]

    def _take_call(self, fragment: Mapping[str, Any], touched: list[int]) -> None:
        said = fragment.get("function") or fragment.get("custom") or {}
        name, piece = said.get("name") or "", said.get("arguments") or said.get("input") or ""
        index, call_id = fragment.get("index"), fragment.get("id") or ""
        known = [run for run in self._runs if run["kind"] == "call"]
        if index is not None:
            same = [run for run in known if run["index"] == index][-1:]
            if same and call_id and same[0]["id"] and call_id != same[0]["id"] and name:
                same = []  # another call, whose server gives all the same index
        else:
            same = [run for run in known if call_id and run["id"] == call_id][:1]
            same = same or ([] if name else known[-1:])
            same = [run for run in same if not (name and id(run) in touched)]
        if not same:
            same = [{"kind": "call", "index": index, "id": "", "name": "", "text": "", "extra": {}}]
            self._runs += same
        run = same[0]
        touched.append(id(run))
        run["id"], run["name"] = run["id"] or call_id, run["name"] or name
        run["text"] += piece if isinstance(piece, str) else json_text(piece)
        run["extra"] |= fragment.get("extra_content") or {}

    def parts(self, *, broken_off: bool) -> list[Part]:
        """The runs as parts; of an answer that broke off, the last one and all calls are open."""
        runs = [run for run in self._runs if _says_something(run)]
        parts = [self._part(run) for run in runs]
        if not broken_off:
            return parts
        first_keys = f"{_API}.refusal", f"{_API}.extra_content"
        return [
            part_broken_off(part, *first_keys, arguments=run.get("text", ""))
            if run["kind"] == "call" or (run is self._runs[-1] and run["kind"] in _GROW)
            else part
            for run, part in zip(runs, parts, strict=True)
        ]

    def _part(self, run: dict[str, Any]) -> Part:
        metadata = dict(run.get("metadata", {}))
        match run["kind"]:
            case "call":
                extra = {"openai_chat.extra_content": run["extra"]} if run["extra"] else {}
                return call(run["id"], run["name"], run["text"], extra)
            case "reasoning":
                if run["details"]:
                    metadata[f"{_API}.reasoning_details"] = _joined(run["details"])
                text = run["text"] or None
                return Reasoning(text, redacted=text is None, metadata=metadata)
            case "audio":
                if run["text"]:
                    metadata[f"{_API}.transcript"] = run["text"]
                data = InlineBytes(run["data"])
                return Media(Modality.AUDIO, self._audio_type, data, metadata=metadata)
            case "image":
                return _image(run["url"])
            case "custom":
                return Custom(f"{_API}.{run['entry']['type']}", run["entry"])
            case "refusal":
                return Text(run["text"], metadata={f"{_API}.refusal": True})
            case _:
                return Text(run["text"], metadata=metadata)


def _says_something(run: Mapping[str, Any]) -> bool:
    return run["kind"] != "call" or bool(run["id"] or run["name"] or run["text"].strip())


def _shown(details: list[dict[str, Any]]) -> str:
    return "".join(entry.get("text") or entry.get("summary") or "" for entry in details)


def _joined(details: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Entries as they were before a stream cut them: of one type and index, up to a signature."""
    joined: list[dict[str, Any]] = []
    for entry in details:
        last = joined[-1] if joined else {"type": None}
        same = all(entry.get(name) == last.get(name) for name in ("type", "index"))
        if (
            same
            and not ("data" in entry or "data" in last)
            and not (last.get("signature") and entry.get("text"))
        ):
            for name, value in entry.items():
                grows = name in ("text", "summary") and isinstance(value, str)
                if value is not None:
                    last[name] = (last.get(name) or "") + value if grows else value
        else:
            joined.append(dict(entry))
    return joined


def _image(url: str) -> Media:
    head, comma, data = url.partition(",")
    if comma and head.startswith("data:") and head.endswith(";base64"):
        mime_type = head.removeprefix("data:").removesuffix(";base64")
        return Media(Modality.IMAGE, mime_type, InlineBytes(b64decode(data)))
    return Media(Modality.IMAGE, "", Uri(url))
