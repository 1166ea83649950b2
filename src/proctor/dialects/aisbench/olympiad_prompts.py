"""OlympiadBench's templates: words that depend on the language, the subject and the kind of answer of a row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proctor.dialects.aisbench.datasets.prompt_texts import prompt_texts
from proctor.dialects.aisbench.values import ConfigDict, location_of, short_name

Row = Mapping[str, Any]
COLUMN = "olympiad_prompt"
"""The name of the words in what a template is filled with."""
_TEMPLATES: Mapping[str, Mapping[str, Any]] = {
    "OlympiadBenchTemplate": {
        "type": "PromptTemplate",
        "template": {"round": [{"role": "HUMAN", "prompt": f"{{{COLUMN}}}"}]},
    },
    "OlympiadBenchRawTemplate": {
        "type": "RawPromptTemplate",
        "messages": [{"role": "user", "content": f"{{{COLUMN}}}"}],
    },
}


def is_olympiad(inference: Mapping[str, Any]) -> bool:
    """Return whether an ``infer_cfg`` has one of these templates."""
    template = inference.get("prompt_template")
    return isinstance(template, Mapping) and short_name(template.get("type", "")) in _TEMPLATES


def plain_inference(inference: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an ``infer_cfg`` with the template that is filled with :func:`olympiad_row`."""
    if not is_olympiad(inference):
        return inference
    own = inference["prompt_template"]
    template = ConfigDict(dict(_TEMPLATES[short_name(own["type"])]), location=location_of(own))
    return ConfigDict({**inference, "prompt_template": template}, location=location_of(inference))


def olympiad_row(row: Row) -> Row:
    """Return what the templates are filled with: the question in words, and nothing else of the row.

    Raises:
        ValueError: The kind of its answers is unknown.
    """
    said = prompt_texts("olympiad")["Chinese" if row.get("language", "English") == "Chinese" else "English"]
    subject = said["subjects"]["Math" if row.get("subject", "Math") == "Math" else ""]
    if row.get("question_type") == "Theorem proof":
        words = said["proof"].format(subject=subject)
    else:
        has_unit = bool(row.get("unit"))
        words = said["open"].format(
            subject=subject,
            kinds=_kinds_in_words(row, said),
            box=said["several in box" if row.get("is_multiple_answer") else "box"],
            unit=said["unit"] if has_unit else "",
            note=said["note"] if has_unit else "",
        )
    return {COLUMN: f"{words}\n{row.get('problem', '')}\n\n{said['end']}"}


def _kinds_in_words(row: Row, said: Mapping[str, Any]) -> str:
    """Return what kind of answer, or of several answers, a row wants; nothing where that cannot be told."""
    names = str(row.get("answer_type", ""))
    if "Need_human_evaluate" in names or "Tuple" in names:
        return ""
    several = bool(row.get("is_multiple_answer"))
    parts = names.split(",") if several and "," in names else [names]
    kinds = [_kind(part.partition("-")[0], said["kinds"]) for part in parts]
    if several and len(set(kinds)) > 1:
        return str(said["several kinds"].format(kinds=said["between kinds"].join(kinds)))
    return str(said["same kinds" if several else "one kind"].format(kinds=kinds[0]))


def _kind(name: str, kinds: Mapping[str, str]) -> str:
    found = next((words for key, words in kinds.items() if key in name), None)
    if found is None:
        raise ValueError(f"there is no kind of answers '{name}'")
    return found
