"""Rules about options that are alike in several protocols. Each protocol's table names its own."""

from __future__ import annotations

from agentkit_core import ThinkingLevel, ToolChoiceMode
from agentkit_core.cache import CacheMode
from agentkit_providers._protocol_kit._fitting import Draft
from agentkit_providers._protocol_kit._model_traits import ForcedCalls, ModelTraits
from agentkit_providers._protocol_kit._unsupported import requires_call


def fit_sampling(draft: Draft, traits: ModelTraits) -> None:
    """Leave out `temperature` and `top_p`, or lower the temperature."""
    options = draft.options
    if not traits.sampling:
        for name in ("temperature", "top_p"):
            if getattr(options, name) is not None:
                draft.drop(name)
        return
    asked = options.temperature
    if asked is not None and asked > traits.max_temperature:
        draft.set_options(temperature=traits.max_temperature)
        reason = "the vendor takes no higher temperature"
        draft.note("temperature", asked, traits.max_temperature, reason)


def fit_stop_sequences(draft: Draft, traits: ModelTraits) -> None:
    """Leave out stop sequences that the model does not take."""
    asked, most = draft.options.stop_sequences, traits.max_stop_sequences
    if not asked or most is None or len(asked) <= most:
        return
    if most == 0:
        draft.drop("stop_sequences")
        return
    draft.set_options(stop_sequences=asked[:most])
    reason = f"the vendor takes at most {most}"
    draft.note("stop_sequences", list(asked), list(asked[:most]), reason)


def fit_seed(draft: Draft, traits: ModelTraits) -> None:
    """Leave out the seed."""
    if draft.options.seed is not None and not traits.seed:
        draft.drop("seed")


def fit_parallel_calls(draft: Draft, traits: ModelTraits) -> None:
    """Leave out the limit on the calls of a round."""
    if draft.options.parallel_tool_calls is not None and not traits.parallel_calls:
        draft.drop("parallel_tool_calls")


def fit_output_limit(draft: Draft, traits: ModelTraits) -> None:
    """Bring the limit on the output into the range that the model takes."""
    asked = draft.options.max_output_tokens
    if asked is None:
        return
    sent = max(asked, traits.min_output_tokens)
    if traits.max_output_tokens is not None:
        sent = min(sent, traits.max_output_tokens)
    if sent != asked:
        draft.set_options(max_output_tokens=sent)
        draft.note("max_output_tokens", asked, sent, "the model takes no other limit")


def fit_forced_call(draft: Draft, traits: ModelTraits) -> None:
    """Turn thinking off for a required call; where that is not possible, do not require it."""
    options = draft.options
    if not requires_call(options.tool_choice) or traits.forced_calls is ForcedCalls.ALWAYS:
        return
    asked = options.thinking
    thinks = traits.thinks if asked is None else asked is not ThinkingLevel.OFF
    if traits.can_stop_thinking:
        if thinks:
            draft.set_options(thinking=ThinkingLevel.OFF)
            reason = "the model does not think where a call is required"
            draft.note("thinking", None if asked is None else asked.value, "off", reason)
        return
    if not (thinks or traits.thinks):
        return
    choice = options.tool_choice
    said = choice.value if isinstance(choice, ToolChoiceMode) else getattr(choice, "name", None)
    draft.set_options(tool_choice=ToolChoiceMode.AUTO)
    draft.note("tool_choice", said, "auto", "the model cannot be made to call a tool")


def fit_cache(draft: Draft, traits: ModelTraits) -> None:
    """Leave out a request for caching that the vendor has no field for, where it is optional."""
    cache = draft.options.cache
    if cache is not None and cache.mode is CacheMode.BEST_EFFORT and not traits.caches:
        draft.drop("cache")
