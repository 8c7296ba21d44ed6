"""What is stored is read back piece by piece, whole, and by nobody else."""

from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit_core import ArtifactId, SessionId, ToolCallId
from agentkit_tools_core.artifacts import (
    ArtifactStore,
    FileArtifacts,
    InvalidOffset,
    MemoryArtifacts,
    UnknownArtifact,
)
from support.examples import examples

S, C = SessionId("s"), ToolCallId("c")
STORES: list[Callable[[Path], ArtifactStore]] = [lambda _: MemoryArtifacts(), FileArtifacts]


@pytest.fixture(params=STORES, ids=["memory", "file"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> ArtifactStore:
    created: ArtifactStore = request.param(tmp_path / "new" / "folder")
    return created


texts = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("aé€😀"), max_size=60)


@examples(40)
@given(texts, st.lists(st.integers(1, 20), min_size=1, max_size=5), st.sampled_from(STORES))
def test_t28_pieces_chained_by_next_offset_are_the_whole(
    text: str, limits: list[int], make: Callable[[Path], ArtifactStore]
) -> None:
    with TemporaryDirectory() as folder:
        store = make(Path(folder))
        result = store.put(S, C, text)
        decoded, offset, turns = "", 0, 0
        while True:
            limit = limits[turns % len(limits)]
            piece = store.read(result, offset, limit)
            decoded += piece.content
            assert (piece.id, piece.offset) == (result, offset)
            assert piece.next_offset == offset + len(piece.content.encode())
            assert piece.original_bytes == len(text.encode())
            assert piece.eof == (piece.next_offset == piece.original_bytes)
            assert len(piece.content.encode()) <= limit or len(piece.content) == 1
            offset, turns = piece.next_offset, turns + 1
            if piece.eof:
                break
            assert piece.content, "reading always gets on"

    assert decoded == text


def test_t28_an_offset_is_between_two_characters(store: ArtifactStore) -> None:
    result = store.put(S, C, "aé€")

    for offset in (2, 4, 5, -1, 7):
        with pytest.raises(InvalidOffset) as caught:
            store.read(result, offset, 10)
        assert caught.value.offset == offset
        assert str(offset) in str(caught.value)
    assert store.read(result, 6, 10).eof


def test_t28_a_piece_has_at_least_one_byte_of_room(store: ArtifactStore) -> None:
    result = store.put(S, C, "a")

    with pytest.raises(ValueError, match="at least 1"):
        store.read(result, 0, 0)


@pytest.mark.parametrize("name", ["nope", "", "../secret", "/etc/passwd", "a/b", "s-c-\0", "."])
def test_t28_an_id_that_was_never_given_is_not_known(store: ArtifactStore, name: str) -> None:
    store.put(S, C, "a")

    with pytest.raises(UnknownArtifact):
        store.read(ArtifactId(name), 0, 1)


def test_m07_a_call_that_is_played_again_gets_the_same_id(store: ArtifactStore) -> None:
    ids = {
        store.put(session, ToolCallId(call), text)
        for session in (S, None, SessionId("a/b"), SessionId("a_b"))
        for call in ("c", "C")
        for text in ("", "x")
    }

    assert len(ids) == 16
    assert store.put(SessionId("a/b"), ToolCallId("C"), "x") in ids


def test_r13_lone_surrogates_are_replaced(store: ArtifactStore) -> None:
    assert store.read(store.put(S, C, "a\ud800"), 0, 10).content == "a\ufffd"


def test_t28_no_id_leads_out_of_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    (tmp_path / "secret.txt").write_text("secret")
    store = FileArtifacts(folder)

    for name in ("../../x", "..", "CON", "a" * 500, "é\n/"):
        result = store.put(SessionId(name), ToolCallId(name), name)
        assert store.read(result, 0, 1000).content == name
    assert {value.name for value in tmp_path.iterdir()} == {"kept", "secret.txt"}
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    with pytest.raises(OSError, match="symbolic links"):
        store.read(ArtifactId("link"), 0, 10)


def test_t28_only_the_owner_reads_the_files(tmp_path: Path) -> None:
    store = FileArtifacts(tmp_path / "kept")
    store.put(S, C, "x")

    (file,) = (tmp_path / "kept").iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_t28_a_text_is_stored_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: Path, target: Path) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        FileArtifacts(tmp_path).put(S, C, "x")

    assert not [*tmp_path.iterdir()]
