"""Parts, items, histories and targets: regular ones, and what storage and crashes leave behind."""

from decimal import Decimal
from functools import cache

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from msgspec.structs import replace

from agentkit_core import (
    ArtifactId,
    CostUsage,
    Custom,
    DataRef,
    FailureKind,
    File,
    FilesOutput,
    FinishReason,
    Handle,
    InlineBytes,
    InlineText,
    Item,
    ItemKind,
    JsonValue,
    Media,
    MessageId,
    MetadataMap,
    Modality,
    Part,
    PartsOutput,
    Provenance,
    ProviderFailure,
    Reasoning,
    Structured,
    StructuredOutput,
    Text,
    TextOutput,
    TokenUsage,
    ToolCall,
    ToolCallId,
    ToolFailure,
    ToolOutput,
    ToolResult,
    Transcript,
    Uri,
    Usage,
)
from agentkit_core.provider import IdRule, ReasoningRule, Target, ToolMedia
from support.json_values import odd_texts, texts

HERE = Provenance("here", "an_api", "a-model")
"""The model that all targets name."""
ORIGINS = (
    None,
    HERE,
    Provenance("here", "an_api", "another-model", response_id="r-1"),
    Provenance("there", "another_api", "a-model", response_model="a-model-2"),
)
KEYS = ("an_api.signature", "another_api.signature", "here.id", "app.note", "agentkit.incomplete")
SPEAKING = tuple(kind for kind in ItemKind if kind not in (ItemKind.ASSISTANT, ItemKind.TOOL))

CALL_IDS = ("", "a", "call_0", "functions.Bash:0", "x" * 90 + "1", "x" * 90 + "2", "a|b", "\ud800")
NAMES = ("look", "read file!", "", "é", "n" * 80, "\ud800")


@cache
def values(text: SearchStrategy[str]) -> SearchStrategy[JsonValue]:
    """A small JSON value with such texts in it; `json_values` gives larger ones, more slowly."""
    return st.one_of(
        st.sampled_from([None, True, 0, 2**70, 1.5, [], {}, {"a": [1, {"b": None}]}]),
        text,
        st.builds(lambda key, value: {key: value}, text, text),
    )


@cache
def counts() -> SearchStrategy[int | None]:
    """A token count, or that none was reported."""
    return st.none() | st.integers(0, 10_000)


@cache
def token_usages() -> SearchStrategy[TokenUsage]:
    """Any token counts."""
    return st.builds(TokenUsage, *[counts()] * 6)


@cache
def cost_usages() -> SearchStrategy[CostUsage]:
    """Any amounts of any few currencies."""
    amounts = st.decimals(0, 1000, places=6)
    codes = st.sampled_from(["USD", "EUR", "CNY"])
    return st.builds(CostUsage, st.dictionaries(codes, amounts, max_size=3))


@cache
def usages() -> SearchStrategy[Usage]:
    """Any usage."""
    some = st.integers(0, 3)
    return st.builds(Usage, token_usages(), cost_usages(), some, some, some, metadata())


@cache
def metadata() -> SearchStrategy[MetadataMap]:
    """Metadata of several owners, mostly none."""
    value = st.sampled_from(["QUJD", " ", True, {"a": [None]}])
    return st.one_of(st.builds(dict), st.dictionaries(st.sampled_from(KEYS), value, max_size=2))


@cache
def data_refs() -> SearchStrategy[DataRef]:
    """Content, or where it is."""
    return st.one_of(
        st.builds(InlineText, texts()),
        st.builds(InlineBytes, st.binary(max_size=8)),
        st.builds(Uri, st.just("https://example.com/a")),
        st.builds(Handle, st.just(ArtifactId("a1"))),
    )


@cache
def contents(text: SearchStrategy[str]) -> SearchStrategy[Part]:
    """Parts that a user or a tool may give."""
    return st.one_of(
        st.builds(Text, text, metadata=metadata()),
        st.builds(Media, st.sampled_from(Modality), st.just("image/png"), data_refs()),
        st.builds(File, data_refs(), st.none() | st.just("text/plain"), st.none() | text),
        st.builds(Structured, values(text)),
        st.builds(Custom, st.sampled_from(["an_api.search", "app.note"]), values(text)),
    )


