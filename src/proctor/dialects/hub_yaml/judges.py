"""``model_graded_qa`` and ``model_graded_fact``: another model says whether answers are right; inspect's words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from proctor.dialects.hub_yaml.config import Step
from proctor.dialects.hub_yaml.solvers import made_of
from proctor.dialects.hub_yaml.templates import filled, pieces_of, text_of
from proctor.effects import Author, author
from proctor.engines.engine import Engine
from proctor.engines.engine_registry import make_engine
from proctor.engines.model_args import Origin
from proctor.errors import Diagnostic, ProctorError, ScoringError, UsageError, problems_of
from proctor.ir import Failure
from proctor.regexes import bounded
from proctor.scoring.answer_checks import SHARES, Verdict
from proctor.scoring.judges.judge_client import JudgePrompt, ask, who_judges
from proctor.scoring.judges.wording import digest_of_words
from proctor.settings import settings

if TYPE_CHECKING:
    from proctor.dialects.hub_yaml.scorers import Answered

Reduce = Callable[[Sequence[str | float], str], float | None]

QA: Final = """
You are assessing a submitted answer on a given task based on a criterion. Here is the data:

[BEGIN DATA]
***
[Task]: {question}
***
[Submission]: {answer}
***
[Criterion]: {criterion}
***
[END DATA]

Does the submission meet the criterion?

{instructions}
"""

FACT: Final = """
You are comparing a submitted answer to an expert answer on a given question. Here is the data:

[BEGIN DATA]
************
[Question]: {question}
************
[Expert]: {criterion}
************
[Submission]: {answer}
************
[END DATA]

Compare the factual content of the submitted answer with the expert answer. Ignore any differences in style, grammar, \
or punctuation.

Does the submission contain the content in the expert answer?

{instructions}
"""

_INSTRUCTIONS: Final = """
After assessing the submitted answer, reply with 'GRADE: $LETTER' (without quotes) where LETTER is one of {letters}.  \
Please choose ONE option for the grade: either "C" for correct answers, {partly}or "I" for incorrect answers.

For example, after reviewing a correct answer you might write 'GRADE: C' or after reviewing an incorrect answer you \
might write 'GRADE: I'.

First, write out in a step by step manner your reasoning about the criterion to be sure that your conclusion is \
correct. Avoid simply stating the correct answers at the outset. Then, end with your answer formatted as \
'GRADE: $LETTER' (without quotes) where LETTER is one of {letters}.
"""

_SPACE: Final = r"[\s\u200b\u200c\u200d\u200e\u200f\u2060\u2063\ufeff]*"
_GRADE: Final = rf"(?is).*(?<!\w)GRADE(?!\w){_SPACE}:{_SPACE}"
_OWN_WORDS: Final = rf"{_GRADE}([CPI])"
"""The last grade, where a file has instructions of its own."""
_OUR_WORDS: Final = rf"{_GRADE}(\w*)"
"""The last grade, whatever it is: one that was not offered is none."""
_SPELLED: Final = {"c": "C", "correct": "C", "i": "I", "incorrect": "I", "p": "P", "partial": "P"}
_REDUCERS: Final = ("majority", "mode", "mean", "median", "max")
_MARKS: Final = re.compile(r"\[(BEGIN|END) DATA\]", re.IGNORECASE)


def instructions_of(*, partial_credit: bool) -> str:
    """Return what the judge is told about its answer."""
    partly = '"P" for partially correct answers,' if partial_credit else ""
    return _INSTRUCTIONS.format(letters="CPI" if partial_credit else "CI", partly=partly)


@dataclass(frozen=True, kw_only=True)
class Grader:
    """A model that grades, and how it is asked.

    Attributes:
        template: What it is asked.
        instructions: How it is to answer; empty for inspect's own words.
        grade_pattern: What finds the grade in its answer; ``None`` for inspect's own.
        partial_credit: Whether it may find an answer partly right.
        include_history: Whether it sees the conversation, and not only the question.
        models: Whom to ask; empty for the judge that the user names.
        reducer: What makes one grade of several judges'.
        author: Who names them.
        asked: Whom the user names for this run; ``PROCTOR_JUDGE`` where he names nobody.
    """

    template: str
    instructions: str | None = None
    grade_pattern: str | None = None
    partial_credit: bool = False
    include_history: bool = False
    models: tuple[str, ...] = ()
    reducer: str = "majority"
    author: Author | None = None
    asked: str | None = None

    def engines(self) -> list[Engine]:
        """Return who is asked.

        Raises:
            UsageError: Nobody is named.
            ProctorError: A judge cannot be made.
        """
        if self.models:
            return [make_engine(each, None, Origin(self.author)) for each in self.models]
        judge = self.asked or settings.judge
        if not judge:
            raise UsageError(
                "the scorer asks a judge, and nobody says which model that is",
                why="inspect would let the model judge itself",
                hint="--judge openai/gpt-4.1 names one, or PROCTOR_JUDGE, or the scorer's argument model",
            )
        return [make_engine(judge, None, Origin(None))]

    def asked_with(self, name: str) -> dict[str, Any]:
        """Return what the judges are asked with, and who they are, for the scorer's fingerprint."""
        words = [self.template, self.instructions or instructions_of(partial_credit=self.partial_credit)]
        asked = [*words, self.grade_pattern, self.partial_credit, self.include_history, self.reducer]
        try:
            models = [who_judges(each) for each in self.engines()]
        except ProctorError:  # whoever checks says so
            models = []
        return {"judge": name, "words": "its own", "prompt": digest_of_words(asked), "models": models}

    def check(self) -> Iterator[Diagnostic]:
        """Yield what keeps the judges from being asked."""
        yield from problems_of(self.engines)

    def judge(self, answers: Sequence[Answered], reduce: Reduce) -> list[Verdict | Failure]:
        """Return the verdict on each answer; a failure where a judge gives no grade."""
        if not answers:
            return []
        prompts = [self._prompt(each) for each in answers]
        usable = [each for each in prompts if isinstance(each, JudgePrompt)]
        panels = [iter(ask(engine, usable)) for engine in self.engines()]
        found: list[Verdict | Failure] = []
        for prompt, answer in zip(prompts, answers, strict=True):
            if isinstance(prompt, Failure):
                found.append(prompt)
                continue
            said = [next(each).prediction for each in panels]
            found.append(self._verdict([self.grade(each) for each in said], answer.completion, reduce))
        return found

    def _prompt(self, answer: Answered) -> JudgePrompt | Failure:
        question = answer.history if self.include_history else _question(answer.sample)
        values = {
            **{name: _unmarked(value) for name, value in answer.sample["metadata"].items()},
            "question": _unmarked(question),
            "answer": _unmarked(answer.completion),
            "criterion": _unmarked("".join(answer.targets)),
            "instructions": self.instructions or instructions_of(partial_credit=self.partial_credit),
        }
        try:
            text = text_of(filled(self.template, values, "the judge", strict=True))
        except ProctorError as error:
            return Failure("scoring", str(error), retryable=False)
        return JudgePrompt([{"role": "user", "content": text}])

    def grade(self, said: object) -> str | Failure:
        """Return the grade in a judge's answer."""
        if isinstance(said, Failure):
            return said
        own = self.grade_pattern or (_OWN_WORDS if self.instructions else _OUR_WORDS)
        groups = bounded(own).groups(str(said))
        grade = groups[1] if groups is not None and len(groups) > 1 else None
        if grade is not None and self.grade_pattern is None:
            spelled = _SPELLED.get(grade.strip().lower())
            grade = spelled or (grade.strip().upper() if len(grade.strip()) == 1 else None)
            if not self.instructions and grade not in (("C", "P", "I") if self.partial_credit else ("C", "I")):
                grade = None
        if grade is None:
            return Failure("judge", f"no grade in the judge's answer: {str(said)[-200:]!r}", retryable=True)
        return grade

    def _verdict(self, grades: Sequence[str | Failure], completion: str, reduce: Reduce) -> Verdict | Failure:
        known = [each for each in grades if not isinstance(each, Failure)]
        if not known:
            return next(each for each in grades if isinstance(each, Failure))
        if len(grades) == 1:
            return _counted(known[0], completion)
        if self.reducer != "majority":
            counted = [_counted(each, completion) for each in known]
            if (bad := next((each for each in counted if isinstance(each, Failure)), None)) is not None:
                return bad
            value = reduce([each.value for each in counted if isinstance(each, Verdict)], self.reducer)
            return Failure("judge", "too few judges gave a grade") if value is None else Verdict(value, completion)
        grade, count = Counter(known).most_common(1)[0]
        if count * 2 <= len(grades):
            return Failure("judge", f"the judges do not agree: {', '.join(known)}", retryable=False)
        return _counted(grade, completion)


