"""Dialogue templates of OpenCompass and AISBench.

A template is a text (``"Question: {question} Answer: {answer}"``), a dialogue (``{"begin": …, "round": …, "end": …}``),
or a map from labels to either. The ``generate_…`` methods make an intermediate prompt of a row, a text or a
:class:`~proctor.templates.prompt_list.PromptList`, which a meta template then lays out for a model. In a recipe of our
own, the opening becomes the instruction, the last round the question and its answer.
"""

from __future__ import annotations

import re
from collections.abc import Container, Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import StrictStr

from proctor.errors import Diagnostic, TemplateError
from proctor.templates.prompt_list import SECTIONS, Item, PromptList, fill, marker
from proctor.templates.template import Fields, Template

CHAT_ROLES: Mapping[str, str] = {"HUMAN": "user", "BOT": "assistant", "SYSTEM": "system"}
"""What the customary roles of dialogues are called in chats."""

_SLOT = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True, slots=True)
class DialogueParts:
    """The parts of a dialogue template, not filled.

    Attributes:
        opening: What is said once, before everything else.
        turns: The items before the answer.
        answer: What the model is to say, with the words that it starts with.
    """

    opening: str
    turns: tuple[Item, ...]
    answer: str

    @classmethod
    def of(cls, part: Any, ice_token: str | None) -> DialogueParts:
        """Return the parts of a text or a dialogue; of a text, everything is the answer until fields are known."""
        if isinstance(part, str):
            opening, token, text = part.partition(ice_token) if ice_token else ("", "", part)
            return cls(opening, (), text if token or not ice_token else part)
        begin = part.get("begin", [])
        texts = [_words(item) for item in (begin if isinstance(begin, list) else [begin])]
        opening = "\n".join(text for text in texts if text and text != ice_token)
        rounds = [item for item in part["round"] if item != ice_token]
        ends_in_answer = bool(rounds) and isinstance(rounds[-1], dict) and rounds[-1].get("role") == "BOT"
        answer = _words(rounds.pop()) if ends_in_answer else ""
        return cls(opening, tuple(rounds), answer)

    def asked_names(self) -> set[str]:
        """Return the names that stand in what is said before the answer."""
        return {match[1] for text in (self.opening, *map(_words, self.turns)) for match in _SLOT.finditer(text)}

    def split_answer(self, known: Container[str]) -> tuple[str, str]:
        """Return what stands before the first name that is not known, and the rest."""
        for match in _SLOT.finditer(self.answer):
            if match[1] not in known:
                return self.answer[: match.start()], self.answer[match.start() :]
        return self.answer, ""

    def answer_from(self, references: Mapping[str, Any]) -> str:
        """Return the answer in words, from the first name of a reference field on."""
        for match in _SLOT.finditer(self.answer):
            if match[1] in references:
                return fill(self.answer[match.start() :], dict(references))
        return str(next(iter(references.values()), ""))

    def messages(self, fields: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the turns as chat messages."""
        values = dict(fields)
        return [
            {"role": "user", "content": fill(item, values)}
            if isinstance(item, str)
            else {"role": CHAT_ROLES.get(item["role"], item["role"]), "content": fill(_words(item), values)}
            for item in self.turns
        ]


def _words(item: Item) -> str:
    return item if isinstance(item, str) else str(item.get("prompt", ""))


Intermediate = str | PromptList
"""A prompt between template and meta template."""

Examples = str | PromptList | list[dict[str, Any]]
"""In-context examples in words: a text, a dialogue, or chat messages."""

DIALOGUE_KEYS = frozenset({"begin", "round", "end"})


class BasePromptTemplate(Template):
    """Base of dialogue templates.

    Attributes:
        template: A text, a dialogue, or a map from labels to either.
        ice_token: What in-context examples replace. Without it, the template takes none.
        sep_token: Separates context and answer where their likelihoods are told apart; taken out of prompts.
    """

    template: StrictStr | dict[Any, Any]
    ice_token: str | None = None
    sep_token: str | None = None

    @property
    def prompt_type(self) -> Literal["origin", "meta"]:
        """``meta`` for one dialogue, ``origin`` for a text or a map from labels."""
        return "meta" if isinstance(self.template, dict) and DIALOGUE_KEYS.issuperset(self.template) else "origin"

    @property
    def labels(self) -> list[Any]:
        """The labels of a map from labels, in order; empty for others."""
        return list(self.template) if isinstance(self.template, dict) and self.prompt_type == "origin" else []

    def verify(self) -> None:
        """Check the parts of the template against each other.

        Raises:
            TemplateError: Every part that cannot be laid out, and every text that lacks the ice token.
        """
        super().verify()
        problems: list[Diagnostic] = []
        if isinstance(self.template, str):
            problems += self._missing_token(self.template, "$.template")
        else:
            for key, value in self.template.items():
                if isinstance(value, str):
                    problems += self._missing_token(value, f"$.template.{key}")
            if self.prompt_type == "meta":
                problems += _check_dialogue(self.template, "$.template")
            else:
                for key, value in self.template.items():
                    problems += _check_part(value, f"$.template.{key}")
        if problems:
            raise TemplateError(problems)

    def _missing_token(self, text: str, path: str) -> list[Diagnostic]:
        if not self.ice_token or self.ice_token in text:
            return []
        return [
            Diagnostic(
                f"the ice token '{self.ice_token}' is missing from the template",
                path=path,
                why=f"it is {text!r}"[:200],
                hint="put the token where the examples go, or leave ice_token out",
            )
        ]

    # -- the steps that make a prompt -------------------------------------------------------------------------

    def for_label(self, label: Hashable) -> Any:
        """Return the part of the template for a label; the whole template where it is not a map.

        Raises:
            TemplateError: The map lacks the label.
        """
        if isinstance(self.template, str) or self.prompt_type == "meta":
            return self.template
        if label in self.template:
            return self.template[label]
        if str(label) in self.template:  # labels read from JSON are texts
            return self.template[str(label)]
        raise TemplateError(
            f"the template has no part for the label {label!r}",
            path="$.template",
            why=f"its labels are {', '.join(map(repr, self.template))}",
        )

    def for_generation(self) -> Any:
        """Return the part that generation uses: of a map from labels, the first."""
        if isinstance(self.template, str) or self.prompt_type == "meta":
            return self.template
        return next(iter(self.template.values()))

    @staticmethod
    def encode(part: Any, *, ice: bool) -> Intermediate:
        """Return a part as a text or as items between section markers; an example has no opening and no end."""
        if isinstance(part, str):
            return part
        prompt = PromptList()
        for section in ("begin", "round", "end"):
            if section not in part or (ice and section != "round"):
                continue
            content = part[section]
            name = "ice" if ice else section
            prompt.append(marker(name, "begin"))
            prompt.extend(content if isinstance(content, list) else [content])
            prompt.append(marker(name, "end"))
        return prompt

    def generate_ice_item(self, entry: Mapping[str, Any], label: Hashable = None) -> Intermediate:
        """Return a row as an in-context example, with its answer."""
        prompt = self.encode(self.for_label(label), ice=True)
        if self.ice_token is not None:
            prompt = prompt.replace(self.ice_token, "")
        return filled(prompt, entry)

    def generate_label_prompt_item(
        self, entry: Mapping[str, Any], ice: Examples, label: Hashable, remain_sep: bool | None = False
    ) -> Intermediate:
        """Return the prompt whose likelihood stands for a label; the answer is not masked."""
        prompt = self.encode(self.for_label(label), ice=False)
        if not remain_sep and self.sep_token is not None:
            prompt = prompt.replace(self.sep_token, "")
        if self.ice_token is not None:
            prompt = replaced(prompt, self.ice_token, ice)
        return filled(prompt, entry)

    def generate_item(
        self,
        entry: Mapping[str, Any],
        output_field: str | None = None,
        output_field_replace_token: str = "",
        ice_field_replace_token: Examples = "",
    ) -> Intermediate:
        """Return the prompt that asks about a row.

        Args:
            entry: The row.
            output_field: Its column with the answer, which is masked.
            output_field_replace_token: What the answer is masked with.
            ice_field_replace_token: The in-context examples.
        """
        prompt = self.encode(self.for_generation(), ice=False)
        if self.ice_token is not None:
            prompt = replaced(prompt, self.ice_token, ice_field_replace_token)
        if self.sep_token is not None:
            prompt = prompt.replace(self.sep_token, "")
        return filled(prompt, masked(entry, output_field, output_field_replace_token))

    # -- in recipes of our own --------------------------------------------------------------------------------

    def input_fields_to_source(self, input_fields: Fields) -> str:
        """Return the question: the turns before the answer, or a text up to a name that is not an input field."""
        parts = self._parts()
        if parts.turns:
            return "\n".join(message["content"] for message in parts.messages(input_fields))
        return fill(parts.split_answer(input_fields)[0], input_fields)

    def reference_fields_to_target_and_references(self, reference_fields: Fields) -> tuple[str, list[str]]:
        """Return the answer: from the first name of a reference field on."""
        target = self._parts().answer_from(reference_fields)
        return target, [target]

    def post_process_instance(self, instance: Fields) -> Fields:
        """Add the opening, the start of the answer and, where there are several, the turns of the question."""
        instance = super().post_process_instance(instance)
        parts, fields = self._parts(), instance["input_fields"]
        instance["instruction"] = instance["instruction"] or fill(parts.opening, fields)
        if parts.turns:
            instance["target_prefix"] = fill(parts.split_answer(fields)[0], fields)
        if len(parts.turns) > 1:
            instance["__turns__"] = parts.messages(fields)
        return instance

    def answer_prefix_of(self, fields: Mapping[str, Any]) -> str:
        """Return the text before the answer: up to the first name that no turn before it shows."""
        parts = self._parts()
        if not parts.turns:
            return super().answer_prefix_of(fields)
        asked = parts.asked_names()
        known = {name: value for name, value in fields.items() if name in asked}
        return fill(parts.split_answer(asked)[0], self.serialize(known, dict(fields)))

    def _parts(self) -> DialogueParts:
        return DialogueParts.of(self.for_generation(), self.ice_token)


class PromptTemplate(BasePromptTemplate):
    """A text, a dialogue, or a map from labels to either: ``PromptTemplate("{question} {answer}")``."""


class MultiTurnPromptTemplate(BasePromptTemplate):
    """A round for every question of a row: ``question`` and ``answer`` are lists of one length."""

    def generate_item(
        self,
        entry: Mapping[str, Any],
        output_field: str | None = None,
        output_field_replace_token: str = "",
        ice_field_replace_token: Examples = "",
    ) -> Intermediate:
        """Return the whole conversation with its right answers; what comes before and after is left as it is.

        Raises:
            TemplateError: Questions and answers differ in number, or the template has no ``round``.
        """
        del output_field, output_field_replace_token, ice_field_replace_token
        if not isinstance(self.template, dict) or "round" not in self.template:
            raise TemplateError("a template of several turns needs a 'round'", path="$.template")
        pattern = PromptList(self.template["round"])
        rounds = [item for each in _turns(entry) for item in pattern.format(question=each[0], answer=each[1])]
        return self.encode({**self.template, "round": rounds}, ice=False)


def _turns(entry: Mapping[str, Any]) -> list[tuple[Any, Any]]:
    missing = [name for name in ("question", "answer") if name not in entry]
    if missing:
        raise TemplateError(
            f"a conversation needs the column '{missing[0]}'", why=f"the row has {', '.join(entry) or 'no columns'}"
        )
    questions, answers = entry["question"], entry["answer"]
    for name, value in (("question", questions), ("answer", answers)):
        if isinstance(value, str) or not hasattr(value, "__len__"):
            raise TemplateError(
                f"'{name}' of a conversation has to be a list", path=f"$.{name}", why=f"it is {value!r}"[:200]
            )
    if len(questions) != len(answers):
        raise TemplateError(
            f"a conversation has {len(questions)} questions, but {len(answers)} answers",
            path="$.answer",
            hint="give every question an answer; it may be empty",
        )
    return list(zip(questions, answers, strict=True))


def filled(prompt: Intermediate, entry: Mapping[str, Any]) -> Intermediate:
    """Return a prompt filled with a row."""
    if isinstance(prompt, str):
        return fill(prompt, dict(entry))
    return prompt.format(**entry)


def masked(entry: Mapping[str, Any], column: str | None, token: str) -> Mapping[str, Any]:
    """Return a row whose answer is masked; a row without the column gets it at its end."""
    return entry if column is None else {**entry, column: token}


def replaced(prompt: Intermediate, token: str, examples: Examples) -> Intermediate:
    """Return a prompt with its ice token replaced.

    Raises:
        TemplateError: A text cannot take in messages.
    """
    if isinstance(prompt, str):
        if not isinstance(examples, str):
            raise TemplateError(
                "the examples are messages, but the prompt is a text",
                path="$.prompt_template.template",
                hint="let ice_template and prompt_template be of one kind",
            )
        return prompt.replace(token, examples)
    return prompt.replace(token, examples)


def _check_part(value: Any, path: str) -> list[Diagnostic]:
    if isinstance(value, str):
        return []
    if isinstance(value, dict):
        return _check_dialogue(value, path)
    return [
        Diagnostic(
            "a template is a text, or a dialogue with 'begin', 'round' and 'end'",
            path=path,
            why=f"it is {value!r}"[:200],
        )
    ]


def _check_dialogue(dialogue: Mapping[Any, Any], path: str) -> list[Diagnostic]:
    if "round" not in dialogue:
        return [Diagnostic("a dialogue needs a 'round'", path=path, why=f"it has {', '.join(map(str, dialogue))}")]
    if not isinstance(dialogue["round"], list):
        return [Diagnostic("'round' has to be a list", path=f"{path}.round", why=f"it is {dialogue['round']!r}"[:200])]
    problems = []
    for section in SECTIONS[:3]:
        content = dialogue.get(section, [])
        for number, item in enumerate(content if isinstance(content, list) else [content]):
            if why := _wrong_item(item):
                problems.append(Diagnostic(why, path=f"{path}.{section}[{number}]", why=f"it is {item!r}"[:200]))
    return problems


def _wrong_item(item: Any) -> str:
    if isinstance(item, str):
        return ""
    if not isinstance(item, dict):
        return "an item of a dialogue is a text or a dict"
    if not isinstance(item.get("role"), str):
        return "a message needs a 'role'"
    if not isinstance(item.get("prompt", ""), str):
        return "'prompt' has to be a text"
    return ""
