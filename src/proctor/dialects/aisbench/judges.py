"""``GenericLLMEvaluator``: another model says whether answers are right."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from proctor.artifacts.effects_of import effects_of
from proctor.dialects.aisbench.judged_names import ASKING
from proctor.dialects.aisbench.models import ModelConfig, author_of_config, model_config
from proctor.dialects.aisbench.postprocessors import postprocessor
from proctor.dialects.aisbench.prompts import PromptBuilder
from proctor.dialects.aisbench.values import it_is, location_of, short_name
from proctor.effects import Effect
from proctor.engines.engine import Engine
from proctor.engines.engine_registry import make_engine
from proctor.engines.model_args import Origin
from proctor.errors import Diagnostic, ProctorError, ScoringError, did_you_mean, problems_of
from proctor.formats.meta_template import MetaTemplate
from proctor.ir import Failure
from proctor.scoring.evaluators.cases import Cases, Verdict, percent, percent_of_sum, share
from proctor.scoring.evaluators.judged_answers import reported
from proctor.scoring.evaluators.judgement_readers import REPORTS as GENERIC_REPORTS
from proctor.scoring.evaluators.judgement_readers import Report, Tagged, labels_of_parts
from proctor.scoring.evaluators.subjective_readers import SUBJECTIVE_REPORTS
from proctor.scoring.judges.judge_client import JudgePrompt, ask
from proctor.scoring.text.how_read import each_of, no_verdict
from proctor.secrets import variable

_REPORTS: Mapping[str, Report] = {**GENERIC_REPORTS, **SUBJECTIVE_REPORTS}
_TAGGED = ("generic_llmjudge_postprocess", "generic_llmjudge_academic_postprocess")
READERS = (*_TAGGED, *_REPORTS)


def report_of(config: Mapping[str, Any] | None) -> Report:
    """Return what makes a verdict of judgements, by a ``dict_postprocessor``.

    Raises:
        ScoringError: There is none, or it is not known.
    """
    if not config:
        raise ScoringError("the evaluator says nothing about how judgements are read", hint="add a dict_postprocessor")
    name = short_name(config.get("type", ""))
    if name in _TAGGED:
        return Tagged(str(config.get("true_tag", "A")), str(config.get("false_tag", "B")))
    if name in _REPORTS:
        return _REPORTS[name]
    raise ScoringError(
        f"judgements cannot be read by '{name}' here",
        location=getattr(config, "location", None),
        why=f"known are {', '.join(READERS)}",
        hint=did_you_mean(name, READERS),
    )


_MODEL, _KEY, _BASE = "OC_JUDGE_MODEL", "OC_JUDGE_API_KEY", "OC_JUDGE_API_BASE"


def generic_judge(
    cases: Cases,
    prompt_template: Mapping[str, Any],
    judge_cfg: Mapping[str, Any] | None = None,
    dict_postprocessor: Mapping[str, Any] | None = None,
    dataset_cfg: Mapping[str, Any] | None = None,
    keep_predictions: bool = False,
) -> Verdict:
    """Share of answers that a judge finds right (``GenericLLMEvaluator``), in percent.

    The judge's prompt may use the columns of the row, ``prediction`` and ``obj_gold``.

    Args:
        cases: Predictions to judge.
        prompt_template: Of the judge's prompt.
        judge_cfg: The judge, as configs have models; empty: what the variables ``OC_JUDGE_MODEL``, ``OC_JUDGE_API_KEY``
            and ``OC_JUDGE_API_BASE`` say.
        dict_postprocessor: How judgements are read.
        dataset_cfg: Without effect: the rows are those that were asked about, as in every config of upstream's.
        keep_predictions: Without effect: predictions stand beside the judgements in the samples.

    Raises:
        ScoringError: There is no judge, or judgements cannot be read so.
    """
    del dataset_cfg, keep_predictions
    report = report_of(dict_postprocessor)
    return reported(report, cases, _judgements(cases, prompt_template, judge_cfg))


def cascade(
    cases: Cases,
    llm_evaluator: Mapping[str, Any],
    rule_evaluator: Mapping[str, Any] | None = None,
    parallel: bool = True,
) -> Verdict:
    """Share of answers that a rule or a judge finds right, in percent (``CascadeEvaluator``).

    Args:
        cases: Predictions to judge.
        llm_evaluator: The config of the judge.
        rule_evaluator: The config of the rule.
        parallel: Whether the judge is asked about every answer, and not only about those that the rule finds wrong.

    Raises:
        ScoringError: There is no rule, or no judge.
    """
    from proctor.dialects.aisbench.evaluators import evaluator

    if not rule_evaluator:
        raise ScoringError("the evaluator has no rule", hint="add a rule_evaluator")
    by_rule = _marks(evaluator(rule_evaluator)(_processed(cases, rule_evaluator)))
    asked = [i for i, right in enumerate(by_rule) if parallel or not right]
    template: Mapping[str, Any] = llm_evaluator.get("prompt_template") or {}
    said = _judgements(_processed(cases.select(asked), llm_evaluator), template, llm_evaluator.get("judge_cfg"))
    judged = dict(zip(asked, said, strict=True))
    failures = {i: each for i, each in judged.items() if isinstance(each, Failure) and not by_rule[i]}
    for i in each_of(range(len(by_rule))):
        if i in judged and i not in failures and not (by_rule[i] or _VERDICT.match(str(judged[i]))):
            no_verdict()
    counted = [i for i in range(len(by_rule)) if i not in failures]
    marks = [by_rule[i] or _says_right(judged.get(i)) for i in counted]
    verdict = share(marks, rule=percent_of_sum)
    right = dict(zip(counted, marks, strict=True))
    column = [100.0 * right[i] if i in right else None for i in range(len(by_rule))]
    whole = [right.get(i, False) for i in range(len(by_rule))]
    stats = {
        "total_samples": len(by_rule),
        "rule_correct": sum(by_rule),
        "rule_accuracy": percent_of_sum(by_rule),
        "llm_evaluated": len(asked) - len(failures),
        "llm_correct": sum(map(_says_right, judged.values())),
    }
    return Verdict({**verdict.scores, "cascade_stats": stats}, {"accuracy": column}, whole, failures=failures)


def majority(
    cases: Cases,
    prompt_template: Mapping[str, Any],
    judge_cfg: Mapping[str, Any] | None = None,
    dict_postprocessor: Mapping[str, Any] | None = None,
    dataset_cfg: Mapping[str, Any] | None = None,
    keep_predictions: bool = False,
) -> Verdict:
    """Share of answers that most of several judges find right in all parts, in percent (``ATLASLLMEvaluator``).

    Args:
        cases: Answers as ``atlas_pred_postprocess`` leaves them.
        prompt_template: Of the judges' prompt.
        judge_cfg: ``judgers``: a list of judges; empty: the one of the variables ``OC_JUDGE_MODEL`` and its like.
        dict_postprocessor: ``atlas_judge_postprocess``, which is how judgements are read.
        dataset_cfg: Without effect: the rows are those that were asked about.
        keep_predictions: Without effect: predictions stand beside the judgements in the samples.

    Raises:
        ScoringError: There is no judge, or no judgement.
    """
    del dataset_cfg, keep_predictions
    given = [each["answers"] if isinstance(each, Mapping) else each for each in cases.predictions]
    mark = list((dict_postprocessor or {}).get("think_tags", ("", "</think>")))[-1]
    said = [_judgements(replace(cases, predictions=given), prompt_template, each) for each in judges_in(judge_cfg)]
    rows = list(zip(*said, strict=True))
    failures = {i: bad for i, each in enumerate(rows) if (bad := next(filter(_is_failure, each), None)) is not None}
    kept = [i for i in range(len(rows)) if i not in failures]
    if not kept:
        raise ScoringError("the judges answered nothing", why=next(iter(failures.values())).message if failures else "")
    marks: dict[int, bool] = {}
    for i, texts in zip(kept, each_of([rows[i] for i in kept]), strict=True):
        labels = [labels_of_parts(str(text), mark) for text in texts]
        if any(not each or None in each for each in labels):
            no_verdict()
        marks[i] = sum(all(label == "A" for label in each) for each in labels) > len(said) // 2
    column = [100.0 * marks[i] if i in marks else None for i in range(len(rows))]
    scores = {"accuracy": percent([*marks.values()])}
    parsed = ["\n".join(map(str, each)) for each in rows]
    return Verdict(scores, {"accuracy": column}, parsed=parsed, failures=failures, described=True)


def _is_failure(value: Any) -> bool:
    return isinstance(value, Failure)


def judges_in(config: Mapping[str, Any] | None) -> list[Mapping[str, Any] | None]:
    """Return the judges that a ``judge_cfg`` names: one, or those of ``judgers``."""
    several = (config or {}).get("judgers")
    return list(several) if isinstance(several, list | tuple) and several else [config]


def evaluation_effects(config: object) -> list[Effect]:
    """Return what the evaluators in a part of a config do besides computing: the judges that they ask.

    What is wrong with one of them is said by :func:`judge_problems`.
    """
    if isinstance(config, list | tuple):
        return [effect for each in config for effect in evaluation_effects(each)]
    if not isinstance(config, Mapping):
        return []
    from proctor.dialects.aisbench.evaluators import metric_in  # it names evaluators itself

    found: list[Effect] = []
    with suppress(ProctorError):
        if (metric := metric_in(config)) is not None:
            found += effects_of(metric)
    for key, value in config.items():
        if key == "judge_cfg" and isinstance(value, Mapping) and value:
            for judge in (each for each in judges_in(value) if isinstance(each, Mapping)):
                with suppress(ProctorError):
                    found += effects_of(judge_engine(judge_of_config(judge), judge))
        elif key != "judge_cfg":
            found += evaluation_effects(value)
    return list(dict.fromkeys(found))


def judge_problems(name: str, config: Mapping[str, Any], *, named: bool = False) -> Iterator[Diagnostic]:
    """Yield what is known to be wrong with an evaluator that asks a judge before anybody is asked.

    Args:
        name: ``GenericLLMEvaluator`` or ``CascadeEvaluator``; others ask nobody.
        config: The evaluator.
        named: Whether only a judge that the config names is looked at, not the one of the user's variables.
    """
    if name == "CascadeEvaluator":
        config = config.get("llm_evaluator") or {}
    elif name == "LMEvaluator":
        from proctor.dialects.aisbench.pair_judges import pair_problems  # it asks as judges here do

        yield from pair_problems(config, config.get("of_dataset") or {})
    elif name == "GenericLLMEvaluator":
        yield from problems_of(lambda: report_of(config.get("dict_postprocessor")))
    elif name != "ATLASLLMEvaluator":
        return
    for judge in judges_in(config.get("judge_cfg")):
        if named and not judge:
            continue
        yield from problems_of(partial(_check_judge, config.get("prompt_template") or {}, judge))


_DICTIONARIES = ("prompt_template", "judge_cfg", "dict_postprocessor", "llm_evaluator", "rule_evaluator")
"""Parts of evaluators that ask a judge."""


def shape_problems(name: str, config: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """Yield parts of an evaluator by a judge that are not dictionaries, and a cascade without a rule.

    Args:
        name: The evaluator; others than those by a judge have no such parts.
    """
    if name not in ASKING:
        return
    inner = config.get("llm_evaluator")
    for part in (config, inner if isinstance(inner, Mapping) else {}):
        for key in _DICTIONARIES:
            if part.get(key) is not None and not isinstance(part[key], Mapping):
                yield Diagnostic(f"'{key}' of {name} is a dictionary", location_of(part), why=it_is(part[key]))
        several = part["judge_cfg"].get("judgers") if isinstance(part.get("judge_cfg"), Mapping) else ()
        listed = several if isinstance(several, list | tuple) else ()
        yield from (
            Diagnostic("a judge is a dictionary", location_of(part), why=it_is(each))
            for each in listed
            if not isinstance(each, Mapping)
        )
    if name == "CascadeEvaluator" and not config.get("rule_evaluator"):
        yield Diagnostic("the evaluator has no rule", location_of(config), hint="add a rule_evaluator")


def judge_templates(config: object, path: str = "$.eval_cfg.evaluator") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the prompts of the judges in an evaluator, each with where it stands."""
    if not isinstance(config, Mapping):
        return
    if isinstance(template := config.get("prompt_template"), Mapping):
        yield f"{path}.prompt_template", template
    yield from judge_templates(config.get("llm_evaluator"), f"{path}.llm_evaluator")


