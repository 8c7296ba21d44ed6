"""Where paths lead is said as the operating system would, or not at all."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit_core import ToolCallId, ToolSpec
from agentkit_tools_core import ToolInvocation
from agentkit_tools_core.permissions import (
    Allow,
    PathPolicy,
    PolicyFacts,
    UnresolvablePath,
    is_within,
    open_checked,
    permission_to_read,
    permission_to_write,
    resolve_path,
)
from support.examples import examples

FACTS = PolicyFacts(ToolSpec("t"), ToolInvocation(ToolCallId("1"), "t"))

names = st.sampled_from(["a", "b", "c", ".."])
some_paths = st.lists(names, min_size=1, max_size=5).map("/".join)
links = st.dictionaries(
    st.lists(st.sampled_from("abc"), min_size=1, max_size=3).map("/".join),
    st.none() | some_paths | st.sampled_from(["@out/none", "@out", "@ws", "@ws/a"]),
    max_size=6,
)
"""From a path in the tree to what it links to; None is a folder."""


def plant(folder: Path, tree: dict[str, str | None]) -> Path:
    """Make a tree of folders and links, as far as one part of it leaves room for another."""
    workspace, outside = folder / "ws", folder / "out"
    for value in (workspace, outside / "c"):
        value.mkdir(parents=True)
    (outside / "secret").write_text("secret")
    for name, target in tree.items():
        path = workspace / name
        try:
            if not is_within(resolve_path(path.parent), workspace):
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            if target is None:
                path.mkdir()
            else:
                target = target.replace("@ws", str(workspace)).replace("@out", str(outside))
                path.symlink_to(target)
        except (OSError, UnresolvablePath):
            continue
    return workspace


@pytest.fixture
def real(tmp_path: Path) -> Path:
    return tmp_path.resolve()


@examples(150)
@given(links, some_paths)
def test_z02_whatever_is_allowed_resolves_inside_an_allowed_folder(
    tree: dict[str, str | None], path: str
) -> None:
    with TemporaryDirectory() as created:
        folder = Path(created).resolve()
        workspace = plant(folder, tree)
        policy = PathPolicy(allowed=[workspace])
        requests = f"{workspace}/{path}"

        if policy(permission_to_read(requests), FACTS) == Allow():
            there = os.path.realpath(requests)
            assert is_within(Path(there), workspace)
        if policy(permission_to_write(requests), FACTS) == Allow():
            # Even once all folders were made, and the file written.
            with suppress(OSError):
                Path(requests).parent.mkdir(parents=True, exist_ok=True)
                Path(requests).write_text("written")
            assert {value.name for value in folder.iterdir()} == {"ws", "out"}
            assert {value.name for value in (folder / "out").iterdir()} == {"c", "secret"}
            assert (folder / "out" / "secret").read_text() == "secret"
            assert not [*(folder / "out" / "c").iterdir()]


@examples(100)
@given(links, some_paths)
def test_z02_what_is_there_resolves_as_the_operating_system_says(
    tree: dict[str, str | None], path: str
) -> None:
    with TemporaryDirectory() as created:
        workspace = plant(Path(created).resolve(), tree)
        requests = f"{workspace}/{path}"
        try:
            expected = os.path.realpath(requests, strict=True)
        except OSError:
            return
        assert resolve_path(requests) == Path(expected)


@pytest.mark.parametrize("path", ["nope/../../outside/x", "file/../x", "dangling/../x"])
def test_t26_nobody_says_what_dots_mean_behind_what_is_no_folder(real: Path, path: str) -> None:
    (real / "file").write_text("")
    (real / "dangling").symlink_to("nowhere")

    with pytest.raises(UnresolvablePath, match=r"'\.\.' follows"):
        resolve_path(real / path)


def test_links_in_a_circle_lead_nowhere(real: Path) -> None:
    (real / "a").symlink_to("b")
    (real / "b").symlink_to("a")

    with pytest.raises(UnresolvablePath, match="form a cycle"):
        resolve_path(real / "a" / "x")


def test_what_is_no_path_leads_nowhere() -> None:
    with pytest.raises(UnresolvablePath):
        resolve_path("/a\0b")


def test_two_slashes_at_the_start_are_one(real: Path) -> None:
    assert resolve_path(f"/{real}") == real


def test_z01_a_folder_is_not_inside_one_whose_name_it_continues() -> None:
    assert is_within(Path("/w/app/x"), Path("/w/app"))
    assert is_within(Path("/w/app"), Path("/w/app"))
    assert not is_within(Path("/w/app-evil/x"), Path("/w/app"))
    assert not is_within(Path("/w"), Path("/w/app"))


# Opening


def read(path: str, root: Path) -> str:
    with os.fdopen(open_checked(path, root)) as file:
        return file.read()


def test_z02_a_file_is_opened_through_links_that_stay_inside(real: Path) -> None:
    (real / "ws" / "sub").mkdir(parents=True)
    (real / "ws" / "sub" / "f").write_text("found")
    (real / "ws" / "l").symlink_to("sub")
    (real / "root").symlink_to("ws")

    assert read("l/f", real / "root") == "found"
    assert read(str(real / "root" / "sub" / "f"), real / "root") == "found"


@pytest.mark.parametrize("path", ["l/passwd", "../x", "/etc/passwd", "nope/../../x", ".", "d"])
def test_z02_nothing_outside_is_opened_or_made(real: Path, path: str) -> None:
    (real / "ws").mkdir()
    (real / "ws" / "l").symlink_to("/etc")
    (real / "ws" / "d").symlink_to(real / "made")

    with pytest.raises(PermissionError):
        open_checked(path, real / "ws", os.O_WRONLY | os.O_CREAT)
    assert [value.name for value in real.iterdir()] == ["ws"]


@pytest.mark.parametrize(("swapped", "target"), [("sub", "out"), ("sub/f", "out/f")])
def test_z02_a_link_put_in_place_after_the_check_is_not_followed(
    real: Path, swapped: str, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (real / "ws" / "sub").mkdir(parents=True)
    (real / "ws" / "sub" / "f").write_text("inside")
    (real / "out").mkdir()
    (real / "out" / "f").write_text("outside")
    really = os.open
    calls: list[object] = []

    def swap(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if not calls:
            (real / "ws" / swapped).rename(real / "gone")
            (real / "ws" / swapped).symlink_to(
                real / "out" / swapped.removeprefix("sub").lstrip("/")
            )
        calls.append(path)
        return really(path, flags, mode, dir_fd=dir_fd)

    monkeypatch.setattr(os, "supports_dir_fd", {swap})
    monkeypatch.setattr(os, "open", swap)
    with pytest.raises(OSError, match=r"Not a directory|symbolic links"):
        read("sub/f", real / "ws")


def test_what_is_neither_file_nor_folder_is_not_opened_and_nobody_waits(real: Path) -> None:
    os.mkfifo(real / "pipe")
    (real / "f").write_text("x")

    with pytest.raises(PermissionError, match="neither a file nor a folder"):
        open_checked("pipe", real)
    descriptor = open_checked("f", real)
    assert os.get_blocking(descriptor)
    os.close(descriptor)


@pytest.mark.skipif(not Path("/proc/self/root").exists(), reason="there is no /proc")
@pytest.mark.parametrize("link", ["self/root", "self/cwd", "thread-self/root", "self/fd/0"])
def test_z02_what_a_process_has_open_is_not_where_its_link_says(link: str) -> None:
    with pytest.raises(UnresolvablePath, match="has open"):
        resolve_path(f"/proc/{link}/etc")
    assert resolve_path("/proc/self") == Path(f"/proc/{os.getpid()}")


def test_a_relative_path_leads_nowhere_from_a_folder_that_is_gone(
    real: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (real / "gone").mkdir()
    monkeypatch.chdir(real / "gone")
    (real / "gone").rmdir()

    with pytest.raises(UnresolvablePath, match="current folder does not exist"):
        resolve_path("x")
