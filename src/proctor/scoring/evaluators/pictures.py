"""Evaluators of questions about pictures, as AISBench has them."""

from __future__ import annotations

import json
import re
import string
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from proctor.errors import ScoringError
from proctor.scoring.distances import levenshtein
from proctor.scoring.evaluators.boxes import overlap, pixels
from proctor.scoring.evaluators.cases import Cases, Verdict, average, grouped, percent_of_sum, share
from proctor.scoring.text.postprocessors.general import read_literal
from proctor.scoring.text.postprocessors.mathematics import boxed, is_equivalent, normalized

_LETTERS = string.ascii_uppercase
CHAT_END = "<|im_end|>"


def shares_by_group(marks: Sequence[float], groups: Sequence[Sequence[str]], main: str) -> Verdict:
    """Return the share of right cases of each group in percent, in the order in which groups first come."""
    scores = {name: percent_of_sum(each) for name, each in grouped(marks, groups).items()}
    return Verdict(scores, {main: [100.0 * mark for mark in marks]}, [bool(mark) for mark in marks], main=main)


# -- options ---------------------------------------------------------------------------------------------------------

_REFUSALS = (
    "Sorry, I can't help with images of people yet.",
    "I can't process this file.",
    "I'm sorry, but without the image provided",
    "Cannot determine the answer",
)
_SEPARATORS = str.maketrans(dict.fromkeys(".()[],:;!*#{}", " "))
_LAST_WORDS = 5
NO_CHOICE = "Z"


def inferred_option(answer: object, choices: Mapping[str, Any]) -> str:
    """Return the option that an answer means: by its letter, else by its words; empty where it means none or several.

    The rules are VLMEvalKit's ``can_infer``: a letter among the last five words, alone of all letters; ``Z`` for a
    model that refuses; else the one option whose words are in a short answer.
    """
    text = str(answer)
    return named_option(text, choices) or worded_option(text, choices) or ""


def named_option(text: str, choices: Iterable[str]) -> str | Literal[False]:
    """Return the letter that an answer names; ``Z`` of a model that refuses, ``False`` where it is not clear."""
    if "Failed to obtain answer via API" in text:
        return False
    if any(refusal in text for refusal in _REFUSALS):
        return NO_CHOICE
    words = text.translate(_SEPARATORS).split()
    named = [letter for letter in choices if letter in words]
    if len(named) == 1 and words.index(named[0]) > len(words) - _LAST_WORDS:
        return named[0]
    return NO_CHOICE if not named and NO_CHOICE in words else False


def worded_option(text: str, choices: Mapping[str, Any]) -> str | Literal[False]:
    """Return the letter of the one option whose words a short answer has; ``False`` where it is not one."""
    lower, options = text.lower(), {letter: str(option).lower() for letter, option in choices.items()}
    if len(lower) > 2 * sum(map(len, options.values())):
        return False
    said = [letter for letter, option in options.items() if option in lower]
    return said[0] if len(said) == 1 else False


def mmstar(cases: Cases) -> Verdict:
    """Share of answers that mean the right option, and by category (``MMStarEvaluator``)."""
    golds = cases.references
    marks = [
        inferred_option(given, json.loads(gold["choices"])) == gold["answer"]
        for given, gold in zip(cases.predictions, golds, strict=True)
    ]
    return shares_by_group(marks, [("Overall", str(gold["category"])) for gold in golds], "Overall")


def mmmu_pro(cases: Cases, *, is_reasoned: bool = False) -> Verdict:
    """Share of answers that mean the right option, and by category (``MMMUProEvaluator``, ``MMMUProCotEvaluator``).

    Args:
        cases: The answers; references are JSON of options, answer and category.
        is_reasoned: Whether only the line that begins with ``Answer:`` is read, where there is one.
    """
    marks, groups = [], []
    for given, gold in cases.pairs():
        choices, answer, category = json.loads(gold)
        said = given.replace(CHAT_END, "")
        marks.append(inferred_option(answer_line(said) if is_reasoned else said, choices) == answer)
        groups.append(("Overall", str(category)))
    verdict = shares_by_group(marks, groups, "Overall")
    names = ["Overall", *sorted(name for name in verdict.scores if name != "Overall")]
    verdict.scores = {name: verdict.scores[name] for name in names}
    return verdict


_ANSWER = "Answer:"


