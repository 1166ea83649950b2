"""Packages and versions that Unitxt's programs ask about."""

from __future__ import annotations

from typing import Any

from packaging.requirements import Requirement
from pydantic import PrivateAttr

from proctor.artifacts import Artifact
from proctor.errors import MissingExtraError
from proctor.recipes.metric_code import installed_version


class RequirementsError(MissingExtraError):
    """Packages that an artifact needs and that are not there.

    Attributes:
        missing_packages: Those that are not installed.
        version_mismatched_packages: Those of another version, each with what is wrong.
        installation_instructions: What to do, for each of both.
        message: All in one text.
    """

    def __init__(self, owner: str, missing: list[str], other: list[str], instructions: list[str]) -> None:
        what = f"{owner} needs packages that are not here: {', '.join([*missing, *other])}"
        super().__init__(what, hint="; ".join(instructions))
        self.missing_packages, self.version_mismatched_packages = missing, other
        self.installation_instructions, self.message = instructions, "\n".join([what, *instructions])


class PackageRequirementsMixin(Artifact):
    """A mixin of what needs packages: a list of them, or a dict with what to do where one is missing."""

    _own_requirements: Any = PrivateAttr(default=None)

    def __setattr__(self, name: str, value: Any) -> None:
        """Set a field; ``_requirements_list``, which classes declare, counts for this object only."""
        super().__setattr__("_own_requirements" if name == "_requirements_list" else name, value)

    def check_missing_requirements(self) -> None:
        """Check that they are installed.

        Raises:
            RequirementsError: One is not, or is of another version.
        """
        needed: Any = self._requirements_list if self._own_requirements is None else self._own_requirements
        texts = [needed] if isinstance(needed, str) else list(needed)
        missing: list[str] = []
        other: list[str] = []
        instructions: list[str] = []
        for text in texts:
            required = Requirement(text)
            found = installed_version(required.name)
            if required.marker and not required.marker.evaluate():
                continue
            if found is None:
                missing.append(text)
            elif not required.specifier.contains(found, prereleases=True):
                other.append(f"{text}: {required.name} {found} is installed, '{text}' is needed")
            else:
                continue
            instructions.append(needed[text] if isinstance(needed, dict) else f"pip install '{text}'")
        if instructions:
            raise RequirementsError(type(self).__name__, missing, other, instructions)
