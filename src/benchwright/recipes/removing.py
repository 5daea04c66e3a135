"""Removes the folders of an agent, however deep they are."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from secrets import token_hex

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def remove_tree(folder: Path) -> None:
    """Remove a folder with all that lies in it; what cannot be removed stays.

    Folders are taken apart level by level: those of the next level are moved to the top before theirs is removed. So
    no path is ever longer than two names, and no call nests: an agent can leave more folders below one another than
    a path, or Python's stack, can hold. Links are removed and never followed.
    """
    try:
        top = os.open(folder, _FOLDER)
    except OSError:
        return
    try:
        _empty(top)
        os.rmdir(folder)
    except OSError:
        pass  # a folder that cannot be removed is only in the way
    finally:
        os.close(top)


def _empty(top: int) -> None:
    """Remove what lies in an open folder, level by level."""
    names = os.listdir(top)
    places = [f"level-{token_hex(8)}" for _ in range(2)]
    for place in places:
        os.mkdir(place, dir_fd=top)
    level, below = (os.open(place, _FOLDER, dir_fd=top) for place in places)
    _take_apart(names, top, below)
    while names := os.listdir(below):
        level, below = below, level
        _take_apart(names, level, below)
        if os.listdir(level):
            break  # what cannot be removed is in the way
    for place, handle in zip(places, (level, below), strict=True):
        os.close(handle)
        _remove_folder(place, top)


def _take_apart(names: list[str], level: int, below: int) -> None:
    """Remove these files and folders of a level; what lies in its folders and is a folder moves to `below`."""
    moved = 0
    for name in names:
        if _is_no_folder(name, level):
            continue
        try:
            inner = os.open(name, _FOLDER, dir_fd=level)
        except OSError:
            continue
        for one in os.listdir(inner):
            if not _is_no_folder(one, inner):
                moved += _moved(one, inner, str(moved), below)
        os.close(inner)
        _remove_folder(name, level)


def _is_no_folder(name: str, folder: int) -> bool:
    """Remove what is no folder; make a folder one that its owner can open and move. False if it is a folder."""
    try:
        if not stat.S_ISDIR(os.lstat(name, dir_fd=folder).st_mode):
            os.unlink(name, dir_fd=folder)
            return True
        os.chmod(name, 0o700, dir_fd=folder)
    except OSError:
        return True
    return False


def _moved(name: str, folder: int, to: str, below: int) -> bool:
    try:
        os.rename(name, to, src_dir_fd=folder, dst_dir_fd=below)
    except OSError:
        return False
    return True


def _remove_folder(name: str, folder: int) -> None:
    try:
        os.rmdir(name, dir_fd=folder)
    except OSError:
        pass
