"""Mistakes that every one of an exam's first questions shows and nobody can have meant, said before a run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain, islice

from proctor.ir import Generate, Prompt
from proctor.prompts.lint import fields_of, warnings_of
from proctor.prompts.preview import prompts_of
from proctor.recipes.exam import Exam, Question

LOOKED_AT = 8
"""Questions that are looked at: a mistake of the words is in each of them."""
_ENOUGH = 3
"""Questions from which on all being alike is not an accident."""
_PLACE = re.compile(r"(?<![\w\\{}\]^$])\{([A-Za-z_]\w*)\}(?!\})")
"""A name in single braces, where it is not part of a formula."""
_ESCAPED = re.compile(r"\\n(?![a-z])")
"""A backslash and an n that begin no command of a formula."""
_END = 40
"""Characters at the end of a prompt in which an answer gives itself away."""
_OF_EVERY_QUESTION = ("is the instance itself", "are alike: ")


def doubts_of(exam: Exam) -> list[str]:
    """Return a sentence on each mistake that the first questions of an exam share; the next pass over it goes on there.

    Raises:
        ProctorError: Its rows cannot be had, or not be put in words.
    """
    questions = exam.questions()
    first = list(islice(questions, LOOKED_AT))
    exam.resume(chain(first, questions))  # whoever asks them next need not make them again
    asked = [each for each in first if each.failure is None and each.requests]
    if not asked:
        return []
    return list(dict.fromkeys([*_of_words(asked, exam.dialect), *_of_answers(asked)]))


def _of_words(asked: Sequence[Question], dialect: str) -> Iterator[str]:
    texts = [_text(each) for each in asked]
    rows = [repr(each.instance) for each in asked]
    alike = len({tuple(_prompts(each)) for each in asked}) == 1  # pictures and sounds count
    if len(asked) >= _ENOUGH and alike and texts[0].strip() and len(set(rows)) == len(rows):
        yield f"the first {len(asked)} prompts are all the same, whatever the row: {texts[0].strip()[:60]!r}"
    if all(map(_ESCAPED.search, texts)) and not any("\\n" in value for each in asked for value in _values(each)):
        yield "the prompt shows a backslash and an n where a new line may be meant: in YAML, double quotes make it one"
    places = set.intersection(*(set(_PLACE.findall(text)) for text in texts))
    shown = [name for name in sorted(places) if all(name in fields_of(each) for each in asked)]
    if shown:
        listed = ", ".join(f"'{{{name}}}'" for name in shown)
        meant = f"is '{{{{{shown[0]}}}}}' meant?"
        if dialect == "tables":
            meant = "--system-prompt fills in no columns, a file of messages for --prompts does"
        yield f"the prompt shows {listed} as it stands, and the data has that column: {meant}"


def _of_answers(asked: Sequence[Question]) -> Iterator[str]:
    written = [each for each in asked if isinstance(each.requests[0], Generate) and each.exchange.references]
    stops = [_needed_stops(each) for each in written]
    if written and len(written) == len(asked) and all(stops):
        yield f"answers end at {stops[0][0]!r}, which stands in the right answers: none of them can be written"
    ends = [_text(each).rstrip()[-_END:] for each in written]
    answers = [each.exchange.references[0].strip() for each in written]
    if len(set(answers)) >= _ENOUGH and all(
        answer and end.endswith(answer) for end, answer in zip(ends, answers, strict=True)
    ):
        yield "each prompt ends with its right answer"
    said = [list(warnings_of(each)) for each in asked]
    for part in _OF_EVERY_QUESTION if len(asked) >= _ENOUGH else ():
        found = [[each for each in own if part in each] for own in said]
        if all(found):
            yield f"in each of the first {len(asked)} questions {found[0][0]}"


def _needed_stops(question: Question) -> list[str]:
    """Return the stop strings that stand within the right answer; one at its end only ends it."""
    answer, request = question.exchange.references[0].strip(), question.requests[0]
    stops = request.decoding.stop if isinstance(request, Generate) else ()
    return [stop for stop in stops if stop and stop in answer.removesuffix(stop)]


def _text(question: Question) -> str:
    return "\n".join(prompt.text for prompt in _prompts(question))


def _prompts(question: Question) -> list[Prompt]:
    return [prompt for request in question.requests[:1] for prompt in prompts_of(request)[:1]]


def _values(question: Question) -> Iterator[str]:
    """Yield what a row holds as text; of lists and mappings their parts, as Python writes them."""
    for value in fields_of(question).values():
        yield value if isinstance(value, str) else repr(value).replace("\\\\", "\\")
