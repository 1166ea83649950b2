"""A filter for system calls: what no program of an exam needs is refused by the kernel."""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from collections.abc import Callable

from .kernel import MACHINE, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, prctl

_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

# name: number on x86_64, on aarch64; -1 where there is none
_OTHER_PROCESSES = """ptrace 101 117 process_vm_readv 310 270 process_vm_writev 311 271 process_madvise 440 440
 process_mrelease 448 448 kcmp 312 272 pidfd_open 434 434 pidfd_getfd 438 438 pidfd_send_signal 424 424 tkill 200 130
 rt_sigqueueinfo 129 138 rt_tgsigqueueinfo 297 240 setpriority 141 140 ioprio_set 251 30 sched_setaffinity 203 122
 sched_setscheduler 144 119 sched_setparam 142 118 sched_setattr 314 274 migrate_pages 256 238 move_pages 279 239"""
_NETWORK = """socket 41 198 connect 42 203 bind 49 200 listen 50 201 accept 43 202 accept4 288 242"""
_SHARED_MEMORY = """shmget 29 194 shmat 30 196 shmctl 31 195 msgget 68 186 msgsnd 69 189 msgrcv 70 188 msgctl 71 187
 semget 64 190 semop 65 193 semtimedop 220 192 semctl 66 191 mq_open 240 180 mq_unlink 241 181"""
_MACHINE = """mount 165 40 umount2 166 39 pivot_root 155 41 chroot 161 51 setns 308 268 unshare 272 97 fsopen 430 430
 fsconfig 431 431 fsmount 432 432 fspick 433 433 open_tree 428 428 move_mount 429 429 mount_setattr 442 442
 open_by_handle_at 304 265 name_to_handle_at 303 264 bpf 321 280 perf_event_open 298 241 userfaultfd 323 282
 io_uring_setup 425 425 io_uring_enter 426 426 io_uring_register 427 427 keyctl 250 219 add_key 248 217
 request_key 249 218 kexec_load 246 104 kexec_file_load 320 294 init_module 175 105 finit_module 313 273
 delete_module 176 106 reboot 169 142 swapon 167 224 swapoff 168 225 acct 163 89 settimeofday 164 170
 clock_settime 227 112 clock_adjtime 305 266 adjtimex 159 171 sethostname 170 161 setdomainname 171 162 syslog 103 116
 quotactl 179 60 quotactl_fd 443 443 lookup_dcookie 212 18 vhangup 153 58 personality 135 92 iopl 172 -1 ioperm 173 -1
 modify_ldt 154 -1 fanotify_init 300 262 fanotify_mark 301 263 mknod 133 -1 mknodat 259 33 uselib 134 -1
 memfd_secret 447 447"""
_STARTING = """execve 59 221 execveat 322 281 fork 57 -1 vfork 58 -1"""
_PROGRAMS = """execve 59 221 execveat 322 281 ptrace 101 117 process_vm_readv 310 270 process_vm_writev 311 271
 pidfd_getfd 438 438"""
_MODES = """chmod 90 -1 fchmod 91 52 fchmodat 268 53 fchmodat2 452 452 chown 92 -1 fchown 93 55 lchown 94 -1
 fchownat 260 54 setxattr 188 5 lsetxattr 189 6 fsetxattr 190 7 removexattr 197 14 lremovexattr 198 15
 fremovexattr 199 16 setxattrat 463 463 removexattrat 466 466 file_setattr 469 469 utime 132 -1 utimes 235 -1
 futimesat 261 -1 utimensat 280 88 inotify_add_watch 254 27"""
"""What landlock says nothing about: it would reach files elsewhere."""

_CLONE, _CLONE3 = {"x86_64": 56, "aarch64": 220}, 435
_OWN_PROCESS_ONLY = {"x86_64": (62, 234), "aarch64": (129, 131)}  # kill, tgkill
_PRLIMIT = {"x86_64": 302, "aarch64": 261}
_CLONE_THREAD = 0x00010000
_CLONE_NEW = 0x7E020080  # every new namespace
_X32 = 0x40000000  # a second table of numbers, of 32-bit pointers

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER, _ARCHITECTURE, _FIRST = 0, 4, 16


