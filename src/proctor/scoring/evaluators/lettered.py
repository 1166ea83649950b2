"""Evaluators of exams whose answers are letters: how each finds the letter that a model chose."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from proctor.errors import MissingFieldError
from proctor.regexes import BoundedPattern, SlowPatternError
from proctor.scoring.evaluators.cases import Cases, Verdict, percent_of_sum, share
from proctor.scoring.text.postprocessors.options import first_option
from proctor.scoring.text.postprocessors.texts import bbeh_choice, bbeh_freeform

Row = Mapping[str, Any]


def column(row: Row, name: str) -> Any:
    """Return a value of a row.

    Raises:
        MissingFieldError: The row has no such column.
    """
    if name not in row:
        raise MissingFieldError(f"the evaluator reads the column '{name}', which the data lacks")
    return row[name]


def _by_row(cases: Cases, read: Callable[[Any, Row], Any]) -> Verdict:
    """Return the share of answers that are read as the reference."""
    parsed = [read(given, row) for given, row in zip(cases.predictions, cases.rows, strict=True)]
    marks = [given == gold for given, gold in zip(parsed, cases.references, strict=True)]
    return share(marks, rule=percent_of_sum, parsed=parsed)


def proteinlmbench(cases: Cases) -> Verdict:
    """Share of answers whose first option is the reference, in percent (``ProteinLMBenchEvaluator``)."""

    def read(given: str, row: Row) -> str:
        return first_option(given, "".join(chr(ord("A") + i) for i in range(len(column(row, "options")))))

    return _by_row(cases, read)


def sciknoweval(cases: Cases) -> Verdict:
    """Share of answers whose first word that is a label is the reference, in percent (``SciKnowEvalEvaluator``)."""

    def read(given: str, row: Row) -> str | None:
        labels = "|".join(column(row, "choices")["label"])
        return next(iter(re.findall(rf"\b({labels})\b", given)), None)

    return _by_row(cases, read)


def winner(cases: Cases) -> Verdict:
    """Share of judgements that name the winner, ``"Choice": "Model A"``, in percent (``JudgeEvaluator``)."""
    said = [str(given).rsplit('"Choice": "Model ', maxsplit=1)[-1][:1] for given in cases.predictions]
    marks = [given == gold.get("winner", "") for given, gold in zip(said, cases.references, strict=True)]
    return share(marks, rule=percent_of_sum, parsed=said)


# -- SuperGPQA ----------------------------------------------------------------------------------------------------

_OPEN = r"(?:[\*\$\{(\[\\(]*?(?:(?:\\boxed|\\mathbf|\\mathrm|\\text){)?)*\s*"
_CLOSE = r"(?:\\?}?\$?\)?\]?}?)*(?:[\s:\.\*)]|$)"
_SAID = r"[Tt]he\s+(?:\w+\s+)?(?:answer|option)(?:\w+\s+)?\s+"
_LETTER = "([ABCDEFGHIJ])"
_LETTERS = tuple(
    BoundedPattern(before + _OPEN + _LETTER + _CLOSE, re.IGNORECASE)
    for before in (_SAID + r"is?:?\s*", r"(?i:Answer)[\*\s]*:\s*", r"^[^\w\r\n]*")
)
_DIFFICULTIES = ("hard", "middle", "easy")


def supergpqa(cases: Cases) -> Verdict:
    """Share of answers that name the right option by letter or by content, as a fraction (``SuperGPQAEvaluator``).

    Beside it: how many cannot be read (``error_rate``), how many name none (``miss_rate``), and the share of right ones
    by difficulty.
    """
    parsed = [_supergpqa_letter(given, row) for given, row in zip(cases.predictions, cases.rows, strict=True)]
    marks = [bool(given) and given == gold for given, gold in zip(parsed, cases.references, strict=True)]
    count = len(marks)
    verdict = share(marks, parsed=parsed)
    levels = [str(row.get("difficulty")) for row in cases.rows]
    scores = {"accuracy": sum(marks) / count}
    scores["error_rate"] = sum(given == _UNREADABLE for given in parsed) / count
    scores["miss_rate"] = sum(not given for given in parsed) / count
    for level in _DIFFICULTIES:
        own = [mark for mark, each in zip(marks, levels, strict=True) if each == level]
        scores[f"{level}_accuracy"] = sum(own) / len(own) if own else 0
    return Verdict(scores, {"accuracy": [float(mark) for mark in marks]}, verdict.correct, parsed=parsed)


_UNREADABLE = "error"


def _supergpqa_letter(given: Any, row: Row) -> str | None:
    if not isinstance(given, str):
        return _UNREADABLE
    options = column(row, "options")
    if row.get("prompt_mode") != "five-shot":
        return _supergpqa_option(given, options)
    return _supergpqa_option(given.split("Question:")[0], options) or _supergpqa_option(given, options)


def _supergpqa_option(text: str, options: Sequence[str]) -> str | None:
    """Return the letter that a text names, in its last line if possible; else that of the option whose words it has."""
    text = text.rstrip()
    places = (text.split("\n")[-1], text)
    for place in places:
        for letters in _LETTERS:
            if (found := _group(letters, place)) is not None:
                return found
    contents = [re.escape(option) for option in options]
    listed = f"({'|'.join(contents)})"
    patterns = [before + _OPEN + listed + _CLOSE for before in (_SAID + r"is:?\s*", r"(?i:Answer)\s*", r"^[^\w\r\n]*")]
    for place in places:
        for pattern in patterns:
            if (found := _group(BoundedPattern(pattern), place)) is not None:
                return _letter_of(found, options, contents)
    return None


def _letter_of(found: str, options: Sequence[str], contents: Sequence[str]) -> str | None:
    """Return the letter of an option's words, as they are or escaped, as upstream compares them."""
    words = options[contents.index(found)] if found in contents else found
    if not words:
        return None
    return chr(ord("A") + list(options).index(words)) if words in options else _UNREADABLE


