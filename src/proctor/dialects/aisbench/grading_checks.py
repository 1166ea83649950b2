"""Checks how answers are scored from the file alone: references, prompts of judges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from proctor.data.fields import Row
from proctor.dialects.aisbench.config import DatasetConfig
from proctor.dialects.aisbench.datasets.reader import kept_places
from proctor.dialects.aisbench.evaluation_checks import evaluation_problems
from proctor.dialects.aisbench.evaluator_scorer import NO_REFERENCES
from proctor.dialects.aisbench.evaluators import is_recorded_only, reads_rows
from proctor.dialects.aisbench.inference_checks import columns_of_reader
from proctor.dialects.aisbench.inferencers import CHAT, TEXT_PPL
from proctor.dialects.aisbench.judge_inference import ANSWER
from proctor.dialects.aisbench.judged_names import judge_of
from proctor.dialects.aisbench.judges import judge_templates
from proctor.dialects.aisbench.template_keys import template_problems
from proctor.dialects.aisbench.values import location_of, short_name, texts_in
from proctor.errors import Diagnostic
from proctor.templates.prompt_list import safe_format

_JUDGED = ("prediction", "prediction2", "obj_gold", "reference")  # what judges see beside the columns of the row
OWN_REFERENCES = (CHAT, TEXT_PPL)
"""What needs no output column: conversations bring what would have been said, and losses are compared with nothing."""


def scoring_problems(config: DatasetConfig) -> Iterator[Diagnostic]:
    """Yield what the file alone can tell about how answers are scored; a run finds the same before it asks."""
    if isinstance(config.values.get("eval_cfg"), Mapping) and "evaluator" not in config.values["eval_cfg"]:
        hint = "evaluator=dict(type=AccEvaluator); a dataset that is only asked has no eval_cfg"
        yield Diagnostic("the eval_cfg names no evaluator", config.location, "$.eval_cfg", hint=hint)
    yield from evaluation_problems(config.evaluation)
    yield from file_problems(config)


def file_problems(config: DatasetConfig) -> Iterator[Diagnostic]:
    """Yield references that are missing, and what is wrong with the templates of judges."""
    yield from reference_problems(config)
    for path, template in judge_templates(config.evaluation.get("evaluator")):
        yield from template_problems(template, path, [*columns_of_reader(config.reader), *_JUDGED])


def judge_prompt_problems(config: DatasetConfig, row: Row) -> Iterator[Diagnostic]:
    """Yield prompts of judges that do not show the answer; say which names in braces they keep as they stand."""
    judge, asked = config.evaluation.get("evaluator") or {}, judge_of(config.values)
    if not row:
        return
    if asked is not None:
        kept_places("the judge's prompt", asked.values.get("prompt_template"), {*row, ANSWER})
    for path, template in judge_templates(judge):
        kept_places("the judge's prompt", template, {*row, *_JUDGED})
        named = "\n".join(texts_in(template))
        fields = {str(name): value for name, value in row.items()}
        if not judge.get("multi_eval") and "{prediction" not in safe_format(named, **fields):
            what, hint = "the judge's prompt does not show the answer", "the answer is {prediction}"
            yield Diagnostic(what, location_of(template), path, hint=hint)


def reference_problems(config: DatasetConfig) -> Iterator[Diagnostic]:
    """Yield an evaluator that sees nothing but answers and references, where no column holds references."""
    judge = config.evaluation.get("evaluator") or {}
    if config.reader.get("output_column") is not None or config.inferencer.kind in OWN_REFERENCES:
        return
    if not judge or judge_of(config.values) is not None or reads_rows(judge) or is_recorded_only(judge):
        return
    why = f"{short_name(judge['type'])} would find every answer wrong, or none"
    hint = "output_column='answer'; --predict-only records answers without scores"
    yield Diagnostic(NO_REFERENCES, location_of(config.reader), "$.reader_cfg.output_column", why, hint)
