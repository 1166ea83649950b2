"""Metrics as ``--metric`` names them, for exams of every dialect: a word of an assertion, or any metric by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from proctor.errors import DataError, UsageError, did_you_mean, reason_of
from proctor.foreign_yaml import parse_yaml, yaml_fault
from proctor.ir import Converse, Generate
from proctor.ir.prompt import message_text
from proctor.ir.question import Answered
from proctor.recipes.exam import Exam
from proctor.recipes.option import DEPENDS, Honoured, Refused
from proctor.recipes.options import ExamOptions
from proctor.safe_files import read_bytes
from proctor.settings import settings

if TYPE_CHECKING:
    from proctor.artifacts import Artifact
    from proctor.recipes.fingerprint import Definition
    from proctor.scoring.grading.protocols import Reading
    from proctor.scoring.metric import Metric

_MOST_BYTES: Final = 1 << 20  # of a file of criteria: thousands of sentences
PROMPT: Final = "__prompt"
"""The field in which judges find what was asked."""


def is_code(name: str) -> bool:
    """Whether a metric's name is a Python file, or a name in one."""
    from proctor.artifacts.query import IN_CODE

    return IN_CODE.fullmatch(name) is not None


def named_metrics(
    names: Sequence[str], asked: str, judge: str | None, in_code: Callable[[str], Artifact]
) -> list[Artifact | str]:
    """Return metrics: assertions and those in Python files made, others as they are named.

    Of one word the second is ``contains_2``.

    Args:
        names: As the user writes them.
        asked: What judges are shown as the question, a text with fields in braces.
        judge: Who judges.
        in_code: Makes those that are named in Python files.

    Raises:
        ProctorError: There is no such metric, or the judge cannot be had.
    """
    from proctor.scoring.assertion_metrics import AnswerAssertion
    from proctor.scoring.metric_table import whole_name

    engine = judge_of(judge) if asks_judge(names) else None
    seen: dict[str, int] = {}
    made: list[Artifact | str] = []
    for name in names:
        if is_code(name):
            made.append(in_code(name))
            continue
        if not is_assertion_word(name):
            made.append(whole_name(name))
            continue
        metric = AnswerAssertion(assertion=name, question=asked, judge=engine)
        seen[metric.main_score] = number = seen.get(metric.main_score, 0) + 1
        if number > 1:
            metric.main_score = f"{metric.main_score}_{number}"
        made.append(metric)
    return made


def judged_by_criteria(text: str) -> list[str]:
    """Return the metrics by which a judge decides of criteria: ``correctness``, a sentence, or a file with a list.

    Raises:
        DataError, UsageError: The file cannot be read, or has no list of sentences.
    """
    if Path(text).suffix.lower() not in (".yaml", ".yml"):
        return ["judge" if text.strip().casefold() == "correctness" else f"judge:{text}"]
    from yaml import YAMLError

    try:
        found = parse_yaml(read_bytes(text, _MOST_BYTES))
    except YAMLError as error:
        place, why, hint = yaml_fault(error, text)
        raise DataError("the criteria are not valid YAML", location=place, why=why, hint=hint) from None
    except OSError as error:
        hint = "--criteria takes a sentence, or a file that exists: a list, - in front of each sentence"
        raise DataError(f"{text} cannot be read", why=reason_of(error), hint=hint) from None
    if not (isinstance(found, list) and found and all(isinstance(each, str) and each.strip() for each in found)):
        raise UsageError(f"{text} is not a list of criteria", hint='write a line for each: "- It names the capital"')
    return [f"judge:{each.strip()}" for each in found]


def judge_of(name: str | None) -> Artifact | None:
    """Return the judge that a user names, or ``PROCTOR_JUDGE``."""
    from proctor.engines.engine_registry import make_engine
    from proctor.engines.model_args import Origin

    chosen = name or settings.judge
    return make_engine(chosen, None, Origin(None)) if chosen else None


def asks_judge(names: Sequence[str]) -> bool:
    """Whether one of some metrics asks a judge."""
    from proctor.scoring.assertions import JUDGED, parse_assertion

    return any(parse_assertion(name).kind in JUDGED for name in names if is_assertion_word(name))


