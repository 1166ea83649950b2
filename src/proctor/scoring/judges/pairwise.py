"""A judge that compares the answers of systems, two at a time."""
# ruff: noqa: ARG002 - judges are called with all there is

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

from proctor.data.policy import classes_of
from proctor.errors import ScoringError, ValidationError
from proctor.ir import Failure
from proctor.scoring.columns import Columns
from proctor.scoring.flat_scores import MetricScores
from proctor.scoring.instance_metric import Computed, Unscored
from proctor.scoring.judges.criteria import Criteria
from proctor.scoring.judges.judged import tell
from proctor.scoring.judges.steps import Asker, LLMJudge, without_blanks
from proctor.scoring.judges.verdicts import chosen_option
from proctor.scoring.metric import failure_of
from proctor.scoring.scores import Unit


@dataclass(slots=True)
class Contest:
    """Two answers before the judge, in one order."""

    instance: int
    names: tuple[str, str]
    prompt: Any
    classes: Sequence[str] = ()
    assessment: Any = None
    choice_prompt: Any = None
    choice: Any = None
    selected: Any = None
    summary: Any = None


_FIRST = "1_winrate"  # the main score until the names of the systems are known


class LLMJudgePairwise(LLMJudge):
    """Compares answers in pairs by a criterion; scores are the win rates of the systems, and their ranks.

    A prediction is the answers of all systems to an instance: a dict by system, or a list (systems are then ``1``,
    ``2`` …). The main score is the win rate of the first system.
    """

    _kind = "pairwise"
    unit: ClassVar[Unit | None] = "share"
    main_score: str = _FIRST
    reduction_map: dict[str, Any] = {"mean": [_FIRST]}

    def verify(self) -> None:
        """Check that nobody asks for other global scores than there are.

        Raises:
            ValidationError: ``reduction_map`` says anything but means of win rates.
        """
        super().verify()
        names = [str(name) for scores in self.reduction_map.values() for name in scores]
        if set(self.reduction_map) - {"mean"} or any(not name.endswith(("winrate", "score")) for name in names):
            raise ValidationError(
                f"a pairwise judge has no global scores by {self.reduction_map}",
                path="$.reduction_map",
                why="they are the means of the win rates of all systems, whatever reduction_map says",
                hint="leave reduction_map out; the other scores are in the instances",
            )

    def _measure(self, columns: Columns, *, intervals: bool, instances: bool) -> MetricScores:
        names = next((list(_by_system(each)) for each in columns.predictions if isinstance(each, (dict, list))), [])
        if not names:
            return super()._measure(columns, intervals=intervals, instances=instances)
        scores = [f"{name}_winrate" for name in names]
        update = {"main_score": scores[0], "reduction_map": {"mean": scores}}
        named = self.model_copy(update=update)
        return super(LLMJudgePairwise, named)._measure(columns, intervals=intervals, instances=instances)

    def compute(
        self, references: list[list[Any]], predictions: list[Any], task_data: list[dict[str, Any]]
    ) -> list[Computed]:
        """Return the scores of each instance; a failure where the judge gave no verdict that can be read."""
        criteria = self.criteria_of(task_data, Criteria)
        tell(self.asked_with(criteria))
        asker = self.asker()
        contests: list[Contest] = []
        failures: dict[int, Failure] = {}
        systems: list[list[str]] = []
        for position, (prediction, fields, each) in enumerate(zip(predictions, task_data, criteria, strict=True)):
            try:
                answers = self._answers(prediction, fields, each)
                systems.append(list(answers))
                contests += self._contests(position, answers, fields, each, asker)  # type: ignore[arg-type]
            except Exception as error:  # noqa: BLE001 - the reason becomes a value: this instance fails, the rest count
                systems.append([])
                failures[position] = each if isinstance(each, Failure) else failure_of(error)
        self._hear(contests, asker)
        found: list[Any] = []
        for position, names in enumerate(systems):
            own = [contest for contest in contests if contest.instance == position]
            found.append(failures.get(position) or self._scores(names, own, criteria[position]))
        return found

    def _answers(self, prediction: Any, fields: Mapping[str, Any], criteria: Any) -> dict[str, str]:
        if isinstance(criteria, Failure):
            raise ScoringError(criteria.message)
        answers = _by_system(self.judged(prediction, fields, criteria))
        if len(answers) <= 1:
            raise ScoringError("a comparison needs the answers of two systems or more")
        expected = self.main_score.removesuffix("_winrate")
        if self.main_score != _FIRST and expected not in answers:
            raise ScoringError(f"the system '{expected}' has no answer", why=f"there are {', '.join(answers)}")
        return answers

    def _contests(
        self, position: int, answers: Mapping[str, str], fields: Mapping[str, Any], criteria: Criteria, asker: Asker
    ) -> list[Contest]:
        context, classes = self.context_of(fields, criteria), classes_of(fields)
        pairs = list(combinations(answers, 2))
        if self.check_positional_bias:
            pairs += [(second, first) for first, second in pairs]
        about = {
            "context_variables": context,
            "criteria_name": criteria.name,
            "criteria_description": criteria.description,
        }
        cases = [
            {**about, "option_a": a, "option_b": b, "response_a": answers[a], "response_b": answers[b]}
            for a, b in pairs
        ]
        return [
            Contest(position, pair, asker.question("assessment", case), classes)
            for pair, case in zip(pairs, cases, strict=True)
        ]

    def _options_shown(self) -> Sequence[Any]:
        return ["1", "2"]

    def _hear(self, contests: Sequence[Contest], asker: Asker) -> None:
        answers = self.converse([(each.prompt, each.classes) for each in contests])
        for contest, answer in zip(contests, answers, strict=True):
            contest.assessment = answer.prediction
            told = {"score_option_instruction": asker.words.told(contest.names)}
            contest.choice_prompt = asker.question("answer", told, contest.prompt, answer.prediction)
        answers = self.converse([(each.choice_prompt, each.classes) for each in contests])
        for contest, answer in zip(contests, answers, strict=True):
            contest.choice = answer.prediction
            called = f"{asker.words.answer} "
            options = [f"{called}{name}" for name in contest.names]
            chosen = chosen_option(answer.prediction, options)
            if isinstance(chosen, Failure):
                chosen = chosen_option(answer.prediction, contest.names)
            contest.selected = chosen if isinstance(chosen, Failure) else chosen.removeprefix(called)
        if self.generate_summaries:
            prompts = [asker.question("summarization", {"assessment": each.assessment}) for each in contests]
            asked = [(prompt, each.classes) for prompt, each in zip(prompts, contests, strict=True)]
            for contest, answer in zip(contests, self.converse(asked), strict=True):
                contest.summary = answer.prediction

    def _scores(self, names: Sequence[str], contests: Sequence[Contest], criteria: Any) -> Computed:
        count = len(contests) // 2 if self.check_positional_bias else len(contests)
        first, second = contests[:count], contests[count:]
        failure = next((each.selected for each in first if isinstance(each.selected, Failure)), None)
        rates = {} if failure else {name: _win_rate(name, first) for name in names}
        scores: dict[str, Any] = {}
        for name in names:
            mine = [place for place, contest in enumerate(first) if name in contest.names]
            details = self._details(name, [first[i] for i in mine], [second[i] for i in mine] if second else [])
            if not failure:
                rank = 1 + sum(rate > rates[name] for rate in rates.values())
                details |= {"winrate": rates[name], "llm_as_judge": rates[name], "ranking": rank}
            scores |= {f"{name}_{key}": value for key, value in {**details, "response_name": name}.items()}
        scores = without_blanks({**scores, "criteria": criteria.to_json()})
        return Unscored(failure, scores) if failure else scores

    def _details(self, name: str, first: Sequence[Contest], second: Sequence[Contest]) -> dict[str, Any]:
        prompts = {
            "assessment": [each.prompt for each in first],
            "positional_bias_assessment": [each.prompt for each in second],
            "option_selection": [_plain(each.choice_prompt) for each in first],
            "positional_bias_option_selection": [_plain(each.choice_prompt) for each in second],
        }
        return {
            "summaries": [summary for each in first if (summary := _plain(each.summary)) is not None],
            "contest_results": [each.selected == name for each in first],
            "selections": [_plain(each.selected) for each in first],
            "compared_to": [next(other for other in each.names if other != name) for each in first],
            "assessments": [_plain(each.assessment) for each in first],
            "positional_bias_assessments": [_plain(each.assessment) for each in second],
            "option_selection_outputs": [_plain(each.choice) for each in first],
            "positional_bias": [_is_biased(one, two) for one, two in zip(first, second, strict=False)],
            "positional_bias_selection": [_plain(each.selected) for each in second],
            "prompts": prompts if self.include_prompts_in_result else None,
        }


def _is_biased(one: Contest, two: Contest) -> bool | None:
    """Whether the other order changed the judge's mind; ``None`` where it gave no verdict that can be read."""
    if isinstance(one.selected, Failure) or isinstance(two.selected, Failure):
        return None
    return bool(one.selected != two.selected)


def _win_rate(name: str, contests: Sequence[Contest]) -> float:
    own = [bool(contest.selected == name) for contest in contests if name in contest.names]
    return sum(own) / len(own)


def _by_system(prediction: Any) -> dict[str, str]:
    if isinstance(prediction, Mapping):
        return {str(name): answer for name, answer in prediction.items()}
    if isinstance(prediction, (list, tuple)):
        return {str(number): answer for number, answer in enumerate(prediction, start=1)}
    raise ScoringError("a comparison needs a list or a dict of answers", why=f"it got a {type(prediction).__name__}")


def _plain(value: Any) -> Any:
    return None if isinstance(value, Failure) else value
