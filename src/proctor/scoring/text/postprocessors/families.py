"""Post-processors of the datasets whose configs name them."""

from __future__ import annotations

import re

from proctor.scoring.text.how_read import or_else, taken
from proctor.scoring.text.postprocessors.mathematics import boxed

_INVALID = "[INVALID]"
_BOX_WITHIN = 100  # characters from the end in which the box must stand
_REPLACED = (
    ("an ", ""), ("a ", ""), (".$", "$"), ("\\$", ""), ("\\ ", ""), (" ", ""), ("mbox", "text"), (",\\text{and}", ","),
    ("\\text{and}", ","), ("\\text{m}", "\\text{}"),
)  # fmt: skip
_REMOVED = (
    "square", "ways", "integers", "dollars", "mph", "inches", "hours", "km", "units", "\\ldots", "sue", "points",
    "feet", "minutes", "digits", "cents", "degrees", "cm", "gm", "pounds", "meters", "meals", "edges", "students",
    "childrentickets", "multiples", "\\text{s}", "\\text{.}", "\\text{\ns}", "\\text{}^2", "\\text{}^3", "\\text{\n}",
    "\\text{}", r"\mathrm{th}", r"^\circ", r"^{\circ}", r"\;", r",\!", "{,}", '"', "\\dots",
)  # fmt: skip
_UNWRAPPED = (r"\\text\{(.*?)\}", r"\\textbf\{(.*?)\}", r"\\overline\{(.*?)\}", r"\\boxed\{(.*)\}")


def normalized(answer: str) -> str:
    """Return the one spelling of an answer (``normalize_final_answer`` of DAPO)."""
    answer = answer.rsplit("=", maxsplit=1)[-1]
    for before, after in _REPLACED:
        answer = answer.replace(before, after)
    for removed in _REMOVED:
        answer = answer.replace(removed, "")
    answer = re.sub(r"(.*?)(\$)(.*?)(\$)(.*)", r"$\3$", answer) if answer.count("$") > 1 else answer
    for wrapped in _UNWRAPPED if "}" in answer else ():
        answer = re.sub(wrapped, r"\1", answer)
    answer = re.sub(r"(frac)([^{])(.)", r"frac{\2}{\3}", answer)
    answer = re.sub(r"(sqrt)([^{])", r"sqrt{\2}", answer).replace("$", "")
    return (answer.replace(",", "") if answer.replace(",", "").isdigit() else answer).strip()


def answer_line(text: str) -> str:
    """Return what the last ``Answer:`` of a text says, in one spelling (``dapo_math_postprocess``)."""
    return normalized(taken(re.findall(r"(?i)Answer\s*:\s*([^\n]+)", text), "Answer:", -1) or _INVALID)


def last_box(text: str) -> str:
    """Return what the last box near the end holds, or nothing (``dapo_math_postprocess_v2``)."""
    end = text[-_BOX_WITHIN:]
    return boxed(end[end.rfind("\\boxed{") :]) or "" if "\\boxed{" in end else ""


_NUMBER = re.compile(r"-?\d+\.\d+|-?\d+")


def gsm8k_reference(text: str) -> str:
    """Return the number behind ``####`` in a solution of GSM8K.

    Raises:
        ValueError: There is none.
    """
    _, mark, answer = text.partition("#### ")
    if not mark:
        raise ValueError("the solution has no '#### '")
    return answer.split("#### ")[0].replace(",", "")


def gsm8k(text: str) -> str:
    """Return the last number of a text before it asks another question, or ``NULL``."""
    return taken(_NUMBER.findall(text.split("Question:", maxsplit=1)[0]), "a number", -1) or "NULL"


def bbh_choice(text: str) -> str:
    """Return the option that a text of BBH names: in brackets, otherwise the first capital letter."""
    parts = text.split("answer is ")
    answer = parts[1].strip() if len(parts) > 1 else text
    letter: str | None = taken(re.findall(r"\(([A-Z])", answer), "a letter in brackets")
    if letter is None:
        letter = taken(re.findall("[A-Z]", answer), "a capital letter", is_last_resort=len(parts) == 1)
    return letter or or_else(answer, "the whole answer", "")


def bbh_freeform(text: str) -> str:
    """Return the answer of a text of BBH, as OpenCompass reads it: its line, without emphasis and separators."""
    parts = re.split(r"answer is\s*:?\s*", text, flags=re.IGNORECASE)
    answer = (parts[-1].strip() if len(parts) > 1 else text).split("\n")[0].strip()
    answer = answer[:-1].strip() if answer.endswith(".") else answer
    if match := re.search(r"\*\*(.*?)\*\*", answer):
        answer = match.group(1).strip()
    if match := re.match(r"(yes|no|true|false)\b", answer, re.IGNORECASE):
        return match.group(1).capitalize()
    if not re.search(r"\d\s*,\s*\d", answer):
        answer = re.sub(r"(?:(?<!\s)\s++)?,\s*", " ", answer)
    return re.sub(r"\s+", " ", answer).strip()


def bbh_freeform_plain(text: str) -> str:
    """Return the answer of a text of BBH, as AISBench reads it: its line, without emphasis."""
    parts = text.split("answer is ")
    answer = (parts[1].strip() if len(parts) > 1 else text).split("\n")[0].strip()
    answer = answer[:-1].strip() if answer.endswith(".") else answer
    match = re.search(r"\*\*(.*?)\*\*", answer)
    return match.group(1) if match else answer
