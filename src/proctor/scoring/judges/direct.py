"""A judge that chooses among the options of a criterion."""
# ruff: noqa: ARG002 - judges are called with all there is

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from proctor.data.policy import classes_of
from proctor.ir import Failure
from proctor.scoring.columns import Columns
from proctor.scoring.flat_scores import MetricScores
from proctor.scoring.instance_metric import Computed, Unscored
from proctor.scoring.judges.criteria import Criteria, CriteriaWithOptions
from proctor.scoring.judges.judged import tell
from proctor.scoring.judges.steps import Asker, LLMJudge, failure_among, without_blanks
from proctor.scoring.judges.verdicts import chosen_option
from proctor.scoring.metric import failure_of
from proctor.scoring.scores import Unit

DEFAULT_SCORE = "llm_as_judge"


@dataclass(slots=True)
class Hearing:
    """One instance before the judge, with its options in one order.

    Attributes:
        classes: Classification of the instance's data.
        assessment, choice: What the judge said; a failure where it did not, or where there was nothing to ask.
    """

    criteria: CriteriaWithOptions
    prompt: Any
    classes: Sequence[str] = ()
    assessment: Any = None
    choice_prompt: Any = None
    choice: Any = None
    selected: Any = None
    summary_prompt: Any = None
    summary: Any = None
    failure: Failure | None = field(default=None)


