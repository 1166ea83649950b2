"""``use_prompt``: prompts that have names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from proctor.dialects.lm_eval.config import TaskConfig
from proctor.dialects.lm_eval.reader import parse
from proctor.errors import TemplateError, did_you_mean, reason_of

PROMPTS: dict[str, dict[str, str]] = {
    "qa-basic": {
        "question-newline-answer": "Question: {{question}}\nAnswer:",
        "q-newline-a": "Q: {{question}}\nA:",
    },
}
"""Built-in prompts by category and name."""


def named_prompt(name: str, config: TaskConfig) -> tuple[Any, Any]:
    """Return ``doc_to_text`` and ``doc_to_target`` that ``use_prompt`` stands for.

    A built-in prompt says how to ask, and leaves the task's target; a file may say both.

    Raises:
        TemplateError: There is no such prompt.
    """
    category, colon, prompt = name.partition(":")
    if not colon:
        raise TemplateError(f"use_prompt is '{name}'", hint="write category:name, or file.yaml:name")
    if category == "promptsource":
        raise TemplateError(
            f"'{name}' is a prompt of promptsource, which no Python that runs here can install",
            why="promptsource needs Python below 3.10",
            hint="copy the prompt into a file and write use_prompt: file.yaml:name",
        )
    if ".yaml" in category:
        return _from_file(category, prompt, config)
    known = PROMPTS.get(category)
    if known is None or prompt not in known:
        names = [f"{each}:{one}" for each, prompts in PROMPTS.items() for one in prompts]
        raise TemplateError(
            f"there is no prompt '{name}'", why=f"there are {', '.join(names)}", hint=did_you_mean(name, names)
        )
    return known[prompt], config.doc_to_target


def _from_file(file: str, prompt: str, config: TaskConfig) -> tuple[Any, Any]:
    beside = Path(config.source.path).parent / file if config.source is not None else Path(file)
    path = beside if beside.is_file() else Path(file)
    try:
        content = parse(path.read_bytes(), str(path))
    except OSError as error:
        raise TemplateError(f"the prompts '{file}' cannot be read", why=reason_of(error)) from None
    prompts = content.get("prompts", {}) if isinstance(content, dict) else {}
    found = prompts.get(prompt)
    if not isinstance(found, dict) or "doc_to_text" not in found:
        raise TemplateError(f"{path} has no prompt '{prompt}'", hint=did_you_mean(prompt, prompts))
    if "doc_to_choice" in found:
        raise TemplateError(f"the prompt '{prompt}' sets doc_to_choice", why="a named prompt sets text and target only")
    return found["doc_to_text"], found.get("doc_to_target", config.doc_to_target)
