"""Answers of mathematical texts: the last box, the sentence with the final answer, one spelling for equal answers.

The rules are those of Minerva (Lewkowycz et al. 2022, appendix D) and of the MATH dataset (Hendrycks et al. 2021), as
OpenCompass applies them.
"""
# ruff: noqa: PLR2004 - two sides of one sign

from __future__ import annotations

import re
from itertools import accumulate

from proctor.scoring.text.how_read import or_else, taken

_REPLACED = (
    ("an ", ""), ("a ", ""), (".$", "$"), ("\\$", ""), (r"\ ", ""), (" ", ""), ("mbox", "text"),
    (",\\text{and}", ","), ("\\text{and}", ","), ("\\text{m}", "\\text{}"), ("\\le", "<"),
)  # fmt: skip
_REMOVED = (
    "square", "ways", "integers", "dollars", "mph", "inches", "ft", "hours", "km", "units", "\\ldots", "sue", "points",
    "feet", "minutes", "digits", "cents", "degrees", "cm", "gm", "pounds", "meters", "meals", "edges", "students",
    "childrentickets", "multiples", "\\text{s}", "\\text{.}", "\\text{\ns}", "\\text{}^2", "\\text{}^3", "\\text{\n}",
    "\\text{}", r"\mathrm{th}", r"^\circ", r"^{\circ}", r"\;", r",\!", "{,}", '"', "\\dots", "\n", "\r", "\f",
)  # fmt: skip
_UNWRAPPED = (
    r"\\text\{\((.*?)\)\}",
    r"\\text\{(.*?)\}",
    r"\\textbf\{(.*?)\}",
    r"\\overline\{(.*?)\}",
    r"\\boxed\{(.*)\}",
)
_NARROWED = (r"finalansweris(.*)", r"answer?is:?(.*)", r"oxed\{(.*?)\}", r"\$(.*?)\$")
_ANSWER = re.compile(r"(?i)ANSWER\s*:\s*([^\n]+)")


def boxed(text: str, *, double: bool = False) -> str | None:
    r"""Return what the last ``\boxed{…}`` (or ``\fbox{…}``) of a text holds, ``None`` where there is none.

    Args:
        text: What a model said.
        double: Whether a second pair of braces inside the first is removed.
    """
    starts = [match.start() for match in re.finditer(r"\\boxed", text)] or [text.rfind("\\fbox")]
    starts = starts if len(starts) <= _MOST_BOXES else [starts[0], *starts[1 - _MOST_BOXES :]]
    answer = taken([_inside(text, start) for start in starts], "the box", -1)
    match = re.match(r"^\{(.*)\}$", answer) if double and answer else None
    return match.group(1) if match else answer


_MOST_BOXES = 8  # that are read: the first and the last ones; each unclosed one would be looked for to the end


def _inside(text: str, start: int) -> str | None:
    end = _closing(text, start) if start >= 0 and text.startswith("\\boxed{", start) else -1
    return text[start + len("\\boxed{") : end] if end >= 0 else None


def _closing(text: str, start: int) -> int:
    depth = 0
    for position in range(start, len(text)):
        if text[position] == "{":
            depth += 1
        elif text[position] == "}":
            depth -= 1
            if depth == 0:
                return position
    return -1


def normalized(answer: str) -> str:
    """Return the one spelling of a final answer."""
    for before, after in _REPLACED:
        answer = answer.replace(before, after)
    for removed in _REMOVED:
        answer = answer.replace(removed, "")
    for wrapped in _UNWRAPPED if "}" in answer else ():  # without one each pattern would look to the end in vain
        answer = re.sub(wrapped, r"\1", answer)
    for narrower in _NARROWED:
        if ("{" not in narrower or "}" in answer) and (found := re.findall(narrower, answer)):
            answer = found[-1]
    answer = answer.strip()
    if "rac" in answer and "\\frac" not in answer:
        answer = answer.replace("rac", "\\frac")
    answer = re.sub(r"frac([^{])(.)", r"frac{\1}{\2}", answer)
    answer = re.sub(r"sqrt([^{])", r"sqrt{\1}", answer).replace("$", "")
    return answer.replace(",", "") if answer.replace(",", "").isdigit() else answer


def final_answer(text: str) -> str:
    """Return the normalised sentence that says ``final answer``, or the first sentence."""
    return _sentence(text, "final answer")


def final_answer_boxed(text: str) -> str:
    """Return the last box, or the normalised sentence that says ``final answer`` or ``answer is``, or the first one."""
    if answer := boxed(text, double=True):
        return answer
    return _sentence(text, "final answer", "answer is")


