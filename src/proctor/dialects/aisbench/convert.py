"""Datasets of configs as lm-eval tasks and Unitxt recipes, and any exam as a config.

A prompt is converted by writing it once with marks in place of the columns: whatever templates, examples and meta
template make of a row is then plain text with holes, which every other form can say. The rows themselves are written to
a file beside the converted one, because loaders of configs are code. What the other form cannot say is named.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from proctor.dialects.aisbench.config import CHAT, CLP, GENERATE, LL, PPL, DatasetConfig
from proctor.dialects.aisbench.converted_gradings import ConvertedGrading, converted_grading
from proctor.dialects.aisbench.evaluators import is_known
from proctor.dialects.aisbench.exam import ConfigExam
from proctor.dialects.aisbench.postprocessors import postprocessor_problems, project_of
from proctor.dialects.aisbench.values import as_data, dotted_name, short_name
from proctor.errors import UsageError, did_you_mean
from proctor.ir import Choose, Failure, Generate, Prompt
from proctor.recipes.exam import Exam
from proctor.scoring.metric_table import metric_of
from proctor.scoring.registry import LM_EVAL, OPENCOMPASS

TARGETS = ("lm-eval", "unitxt")
_MARK = re.compile("\x02(\\d+)\x03")
_JINJA = re.compile(r"\{\{|\{%|\{#|\}\}|%\}|#\}")
_OF_LM_EVAL = {"AccEvaluator": "exact_match", "BleuEvaluator": "bleu"}
"""Metrics of lm-eval that say the same of the same answers; every other evaluator keeps its own name."""
_OF_UNITXT = {"AccEvaluator": "metrics.accuracy"}
_REGEX_OF = {"first_capital_postprocess": "([A-Z])", "first-capital": "([A-Z])"}


@dataclass(frozen=True, slots=True)
class ConvertedConfig:
    """An exam in another form.

    Attributes:
        name: Its name, fit for a file.
        text: YAML, JSON or Python.
        rows: The rows it reads from ``rows_file``, beside it.
        rows_file: The name of that file. The text names it once, see :meth:`placed`.
        lost: What the other form does not say, each with its reason.
    """

    name: str
    text: str
    rows: Sequence[Mapping[str, Any]] = field(repr=False, default=())
    rows_file: str = ""
    lost: tuple[str, ...] = ()

    def placed(self, folder: Path) -> str:
        """Return the text for rows that lie in a folder: systems look from where they run, so the path is whole."""
        return self.text.replace(self.rows_file, (folder.resolve() / self.rows_file).as_posix())

    def rows_text(self) -> str:
        """Return the content of ``rows_file``: one JSON object in a line."""
        return "".join(json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in self.rows)


def convert_dataset(exam: Exam, to: str) -> ConvertedConfig:
    """Return a dataset of a config as an lm-eval task or a Unitxt recipe.

    Raises:
        UsageError: There is no such form, or the form cannot ask what the dataset asks.
        ProctorError: The data cannot be read.
    """
    if to not in TARGETS:
        raise UsageError(f"there is no form '{to}'", hint=did_you_mean(to, TARGETS) or f"choose {' or '.join(TARGETS)}")
    own = exam.own
    if not isinstance(own, ConfigExam):
        raise UsageError(f"'{exam.name}' is not a dataset of a config")
    kind = own.config.inferencer.kind
    if kind in (CHAT, CLP, LL):
        raise UsageError(
            f"'{exam.name}' cannot be converted",
            why={CHAT: "conversations", CLP: "probabilities of choices", LL: "likelihoods of one text by context"}[kind]
            + " have no counterpart in the other form",
        )
    source = _Source(exam, own)
    return source.to_lm_eval() if to == "lm-eval" else source.to_unitxt()


class _Source:
    """A dataset, its rows and its prompts with holes."""

    def __init__(self, exam: Exam, own: ConfigExam) -> None:
        self.exam, self.own, self.config = exam, own, own.config
        self.name = re.sub(r"\W+", "_", exam.name).strip("_").lower() or "dataset"
        rows = self.test = [row for row in own.rows.dataset.test if not isinstance(row, Failure)]
        if not rows:
            raise UsageError(f"'{exam.name}' has no rows to convert")
        self.columns = {column: _identifier(column, place) for place, column in enumerate(rows[0])}
        self.lost: list[str] = []
        demos = own.builder.retrieve(rows[:2])
        if any(list(each) != list(demos[0]) for each in demos) or _retriever(self.config) not in ("", "Zero", "FixK"):
            self.lost.append(
                f"{_retriever(self.config)}Retriever: every row has examples of its own; those of the first are kept"
            )
        self.demos = demos[0]
        if own.options.as_messages:
            raise UsageError(
                "prompts of chat messages cannot be converted", hint="convert without --apply-chat-template"
            )

    @property
    def output(self) -> str | None:
        """The column with the answer, as it is called in the other form."""
        column = self.config.reader.get("output_column")
        return None if column is None else self.columns.get(column)

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows with names that templates can use."""
        return [{self.columns[key]: row[key] for key in self.columns if key in row} for row in self.test]

    def _marked(self) -> dict[str, Any]:
        return {column: f"\x02{place}\x03" for place, column in enumerate(self.columns)}

    def generated(self) -> list[str]:
        """Return the prompt as pieces: text, column, text, column … text; rows it does not hold for are named."""
        pieces = self._pieces(self.own.builder.generate(self._marked(), self.demos).text)
        different = [
            number
            for number, (row, renamed) in enumerate(zip(self.test, self.rows(), strict=True))
            if self.own.builder.generate(row, self.demos).text != _filled(pieces, renamed)
        ]
        if different:
            self.lost.append(f"the prompts of {len(different)} rows (the first is {different[0]}) come out differently")
        return pieces

    def labelled(self) -> tuple[list[str], dict[Any, list[str]]]:
        """Return what the prompts of all labels begin with, and how each ends, as pieces."""
        prompts = {label: self.own.builder.labelled(self._marked(), self.demos, label).text for label in self.labels}
        shared = _shared_beginning(list(prompts.values()))
        cut = shared.rfind("\x02")
        if cut > shared.rfind("\x03"):
            shared = shared[:cut]  # never inside a mark
        return self._pieces(shared), {label: self._pieces(text[len(shared) :]) for label, text in prompts.items()}

    @property
    def labels(self) -> tuple[Any, ...]:
        """The labels that are compared."""
        return self.own.labels

    def _pieces(self, text: str) -> list[str]:
        names = list(self.columns.values())
        pieces = _MARK.split(text)
        return [names[int(piece)] if place % 2 else piece for place, piece in enumerate(pieces)]

    # -- lm-eval ----------------------------------------------------------------------------------------------

    def to_lm_eval(self) -> ConvertedConfig:
        """Return an lm-eval task."""
        values: dict[str, Any] = {
            "task": self.name,
            "dataset_path": "json",
            "dataset_kwargs": {"data_files": {"test": f"{self.name}.jsonl"}},
            "test_split": "test",
            "num_fewshot": 0,
            "target_delimiter": "",
        }
        values |= self._multiple_choice() if self.config.inferencer.kind == PPL else self._generation()
        text = yaml.safe_dump(values, sort_keys=False, allow_unicode=True, width=1_000)
        return ConvertedConfig(self.name, text, self.rows(), f"{self.name}.jsonl", tuple(self.lost))

    def _generation(self) -> dict[str, Any]:
        decoding = next(self.exam.questions()).requests[0]
        stop = list(decoding.decoding.stop) if isinstance(decoding, Generate) else []
        tokens = decoding.decoding.max_tokens if isinstance(decoding, Generate) else None
        values: dict[str, Any] = {
            "output_type": "generate_until",
            "doc_to_text": _jinja(self.generated()),
            "doc_to_target": "" if self.output is None else f"{{{{{self.output}}}}}",
            "generation_kwargs": {"until": stop, "max_gen_toks": tokens, "do_sample": False},
            "metric_list": [self._metric_entry()],
        }
        if steps := self._processing():
            listed = [{"function": name, **arguments} for name, arguments in steps]
            values["filter_list"] = [{"name": "parsed", "filter": [*listed, {"function": "take_first"}]}]
        return values

    def _metric_entry(self) -> dict[str, Any]:
        name, arguments = self._metric(_OF_LM_EVAL)
        aggregation = {"exact_match": {"aggregation": "mean"}, "bleu": {"aggregation": "bleu"}}.get(name, {})
        better = metric_of(name, LM_EVAL, arguments).higher_is_better
        return {"metric": name, **arguments, **aggregation, "higher_is_better": better is not False}

    def _multiple_choice(self) -> dict[str, Any]:
        self.lost.append(
            "PPLInferencer: the other form compares likelihoods of endings, not mean losses of whole prompts"
        )
        shared, endings = self.labelled()
        choices = ", ".join(_expression(pieces) for pieces in endings.values())
        return {
            "output_type": "multiple_choice",
            "doc_to_text": _jinja(shared),
            "doc_to_choice": f"{{{{[{choices}]}}}}",
            "doc_to_target": f"{{{{{list(endings)!r}.index({self.output})}}}}",
            "metric_list": [{"metric": "acc", "aggregation": "mean", "higher_is_better": True}],
        }

    def _metric(self, theirs: Mapping[str, str]) -> tuple[str, dict[str, Any]]:
        """Return the name of the metric and its arguments: the other system's where it has the same one."""
        config = self.config.evaluation.get("evaluator") or {}
        kind = config.get("type", "")
        if isinstance(kind, str) and is_known(config) and (":" in kind or "." in kind):
            return kind, _arguments(config)
        name = short_name(kind)
        if name in theirs:
            return theirs[name], {}
        if not is_known(config):
            self.lost.append(f"{name or 'evaluator'}: it cannot be computed here; AccEvaluator stands in its place")
            return theirs["AccEvaluator"], {}
        self.lost.append(f"{name}: Proctor computes it under this name, other programs that read the file do not")
        return f"{OPENCOMPASS}:{name}", _arguments(config)

    def _processing(self) -> list[tuple[str, dict[str, Any]]]:
        """Return the text functions between answer and prediction, each with its arguments."""
        found = []
        evaluation = self.config.evaluation
        for config in (
            evaluation.get("pred_postprocessor"),
            (evaluation.get("evaluator") or {}).get("pred_postprocessor"),
        ):
            name = short_name(config.get("type", "")) if config else ""
            if name in _REGEX_OF:
                found.append(("regex", {"regex_pattern": _REGEX_OF[name], "fallback": ""}))
            elif config and not list(postprocessor_problems(config, self._project())):
                self.lost.append(
                    f"{name}: Proctor computes it under this name, other programs that read the file do not"
                )
                found.append((f"{OPENCOMPASS}:{name}", _arguments(config)))
            elif config:
                self.lost.append(f"pred_postprocessor {name}: it is code, the other form has no such step")
        return found

    def _project(self) -> str:
        return project_of(dotted_name((self.config.evaluation.get("evaluator") or {}).get("type")))

    # -- Unitxt -----------------------------------------------------------------------------------------------

    def to_unitxt(self) -> ConvertedConfig:
        """Return a Unitxt recipe."""
        if self.config.inferencer.kind != GENERATE:
            raise UsageError(f"'{self.exam.name}' compares losses of prompts, which no Unitxt recipe can ask")
        metric, arguments = self._metric(_OF_UNITXT)
        if metric.startswith("metrics."):
            self.lost.append("scores are shares of one there, and percentages here")
        output = self.output or "answer"
        fields = {name: "Any" for name in self.columns.values() if name != output}
        recipe = {
            "__type__": "dataset_recipe",
            "card": {
                "__type__": "task_card",
                "loader": {"__type__": "load_json_file", "files": {"test": f"{self.name}.jsonl"}, "lines": True},
                "task": {
                    "__type__": "task",
                    "input_fields": fields,
                    "reference_fields": {output: "Any"},
                    "prediction_type": "str",
                    "metrics": [_registered_metric(metric, arguments)],
                },
                "templates": [],
            },
            "template": {
                "__type__": "input_output_template",
                "input_format": _braced(self.generated()),
                "output_format": f"{{{output}}}",
                "postprocessors": [_registered_processor(*each) for each in self._processing()],
            },
            "format": {"__type__": "system_format", "model_input_format": "{source}"},
        }
        text = json.dumps(recipe, indent=4, ensure_ascii=False)
        return ConvertedConfig(self.name, text, self.rows(), f"{self.name}.jsonl", tuple(self.lost))


