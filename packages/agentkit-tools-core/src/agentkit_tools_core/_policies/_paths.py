"""Where a path leads, links followed, and whether that is inside a folder.

Paths are compared name by name, never as strings: `/w/app-evil` is not inside `/w/app`.
"""

from __future__ import annotations

import errno
import os
import stat
import unicodedata
from pathlib import Path
from typing import Final

from agentkit_core import AgentkitError

_MAX_LINKS: Final = 40
_PROCESS_DEPTH: Final = 3
"""The parts of `/proc/1`. The links below one say a path, and lead to what is open: in another
tree of files (`root`), or deleted since."""


class UnresolvablePath(AgentkitError):
    """Nobody can say where a path leads; the message says why, and a model may read it."""


def resolve_path(path: str | os.PathLike[str], *, follow_last: bool = True) -> Path:
    """Say where a path leads: absolute, without links, `.` and `..`.

    What is not there (yet) is kept as it is written, behind the last folder that is there. A
    link to nowhere is followed too, for whoever writes to it creates what it names.

    Args:
        path: The path; a relative one is read from where the process stands.
        follow_last: Whether a link in last place is followed; if not, it is the link itself.

    Raises:
        UnresolvablePath: `..` stands behind something that is no folder: what it means changes
            once the folder is made. Or links go in a circle or through what a process has open
            (`/proc/1/root`), or a folder may not be read, or it is no path at all.
    """
    # Not `absolute` of a normalized path: `link/..` is not where the link is.
    whole = Path(path) if os.path.isabs(path) else Path(_current_folder(), path)  # noqa: PTH117
    here = Path(whole.parts[0].replace("//", "/")) if whole.parts else whole
    left = list(reversed(whole.parts[1:]))
    links = 0
    missing: str | None = None
    while left:
        name = left.pop()
        if name == "..":
            if missing is not None:
                raise UnresolvablePath(f"'..' stands behind {missing!r}, which is no folder")
            here = here.parent
            continue
        here = here / name
        if missing is not None:
            continue
        target = _link_at(here) if left or follow_last else None
        if target is None:
            if not _is_folder(here):
                missing = name
            continue
        links += 1
        if links > _MAX_LINKS:
            raise UnresolvablePath("its links go in a circle")
        jump = Path(here.parent, target)
        if Path(target).is_absolute():
            here, names = Path(jump.parts[0].replace("//", "/")), jump.parts[1:]
        else:
            here, names = here.parent, Path(target).parts
        left += reversed(names)
    return here


def is_within(path: Path, root: Path) -> bool:
    """Whether a resolved path is a resolved folder, or inside it, by its names."""
    return path.parts[: len(root.parts)] == root.parts


def touches(path: Path, root: Path) -> bool:
    """Whether a resolved path is, or is inside, what is found at a resolved one.

    The same file by another name counts: a name in other letters where the file system does not
    tell them apart, or a second link to one file. While nothing is found there, every spelling
    counts, for nobody can say which of them will be the same.
    """
    if is_within(path, root):
        return True
    known = _identity(root)
    if known is None:
        return is_within(_folded(path), _folded(root))
    return any(known == _identity(one) for one in (path, *path.parents))


def open_checked(
    path: str | os.PathLike[str],
    root: str | os.PathLike[str],
    flags: int = os.O_RDONLY,
    mode: int = 0o666,
) -> int:
    """Open a file inside a folder, wherever anyone bends links meanwhile.

    The path is resolved first, so links that stay inside are followed; then each folder on the
    way is opened in the one before without following a link, so that a link put in place since
    leads nowhere. Pipes and devices are not opened, for they make the caller wait, or more.

    A hard link is the file itself: one that somebody has put in the folder is opened.

    Args:
        path: The file, or a folder; a relative path is read from `root`.
        root: The folder that it must be in.
        flags: As for `os.open`.
        mode: As for `os.open`, for a file that is made.

    Returns:
        A file descriptor, the caller's to close.

    Raises:
        PermissionError: It leads out of the folder, or nobody can say where it leads, or it is
            neither a file nor a folder.
        OSError: As `os.open` raises; `ELOOP` or `ENOTDIR` for a link put in place since.
        NotImplementedError: The operating system cannot open a file relative to a folder.
    """
    if os.open not in os.supports_dir_fd or not hasattr(os, "O_NOFOLLOW"):
        raise NotImplementedError("this operating system opens no file relative to a folder")
    try:
        real_root = resolve_path(root)
        found = resolve_path(Path(real_root, path))
    except UnresolvablePath as error:
        raise PermissionError(errno.EACCES, str(error), os.fspath(path)) from None
    if not is_within(found, real_root) or found == real_root:
        raise PermissionError(errno.EACCES, f"is no file inside {real_root}", os.fspath(path))
    *folders, name = found.parts[len(real_root.parts) :]
    at = os.open(real_root, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        for folder in folders:
            inner = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=at)
            os.close(at)
            at = inner
        # Not blocking, for to open a pipe is to wait for its other end.
        opened = os.open(name, flags | os.O_NOFOLLOW | os.O_NONBLOCK, mode, dir_fd=at)
    finally:
        os.close(at)
    try:
        kind = os.fstat(opened).st_mode
        if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):
            raise PermissionError(errno.EACCES, "is neither a file nor a folder", os.fspath(path))
        if not flags & (os.O_NONBLOCK | getattr(os, "O_PATH", 0)):
            os.set_blocking(opened, True)
    except BaseException:
        os.close(opened)
        raise
    return opened


def _current_folder() -> str:
    try:
        return os.getcwd()  # noqa: PTH109
    except OSError as error:
        raise UnresolvablePath("the current folder is gone, and the path is relative") from error


def _link_at(path: Path) -> str | None:
    try:
        target = os.readlink(path)  # noqa: PTH115, a Path would lose a trailing `..`
    except FileNotFoundError:
        return None
    except ValueError as error:  # a NUL, or letters that no file name can have
        raise UnresolvablePath("it is no path") from error
    except OSError as error:
        # EINVAL is how a file that is no link answers.
        if error.errno in (errno.EINVAL, errno.ENOTDIR):
            return None
        raise UnresolvablePath(f"it cannot be followed: {error.strerror}") from error
    if path.parts[:2] == ("/", "proc") and len(path.parts) > _PROCESS_DEPTH:
        raise UnresolvablePath("it leads through what a process has open, not where it says")
    return target


def _is_folder(path: Path) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return False


def _folded(path: Path) -> Path:
    return Path(unicodedata.normalize("NFC", str(path)).casefold())


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.lstat()
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino
