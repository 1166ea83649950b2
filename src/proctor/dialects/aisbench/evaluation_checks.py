"""Checks an ``eval_cfg`` before a run: names, arguments, packages and judges."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from proctor.dialects.aisbench.evaluators import arguments_of, entry_of, evaluator, is_metric
from proctor.dialects.aisbench.judged_names import ASKING
from proctor.dialects.aisbench.postprocessors import postprocessor, postprocessor_problems, project_of
from proctor.dialects.aisbench.signatures import Signature, signature
from proctor.dialects.aisbench.values import UPSTREAM, as_data, dotted_name, location_of, short_name
from proctor.errors import Diagnostic, ProctorError
from proctor.lazy import Deferred
from proctor.scoring.metric_table import MetricEntry, check_arguments, check_metric
from proctor.scoring.named_table import OPENCOMPASS

if TYPE_CHECKING:
    from proctor.scoring.evaluators import mathematics
else:
    mathematics = Deferred("proctor.scoring.evaluators.mathematics")

_LONGEST_SHOWN = 80  # characters of a value that a message shows


def check_evaluator(config: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """Yield what is wrong with an ``evaluator`` config that can be known before anybody is asked."""
    place = getattr(config, "location", None)
    try:
        evaluator(config)
        found: Sequence[Diagnostic] = list(_checks(config))
    except ProctorError as error:
        found = error.diagnostics
    yield from (each.at(place, "$.eval_cfg.evaluator") for each in found)


def _checks(config: Mapping[str, Any]) -> Iterator[Diagnostic]:
    arguments = arguments_of(config)
    if (entry := entry_of(config)) is not None:
        yield from entry.check({"project": project_of(dotted_name(config.get("type"))), **arguments})
        check_arguments(entry, arguments)
        yield from _judge_problems(entry, config)
        names = ("model_name", "url", "use_extract_model")
        given = {name: arguments[name] for name in names if name in arguments}
        if entry.name == "LiveMathBenchEvaluator" and (problem := mathematics.live_math_problem(**given)):
            yield Diagnostic(problem, hint=mathematics.LIVE_MATH_HINT)
    elif is_metric(config):
        yield from check_metric(config["type"], OPENCOMPASS, as_data(arguments))


def _judge_problems(entry: MetricEntry, config: Mapping[str, Any], *, named: bool = False) -> Iterator[Diagnostic]:
    if entry.name not in ASKING:
        return
    from proctor.dialects.aisbench.judges import judge_problems, shape_problems  # it names evaluators itself

    if wrong := list(shape_problems(entry.name, config)):
        yield from wrong
        return
    if (rule := config.get("rule_evaluator")) and entry.name == "CascadeEvaluator":
        yield from _named_problems(rule) if named else check_evaluator(rule)
    yield from judge_problems(entry.name, config, named=named)


def evaluation_slips(eval_cfg: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """Yield what is misspelt in an ``eval_cfg``: names that are nearly known, arguments that an evaluator lacks.

    What is named rightly and cannot be computed here is not among them: its prompts can be looked at all the same.
    """
    processors = {f"$.eval_cfg.{key}": part for key, part in _processors(eval_cfg)}
    for problem in evaluation_problems(eval_cfg):
        kind = "postprocessors" if problem.path in processors else "evaluators"
        part = processors.get(problem.path, eval_cfg.get("evaluator"))
        taken = _upstreams(kind, part)
        if taken is None:
            if problem.hint.startswith("did you mean") or "argument" in problem.what:
                yield problem
        elif "argument" in problem.what and not taken.is_open and set(part or ()) - {*_OUTSIDE, *taken.names}:
            yield problem


def _processors(eval_cfg: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the post-processors of an ``eval_cfg``, each with where it stands."""
    judge = eval_cfg.get("evaluator")
    for key in ("pred_postprocessor", "dataset_postprocessor"):
        yield key, eval_cfg.get(key)
    if isinstance(judge, Mapping):
        yield "evaluator.pred_postprocessor", judge.get("pred_postprocessor")


_OUTSIDE = ("type", "pred_postprocessor")


def _upstreams(kind: str, part: Any) -> Signature | None:
    """Return what upstream's class or function of a part takes; ``None`` where neither package has it."""
    name = short_name(part["type"]) if isinstance(part, Mapping) and "type" in part else ""
    if name.strip("0123456789_") != name:  # upstream makes classes with numbers at their ends in loops
        return Signature(is_open=True)
    found = (signature(project, kind, name) for project in ("opencompass", "aisbench"))
    return next((each for each in found if each is not None), None)


def evaluation_problems(eval_cfg: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """Yield what is wrong with the names and arguments in an ``eval_cfg``, on whatever machine it is run.

    Classes and functions of the config's own are not looked at: that would need their code.
    """
    config = eval_cfg.get("evaluator") or {}
    if not isinstance(config, Mapping) or _is_own(config.get("type")):
        return
    project = project_of(dotted_name(config.get("type")))
    yield from _named_problems(config)
    for key, each in _processors(eval_cfg):
        if isinstance(each, Mapping) and each and not _is_own(each.get("type")):
            try:
                postprocessor(each, project)
            except ProctorError as error:
                yield from (found.at(location_of(each), f"$.eval_cfg.{key}") for found in error.diagnostics)


def _named_problems(config: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """Yield what is wrong with an evaluator by its name, its arguments and the judge that it names."""
    found: Sequence[Diagnostic] = []
    try:
        evaluator(config)
        if (entry := entry_of(config)) is not None:
            check_arguments(entry, arguments_of(config))
            found = list(_judge_problems(entry, config, named=True))
    except ProctorError as error:
        found = error.diagnostics
    yield from (each.at(location_of(config), "$.eval_cfg.evaluator") for each in found)


def _is_own(kind: Any) -> bool:
    """Return whether something is code of the config's own, and not a name of upstream's or of a table."""
    return not isinstance(kind, str) and dotted_name(kind).partition(".")[0] not in UPSTREAM


def row_problems(eval_cfg: Mapping[str, Any], references: Callable[[], Iterable[Any]]) -> Iterator[Diagnostic]:
    """Yield packages and data that the evaluator needs for rows that are asked about, and that are not here."""
    config = eval_cfg.get("evaluator") or {}
    entry = entry_of(config) if isinstance(config, Mapping) else None
    for problem in entry.check_rows(references) if entry is not None else ():
        yield problem.at(location_of(config), "$.eval_cfg.evaluator")


def grading_problems(
    eval_cfg: Mapping[str, Any], model_postprocessor: Mapping[str, Any] | None = None
) -> Iterator[Diagnostic]:
    """Yield what is wrong with an ``eval_cfg`` that can be known before anybody is asked.

    Args:
        eval_cfg: Of the dataset's config.
        model_postprocessor: ``pred_postprocessor`` of the model's config.
    """
    config = eval_cfg.get("evaluator") or {}
    if not isinstance(config, Mapping):
        shown = repr(config)[:_LONGEST_SHOWN]
        yield Diagnostic(
            "the evaluator is not a dictionary", location_of(eval_cfg), "$.eval_cfg.evaluator", f"it is {shown}"
        )
        return
    project = project_of(dotted_name(config.get("type")))
    yield from check_evaluator(config)
    named = [("models.pred_postprocessor", model_postprocessor)]
    named += [(f"eval_cfg.{key}", each) for key, each in _processors(eval_cfg)]
    for place, each in named:
        yield from (problem.at(path=f"$.{place}") for problem in postprocessor_problems(each, project))
