"""The command that installs packages here: ``pip install``, or what uv or pipx want instead."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

_PIP_INSTALL = re.compile(r"\bpip install\b")
_UV_RECEIPT = "uv-receipt.toml"  # uv tool install leaves it in the environment of a tool, which has no pip
_PIPX_RECEIPT = "pipx_metadata.json"  # pipx leaves it there; the pip of a shell is that of another environment


def for_this_environment(text: str) -> str:
    """Return a text whose commands ``pip install …`` are those that install into this environment."""
    return _PIP_INSTALL.sub(lambda _: _pip_install(Path(sys.prefix)), text) if "pip install" in text else text


def _pip_install(environment: Path) -> str:
    if (environment / _UV_RECEIPT).is_file():
        return f"uv pip install --python {shlex.quote(str(environment))}"
    if (environment / _PIPX_RECEIPT).is_file():
        return f"pipx runpip {shlex.quote(environment.name)} install"
    return "pip install"
