"""Post-processors of the datasets whose configs name them."""

from __future__ import annotations

import re

from proctor.scoring.text.how_read import or_else, taken

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
