"""The wall: what the operating system refuses this process, whatever a library tries with a stranger's bytes.

The gate (:mod:`proctor.effects`) is asked by our own code; a library that follows a link, an address or a path inside
a file asks nobody. So before the first byte of a stranger is read, commands give up what they do not need:

* the kernel opens files below some folders and no others, and connects to some ports (Landlock, on Linux);
* the kernel starts no program (a seccomp filter); the few that are needed are started by a process outside of the
  wall (:mod:`proctor.starter`);
* a watch over what Python opens, starts and connects to refuses the same, says what was wanted and what allows it,
  and knows hosts. Where there is no Landlock it stands alone.

===========  ==============================================================
``rules``    what a command may touch, made of what the user said
``watch``    the watch over Python
``raising``  raises all of it, and says what stands; what engines need is known last
===========  ==============================================================
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from proctor.lazy import lazily

if TYPE_CHECKING:
    from proctor.wall.raising import Wall, let_ask, open_for, raise_wall, standing, what_can_stand
    from proctor.wall.rules import Needs, Rules, rules_for

_HOMES = {
    "raising": ("Wall", "let_ask", "open_for", "raise_wall", "standing", "what_can_stand"),
    "rules": ("Needs", "Rules", "rules_for"),
}

__all__ = ["Needs", "Rules", "Wall", "let_ask", "open_for", "raise_wall", "rules_for", "standing", "what_can_stand"]

if not TYPE_CHECKING:  # type checkers would take any name for one of the package
    __getattr__, __dir__ = lazily(__name__, _HOMES)
