"""How much of an output a model gets to read, and what becomes of the rest."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from typing import Final

from msgspec import field
from msgspec.structs import replace

from agentkit_core import (
    ArtifactId,
    File,
    FilesOutput,
    JsonValue,
    Part,
    PartsOutput,
    Structured,
    StructuredOutput,
    TextOutput,
    ToolFailure,
    ToolOutput,
    ToolSpec,
    to_json,
)
from agentkit_core.json import without_lone_surrogates
from agentkit_core.values import Record, StringEnum
from agentkit_tools_core._contract._outcome import ToolOutcome
from agentkit_tools_core._contract._request import ToolInvocation
from agentkit_tools_core._outputs._artifacts import ArtifactStore
from agentkit_tools_core._outputs._read_tool import READ_BYTES, READ_TOOL, READS_BACK
from agentkit_tools_core._outputs._truncate import is_media, size_of, truncate_output

TOOL_OUTPUT_LIMIT: Final = "agentkit.tool_output_limit"
"""The key in a spec's metadata under which a tool says how many bytes are enough."""
_PREVIEW_BYTES: Final = 2_000


class OverflowAction(StringEnum):
    """What becomes of an output that is too long."""

    CLIP = "clip"
    """It is cut, and says so; see `truncate_output`."""
    FAIL = "fail"
    """The call has failed, and the model is told the size and the limit."""
    STORE = "store"
    """It is stored whole, and the model is told how to read it piece by piece."""


class OutputLimits(Record, frozen=True, kw_only=True):
    """How many bytes of text an output may have; media do not count, and are kept.

    The limit of a tool is the first that there is: `per_tool`, the tool's own metadata, the
    default. What is stored is replaced by a stub, a JSON value; in an output of parts or files
    by a part, before the media:

        {"truncated": true, "tool_result_id": …, "read_tool": "tool_result_read",
         "read_args": {"id": …, "offset": 0, "limit": …}, "original_bytes": N, "preview": …}

    `preview` is how the text begins, at most 2,000 bytes and no more than fits the limit. An
    error is never replaced by another one: where outputs fail, it is cut. Where the store fails,
    too. What `read_artifact_tool` gives is left alone.

    Attributes:
        default_bytes: None is no limit.
        per_tool: By the name that the model uses; None is no limit.
        from_metadata: Whether a tool may say by `agentkit.tool_output_limit` how much is enough,
            also if it is more than the default. Who makes specs of a foreign server's words leaves
            such keys out.
        store: Needed by `OverflowAction.STORE`; give the same one to `read_artifact_tool`.
        read_bytes: How much the stub proposes to read at once; no more than `read_artifact_tool`
            gives.
    """

    default_bytes: int | None = 150_000
    per_tool: Mapping[str, int | None] = field(default_factory=dict)
    from_metadata: bool = True
    action: OverflowAction = OverflowAction.CLIP
    store: ArtifactStore | None = None
    read_bytes: int = READ_BYTES

    def __post_init__(self) -> None:
        """Check the limits.

        Raises:
            ValueError: A limit is less than 1, or outputs are to be stored and there is no store.
        """
        for limit in (self.default_bytes, self.read_bytes, *self.per_tool.values()):
            if limit is not None and limit < 1:
                raise ValueError(f"a limit is at least 1 byte, not {limit}; None is no limit")
        if self.action is OverflowAction.STORE and self.store is None:
            raise ValueError("OverflowAction.STORE needs a store, such as MemoryArtifacts()")

    def limit_of(self, spec: ToolSpec) -> int | None:
        """Say how many bytes the outputs of a tool may have; None is no limit."""
        if spec.name in self.per_tool:
            return self.per_tool[spec.name]
        own = spec.metadata.get(TOOL_OUTPUT_LIMIT)
        if self.from_metadata and isinstance(own, int) and not isinstance(own, bool) and own > 0:
            return own
        return self.default_bytes

    def apply(self, outcome: ToolOutcome, spec: ToolSpec, request: ToolInvocation) -> ToolOutcome:
        """Bring what came of a call to size; the same object where it has it already.

        Never fails. Writes to the store where that is wanted, and does nothing else.
        """
        limit = self.limit_of(spec)
        result = outcome.result
        if limit is None or spec.metadata.get(READS_BACK) is True:
            return outcome
        # Most outputs are short, and a cut of them is the same object.
        clipped = truncate_output(result.output, limit)
        if clipped is result.output:
            return outcome
        if self.action is OverflowAction.STORE and self.store is not None:
            stored = self._stored(result.output, limit, request, self.store)
            clipped = clipped if stored is None else stored
        elif self.action is OverflowAction.FAIL and not result.is_error:
            text = (
                f"The output of {spec.name} has {size_of(result.output)} bytes, and no more than "
                f"{limit} are allowed. Ask for less of it."
            )
            failure = ToolFailure.EXECUTION_FAILED
            failed = replace(result, output=TextOutput(text), is_error=True, failure=failure)
            return replace(outcome, result=failed)
        return replace(outcome, result=replace(result, output=clipped))

    def _stored(
        self, output: ToolOutput, limit: int, request: ToolInvocation, store: ArtifactStore
    ) -> ToolOutput | None:
        text = without_lone_surrogates(output.text)
        try:
            artifact_id = store.put(request.session_id, request.call_id, text)
        except Exception as error:
            # The call has been made, and maybe cannot be made again: half of it beats nothing.
            _warn(request.name, error)
            return None
        stub = self._stub(text, limit, artifact_id)
        match output:
            case PartsOutput(parts=parts):
                return _with_stub(parts, stub)
            case FilesOutput(files=files):
                return _with_stub(files, stub)
            case _:
                return StructuredOutput(stub)

    def _stub(self, text: str, limit: int, artifact_id: ArtifactId) -> JsonValue:
        def stub(length: int) -> dict[str, JsonValue]:
            return {
                "truncated": True,
                "tool_result_id": artifact_id,
                "read_tool": READ_TOOL,
                "read_args": {"id": artifact_id, "offset": 0, "limit": self.read_bytes},
                "original_bytes": len(text.encode()),
                "preview": text[:length],
            }

        # How long the beginning gets by its escapes is not known before: search.
        room = min(limit, len(to_json(stub(0))) + _PREVIEW_BYTES)
        longest = min(len(text), _PREVIEW_BYTES)
        found = bisect_right(
            range(longest + 1), room, key=lambda length: len(to_json(stub(length)))
        )
        return stub(max(found - 1, 0))


def _with_stub(parts: tuple[Part, ...] | tuple[File, ...], stub: JsonValue) -> PartsOutput:
    return PartsOutput((Structured(value=stub), *(part for part in parts if is_media(part))))


def _warn(tool: str, error: Exception) -> None:
    import logging  # takes long to load, and a store that works needs none

    logging.getLogger("agentkit_tools_core").warning(
        "the output of tool %r could not be stored and was cut", tool, exc_info=error
    )
