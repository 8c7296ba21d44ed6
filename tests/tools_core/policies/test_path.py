"""A path policy judges where a path leads, not how it is spelled."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from agentkit_core import ToolCallId, ToolSpec
from agentkit_tools_core import ToolInvocation
from agentkit_tools_core.permissions import (
    Allow,
    Ask,
    Decision,
    Deny,
    PathPolicy,
    PermissionRequest,
    PolicyFacts,
    UnlistedAction,
    evaluate_policy,
    permission_to_delete,
    permission_to_edit,
    permission_to_list,
    permission_to_make_directory,
    permission_to_move,
    permission_to_read,
    permission_to_run,
    permission_to_write,
)

FACTS = PolicyFacts(ToolSpec("t"), ToolInvocation(ToolCallId("1"), "t"))
ALL = [
    permission_to_read,
    permission_to_write,
    permission_to_edit,
    permission_to_delete,
    permission_to_list,
    permission_to_make_directory,
]


@pytest.fixture
def ws(tmp_path: Path) -> Path:
    """A workspace with links, beside a folder with a secret."""
    folder = tmp_path.resolve() / "ws"
    for name in ("sub", ".git/hooks", "docs"):
        (folder / name).mkdir(parents=True)
    (folder / "sub" / "f").write_text("")
    (folder.parent / "ws-evil").mkdir()
    (folder.parent / "out").mkdir()
    (folder / "l").symlink_to(folder.parent / "out")
    (folder / "dangling").symlink_to(folder.parent / "out" / "new")
    (folder / "inside").symlink_to("sub")
    return folder


def kind_of(decision: Decision | None) -> Any:
    return None if decision is None else type(decision)


@pytest.mark.parametrize("ask", ALL)
@pytest.mark.parametrize("path", ["sub/f", "new/a.txt", "sub/../sub/f", "inside/f", "sub/"])
def test_t25_what_is_in_an_allowed_folder_is_allowed(ws: Path, ask: Any, path: str) -> None:
    assert PathPolicy(allowed=(ws,))(ask(f"{ws}/{path}"), FACTS) == Allow()


@pytest.mark.parametrize("ask", ALL)
@pytest.mark.parametrize(
    "path", ["../secret", "../ws-evil/x", "sub/../../secret", "l/passwd", "l", "dangling", ".."]
)
@pytest.mark.parametrize("outside", UnlistedAction)
def test_z01_z02_every_way_out_is_asked_for_or_denied(
    ws: Path, ask: Any, path: str, outside: UnlistedAction
) -> None:
    value = f"{ws}/{path}"
    result = PathPolicy(allowed=(ws,), outside=outside)(ask(value), FACTS)

    assert isinstance(result, Ask if outside is UnlistedAction.ASK else Deny)
    assert value in (result.reason or ""), "the path is named as it was given"


def test_t26_dots_behind_what_is_not_there_are_denied(ws: Path) -> None:
    policy = PathPolicy(allowed=(ws,))

    for path in ("nope/../../outside/x", "nope/../x"):
        assert isinstance(policy(permission_to_write(ws / path), FACTS), Deny)


def test_z02_a_folder_reached_through_a_link_works(ws: Path) -> None:
    link = ws.parent / "link"
    link.symlink_to("ws")

    for root in (ws, link):
        policy = PathPolicy(allowed=(root,))
        for path in (ws / "sub/f", link / "sub/f", link):
            assert policy(permission_to_read(path), FACTS) == Allow()


def test_z02_a_link_may_not_be_deleted_from_outside_for_where_it_leads(ws: Path) -> None:
    link = ws.parent / "out" / "link"
    link.symlink_to(ws / "sub")
    policy = PathPolicy(allowed=(ws,))

    assert policy(permission_to_read(link), FACTS) == Allow()
    assert isinstance(policy(permission_to_delete(link), FACTS), Ask)
    assert isinstance(policy(permission_to_move(link, ws / "x"), FACTS), Ask)


def test_t25_the_protected_is_denied_inside_the_allowed(ws: Path) -> None:
    policy = PathPolicy(allowed=(ws,), protected=(ws / ".git",))
    (ws / "g").symlink_to(".git")

    for path in (".git", ".git/config", "g/config", "g", "sub/../.git/x"):
        for ask in ALL:
            assert isinstance(policy(ask(f"{ws}/{path}"), FACTS), Deny), (path, ask)
    assert policy(permission_to_read(ws / ".gitignore"), FACTS) == Allow()


def test_t25_the_protected_is_not_taken_away_with_the_folder_it_is_in(ws: Path) -> None:
    policy = PathPolicy(allowed=(ws,), protected=(ws / ".git" / "hooks",))

    assert isinstance(policy(permission_to_delete(ws / ".git"), FACTS), Deny)
    assert isinstance(policy(permission_to_move(ws / ".git", ws / "x"), FACTS), Deny)
    assert policy(permission_to_list(ws / ".git"), FACTS) == Allow()


def test_t25_the_protected_is_known_by_another_name(ws: Path) -> None:
    secret = ws / "sub" / "f"
    os.link(secret, ws / "other")

    policy = PathPolicy(allowed=(ws,), protected=(secret,))
    assert isinstance(policy(permission_to_read(ws / "other"), FACTS), Deny)


def test_t25_what_is_protected_and_not_there_yet_is_so_in_any_letters(ws: Path) -> None:
    policy = PathPolicy(allowed=(ws,), protected=(ws / ".env", ws / "é"))

    for name in (".env", ".ENV", ".Env/x", "e\u0301"):
        assert isinstance(policy(permission_to_write(ws / name), FACTS), Deny)
    assert policy(permission_to_write(ws / ".environment"), FACTS) == Allow()


def test_t25_the_protected_is_not_taken_away_where_letters_do_not_matter(
    ws: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = PathPolicy(allowed=(ws,), protected=(ws / ".git" / "hooks",))
    here, really = ws.parent, Path.lstat

    def folded(path: Path) -> os.stat_result:
        if not path.is_relative_to(here):
            return really(path)
        return really(here / str(path.relative_to(here)).lower())

    monkeypatch.setattr(Path, "lstat", folded)
    assert isinstance(policy(permission_to_delete(ws / ".GIT"), FACTS), Deny)
    assert policy(permission_to_delete(ws / "SUB"), FACTS) == Allow()


def test_a_hard_link_is_allowed_where_it_is(ws: Path) -> None:
    (ws.parent / "secret").write_text("")
    os.link(ws.parent / "secret", ws / "hard")

    assert PathPolicy(allowed=(ws,))(permission_to_read(ws / "hard"), FACTS) == Allow()


def test_t25_the_protected_link_is_protected_itself(ws: Path) -> None:
    policy = PathPolicy(allowed=(ws,), protected=(ws / "later",))
    (ws / "later").symlink_to("sub")

    assert isinstance(policy(permission_to_delete(ws / "later"), FACTS), Deny)


@pytest.mark.parametrize("ask", ALL)
def test_t25_the_read_only_is_not_changed(ws: Path, ask: Any) -> None:
    policy = PathPolicy(allowed=(ws,), read_only=(ws / "docs",))
    result = policy(ask(ws / "docs" / "x"), FACTS)

    assert kind_of(result) is (Allow if ask in (permission_to_read, permission_to_list) else Deny)


def test_t25_both_ends_of_a_move_count_as_changed(ws: Path) -> None:
    policy = PathPolicy(allowed=(ws,), read_only=(ws / "docs",))

    assert policy(permission_to_move(ws / "a", ws / "b"), FACTS) == Allow()
    for source, target in (("docs/a", "b"), ("a", "docs/b")):
        assert isinstance(policy(permission_to_move(ws / source, ws / target), FACTS), Deny)
    for source, target in (("../a", "b"), ("a", "../b"), ("a", "l/b")):
        assert isinstance(policy(permission_to_move(ws / source, ws / target), FACTS), Ask)


def test_z01_a_second_end_counts_for_kinds_that_are_not_known_as_well(ws: Path) -> None:
    policy = PathPolicy(allowed=(ws,), protected=(ws / ".git",))

    def copy(target: object) -> Decision | None:
        facts: Any = {"filesystem.path": str(ws / "a"), "filesystem.target": target}
        return policy(PermissionRequest("filesystem.copy", "s", facts), FACTS)

    assert copy(str(ws / "b")) == Allow()
    assert isinstance(copy("/elsewhere/x"), Ask)
    assert isinstance(copy(str(ws / ".git" / "x")), Deny)
    assert isinstance(copy(None), Deny)


def test_t25_without_allowed_folders_there_is_no_opinion(ws: Path) -> None:
    policy = PathPolicy(protected=(ws / ".git",))

    assert policy(permission_to_read(ws / "x"), FACTS) is None
    assert isinstance(policy(permission_to_read(ws / ".git"), FACTS), Deny)
    assert policy(permission_to_run(["ls"]), FACTS) is None


@pytest.mark.parametrize("facts", [{}, {"filesystem.path": 1}, {"filesystem.path": ""}])
@pytest.mark.parametrize("kind", ["filesystem.read", "filesystem.move", "filesystem.unheard_of"])
def test_a_request_without_a_path_is_denied(ws: Path, facts: dict[str, Any], kind: str) -> None:
    policy = PathPolicy(allowed=(ws,))

    assert isinstance(policy(PermissionRequest(kind, "s", facts), FACTS), Deny)


def test_a_kind_that_is_not_known_counts_as_changing(ws: Path) -> None:
    policy = PathPolicy(allowed=(ws,), read_only=(ws,))
    request = PermissionRequest("filesystem.chmod", "s", {"filesystem.path": str(ws / "x")})

    assert isinstance(policy(request, FACTS), Deny)


@pytest.mark.parametrize("path", ["/a\0b", "/\ud800/../x"])
def test_what_is_no_path_is_denied(ws: Path, path: str) -> None:
    policy = PathPolicy(allowed=(ws,))

    assert isinstance(evaluate_policy(policy, permission_to_read(path), FACTS), Deny)


@pytest.mark.parametrize(
    "settings",
    [
        {"allowed": "/w"},
        {"protected": 1},
        {"read_only": [1]},
        {"allowed": [""]},
        {"outside": "maybe"},
        {"protected": ["/nope/../x"]},
    ],
)
def test_a_bad_setting_is_refused_when_the_policy_is_made(settings: dict[str, Any]) -> None:
    with pytest.raises((TypeError, ValueError)):
        PathPolicy(**settings)


def test_lists_may_be_any_sequence_of_texts_and_paths(ws: Path) -> None:
    from_list = PathPolicy(allowed=[ws, f"{ws.parent}/out"], protected=[ws / ".git"])

    assert from_list == PathPolicy(allowed=(f"{ws}", ws.parent / "out"), protected=(ws / ".git",))
    assert hash(from_list) == hash(PathPolicy(allowed=from_list.allowed, protected=[ws / ".git"]))
    assert from_list(permission_to_read(ws / "sub" / "f"), FACTS) == Allow()