class LLMJudgeDirect(LLMJudge):
    """Assesses an answer by a criterion, then chooses one of its options; the option's score is the score.

    The score is named after the criterion where all instances have the same one, and ``llm_as_judge`` otherwise; it is
    also under its old name, ``llm_as_a_judge_score``, with ``positional_bias`` beside it.
    """

    _kind = "direct"
    unit: ClassVar[Unit | None] = "share"
    criteria: CriteriaWithOptions | None = None
    main_score: str = DEFAULT_SCORE
    reduction_map: dict[str, Any] = {"mean": [DEFAULT_SCORE]}

    def _measure(self, columns: Columns, *, intervals: bool, instances: bool) -> MetricScores:
        named = self.model_copy(update=self._names(columns))
        return super(LLMJudgeDirect, named)._measure(columns, intervals=intervals, instances=instances)

    def _names(self, columns: Columns) -> dict[str, Any]:
        found = self.criteria_of(columns.all_fields(), CriteriaWithOptions)
        names = {criteria.name for criteria in found if isinstance(criteria, Criteria)}
        if self.main_score != DEFAULT_SCORE:
            return {} if "reduction_map" in self.model_fields_set else {"reduction_map": {"mean": [self.main_score]}}
        if len(names) != 1 or not (name := next(iter(names))):
            return {}
        score = "_".join(name.lower().split(" "))
        return {"main_score": score, "reduction_map": {"mean": [score]}}

    def compute(
        self, references: list[list[Any]], predictions: list[Any], task_data: list[dict[str, Any]]
    ) -> list[Computed]:
        """Return the scores of each instance; a failure where the judge gave no verdict that can be read."""
        criteria = self.criteria_of(task_data, CriteriaWithOptions)
        cases = list(zip(predictions, task_data, criteria, strict=True))
        tell(self.asked_with(criteria))
        asker = self.asker()
        hearings = [self._opened(asker, *case, turned=False) for case in cases]
        if self.check_positional_bias:
            hearings += [self._opened(asker, *case, turned=True) for case in cases]
        self._assess(hearings)
        if self.generate_summaries:
            self._sum_up(hearings[: len(cases)], asker)
        self._choose(hearings, asker)
        second: Sequence[Hearing | None] = hearings[len(cases) :] or [None] * len(cases)
        return [self._scores(one, two) for one, two in zip(hearings, second, strict=False)]

    def _opened(
        self, asker: Asker, prediction: Any, fields: Mapping[str, Any], criteria: Any, *, turned: bool
    ) -> Hearing:
        if isinstance(criteria, Failure):
            return Hearing(_NOBODY, criteria, failure=criteria)
        used = criteria.reversed() if turned else criteria
        try:
            context = self.context_of(fields, criteria)
            answer = self.judged(prediction, fields, criteria)
        except Exception as error:  # noqa: BLE001 - the reason becomes a value: this instance fails, the rest count
            failure = failure_of(error)
            return Hearing(used, failure, failure=failure)
        case = {"context_variables": context, "response": answer, **_about(used, asker)}
        return Hearing(used, asker.question("assessment", case), classes_of(fields))

    def _options_shown(self) -> Sequence[Any]:
        return [] if self.criteria is None else self.criteria.options

    def _assess(self, hearings: Sequence[Hearing]) -> None:
        answers = self.converse([(hearing.prompt, hearing.classes) for hearing in hearings])
        for hearing, answer in zip(hearings, answers, strict=True):
            hearing.assessment = answer.prediction

    def _sum_up(self, hearings: Sequence[Hearing], asker: Asker) -> None:
        for hearing in hearings:
            hearing.summary_prompt = asker.question("summarization", {"assessment": hearing.assessment})
        answers = self.converse([(hearing.summary_prompt, hearing.classes) for hearing in hearings])
        for hearing, answer in zip(hearings, answers, strict=True):
            hearing.summary = answer.prediction

    def _choose(self, hearings: Sequence[Hearing], asker: Asker) -> None:
        for hearing in hearings:
            before = hearing.prompt, hearing.assessment
            hearing.choice_prompt = asker.question("answer", _about(hearing.criteria, asker), *before)
        answers = self.converse([(hearing.choice_prompt, hearing.classes) for hearing in hearings])
        for hearing, answer in zip(hearings, answers, strict=True):
            hearing.choice = answer.prediction
            hearing.selected = chosen_option(answer.prediction, [each.name for each in hearing.criteria.options])

    def _scores(self, one: Hearing, two: Hearing | None) -> Computed:
        failure = failure_among(one.failure, one.selected)
        score = None if failure else one.criteria.score_of(one.selected)
        turned = two.selected if two is not None and not isinstance(two.selected, Failure) else None
        details = {
            self._key(): score,
            "positional_bias": None if failure or turned is None else one.selected != turned,
            "selected_option": _plain(one.selected),
            "positional_bias_selected_option": turned,
            "assessment": _plain(one.assessment),
            "positional_bias_assessment": _plain(two.assessment) if two is not None else None,
            "summary": _plain(one.summary),
            "prompts": _prompts(one, two) if self.include_prompts_in_result else None,
            "option_selection_completion": _plain(one.choice),
            "positional_bias_option_selection_completion": _plain(two.choice) if two is not None else None,
            "criteria": one.criteria.to_json() if one.criteria is not _NOBODY else None,
        }
        main = self.main_score
        named = {f"{main}_{name}": value for name, value in details.items()}
        if failure:
            return Unscored(failure, without_blanks(named))
        old_names = {"llm_as_a_judge_score": score, "positional_bias": details["positional_bias"]}
        return without_blanks({main: score, **named, **old_names})


_NOBODY = CriteriaWithOptions(name="", description="", options=[])


def _about(criteria: CriteriaWithOptions, asker: Asker) -> dict[str, str]:
    told = asker.words.told(criteria.options)
    return {"criteria_description": criteria.description, "display_options_instruction": told}


def _plain(value: Any) -> Any:
    return None if isinstance(value, Failure) else value


def _prompts(one: Hearing, two: Hearing | None) -> dict[str, Any]:
    return {
        "assessment": _plain(one.prompt),
        "positional_bias_assessment": _plain(two.prompt) if two is not None else None,
        "summarization": _plain(one.summary_prompt),
        "option_selection": _plain(one.choice_prompt),
        "positional_bias_option_selection": _plain(two.choice_prompt) if two is not None else None,
    }
