"""A dataset of a config as an exam that can be run: requests out, scores in."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from proctor.dialects.aisbench.asking import AskedRow, Fits, Questions
from proctor.dialects.aisbench.config import GENERATE, DatasetConfig
from proctor.dialects.aisbench.datasets import DatasetRows, open_dataset
from proctor.dialects.aisbench.grading import grade
from proctor.dialects.aisbench.prompts import PromptBuilder
from proctor.dialects.aisbench.values import as_data, short_name
from proctor.engines.engine import Engine
from proctor.errors import DataError, ProctorError
from proctor.formats.meta_template import MetaTemplate
from proctor.ir import Exchange, turn
from proctor.recipes.exam import Answered, Question, ScoredGroup
from proctor.scoring.grade import Grade


@dataclass(frozen=True, slots=True)
class DatasetOptions:
    """What a run may change about a dataset; ``None`` leaves what the config says.

    Attributes:
        limit: Most rows to ask: a count, or a fraction below 1.
        num_demos: Examples in each prompt.
        system_prompt: Said before everything.
        meta_template: How the model wants dialogues laid out.
        as_messages: Whether prompts are chat messages rather than one string.
        max_seq_len: Longest prompt in tokens, where the dataset does not say (the model's ``max_seq_len``).
        max_out_len: Tokens of an answer where the dataset does not say (the model's ``max_out_len``).
        decoding: Fields of :class:`~proctor.ir.Decoding` that replace everything else.
        stop: Texts that end an answer of this model.
        model_postprocessor: What is done to this model's answers before the dataset's own post-processing.
    """

    limit: float | None = None
    num_demos: int | None = None
    system_prompt: str | None = None
    meta_template: MetaTemplate | None = None
    as_messages: bool = False
    max_seq_len: int | None = None
    max_out_len: int | None = None
    decoding: Mapping[str, Any] = field(default_factory=dict)
    stop: tuple[str, ...] = ()
    model_postprocessor: Mapping[str, Any] | None = None


class DatasetExam:
    """One dataset of a config, ready to run.

    Attributes:
        groups: The summary groups that it was chosen with; their scores are made of their datasets' scores.

    Args:
        config: The dataset.
        options: What the run changes.
        rows: Where rows come from; by default the dataset's loader.
        fits: Whether a prompt is short enough; examples are dropped until it is.
    """

    def __init__(
        self,
        config: DatasetConfig,
        options: DatasetOptions | None = None,
        rows: DatasetRows | None = None,
        fits: Fits | None = None,
    ) -> None:
        self.groups: tuple[ScoredGroup, ...] = ()
        self.config = config
        self.options = options or DatasetOptions()
        self._rows = rows
        self._fits = fits

    @property
    def name(self) -> str:
        """The name under which results are filed."""
        return self.config.abbr

    @property
    def description(self) -> str:
        """One line on what the exam is."""
        values = self.config.values
        source = "/".join(str(values[key]) for key in ("path", "name") if values.get(key))
        return f"{self.config.inferencer.kind} on {source or 'data of its own'}"

    def suited_to(self, engine: Engine) -> DatasetExam:
        """Return the exam as an engine can sit it.

        Engines that only chat get messages. Where prompts have a longest length, the engine's tokens are counted, and
        examples dropped until they fit; an engine that cannot count sends them whole.
        """
        as_messages = engine.only_chats and self.config.inferencer.kind == GENERATE
        longest = self.config.inferencer.max_seq_len or self.options.max_seq_len
        if (not as_messages or self.options.as_messages) and longest is None:
            return self
        options = replace(self.options, as_messages=as_messages or self.options.as_messages)
        twin = DatasetExam(self.config, options, self._rows, self._counting(engine, longest))
        twin.groups = self.groups
        return twin

    @staticmethod
    def _counting(engine: Engine, longest: int | None) -> Fits | None:
        if longest is None:
            return None
        return lambda prompt: (engine.count_tokens(prompt) or 0) <= longest

    @cached_property
    def rows(self) -> DatasetRows:
        """The rows to ask about, and those that examples come from."""
        return self._rows if self._rows is not None else open_dataset(self.config.values)

    @cached_property
    def builder(self) -> PromptBuilder:
        """What turns rows into prompts; compiled on first use."""
        return PromptBuilder(
            changed_inference(self.config.inference, self.options),
            self.config.reader,
            self.rows.index,
            meta_template=self.options.meta_template,
            as_messages=self.options.as_messages,
        )

    @cached_property
    def asking(self) -> Questions:
        """What turns prompts into requests."""
        return Questions(self.config, self.options, self.builder, self._fits)

    def chosen(self) -> Iterator[tuple[int, int]]:
        """Yield the position of each row to ask about, and how often the same row was asked before (``n`` runs)."""
        rows, runs = self.rows.test, self.config.count
        limit, total = self.options.limit, len(rows) // runs
        asked = total if limit is None else min(total, math.ceil(total * limit) if limit < 1 else int(limit))
        in_blocks = runs > 1 and rows[0].get("idx") != rows[1].get("idx")
        for position in range(len(rows)):
            run, place = divmod(position, total) if in_blocks else divmod(position, runs)[::-1]
            if place < asked:
                yield position, run

    def questions(self) -> Iterator[Question]:
        """Yield the items lazily; every call yields equal items in the same order."""
        rows = self.rows.test
        if not rows:
            raise DataError(f"the dataset '{self.name}' has no rows", location=self.config.location)
        demos = self.builder.retrieve(rows)
        for number, (position, run) in enumerate(self.chosen()):
            row = rows[position]
            try:
                question = self.asking.ask(row, demos[position], run)
            except ProctorError as error:
                raise error.within(f"{self.name}[{position}]") from None
            yield self._item(number, row, question)

    def _item(self, number: int, row: Mapping[str, Any], question: AskedRow) -> Question:
        exchange = Exchange(
            question=(turn("user", question.text),),
            references=reference_texts(question.gold),
            choices=tuple(str(label) for label in question.labels),
            gold=question.labels.index(question.gold) if question.gold in question.labels else None,
        )
        return Question(number, row, exchange, question.requests)

    def grade(self, answered: Iterable[Answered]) -> Grade:
        """Turn responses into predictions and scores."""
        return grade(self, answered)

    def specification(self) -> dict[str, Any]:
        """Return JSON-like data that describes the exam fully."""
        options = self.options
        changed = {
            "limit": options.limit,
            "num_demos": options.num_demos,
            "system_prompt": options.system_prompt,
            "meta_template": options.meta_template.to_dict() if options.meta_template is not None else None,
            "as_messages": options.as_messages or None,
            "max_seq_len": options.max_seq_len,
            "max_out_len": options.max_out_len,
            "decoding": dict(options.decoding) or None,
            "stop": list(options.stop) or None,
            "model_postprocessor": options.model_postprocessor,
        }
        return {
            "dialect": "aisbench",
            "dataset": as_data(self.config.values),
            "options": {key: as_data(value) for key, value in changed.items() if value is not None},
        }


def reference_texts(gold: Any) -> tuple[str, ...]:
    """Return the acceptable answers of a row as texts."""
    if gold is None:
        return ()
    if isinstance(gold, Sequence) and not isinstance(gold, str):
        return tuple(str(each) for each in gold)
    return (str(gold),)


def changed_inference(inference: Mapping[str, Any], options: DatasetOptions) -> Mapping[str, Any]:
    """Return ``infer_cfg`` with the examples and the system prompt that a run asks for."""
    changed = dict(inference)
    if options.num_demos is not None:
        changed["retriever"] = _with_demos(inference.get("retriever") or {}, options.num_demos)
    if options.system_prompt is not None:
        name = "prompt_template" if inference.get("prompt_template") else "ice_template"
        changed[name] = _with_system(inference[name], options.system_prompt)
    return changed


def _with_demos(retriever: Mapping[str, Any], count: int) -> Mapping[str, Any]:
    name = short_name(retriever.get("type", "ZeroRetriever"))
    if not count:
        return {"type": "ZeroRetriever"}
    if name == "ZeroRetriever":
        return {"type": "FixKRetriever", "fix_id_list": list(range(count))}
    if name == "FixKRetriever":
        own = list(retriever.get("fix_id_list") or ())
        more = (place for place in range(count + len(own)) if place not in own)
        return {**retriever, "fix_id_list": [*own[:count], *(next(more) for _ in range(count - len(own)))]}
    return {**retriever, "ice_num": count}


def _with_system(template: Mapping[str, Any], text: str) -> Mapping[str, Any]:
    own = template.get("template")
    if isinstance(own, Mapping) and "round" in own:
        begin = own.get("begin") or []
        opening = {"role": "SYSTEM", "fallback_role": "HUMAN", "prompt": text}
        return {**template, "template": {**own, "begin": [opening, *([begin] if isinstance(begin, str) else begin)]}}
    if isinstance(own, Mapping):
        twins = {label: _with_system({"template": each}, text)["template"] for label, each in own.items()}
        return {**template, "template": twins}
    return {**template, "template": f"{text}\n{own}" if isinstance(own, str) else own}
