"""Definition of a config's dataset by value, for fingerprints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proctor.dialects.aisbench.config import DatasetConfig
from proctor.dialects.aisbench.evaluators import metric_in
from proctor.dialects.aisbench.judged_names import ASKING
from proctor.dialects.aisbench.judges import judge_engine, judge_of_config, judges_in
from proctor.dialects.aisbench.options import DatasetOptions
from proctor.dialects.aisbench.values import ConfigFunction, Reference, as_data, short_name
from proctor.engines.engine import Engine
from proctor.errors import ProctorError
from proctor.guests.clones import code_in_clone
from proctor.guests.code import code_of_named
from proctor.recipes.fingerprint import Definition
from proctor.recipes.held_code import code_of, code_of_file
from proctor.recipes.metric_code import with_code
from proctor.scoring.judges.judge_client import who_judges
from proctor.scoring.judges.wording import digest_of_words
from proctor.settings import settings

_OF_ANSWERS = ("pred_postprocessor", "dataset_postprocessor", "pred_role")
"""Keys of an ``eval_cfg`` that say how answers are read; all others say what scores them."""


def definition_of(config: DatasetConfig, options: DatasetOptions) -> Definition:
    """Return how a dataset's answers are read and scored."""
    evaluation: dict[str, Any] = as_data(config.evaluation)
    runs = {name: config.values[name] for name in ("k", "n") if name in config.values}
    code = dict(_code_of(config.values))
    return Definition(
        extraction={
            "kind": config.inferencer.kind,
            "answers": {name: evaluation[name] for name in _OF_ANSWERS if name in evaluation},
            "model": as_data(options.postprocessor_of(config.abbr)),
            **({"code": code} if code else {}),
        },
        metrics=with_code(
            [
                {name: each for name, each in evaluation.items() if name not in _OF_ANSWERS},
                as_data(runs),
                *([code] if code else []),
            ]
        ),
        held=code,
        scorers=[*_scorers(evaluation), *_judges(config)],
    )


def _scorers(evaluation: Mapping[str, Any]) -> list[object]:
    try:
        return [metric_in(evaluation.get("evaluator") or {})]
    except ProctorError:  # whoever grades says so
        return []


@dataclass(frozen=True, eq=False)
class _Asked:
    """A judge of a config: who it is, and what it is asked with."""

    name: str
    template: object
    model: Mapping[str, Any] | None

    def judges(self) -> list[Engine]:
        """Return who judges; errors as of :func:`judge_engine`."""
        return [judge_engine(judge_of_config(self.model), self.model)]

    def asked_with(self) -> dict[str, Any]:
        """Return the judge by name, its words by digest, its model by identity."""
        try:
            models = [who_judges(each) for each in self.judges()]
        except ProctorError:  # whoever checks says so
            models = []
        return {"judge": self.name, "words": "its own", "prompt": digest_of_words([self.template]), "models": models}


def _judges(config: DatasetConfig) -> Iterator[_Asked]:
    """Yield the judges that read answers, and those of evaluators, named by the config or by the user's variables."""
    asked = config.values.get("judge_infer_cfg")
    if isinstance(asked, Mapping) and isinstance(model := asked.get("judge_model"), Mapping):
        yield _Asked("judge_infer_cfg", as_data({k: v for k, v in asked.items() if k != "judge_model"}), model)
    judge = config.evaluation.get("evaluator")
    parts = [judge, judge.get("llm_evaluator")] if isinstance(judge, Mapping) else []
    for each in (part for part in parts if isinstance(part, Mapping)):
        name = short_name(each.get("type", ""))
        if name in ASKING and name != "CascadeEvaluator":
            given = each.get("judge_cfg")
            models = judges_in(given) if given is None or isinstance(given, Mapping) else []
            fit = (model for model in models if model is None or isinstance(model, Mapping))  # whoever checks says so
            yield from (_Asked(name, as_data(each.get("prompt_template")), model) for model in fit)


def _code_of(value: Any, key: str = "", folder: Path | None = None) -> Iterator[tuple[str, str]]:
    """Yield the files of functions and classes that a config brings, each with the digest of what is in it."""
    place = getattr(value, "location", None)
    folder = Path(place.file).parent if place is not None and place.file else folder
    if isinstance(value, Mapping):
        for name, each in value.items():
            yield from _code_of(each, str(name), folder)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _code_of(each, folder=folder)
    elif isinstance(value, ConfigFunction):
        if value.location is not None and value.location.file:
            found = code_of_file(Path(value.location.file), Path.cwd())
            yield from ((f"def {value.name}: {path}", digest) for path, digest in found.items())
    elif settings.trust_code:  # without trust nothing else of it runs
        name = value.name if isinstance(value, Reference) else value if key == "type" else None
        if isinstance(name, str):
            in_clone = {} if folder is None else code_in_clone(folder / "config.py", name)
            yield from (in_clone or code_of_named(name.rpartition(".")[0], folder)).items()
        elif callable(value):
            yield from code_of([value]).items()
