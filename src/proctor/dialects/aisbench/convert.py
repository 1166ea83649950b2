"""A written-out exam as a config of OpenCompass."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from proctor.dialects.aisbench.evaluation import processed, project_of_config
from proctor.dialects.aisbench.evaluators import entry_of, is_known
from proctor.dialects.aisbench.exam import ConfigExam
from proctor.dialects.aisbench.postprocessors import postprocessor, postprocessor_problems
from proctor.dialects.aisbench.values import as_data, dotted_name, short_name
from proctor.dialects.conversion.converted import Loss
from proctor.dialects.conversion.gradings import Graded, Named, Reading
from proctor.dialects.conversion.sharing import ELSEWHERE, name_strange, own_metric, plain
from proctor.dialects.conversion.written import CHOICES, Written
from proctor.ir.question import Question
from proctor.recipes.exam import Exam
from proctor.scoring.named_table import LM_EVAL, OPENCOMPASS
from proctor.scoring.text.text_functions import text_function_table

PLACES = 2
"""Post-processors that a config has room for: the dataset's, and the evaluator's own after it."""


def to_config(written: Written) -> str:
    """Return a config of OpenCompass: a dataset for each metric, all of the same prompts; they are asked once."""
    if not written.graded.metrics:
        written.losses.add("scores", "metrics: AccEvaluator compares whole answers; choose another where it matters")
    if written.repeats > 1:
        written.losses.add("requests", f"repeats: {written.repeats}; n asks again under other seeds")
        written.losses.add("scores", "repeats: scores are of one answer")
    if written.compares:
        _whole_choices(written)
    metrics = [own_metric(written, OPENCOMPASS, each) for each in written.graded.metrics]
    metrics = metrics or [Named(f"{OPENCOMPASS}:AccEvaluator")]
    arguments = {} if written.compares else _out(written)
    pairs = [(reading, metric) for reading in written.graded.readings for metric in metrics]
    names = _names(written, pairs)
    datasets = [_dataset(written, name, _evaluation(written, *pair)) for name, pair in zip(names, pairs, strict=True)]
    return _CONFIG.format(
        name=written.name,
        file=written.file,
        target=written.target,
        inferencer="CLPInferencer" if written.compares else "GenInferencer",
        arguments="".join(f", {key}={value!r}" for key, value in arguments.items()),
        columns=[written.prompt, *([CHOICES] if written.compares else [])],
        template=f"{{{written.prompt}}}",
        datasets="".join(datasets),
    )


def _names(written: Written, pairs: Sequence[tuple[Reading, Named]]) -> list[str]:
    """Return a name for each dataset: the exam's for the first, with the reading and the metric for the others."""
    found: list[str] = []
    for reading, metric in pairs:
        parts = (
            (written.name, reading.name, metric.name.rpartition(":")[2].partition("[")[0]) if found else (written.name,)
        )
        name = re.sub(r"\W+", "_", "_".join(each for each in parts if each))
        found.append(f"{name}_{len(found)}" if name in found else name)
    return found


def _whole_choices(written: Written) -> None:
    """Put what stands between prompt and choice into the choice."""
    for row in written.rows:
        right, between = row[written.target], written.delimiter
        row[CHOICES] = [between + each for each in row[CHOICES]]
        row[written.target] = (
            [between + str(each) for each in right] if isinstance(right, list) else f"{between}{right}"
        )
    for each in written.graded.metrics:
        if each.system == LM_EVAL and each.name != f"{LM_EVAL}:acc":
            written.losses.add("scores", f"{each.name}: a config gives metrics the likeliest choice, no likelihoods")
    kept = [each for each in written.graded.metrics if each.system != LM_EVAL or each.name == f"{LM_EVAL}:acc"]
    written.graded.metrics[:] = kept or [Named(f"{LM_EVAL}:acc")]


def _dataset(written: Written, name: str, evaluation: Mapping[str, Any]) -> str:
    return f"    dict(abbr={name!r}, **{written.name}, eval_cfg={plain(evaluation)!r}),\n"


def _out(written: Written) -> dict[str, Any]:
    decoding = written.decoding
    if decoding.max_tokens is None:
        written.losses.add("requests", "max_tokens: a config always has one (512), the exam leaves it to the engine")
    for key in ("temperature", "top_p", "top_k", "seed"):
        if getattr(decoding, key):
            written.losses.add("requests", f"{key}: a config leaves it to the model's; --gen-kwargs says it")
    for key in decoding.extra:
        written.losses.add("requests", f"{key}: a config leaves it to the model's; --gen-kwargs says it")
    if decoding.count > 1:
        written.losses.add("requests", f"{decoding.count} answers to one request")
    found = {"max_out_len": decoding.max_tokens, "stopping_criteria": list(decoding.stop)}
    return {key: value for key, value in found.items() if value}


