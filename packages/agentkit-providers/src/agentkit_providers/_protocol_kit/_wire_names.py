"""Names of tools and arguments that a vendor refuses: renamed in requests, restored in answers.

Vendors refuse a whole request for one name that they do not take, and other people's servers use
dots, colons, spaces and `$` (macro-inc/macro#5921, decocms/studio#6874). So a request is renamed
before the protocol writes it, history included, and the calls of its answer have the names of the
request again. What was renamed depends on the tools of the request only.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import count
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from agentkit_core import (
    Item,
    JsonValue,
    ModelRequest,
    NamedTool,
    Part,
    ToolCall,
    ToolSpec,
)
from agentkit_core.provider import IdRule
from agentkit_providers._protocol_kit._tool_schemas import (
    NotAnObject,
    is_plain_object,
    object_schema,
)

Names = Mapping[str, str]

CLAUDE_ARGUMENTS: Final = IdRule(characters="a-zA-Z0-9_.-")
"""The names of arguments that Claude takes: "Property keys should match pattern
'^[a-zA-Z0-9_.-]{1,64}$'" (anomalyco/opencode#35516)."""

_UNNAMED: Final = "unknown_tool"


class WireNames(Struct, frozen=True):
    """How the tools of a request are named for its vendor.

    Attributes:
        tools: From names of tools to those that are sent; only of tools that are renamed.
        arguments: From the name of a tool to the names of its arguments and those that are sent;
            only of arguments that are renamed.
    """

    tools: Names
    arguments: Mapping[str, Names]

    def request(
        self, request: ModelRequest, items: Sequence[Item], tools: tuple[ToolSpec, ...]
    ) -> ModelRequest:
        """Return a request with the names for the vendor.

        Args:
            request: The request.
            items: Its items, renamed.
            tools: Its tools, renamed.
        """
        options, choice = request.options, request.options.tool_choice
        if isinstance(choice, NamedTool) and choice.name in self.tools:
            options = replace(options, tool_choice=NamedTool(self.tools[choice.name]))
        return replace(request, items=items, tools=tools, options=options)

    def specs(self, tools: Iterable[ToolSpec]) -> tuple[ToolSpec, ...]:
        """Return tools with the names for the vendor."""
        return tuple(map(self._spec, tools))

    def item(self, item: Item) -> Item:
        """Return an item with the names for the vendor; the same item where none is renamed."""
        if not any(call.name in self.tools or call.name in self.arguments
                   for call in item.tool_calls):  # fmt: skip
            return item
        return replace(item, parts=tuple(map(self._part, item.parts)))

    def notes(self) -> list[JsonValue]:
        """What was renamed, in the form of `agentkit_core.provider.RequestChange`."""
        changes = [
            (f"the name of the tool {name!r}", name, sent) for name, sent in self.tools.items()
        ]
        for tool, names in self.arguments.items():
            changes += [
                (f"the argument {name!r} of the tool {tool!r}", name, sent)
                for name, sent in names.items()
            ]
        reason = "the vendor refuses the name; calls have the original one"
        return [
            {"what": what, "asked": asked, "sent": sent, "reason": reason}
            for what, asked, sent in changes
        ]

    def _part(self, part: Part) -> Part:
        if not isinstance(part, ToolCall):
            return part
        arguments = renamed(part.input, self.arguments.get(part.name, {}))
        return replace(part, name=self.tools.get(part.name, part.name), input=arguments)

    def _spec(self, tool: ToolSpec) -> ToolSpec:
        name, names = self.tools.get(tool.name, tool.name), self.arguments.get(tool.name)
        if names is None:
            return tool if name == tool.name else replace(tool, name=name)
        schema = dict(object_schema(tool.input_schema))
        properties, required = schema.get("properties"), schema.get("required")
        if isinstance(properties, dict):
            schema["properties"] = renamed(properties, names)
        if isinstance(required, list):
            schema["required"] = [names.get(str(entry), entry) for entry in required]
        return replace(tool, name=name, input_schema=schema)


def renamed(values: Mapping[str, JsonValue], names: Names) -> dict[str, JsonValue]:
    """Return an object with other names for some of its fields, in the same order."""
    return {names.get(name, name): value for name, value in values.items()}


def wire_names(
    tools: Iterable[ToolSpec], tool_rule: IdRule, argument_rule: IdRule | None
) -> WireNames | None:
    """Find names that a vendor refuses, and others for them.

    Args:
        tools: The tools of a request.
        tool_rule: The names of tools that the vendor takes.
        argument_rule: The names of arguments that it takes; None for any.

    Returns:
        The names; None where the vendor takes all as they are. A name that is taken is not
        changed, and no two are the same afterwards.
    """
    tools = tuple(tools)
    named = _replacements([tool.name for tool in tools], tool_rule)
    arguments: dict[str, Names] = {}
    if argument_rule is not None:
        for tool in tools:
            names = _replacements(_arguments_of(tool), argument_rule)
            if names:
                arguments[tool.name] = names
    return WireNames(named, arguments) if named or arguments else None


def _arguments_of(tool: ToolSpec) -> Collection[str]:
    schema = tool.input_schema
    if not is_plain_object(schema):
        try:
            schema = dict(object_schema(schema))
        except (NotAnObject, RecursionError):
            return ()  # the tool is refused for that
    properties = schema.get("properties")
    return properties if isinstance(properties, dict) else ()


def _replacements(names: Collection[str], rule: IdRule) -> dict[str, str]:
    refused = [name for name in names if not rule.accepts(name)]
    if not refused:
        return {}
    used = set(names) - set(refused)
    replacements: dict[str, str] = {}
    for name in dict.fromkeys(refused):
        sent = rule.fit(name or _UNNAMED)
        for repeats in count():
            if sent not in used:
                break
            sent = rule.fit(f"{name}#{repeats}" if repeats else name, hashed=True)
        used.add(sent)
        replacements[name] = sent
    return replacements
