"""``eval_cfg``: from raw predictions through the post-processors to scores, in upstream's order."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import repeat
from typing import Any

from proctor.dialects.aisbench.absent_evaluators import ABSENT, RECORDED_ONLY
from proctor.dialects.aisbench.postprocessors import postprocessor, postprocessor_problems, project_of
from proctor.dialects.aisbench.signatures import Signature, signature
from proctor.dialects.aisbench.trusted_evaluators import class_evaluator, evaluator_class
from proctor.dialects.aisbench.values import UPSTREAM, as_data, dotted_name, location_of, short_name
from proctor.errors import Diagnostic, Location, MissingExtraError, ProctorError, ScoringError, did_you_mean
from proctor.ir import Failure
from proctor.scoring.evaluators.cases import Cases, Verdict
from proctor.scoring.evaluators.evaluation import Evaluation, Outcome
from proctor.scoring.evaluators.mathematics import LIVE_MATH_HINT, live_math_problem
from proctor.scoring.evaluators.metrics import metric_evaluator
from proctor.scoring.evaluators.subjective_readers import SUBJECTIVE_UNITS
from proctor.scoring.metric import Metric
from proctor.scoring.metric_table import MetricEntry, check_metric, metric_entry, metric_of, metric_table
from proctor.scoring.registered_metric import call_evaluator, check_arguments
from proctor.scoring.registry import OPENCOMPASS, is_in_catalog, named
from proctor.scoring.repeats import most_frequent
from proctor.scoring.score import Score, Unit
from proctor.settings import settings

Row = Mapping[str, Any]

_LONGEST_SHOWN = 80
"""Characters of a value that a message shows."""


def evaluate(
    eval_cfg: Mapping[str, Any],
    predictions: Sequence[Any],
    references: Sequence[Any],
    rows: Sequence[Row],
    prompts: Sequence[Any] = (),
    model_postprocessor: Mapping[str, Any] | None = None,
    *,
    runs: tuple[int | Sequence[int], int] = (1, 1),
    columns: Mapping[str, Sequence[Any]] | None = None,
) -> Evaluation:
    """Return the scores of raw predictions.

    Predictions go through the model's ``pred_postprocessor``, then the dataset's, then the evaluator's own; references
    through ``dataset_postprocessor``. ``pred_role`` changes nothing, as upstream: there its condition never holds.

    Args:
        eval_cfg: Of the dataset's config.
        predictions: What the model said (a list where it was asked several times at once), or a failure.
        references: The output column.
        rows: The whole rows.
        prompts: What was asked.
        model_postprocessor: ``pred_postprocessor`` of the model's config.
        runs: ``k`` and ``n`` of the dataset's config.
        columns: Further columns of the answers (``ppl`` …).

    Raises:
        ScoringError: The evaluator or a post-processor is unknown, or there is nothing to score.
    """
    functions = prediction_functions(eval_cfg, model_postprocessor)
    parsed = list(predictions)
    for function in functions:
        parsed = [processed(function, *each) for each in zip(parsed, rows or repeat({}), strict=False)]
    cases = Cases(parsed, references, rows, prompts, columns or {}, project_of_config(eval_cfg))
    return evaluated(eval_cfg, cases, runs, in_blocks=cases.project != "aisbench")


def evaluated(
    eval_cfg: Mapping[str, Any], cases: Cases, runs: tuple[int | Sequence[int], int] = (1, 1), *, in_blocks: bool = True
) -> Evaluation:
    """Return the scores of predictions that have been through the post-processors.

    Args:
        eval_cfg: Of the dataset's config.
        cases: The predictions; references are as the output column has them.
        runs: ``k`` and ``n`` of the dataset's config.
        in_blocks: Whether the runs stand behind each other, rather than those of one row.

    Raises:
        ScoringError: The evaluator or a post-processor is unknown, or there is nothing to score.
    """
    judge = evaluator(eval_cfg.get("evaluator") or {})
    references: Sequence[Any] = cases.references
    if config := eval_cfg.get("dataset_postprocessor"):
        function = postprocessor(config, cases.project)
        rows: Iterable[Row] = cases.rows or repeat({})
        references = [processed(function, gold, row) for gold, row in zip(references, rows, strict=False)]
    found = replace(cases, references=references)
    failures = {i: failure for i, pair in enumerate(found.pairs()) if (failure := _failure(pair)) is not None}
    return Outcome(judge, found, failures, runs, in_blocks).evaluation()


def project_of_config(eval_cfg: Mapping[str, Any]) -> str:
    """Return whose rules an ``eval_cfg`` means."""
    return project_of(dotted_name((eval_cfg.get("evaluator") or {}).get("type")))


def prediction_functions(
    eval_cfg: Mapping[str, Any], model_postprocessor: Mapping[str, Any] | None = None
) -> list[Callable[[Any, Row], Any]]:
    """Return what is done to each answer, in order: the model's post-processor, the dataset's, the evaluator's own.

    Raises:
        ScoringError: A post-processor is unknown.
    """
    project = project_of_config(eval_cfg)
    own = (eval_cfg.get("evaluator") or {}).get("pred_postprocessor")
    found = [
        postprocessor(each, project) for each in (model_postprocessor, eval_cfg.get("pred_postprocessor"), own) if each
    ]
    return [*found, _voted] if eval_cfg.get("sc_size") is not None else found


def _voted(answer: Any, row: Row) -> Any:
    """Return the most frequent of several answers (``sc_size``)."""
    del row
    return most_frequent(answer) if isinstance(answer, list) else answer


def processed(function: Callable[[Any, Row], Any], value: Any, row: Row) -> Any:
    """Return what a post-processor makes of an answer; a failure where it stumbles."""
    if isinstance(value, Failure):
        return value
    try:
        return function(value, row)
    except MissingExtraError:
        raise
    except (ProctorError, ValueError, TypeError, IndexError, KeyError, AttributeError) as error:
        return Failure("processor", f"{type(error).__name__}: {error}", retryable=False)


def _failure(pair: tuple[Any, Any]) -> Failure | None:
    return next((each for each in pair if isinstance(each, Failure)), None)


# -- evaluators by name -------------------------------------------------------------------------------------------


def evaluator_names() -> list[str]:
    """Return the names of all evaluators that are known."""
    return sorted({name.rpartition(".")[2] for name in metric_table().of(OPENCOMPASS)})


def is_known(config: Mapping[str, Any]) -> bool:
    """Return whether an ``evaluator`` config names a metric that works without upstream's class."""
    return _entry(config) is not None or _is_metric(config) or is_recorded_only(config)