def _sentence(text: str, *phrases: str) -> str:
    """Return the normalised sentence that says a phrase, or the first sentence."""
    sentences = text.split(".")
    telling = (each for each in sentences if any(phrase in each.lower() for phrase in phrases))
    found = taken(telling, "a sentence that says what the answer is")
    return normalized(or_else(sentences[0], "the first sentence", "") if found is None else found)


def answer_line(text: str) -> str:
    """Return what follows ``ANSWER:`` on its line, or ``""``."""
    return taken((match.group(1) for match in _ANSWER.finditer(text)), "ANSWER:") or ""


# -- whether two answers are the same -----------------------------------------------------------------------------


def is_equivalent(first: str | None, second: str | None, version: str = "v1") -> bool:
    """Whether two answers are the same after their spelling is made one.

    Args:
        first, second: The answers.
        version: Rules for the spelling: ``v1`` (MATH), ``v2`` (more units and symbols).
    """
    if first is None or second is None:
        return first is second
    stripped = stripped_plain if version == "v1" else stripped_more
    try:
        one, other = stripped(first), stripped(second)
        if one == other or normalized(one) == normalized(other):
            return True
    except (ValueError, IndexError, TypeError, AttributeError):
        pass  # upstream's rules fail on unusual LaTeX; the plainer comparisons below still hold
    try:
        if normalized(first) == normalized(second):
            return True
    except (TypeError, AttributeError):
        pass  # an answer that is not text equals only itself
    return first == second


def is_equivalent_plain(first: str | None, second: str | None) -> bool:
    """Whether two answers are the same by the rules of the MATH dataset alone (Hendrycks et al. 2021)."""
    if first is None or second is None:
        return first is second
    try:
        return stripped_plain(first, strict=False) == stripped_plain(second, strict=False)
    except (ValueError, IndexError, TypeError, AttributeError):
        return first == second


def stripped_plain(text: str, *, strict: bool = True) -> str:
    """Return a formula in the one spelling of the MATH dataset (Hendrycks et al. 2021).

    Args:
        text: The formula.
        strict: Whether a slash between words is an error.

    Raises:
        ValueError: It is, or the formula has two units.
    """
    text = _plain_latex(text.replace("\n", "").replace("\\!", "").replace("\\\\", "\\"))
    text = text.replace("\\$", "")
    text = without_unit(text).replace("\\%", "")
    text = _leading_zero(text)
    if not text:
        return text
    text = braced_fractions(braced_roots(_right_of_equals(text)).replace(" ", ""))
    text = "\\frac{1}{2}" if text == "0.5" else text
    try:
        return slash_as_fraction(text)
    except ValueError:
        if strict:
            raise
        return text


_SIMPLE_ZEROS = re.compile(r"(?<!\d)(\d++)\.0++([^\d])"), re.compile(r"(?<!\d)(\d++)\.0+$")
"""Zeros behind the point, before something else and at the end; each run of digits is looked at once."""


def stripped_more(text: str) -> str:
    """Return a formula in one spelling, with more units and symbols made the same (``v2``)."""
    text = str(text).strip().replace("\n", "").rstrip(".").replace("\\!", "").replace("\\ ", "")
    text = text.replace("\\\\", "\\").replace("\\\\", "\\")
    for before in ("tfrac", "dfrac"):
        text = text.replace(before, "frac")
    text = text.replace("\\left", "").replace("\\right", "")
    without = re.sub(r"\\text{.*?}$", "", text).strip()
    text = without or text
    for removed in ("^{\\circ}", "^\\circ", "\\$", "$", "\\text", "x\\in", "\\%", "%"):
        text = text.replace(removed, "")
    text = text.replace(" .", " 0.").replace("{.", "{0.").replace("\\cdot", "").replace("infinity", "\\infty")
    if "\\infty" not in text:
        text = text.replace("inf", "\\infty")
    text = text.replace("+\\inity", "\\infty").replace("and", "").replace("\\mathbf", "")
    text = re.sub(r"\\mbox{.*?}", "", text)
    if "j" in text and "i" not in text:
        text = text.replace("j", "i")
    in_the_middle, at_the_end = _SIMPLE_ZEROS
    text = at_the_end.sub(r"\1", in_the_middle.sub(r"\1\2", text))
    if not text:
        return text
    text = _right_of_equals(f"0{text}" if text[0] == "." else text)
    return slash_as_fraction(braced_fractions(worded_roots(text).replace(" ", "")))


