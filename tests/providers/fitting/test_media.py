"""Media and documents: what they are is what their bytes are."""

from __future__ import annotations

import json
from base64 import b64encode
from typing import Any

import pytest

from agentkit_core import (
    DataRef,
    File,
    FilesOutput,
    InlineBytes,
    InlineText,
    Item,
    Media,
    Modality,
    Part,
    PartsOutput,
    Text,
    ToolCall,
    ToolCallId,
    ToolResult,
    Uri,
)
from agentkit_providers._protocol_kit._media_types import as_text, type_of
from providers.fitting.asking import send

JPEG = bytes.fromhex("ffd8ffe000104a46494600010100000100010000ffdb0043") + bytes(64) + b"\xff\xd9"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)
GIF, WEBP = b"GIF89a" + bytes(9), b"RIFF\x00\x00\x00\x00WEBPVP8 "
PDF = b"%PDF-1.7\n"
MODELS = ("anthropic:claude-opus-4-8", "openai:gpt-5-mini", "openai-responses:gpt-5-mini",
          "google:gemini-3-pro", "openrouter:m", "vllm:m")  # fmt: skip


def data_url(content: bytes, named: str) -> Uri:
    return Uri(f"data:{named};base64,{b64encode(content).decode()}")


def places(part: Part) -> list[tuple[Item, ...]]:
    """Histories in which a part is said by the user, and given by a tool in two ways."""
    call = Item.assistant(ToolCall(ToolCallId("c1"), "look"))
    outputs: list[Any] = [PartsOutput((Text("see"), part))]
    if isinstance(part, File):
        outputs.append(FilesOutput((part,)))
    results = [Item.tool(ToolResult(ToolCallId("c1"), output)) for output in outputs]
    return [
        (Item.user("look", part),),
        *((Item.user("look"), call, result) for result in results),
    ]


def images_of(value: Any) -> list[tuple[str, str]]:
    """The images of a body, as MIME type and base64."""
    if isinstance(value, list):
        return [image for entry in value for image in images_of(entry)]
    if not isinstance(value, dict):
        if isinstance(value, str) and value.startswith("data:image/"):
            head, _, data = value.partition(";base64,")
            return [(head.removeprefix("data:"), data)]
        return []
    kind = value.get("media_type", value.get("mimeType"))
    if isinstance(kind, str) and kind.startswith("image/") and "data" in value:
        return [(kind, value["data"])]
    return [image for entry in value.values() for image in images_of(entry)]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("content", "kind"), [(JPEG, "image/jpeg"), (PNG, "image/png"),
                                               (WEBP, "image/webp")])  # fmt: skip
@pytest.mark.parametrize("named", ["image/png", "image/jpeg", "image/jpg", "", "text/plain"])
def test_vp02_the_type_that_is_sent_is_that_of_the_bytes(
    model: str, content: bytes, kind: str, named: str
) -> None:
    refs: list[DataRef] = [InlineBytes(content), data_url(content, named)]
    for data in refs:
        parts: list[Part] = [Media(Modality.IMAGE, named, data)]
        if not model.startswith("vllm"):  # it takes no files
            parts.append(File(data, named or None))
        for part in parts:
            for items in places(part):
                images = images_of(send(model, *items).body)
                assert images == [(kind, b64encode(content).decode())]


NO_IMAGES: dict[str, DataRef] = {
    "empty": InlineBytes(b""),
    "words": InlineBytes(b"<html>404</html>"),
    "text": InlineText("no image"),
    "no base64": Uri("data:image/png;base64,!!!"),
    "svg": InlineBytes(b"<svg xmlns='http://www.w3.org/2000/svg'/>"),
    "tiff": InlineBytes(b"II*\x00" + bytes(8)),
    "cut off": InlineBytes(b"\x89PN"),
}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("what", NO_IMAGES)
def test_vp02_what_is_no_image_is_left_out_and_the_model_is_told(model: str, what: str) -> None:
    for items in places(Media(Modality.IMAGE, "image/png", NO_IMAGES[what])):
        body = send(model, *items).body
        assert not images_of(body)
        assert "image omitted" in json.dumps(body)