def is_recorded_only(config: Mapping[str, Any]) -> bool:
    """Return whether an evaluator measures nothing, so that answers are only recorded."""
    whole = dotted_name(config.get("type"))
    return whole.rpartition(".")[2] in RECORDED_ONLY and whole.partition(".")[0] in ("ais_bench", whole)


def _entry(config: Mapping[str, Any]) -> MetricEntry | None:
    """Return the evaluator that a config names; classes are known where they come from upstream's packages."""
    whole = dotted_name(config.get("type"))
    if "." in whole and whole.partition(".")[0] not in UPSTREAM:
        return None
    found = metric_table().find(_known_name(whole), OPENCOMPASS, {OPENCOMPASS})
    return found if found is not None and found.reads == "columns" else None


def _is_metric(config: Mapping[str, Any]) -> bool:
    """Return whether a config names a metric of another system: by its name in a catalog or in the table."""
    kind = config.get("type")
    return isinstance(kind, str) and (is_in_catalog(kind) or metric_entry(named(kind)[0], OPENCOMPASS) is not None)


def _known_name(whole: str) -> str:
    """Return the name in the table: with the folder of datasets before it where several classes have one name."""
    name = whole.rpartition(".")[2]
    _, folder, rest = whole.rpartition(".datasets.")
    first = rest.partition(".")[0]
    known = metric_table().of(OPENCOMPASS) if folder else {}
    return next((each for each in (f"{first}.{name}", f"datasets.{name}") if each in known), name)


def evaluator(config: Mapping[str, Any]) -> Callable[[Cases], Verdict]:
    """Return the evaluator that an ``evaluator`` config stands for, with its arguments.

    Raises:
        ScoringError: None is known by this name; the error says why, where that is on purpose.
    """
    place = getattr(config, "location", None)
    if not config.get("type"):
        raise ScoringError(
            "the eval_cfg names no evaluator",
            location=place,
            hint="evaluator=dict(type=AccEvaluator); --predict-only records answers without one",
        )
    arguments = _arguments(config)
    if is_recorded_only(config):
        return lambda cases: Verdict({})
    if (entry := _entry(config)) is not None:
        return _called(entry, arguments, place)
    if _is_metric(config):
        return _metric(str(config["type"]), arguments, place)
    whole = dotted_name(config.get("type"))
    kind = config["type"] if inspect.isclass(config["type"]) else None
    if settings.trust_code and (kind := kind or evaluator_class(whole)) is not None:
        return class_evaluator(kind, arguments, place)
    raise _unknown(whole, place)


