"""generateContent requests: what means the same."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from providers.requests.reading import Body
from providers.requests.rules import OPAQUE, Rule, by_content, drop_nulls

RESERVED: Final = {"output", "error"}
_SCHEMAS: Final = {"parameters": "parametersJsonSchema", "responseSchema": "responseJsonSchema"}


def _camel_names(value: Any) -> None:
    if isinstance(value, dict):
        for key in list(value):
            name = re.sub(r"_([a-z])", lambda found: found[1].upper(), key)
            value[name] = one = value.pop(key)
            if name not in OPAQUE:
                _camel_names(one)
    elif isinstance(value, list):
        for entry in value:
            _camel_names(entry)


def _contents(body: Any) -> Iterator[Body]:
    yield from body.get("contents") or ()
    if "systemInstruction" in body:
        yield body["systemInstruction"]


def _unsaid_config(body: Any) -> None:
    if body.get("generationConfig") == {}:
        del body["generationConfig"]


def _unthought_by_default(body: Any) -> None:
    for content in _contents(body):
        for part in content.get("parts", ()):
            if part.get("thought") is False:
                del part["thought"]


def _system_without_role(body: Any) -> None:
    body.get("systemInstruction", {}).pop("role", None)


def _unsaid_descriptions(body: Any) -> None:
    for declaration in _declarations(body):
        if declaration.get("description") == "":
            del declaration["description"]


def _declarations(body: Any) -> Iterator[Body]:
    for tool in body.get("tools") or ():
        yield from tool.get("functionDeclarations", ())


def _json_schemas(body: Any) -> None:
    for entry in (*_declarations(body), body.get("generationConfig", {})):
        for name, newer in _SCHEMAS.items():
            if name in entry:
                entry[newer] = entry.pop(name)
            if newer in entry:
                _small_types(entry[newer])


def _small_types(schema: Any) -> None:
    if isinstance(schema, dict):
        if isinstance(schema.get("type"), str):
            schema["type"] = schema["type"].lower()
        for entry in schema.values():
            _small_types(entry)
    elif isinstance(schema, list):
        for entry in schema:
            _small_types(entry)


def _each_by_itself(body: Any) -> None:
    if "tools" not in body:
        return
    functions = list(_declarations(body))
    body["tools"] = [
        {name: one}
        for tool in body["tools"]
        for name, one in tool.items()
        if name != "functionDeclarations"
    ]
    if functions:
        body["tools"].append({"functionDeclarations": functions})
    by_content(body["tools"])


def _listed_parts(body: Any) -> None:
    for content in _contents(body):
        if isinstance(content.get("parts"), dict):
            content["parts"] = [content["parts"]]


def _roles(body: Any) -> None:
    contents: list[Body] = []
    for content in body.get("contents") or ():
        if content.get("role", "function") == "function":
            content["role"] = "user"
        if contents and contents[-1]["role"] == content["role"]:
            contents[-1].setdefault("parts", []).extend(content.get("parts", []))
        else:
            contents.append(content)
    if "contents" in body:
        body["contents"] = contents


def _said_arguments(body: Any) -> None:
    for content in _contents(body):
        for part in content.get("parts", ()):
            if "functionCall" in part:
                part["functionCall"].setdefault("args", {})


def _no_parameters(body: Any) -> None:
    for declaration in _declarations(body):
        declaration.setdefault("parametersJsonSchema", {"type": "object", "properties": {}})


def _whole_output(body: Any) -> None:
    for content in _contents(body):
        for part in content.get("parts", ()):
            result = part.get("functionResponse", {})
            match result.get("response"):
                case {"output": dict(output), **rest} if not rest and not output.keys() & RESERVED:
                    result["response"] = output


RULES: Final = (
    Rule(
        "names with underscores are names in camel case",
        "the JSON of protocol buffers takes both",
        _camel_names,
    ),
    Rule("null is absence", "so it is in the JSON of protocol buffers", drop_nulls),
    Rule("one part is a list of one", "both are taken", _listed_parts),
    Rule("an empty config is absence", "all of its fields have their default", _unsaid_config),
    Rule("thought: false is absence", "false is its default", _unthought_by_default),
    Rule("an empty description is absence", "so it is in protocol buffers", _unsaid_descriptions),
    Rule(
        "neighbours of one role are one content; a role that is not said is the user's, and so "
        "are results",
        "a turn goes on until the other speaks; the role of functions is an older one",
        _roles,
    ),
    Rule("no arguments are an empty object", "a call may leave them out", _said_arguments),
    Rule(
        "an output that is an object is the response",
        "without the keys output and error the whole response is said to be the output",
        _whole_output,
    ),
    Rule(
        "a system instruction has no role",
        "it is documented as text only, and its role as ignored",
        _system_without_role,
    ),
    Rule(
        "a schema is a JSON schema, whatever the case of its types",
        "there is a field for either dialect, of which one is to be used",
        _json_schemas,
    ),
    Rule(
        "no parameters are an object without properties",
        "a function without parameters may leave them out",
        _no_parameters,
    ),
    Rule(
        "tools stand each by itself, in any order, and functions in one list",
        "a tool is said to be an object in which any of them may stand",
        _each_by_itself,
    ),
)
