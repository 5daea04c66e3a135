"""Linux system calls for which Python 3.11 has no function."""

from __future__ import annotations

import ctypes
import os
import struct

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38

MS_REC_PRIVATE = 0x4000 | 0x40000
MS_REC_BIND = 0x4000 | 0x1000
MS_NOSUID, MS_NODEV, MS_NOEXEC = 2, 4, 8
MNT_DETACH = 2

MOUNT_ATTR_RDONLY, MOUNT_ATTR_NOSUID, MOUNT_ATTR_NODEV = 1, 2, 4

_AT_FDCWD = -100
_AT_RECURSIVE = 0x8000
_SYS_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_SYS_CAPSET = {"x86_64": 126, "aarch64": 91}
_SYS_MOUNT_SETATTR = 442
_CAPABILITY_VERSION_3 = 0x20080522

_libc = ctypes.CDLL(None, use_errno=True)


def _checked(result: int, what: str) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def prctl(option: int, value: int) -> None:
    """Set a property of this process. `value` is a number or an address."""
    _checked(_libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0), f"prctl({option})")


def filter_system_calls(program: bytes) -> None:
    """Apply a seccomp filter to this process. `program`: the filter's instructions, of 8 bytes each."""
    kept = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(kept))
    filtering = 2
    _checked(_libc.prctl(PR_SET_SECCOMP, filtering, header, 0, 0), "seccomp")


def unshare(flags: int) -> None:
    """Replace the namespaces named by `flags` (CLONE_NEW...) by new ones."""
    _checked(_libc.unshare(flags), "unshare")


def mount(source: str, target: str, kind: str | None, flags: int, options: str = "") -> None:
    """Mount a file system, or bind `source` to `target`."""
    texts = (source.encode(), target.encode(), kind.encode() if kind else None)
    _checked(_libc.mount(*texts, ctypes.c_ulong(flags), options.encode()), f"mount {target}")


def set_mount_attributes(path: str, attributes: int, *, recursive: bool) -> None:
    """Add attributes (MOUNT_ATTR_...) to a mount. If `recursive` is True, add them to all mounts below it, too.

    Needs Linux 5.12.
    """
    asked = struct.pack("4Q", attributes, 0, 0, 0)
    flags = _AT_RECURSIVE if recursive else 0
    result = _libc.syscall(_SYS_MOUNT_SETATTR, _AT_FDCWD, path.encode(), flags, asked, len(asked))
    _checked(result, f"mount_setattr {path}")


def make_root(directory: str) -> None:
    """Make a mounted directory the root, and unmount the old root."""
    os.chdir(directory)
    _checked(_libc.syscall(_SYS_PIVOT_ROOT[os.uname().machine], b".", b"."), "pivot_root")
    _checked(_libc.umount2(b".", MNT_DETACH), "umount")
    os.chdir("/")


def drop_capabilities() -> None:
    """Drop all capabilities of this process."""
    header = struct.pack("Ii", _CAPABILITY_VERSION_3, 0)
    _checked(_libc.syscall(_SYS_CAPSET[os.uname().machine], header, bytes(24)), "capset")
