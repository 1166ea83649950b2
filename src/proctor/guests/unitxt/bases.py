"""Small bases that Unitxt's programs derive from."""

from __future__ import annotations

from typing import Any

from proctor.artifacts import Artifact, fetch_artifact
from proctor.data.operator import SourceSequentialOperator


class ArtifactFetcherMixin:
    """A mixin of what looks artifacts up."""

    @classmethod
    def get_artifact(cls, artifact_identifier: Any) -> Artifact:
        """Return the artifact of a name; artifacts are returned as they are."""
        return fetch_artifact(artifact_identifier)


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