def answer_line(text: str) -> str:
    """Return the letter of the one line ``Answer: …``, or what it says; of other texts the text."""
    lines = [line for each in text.strip().split("\n") if (line := each.strip()).startswith(_ANSWER)]
    if len(lines) != 1:
        return text
    letters = {letter for letter in lines[0] if letter in _LETTERS}
    # the A of "Answer" is a letter, too: upstream counts it
    return letters.pop() if len(letters) == 1 else lines[0][len(_ANSWER) :]


_CHOICE_LINE = re.compile(r"(?i)^ANSWER\s*:\s*([A-Za-z\d ,]+)\s*(?:$|\n|\.)", re.MULTILINE)
_CHOICE_ANYWHERE = re.compile(r"(?i)ANSWER\s*:\s*([A-Za-z\d ,]+)(?:[^\w]|\n|$|\.)")
_OPEN_ANSWER = re.compile(r"ANSWER:\s*(.*)")


def mmmu(cases: Cases) -> Verdict:
    """Share of right answers, by split, subject and subfield (``MMMUEvaluator``)."""
    marks, groups, parsed = [], [], []
    for given, reference in cases.pairs():
        gold = as_open(reference)
        split = gold.get("split") or "validation"
        category = gold.get("category") or gold.get("subject") or "Unknown"
        finer = gold.get("l2-category") or gold.get("subfield") or category
        named, wanted = _mmmu_named(given.replace(CHAT_END, ""), gold), str(gold.get("answer", "")).strip()
        parsed.append(named)
        is_option = gold.get("type") == "multiple-choice"
        marks.append(named == wanted if is_option else named.strip().lower() == wanted.lower())
        groups.append([f"[{split}]: {name}" for name in ("Overall", category, finer)])
    main = groups[0][0] if groups else ""
    verdict = shares_by_group(marks, groups, main)
    verdict.scores = {name: verdict.scores[name] for name in sorted(verdict.scores, key=_mmmu_order)}
    return replace(verdict, parsed=parsed)


def _mmmu_named(said: str, gold: Mapping[str, Any]) -> str:
    """Return the option or the words that an answer gives."""
    if gold.get("type") != "multiple-choice":
        open_match = _OPEN_ANSWER.search(said)
        return open_match.group(1).strip() if open_match else said
    choices = _choices(gold)
    match = _CHOICE_LINE.search(said) or _CHOICE_ANYWHERE.search(said)
    if match is None:
        return next((letter for letter in reversed(said) if letter.isupper()), "")
    named = match.group(1).strip().rstrip(".")
    allowed = {_LETTERS[n] if n < len(_LETTERS) else str(n - len(_LETTERS) + 1) for n in range(len(choices))}
    return named if named in allowed else ""


def _mmmu_order(name: str) -> tuple[int, int, str]:
    task = name.split(": ", 1)[1]
    first = 0 if name.startswith("[validation]") else 1 if name.startswith("[dev]") else 2
    return first, task != "Overall", task


_LETTER_LINE = re.compile(r"(?im)^ANSWER\s*:\s*([A-Z])\b")
_ANSWER_LINE = re.compile(r"(?i)ANSWER\s*:\s*([^\n]+)")


def mathvision(cases: Cases) -> Verdict:
    """Share of right answers, options or formulas, by level and subject (``MathVisionEvaluator``)."""
    marks, groups, parsed = [], [], []
    for given, reference in cases.pairs():
        gold = as_open(reference)
        said, is_option = without_end(given), gold.get("type") == "mcq"
        named = lettered_option(said, _choices(gold)) if is_option else boxed_formula(said)
        parsed.append(named)
        wanted = gold.get("answer", "")
        marks.append(named == gold.get("answer") if is_option else is_equivalent(str(named), str(wanted), "v2"))
        level = [] if gold.get("level") is None else [f"level {gold['level']}"]
        groups.append(["Accuracy", *level, *([f"subject: {gold['subject']}"] if gold.get("subject") else [])])
    return replace(shares_by_group(marks, groups, "Accuracy"), parsed=parsed)


def as_open(reference: object) -> Mapping[str, Any]:
    """Return a reference with its ``type``; a text is that of an open question."""
    return reference if isinstance(reference, Mapping) else {"type": "open", "answer": reference}


def without_end(given: object) -> str:
    """Return an answer without the mark that ends a turn."""
    return str(given).replace(CHAT_END, "").strip()


def _choices(gold: Mapping[str, Any]) -> Mapping[str, Any]:
    found = gold.get("choices") or {}
    return json.loads(found) if isinstance(found, str) else found


