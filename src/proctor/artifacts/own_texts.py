"""Remembers artifacts that the user's program built and put into rows, so that they are not a stranger's.

Rows hold metrics as JSON text. Read back, such a text could be anybody's, and lacks what is never saved (a server's
address beside its key): an artifact that asks servers would be refused, or ask another one. So the artifacts that do
something beside computing are remembered by the text that this process made of them.
"""

from __future__ import annotations

from copy import copy
from typing import Any

from proctor.artifacts.artifact import Artifact
from proctor.artifacts.effects_of import parts_of

_MOST = 256
_made: dict[str, Artifact | None] = {}
"""By text; ``None`` where artifacts that differ in what is not saved have the same text."""


def own_text(artifact: Artifact) -> str:
    """Return the JSON text of an artifact; :func:`of_own_text` knows it where the user's program built the artifact.

    Parts that strangers wrote stay theirs.
    """
    text = artifact.to_json()
    if artifact.author is not None or _made.get(text) is artifact or not _acts(artifact):
        return text
    if text not in _made and len(_made) >= _MOST:
        del _made[next(iter(_made))]
    known = _made.get(text, artifact)
    _made[text] = artifact if known is not None and _all_of(known) == _all_of(artifact) else None
    return text


def of_own_text(text: str) -> Artifact | None:
    """Return a copy of the artifact that :func:`own_text` made a text of; ``None`` where it made none of this one."""
    made = _made.get(text)
    return None if made is None else copy(made)


def _acts(artifact: Artifact) -> bool:
    """Whether it has parts of kinds that do something beside computing, whatever it is that this one does."""
    return any(type(part).effects is not Artifact.effects for part in parts_of(artifact))


def _all_of(artifact: Artifact) -> list[tuple[type, dict[str, Any]]]:
    """Return every field of an artifact and its parts, saved or not."""
    return [
        (type(part), {name: getattr(part, name) for name in type(part).model_fields}) for part in parts_of(artifact)
    ]
