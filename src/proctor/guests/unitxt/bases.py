"""Small bases that Unitxt's programs derive from."""

from __future__ import annotations

from proctor.artifacts import Artifact
from proctor.data.operator import SourceSequentialOperator


class TextualInstruction(Artifact):
    """An instruction in a catalog.

    Attributes:
        text: Its words; a template fills in its fields.
    """

    text: str

    def get_instruction(self) -> str:
        """Return its words."""
        return self.text


class SequentialRecipe(SourceSequentialOperator):
    """Steps that begin with a loader, one after the other."""
