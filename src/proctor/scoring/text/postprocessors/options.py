"""The option of a multiple-choice question that a text names."""
# ruff: noqa: RUF001 - Chinese punctuation is what the patterns look for

from __future__ import annotations

import re
from functools import lru_cache

from proctor.errors import DataError
from proctor.scoring.text.how_read import no_verdict, or_else, taken

_STATED = r"""
答案是?\s*([O])
答案是?\s*：\s*([O])
答案是?\s*:\s*([O])
答案选项应?该?是\s*([O])
答案选项应?该?为\s*([O])
答案应该?是\s*([O])
答案应该?选\s*([O])
答案选项为?\s*：\s*([O])
答案选项为?\s+\(?\*?\*?([O])\*?\*?\)?
答案选项是?\s*:\s*([O])
答案为\s*([O])
答案选\s*([O])
选择?\s*([O])
故选?\s*([O])只有选?项?\s?([O])\s?是?对
只有选?项?\s?([O])\s?是?错
只有选?项?\s?([O])\s?不?正确
只有选?项?\s?([O])\s?错误
说法不?对选?项?的?是\s?([O])
说法不?正确选?项?的?是\s?([O])
说法错误选?项?的?是\s?([O])
([O])\s?是正确的
([O])\s?是正确答案
选项\s?([O])\s?正确
所以答\s?([O])
所以\s?([O][.。$]?$)
所有\s?([O][.。$]?$)
[\s，：:,]([O])[。，,\.]?$
[\s，,：:][故即]([O])[。\.]?$
[\s，,：:]因此([O])[。\.]?$
[是为。]\s?([O])[。\.]?$
因此\s?([O])[。\.]?$
显然\s?([O])[。\.]?$
答案是\s?(\S+)(?:。|$)
答案应该是\s?(\S+)(?:。|$)
答案为\s?(\S+)(?:。|$)
(?i)ANSWER\s*:\s*([O])
[Tt]he answer is:?\s+\(?([O])\)?
[Tt]he answer is:?\s+\(?\*?\*?([O])\*?\*?\)?
[Tt]he answer is option:?\s+\(?([O])\)?
[Tt]he correct answer is:?\s+\(?([O])\)?
[Tt]he correct answer is option:?\s+\(?([O])\)?
[Tt]he correct answer is:?.*?boxed{([O])}
[Tt]he correct option is:?.*?boxed{([O])}
[Tt]he correct answer option is:?.*?boxed{([O])}
[Tt]he answer to the question is:?\s+\(?([O])\)?
^选项\s?([O])
^([O])\s?选?项
"""
"""Ways to state an answer, most telling first; ``O`` stands for the options. One line joins two patterns: upstream
leaves out a comma there, and both have to match."""
ALONE, MENTIONED = "an option by itself", "any mention of an option"
"""What patterns find that may not be meant as the answer."""
_ALONE = r"""
(\s|^)[O][\s。，,：:\.$]
1.\s?(.*?)$
1.\s?([O])[.。$]?$
"""
_MENTIONED = r"""
([O]):
([O])
"""


@lru_cache(maxsize=256)
def _patterns(options: str, cushion: bool) -> tuple[tuple[str, re.Pattern[str]], ...]:
    kinds = (("a stated answer", _STATED), (ALONE, _ALONE), (MENTIONED, _MENTIONED if cushion else ""))
    lines = [(by, line) for by, text in kinds for line in text.split("\n") if line]
    _check_options(options)
    try:
        return tuple((by, re.compile(line.replace("[O", f"[{options}"), re.DOTALL)) for by, line in lines)
    except re.error as error:
        raise DataError(f"'{options}' are not options", why=str(error)) from None


_MOST_OPTIONS = 200
"""Characters that name options: letters, digits, a range. What ends the set they stand in is more than options."""


def _check_options(options: str) -> None:
    if len(options) > _MOST_OPTIONS or "]" in options or "[" in options or "\\" in options:
        raise DataError(f"{options[:80]!r} are not options", hint="write their letters, as in ABCD")


def first_option(text: str, options: str, cushion: bool = True) -> str:
    """Return the option that a text states as its answer, or ``""``.

    Args:
        text: What a model said.
        options: Letters of the options.
        cushion: Whether any mention of an option counts where nothing is stated.
    """
    text = text.strip()
    for by, pattern in _patterns("".join(options), cushion):
        if pattern.search(text) is None:
            continue
        found = (_option_of(match, options) for match in pattern.finditer(text))
        is_last_resort = by in (ALONE, MENTIONED) and not _BEGINS.match(text)
        if (option := taken(found, by, is_last_resort=is_last_resort)) is not None:
            return option
    return ""


_BEGINS = re.compile(r"[\s(\[*]*[A-Z]\s*(?:[.):：、。,，*\]]|$)")
"""An answer that begins with a letter as lists do, or is one: ``B``, ``(B)``, ``**B**``, ``B. Paris``."""


def _option_of(match: re.Match[str], options: str) -> str | None:
    found = match.group(1) or match.group(0)
    return next((option for option in options if option in found), None)


def first_option_of_end(text: str, options: str, cushion: bool = True) -> str:
    """Return the option that the last 200 characters of a text state."""
    return first_option(text[-200:], options, cushion)


def last_option(text: str, options: str) -> str:
    """Return the last option that a text mentions, or ``""``."""
    _check_options(options)
    return taken(re.findall(f"[{options}]", text), MENTIONED, -1) or ""


def first_capital(text: str) -> str:
    """Return the first upper-case letter, or ``""``."""
    return taken((letter for letter in text if letter.isupper()), "a capital letter") or ""


def last_capital(text: str) -> str:
    """Return the last upper-case letter, or ``""``."""
    return taken([letter for letter in text if letter.isupper()], "a capital letter", -1) or ""


def last_character_choice(text: str) -> str:
    """Return the last character of what a judge says where it is ``A`` or ``B``, otherwise ``B``."""
    if text[-1:] in ("A", "B"):
        return text[-1:]
    no_verdict()
    return or_else("B", "B, whatever stands there", "")


def first_capitals(text: str) -> str:
    """Return the first run of the letters A to D, or ``""``."""
    return taken(re.findall("[A-D]+", text), "capital letters") or ""


def capitals(text: str) -> str:
    """Return every upper-case letter of a text once, sorted."""
    return "".join(sorted({letter for letter in text if letter.isupper()}))
