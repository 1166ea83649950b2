"""The code in an answer: fenced blocks, and bodies of the functions that answers complete."""

from __future__ import annotations

import re
from collections.abc import Sequence

from proctor.scoring.text.postprocessors.general import read_literal


def first_code_block(text: str) -> str:
    """Return the first fenced block of a text, or the text; without space at its start."""
    return _code_block(text, 0)


def last_code_block(text: str) -> str:
    """Return the last fenced block of a text, or the text; without space at its start."""
    return _code_block(text, -1)


def _code_block(text: str, which: int) -> str:
    return _code_block_whole(text, which).lstrip()


def first_code_block_whole(text: str) -> str:
    """Return the first fenced block of a text, or the text, with the space at its start."""
    return _code_block_whole(text, 0)


def last_code_block_whole(text: str) -> str:
    """Return the last fenced block of a text, or the text, with the space at its start."""
    return _code_block_whole(text, -1)


def _code_block_whole(text: str, which: int) -> str:
    blocks: Sequence[str] = re.findall(r"```\w*\n(.*?)```", text, re.DOTALL)
    return blocks[which] if blocks else text


def _first_fenced(text: str) -> str:
    """Return the first fenced block without its first line, or the text."""
    if "```" not in text:
        return text
    blocks: list[str] = re.findall(r"```(.*?)```", text, re.DOTALL)
    if not blocks:
        return text.split("```")[1]
    return blocks[0] if blocks[0].startswith("\n") else blocks[0][blocks[0].find("\n") + 1 :]


def _without_head(text: str) -> str:
    """Return what follows the first line of a function, where imports stand before it."""
    place = text.find("def")
    if not text.strip().startswith(("from", "import")) or place < 0:
        return text
    return text[text.find("\n", place) + 1 :]


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.split("\n"))


def function_body(text: str) -> str:
    """Return the body of the function that an answer completes (OpenCompass' ``humaneval_postprocess`` up to 0.2)."""
    text = _without_head(_first_fenced(text)).split("\n\n")[0].lstrip("\n")
    text = text.partition("\n")[2] if text.strip().startswith("def") else text
    if text.startswith("    "):
        return text
    return f"    {text.lstrip()}" if text.startswith(" ") else _indented(text)


def function_body_to_its_end(text: str) -> str:
    """Return the body of the function that an answer completes, up to a line that stands further left."""
    literal = read_literal(text)
    text = _without_head(_first_fenced((literal if isinstance(literal, str) else text).lstrip("\n")))
    text = "\n".join(line for line in text.split("\n") if line).lstrip("\n")
    text = text.partition("\n")[2] if text.strip().startswith("def") else text
    text = f"    {text.lstrip()}" if text.startswith(" ") else _indented(text)
    lines, least = text.split("\n"), None
    for place, line in enumerate(lines):
        if not line.strip() or line.strip()[0] in "'\"#":
            continue
        spaces = len(line.rstrip()) - len(line.strip())
        if least is not None and spaces < least:
            return "\n".join(lines[:place])
        least = spaces if least is None else least
    return text


def indented_start(text: str) -> str:
    """Return the indented lines with which a function's body begins."""
    if text.startswith("   ") and not text.startswith("    "):
        text = f" {text}"
    kept = []
    for line in text.split("\n\n\n")[0].split("\n```")[0].split("\n"):
        if line and line[0] != " ":
            break
        kept.append(line)
    return "\n".join(kept)


def cruxeval_value(text: str) -> str:
    """Return the first line before ``# done`` (CRUXEval's output prediction)."""
    return text.split("# done", maxsplit=1)[0].strip().split("\n")[0].strip()
