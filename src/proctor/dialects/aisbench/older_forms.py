"""Configs of earlier releases of OpenCompass: what is written elsewhere today, and under another name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from proctor.dialects.aisbench.signatures import known_names, project_named, signature_of
from proctor.dialects.aisbench.values import ConfigDict, Reference, dotted_name, location_of, short_name
from proctor.logs import say_once

_RENAMED: Final[Mapping[str, str]] = {"HumanEvaluator": "HumanEvalEvaluator"}
"""Names that differ from those of today in more than capitals and ``_``, as ``piqaDataset_V2`` does."""


def with_ids_of_retriever(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a dataset whose retriever has the ``fix_id_list`` that OpenCompass before 0.2 gave to the inferencer."""
    inference = values.get("infer_cfg")
    parts = [inference.get(key) if isinstance(inference, Mapping) else None for key in ("inferencer", "retriever")]
    asked, chosen = parts
    if not isinstance(inference, Mapping) or not isinstance(asked, Mapping) or not isinstance(chosen, Mapping):
        return values
    if "fix_id_list" not in asked or "fix_id_list" in chosen:
        return values
    moved = {
        "inferencer": ConfigDict(
            {key: each for key, each in asked.items() if key != "fix_id_list"}, location=location_of(asked)
        ),
        "retriever": ConfigDict({**chosen, "fix_id_list": asked["fix_id_list"]}, location=location_of(chosen)),
    }
    said = ConfigDict({**inference, **moved}, location=location_of(inference))
    return ConfigDict({**values, "infer_cfg": said}, location=location_of(values))


def with_names_of_today(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a dataset whose type and evaluator have the names of today; which one was renamed is said."""
    evaluation: Any = values.get("eval_cfg")
    judge = evaluation.get("evaluator") if isinstance(evaluation, Mapping) else None
    changed: dict[str, Any] = {}
    if (today := _today(values.get("type"), "datasets", values)) is not None:
        changed["type"] = today
    if isinstance(judge, Mapping) and (today := _today(judge.get("type"), "evaluators", judge)) is not None:
        named = ConfigDict({**judge, "type": today}, location=location_of(judge))
        changed["eval_cfg"] = ConfigDict({**evaluation, "evaluator": named}, location=location_of(evaluation))
    return ConfigDict({**values, **changed}, location=location_of(values)) if changed else values


def _today(kind: Any, family: str, values: Mapping[str, Any]) -> Reference | str | None:
    """Return today's name of a class; ``None`` where it has one, or is a class of the config's own or of a fork's."""
    from proctor.guests.clones import is_defined_around  # most configs name what is here

    if not isinstance(kind, Reference | str) or signature_of(family, kind):
        return None
    name, whole = short_name(kind), dotted_name(kind)
    if "." in whole and not project_named(kind):
        return None
    same = {each for each in known_names("opencompass", family) if _bare(each) == _bare(_RENAMED.get(name, name))}
    place = location_of(values)
    if len(same) != 1 or name in same or (place is not None and is_defined_around(Path(place.file), name)):
        return None
    (today,) = same
    say_once(f"'{name}' is read as {today}, as OpenCompass calls it today")
    renamed = whole.removesuffix(name) + today
    return replace(kind, name=renamed) if isinstance(kind, Reference) else renamed


def _bare(name: str) -> str:
    return name.replace("_", "").casefold()
