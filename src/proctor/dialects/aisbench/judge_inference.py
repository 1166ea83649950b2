"""``judge_infer_cfg``: another model reads every answer, and what it says is scored in place of the answer.

AISBench does so in a task of its own after the candidate's: the rows of the dataset with the answer as the column
``model_answer`` go through the judge's template to the judge, and the ``eval_cfg`` scores the judge's words. Here the
judge is asked through the response log, as every judge is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

from proctor.artifacts.effects_of import effects_of
from proctor.dialects.aisbench.components import RETRIEVERS, build_retriever, build_template
from proctor.dialects.aisbench.inference_checks import columns_of_reader
from proctor.dialects.aisbench.judges import judge_engine, said_of
from proctor.dialects.aisbench.key_tables import Keys
from proctor.dialects.aisbench.models import ModelConfig, model_config
from proctor.dialects.aisbench.postprocessors import postprocessor_problems
from proctor.dialects.aisbench.prompts import PromptBuilder
from proctor.dialects.aisbench.template_keys import template_problems
from proctor.dialects.aisbench.values import ConfigDict, location_of, short_name, shown
from proctor.effects import Effect
from proctor.errors import Diagnostic, did_you_mean, problems_of
from proctor.formats.meta_template import MetaTemplate
from proctor.ir import Failure
from proctor.scoring.columns import Columns
from proctor.scoring.grading.protocols import Scope
from proctor.slips import slips

ANSWER = "model_answer"
"""The column of the answer in the judge's template, as AISBench names it."""
_ID = "model_pred_uuid"  # the output column of AISBench's judges: which answer it was. It is masked in prompts.
_PATH = "$.judge_infer_cfg"
_ROW_TYPES = ("LLMJudgeDataset", "Aime2025JDGDataset", "HLEJGDataset")
"""Dataset types whose rows are those of the exam with the answer beside them."""
_KEYS, _READER, _INFERENCER = map(Keys.of, ("judge_infer_cfg", "judge_reader_cfg", "judge's inferencer"))


