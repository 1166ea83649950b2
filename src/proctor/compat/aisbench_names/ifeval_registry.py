"""IFEval's instructions by their ids, and which of them a prompt cannot ask for together."""

from __future__ import annotations

from collections.abc import Mapping

from proctor.compat.aisbench_names import ifeval_instructions as instructions

INSTRUCTION_DICT: dict[str, type[instructions.CheckedInstruction]] = {
    kind.check: kind
    for kind in vars(instructions).values()
    if isinstance(kind, type) and issubclass(kind, instructions.CheckedInstruction) and hasattr(kind, "check")
}
"""Classes by the ids of their instructions."""

_EVERY = frozenset(INSTRUCTION_DICT)
_EXISTENCE, _FORBIDDEN = "keywords:existence", "keywords:forbidden_words"
_LANGUAGE, _TITLE, _COMMA = "language:response_language", "detectable_format:title", "punctuation:no_comma"
_CAPITAL, _LOWERCASE = "change_case:english_capital", "change_case:english_lowercase"
_OTHERS = {
    _LANGUAGE: {
        "detectable_format:multiple_sections", _EXISTENCE, "keywords:frequency", _FORBIDDEN, "startend:end_checker",
        _CAPITAL, _LOWERCASE,
    },
    "length_constraints:number_paragraphs": {
        "length_constraints:nth_paragraph_first_word", "length_constraints:number_sentences",
    },
    "length_constraints:nth_paragraph_first_word": {"length_constraints:number_paragraphs"},
    "detectable_format:constrained_response": _EVERY,
    "detectable_format:multiple_sections": {_LANGUAGE, "detectable_format:number_highlighted_sections"},
    "detectable_format:json_format": _EVERY - {_FORBIDDEN, _EXISTENCE},
    "combination:two_responses": _EVERY - {_FORBIDDEN, _EXISTENCE, _LANGUAGE, _TITLE, _COMMA},
    "combination:repeat_prompt": _EVERY - {_EXISTENCE, _TITLE, _COMMA},
    "change_case:capital_word_frequency": {_CAPITAL, _LOWERCASE},
    _LOWERCASE: {_CAPITAL},
    "startend:quotation": {_TITLE},
}  # fmt: skip
INSTRUCTION_CONFLICTS: dict[str, set[str]] = {name: {name, *_OTHERS.get(name, ())} for name in INSTRUCTION_DICT}
"""By id: with which others an instruction makes no sense; not mutual, as upstream, before :func:`conflict_make`."""


def conflict_make(conflicts: Mapping[str, set[str]]) -> Mapping[str, set[str]]:
    """Make conflicts mutual, and let every instruction be one with itself; changes what it is given, and returns it."""
    for name in conflicts:
        for other in list(conflicts[name]):
            conflicts[other].add(name)
        conflicts[name].add(name)
    return conflicts
