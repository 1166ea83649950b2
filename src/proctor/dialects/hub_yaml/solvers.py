"""Solvers: what puts a sample in words and asks the model. The texts are inspect's own."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from proctor.dialects.hub_yaml.config import Step
from proctor.dialects.hub_yaml.talk import Talk
from proctor.dialects.hub_yaml.templates import filled, pieces_of, said, text_of
from proctor.errors import DataError, Diagnostic, ProctorError, TemplateError, ValidationError, did_you_mean
from proctor.ir import Decoding, unfit_decoding
from proctor.scoring.lettered_answers import letter_of

Solve = Callable[[Talk], None]
"""Takes a conversation one step further."""

COT: Final = """
{prompt}

Before answering, reason in a step-by-step manner as to get the right answer. Provide your answer at the end on its \
own line in the form "ANSWER: $ANSWER" (without quotes) where $ANSWER is the answer to the question.
"""

CRITIQUE: Final = """
Given the following question and answer, please critique the answer. A good answer comprehensively answers the \
question and NEVER refuses to answer. If the answer is already correct do not provide critique - simply respond 'The \
original answer is fully correct'.

[BEGIN DATA]
***
[Question]: {question}
***
[Answer]: {completion}
***
[END DATA]

Critique: """

COMPLETION: Final = """
Given the following question, initial answer and critique please generate an improved answer to the question:

[BEGIN DATA]
***
[Question]: {question}
***
[Answer]: {completion}
***
[Critique]: {critique}
***
[END DATA]

If the original answer is already correct, just repeat the original answer exactly. Provide your answer at the end on \
its own line in the form "ANSWER: $ANSWER" (without quotes) where $ANSWER is the answer to the question.
"""

_CHOICES: Final = """Answer the following multiple choice question{where}. {form} of your response should be of the \
following format: 'ANSWER: ${word}' (without quotes) where {word} is one {or_more}of {{letters}}.{think}

{{question}}

