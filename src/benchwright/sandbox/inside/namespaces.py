"""Isolates a process in namespaces without bubblewrap: it sees only given files, no network, and its own processes."""

from __future__ import annotations

import os
import signal
import struct
from typing import Any

from . import system

_NEW_MOUNTS, _NEW_NAMES, _NEW_IPC = 0x00020000, 0x04000000, 0x08000000
_NEW_USERS, _NEW_PROCESSES, _NEW_NETWORK = 0x10000000, 0x20000000, 0x40000000

_SET_INTERFACE_FLAGS, _UP_AND_RUNNING = 0x8914, 0x1 | 0x40
_NEW_ROOT = "/sys"
_READ_ONLY = system.MOUNT_ATTR_RDONLY | system.MOUNT_ATTR_NOSUID
_DEVICES = ("null", "zero", "full", "random", "urandom")
_MOST_FILES = 16384


def enter(view: dict[str, Any]) -> None:
    """Fork a child into new namespaces.

    This function returns only in the child, which is process 1 of its namespace. The calling process waits
    for the child and then exits. `view`: a mapping with `shown` (paths, visible read-only), `links` ({path:
    target}), and `scratch` (writable folders, {path: bytes}).
    """
    user, group = os.getuid(), os.getgid()
    flags = _NEW_MOUNTS | _NEW_NAMES | _NEW_IPC | _NEW_PROCESSES | _NEW_NETWORK
    if user == 0:
        system.unshare(flags)
    else:
        system.unshare(flags | _NEW_USERS)
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{user} {user} 1")
        _write("/proc/self/gid_map", f"{group} {group} 1")
    child = os.fork()
    if child:
        os.closerange(0, 256)
        os.waitpid(child, 0)
        os._exit(0)
    system.prctl(system.PR_SET_PDEATHSIG, signal.SIGKILL)
    _bring_up_loopback()
    _furnish(view)


def _furnish(view: dict[str, Any]) -> None:
    system.mount("none", "/", None, system.MS_REC_PRIVATE)
    system.mount("tmpfs", _NEW_ROOT, "tmpfs", system.MS_NOSUID | system.MS_NODEV, "size=1m,mode=755")
    for path, size in view["scratch"].items():
        os.makedirs(_NEW_ROOT + path, exist_ok=True)
        options = f"size={size},nr_inodes={_MOST_FILES},mode=1777"
        system.mount("tmpfs", _NEW_ROOT + path, "tmpfs", system.MS_NOSUID | system.MS_NODEV, options)
    for path in view["shown"]:
        _bind(path, _READ_ONLY | system.MOUNT_ATTR_NODEV)
    for device in _DEVICES:
        _bind(f"/dev/{device}", system.MOUNT_ATTR_NOSUID)
    for path, target in {**view["links"], "/dev/fd": "/proc/self/fd"}.items():
        os.makedirs(os.path.dirname(_NEW_ROOT + path), exist_ok=True)
        os.symlink(target, _NEW_ROOT + path)
    os.mkdir(_NEW_ROOT + "/proc")
    system.mount("proc", _NEW_ROOT + "/proc", "proc", system.MS_NOSUID | system.MS_NODEV | system.MS_NOEXEC)
    system.make_root(_NEW_ROOT)
    system.set_mount_attributes("/", _READ_ONLY, recursive=False)


def _bind(path: str, attributes: int) -> None:
    place = _NEW_ROOT + path
    if os.path.isdir(path):
        os.makedirs(place, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(place), exist_ok=True)
        _write(place, "")
    system.mount(path, place, None, system.MS_REC_BIND)
    system.set_mount_attributes(place, attributes, recursive=True)


def _bring_up_loopback() -> None:
    import _socket  # a fifth of what `socket` takes to import
    import fcntl

    any_socket = _socket.socket(_socket.AF_INET, _socket.SOCK_DGRAM)
    fcntl.ioctl(any_socket.fileno(), _SET_INTERFACE_FLAGS, struct.pack("16sH22x", b"lo", _UP_AND_RUNNING))
    any_socket.close()


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