@dataclass(frozen=True)
class JudgeInference:
    """The judge of a dataset, as a step between answers and post-processors.

    Attributes:
        values: The ``judge_infer_cfg``.
        project: Whose post-processors are meant.
    """

    values: Mapping[str, Any]
    project: str = "aisbench"

    name = "judge_infer_cfg"
    scope: Scope = "column"

    @cached_property
    def judge(self) -> ModelConfig:
        """The model that judges.

        Raises:
            ProctorError: It has no engine here, or its keys cannot be honoured.
        """
        return model_config(self._part("judge_model"))

    def process(self, columns: Columns) -> Columns:
        """Return columns with the judge's words in place of the answers; failed answers stay failures.

        Raises:
            ProctorError: The judge cannot be asked.
        """
        answers, rows = columns.predictions, columns.all_fields()
        asked = [place for place, answer in enumerate(answers) if not isinstance(answer, Failure)]
        if not asked:
            return columns
        shown = [{**rows[place], ANSWER: answers[place], _ID: ""} for place in asked]
        said = said_of(shown, self._builder(), self.judge, self._part("judge_model"), self.project)
        found = {**dict(enumerate(answers)), **dict(zip(asked, said, strict=True))}
        return replace(columns, predictions=list(found.values()))

    def problems(self, columns: Sequence[str] = ()) -> Iterator[Diagnostic]:
        """Yield what is wrong with it that the file alone can tell.

        Args:
            columns: Of the dataset, as its ``reader_cfg`` names them.
        """
        where = location_of(self.values)
        for key in ("judge_model", "prompt_template", "judge_reader_cfg"):
            if not isinstance(self.values.get(key), Mapping):
                yield Diagnostic(f"judge_infer_cfg needs {key}=dict(…)", where, _PATH)
        if "judge_dataset_type" not in self.values:
            yield Diagnostic("judge_infer_cfg needs judge_dataset_type=…", where, _PATH, hint="LLMJudgeDataset")
        yield from self._word_problems(columns)
        yield from _KEYS.problems(self.values, "judge_infer_cfg", _PATH)
        yield from _READER.problems(self._part("judge_reader_cfg"), "judge_reader_cfg", f"{_PATH}.judge_reader_cfg")
        yield from self._column_problems(columns)
        yield from self._row_problems()
        yield from self._inferencer_problems()
        for key in ("ice_template", "retriever", "inferencer"):
            if self.values.get(key) is not None and not isinstance(self.values[key], Mapping):
                why = f"it is {shown(self.values[key])}"
                yield Diagnostic(f"'{key}' of judge_infer_cfg is not a dictionary", where, f"{_PATH}.{key}", why)
        for part in ("prompt_template", "ice_template"):
            yield from problems_of(partial(build_template, self._mapping(part), f"{_PATH}.{part}"))
        retriever = self._part("retriever")
        yield from problems_of(partial(build_retriever, self._mapping("retriever"), f"{_PATH}.retriever"))
        if (name := short_name(retriever.get("type", "ZeroRetriever"))) in RETRIEVERS and name != "ZeroRetriever":
            what, place = f"a judge cannot be shown the examples of '{name}'", location_of(retriever)
            yield Diagnostic(what, place, f"{_PATH}.retriever", "its rows are answers", "use ZeroRetriever")
        if isinstance(self.values.get("judge_model"), Mapping):
            yield from problems_of(lambda: self.judge, f"{_PATH}.judge_model")
            clean = self._part("judge_model").get("pred_postprocessor")
            yield from postprocessor_problems(clean if isinstance(clean, Mapping) else None, self.project)

    @property
    def without_effect(self) -> dict[str, str]:
        """Keys that have no effect here, by path, each with the reason."""
        found = _READER.without_effect(self._part("judge_reader_cfg"), f"{_PATH}.judge_reader_cfg")
        inferencer = self._part("inferencer")
        return found | _INFERENCER.without_effect(inferencer, f"{_PATH}.inferencer")

    def effects(self) -> list[Effect]:
        """Return what asking the judge does.

        Raises:
            ProctorError: It cannot be asked.
        """
        return list(effects_of(judge_engine(self.judge, self._part("judge_model"))))

    def _mapping(self, key: str) -> Mapping[str, Any] | None:
        found = self.values.get(key)
        return found if isinstance(found, Mapping) else None

    def _part(self, key: str) -> Mapping[str, Any]:
        return self._mapping(key) or {}

    def _column_problems(self, columns: Sequence[str]) -> Iterator[Diagnostic]:
        """Yield columns that are misspelt: rows of judges have those of the dataset, the answer and its number."""
        reader, path = self._part("judge_reader_cfg"), f"{_PATH}.judge_reader_cfg"
        known = dict.fromkeys((*columns, ANSWER, _ID))
        for name in columns_of_reader(reader):
            if name not in known and (meant := slips(name, known)):
                what = f"the judge's rows have no column '{name}'"
                yield Diagnostic(what, location_of(reader), path, hint=f"did you mean '{meant[0]}'?")

    def _row_problems(self) -> Iterator[Diagnostic]:
        kind = self.values.get("judge_dataset_type")
        if kind is None or (name := short_name(kind)) in _ROW_TYPES:
            return
        yield Diagnostic(
            f"the judge's rows cannot be made by '{name}' here",
            location_of(self.values),
            f"{_PATH}.judge_dataset_type",
            "its class would have to run",
            did_you_mean(name, _ROW_TYPES) or "LLMJudgeDataset gives the exam's rows with the answer beside them",
        )

    def _word_problems(self, columns: Sequence[str]) -> Iterator[Diagnostic]:
        """Yield words of the judge's template that nothing stands for, and a template that does not show the answer."""
        known = [*columns_of_reader(self.values.get("judge_reader_cfg")), *columns, ANSWER]
        for part in ("prompt_template", "ice_template"):
            yield from template_problems(self._part(part), f"{_PATH}.{part}", known)
        template = self._part("prompt_template")
        shown = str(template.get("template"))
        if template.get("template") and f"{{{ANSWER}}}" not in shown and "prompt_mm" not in shown:
            what, path = "the judge's template does not show the answer", f"{_PATH}.prompt_template.template"
            yield Diagnostic(what, location_of(template), path, hint=f"the answer is the column {{{ANSWER}}}")

    def _inferencer_problems(self) -> Iterator[Diagnostic]:
        inferencer, path = self._part("inferencer"), f"{_PATH}.inferencer"
        if (name := short_name(inferencer.get("type", "GenInferencer"))) != "GenInferencer":
            yield Diagnostic(
                f"a judge cannot be asked by '{name}'", location_of(inferencer), path, hint="use GenInferencer"
            )
        else:
            yield from _INFERENCER.problems(inferencer, "the judge's inferencer", path)

    def _builder(self) -> PromptBuilder:
        reader = {"input_columns": [ANSWER], "output_column": _ID, **self._part("judge_reader_cfg")}
        parts = {"retriever": {"type": "ZeroRetriever"}, "inferencer": {"type": "GenInferencer"}}
        own = {key: self.values[key] for key in Keys.of("infer_cfg").used & self.values.keys()}
        layout = self.judge.meta_template
        return PromptBuilder(
            ConfigDict({**parts, **own}, location=location_of(self.values)),
            reader,
            meta_template=None if layout is None else MetaTemplate.from_config(layout),
            as_messages=self.judge.as_messages,
        )
