"""What a run reports of usage is what the vendors said, over all recorded exchanges."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agentkit_core import TokenUsage
from agentkit_loop import Agent
from agentkit_loop.testing import Reply, ScriptedModel
from agentkit_reporting import UsageReporter
from providers import corpus
from providers.corpus import COUNTS_THAT_DO_NOT_ADD_UP, Exchange


def numbers_of(exchange: Exchange) -> dict[str, int]:
    """The vendor's numbers for one answer: its prompt, its output and the sum of both.

    `expected` has them as the vendor's own SDK has read them; the README beside the recordings
    says what each vendor counts where.
    """
    raw: dict[str, int] = exchange["expected"].get("usage") or _only_in_groqs_own_field(exchange)
    if (exchange["protocol"], exchange["vendor"]) in COUNTS_THAT_DO_NOT_ADD_UP:
        raw = corpus.adds_up(raw, _report_in(exchange))
    counts = {key: value or 0 for key, value in raw.items()}
    if not counts:
        return {}
    prompt = counts["input"] + counts.get("tool_use_input", 0)
    if exchange["protocol"] == "anthropic-messages":
        prompt += counts.get("cache_read", 0) + counts.get("cache_write", 0)
        total = prompt + counts["output"]
    else:
        total = counts["total"]
    return {"prompt": prompt, "output": total - prompt, "total": total}


def _only_in_groqs_own_field(exchange: Exchange) -> dict[str, int]:
    """The numbers of a stream that reports them where the vendor's SDK does not look."""
    found = re.findall(r'"x_groq":(\{.*\})\}', exchange.get("sse") or "")
    for report in (json.loads(each).get("usage") for each in reversed(found)):
        if report:
            return {
                "input": report["prompt_tokens"],
                "output": report["completion_tokens"],
                "total": report["total_tokens"],
            }
    return {}


def _report_in(exchange: Exchange) -> Mapping[str, Any]:
    response = exchange.get("response") or {}
    return response.get("usage") or {} if isinstance(response, dict) else {}


def test_u01_usage_totals_are_the_sum_of_the_vendors_own_numbers(shared: Path) -> None:
    reporter = UsageReporter()
    sums: dict[str, Counter[str]] = {}
    requests = 0
    for exchange in corpus.exchanges(shared / "wire-corpus" / "dev"):
        if exchange["status"] >= 400:
            continue
        requests += 1
        protocol = exchange["protocol"]
        events = corpus.events_of(
            exchange, corpus.projection_of(exchange), [corpus.body_of(exchange)]
        )
        model = ScriptedModel(Reply(batches=(events,)), name=protocol)
        with Agent(model=model, reporters=[reporter]).session_blocking() as session:
            session.submit("go")
            while not model.requests:
                session.next()
        sums.setdefault(protocol, Counter()).update(numbers_of(exchange))
    summary = reporter.summary()

    def told(tokens: TokenUsage) -> dict[str, int | None]:
        return {"prompt": tokens.prompt, "output": tokens.output, "total": tokens.total}

    assert {name: told(usage.tokens) for name, usage in summary.models.items()} == sums
    assert requests > 300
    assert told(summary.total.tokens) == sum(sums.values(), Counter())