def is_assertion_word(name: str) -> bool:
    """Whether a name is an assertion's: its word, then nothing, brackets or a colon.

    Raises:
        ProctorError: It is neither one's nor that of a metric.
    """
    from proctor.scoring.assertions import EMBEDDED, JUDGED, KINDS, OF_RESPONSES, is_assertion, parse_assertion
    from proctor.scoring.metric_table import is_metric, whole_name
    from proctor.scoring.named_table import LM_EVAL

    if is_code(name):
        return False
    own = {"f1", *KINDS}  # F1 is of words here, and of classes in lm-eval
    if is_metric(whole_name(name), LM_EVAL) and name.partition(":")[0] not in own:
        return False
    if not is_assertion(name):
        known = [*KINDS, *JUDGED, EMBEDDED, *sorted(OF_RESPONSES)]
        word, bracket, inside = name.partition("(")
        if (usual := _BRACKETS.get(word.removeprefix("not-"))) is not None:
            why = "brackets hold a number without its unit"
            raise UsageError(f"'{name}' cannot be read", why=why, hint=f"write {usual}")
        if bracket and word in (*KINDS, *JUDGED) and word != "f1":
            raise UsageError(f"'{name}' cannot be read", hint=f"write {word}:{inside.removesuffix(')')}")
        apart = [part.strip() for part in name.split(",")]
        several = " ".join(f"--metric {part}" for part in apart if part) if len(apart) > 1 else ""
        negated = "not-" * name.startswith("not-")
        words = [f"{negated}{each}" for each in known] + ([] if negated else metric_names())
        hint = several or did_you_mean(name, words) or f"there are {', '.join(known)}, and every metric that has a name"
        raise UsageError(f"there is no metric '{name}'", hint=hint)
    parse_assertion(name)
    return True


_BRACKETS: Final = {
    "latency": "latency(2000), in milliseconds",
    "cost": "cost(0.01), in US dollars",
    "levenshtein": "levenshtein(5), in changes of letters",
    "similar": "similar(0.8), a share of 1",
}
"""What the number in the brackets of an assertion means."""


def metric_names() -> list[str]:
    """Return the names of metrics, those of catalogs without ``metrics.``."""
    from proctor.artifacts import catalogs
    from proctor.scoring.metric_table import metric_table

    listed = [name for each in catalogs() for name in each.names() if name.startswith("metrics.")]
    return [*metric_table().names(), *(name.removeprefix("metrics.") for name in listed)]


# -- exams of other dialects ------------------------------------------------------------------------------------------


def scored_by(exam: Exam, options: ExamOptions, in_code: Callable[[str], Artifact]) -> Exam:
    """Return an exam with the metrics that the user names in place of its own, where its dialect leaves that open.

    What the model wrote is scored as it stands, against the exam's right answers; ``in_code`` makes metrics in files.

    Raises:
        ProctorError: There is no such metric.
    """
    if not options.metric or exam.honours.get("metric") is not DEPENDS:
        return exam
    variants: Mapping[str, Callable[[], Exam]] = {
        kind: partial(_variant, make, options, in_code) for kind, make in exam.variants.items()
    }
    if not exam.asker.kinds <= _WRITTEN or options.repeats:
        why = "it is asked several times" if options.repeats else "not all of its answers are texts"
        return replace(exam, honours={**exam.honours, "metric": Refused(why)}, variants=variants)
    from proctor.scoring.grading.grader import ExamGrader
    from proctor.scoring.grading.groups import GroupBy
    from proctor.scoring.grading.protocols import Grading
    from proctor.scoring.metric_table import metric_of
    from proctor.scoring.named_table import LM_EVAL

    if settings.trust_code:
        exam.problems()  # code that comes with it is read, and registers what it brings
    names = options.metric
    metrics = [metric_of(each, LM_EVAL) for each in named_metrics(names, f"{{{PROMPT}}}", options.judge, in_code)]
    grader = ExamGrader([Grading("", read_answers, (), metrics)], group_by=GroupBy.of(options.group_by))
    judge = {"judge": Honoured("who judges what --metric has judged")} if asks_judge(names) else {}
    return replace(
        exam,
        grader=grader.without_scorers() if options.predict_only else grader,
        source={**exam.source, "metric": list(names)},
        honours={**exam.honours, "metric": Honoured("what scores answers, instead of the exam's own"), **judge},
        variants=variants,
        define=lambda: _definition(exam, names, metrics),
    )


def _definition(exam: Exam, names: Sequence[str], metrics: Sequence[Metric]) -> Definition:
    """Return what an exam is made of with other metrics: their names, and the code of those that are not ours."""
    from proctor.recipes.held_code import code_of

    code, own = code_of(metrics), exam.definition
    said = [each.name if is_code(name) else name for name, each in zip(names, metrics, strict=True)]
    described = [said, code] if code else said  # code counts by its digests, wherever it lies
    return replace(own, extraction=["answer"], metrics=described, scorers=metrics, held={**own.held, **code})


_WRITTEN: Final = frozenset({"generate", "converse"})
"""Kinds of requests to which a model writes; of conversations the last answer counts."""


def _variant(make: Callable[[], Exam], options: ExamOptions, in_code: Callable[[str], Artifact]) -> Exam:
    return scored_by(make(), options, in_code)


def read_answers(answered: Answered) -> Sequence[Reading]:
    """Return each answer as it was written, the exam's right answers, and the row with what was asked."""
    from proctor.scoring.grading.protocols import Reading

    question = answered.question
    asked = question.requests[0]
    messages = asked.prompt.messages if isinstance(asked, Generate) else ()
    if isinstance(asked, Converse):
        messages = tuple(each for each in asked.turns if each is not None)
    fields = {**question.instance, PROMPT: "\n".join(map(message_text, messages))}
    return [Reading(each.texts[-1], question.exchange.references, fields) for each in answered.responses]
