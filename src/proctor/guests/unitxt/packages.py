"""Packages that artifacts of Unitxt's programs need."""

from __future__ import annotations

from proctor.artifacts import Artifact


class PackageRequirementsMixin(Artifact):
    """A mixin of what needs packages: ``_requirements_list``, checked when an object is made."""