def _called(entry: MetricEntry, arguments: Mapping[str, Any], place: Location | None) -> Callable[[Cases], Verdict]:
    def judge(cases: Cases) -> Verdict:
        try:
            return call_evaluator(entry, {**entry.arguments, **arguments}, cases)
        except ScoringError as error:
            raise error.located(place) from error.__cause__

    return judge


def _metric(name: str, arguments: Mapping[str, Any], place: Location | None) -> Callable[[Cases], Verdict]:
    try:
        return metric_evaluator(metric_of(name, OPENCOMPASS, as_data(arguments)))
    except ProctorError as error:
        raise error.located(place) from None


def metric_in(config: Mapping[str, Any]) -> Metric | None:
    """Return the metric of a catalog that an evaluator names; ``None`` where it names none.

    Raises:
        ProctorError: It cannot be made.
    """
    if "type" not in config or _entry(config) is not None or not _is_metric(config):
        return None
    return metric_of(str(config["type"]), OPENCOMPASS, as_data(_arguments(config)))


def _unknown(whole: str, place: Location | None) -> ScoringError:
    name = _known_name(whole) if whole.partition(".")[0] != "metrics" else whole
    why = next((text for start, text in ABSENT.items() if name.startswith(start)), "")
    return ScoringError(
        f"the evaluator '{name}' cannot be computed here",
        location=place,
        why=why or "its class would have to run; that needs --trust-code, and its package installed",
        hint="" if why else did_you_mean(name, [*evaluator_names(), *metric_table().names()]),
    )


def reads_rows(config: Mapping[str, Any]) -> bool:
    """Return whether an evaluator may look at the whole rows; they are kept for it then."""
    entry = _entry(config)
    return entry is None or entry.reads_rows


def is_class(config: Mapping[str, Any]) -> bool:
    """Return whether an evaluator is a class of upstream's or of the config's own, which runs where code is trusted."""
    return _entry(config) is None and not _is_metric(config) and not is_recorded_only(config)


def unit_of(config: Mapping[str, Any], score: str) -> tuple[Unit, bool | None]:
    """Return in which unit an evaluator's score is, and whether more is better."""
    if score.endswith("_count"):
        return "raw", None
    if (entry := _entry(config)) is not None:
        own: Mapping[str, Unit] = entry.units
        of_judgements = SUBJECTIVE_UNITS.get(short_name((config.get("dict_postprocessor") or {}).get("type", "")))
        return of_judgements or own.get(score, entry.unit), entry.higher_is_better
    if _is_metric(config):
        metric = metric_of(str(config["type"]), OPENCOMPASS, as_data(_arguments(config)))
        return metric.unit or "raw", metric.higher_is_better
    return "percent", None


def declared_main(config: Mapping[str, Any]) -> Score | None:
    """Return an evaluator's main score without its value; ``None`` where its unit is known only when it has scored."""
    known = _entry(config)
    if is_recorded_only(config) or (known is None and not _is_metric(config)) or (known is not None and known.units):
        return None
    unit, better = unit_of(config, "")
    return Score(short_name(str(config["type"])), None, unit=unit, higher_is_better=better)


def _arguments(config: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in config.items() if key not in ("type", "pred_postprocessor")}


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
    arguments = _arguments(config)
    if (entry := _entry(config)) is not None:
        yield from entry.check({"project": project_of(dotted_name(config.get("type"))), **arguments})
        check_arguments(entry, arguments)
        yield from _judge_problems(entry, config)
        names = ("model_name", "url", "use_extract_model")
        given = {name: arguments[name] for name in names if name in arguments}
        if entry.name == "LiveMathBenchEvaluator" and (problem := live_math_problem(**given)):
            yield Diagnostic(problem, hint=LIVE_MATH_HINT)
    elif _is_metric(config):
        yield from check_metric(config["type"], OPENCOMPASS, as_data(arguments))


def _judge_problems(entry: MetricEntry, config: Mapping[str, Any], *, named: bool = False) -> Iterator[Diagnostic]:
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
        if (entry := _entry(config)) is not None:
            check_arguments(entry, _arguments(config))
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
    entry = _entry(config) if isinstance(config, Mapping) else None
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