@cache
def reasoning(text: SearchStrategy[str]) -> SearchStrategy[Reasoning]:
    """Reasoning: signed or not, shown or withheld."""
    return st.builds(
        Reasoning,
        st.none() | text,
        st.none() | data_refs(),
        redacted=st.booleans(),
        metadata=metadata(),
    )


@cache
def tool_calls(
    ids: SearchStrategy[str], text: SearchStrategy[str], names: SearchStrategy[str] | None = None
) -> SearchStrategy[ToolCall]:
    """Tool calls, good and bad."""
    return st.builds(
        ToolCall,
        ids.map(ToolCallId),
        st.just("look") if names is None else names,
        st.builds(lambda key, value: {key: value}, text, values(text)),
        st.none() | text,
        st.none() | st.just("not valid JSON"),
        metadata=metadata(),
    )


@cache
def tool_outputs(text: SearchStrategy[str]) -> SearchStrategy[ToolOutput]:
    """Whatever a tool may give."""
    parts = st.lists(contents(text), max_size=3).map(tuple)
    files = st.lists(st.builds(File, data_refs(), name=st.none() | text), max_size=2).map(tuple)
    return st.one_of(
        st.builds(TextOutput, text),
        st.builds(StructuredOutput, values(text)),
        st.builds(PartsOutput, parts),
        st.builds(FilesOutput, files),
    )


@cache
def tool_results(ids: SearchStrategy[str], text: SearchStrategy[str]) -> SearchStrategy[ToolResult]:
    """Tool results, good and bad."""
    return st.builds(
        ToolResult,
        ids.map(ToolCallId),
        tool_outputs(text),
        st.booleans(),
        st.none() | st.sampled_from(ToolFailure),
        details=values(texts()),
        usage=st.none() | usages(),
        added_tools=st.lists(st.just("look"), max_size=1).map(tuple),
        metadata=metadata(),
    )


@cache
def failures() -> SearchStrategy[ProviderFailure]:
    """Any failure of a provider."""
    return st.builds(
        ProviderFailure,
        kind=st.sampled_from(FailureKind),
        message=texts(),
        retryable=st.booleans(),
        retry_after_s=st.none() | st.floats(0, 100),
        status=st.none() | st.just(429),
        raw=values(texts()),
    )


@cache
def assistant_items(
    ids: SearchStrategy[str], text: SearchStrategy[str], names: SearchStrategy[str] | None = None
) -> SearchStrategy[Item]:
    """What a model may have said, whole or cut off."""
    parts = st.one_of(contents(text), reasoning(text), tool_calls(ids, text, names))
    return st.builds(
        Item,
        st.just(ItemKind.ASSISTANT),
        st.lists(parts, max_size=4).map(tuple),
        metadata(),
        st.none() | st.just(MessageId("m1")),
        st.none() | st.integers(0, 2**41),
        st.sampled_from(ORIGINS),
        st.none() | st.sampled_from(FinishReason),
        st.none() | usages(),
        st.none() | failures(),
        st.booleans(),
    )


@cache
def other_items(text: SearchStrategy[str]) -> SearchStrategy[Item]:
    """What others than the model and its tools say."""
    parts = st.lists(contents(text) | reasoning(text), max_size=3).map(tuple)
    return st.builds(Item, st.sampled_from(SPEAKING), parts, metadata())


@cache
def items(text: SearchStrategy[str] | None = None) -> SearchStrategy[Item]:
    """Any item."""
    said = texts() if text is None else text
    ids = st.sampled_from(CALL_IDS) if text is not None else st.sampled_from(CALL_IDS[:-1])
    results = st.lists(tool_results(ids, said), max_size=3).map(lambda some: Item.tool(*some))
    names = st.sampled_from(NAMES[:-1])
    return st.one_of(other_items(said), assistant_items(ids, said, names), results)


