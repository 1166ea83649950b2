"""Answers of DAPO's mathematics: what follows ``Answer:``, or the last box, in one spelling.

The rules are those of Minerva (Lewkowycz et al. 2022, appendix D.1) in the form of DAPO's reward.
"""

from __future__ import annotations

import re

from proctor.scoring.text.how_read import taken
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
