"""Limits of outputs: how many bytes the model gets, and what happens to longer outputs.

Text that is too long is cut or stored; media that are too large give way to a text.
"""

from __future__ import annotations

from base64 import b64encode
from bisect import bisect_right
from collections.abc import Mapping
from typing import Final

from msgspec import field
from msgspec.structs import replace

from agentkit_core import (
    ArtifactId,
    File,
    FilesOutput,
    InlineBytes,
    JsonValue,
    Media,
    Part,
    PartsOutput,
    Structured,
    StructuredOutput,
    Text,
    TextOutput,
    ToolFailure,
    ToolOutput,
    ToolSpec,
    Uri,
    to_json,
)
from agentkit_core.json import without_lone_surrogates
from agentkit_core.settings import Settings
from agentkit_core.values import StringEnum
from agentkit_tools_core._contract._outcome import ToolOutcome
from agentkit_tools_core._contract._request import ToolInvocation
from agentkit_tools_core._log import logger
from agentkit_tools_core._outputs._artifacts import ArtifactStore
from agentkit_tools_core._outputs._media_limits import describe_media, limit_media
from agentkit_tools_core._outputs._read_tool import READ_BYTES, READ_TOOL, READS_BACK
from agentkit_tools_core._outputs._truncate import is_media, size_of, truncate_output

TOOL_OUTPUT_LIMIT: Final = "agentkit.tool_output_limit"
"""Metadata key of a spec: the limit that the tool itself asks for, in bytes."""
_PREVIEW_BYTES: Final = 2_000


class OverflowAction(StringEnum):
    """What happens to an output that is too long."""

    TRUNCATE = "truncate"
    """The output is cut, and ends with a note that says so."""
    FAIL = "fail"
    """The call fails; the error tells the model the size and the limit."""
    STORE = "store"
    """The output is stored, and the model gets a note that says how to read it in slices."""


