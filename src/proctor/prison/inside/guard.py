"""Functions that a clumsy program could do harm with, taken away where there is no prison. No wall: others remain."""

from __future__ import annotations

import builtins
import importlib

_DISABLED = {
    "os": (
        "kill killpg system remove removedirs rmdir setuid fork forkpty rename renames truncate replace unlink fchmod "
        "fchown chmod chown chroot lchflags lchmod lchown posix_spawn posix_spawnp execv execve setsid"
    ),
    "posix": "kill killpg system remove rmdir unlink rename replace truncate fork forkpty posix_spawn setsid execv",
    "shutil": "rmtree move chown",
    "subprocess": "Popen",
}
"""What would end, or damage, more than the program itself."""


def guard() -> None:
    """Take them away."""
    for name, members in _DISABLED.items():
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        for member in members.split():
            if hasattr(module, member):
                setattr(module, member, None)
    for name in ("exit", "quit", "help"):
        if hasattr(builtins, name):
            setattr(builtins, name, None)
