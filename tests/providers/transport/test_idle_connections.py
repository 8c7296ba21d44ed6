"""Idle connections: the newest is used again, the oldest is closed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agentkit_providers.transport._idle_connections import IdleConnections

STEPS = st.lists(
    st.tuples(st.sampled_from(["add", "pop", "expire", "any"]), st.sampled_from("abc")),
    max_size=60,
)


@given(STEPS, st.integers(1, 6), st.integers(0, 8))
def test_it_works_like_a_list_of_connections_by_age(
    steps: list[tuple[str, str]], max_count: int, max_age: int
) -> None:
    idle: IdleConnections[int] = IdleConnections(max_count=max_count, max_age_s=max_age)
    model: list[tuple[int, str]] = []  # a connection is the number of the step that added it
    for now, (step, server) in enumerate(steps):
        expected = None
        if step == "add":
            model.append((now, server))
            if len(model) > max_count:
                expected, _ = model.pop(0)
            assert idle.add(server, now, now) == expected
        elif step == "pop":
            mine = [entry for entry in model if entry[1] == server]
            if mine:
                model.remove(mine[-1])
                expected = mine[-1][0]
            assert idle.pop(server) == expected
        elif step == "expire":
            if model and now - model[0][0] > max_age:
                expected, _ = model.pop(0)
            assert idle.pop_expired(now) == expected
        else:
            if model:
                expected, _ = model.pop(0)
            assert idle.pop_any() == expected
        assert len(idle) == len(model)


def test_servers_that_are_not_used_any_more_leave_nothing() -> None:
    idle: IdleConnections[int] = IdleConnections(max_count=2, max_age_s=30)
    for number in range(1000):
        idle.add(f"server {number}", number, number)

    assert len(idle._of_server) == 2
