"""Media of an output that are too large to be sent give way to a text; all else is kept."""

from __future__ import annotations

from base64 import b64encode

import pytest

from agentkit_core import (
    ArtifactId,
    File,
    FilesOutput,
    Handle,
    InlineBytes,
    InlineText,
    Media,
    Modality,
    Part,
    PartsOutput,
    SessionId,
    Text,
    TextOutput,
    ToolCallId,
    ToolFailure,
    ToolOutput,
    ToolResult,
    ToolSpec,
    Uri,
)
from agentkit_tools_core import OutputLimits, OverflowAction, ToolInvocation, ToolOutcome
from agentkit_tools_core.artifacts import MemoryArtifacts

CALL = ToolInvocation(ToolCallId("c"), "t", session_id=SessionId("s"))
BESIDE = Text(text="beside")


def image(size: int) -> Media:
    return Media(Modality.IMAGE, "image/png", InlineBytes(b"x" * size))


def applied(limits: OutputLimits, output: ToolOutput, *, is_error: bool = False) -> ToolResult:
    result = ToolResult(CALL.call_id, output, is_error=is_error)
    return limits.apply(ToolOutcome(result, True), ToolSpec("t"), CALL).result


def parts_of(result: ToolResult) -> tuple[Part, ...]:
    assert isinstance(result.output, PartsOutput)
    return result.output.parts


@pytest.mark.parametrize("part", [image(3_932_160), File(InlineBytes(bytes(15_728_640)), "a/b")])
def test_vl09_what_providers_take_is_kept_by_default(part: Media | File) -> None:
    output = PartsOutput((BESIDE, part))

    assert applied(OutputLimits(), output).output is output


@pytest.mark.parametrize(
    "part",
    [
        image(3_932_161),
        File(InlineBytes(bytes(3_932_161)), "image/png", "a.png"),
        File(InlineBytes(bytes(15_728_641)), "application/pdf", "a.pdf"),
        Media(Modality.IMAGE, "image/png", Uri("data:image/png;base64," + "x" * 5_242_880)),
        Media(Modality.AUDIO, "audio/wav", InlineBytes(bytes(15_728_641))),
    ],
)
def test_vl09_what_providers_refuse_gives_way_to_a_text(part: Media | File) -> None:
    beside, text = parts_of(applied(OutputLimits(), PartsOutput((BESIDE, part))))

    assert beside == BESIDE
    assert isinstance(text, Text)
    assert part.mime_type is not None
    assert part.mime_type in text.text
    assert "bytes in base64" in text.text
    assert ("5242880" in text.text) or ("20971520" in text.text)


def test_vl09_media_have_a_limit_together_and_those_that_come_first_are_kept() -> None:
    limits = OutputLimits(media_bytes=100)
    parts = (image(45), BESIDE, image(45), image(30), image(3))

    kept = parts_of(applied(limits, PartsOutput(parts)))

    assert [type(part) for part in kept] == [Media, Text, Text, Media, Text]
    assert kept[0] is parts[0]
    assert kept[3] is parts[3]


def test_vl09_a_file_that_is_too_large_leaves_the_others() -> None:
    files = (File(InlineBytes(bytes(90)), "a/b", "a.b"), File(InlineText("text"), "text/plain"))

    kept = parts_of(applied(OutputLimits(media_bytes=100), FilesOutput(files)))

    assert isinstance(kept[0], Text)
    assert "'a.b' (a/b)" in kept[0].text
    assert kept[1:] == files[1:]


@pytest.mark.parametrize(
    "part",
    [
        Media(Modality.IMAGE, "image/png", Uri("https://x/" + "y" * 200)),
        Media(Modality.IMAGE, "image/svg+xml", InlineText("x" * 200)),
        Media(Modality.VIDEO, "", Handle(ArtifactId("h" * 200))),
    ],
)
def test_vl09_addresses_and_text_are_no_media_by_size(part: Media) -> None:
    output = PartsOutput((part,))

    assert applied(OutputLimits(image_bytes=1, media_bytes=1), output).output is output


def test_vl09_there_may_be_no_limit() -> None:
    output = PartsOutput((image(30_000_000),))

    assert applied(OutputLimits(image_bytes=None, media_bytes=None), output).output is output
    with pytest.raises(ValueError, match="0 is not a valid limit"):
        OutputLimits(media_bytes=0)


def test_vl09_a_store_keeps_what_is_too_large() -> None:
    store = MemoryArtifacts()
    limits = OutputLimits(action=OverflowAction.STORE, store=store, image_bytes=100)

    (text,) = parts_of(applied(limits, PartsOutput((image(100),))))

    assert isinstance(text, Text)
    artifact_id = ArtifactId(text.text.split("'")[1])
    assert store.read(artifact_id, 0, 1_000).content == b64encode(b"x" * 100).decode()


def test_vl09_a_call_may_fail_instead() -> None:
    limits = OutputLimits(action=OverflowAction.FAIL, image_bytes=100)

    failed = applied(limits, PartsOutput((BESIDE, image(100))))

    assert failed.failure is ToolFailure.EXECUTION_FAILED
    assert isinstance(failed.output, TextOutput)
    assert "136 bytes in base64" in failed.text
    error = applied(limits, PartsOutput((BESIDE, image(100))), is_error=True)
    assert parts_of(error)[0] == BESIDE, "an error says what it says"
