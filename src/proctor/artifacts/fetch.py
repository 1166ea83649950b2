"""From a name, query, file or dict to an artifact; and back into a catalog."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextvars import ContextVar
from inspect import isabstract
from pathlib import Path
from typing import Any

from proctor.artifacts.artifact import Artifact
from proctor.artifacts.catalogs import (
    JUDGING,
    OWN,
    Catalog,
    LocalCatalog,
    find,
    read_json,
    type_of_plugin,
    user_catalog,
)
from proctor.artifacts.deprecations import log_deprecation
from proctor.artifacts.own_texts import of_own_text
from proctor.artifacts.query import Query, is_assignments, parse_assignments, parse_query
from proctor.artifacts.registry import registry
from proctor.effects import Author, author, author_of_file, author_of_text, is_confined, reading, require, written_by
from proctor.errors import ArtifactError, LinkError, Location, ProctorError, ValidationError, did_you_mean, few_hints
from proctor.foreign_text import parse_json
from proctor.logs import get_logger

DEFAULT_RECIPE = "dataset_recipe"
_LINK = "artifact_link"
_typed: ContextVar[str] = ContextVar("proctor_typed", default="")
"""The recipe that is being built, as the user typed it: files of artifacts that it names are his own choice."""

_chain: ContextVar[tuple[str, ...]] = ContextVar("proctor_fetch_chain", default=())


def fetch_artifact(
    source: str | Mapping[str, Any] | Artifact | os.PathLike[str],
    overwrites: Mapping[str, Any] | None = None,
    among: list[Catalog] | None = None,
) -> Artifact:
    """Return the artifact that ``source`` means.

    Args:
        source: An artifact (returned as it is, where nothing is overwritten), a catalog name, a query
            ``name[key=value]``, a recipe ``card=…,template=…``, a path of a JSON file, JSON text, or a dict with
            ``__type__``.
        overwrites: Fields to replace, on top of those in a query.
        among: Catalogs to look in, instead of all.

    Raises:
        ArtifactError: Or one of its kinds; the message names the artifact, the file and the field.
    """
    if isinstance(source, Artifact):
        return build({**source.to_dict(), **overwrites}) if overwrites else source
    if isinstance(source, Mapping):
        return build({**source, **(overwrites or {})})
    if not isinstance(source, (str, os.PathLike)):
        raise ArtifactError(
            f"an artifact is wanted, and this is {type(source).__name__}: {source!r:.80}",
            hint="give an artifact, a name of the catalog, or a dict with __type__",
        )
    text = os.fspath(source)
    if text.lstrip().startswith("{"):
        own = of_own_text(text) if author() is None and not overwrites else None
        return build({**_parse_json(text), **(overwrites or {})}) if own is None else own
    if text.endswith(".json") and Path(text).is_file():
        return artifact_in_file(text, overwrites or {})
    token = _typed.set(text if author() is None else _typed.get())
    try:
        if is_assignments(text):
            return build({"__type__": DEFAULT_RECIPE, **parse_assignments(text), **(overwrites or {})})
        return _fetch_named(text, parse_query(text), dict(overwrites or {}), among)
    finally:
        _typed.reset(token)


def artifact_in_file(path: str | os.PathLike[str], overwrites: Mapping[str, Any], name: str = "") -> Artifact:
    """Return the artifact in a JSON file, under its name in a catalog where one is given; a link is followed.

    Raises:
        ArtifactError: The file cannot be read, or its fields do not fit.
    """
    text = os.fspath(path)
    if is_confined() or text not in _typed.get():
        require(reading(Path(path), author(), "an artifact"), author())
    location = Location(text)
    data = read_json(Path(path))
    if data.get("__type__") == _LINK:
        return _follow(data, text, Query(text, {}), dict(overwrites), location)
    artifact = build({**data, **overwrites}, location=location)
    if name:
        object.__setattr__(artifact, "_artifact_id", name)
    return artifact


def _fetch_named(text: str, query: Query, extra: dict[str, Any], among: list[Catalog] | None) -> Artifact:
    chain = _chain.get()
    if text in chain:
        circle = " → ".join([*chain[chain.index(text) :], text])
        raise LinkError(f"'{text}' leads back to itself", why=circle)
    overwrites = {**query.overwrites, **extra}
    token = _chain.set((*chain, text))
    try:
        if among is None and (kind := type_of_plugin(query.name)) is not None:
            data, location = {"__type__": kind}, None
        else:
            path = find(query.name, among)
            data, location = read_json(path), Location(str(path))
            if among is None and query.name.startswith(OWN):
                data = _in_own_words(data)
            get_logger().debug("'%s' is loaded from %s", query.name, path)
            if data.get("__type__") == _LINK:
                return _follow(data, text, query, extra, location)
        _check_overwrites(query.name, data, overwrites)
        artifact = build({**data, **overwrites}, location=location)
    finally:
        _chain.reset(token)
    if not extra:  # what was changed beside the text has no name
        object.__setattr__(artifact, "_artifact_id", text if overwrites else query.name)
    return artifact


def _in_own_words(data: Any) -> Any:
    """Return the data of a built-in artifact that names other built-in ones, and asks judges in our words."""
    if isinstance(data, str):
        return f"{OWN}{data}" if JUDGING.match(data) else data
    if isinstance(data, list):
        return [_in_own_words(each) for each in data]
    if not isinstance(data, dict):
        return data
    own = {"words": "proctor"} if data.get("__type__") in _WORDED else {}
    return {**{name: _in_own_words(each) for name, each in data.items()}, **own}


_WORDED = ("llm_judge_direct", "llm_judge_pairwise")
"""Types of judges whose words lie beside their fields."""


def _follow(data: dict[str, Any], text: str, query: Query, extra: dict[str, Any], location: Location) -> Artifact:
    if message := data.get("__deprecated_msg__"):
        log_deprecation(str(message))
    target = data.get("to")
    if not isinstance(target, (str, dict)):
        raise LinkError(f"the link '{text}' has no 'to'", location=location)
    if isinstance(target, str) and "[" not in target:
        return fetch_artifact(f"{target}{text[len(query.name) :]}", extra)
    return fetch_artifact(target, {**query.overwrites, **extra})


def _check_overwrites(name: str, data: dict[str, Any], overwrites: dict[str, Any]) -> None:
    fields = getattr(registry.get(str(data.get("__type__"))), "model_fields", {})
    unknown = [key for key in overwrites if key not in fields and not key.startswith("__")]
    if unknown:
        raise ValidationError(
            f"'{name}' has no field {', '.join(repr(key) for key in unknown)} to overwrite",
            hint=did_you_mean(unknown[0], fields) or f"its fields are {', '.join(fields)}",
        )


def build(data: Mapping[str, Any], location: Location | None = None) -> Artifact:
    """Return an artifact built from JSON-like data with ``__type__``.

    Raises:
        ArtifactError: ``__type__`` is missing or unknown, or fields do not fit; with the file where known.
    """
    fields = dict(data)
    kind = fields.pop("__type__", None)
    try:
        if not isinstance(kind, str):
            hint = (
                "add the snake-case name of its class; rows of a table are a list (pandas: orient='records'), or lines"
            )
            raise ArtifactError("an artifact needs a '__type__'", why="it names the class that is built", hint=hint)
        fields.pop("__id__", None)
        with written_by(_author_of(location)), few_hints():
            made = registry.get(kind)
            if isabstract(made):
                raise ArtifactError(
                    f"'{kind}' is what several kinds of artifacts have in common, and not one of them",
                    hint="name one of the kinds: proctor ls lists what the catalog has",
                )
            artifact: Artifact = made(**fields)
    except ProctorError as error:
        if location is None:
            raise
        raise error.located(location) from None
    if location is not None:
        object.__setattr__(artifact, "_location", location)
    return artifact


def _author_of(location: Location | None) -> Author | None:
    """Return who wrote data: the file it is in, else whoever wrote what is being read."""
    if location is not None:
        return author_of_file(location.file)
    return author_of_text()


def _parse_json(text: str) -> dict[str, Any]:
    try:
        data = parse_json(text)
    except json.JSONDecodeError as error:
        raise ArtifactError(
            "the text is not valid JSON", location=Location("<text>", error.lineno, error.colno), why=error.msg
        ) from None
    return dict(data)


def get_from_catalog(
    name: str, catalog: Catalog | None = None, catalog_path: str | os.PathLike[str] | None = None
) -> Artifact:
    """Return an artifact by name or query, from one catalog where one is given.

    Raises:
        ArtifactError: As :func:`fetch_artifact`.
    """
    chosen = LocalCatalog(catalog_path) if catalog_path is not None else catalog
    return fetch_artifact(name, among=None if chosen is None else [chosen])


def add_to_catalog(
    artifact: Artifact,
    name: str,
    catalog: LocalCatalog | None = None,
    *,
    overwrite: bool = False,
    catalog_path: str | os.PathLike[str] | None = None,
    verbose: bool = True,
) -> Path:
    """Save an artifact under a name, by default in the user's own catalog; return the file.

    Raises:
        ArtifactError: The name is taken, or the artifact's class cannot be named in a file.
    """
    chosen = LocalCatalog(catalog_path) if catalog_path is not None else catalog or user_catalog()
    path = chosen.save(name, artifact.to_dict(), overwrite=overwrite)
    object.__setattr__(artifact, "_artifact_id", name)
    if verbose:
        get_logger().info("Artifact %s saved to %s", name, path)
    return path


def add_link_to_catalog(
    artifact_linked_to: str,
    name: str,
    *,
    deprecate: bool = False,
    catalog: LocalCatalog | None = None,
    overwrite: bool = False,
    catalog_path: str | os.PathLike[str] | None = None,
    verbose: bool = True,
) -> Path:
    """Save a link, so that ``name`` means ``artifact_linked_to``; with ``deprecate`` its users are warned."""
    message = f"'{name}' is deprecated; use '{artifact_linked_to}'" if deprecate else None
    link = ArtifactLink(to=artifact_linked_to, **({"__deprecated_msg__": message} if message else {}))
    return add_to_catalog(link, name, catalog, overwrite=overwrite, catalog_path=catalog_path, verbose=verbose)


class ArtifactLink(Artifact):
    """A name for another artifact: whoever fetches the link gets what it links to."""

    to: Any
    _tells_deprecation = False  # whoever follows the link is told
