"""AGIEval's own prompts (Zhong et al. 2023): each family of its exams asks in its own words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proctor.dialects.aisbench.datasets.prompt_texts import prompt_texts

ENGLISH_QA = ("lsat-ar", "lsat-lr", "lsat-rc", "logiqa-en", "sat-math", "sat-en", "aqua-rat", "sat-en-without-passage",
              "gaokao-english")  # fmt: skip
CHINESE_QA = ("logiqa-zh", "jec-qa-kd", "jec-qa-ca", "gaokao-chinese", "gaokao-geography", "gaokao-history",
              "gaokao-biology", "gaokao-chemistry", "gaokao-physics", "gaokao-mathqa")  # fmt: skip
ENGLISH_CLOZE = ("math",)
CHINESE_CLOZE = ("gaokao-mathcloze",)
_LETTERS = "ABCDEFG"
_UNKNOWN_COUNT = {"en": 5, "zh": 4}  # options of a question that lists only one


def language_of(name: str) -> str:
    """Return ``en`` or ``zh``; nothing of an exam that AGIEval does not have."""
    if name in (*ENGLISH_QA, *ENGLISH_CLOZE):
        return "en"
    return "zh" if name in (*CHINESE_QA, *CHINESE_CLOZE) else ""


def is_choice(name: str) -> bool:
    """Whether an exam has options."""
    return name in (*ENGLISH_QA, *CHINESE_QA)


def zero_shot(row: Mapping[str, Any], name: str) -> str | None:
    """Return the question of a row, asked for the answer; ``None`` of an exam that AGIEval does not have."""
    language = language_of(name)
    if not language:
        return None
    options = (row["options"] or ()) if is_choice(name) else ()
    count = _UNKNOWN_COUNT[language] if len(options) == 1 else len(options)
    template: str = prompt_texts("agieval")[language]["choice" if is_choice(name) else "cloze"]
    return template.format(
        passage=row["passage"] or "",
        question=row["question"],
        options=" ".join(options),
        last=_LETTERS[count - 1 : count],
    )
