"""A filter of system calls: no namespaces, mounts, tracing, kernel keys, or memory that no limit counts.

seccomp(2) and linux/filter.h define the filter's format: instructions of (code, jump if true, jump if false,
value).
"""

from __future__ import annotations

import errno
import os
import struct

from . import system

_LOAD, _IF_EQUAL, _IF_AT_LEAST, _IF_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_KILL, _ALLOW, _ERROR = 0x80000000, 0x7FFF0000, 0x00050000
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16
_ANY_NAMESPACE = 0x7E020000
_AF_UNIX = 1
_X32_CALLS = 0x40000000

_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

_CALLS = {
    "x86_64": {
        "clone": 56,
        "clone3": 435,
        "socket": 41,
        "unshare": 272,
        "setns": 308,
        "chroot": 161,
        "mount": 165,
        "umount2": 166,
        "pivot_root": 155,
        "open_tree": 428,
        "move_mount": 429,
        "fsopen": 430,
        "fsconfig": 431,
        "fsmount": 432,
        "fspick": 433,
        "mount_setattr": 442,
        "ptrace": 101,
        "process_vm_readv": 310,
        "process_vm_writev": 311,
        "pidfd_getfd": 438,
        "add_key": 248,
        "request_key": 249,
        "keyctl": 250,
        "bpf": 321,
        "perf_event_open": 298,
        "userfaultfd": 323,
        "io_uring_setup": 425,
        "kexec_load": 246,
        "init_module": 175,
        "finit_module": 313,
        "delete_module": 176,
        "memfd_create": 319,
        "memfd_secret": 447,
        "shmget": 29,
        "semget": 64,
        "msgget": 68,
    },
    "aarch64": {
        "clone": 220,
        "clone3": 435,
        "socket": 198,
        "unshare": 97,
        "setns": 268,
        "chroot": 51,
        "mount": 40,
        "umount2": 39,
        "pivot_root": 41,
        "open_tree": 428,
        "move_mount": 429,
        "fsopen": 430,
        "fsconfig": 431,
        "fsmount": 432,
        "fspick": 433,
        "mount_setattr": 442,
        "ptrace": 117,
        "process_vm_readv": 270,
        "process_vm_writev": 271,
        "pidfd_getfd": 438,
        "add_key": 217,
        "request_key": 218,
        "keyctl": 219,
        "bpf": 280,
        "perf_event_open": 241,
        "userfaultfd": 282,
        "io_uring_setup": 425,
        "kexec_load": 104,
        "init_module": 105,
        "finit_module": 273,
        "delete_module": 106,
        "memfd_create": 279,
        "memfd_secret": 447,
        "shmget": 194,
        "semget": 190,
        "msgget": 186,
    },
}


def build_filter(machine: str, *, network: bool) -> bytes:
    """Return the filter in binary form. If `network` is False, only Unix sockets can be created."""
    calls = dict(_CALLS[machine])
    clone, clone3, socket = calls.pop("clone"), calls.pop("clone3"), calls.pop("socket")
    steps = [
        *[(_LOAD, 0, 0, _ARCHITECTURE), (_IF_EQUAL, 1, 0, _ARCHITECTURES[machine]), (_RETURN, 0, 0, _KILL)],
        *[(_LOAD, 0, 0, _NUMBER), (_IF_AT_LEAST, 0, 1, _X32_CALLS), (_RETURN, 0, 0, _KILL)],
        # The C library tries clone3 first, whose flags are in memory, and then clone.
        *_refuse(clone3, errno.ENOSYS),
    ]
    for number in calls.values():
        steps += _refuse(number, errno.EPERM)
    steps += [
        *[(_IF_EQUAL, 0, 4, clone), (_LOAD, 0, 0, _FIRST_ARGUMENT), (_IF_ANY_BIT, 0, 1, _ANY_NAMESPACE)],
        *[(_RETURN, 0, 0, _ERROR | errno.EPERM), (_RETURN, 0, 0, _ALLOW)],
    ]
    if not network:
        steps += [
            *[(_IF_EQUAL, 0, 4, socket), (_LOAD, 0, 0, _FIRST_ARGUMENT), (_IF_EQUAL, 1, 0, _AF_UNIX)],
            *[(_RETURN, 0, 0, _ERROR | errno.EACCES), (_RETURN, 0, 0, _ALLOW)],
        ]
    steps.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("HBBI", *step) for step in steps)


def _refuse(number: int, error: int) -> list[tuple[int, int, int, int]]:
    return [(_IF_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ERROR | error)]


def restrict(*, network: bool) -> None:
    """Apply the filter to this process and to all processes that it starts.

    Do nothing on an architecture whose system call numbers this module does not know.
    """
    machine = os.uname().machine
    if machine in _CALLS:
        system.filter_system_calls(build_filter(machine, network=network))
