"""Cache marks of Chat Completions requests, in Anthropic's manner."""

from __future__ import annotations

from agentkit_core.cache import CacheRequest, CacheRetention
from providers.requests.reading import Body, NotExpressible


def planned_cache(body: Body) -> CacheRequest | None:
    """The cache request that places the marks of a body; None where there are none.

    Raises:
        NotExpressible: The marks stand beside messages, or elsewhere than a plan puts them.
    """
    messages = body["messages"]
    entries = {
        (at, place): entry.get("cache_control")
        for at, message in enumerate(messages)
        for place, entry in enumerate(message.get("content", ()))
    }
    tools = dict(enumerate(tool.get("cache_control") for tool in body.get("tools", ())))
    beside = {at: one["cache_control"] for at, one in enumerate(messages) if "cache_control" in one}
    marks = [entry for entry in (*entries.values(), *tools.values(), *beside.values()) if entry]
    if not marks:
        return None
    if beside:
        raise NotExpressible("cache marks beside messages; this protocol's encoder marks texts")
    last = [
        [at for at, one in enumerate(messages) if one["role"] in roles and one.get("content")][-1:]
        for roles in (("system", "developer"), ("user", "assistant"))
    ]
    planned = {(at, len(messages[at]["content"]) - 1) for group in last for at in group}
    placed = {place for place, one in entries.items() if one}
    on_tools = [at for at, one in tools.items() if one]
    ours = placed == planned and on_tools == list(tools)[-1:]
    if not ours or any(mark != marks[0] for mark in marks):
        raise NotExpressible(
            "cache marks at places of the sender's choice, which are not read back here"
        )
    ttl = marks[0].get("ttl")
    if ttl not in (None, "1h"):
        raise NotExpressible(f"a cache that is to be kept for {ttl}")
    retention = CacheRetention.EXTENDED if ttl == "1h" else CacheRetention.DEFAULT
    return CacheRequest(retention=retention)