def _arguments(config: Mapping[str, Any]) -> dict[str, Any]:
    return {key: as_data(value) for key, value in config.items() if key not in ("type", "pred_postprocessor")}


def _registered_metric(name: str, arguments: Mapping[str, Any]) -> Any:
    if not arguments:
        return name
    return {"__type__": "registered_metric", "metric": name, "arguments": dict(arguments)}


def _registered_processor(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    operator = {"__type__": "registered_processor", "function": name, "arguments": dict(arguments)}
    return {"__type__": "post_process", "operator": operator, "process_references": False}


def _filled(pieces: Sequence[str], row: Mapping[str, Any]) -> str:
    return "".join(str(row.get(piece)) if place % 2 else piece for place, piece in enumerate(pieces))


def _shared_beginning(texts: Sequence[str]) -> str:
    """Return what all texts begin with."""
    low, high = min(texts), max(texts)
    return next((low[:place] for place, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), low)


def _retriever(config: DatasetConfig) -> str:
    return short_name((config.inference.get("retriever") or {}).get("type", "")).removesuffix("Retriever")


def _identifier(column: str, place: int) -> str:
    name = re.sub(r"\W", "_", column)
    return name if name.isidentifier() else f"column_{place}"


def _jinja(pieces: Sequence[str]) -> str:
    """Return pieces as a Jinja template; text that looks like Jinja is quoted."""
    return "".join(
        f"{{{{{piece}}}}}" if place % 2 else _JINJA.sub(lambda found: f"{{{{'{found[0]}'}}}}", piece)
        for place, piece in enumerate(pieces)
    )


def _expression(pieces: Sequence[str]) -> str:
    """Return pieces as a Jinja expression that joins them."""
    return " ~ ".join(piece if place % 2 else repr(piece) for place, piece in enumerate(pieces) if place % 2 or piece)


def _braced(pieces: Sequence[str]) -> str:
    """Return pieces as a format string."""
    return "".join(
        f"{{{piece}}}" if place % 2 else piece.replace("{", "{{").replace("}", "}}")
        for place, piece in enumerate(pieces)
    )


# -- any exam as a config -----------------------------------------------------------------------------------------


def convert_to_config(exam: Exam) -> ConvertedConfig:
    """Return any exam as an OpenCompass config over rows that hold its prompts.

    Raises:
        UsageError: It asks what no inferencer asks (several questions about a row, chat messages).
    """
    name = re.sub(r"\W+", "_", exam.name).strip("_").lower() or "exam"
    rows = list(_rows_of(exam))
    if not rows:
        raise UsageError(f"'{exam.name}' asks nothing")
    choices = {len(row["contexts"]) for row in rows}
    if len(choices) > 1:
        raise UsageError(
            f"'{exam.name}' has {min(choices)} to {max(choices)} choices", why="a config has a fixed number"
        )
    (count,) = choices
    grading = ConvertedGrading() if count else converted_grading(exam, next(iter(exam.questions())))
    evaluation = grading.evaluation()
    lost = list(grading.lost)
    if count:
        lost.append("likelihoods: PPLInferencer compares mean losses of whole prompts, not likelihoods of endings")
        lost.append("metrics: AccEvaluator counts the choices that are right")
    flat = [_flat(row) for row in rows]
    template = {place: f"{{context_{place}}}{{choice_{place}}}" for place in range(count)} or "{prompt}"
    text = _CONFIG.format(
        name=name,
        inferencer="PPLInferencer" if count else "GenInferencer",
        arguments="" if count else f", max_out_len={rows[0]['max_tokens'] or 512}",
        columns=[key for key in flat[0] if key != "target"],
        template=template,
        evaluation=repr(evaluation) if evaluation else "dict(evaluator=dict(type=AccEvaluator))",
    )
    return ConvertedConfig(name, text, flat, f"{name}.jsonl", tuple(lost))


_CONFIG = """from opencompass.datasets import CustomDataset
from opencompass.openicl.icl_evaluator import AccEvaluator
from opencompass.openicl.icl_inferencer import {inferencer}
from opencompass.openicl.icl_prompt_template import PromptTemplate
from opencompass.openicl.icl_retriever import ZeroRetriever

{name}_datasets = [
    dict(
        abbr='{name}',
        type=CustomDataset,
        path='{name}.jsonl',
        reader_cfg=dict(input_columns={columns!r}, output_column='target'),
        infer_cfg=dict(
            prompt_template=dict(type=PromptTemplate, template={template!r}),
            retriever=dict(type=ZeroRetriever),
            inferencer=dict(type={inferencer}{arguments}),
        ),
        eval_cfg={evaluation},
    )
]
"""


def _rows_of(exam: Exam) -> Iterator[dict[str, Any]]:
    for item in exam.questions():
        request = item.requests[0]
        if len(item.requests) > 1 or not isinstance(request, Generate | Choose):
            raise UsageError(f"'{exam.name}' asks what no inferencer of a config asks")
        if isinstance(request, Generate):
            golds = list(item.exchange.references)
            target = golds[0] if len(golds) == 1 else golds or ""
            tokens = request.decoding.max_tokens
            yield {"prompt": _text(exam, request.prompt), "contexts": [], "target": target, "max_tokens": tokens}
            continue
        contexts = [(_text(exam, pair.context), pair.continuation) for pair in request.pairs]
        yield {"contexts": contexts[: len(item.exchange.choices)], "target": item.exchange.gold, "max_tokens": None}


def _text(exam: Exam, prompt: Prompt) -> str:
    if prompt.is_chat:
        raise UsageError(f"'{exam.name}' asks by chat messages", hint="convert it without a chat template")
    return prompt.text


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    if not row["contexts"]:
        return {"prompt": row["prompt"], "target": row["target"]}
    found: dict[str, Any] = {}
    for place, (context, choice) in enumerate(row["contexts"]):
        found[f"context_{place}"], found[f"choice_{place}"] = context, choice
    return {**found, "target": row["target"]}
