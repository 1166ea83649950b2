"""Templates and retrievers of a config: from ``dict(type=PromptTemplate, …)`` to artifacts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from proctor.demos import retrievers
from proctor.dialects.aisbench.key_tables import Keys
from proctor.dialects.aisbench.values import ConfigDict, Reference, known_name, location_of
from proctor.dialects.dialect import loaded
from proctor.errors import Diagnostic, ProctorError, TemplateError, did_you_mean
from proctor.templates import MMPromptTemplate, MultiTurnPromptTemplate, PromptTemplate, RawPromptTemplate
from proctor.templates.prompt_template import BasePromptTemplate

AnyTemplate = BasePromptTemplate | RawPromptTemplate

TEMPLATES: Mapping[str, type[AnyTemplate]] = {
    **{each.__name__: each for each in (PromptTemplate, MultiTurnPromptTemplate, MMPromptTemplate, RawPromptTemplate)},
    "OlympiadBenchTemplate": PromptTemplate,
    "OlympiadBenchRawTemplate": RawPromptTemplate,
}
RETRIEVERS: Mapping[str, str] = {
    **{
        name: f"proctor.demos.{module}:{name}"
        for module, names in {
            "retrievers": ("ZeroRetriever", "FixKRetriever", "RandomRetriever", "SlidingWindowRetriever"),
            "retrievers_bm25": ("BM25Retriever",),
            "retrievers_dense": ("TopkRetriever", "DPPRetriever", "VotekRetriever"),
            "retrievers_mdl": ("MDLRetriever",),
        }.items()
        for name in names
    },
    "XiezhiRetriever": "proctor.demos.retrievers:LabelsRetriever",
}
"""Retrievers by name, imported when one is built."""


def build_template(config: Any, path: str) -> AnyTemplate | None:
    """Return the template of a config; ``None`` for ``None``.

    Raises:
        ProctorError: The type is not known, or its arguments do not fit; with the place of the dictionary.
    """
    if config is None or isinstance(config, (BasePromptTemplate, RawPromptTemplate)):
        return config
    built: AnyTemplate = _build(config, TEMPLATES, "template", path)
    return built


def build_retriever(config: Any, path: str = "$.infer_cfg.retriever") -> retrievers.Retriever:
    """Return the retriever of a config; without one, no examples.

    Raises:
        ProctorError: The type is not known, or its arguments do not fit; with the place of the dictionary.
    """
    if config is None:
        return retrievers.ZeroRetriever()
    if isinstance(config, retrievers.Retriever):
        return config
    wanted = {key: value for key, value in config.items() if key not in Keys.of("retriever").idle}
    built: retrievers.Retriever = _build(
        ConfigDict(wanted, location=location_of(config)), RETRIEVERS, "retriever", path
    )
    return built


def _build(config: Mapping[str, Any], known: Mapping[str, Any], what: str, path: str) -> Any:
    kind, place = config.get("type"), location_of(config)
    name = known_name(kind) if isinstance(kind, str | Reference | type) else ""
    if name not in known:
        said = f"Proctor has no {what} '{name}'" if name else f"a {what} needs a 'type'"
        why = f"classes of a config's own are datasets, models, evaluators and post-processors; a {what} is not run"
        hint = did_you_mean(name, known) or f"it has {', '.join(known)}"
        raise TemplateError([Diagnostic(said, place, f"{path}.type", why=why if "." in name else "", hint=hint)])
    arguments = {key: value for key, value in config.items() if key != "type"}
    try:
        return loaded(known[name])(**arguments)
    except ProctorError as error:
        inner = [replace(each, path=path + each.path.removeprefix("$")).at(place) for each in error.diagnostics]
        raise type(error)(inner) from None
