r"""Functions of AISBench's mathematical datasets: what stands in the last ``\boxed{…}``, one spelling of answers.

``math`` and ``dapo_math`` have functions of the same names that differ; those of the second begin with ``dapo`` here.
"""

from __future__ import annotations

from typing import Any

from proctor.compat.aisbench_names import error_codes
from proctor.compat.aisbench_names import exceptions as errors
from proctor.regexes import bounded
from proctor.scoring.postprocessors import dapo, mathematics

_LEFT = "\\boxed{"
_STRICT = 100  # characters at the end of an answer, where DAPO looks for a box


def _last(string: str, marks: tuple[str, ...]) -> str | None:
    start = next((place for mark in marks if (place := string.rfind(mark)) >= 0), -1)
    depth = 0
    for place in range(start, len(string)) if start >= 0 else ():
        depth += {"{": 1, "}": -1}.get(string[place], 0)
        if string[place] == "}" and depth == 0:
            return string[start : place + 1]
    return None


def last_boxed_only_string(string: str) -> str | None:
    r"""Return the last ``\boxed{…}`` or ``\fbox{…}`` of a text, with the command; ``None`` where there is none."""
    return _last(string, ("\\boxed", "\\fbox"))


def _content_error(text: str) -> Exception:
    code = error_codes.DSET_CODES.DATA_INVALID_STRUCTURE  # type: ignore[attr-defined]
    made: Exception = errors.AISBenchDataContentError(code, f"it is not '{_LEFT}…}}': {text}")  # type: ignore[attr-defined]
    return made


def remove_boxed(s: Any) -> str | None:
    r"""Return what stands in ``\boxed{…}``; of what is not text, ``None``.

    Raises:
        AISBenchDataContentError: The text is something else.
    """
    if not isinstance(s, str):
        return None
    if not (s.startswith(_LEFT) and s.endswith("}")):
        raise _content_error(s)
    return s[len(_LEFT) : -1]


def extract_boxed_answer(pred_str: str, strip_double_curly_brace: bool = False) -> str | None:
    r"""Return what the last ``\boxed{…}`` of a text holds, ``None`` where there is none.

    Raises:
        AISBenchDataContentError: The last box is an ``\fbox{…}``, or has a blank before its brace.
    """
    found = last_boxed_only_string(pred_str)
    if found is not None and not found.startswith(_LEFT):
        raise _content_error(found)
    return mathematics.boxed(pred_str, double=strip_double_curly_brace)


def normalize_final_answer(final_answer: str) -> str:
    """Return the one spelling of a final answer (Lewkowycz et al. 2022, appendix D)."""
    return mathematics.normalized(final_answer)


def extract_answer(response_text: str) -> str:
    """Return what follows ``ANSWER:`` on its line, or ``""``."""
    return mathematics.answer_line(response_text)


# -- DAPO ------------------------------------------------------------------------------------------------------------


def dapo_last_boxed_only_string(string: str) -> str | None:
    r"""Return the last ``\boxed{…}`` of a text, with the command; ``None`` where there is none."""
    return _last(string, (_LEFT,))


def dapo_remove_boxed(s: str) -> str:
    r"""Return what stands in ``\boxed{…}``.

    Raises:
        AISBenchDataContentError: The text is something else.
    """
    if not (s.startswith(_LEFT) and s.endswith("}")):
        raise _content_error(s)
    return s[len(_LEFT) : -1]


def dapo_normalize_final_answer(final_answer: str) -> str:
    """Return the one spelling of a final answer, by DAPO's rules: what follows the last equals sign."""
    return dapo.normalized(final_answer)


def extract_pred_by_minerva(solution_str: str, answer_pattern: str = r"(?i)Answer\s*:\s*([^\n]+)") -> str:
    """Return the answer that a pattern finds last, in DAPO's one spelling; ``[INVALID]`` where it finds none."""
    found = bounded(answer_pattern).findall(solution_str)
    return dapo_normalize_final_answer(found[-1] if found else "[INVALID]")


def extract_pred_by_strict_box(pred: str) -> str:
    """Return what stands in the last box of the last 100 characters; ``""`` without one."""
    box = dapo_last_boxed_only_string(pred[-_STRICT:])
    return "" if box is None else dapo_remove_boxed(box)