def _check_judge(template: Mapping[str, Any], config: Mapping[str, Any] | None) -> None:
    judge_builder(template, judge_of_config(config))


def _processed(cases: Cases, config: Mapping[str, Any]) -> Cases:
    clean = postprocessor(config.get("pred_postprocessor"), cases.project)
    return replace(cases, predictions=[clean(given) for given in cases.predictions])


def _marks(verdict: Verdict) -> list[bool]:
    return list(verdict.correct) or [bool(value) for value in next(iter(verdict.instances.values()))]


_VERDICT = re.compile(r"\s*(?:[AB]\s*$|CORRECT|INCORRECT)", re.IGNORECASE)
"""What a judge may say of an answer in a cascade; anything else counts as wrong."""


def _says_right(judgement: Any) -> bool:
    text = str(judgement).strip().upper()
    return text == "A" or text.startswith("CORRECT")


def _judgements(cases: Cases, prompt_template: Mapping[str, Any], judge_cfg: Mapping[str, Any] | None) -> list[Any]:
    """Return what the judge says of each case, after its own post-processor; a failure where it says nothing."""
    if not len(cases.predictions):
        return []
    judge = judge_of_config(judge_cfg)
    rows = [
        {**row, "prediction": given, "obj_gold": gold, "reference": gold}
        for row, given, gold in zip(
            cases.rows or [{}] * len(cases.predictions), cases.predictions, cases.references, strict=True
        )
    ]
    return said_of(rows, judge_builder(prompt_template, judge), judge, judge_cfg, cases.project)


