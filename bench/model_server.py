"""A model server that replays pre-encoded Chat Completions streams over HTTP/1.1.

Runs as a separate process and prints its port. The name of the model selects the answer:

    text-N     N text deltas
    tool-N     one call of `write` whose arguments come in N deltas; after its result, a short text
    loop-K-P   K rounds of P calls of `add`, then a short text
"""

from __future__ import annotations

import asyncio
import json
import re
from functools import lru_cache

FRAGMENTS = (" the", " answer", " to", " life", ",", " uni", "verse", " naïve", ' "quoted"', "\n")
MODEL = re.compile(rb'"model":\s*"(text|tool|loop)-(\d+)(?:-(\d+))?"')
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
SHORT = 10


def fragments(count: int) -> list[str]:
    return [FRAGMENTS[n % len(FRAGMENTS)] for n in range(count)]


def text_length(count: int) -> int:
    return sum(map(len, fragments(count)))


def _chunk(delta: dict[str, object], finish: str | None = None) -> bytes:
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "bench",
        "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}],
    }
    return b"data: " + json.dumps(body, ensure_ascii=False).encode() + b"\n\n"


def _call(index: int, name: str, arguments: list[str], call_id: str) -> list[bytes]:
    head = {"id": call_id, "type": "function", "function": {"name": name, "arguments": ""}}
    pieces = [{"index": index, **head}]
    pieces += [{"index": index, "function": {"arguments": text}} for text in arguments]
    return [_chunk({"tool_calls": [piece]}) for piece in pieces]


def text_events(count: int) -> list[bytes]:
    deltas = [_chunk({"content": text}) for text in fragments(count)]
    return [_chunk({"role": "assistant", "content": ""}), *deltas, _chunk({}, "stop"), *_end()]


def tool_events(count: int) -> list[bytes]:
    inside = [json.dumps(text, ensure_ascii=False)[1:-1] for text in fragments(count - 2)]
    arguments = ['{"path":"notes.txt","content":"', *inside, '"}']
    return [*_call(0, "write", arguments, "call_w"), _chunk({}, "tool_calls"), *_end()]


def loop_events(number: int, parallel: int) -> list[bytes]:
    calls = [
        event
        for index in range(parallel)
        for event in _call(
            index, "add", ['{"a":', str(number), ',"b":', f"{index}}}"], f"call_{number}_{index}"
        )
    ]
    return [*calls, _chunk({}, "tool_calls"), *_end()]


def _end() -> list[bytes]:
    usage = {"prompt_tokens": 10, "completion_tokens": 20, "total_tokens": 30}
    last = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "bench"}
    body = json.dumps({**last, "choices": [], "usage": usage}).encode()
    return [b"data: " + body + b"\n\n", b"data: [DONE]\n\n"]


@lru_cache(maxsize=256)
def answer(kind: str, count: int, parallel: int) -> bytes:
    match kind:
        case "text":
            events = text_events(count)
        case "tool":
            events = tool_events(count)
        case _:
            events = loop_events(count, parallel)
    return HEAD + b"".join(b"%x\r\n%b\r\n" % (len(event), event) for event in events) + b"0\r\n\r\n"


def answer_to(body: bytes) -> bytes:
    model = MODEL.search(body)
    if model is None:
        return b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n"
    kind, count, parallel = model[1].decode(), int(model[2]), int(model[3] or 0)
    results = body.count(b'"tool_call_id"')
    if kind == "tool" and results:
        return answer("text", SHORT, 0)
    if kind == "loop":
        number = results // parallel
        return answer("loop", number, parallel) if number < count else answer("text", SHORT, 0)
    return answer(kind, count, parallel)


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            length = re.search(rb"\r\ncontent-length:\s*(\d+)", head, re.IGNORECASE)
            body = await reader.readexactly(int(length[1]) if length else 0)
            writer.write(answer_to(body))
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def main() -> None:
    server = await asyncio.start_server(serve, "127.0.0.1", 0, limit=2**26, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