def _group(pattern: BoundedPattern, text: str) -> str | None:
    try:
        found = pattern.groups(text)
    except SlowPatternError:
        return None
    return None if found is None else found[1] or ""


# -- BIG-bench Extra Hard -----------------------------------------------------------------------------------------


def bbeh(cases: Cases) -> Verdict:
    """Share of answers that are the reference, but for quotes and spaces at commas, in percent (``BBEHEvaluator``)."""
    parsed = [bbeh_freeform(given) for given in cases.predictions]
    marks = [_same_words(given, gold.lower()) for given, gold in zip(parsed, cases.references, strict=True)]
    return share(marks, "score", parsed=parsed)


def _same_words(given: str, gold: str) -> bool:
    if given in (gold, gold.strip("'\"()[]")):
        return True
    one, other = (re.sub(r"(?:(?<!\s)\s++)?,\s*", ",", text) for text in (given, gold))
    return "," in gold and one == other


def bbeh_option(cases: Cases) -> Verdict:
    """Share of answers that name the reference's option, in percent (``BBEHEvaluator_mcq``)."""
    parsed = [bbeh_choice(given) for given in cases.predictions]
    marks = [given == gold.lower().strip("()") for given, gold in zip(parsed, cases.references, strict=True)]
    return share(marks, "score", parsed=parsed)


# -- ZebraLogic, ELBench ------------------------------------------------------------------------------------------


def zebra_option(cases: Cases) -> Verdict:
    """Share of answers that name the reference's letter, in percent (``ZebraLogicMCEvaluator``)."""
    parsed = [_zebra_letter(str(given)) for given in cases.predictions]
    marks = [given == str(gold).upper() for given, gold in zip(parsed, cases.references, strict=True)]
    return share(marks, "score", parsed=parsed)


def _zebra_letter(text: str) -> str:
    for pattern in (r"[Tt]he (?:final )?answer is[:\s]+\(?([A-Ja-j])\)?", r"\*\*([A-Ja-j])\*\*"):
        if (match := re.search(pattern, text)) is not None:
            return match.group(1).upper()
    lines = (re.match(r"^\s*\(?([A-Ja-j])\)?\s*$", line.strip()) for line in reversed(text.strip().split("\n")))
    if (match := next((each for each in lines if each), None)) is not None:
        return match.group(1).upper()
    found = re.findall(r"\(([A-Ja-j])\)", text)
    return found[-1].upper() if found else ""


_BESIDE_LETTERS = re.compile(r"[\sA-J,，、.。()\[\]:：和与]")  # noqa: RUF001 - Chinese


def elbench_options(cases: Cases) -> Verdict:
    """Share of answers whose letters are those of the reference, in percent (``ELBenchChoiceEvaluator``)."""
    parsed = [_elbench_letters(given or "") for given in cases.predictions]
    golds = ["".join(sorted(set(re.findall("[A-J]", str(gold).upper())))) for gold in cases.references]
    marks = [given == gold != "" for given, gold in zip(parsed, golds, strict=True)]
    return share(marks, rule=percent_of_sum, parsed=parsed)


def _elbench_letters(text: str) -> str:
    marker = re.search(r"(?:ANSWER|答案|最终答案)\s*[:：是为]?\s*(.+)", text, re.IGNORECASE)  # noqa: RUF001 - Chinese
    if marker is not None:
        alone = re.findall(r"(?<![A-Za-z])([A-Ja-j])(?![A-Za-z])", marker.group(1))
        if letters := _sorted_letters("".join(alone)):
            return letters
    last = next((line.strip().upper() for line in reversed(text.splitlines()) if line.strip()), "")
    return "" if _BESIDE_LETTERS.sub("", last) else _sorted_letters(last)


def _sorted_letters(text: str) -> str:
    return "".join(sorted(set(re.findall("[A-J]", text.upper()))))