def lettered_option(said: str, choices: Mapping[str, Any]) -> str | Literal[False]:
    """Return the option of the line ``ANSWER: …``, or the one that an answer means; ``False`` where none is clear."""
    match = _LETTER_LINE.search(said)
    return match.group(1) if match and match.group(1) in choices else inferred_option(said, choices)


def boxed_formula(said: str) -> str:
    """Return the formula in a box, behind ``ANSWER:``, or in the sentence that announces one; else the answer."""
    if answer := boxed(said, double=True):
        return normalized(answer)
    if match := _ANSWER_LINE.search(said):
        return normalized(match.group(1))
    telling = (each for each in said.split(".") if re.search(r"final answer|answer is", each.lower()))
    found = next(telling, None)
    return said if found is None else normalized(found)


# -- words -----------------------------------------------------------------------------------------------------------

_MARKED_ANSWER = re.compile(r"ANSWER:\s*(.*)")


def realworldqa(cases: Cases) -> Verdict:
    """Share of answers whose ``ANSWER:`` is the reference but for case (``RealworldQAEvaluator``)."""
    parsed = [marked_answer(given) for given in cases.predictions]
    golds = [as_open(reference).get("answer", "") for reference in cases.references]
    marks = [said.lower() == gold.strip().lower() for said, gold in zip(parsed, golds, strict=True)]
    return share(marks, rule=percent_of_sum, parsed=parsed)


def marked_answer(given: str) -> str:
    """Return what stands behind ``ANSWER:``, or ``""``."""
    match = _MARKED_ANSWER.search(given)
    return match.group(1).strip() if match else ""


_ALIKE = 0.5  # similarity below which an answer counts as wrong (ANLS, Biten et al. 2019).


def anls(cases: Cases) -> Verdict:
    """Average normalised Levenshtein similarity to the nearest answer (``DocVQAEvaluator``, ``InfoVQAEvaluator``)."""
    scores = []
    for given, reference in cases.pairs():
        golds = reference if isinstance(reference, list) else read_literal(reference)
        said = given.replace(CHAT_END, "").strip()
        nearest = 1 - min(_unlike(str(gold), said) for gold in golds)
        scores.append(nearest if nearest >= _ALIKE else 0.0)
    return share(scores, "ANLS Acc", details=False, rule=percent_of_sum)


def _unlike(gold: str, said: str) -> float:
    one, other = (" ".join(text.strip().lower().split()) for text in (gold, said))
    length = max(len(gold.upper()), len(said.upper()))
    return levenshtein(one, other) / length if length else 0.0


_VQA_MARKS = ("☞", "☟", "☜", "<unk>", CHAT_END, "<|endoftext|>")
_VQA_PUNCTUATION = r""";/[]"{}()=+\_-><@`,?!"""
_VQA_COMMA = re.compile(r"\d,\d")
_VQA_PERIOD = re.compile(r"(?!<=\d)(\.)(?!\d)")
_VQA_MOST_PERIODS = int(re.UNICODE)
"""The official script passes a flag where the number of replacements belongs; so at most 32 dots go."""
_VQA_NUMBERS = {"none": "0"} | {
    word: str(number)
    for number, word in enumerate("zero one two three four five six seven eight nine ten".split())  # noqa: SIM905
}
_AGREEING = 3  # people who must have given an answer for it to be right (Antol et al. 2015).


@cache
def _contractions() -> Mapping[str, str]:
    found: dict[str, str] = json.loads(files(__package__).joinpath("vqa_contractions.json").read_bytes())
    return found


def _without_punctuation(text: str) -> str:
    found, has_comma = text, _VQA_COMMA.search(text) is not None
    for mark in _VQA_PUNCTUATION:
        goes = mark + " " in text or " " + mark in text or has_comma
        found = found.replace(mark, "" if goes else " ")
    return _VQA_PERIOD.sub("", found, _VQA_MOST_PERIODS)


def vqa_words(text: str) -> str:
    """Return the words of an answer as the official VQA script compares them: no articles, numbers as digits."""
    words = [_VQA_NUMBERS.get(word, word) for word in text.lower().split()]
    return " ".join(_contractions().get(word, word) for word in words if word not in ("a", "an", "the"))


def textvqa(cases: Cases) -> Verdict:
    """Agreement with ten people's answers, of the official VQA script (``TEXTEvaluator``)."""
    return _agreement(cases.predictions, cases.references)


_GLM4V_BOX = re.compile(r"<\|begin_of_box\|>(.*?)<\|end_of_box\|>")