def test_vp02_types_that_a_vendor_does_not_read_are_left_out_there() -> None:
    picture = Item.user("look", Media(Modality.IMAGE, "image/png", InlineBytes(GIF)))

    assert images_of(send("openai:gpt-5-mini", picture).body)[0][0] == "image/gif"
    for model in ("google:gemini-3-pro", "xai:grok-4.3"):
        assert not images_of(send(model, picture).body)


def test_vp02_an_address_is_left_to_the_vendor() -> None:
    picture = Item.user("look", Media(Modality.IMAGE, "image/png", Uri("https://e/i.jpg")))
    for model in MODELS:
        assert "https://e/i.jpg" in json.dumps(send(model, picture).body)


@pytest.mark.parametrize(
    ("content", "kind"),
    [(b"BM", None), (b"BM" + bytes(30), "image/bmp"), (PDF, "application/pdf"), (b"", None),
     (b"RIFF....WAVEfmt ", "audio/wav"), (b"\x00\x00\x00\x18ftypheic", "image/heic")],
)  # fmt: skip
def test_types_are_read_from_first_bytes(content: bytes, kind: str | None) -> None:
    assert type_of(content) == kind


def test_text_is_what_can_be_read_as_text() -> None:
    assert as_text("é".encode(), None) == "é"
    assert as_text("é".encode("latin-1"), "text/plain") == "é"
    assert as_text(b"\xff\xfea\x00", None) == "a"
    assert as_text(b"\xe9", "application/octet-stream") is None
    assert as_text(b"a\x00b", "text/plain") is None
    assert as_text(PDF, "text/plain") is None


PLAN: list[DataRef] = [
    InlineBytes(b"# Plan"),
    InlineText("# Plan"),
    data_url(b"# Plan", "text/markdown"),
    Uri("data:text/markdown,%23%20Plan"),
]


@pytest.mark.parametrize("data", PLAN)
@pytest.mark.parametrize("named", ["text/markdown", "application/json", "application/pdf", None])
def test_vp12_what_is_text_is_written_out_with_its_name(data: DataRef, named: str | None) -> None:
    for items in places(File(data, named, "plan.md")):
        body = json.dumps(send("openai:gpt-5-mini", *items).body["messages"])
        assert "[File plan.md]\\n# Plan" in body
        assert '"file"' not in body


@pytest.mark.parametrize("named", ["application/pdf", "text/plain", None])
def test_vp12_a_pdf_as_bytes_is_sent_as_a_file(named: str | None) -> None:
    for data in (InlineBytes(PDF), data_url(PDF, named or "application/pdf")):
        body = send("openai:gpt-5-mini", Item.user("read", File(data, named, "a.pdf"))).body
        (_, part) = body["messages"][0]["content"]
        assert part["file"]["file_data"].startswith("data:application/pdf;base64,")


@pytest.mark.parametrize(
    "file",
    [
        File(InlineBytes(b"PK\x03\x04"), "application/vnd.openxmlformats", "a.docx"),
        File(InlineBytes(b"\x00\x01\xff"), None, "a.bin"),
        File(Uri("https://e/a.docx"), "application/msword", "a.docx"),
        File(Uri("https://e/a.pdf"), "application/pdf", "a.pdf"),
    ],
)
def test_vp12_what_the_file_part_does_not_take_is_left_out_and_the_model_is_told(
    file: File,
) -> None:
    for items in places(file):
        body = json.dumps(send("openai:gpt-5-mini", *items).body["messages"])
        assert f"file {file.name} omitted" in body
        assert '"file"' not in body


def test_vp12_an_aggregator_that_fetches_documents_gets_their_address() -> None:
    file = File(Uri("https://e/a.pdf"), "application/pdf", "a.pdf")

    assert "https://e/a.pdf" in json.dumps(send("openrouter:m", Item.user("x", file)).body)