def said_of(
    rows: Sequence[Mapping[str, Any]],
    builder: PromptBuilder,
    judge: ModelConfig,
    config: Mapping[str, Any] | None,
    project: str,
) -> list[Any]:
    """Return what a judge says of each row, after its own post-processor; a failure where it says nothing.

    Args:
        rows: With the answers in them.
        builder: Makes the prompts.
        judge: Who is asked.
        config: What the config says of the judge.
        project: Whose post-processors are meant.
    """
    prompts = [builder.generate(row) for row in rows]
    asked = [JudgePrompt([*each.messages] if each.is_chat else each.text) for each in prompts]
    said = [answer.prediction for answer in ask(judge_engine(judge, config), asked)]
    clean = postprocessor(judge.postprocessor, project)
    return [each if isinstance(each, Failure) else clean(each) for each in said]


def judge_of_config(config: Mapping[str, Any] | None) -> ModelConfig:
    """Return the judge that a config names; where it names none, the one that the user's variables name.

    Raises:
        ScoringError: Neither names one.
    """
    if config:
        return model_config(config)
    if not os.environ.get(_MODEL):
        raise ScoringError(
            "the evaluator needs a judge, and the config names none",
            hint=f"fill in judge_cfg, or set {_MODEL}, {_KEY} and {_BASE}",
        )
    args = {"model": os.environ[_MODEL], "api_key": variable(_KEY), "base_url": os.environ.get(_BASE)}
    given = {name: value.removesuffix("/") if name == "base_url" else value for name, value in args.items() if value}
    return ModelConfig(os.environ[_MODEL], "openai", given, as_messages=True)