class OutputLimits(Settings, frozen=True, kw_only=True):
    """How many bytes of text and of media an output may have.

    Media have limits of their own, because a provider refuses a request with media that are too
    large. They are counted as they are sent: in base64, a third more than the bytes. Addresses
    count nothing. An image or file that is too large gives way to a text that says what it was, how
    large, what the limit is and, with `OverflowAction.STORE`, the id under which the store has it
    in base64. With `OverflowAction.FAIL` the call fails.

    The limit of a tool's text is the first of these that exists: `per_tool`, the tool's own
    metadata, the default. A stored output is replaced by a JSON value; in an output of parts or
    files, by a part before the media:

        {"truncated": true, "tool_result_id": …, "read_tool": "tool_result_read",
         "read_args": {"id": …, "offset": 0, "limit": …}, "original_bytes": N, "preview": …}

    `preview` is the beginning of the text, at most 2,000 bytes and no more than the limit. An error
    result is always truncated, whatever the action is, and so is an output that the store fails to
    store. The output of `read_artifact_tool` has no limit here.

    Attributes:
        default_bytes: The limit of tools without a limit of their own; None means no limit.
        per_tool: Limits by the name that the model uses; None means no limit.
        from_metadata: Whether a tool may set its own limit with `agentkit.tool_output_limit`, even
            above the default. Code that makes specs from a foreign server has to remove such keys.
        action: What happens to an output that is too long.
        store: Where outputs are stored; required by `OverflowAction.STORE`. Pass the same store to
            `read_artifact_tool`.
        image_bytes: How large each image may be; None means as large as all media together.
        media_bytes: How large all media of one output may be together, other than images that are
            too large themselves. Those that come first are kept. None means no limit.
        read_bytes: How many bytes the note suggests to read at once; at most the `max_bytes` of
            `read_artifact_tool`.
    """

    default_bytes: int | None = 150_000
    per_tool: Mapping[str, int | None] = field(default_factory=dict)
    from_metadata: bool = True
    action: OverflowAction = OverflowAction.TRUNCATE
    store: ArtifactStore | None = None
    image_bytes: int | None = 5 * 1024 * 1024
    media_bytes: int | None = 20 * 1024 * 1024
    read_bytes: int = READ_BYTES

    def __post_init__(self) -> None:
        """Check the limits.

        Raises:
            ValueError: A limit is less than 1, or `action` is `STORE` without a store.
        """
        super().__post_init__()
        limits = (self.default_bytes, self.image_bytes, self.media_bytes, self.read_bytes)
        for limit in (*limits, *self.per_tool.values()):
            if limit is not None and limit < 1:
                raise ValueError(
                    f"{limit} is not a valid limit; use at least 1 byte, or None for no limit"
                )
        if self.action is OverflowAction.STORE and self.store is None:
            raise ValueError(
                "OverflowAction.STORE needs a store; pass one, such as store=MemoryArtifacts()"
            )

    def limit_of(self, spec: ToolSpec) -> int | None:
        """Return how many bytes the outputs of a tool may have; None means no limit."""
        if spec.name in self.per_tool:
            return self.per_tool[spec.name]
        limit = spec.metadata.get(TOOL_OUTPUT_LIMIT)
        is_number = isinstance(limit, int) and not isinstance(limit, bool)
        if self.from_metadata and is_number and isinstance(limit, int) and limit > 0:
            return limit
        return self.default_bytes

    def apply(self, outcome: ToolOutcome, spec: ToolSpec, request: ToolInvocation) -> ToolOutcome:
        """Return an outcome within the limit; the same object if it is within it already.

        Never raises. With `OverflowAction.STORE`, it writes to the store.
        """
        output = outcome.result.output
        if isinstance(output, PartsOutput | FilesOutput):
            outcome = self._limit_media(outcome, spec, request)
        limit = self.limit_of(spec)
        result = outcome.result
        if limit is None or spec.metadata.get(READS_BACK) is True:
            return outcome
        # Most outputs are short: then this is the same object.
        short_output = truncate_output(result.output, limit)
        if short_output is result.output:
            return outcome
        if self.action is OverflowAction.STORE and self.store is not None:
            note = self._store_output(result.output, limit, request, self.store)
            short_output = short_output if note is None else note
        elif self.action is OverflowAction.FAIL and not result.is_error:
            text = (
                f"The output of {spec.name} has {size_of(result.output)} bytes, but at most "
                f"{limit} are allowed. Request a smaller part of it."
            )
            failure = ToolFailure.EXECUTION_FAILED
            failed = replace(result, output=TextOutput(text), is_error=True, failure=failure)
            return replace(outcome, result=failed)
        return replace(outcome, result=replace(result, output=short_output))

    def _limit_media(
        self, outcome: ToolOutcome, spec: ToolSpec, request: ToolInvocation
    ) -> ToolOutcome:
        result, notes = outcome.result, list[str]()

        def text_for(part: Media | File, size: int, limit: int) -> Text:
            note = (
                f"{describe_media(part)} was left out: it has {size} bytes in base64, but "
                f"{'at most ' if limit else 'only '}{limit} are allowed"
            )
            notes.append(note)
            if self.action is OverflowAction.STORE and self.store is not None:
                artifact_id = _store_media(part, request, self.store)
                note += "" if artifact_id is None else f"; its base64 is stored as {artifact_id!r}"
            return Text(text=f"[{note}]")

        output = limit_media(result.output, self.image_bytes, self.media_bytes, text_for)
        if output is result.output:
            return outcome
        if self.action is OverflowAction.FAIL and not result.is_error:
            text = (
                f"The output of {spec.name} is too large. {'. '.join(notes)}. Request less of it."
            )
            failure = ToolFailure.EXECUTION_FAILED
            failed = replace(result, output=TextOutput(text), is_error=True, failure=failure)
            return replace(outcome, result=failed)
        return replace(outcome, result=replace(result, output=output))

    def _store_output(
        self, output: ToolOutput, limit: int, request: ToolInvocation, store: ArtifactStore
    ) -> ToolOutput | None:
        text = without_lone_surrogates(output.text)
        try:
            artifact_id = store.put(request.session_id, request.call_id, text)
        except Exception as error:
            # The call has run, and perhaps cannot run again: a truncated output beats none.
            _warn(request.name, error)
            return None
        note = self._note(text, limit, artifact_id)
        match output:
            case PartsOutput(parts=parts):
                return _with_note(parts, note)
            case FilesOutput(files=files):
                return _with_note(files, note)
            case _:
                return StructuredOutput(note)

    def _note(self, text: str, limit: int, artifact_id: ArtifactId) -> JsonValue:
        def note(length: int) -> dict[str, JsonValue]:
            return {
                "truncated": True,
                "tool_result_id": artifact_id,
                "read_tool": READ_TOOL,
                "read_args": {"id": artifact_id, "offset": 0, "limit": self.read_bytes},
                "original_bytes": len(text.encode()),
                "preview": text[:length],
            }

        # Escapes make the preview longer by an unknown amount, so search for the greatest length.
        room = min(limit, len(to_json(note(0))) + _PREVIEW_BYTES)
        longest = min(len(text), _PREVIEW_BYTES)
        length = bisect_right(
            range(longest + 1), room, key=lambda length: len(to_json(note(length)))
        )
        return note(max(length - 1, 0))


def _with_note(parts: tuple[Part, ...] | tuple[File, ...], note: JsonValue) -> PartsOutput:
    return PartsOutput((Structured(value=note), *(part for part in parts if is_media(part))))


def _store_media(
    part: Media | File, request: ToolInvocation, store: ArtifactStore
) -> ArtifactId | None:
    match part.data:
        case InlineBytes(data=data):
            text = b64encode(data).decode()
        case Uri(uri=uri):
            text = uri
        case _:
            return None
    try:
        return store.put(request.session_id, request.call_id, text)
    except Exception as error:
        _warn(request.name, error)
        return None


def _warn(tool: str, error: Exception) -> None:
    logger().warning(
        "the output of tool %r could not be stored, so it was truncated", tool, exc_info=error
    )