@cache
def any_histories() -> SearchStrategy[list[Item]]:
    """Any history, as damaged as can be: few ids, so that they meet, repeat and miss."""
    said, ids = odd_texts(), st.sampled_from(CALL_IDS)
    results = st.lists(tool_results(ids, said), max_size=3).map(lambda some: Item.tool(*some))
    calling = assistant_items(ids, said, st.sampled_from(NAMES))
    return st.one_of(st.lists(st.one_of(other_items(said), calling, results), max_size=6), _torn())


@st.composite
def _torn(draw: st.DrawFn) -> list[Item]:
    """A tidy history of which some items were lost, repeated or moved."""
    history = draw(tidy_histories())
    for way in draw(st.lists(st.sampled_from(["lose", "repeat", "move"]), max_size=3)):
        if not history:
            break
        item = history[at := draw(st.integers(0, len(history) - 1))]
        if way != "repeat":
            del history[at]
        if way != "lose":
            history.insert(draw(st.integers(0, len(history))), item)
    return history


@st.composite
def tidy_histories(draw: st.DrawFn, max_size: int = 5) -> list[Item]:
    """A history that keeps the rules of a transcript and has no open calls."""
    history: list[Item] = []
    for at, item in enumerate(draw(st.lists(_spoken(), max_size=max_size))):
        # Ids are given here, so that no two calls have the same.
        calls = [f"{call.id}{at}-{n}" for n, call in enumerate(item.tool_calls)]
        ids = iter(calls)
        history.append(
            replace(
                item,
                parts=tuple(
                    replace(part, id=next(ids)) if isinstance(part, ToolCall) else part
                    for part in item.parts
                ),
            )
        )
        if calls:
            answers = draw(st.lists(_answer(), min_size=len(calls), max_size=len(calls)))
            history.append(
                Item.tool(
                    *(
                        replace(answer, call_id=at)
                        for answer, at in zip(answers, calls, strict=True)
                    )
                )
            )
    return history


@cache
def _spoken() -> SearchStrategy[Item]:
    said = assistant_items(st.sampled_from("ab:"), texts())
    whole = said.map(lambda item: replace(item, finish_reason=None, interrupted=False))
    return st.one_of(other_items(texts()), whole)


@cache
def _answer() -> SearchStrategy[ToolResult]:
    return tool_results(st.just(""), texts())


@cache
def transcripts() -> SearchStrategy[Transcript]:
    """A transcript without open calls."""
    return tidy_histories().map(Transcript)


@cache
def id_rules() -> SearchStrategy[IdRule]:
    """Rules as providers have them: any, by characters and length, one exact length."""
    return st.one_of(
        st.just(IdRule(characters=None, max_length=None)),
        st.builds(
            IdRule,
            characters=st.sampled_from(["A-Za-z0-9_-", "A-Za-z0-9", "a-f0-9:", None]),
            max_length=st.sampled_from([12, 40, 64, None]),
        ),
        st.just(IdRule(characters="A-Za-z0-9", exact_length=9)),
    )


@cache
def targets() -> SearchStrategy[Target]:
    """Any target; its model is `HERE`."""
    extra = st.frozensets(st.sampled_from(ItemKind))
    modalities = st.frozensets(st.sampled_from(Modality))
    return st.builds(
        Target,
        provider=st.just(HERE.provider),
        api=st.just(HERE.api),
        model=st.just(HERE.model),
        kinds=extra.map(lambda some: some | {ItemKind.USER, ItemKind.ASSISTANT}),
        media=modalities,
        tool_media=modalities,
        tool_media_place=st.sampled_from(ToolMedia),
        files=st.booleans(),
        call_ids=id_rules(),
        tool_names=id_rules(),
        reasoning=st.sampled_from(ReasoningRule),
        signature_keys=st.sampled_from([(), ("an_api.signature",)]),
        reasoning_as_text=st.booleans(),
        empty_text=st.booleans(),
        consecutive_roles=st.booleans(),
        first_user=st.booleans(),
        late_system=st.booleans(),
        orphan_results=st.booleans(),
        custom_kinds=st.none() | st.just(frozenset({"app.note"})),
    )


def money(amount: str, currency: str = "USD") -> CostUsage:
    """An amount of one currency."""
    return CostUsage({currency: Decimal(amount)})