def is_known_machine() -> bool:
    """Whether the numbers of this machine's system calls are known here."""
    return MACHINE in _ARCHITECTURES


def restrict(*, starting: bool, modes: bool) -> None:
    """Refuse system calls to this process and what it starts. It has to have given up new privileges before.

    Args:
        starting: Whether processes may be started.
        modes: Whether owners, modes and times of files may be changed.

    Raises:
        OSError: The kernel refuses, or this machine's numbers are not known.
    """
    _install(lambda: _program(starting=starting, modes=modes))


def refuse_programs() -> None:
    """Refuse to start programs and to look into other processes, and nothing else; threads and forks stay.

    Raises:
        OSError: As :func:`restrict`.
    """
    _install(lambda: [*_head(_numbers_in(_PROGRAMS)), _step(_RETURN, _ALLOW)])


def _install(make: Callable[[], list[bytes]]) -> None:
    if not is_known_machine():
        raise OSError(f"system calls of {MACHINE or 'this system'} are not known")
    program = make()
    code = b"".join(program)
    buffer = ctypes.create_string_buffer(code, len(code))
    head = struct.pack("HxxxxxxP", len(program), ctypes.addressof(buffer))
    whole = ctypes.create_string_buffer(head, len(head))
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.addressof(whole))


def _numbers(*, starting: bool, modes: bool) -> list[int]:
    tables = [_OTHER_PROCESSES, _NETWORK, _SHARED_MEMORY, _MACHINE]
    tables += [] if starting else [_STARTING]
    tables += [] if modes else [_MODES]
    return _numbers_in(*tables)


def _numbers_in(*tables: str) -> list[int]:
    column = 1 if MACHINE == "x86_64" else 2
    words = " ".join(tables).split()
    found = (int(words[place + column]) for place in range(0, len(words), 3))
    return [each for each in found if each >= 0]


def _head(numbers: list[int]) -> list[bytes]:
    """Refuse another architecture, its second table of numbers, and some system calls."""
    deny = _step(_RETURN, _ERRNO | errno.EPERM)
    steps = [
        _step(_LOAD, _ARCHITECTURE),
        _step(_EQUAL, _ARCHITECTURES[MACHINE], 1, 0),
        _step(_RETURN, _KILL),
        _step(_LOAD, _NUMBER),
        _step(_AT_LEAST, _X32, 0, 1),
        deny,
    ]
    for number in numbers:
        steps += [_step(_EQUAL, number, 0, 1), deny]
    return steps


def _program(*, starting: bool, modes: bool) -> list[bytes]:
    deny = _step(_RETURN, _ERRNO | errno.EPERM)
    steps = _head(_numbers(starting=starting, modes=modes))
    steps += [_step(_EQUAL, _CLONE3, 0, 1), _step(_RETURN, _ERRNO | errno.ENOSYS)]  # its flags lie in memory
    steps += _clone(starting, deny)
    for number in _OWN_PROCESS_ONLY[MACHINE] if not starting else ():
        steps += _only_own(number, [os.getpid()], deny)
    steps += _only_own(_PRLIMIT[MACHINE], [0, os.getpid()], deny)
    return [*steps, _step(_RETURN, _ALLOW)]


def _clone(starting: bool, deny: bytes) -> list[bytes]:
    """Threads only, or processes, too; never in a new namespace."""
    inner = [_step(_LOAD, _FIRST), _step(_ANY_BIT, _CLONE_NEW, 0, 1), deny]
    if not starting:
        inner += [_step(_ANY_BIT, _CLONE_THREAD, 1, 0), deny]
    inner.append(_step(_RETURN, _ALLOW))
    return [_step(_EQUAL, _CLONE[MACHINE], 0, len(inner)), *inner]


def _only_own(number: int, processes: list[int], deny: bytes) -> list[bytes]:
    """Only with these processes as the first argument."""
    count = len(processes)
    inner = [_step(_LOAD, _FIRST)]
    inner += [_step(_EQUAL, each, count - place, 0) for place, each in enumerate(processes)]
    inner += [deny, _step(_RETURN, _ALLOW)]
    return [_step(_EQUAL, number, 0, len(inner)), *inner]


def _step(code: int, value: int, then: int = 0, otherwise: int = 0) -> bytes:
    return struct.pack("HBBI", code, then, otherwise, value)
