"""What a conversion gives."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Converted:
    """A task in another form.

    Attributes:
        text: YAML or JSON.
        lost: What the other form does not say, each with its reason.
    """

    text: str
    lost: tuple[str, ...] = ()
