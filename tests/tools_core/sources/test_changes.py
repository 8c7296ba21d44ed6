"""Between two looks at a source nothing is lost."""

from __future__ import annotations

from hashlib import sha256

from hypothesis import given
from hypothesis import strategies as st

from agentkit_core import ToolSpec
from agentkit_tools_core import CatalogueChanges, ToolRegistry, catalogue_changes, spec_digests
from agentkit_tools_core.testing import ScriptedTool

catalogues = st.dictionaries(st.sampled_from("abcd"), st.sampled_from(["one", "two"])).map(
    lambda result: tuple(ToolSpec(name, text) for name, text in result.items())
)


@given(catalogues, catalogues)
def test_t16_changes_lead_from_the_one_to_the_other(
    before: tuple[ToolSpec, ...], after: tuple[ToolSpec, ...]
) -> None:
    changes = catalogue_changes(spec_digests(before), after)

    events = {spec.name: spec for spec in before}
    for name in changes.removed:
        del events[name]
    new = {spec.name: spec for spec in after}
    for name in (*changes.added, *changes.changed):
        assert events.get(name) != new[name]
        events[name] = new[name]
    assert events == new
    assert bool(changes) == (spec_digests(before) != spec_digests(after))


def test_t14_replacing_all_is_one_difference() -> None:
    registry = ToolRegistry([ScriptedTool("t1")])
    received = spec_digests(registry.specs())
    registry.replace_all([ScriptedTool("t2")])

    assert catalogue_changes(received, registry.specs()) == CatalogueChanges(("t2",), ("t1",))


def test_a_digest_is_the_same_in_any_process() -> None:
    data = b'{"description":"d","input_schema":{"type":"object"},"name":"t"}'
    spec = ToolSpec("t", "d", {"type": "object"})

    assert spec_digests([spec]) == {"t": sha256(data).hexdigest()[:16]}