def textvqa_glm4v(cases: Cases) -> Verdict:
    """As :func:`textvqa`, of what stands in GLM-4V's box (``TEXTEvaluatorForGlm4v``)."""
    found = [(given, _GLM4V_BOX.search(given)) for given in cases.predictions]
    return _agreement([match.group(1).strip() if match else given for given, match in found], cases.references)


def textvqa_vita(cases: Cases) -> Verdict:
    """As :func:`textvqa`, of what follows VITA's marks (``TEXTEvaluatorForVita``)."""
    return _agreement([vita_answer(given) for given in cases.predictions], cases.references)


def vita_answer(text: str) -> str:
    """Return what VITA answers: without its marks, and what stands behind the last of them."""
    text = text.replace("\n", " ").replace("\t", " ").strip()
    for mark in (CHAT_END, "<|end_of_box|>", "<|begin_of_box|>", "<unk>"):
        text = text.replace(mark, "")
    text = text.strip()
    for mark in "☜☞☟":
        text = text.split(mark)[-1].strip()
    return re.sub(r"^[!>\s]+", "", text).strip()


def _agreement(predictions: Sequence[str], references: Sequence[Sequence[Mapping[str, Any]]]) -> Verdict:
    shares = []
    for given, gold in zip(predictions, references, strict=True):
        said = given.replace("\n", " ").replace("\t", " ").strip()
        for mark in _VQA_MARKS:
            said = said.replace(mark, "")
        said = vqa_words(_without_punctuation(said))
        answers = [dict(each) for each in gold]
        if len({each["answer"] for each in answers}) > 1:
            answers = [{**each, "answer": _without_punctuation(each["answer"])} for each in answers]
        if not answers:
            raise ScoringError("a question has no answers")
        agreed = [
            min(1, sum(other["answer"] == said for other in answers if other != each) / _AGREEING) for each in answers
        ]
        shares.append(average(agreed))
    verdict = share(shares, rule=percent_of_sum)
    verdict.correct = [each > 0.5 for each in shares]  # noqa: PLR2004 - upstream's
    return verdict


# -- places ----------------------------------------------------------------------------------------------------------

_FOUR_NUMBERS = re.compile(r"\[" + ",".join([r"\s*(-?\d+(?:\.\d+)?)\s*"] * 4) + r"\]")


def box_of(text: str) -> list[float]:
    """Return the first four numbers in brackets, four zeros where there are none (``refcoco_bbox_postprocess``)."""
    match = _FOUR_NUMBERS.search(text.strip())
    return [float(each) for each in match.groups()] if match else [0.0] * 4


def boxes(  # noqa: PLR0917 - AISBench's arguments
    cases: Cases,
    iou_threshold: float = 0.5,
    coord_scale: float = 1000.0,
    reference_bbox_key: str = "bbox",
    image_width_key: str = "image_width",
    image_height_key: str = "image_height",
    metric_prefix: str = "Accuracy",
    clip_to_image: bool = True,
    smart_resize_cfg: Mapping[str, Any] | None = None,
) -> Verdict:
    """Share of boxes that lie over the right one by enough (``BBoxIoUEvaluator``).

    Args:
        cases: Boxes as four numbers; references are JSON with the box in pixels and the picture's size.
        iou_threshold: Least intersection over union.
        coord_scale: Numbers that a side of the picture has.
        reference_bbox_key, image_width_key, image_height_key: Where references say it.
        metric_prefix: Name of the score, before the threshold.
        clip_to_image: Whether boxes end where the picture does.
        smart_resize_cfg: How the model's processor resizes pictures (Qwen's ``smart_resize``), where it does.
    """
    if unknown := set(smart_resize_cfg or {}) - {"factor", "min_pixels", "max_pixels"}:
        raise ScoringError(f"smart_resize_cfg has no '{min(unknown)}'", hint="factor, min_pixels, max_pixels")

    def right(given: Any, reference: Any) -> bool:
        try:
            gold = json.loads(reference) if isinstance(reference, str) else reference
            size = float(gold[image_width_key]), float(gold[image_height_key])
            box = pixels(given, size, coord_scale, smart_resize_cfg, clips=clip_to_image)
            return overlap(box, [float(each) for each in gold[reference_bbox_key]]) >= iou_threshold
        except (TypeError, ValueError, KeyError, IndexError, ZeroDivisionError):
            return False

    marks = [right(given, gold) for given, gold in cases.pairs()]
    return share(marks, f"{metric_prefix}@{iou_threshold}", rule=percent_of_sum)