def _plain_latex(text: str) -> str:
    for before, after in (("tfrac", "frac"), ("dfrac", "frac"), ("\\left", ""), ("\\right", "")):
        text = text.replace(before, after)
    return text.replace("^{\\circ}", "").replace("^\\circ", "")


def without_unit(text: str) -> str:
    r"""Return a formula without the unit behind it (``5\text{ cm}``).

    Raises:
        ValueError: It has two.
    """
    if "\\text{ " not in text:
        return text
    parts = text.split("\\text{ ")
    if len(parts) != 2:
        raise ValueError("two units")
    return parts[0]


def _leading_zero(text: str) -> str:
    text = text.replace(" .", " 0.").replace("{.", "{0.")
    return f"0{text}" if text.startswith(".") else text


def _right_of_equals(text: str) -> str:
    parts = text.split("=")
    return parts[1] if len(parts) == 2 and len(parts[0]) <= 2 else text


def braced_roots(text: str) -> str:
    r"""Return a formula with braces after every root: ``\sqrt2`` is ``\sqrt{2}``."""
    first, *rest = text.split("\\sqrt")
    return first + "".join("\\sqrt" + (part if part[0] == "{" else f"{{{part[0]}}}{part[1:]}") for part in rest)


def worded_roots(text: str) -> str:
    r"""Return a formula with braces around the whole word after every root: ``\sqrtab`` is ``\sqrt{ab}``."""
    return re.sub(r"\\sqrt(\w+)", r"\\sqrt{\1}", text)


def braced_fractions(text: str) -> str:
    r"""Return a formula with braces in every fraction: ``\frac12`` is ``\frac{1}{2}``."""
    first, *rest = text.split("\\frac")
    made = [first]
    for part in rest:
        if part.startswith("{"):
            made.append(part)
        elif len(part) < 2:
            return text
        elif part[1] == "{":
            made.append(f"{{{part[0]}}}{part[1:]}")
        else:
            made.append(f"{{{part[0]}}}{{{part[1]}}}{part[2:]}")
    return "\\frac".join(made)


def slash_as_fraction(text: str) -> str:
    r"""Return ``1/2`` as ``\frac{1}{2}``, and other formulas as they are.

    Raises:
        ValueError: What stands beside the slash is not a whole number.
    """
    parts = text.split("/")
    if len(parts) != 2:
        return text
    top, bottom = int(parts[0]), int(parts[1])  # a ValueError makes the caller compare more plainly, as upstream
    return f"\\frac{{{top}}}{{{bottom}}}" if text == f"{top}/{bottom}" else text


# -- InternLM's reading of MATH -----------------------------------------------------------------------------------


def is_equivalent_intern(first: str | None, second: str | None) -> bool:
    """Whether two answers are the same by InternLM's rules for MATH (``MATHInternEvaluator``)."""
    if first is None or second is None:
        return False
    try:
        return _stripped_intern(first) == _stripped_intern(second)
    except (ValueError, IndexError, TypeError, AttributeError):
        return first == second


def _stripped_intern(text: str) -> str:
    text = stripped_plain(text)
    if not text:
        return text
    text = text.replace("x \\in", "").strip()
    if "_" in text:
        before, base, *rest = text.split("_")
        text = "_".join([before, base.replace("{", "").replace("}", ""), *rest])
    return text if " " in text.strip() or "(" in text else text.replace(",", "")


def intern_answer(text: str) -> str | None:
    """Return the final answer of a solution as InternLM marks it; ``None`` where nothing marks one."""
    phrase = "The final answer is "
    if phrase in text:
        rest = text[text.find(phrase) + len(phrase) :]
        return _tidied(rest[1 : rest.find("$.")])
    if "\n\nQuestion:" in text:
        text = text.split("\n\nQuestion:", maxsplit=1)[0]
        if place := text.find("The answer is"):  # -1 counts, as upstream: then the first letters are left out
            return _tidied(text[place + len("The answer is") :])
    for mark in ("# Answer", "The answer is:", "####"):
        if mark in text:
            return _tidied(text[text.find(mark) + len(mark) :])
    if "\\boxed{" not in text:
        return None
    inside = text[text.find("\\boxed{") + len("\\boxed{") :]
    depths = accumulate(({"{": 1, "}": -1}.get(character, 0) for character in inside), initial=1)
    end = next((place for place, depth in enumerate(depths) if not depth), len(inside))
    return _tidied(inside[: end - 1])


def _tidied(text: str) -> str:
    text = text.strip().replace("{{", "{").replace("}}", "}")
    return text[:-1] if text.endswith((".", "。")) else text