def _counted(grade: str, completion: str) -> Verdict | Failure:
    """Return the verdict of a grade: a letter, yes or no, or a number."""
    if grade in SHARES:
        return Verdict(grade, completion)
    words = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
    try:
        value = words.get(grade.lower())
        return Verdict(float(grade) if value is None else value, completion)
    except ValueError:
        return Failure("judge", f"the grade '{grade}' counts nothing", retryable=False)


def _question(sample: Mapping[str, Any]) -> str:
    value = sample["input"]
    if isinstance(value, str):
        return value
    content = next((each["content"] for each in reversed(value) if each["role"] == "user"), "")
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content if part["type"] == "text")


def _unmarked(value: Any) -> Any:
    """Return words in which nobody can end the data that a judge is shown."""
    if isinstance(value, str):
        return _MARKS.sub(lambda found: found.group().replace(" ", "-"), value)
    if isinstance(value, Mapping):
        return {key: _unmarked(each) for key, each in value.items()}
    return [_unmarked(each) for each in value] if isinstance(value, list) else value


# -- making them -----------------------------------------------------------------------------------------------------


def grader(step: Step, judge: str | None = None) -> Grader:
    """Return the grader of a scorer.

    Raises:
        ProctorError: An argument cannot be used.
    """
    template = FACT if step.name == "model_graded_fact" else QA
    made: Grader = made_of(step.name, _maker(template), step)
    pieces_of(made.template, step.name)
    bounded(made.grade_pattern or "")
    return replace(made, asked=judge)


def _maker(default: str) -> Callable[..., Grader]:
    def make(
        *,
        template: str | None = None,
        instructions: str | None = None,
        grade_pattern: str | None = None,
        include_history: bool = False,
        partial_credit: bool = False,
        model: str | Sequence[str] | None = None,
        model_role: str | None = "grader",
        reducer: str = "majority",
    ) -> Grader:
        if model_role not in (None, "grader"):
            raise ScoringError(f"there is no role '{model_role}'", hint="PROCTOR_JUDGE names the judge; leave it out")
        if reducer not in _REDUCERS:
            raise ScoringError(f"judges have no reducer '{reducer}'", hint=f"there are {', '.join(_REDUCERS)}")
        models = (model,) if isinstance(model, str) else tuple(model or ())
        return Grader(
            template=template or default,
            instructions=instructions,
            grade_pattern=grade_pattern,
            partial_credit=partial_credit,
            include_history=include_history,
            models=models,
            reducer=reducer,
            author=author() if models else None,
        )

    return make