{{choices}}"""


def choices_template(*, cot: bool, several: bool) -> str:
    """Return the words of a multiple-choice question."""
    return _CHOICES.format(
        where=" where multiple answers may be correct" if several else "",
        form="The last line" if cot else "The entire content",
        word="LETTERS" if several else "LETTER",
        or_more="or more " if several else "",
        think=" Think step by step before answering." if cot else "",
    )


# -- the solvers -----------------------------------------------------------------------------------------------------


def prompt_template(*, template: str, **params: Any) -> Solve:
    """Return what puts the question into a template."""
    _check(template, "prompt_template")

    def solve(talk: Talk) -> None:
        values = {**talk.metadata, **params, "prompt": talk.prompt("prompt_template")}
        talk.put_prompt(filled(template, values, "prompt_template"), "prompt_template")

    return solve


def system_message(*, template: str, **params: Any) -> Solve:
    """Return what adds a system message."""
    _check(template, "system_message")
    return lambda talk: talk.add_system(filled(template, {**talk.metadata, **params}, "system_message"))


def user_message(*, template: str, **params: Any) -> Solve:
    """Return what adds a message of the user."""
    _check(template, "user_message")
    return lambda talk: talk.say(filled(template, {**talk.metadata, **params}, "user_message"))


def chain_of_thought(*, template: str = COT) -> Solve:
    """Return what asks for reasoning before the answer."""
    _check(template, "chain_of_thought")

    def solve(talk: Talk) -> None:
        prompt = talk.prompt("chain_of_thought")
        talk.put_prompt(filled(template, {"prompt": prompt}, "chain_of_thought"), "chain_of_thought")

    return solve


def use_tools(*, tool_choice: object = "auto", append: bool = False) -> Solve:
    """Return what offers tools: none, since a file can name none."""
    del tool_choice, append
    return lambda talk: None


def generate(*, tool_calls: str = "loop", **config: Any) -> Solve:
    """Return what asks the model."""
    del tool_calls, config  # there are no tools; :func:`decoding_of` reads the config
    return Talk.ask


def self_critique(
    *, critique_template: str | None = None, completion_template: str | None = None, model: None = None
) -> Solve:
    """Return what lets the model criticise its answer, and answer again."""
    del model
    critique, completion = critique_template or CRITIQUE, completion_template or COMPLETION
    for each in (critique, completion):
        _check(each, "self_critique")

    def solve(talk: Talk) -> None:
        values = {**talk.metadata, "question": said(talk.question), "completion": talk.completion}
        talk.ask_aside(filled(critique, values, "self_critique", strict=True))
        values["critique"] = talk.completion
        talk.say(filled(completion, values, "self_critique", strict=True))
        talk.ask()

    return solve


def multiple_choice(
    *, template: str | None = None, cot: bool = False, multiple_correct: bool = False, max_tokens: int | None = None
) -> Solve:
    """Return what asks for a letter."""
    del max_tokens  # :func:`decoding_of` reads it
    words = template or choices_template(cot=cot, several=multiple_correct)
    _check(words, "multiple_choice")
    if not all(f"{{{name}}}" in words for name in ("question", "choices")):
        raise TemplateError("the template of multiple_choice lacks {question} or {choices}")

    def solve(talk: Talk) -> None:
        choices: Sequence[str] = talk.sample["choices"]
        if not choices:
            raise DataError("the row has no choices", hint="field_spec: {choices: COLUMN}")
        letters = [letter_of(place) for place in range(len(choices))]
        listed = "\n".join(f"{letter}) {choice}" for letter, choice in zip(letters, choices, strict=True))
        values = {"question": talk.prompt("multiple_choice"), "choices": said(listed), "letters": ",".join(letters)}
        talk.put_prompt(filled(words, values, "multiple_choice", strict=True), "multiple_choice")
        talk.ask()

    return solve


def _check(template: object, owner: str) -> None:
    if not isinstance(template, str):
        raise TemplateError(f"the template of {owner} is {template!r}, not text")
    if "://" in template.partition("{")[0].partition(" ")[0]:
        raise TemplateError(
            f"the template of {owner} is an address", why="an exam's words stand in the exam", hint="write them there"
        )
    if _is_path(template):
        raise TemplateError(
            f"the template of {owner} is the path of a file, '{template}'",
            why="inspect would put the file's words here; an exam's words stand in the exam",
            hint="write them there",
        )
    pieces_of(template, owner)


_TEXT_FILES: Final = frozenset({".txt", ".md", ".jinja", ".jinja2", ".j2", ".prompt"})
"""Endings of files of words; one word that ends so is none that a model is told."""


def _is_path(template: str) -> bool:
    """Whether a template is one word that names a file."""
    is_word = bool(template) and len(template.split()) == 1 and "{" not in template
    return is_word and (Path(template.strip()).suffix.lower() in _TEXT_FILES or os.path.isfile(template.strip()))  # noqa: PTH113


_MAKERS: Final[Mapping[str, Callable[..., Solve]]] = {
    "prompt_template": prompt_template,
    "system_message": system_message,
    "user_message": user_message,
    "chain_of_thought": chain_of_thought,
    "use_tools": use_tools,
    "generate": generate,
    "self_critique": self_critique,
    "multiple_choice": multiple_choice,
}


# -- decoding --------------------------------------------------------------------------------------------------------

_FIELDS: Final = {"max_tokens": "max_tokens", "temperature": "temperature", "top_p": "top_p", "top_k": "top_k"} | {
    "seed": "seed",
    "stop_seqs": "stop",
}
_EXTRA: Final = ("frequency_penalty", "presence_penalty", "logit_bias", "reasoning_effort")
_OF_THE_RUN: Final = {
    "max_retries": "--max-retries",
    "timeout": "--timeout",
    "attempt_timeout": "--timeout",
    "stream_idle_timeout": "--timeout",
    "max_connections": "--concurrency",
    "adaptive_connections": "--concurrency",
    "cache": "the response log",
    "cache_prompt": "the provider",
    "batch": "the run",
}
"""What a file says about how to ask, and not about what: here the run decides it."""


def decoding_of(step: Step) -> Mapping[str, Any]:
    """Return what a solver says of how the model writes: fields of :class:`~proctor.ir.Decoding`.

    Raises:
        ValidationError: It says something that cannot be honoured.
    """
    found: dict[str, Any] = {}
    if step.name == "multiple_choice" and step.args.get("max_tokens") is not None:
        found["max_tokens"] = step.args["max_tokens"]
    if step.name == "generate":
        found = _generate_arguments(step)
    if (unfit := unfit_decoding({**found, **found.get("extra", {})})) is not None:
        name, value, wanted = unfit
        raise ValidationError(f"{step.name}: {name} is {value!r}", location=step.location, why=f"it is {wanted}")
    return found


def _generate_arguments(step: Step) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in step.args.items():
        if value is None or key == "tool_calls" or key in _OF_THE_RUN:
            continue
        if key in _FIELDS:
            found[_FIELDS[key]] = tuple(value) if key == "stop_seqs" else value
        elif key in _EXTRA:
            found.setdefault("extra", {})[key] = value
        else:
            known = [*_FIELDS, *_EXTRA]
            raise ValidationError(
                f"generate cannot honour '{key}'",
                location=step.location,
                hint=did_you_mean(key, known) or f"it honours {', '.join(known)}",
            )
    return found


# -- all of them -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Solvers:
    """The solvers of a task, ready to use.

    Attributes:
        solve: In order.
        decoding: How the model writes, each time.
        answers: How often the model is asked about a sample.
        lettered: Which answers are letters of choices, and whether several may be right.
    """

    solve: tuple[Solve, ...]
    decoding: Decoding
    answers: int = 1
    lettered: tuple[tuple[int, bool], ...] = ()

    def run(self, talk: Talk) -> Talk:
        """Return the conversation that all solvers make."""
        for each in self.solve:
            each(talk)
        return talk


def compiled(steps: Sequence[Step], *, epochs: int) -> Solvers:
    """Return solvers, compiled.

    Args:
        steps: As the file has them.
        epochs: How often each sample is asked. Where that is more than once and nothing says a temperature, it is 1,
            as of most providers: the same answer again would say nothing.

    Raises:
        ValidationError: With every problem.
    """
    problems: list[Diagnostic] = []
    made: list[Solve] = []
    ways: list[Mapping[str, Any]] = []
    for step in steps:
        try:
            made.append(made_of(step.name, _MAKERS[step.name], step))
            if step.name in _ASKS:
                ways += [decoding_of(step)]
        except ProctorError as error:
            where = [error] if step.location is None else [error.located(step.location)]
            problems += [diagnostic for each in where for diagnostic in each.diagnostics]
    if not ways and not problems:
        what = "no solver asks the model"
        problems.append(Diagnostic(what, steps[0].location if steps else None, hint="add - name: generate"))
    if any(way != ways[0] for way in ways):
        what = "its solvers ask the model in different ways (max_tokens, temperature …)"
        problems.append(Diagnostic(what, steps[-1].location, hint="give all of them the same, or use --gen-kwargs"))
    if problems:
        raise ValidationError(problems)
    decoding = Decoding(**{"temperature": 1.0 if epochs > 1 else 0.0, **ways[0]})
    return Solvers(tuple(made), decoding, *_shape(steps))


_ASKS: Final = {"generate": 1, "multiple_choice": 1, "self_critique": 2}
"""How often a solver asks the model."""


def _shape(steps: Sequence[Step]) -> tuple[int, tuple[tuple[int, bool], ...]]:
    """Return how often the model is asked, and which answers are letters."""
    count, lettered = 0, []
    for step in steps:
        if step.name == "multiple_choice":
            lettered.append((count, bool(step.args.get("multiple_correct"))))
        count += _ASKS.get(step.name, 0)
    return count, tuple(lettered)


def made_of(name: str, maker: Callable[..., Any], step: Step) -> Any:
    """Return what a maker makes of a step's arguments.

    Raises:
        ValidationError: An argument is unknown, or missing.
        ProctorError: An argument cannot be used.
    """
    parameters = inspect.signature(maker).parameters
    known = [each.name for each in parameters.values() if each.kind is not each.VAR_KEYWORD]
    is_open = len(known) < len(parameters)
    if not is_open and (unknown := [key for key in step.args if key not in known]):
        hint = did_you_mean(unknown[0], known) or (f"it takes {', '.join(known)}" if known else "it takes none")
        raise ValidationError(f"'{name}' has no argument '{unknown[0]}'", location=step.location, hint=hint)
    needed = [
        each.name for each in parameters.values() if each.default is each.empty and each.kind is not each.VAR_KEYWORD
    ]
    if missing := [key for key in needed if key not in step.args]:
        raise ValidationError(f"'{name}' needs the argument '{missing[0]}'", location=step.location)
    if name == "self_critique" and step.args.get("model") is not None:
        raise ValidationError(
            "self_critique names another model",
            location=step.location,
            why="the model itself is asked",
            hint="leave it out",
        )
    return maker(**step.args)


def shown_of(talk: Talk) -> str:
    """Return the words of the question as solvers left them, for people."""
    users = [each for each in talk.asked[0] if each.role == "user"]
    return text_of(users[-1].words) if users else talk.question
