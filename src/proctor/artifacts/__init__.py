"""Artifacts: what is configured, named, saved, loaded and overwritten.

Catalogs are read without building anything; what builds is imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from proctor.artifacts.catalogs import (
    Catalog,
    LocalCatalog,
    builtin_catalog,
    catalogs,
    register_catalog,
    register_local_catalog,
    unregister_catalog,
    user_catalog,
)
from proctor.artifacts.git_catalog import git_catalog, register_git_catalog
from proctor.artifacts.registry import Registry, registry
from proctor.lazy import lazily

if TYPE_CHECKING:
    from proctor.artifacts.artifact import NON_POSITIONAL, Artifact, to_data
    from proctor.artifacts.fetch import (
        ArtifactLink,
        add_link_to_catalog,
        add_to_catalog,
        build,
        fetch_artifact,
        get_from_catalog,
    )
    from proctor.artifacts.field_types import Table
    from proctor.artifacts.types import register_type

if not TYPE_CHECKING:  # type checkers would take any name for one of the package
    __getattr__, __dir__ = lazily(
        __name__,
        {
            "artifact": ("NON_POSITIONAL", "Artifact", "to_data"),
            "fetch": (
                "ArtifactLink",
                "add_link_to_catalog",
                "add_to_catalog",
                "build",
                "fetch_artifact",
                "get_from_catalog",
            ),
            "field_types": ("Table",),
            "types": ("register_type",),
        },
    )

__all__ = [
    "NON_POSITIONAL", "Artifact", "ArtifactLink", "Catalog", "LocalCatalog", "Registry", "Table",
    "add_link_to_catalog", "add_to_catalog", "build", "builtin_catalog", "catalogs", "fetch_artifact",
    "get_from_catalog", "git_catalog", "register_catalog", "register_git_catalog", "register_local_catalog",
    "register_type", "registry", "to_data", "unregister_catalog", "user_catalog",
]  # fmt: skip