def judge_engine(judge: ModelConfig, config: Mapping[str, Any] | None) -> Engine:
    """Return the judge's engine, writing as the config says.

    Args:
        config: What the config says of it; where it says nothing, the user's own variables do.

    Raises:
        ScoringError: The engine cannot be told how to write.
    """
    origin = Origin(author_of_config(config), is_config=True) if config else Origin()
    engine = make_engine(judge.engine, judge.args, origin)
    told = _told(judge, set(type(engine).model_fields), engine)
    return make_engine(engine, told, Origin(origin.author)) if told else engine


def _told(judge: ModelConfig, known: set[str], engine: Engine) -> dict[str, Any]:
    """Return the fields of an engine that say how a judge is to write; what has no field goes with the request."""
    limit = next((name for name in ("max_tokens", "max_new_tokens") if name in known), "max_tokens")
    wanted: dict[str, Any] = {limit: judge.max_out_len, **judge.decoding}
    extra = dict(wanted.pop("extra", {}))
    if judge.stop:
        wanted["stop"] = [*judge.stop, *wanted.get("stop", ())]
    if "temperature" in wanted and wanted["temperature"] is None:  # left to the server
        extra["temperature"] = wanted.pop("temperature")
    extra |= {name: value for name, value in wanted.items() if name not in known and value is not None}
    told = {name: value for name, value in wanted.items() if name in known and value is not None}
    rest = next((name for name in ("extra_body", "generation_kwargs") if name in known), None)
    if extra and rest is not None:
        return {**told, rest: {**(getattr(engine, rest) or {}), **extra}}
    if extra:
        raise ScoringError(
            f"the judge '{judge.abbr}' cannot be told {', '.join(extra)}", hint="take it out of its config"
        )
    return told


def judge_builder(template: Mapping[str, Any], judge: ModelConfig) -> PromptBuilder:
    """Return what makes the judge's prompts.

    Raises:
        ProctorError: Its template or the model's meta template cannot be built.
    """
    return PromptBuilder(
        {"prompt_template": template, "retriever": {"type": "ZeroRetriever"}, "inferencer": {"type": "GenInferencer"}},
        {"input_columns": ["prediction"], "output_column": "reference"},
        meta_template=None if judge.meta_template is None else MetaTemplate.from_config(judge.meta_template),
        as_messages=judge.as_messages,
    )
