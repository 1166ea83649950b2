"""Prompt lint: common mistakes, reported before a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from proctor.ir import Media, Prompt, Request
from proctor.prompts.origins import label_of, part_of
from proctor.prompts.preview import continuations_of, prompts_of
from proctor.recipes.exam import Question

_SHORTEST_LEAK = 4
"""Answers of fewer characters ("A", "yes") occur in any prompt by chance."""

_NEVER_SHOWN = frozenset({"media", "metadata", "subdivision"})
"""What dialects add to rows for themselves."""
# Kinds of spans in which an answer gives itself away; demos show answers of others.
_ASKING = frozenset({"question", "instruction", "system", "answer prefix"})


def warnings_of(question: Question) -> Iterator[str]:
    """Yield a sentence on each suspicious thing about what is asked about an instance, each once."""
    yield from dict.fromkeys(each for request in question.requests for each in _of_request(question, request))
    prompts = [prompt for request in question.requests for prompt in prompts_of(request)]
    if prompts:
        yield from _unused(question, prompts)


def fields_of(question: Question) -> Mapping[str, Any]:
    """Return what a question's row holds for its prompt, by name."""
    fields = question.instance.get("input_fields", question.instance)
    return fields if isinstance(fields, dict) else {}


def _of_request(question: Question, request: Request) -> Iterator[str]:
    prompt = next(iter(prompts_of(request)), None)
    if prompt is None:
        return
    yield from _leaks(question, prompt)
    yield from _repeats(prompt)
    yield from _alike(continuations_of(request) or question.exchange.choices)


def _leaks(question: Question, prompt: Prompt) -> Iterator[str]:
    if question.exchange.choices:  # the right choice is there to be chosen
        return
    asking = "".join(span.text for span in prompt.spans if part_of(span.origin) in _ASKING).lower()
    listed = _listed(question, asking)
    for reference in question.exchange.references:
        answer = reference.strip()
        if len(answer) >= _SHORTEST_LEAK and answer.lower() in asking and answer.lower() not in listed:
            yield f"the answer '{answer}' appears in the prompt"


def _listed(question: Question, asking: str) -> set[str]:
    """Return the labels that the prompt lists for the model to choose from: all of a field, or none."""
    found: set[str] = set()
    for value in fields_of(question).values():
        if isinstance(value, list) and len(value) > 1 and all(isinstance(each, str) for each in value):
            labels = {each.strip().lower() for each in value}
            found |= labels if all(label in asking for label in labels) else set()
    return found


def _repeats(prompt: Prompt) -> Iterator[str]:
    texts: dict[str, str] = {}
    for span in prompt.spans:
        if part_of(span.origin) in {"question", "demo question", "choice"}:
            name = span.origin if "demo" in span.origin else "question"
            texts[name] = texts.get(name, "") + span.text
    asked = texts.pop("question", "").strip()
    for origin, text in texts.items():
        if asked and text.strip() == asked:
            yield f"{label_of(origin)} is the instance itself"


def _alike(choices: tuple[str, ...]) -> Iterator[str]:
    seen: dict[str, int] = {}
    for number, choice in enumerate(choices):
        first = seen.setdefault(choice.strip(), number)
        if first != number:
            yield f"choices {first + 1} and {number + 1} are alike: '{choice.strip()}'"


def _unused(question: Question, prompts: Sequence[Prompt]) -> Iterator[str]:
    if any(isinstance(part, Media) for prompt in prompts for turn in prompt.turns for part in turn.parts):
        return
    text = "\n".join(prompt.text for prompt in prompts)
    unused = [
        f"'{name}'"
        for name, value in fields_of(question).items()
        if isinstance(value, str) and len(value.strip()) >= _SHORTEST_LEAK and name not in _NEVER_SHOWN
        if value.strip() not in text and not _is_reference(question, value)
    ]
    if unused:
        what = f"the fields {', '.join(unused)} are" if len(unused) > 1 else f"the field {unused[0]} is"
        yield f"{what} not in the prompt"


def _is_reference(question: Question, value: str) -> bool:
    answers = {*question.exchange.references, *question.exchange.choices, question.exchange.answer or ""}
    return value.strip() in {answer.strip() for answer in answers}