def _evaluation(written: Written, reading: Reading, metric: Named) -> dict[str, Any]:
    steps = [each for each in reading.steps if not _takes_first(each)]
    for each in (metric, *steps):
        name_strange(written, OPENCOMPASS, each)
    found: dict[str, Any] = {"evaluator": _typed(metric)}
    if written.compares:
        found["pred_postprocessor"] = {"type": "likeliest_choice"}
        written.losses.add("elsewhere", f"likeliest_choice: {ELSEWHERE}")
    elif len(steps) > PLACES:
        found["pred_postprocessor"] = {"type": "one_after_another", "steps": [_typed(each) for each in steps]}
        written.losses.add("elsewhere", f"one_after_another: {ELSEWHERE}")
    else:
        for place, step in zip((found, found["evaluator"]), steps, strict=False):
            place["pred_postprocessor"] = _typed(step)
    return found


def _takes_first(each: Named) -> bool:
    return each.name == f"{LM_EVAL}:take_first"


def _typed(each: Named) -> dict[str, Any]:
    return {"type": each.name.removeprefix(f"{OPENCOMPASS}:"), **each.arguments}


_CONFIG = """from opencompass.datasets import CustomDataset
from opencompass.openicl.icl_evaluator import AccEvaluator
from opencompass.openicl.icl_inferencer import {inferencer}
from opencompass.openicl.icl_prompt_template import PromptTemplate
from opencompass.openicl.icl_retriever import ZeroRetriever

{name} = dict(
    type=CustomDataset,
    path='{file}',
    reader_cfg=dict(input_columns={columns!r}, output_column='{target}'),
    infer_cfg=dict(
        prompt_template=dict(type=PromptTemplate, template={template!r}),
        retriever=dict(type=ZeroRetriever),
        inferencer=dict(type={inferencer}{arguments}),
    ),
)
{name}_datasets = [
{datasets}]
"""


# -- what grades an exam ----------------------------------------------------------------------------------------------


def graded(exam: Exam, first: Question) -> Graded | None:
    """Return what grades an exam of this dialect; its first question's processors stand for all."""
    del first
    own = exam.own
    if not isinstance(own, ConfigExam):
        return None
    made = Graded()
    evaluation = own.config.evaluation
    config = evaluation.get("evaluator") or {}
    kind = config.get("type", "")
    name = short_name(kind)
    if not is_known(config):
        made.lost.append(
            Loss("scores", f"{name or 'evaluator'}: it cannot be computed here; AccEvaluator stands for it")
        )
        made.metrics = [Named(f"{OPENCOMPASS}:AccEvaluator")]
    elif isinstance(kind, str) and (":" in kind or kind.startswith("metrics.")):
        made.metrics = [Named(kind, _arguments(config))]
    else:
        made.metrics = [_evaluator(config, dotted_name(kind))]
    project = project_of_config(evaluation)
    steps: list[Named] = []
    for each in (evaluation.get("pred_postprocessor"), config.get("pred_postprocessor")):
        if each and not list(postprocessor_problems(each, project)):
            steps.append(_postprocessor(each, project))
        elif each:
            made.lost.append(Loss("scores", f"pred_postprocessor {short_name(each.get('type', ''))}: it is code"))
    made.readings = [Reading("", steps)]
    if evaluation.get("sc_size") is not None:
        made.lost.append(Loss("scores", "sc_size: the vote among several answers"))
    made.target = _target_of_config(own, evaluation.get("dataset_postprocessor"), project)
    return made


def _evaluator(config: Mapping[str, Any], whole: str) -> Named:
    entry = entry_of(config)
    arguments = _arguments(config)
    return Named(entry.key if entry is not None else f"{OPENCOMPASS}:{short_name(whole)}", arguments)


def _postprocessor(config: Mapping[str, Any], project: str) -> Named:
    name = short_name(config["type"])
    entry = text_function_table().find(name, (project, OPENCOMPASS))
    return Named(entry.key if entry is not None else name, _arguments(config))


def _target_of_config(own: ConfigExam, after: Mapping[str, Any] | None, project: str) -> Callable[[Question], Any]:
    output = own.config.reader.get("output_column")
    function = postprocessor(after, project) if after else None

    def target(question: Question) -> Any:
        gold = question.instance.get(output) if output else None
        return gold if function is None else processed(function, gold, question.instance)

    return target


def _arguments(config: Mapping[str, Any]) -> dict[str, Any]:
    return {key: as_data(value) for key, value in config.items() if key not in ("type", "pred_postprocessor")}
