"""Resolves paths and links, compares paths, and opens files safely inside a folder.

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
_MAX_LENGTH: Final = 32_767 if os.name == "nt" else 4_096
"""Operating systems open no path with more characters than this."""
_PROCESS_DEPTH: Final = 3
"""The number of parts of `/proc/1`. Links below such a folder name a path but lead to an open file,
which may be in another file tree (`root`) or deleted."""


class UnresolvablePath(AgentkitError):
    """A path cannot be resolved; the message says why, in words for a model."""


def resolve_path(path: str | os.PathLike[str], *, follow_last: bool = True) -> Path:
    """Resolve a path: the result is absolute and contains no links, no `.` and no `..`.

    Names that do not exist are kept as they are, after the last existing folder. A link to a path
    that does not exist is followed too, because writing to the link would create that path.

    Args:
        path: The path; a relative one starts at the current folder of the process.
        follow_last: Whether a link at the end is followed; otherwise the result is the link itself.

    Raises:
        UnresolvablePath: `..` follows something that is not a folder (its meaning would change if
            that folder were created), links form a cycle or lead through files that a process has
            open (`/proc/1/root`), a folder cannot be read, or the path is not valid or too long.
    """
    length = len(os.fspath(path))
    if length > _MAX_LENGTH:
        raise UnresolvablePath(f"it has {length} characters; use at most {_MAX_LENGTH}")
    # Normalizing first would be wrong: `link/..` is not the folder that contains the link.
    whole = Path(path) if os.path.isabs(path) else Path(_current_folder(), path)  # noqa: PTH117
    here = Path(whole.parts[0].replace("//", "/")) if whole.parts else whole
    left = list(reversed(whole.parts[1:]))
    links = 0
    missing: str | None = None
    while left:
        name = left.pop()
        if missing is not None:
            if name == ".." or ".." in left:
                raise UnresolvablePath(f"'..' follows {missing!r}, which is not a folder")
            return here.joinpath(name, *reversed(left))
        if name == "..":
            here = here.parent
            continue
        here = here / name
        target = _link_at(here) if left or follow_last else None
        if target is None:
            if not _is_folder(here):
                missing = name
            continue
        links += 1
        if links > _MAX_LINKS:
            raise UnresolvablePath("its links form a cycle")
        jump = Path(here.parent, target)
        if Path(target).is_absolute():
            here, names = Path(jump.parts[0].replace("//", "/")), jump.parts[1:]
        else:
            here, names = here.parent, Path(target).parts
        left += reversed(names)
    return here


def is_within(path: Path, root: Path) -> bool:
    """Whether a resolved path equals a resolved folder or is inside it, name by name."""
    return path.parts[: len(root.parts)] == root.parts


def touches(path: Path, root: Path) -> bool:
    """Whether a resolved path is, or is inside, the file or folder at another resolved path.

    Other names of the same file count: a name in other letters, if the file system ignores case,
    and a hard link. If nothing exists at `root`, every spelling counts, because it is unknown which
    ones will be the same file.
    """
    if is_within(path, root):
        return True
    root_identity = _identity(root)
    if root_identity is None:
        return is_within(_fold_case(path), _fold_case(root))
    # From the top: below a folder that does not exist, nothing exists.
    for length in range(1, len(path.parts) + 1):
        folder = Path(*path.parts[:length])
        identity = _identity(folder)
        if identity is None:
            return False
        if identity == root_identity:
            return True
    return False


def open_checked(
    path: str | os.PathLike[str],
    root: str | os.PathLike[str],
    flags: int = os.O_RDONLY,
    mode: int = 0o666,
) -> int:
    """Open a file inside a folder, even if another process changes links at the same time.

    The path is resolved first, so links that stay inside the folder are followed. Then each folder
    on the way is opened relative to the one before, without following links, so that a new link has
    no effect. Pipes and devices are not opened, because opening them can block or have effects.

    A hard link in the folder is opened like any file.

    Args:
        path: The file, or a folder; a relative path starts at `root`.
        root: The folder that must contain it.
        flags: As for `os.open`.
        mode: As for `os.open`, for a new file.

    Returns:
        A file descriptor; the caller has to close it.

    Raises:
        PermissionError: The path leads out of the folder or cannot be resolved, or it is neither a
            file nor a folder.
        OSError: As `os.open` raises; `ELOOP` or `ENOTDIR` for a link that is new.
        NotImplementedError: The operating system cannot open files relative to a folder.
    """
    if os.open not in os.supports_dir_fd or not hasattr(os, "O_NOFOLLOW"):
        raise NotImplementedError(
            "this operating system cannot open files relative to a folder; check the path with "
            "resolve_path and is_within, and open it with os.open"
        )
    try:
        real_root = resolve_path(root)
        resolved = resolve_path(Path(real_root, path))
    except UnresolvablePath as error:
        raise PermissionError(errno.EACCES, str(error), os.fspath(path)) from None
    if not is_within(resolved, real_root) or resolved == real_root:
        raise PermissionError(errno.EACCES, f"is not inside {real_root}", os.fspath(path))
    *folders, name = resolved.parts[len(real_root.parts) :]
    at = os.open(real_root, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        for folder in folders:
            inner = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=at)
            os.close(at)
            at = inner
        # Without blocking, because opening a pipe waits for its other end.
        descriptor = os.open(name, flags | os.O_NOFOLLOW | os.O_NONBLOCK, mode, dir_fd=at)
    finally:
        os.close(at)
    try:
        kind = os.fstat(descriptor).st_mode
        if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):
            raise PermissionError(errno.EACCES, "is neither a file nor a folder", os.fspath(path))
        if not flags & (os.O_NONBLOCK | getattr(os, "O_PATH", 0)):
            os.set_blocking(descriptor, True)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _current_folder() -> str:
    try:
        return os.getcwd()  # noqa: PTH109
    except OSError as error:
        raise UnresolvablePath("it is relative, and the current folder does not exist") from error


def _link_at(path: Path) -> str | None:
    try:
        target = os.readlink(path)  # noqa: PTH115, a Path would lose a trailing `..`
    except FileNotFoundError:
        return None
    except ValueError as error:  # a NUL, or characters that a file name cannot have
        raise UnresolvablePath("it is not a valid path") from error
    except OSError as error:
        # EINVAL means that the file is not a link.
        if error.errno in (errno.EINVAL, errno.ENOTDIR):
            return None
        raise UnresolvablePath(f"it cannot be resolved: {error.strerror}") from error
    if path.parts[:2] == ("/", "proc") and len(path.parts) > _PROCESS_DEPTH:
        raise UnresolvablePath("it leads through a file that a process has open")
    return target


def _is_folder(path: Path) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return False


def _fold_case(path: Path) -> Path:
    return Path(unicodedata.normalize("NFC", str(path)).casefold())


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.lstat()
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino
