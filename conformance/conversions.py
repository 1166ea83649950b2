"""Converts made-up exams of each dialect to each other one, reads them back, and says what became of them.

``python -m conformance.conversions`` prints the table (exams by direction: equal requests and scores, equal requests
and a named loss …) and the most frequent losses; it exits with 1 where something differs that no loss names.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.own.adapter import MadeUpEngine
from conformance.own.record import DIALECTS

from proctor.dialects.conversion import Loss, convert_exam
from proctor.dialects.resolve import resolve_tasks
from proctor.errors import ProctorError
from proctor.recipes.exam import Answered, Exam, suited
from proctor.recipes.options import ExamOptions
from proctor.scoring.grades import Grade
from proctor.scoring.scores import Score
from proctor.settings import settings

FORMS = {"lm_eval": ("lm-eval", ".yaml"), "unitxt": ("unitxt", ".json"), "aisbench": ("opencompass", ".py")}
"""The form of each dialect, and how its files end."""

OUTCOMES = (
    "equal requests and scores",
    "equal requests, a score is named",
    "equal prompts and scores, decoding is named",
    "a named loss",
    "refused",
    "UNNAMED",
)
DIGITS = 9
"""Decimals of a score that are compared: percent and back again loses the last bits."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of an exam."""

    dialect: str
    to: str
    exam: str
    outcome: str
    losses: tuple[Loss, ...] = ()
    detail: str = ""


def exams_of(dialect: str) -> list[Exam]:
    """Return all exams of a dialect whose files lie in this folder, each once."""
    names = dict.fromkeys(name for case in DIALECTS[dialect].cases() for name in case.exams)
    found: dict[str, Exam] = {}
    for name in names:
        try:
            made = resolve_tasks([name], ExamOptions(**_OPTIONS.get(dialect, {})))
        except ProctorError:
            continue  # options of its case make it an exam
        found.update({f"{name}::{exam.name}": exam for exam in suited(made, MadeUpEngine())})
    return list({exam.name: exam for exam in found.values()}.values())


_OPTIONS: dict[str, dict[str, Any]] = {"lm_eval": {"include_paths": (".",), "resamples": 0, "num_demos": 1}}


def outcomes(dialect: str, most: int | None = None) -> Iterator[Outcome]:
    """Yield what becomes of the exams of a dialect in the other forms."""
    here = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="proctor-convert-") as name:
        os.chdir(name)
        try:
            with settings.context(trust_code=True):
                DIALECTS[dialect].write(Path(name))
                exams = exams_of(dialect)
                for exam in exams if most is None else _spread(exams, most):
                    yield from (_outcome(dialect, exam, to, Path(name)) for to in FORMS if to != dialect)
        finally:
            os.chdir(here)


def _spread(exams: Sequence[Exam], most: int) -> list[Exam]:
    """Return exams from the whole list."""
    return [exams[place * len(exams) // most] for place in range(min(most, len(exams)))]


def _outcome(dialect: str, exam: Exam, to: str, folder: Path) -> Outcome:  # noqa: PLR0911 - one for each outcome
    form, ending = FORMS[to]
    try:
        made = convert_exam(exam, form)
    except ProctorError as error:
        return Outcome(dialect, to, exam.name, "refused", detail=_why(error))
    place = folder / f"as_{to}"
    place.mkdir(exist_ok=True)
    (place / made.rows_file).write_text(made.rows_text(), encoding="utf-8")
    file = place / f"{made.name}{ending}"
    whole = (place.resolve() / made.rows_file).as_posix()  # the other systems look from where they run
    file.write_text(made.text.replace(made.rows_file, whole), encoding="utf-8")
    losses: tuple[Loss, ...] = made.lost
    try:
        back = resolve_tasks([str(file)], ExamOptions(resamples=0) if to == "lm_eval" else ExamOptions())
        problems = [problem for each in back for problem in each.problems(MadeUpEngine())]
        asked, again = [*requests(exam)], [*requests(back[0])]
        is_same = [[each.key for each in some] for some in asked] == [[each.key for each in some] for some in again]
        has_prompts = [list(map(_said, some)) for some in asked] == [list(map(_said, some)) for some in again]
        missing = _missing(graded(exam), [graded(each) for each in back]) if has_prompts else []
    except ProctorError as error:
        return Outcome(dialect, to, exam.name, "UNNAMED", losses, f"cannot be read back: {error}")
    if problems:
        return Outcome(dialect, to, exam.name, "UNNAMED", losses, f"has problems: {problems[0].what}")
    parts = {each.part for each in losses if not each.text.startswith(("groups:", "group_by:"))}  # not this exam's own
    if not is_same and "requests" not in parts:
        return Outcome(dialect, to, exam.name, "UNNAMED", losses, "requests differ")
    if missing and "scores" not in parts:
        return Outcome(dialect, to, exam.name, "UNNAMED", losses, f"scores differ: {missing}")
    detail = f"scores differ: {missing}" if missing else ""
    if is_same:
        return Outcome(dialect, to, exam.name, OUTCOMES[1 if missing else 0], losses, detail)
    return Outcome(dialect, to, exam.name, OUTCOMES[2 if has_prompts and not missing else 3], losses, detail)


def _said(request: Any) -> Any:
    return request.prompt.payload if hasattr(request, "prompt") else request.key


def _why(error: ProctorError) -> str:
    problem = error.diagnostics[0]
    return problem.why or problem.what


def requests(exam: Exam) -> Iterator[Sequence[Any]]:
    """Yield the requests of all questions, in order."""
    return (question.requests for question in exam.questions() if question.failure is None)


def graded(exam: Exam) -> Grade:
    """Return the grade of scripted answers: equal requests get equal answers."""
    engine = MadeUpEngine()

    def answered() -> Iterator[Answered]:
        for question in exam.questions():
            if question.failure is None:
                yield Answered(question, [_answer(engine, each) for each in question.requests])

    return exam.grade(answered())


def _answer(engine: MadeUpEngine, request: Any) -> Any:
    ask = engine.generate if hasattr(request, "prompt") else engine.score
    return next(iter(ask([request])))[1]


def _missing(before: Grade, after: Sequence[Grade]) -> list[str]:
    """Return the scores that no score of the converted exam equals; shares and percents are compared as shares."""
    known = {value for each in after for score in each.table if (value := _comparable(score)) is not None}
    return [
        f"{score.name}={score.value}"
        for score in before.table
        if (value := _comparable(score)) is not None and value not in known
    ]


def _comparable(score: Score) -> float | None:
    if score.number is None:
        return None
    share = score.as_share(score.number)
    return round(score.number if share is None else share, DIGITS)


# -- the program --------------------------------------------------------------------------------------------------


def main() -> int:
    """Print the table; return 1 where something differs that no loss names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=sorted(DIALECTS), help="exams of one dialect")
    parser.add_argument("--most", type=int, help="exams of each dialect")
    parser.add_argument("--verbose", action="store_true", help="a line for each exam")
    args = parser.parse_args()
    found = [each for name in ([args.only] if args.only else DIALECTS) for each in outcomes(name, args.most)]
    for each in found:
        if args.verbose or each.outcome == "UNNAMED":
            print(f"{each.dialect} -> {each.to}  {each.exam}: {each.outcome} {each.detail}")
    print_table(found)
    return int(any(each.outcome == "UNNAMED" for each in found))


def print_table(found: Sequence[Outcome]) -> None:
    """Print exams by direction and outcome, and the most frequent losses."""
    counts = Counter((each.dialect, each.to, each.outcome) for each in found)
    print(f"| from | to | exams | {' | '.join(OUTCOMES)} |\n|{'---|' * (len(OUTCOMES) + 3)}")
    for dialect, to in dict.fromkeys((each.dialect, each.to) for each in found):
        row = [counts[dialect, to, outcome] for outcome in OUTCOMES]
        print(f"| {dialect} | {to} | {sum(row)} | {' | '.join(map(str, row))} |")
    for part in ("requests", "scores", "elsewhere"):
        losses = Counter(loss.text for each in found for loss in each.losses if loss.part == part)
        print(f"\n{part}:")
        for text, count in losses.most_common(25):
            print(f"  {count:4} {text}")
    print("\nrefused:")
    for text, count in Counter(each.detail for each in found if each.outcome == "refused").most_common(12):
        print(f"  {count:4} {text}")


if __name__ == "__main__":
    sys.exit(main())
