"""Prompts of a config: a row, its in-context examples and its label, put together as OpenCompass and AISBench do.

Templates and meta template are compiled for the columns that rows have: a prompt is then a few string operations. What
cannot be compiled (several turns, media, a value that looks like the name of a column) is put together step by step;
both ways give the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

from proctor.demos.retrievers import Corpus, FixKRetriever, LabelPrompts, ZeroRetriever, field_text
from proctor.demos.retrievers_mdl import MDLRetriever
from proctor.dialects.aisbench import conversations, origins
from proctor.dialects.aisbench.compiler import Compiler
from proctor.dialects.aisbench.components import AnyTemplate, build_retriever, build_template
from proctor.dialects.aisbench.conversations import MultiTurn
from proctor.dialects.aisbench.datasets.reader import FILLED
from proctor.dialects.aisbench.examples import Chosen, Examples, kept
from proctor.dialects.aisbench.prompt_frames import ChatFrame, PromptLayout, TextFrame
from proctor.dialects.aisbench.values import location_of, texts_in
from proctor.errors import DataError, DemosError, Diagnostic, MissingFieldError, TemplateError, did_you_mean
from proctor.formats.dialogue_layout import Mode
from proctor.formats.meta_template import MetaTemplate
from proctor.ir import Failure, Prompt, Span, Turn
from proctor.templates import MMPromptTemplate, MultiTurnPromptTemplate, PromptTemplate, RawPromptTemplate
from proctor.templates.multimodal import check_base64
from proctor.templates.prompt_list import PromptList
from proctor.templates.prompt_template import BasePromptTemplate, masked

Row = Mapping[str, Any]


class PromptBuilder:
    """Makes the prompts of one dataset of a config.

    Args:
        infer_cfg: ``ice_template``, ``prompt_template``, ``retriever`` and perhaps ``inferencer``.
        reader_cfg: ``input_columns`` and ``output_column``.
        index_rows: The rows that examples are taken from.
        meta_template: How the model wants dialogues written; ``None`` for a model that says nothing about it.
        as_messages: Whether prompts are chat messages rather than one text.

    Raises:
        ProctorError: A template or a retriever cannot be built, or they do not fit together.
    """

    def __init__(
        self,
        infer_cfg: Mapping[str, Any],
        reader_cfg: Mapping[str, Any],
        index_rows: Sequence[Row | Failure] = (),
        *,
        meta_template: MetaTemplate | None = None,
        as_messages: bool = False,
    ) -> None:
        self.ice_template = build_template(infer_cfg.get("ice_template"), "$.infer_cfg.ice_template")
        self.prompt_template = build_template(infer_cfg.get("prompt_template"), "$.infer_cfg.prompt_template")
        self.retriever = build_retriever(infer_cfg.get("retriever"))
        self._inferencer: Mapping[str, Any] = infer_cfg.get("inferencer") or {}
        self._mask = str(self._inferencer.get("gen_field_replace_token") or "")
        columns = reader_cfg.get("input_columns") or ()
        self.input_columns = tuple(columns.split() if isinstance(columns, str) else columns)
        self.output_column: str | None = reader_cfg.get("output_column") or None
        self.index_rows = index_rows
        self._layout = PromptLayout(meta_template, as_messages=as_messages)
        asking = "ice_template" if self.prompt_template is None else "prompt_template"
        self._place = location_of(infer_cfg.get(asking)) or location_of(infer_cfg)
        self._retriever_place = location_of(infer_cfg.get("retriever")) or self._place
        self._check()
        self._examples = Examples(self.ice_template, self.retriever, index_rows, self.output_column, self._layout.roles)
        self._compiler: Compiler | None = None
        if type(self.template) is PromptTemplate and self.template.sep_token is None:
            self._compiler = Compiler(self.template, self._layout.roles, self._place)
        self._text_frames: dict[Hashable, TextFrame] = {}
        self._chat_frames: dict[Hashable, ChatFrame | None] = {}
        self._checked_columns: set[tuple[str, ...]] = set()
        self._named = "".join(texts_in([_content(each) for each in (self.ice_template, self.prompt_template)]))

    @property
    def template(self) -> AnyTemplate | None:
        """The template that asks: ``prompt_template``, or where that is left out ``ice_template``."""
        return self.prompt_template if self.prompt_template is not None else self.ice_template

    def _check(self) -> None:
        template = self.template
        if template is None or isinstance(self.retriever, ZeroRetriever):
            return
        name = "prompt_template" if self.prompt_template is not None else "ice_template"
        if self.ice_template is None:
            raise self._misfit("there is no ice_template for the examples", "ice_template", "or use ZeroRetriever")
        if not template.ice_token:
            raise self._misfit(
                f"the {name} has no ice_token, so the examples have no place",
                name,
                "set ice_token and put it into the template, or use ZeroRetriever",
            )
        if not _has_token(template):
            raise self._misfit(
                f"the ice token '{template.ice_token}' is missing from the {name}",
                name,
                "put it where the examples go: into the text, or into 'begin'",
            )

    def _misfit(self, what: str, part: str, hint: str) -> TemplateError:
        why = f"{type(self.retriever).__name__} chooses examples"
        return TemplateError([Diagnostic(what, self._place, f"$.infer_cfg.{part}", why, hint)])

    @property
    def shows_same(self) -> bool:
        """Whether every row is shown the same examples, so that no row has to be read to choose them."""
        return isinstance(self.retriever, ZeroRetriever | FixKRetriever)

    # -- examples ---------------------------------------------------------------------------------------------

    def retrieve(self, test_rows: Sequence[Row | Failure], seed: int | None = None) -> Sequence[Sequence[int]]:
        """Return for every test row the positions of its examples in the index.

        Args:
            test_rows: The rows, copies included.
            seed: Of what is drawn; ``None`` for the retriever's own.

        Raises:
            DemosError: The retriever cannot choose.
        """
        text = field_text(self.input_columns)
        retriever = self.retriever if seed is None else self.retriever.seeded(seed)
        label_prompts = self._label_prompts() if isinstance(retriever, MDLRetriever) else None
        index = Corpus(self.index_rows, lambda row: text(_usable(row)))
        test = Corpus(test_rows, lambda row: "" if isinstance(row, Failure) else text(row))
        try:
            return retriever.retrieve(index, test, label_prompts)
        except DemosError as error:
            raise error.located(self._retriever_place) from None

    def _label_prompts(self) -> LabelPrompts:
        """Return what a retriever that tries prompts out needs; it may write them differently."""
        tried, builder = self.retriever, self
        if isinstance(tried, MDLRetriever) and tried.ice_template is not None:
            parts = {"ice_template": tried.ice_template, "prompt_template": tried.prompt_template, "retriever": tried}
            reader = {"input_columns": self.input_columns, "output_column": self.output_column}
            builder = PromptBuilder(parts, reader, self.index_rows)
        labels = getattr(tried, "labels", None) or builder.labels
        return LabelPrompts(
            labels, lambda chosen: str(builder._examples.together(tuple(chosen))), partial(builder._label_texts, labels)
        )

    def _label_texts(self, labels: Sequence[Any], row: Row | Failure, examples: str) -> list[str]:
        if isinstance(row, Failure):  # it is shown nothing, and drawn for all the same
            return [examples for _ in labels]
        template = self._asking()
        return [str(template.generate_label_prompt_item(row, examples, label)) for label in labels]

    # -- prompts ----------------------------------------------------------------------------------------------

    def generate(self, row: Row, demos: Sequence[int] = ()) -> Prompt:
        """Return the prompt that asks about a row, its answer masked.

        Raises:
            TemplateError: The prompt cannot be laid out: the meta template lacks a role, media do not decode …
            MissingFieldError: The row lacks an input column that the templates name.
        """
        shown = demos if type(demos) is tuple else tuple(demos)
        try:
            payload = self._compiled(row, shown, "gen", None)
            if payload is None:
                payload = self._layout.payload(self._generated(row, shown), "gen")
        except TemplateError as error:
            raise error.located(self._place) from None
        return Prompt(payload, partial(self._explain, row, shown, "gen", None))

    @cached_property
    def labels(self) -> list[Any]:
        """The labels that likelihoods are asked for: the inferencer's, the template's, or the answers in the index.

        Those of a template are sorted as text: upstream's runners write configs down with sorted keys and read them
        again, and of labels with equal losses the first wins.
        """
        if given := self._inferencer.get("labels"):
            return list(given)
        template = self.template
        if isinstance(template, BasePromptTemplate) and template.labels:
            return sorted(template.labels, key=str)
        if self.output_column is None:
            return []
        column = self.output_column
        usable = (row for row in self.index_rows if not isinstance(row, Failure))
        return list({repr(row[column]): row[column] for row in usable if column in row}.values())

    def labelled(self, row: Row, demos: Sequence[int], label: object, normalizing: str | None = None) -> Prompt:
        """Return the prompt whose likelihood stands for a label.

        Args:
            demos: The positions of its examples.
            normalizing: What stands in place of everything before the separator, where likelihoods are normalised.
        """
        if normalizing is not None:
            return Prompt(normalizing + self.split(row, demos, label)[1])
        shown = tuple(demos)
        try:
            payload = self._compiled(row, shown, "ppl", label)
            if payload is None:
                payload = self._layout.payload(self._for_label(row, shown, label), "ppl")
        except TemplateError as error:
            raise error.located(self._place) from None
        return Prompt(payload, partial(self._explain, row, shown, "ppl", label))

    def split(self, row: Row, demos: Sequence[int], label: object) -> tuple[str, str]:
        """Return a label's prompt cut at its separator: the context, and the answer.

        Raises:
            TemplateError: The template is not text, or has no separator.
        """
        template = self._asking()
        prompt = self._for_label(row, tuple(demos), label, remain_sep=True)
        token = template.sep_token
        if not isinstance(prompt, str) or not token or token not in prompt:
            raise TemplateError(
                "a normalised likelihood needs a template that is a text with its sep_token in it",
                path="$.infer_cfg.prompt_template",
                why=f"sep_token is {token!r}",
            )
        context, _, answer = prompt.partition(token)
        return context, answer.replace(token, "")

    def conversation(self, row: Row) -> MultiTurn:
        """Return the whole conversation of a row, with the right answers in the model's place.

        Raises:
            TemplateError, DataError: The row holds no conversation.
        """
        try:
            return self._conversation(row)
        except (TemplateError, DataError) as error:
            raise error.located(self._place) from None

    def _conversation(self, row: Row) -> MultiTurn:
        template = self.template
        if isinstance(template, MultiTurnPromptTemplate):
            self._check_columns(tuple(row))
            return conversations.of_dialogue(template.generate_item(row), self._layout.of_messages)
        if isinstance(template, RawPromptTemplate):
            return MultiTurn(tuple(template.generate_item(row)))
        # a chat shows no examples, so that an ice_template says nothing of it
        shown = None if self.prompt_template is None else template
        return conversations.of_columns(row, shown, self.input_columns, self.output_column)

    def shorten(self, row: Row, demos: Sequence[int], fits: Callable[[Prompt], bool]) -> Prompt:
        """Return the prompt with as many of its first examples as fit; without any where none do."""
        shown = tuple(demos)
        prompt = self.generate(row, shown)
        while shown and not fits(prompt):
            shown = shown[:-1]
            prompt = self.generate(row, shown)
        return prompt

    # -- step by step -----------------------------------------------------------------------------------------

    def _asking(self) -> AnyTemplate:
        if self.template is None:
            raise TemplateError(
                "there is neither a prompt_template nor an ice_template", location=self._place, path="$.infer_cfg"
            )
        return self.template

    def _generated(self, row: Row, demos: Chosen) -> Any:
        self._check_columns(tuple(row))
        prompt = self._asking().generate_item(row, self.output_column, self._mask, self._examples.together(demos))
        if isinstance(self.template, MMPromptTemplate) and isinstance(prompt, PromptList):
            check_base64(prompt)
        return prompt

    def _for_label(self, row: Row, demos: Chosen, label: Any, *, remain_sep: bool = False) -> Any:
        self._check_columns(tuple(row))
        return self._asking().generate_label_prompt_item(row, self._examples.together(demos), label, remain_sep)

    def _check_columns(self, columns: tuple[str, ...]) -> None:
        if columns in self._checked_columns:
            return
        filled = FILLED if isinstance(self.prompt_template, MMPromptTemplate) else frozenset()
        wanted = [name for name in self.input_columns if name not in filled]
        missing = [name for name in wanted if name not in columns and f"{{{name}}}" in self._named]
        if missing:
            raise MissingFieldError(
                [
                    Diagnostic(
                        f"the data has no column '{name}'",
                        self._place,
                        "$.reader_cfg.input_columns",
                        f"its columns are {', '.join(columns)}",
                        did_you_mean(name, columns) or "name columns that the data has",
                    )
                    for name in missing
                ]
            )
        self._checked_columns.add(columns)

    # -- compiled ---------------------------------------------------------------------------------------------

    def _compiled(self, row: Row, demos: Chosen, mode: Mode, label: Any) -> Any:
        """Return the payload, or ``None`` where it has to be made step by step."""
        if self._compiler is None:
            return None
        columns = tuple(row)
        if self._layout.as_messages:
            chat = kept(self._chat_frames, (columns, demos, mode, label), self._chat_frame)
            return None if chat is None else chat.render(row)
        examples = self._examples.text(demos)
        if examples is None:
            return None
        key = columns, self._examples.kind(demos), mode, label
        return kept(self._text_frames, key, partial(self._text_frame, self._compiler)).render(row, examples)

    def _known(self, columns: tuple[str, ...], mode: Mode) -> dict[str, str | None]:
        self._check_columns(columns)
        known: dict[str, str | None] = dict.fromkeys(columns)
        if mode == "gen" and self.output_column is not None:
            known[self.output_column] = self._mask
        return known

    def _text_frame(self, compiler: Compiler, key: Any) -> TextFrame:
        columns, kind, mode, label = key
        return compiler.text(self._known(columns, mode), kind, mode, label)

    def _chat_frame(self, key: Any) -> ChatFrame | None:
        columns, demos, mode, label = key
        examples, kind = self._examples.together(demos), self._examples.kind(demos)
        if self._compiler is None or kind == "messages":
            return None
        return self._compiler.chat(self._layout.of_messages, self._known(columns, mode), kind, examples, mode, label)

    # -- who said what ----------------------------------------------------------------------------------------

    def _explain(self, row: Row, demos: Chosen, mode: Mode, label: Any) -> tuple[Turn, ...]:
        prompt = self._generated(row, demos) if mode == "gen" else self._for_label(row, demos, label)
        if isinstance(prompt, str):
            spans = [span for span in self._text_spans(row, demos, mode, label) if span.text]
            whole = "".join(span.text for span in spans) == prompt
            return (Turn("user", tuple(spans) if whole else (Span(prompt, "question"),)),)
        if not isinstance(prompt, PromptList):
            return tuple(Turn(each["role"], (Span(str(each["content"]), "question"),)) for each in prompt)
        return self._layout.turns(prompt, mode, self._origins(prompt, row, mode, label))

    def _origins(self, prompt: PromptList, row: Row, mode: Mode, label: Any) -> list[str]:
        template = self._asking()
        static = 0
        if isinstance(template, PromptTemplate):
            part = template.for_generation() if mode == "gen" else template.for_label(label)
            static = origins.static_items(
                part["round"], {**row, **({self.output_column: ""} if self.output_column else {})}
            )
        choice = self.labels.index(label) if mode == "ppl" and label in self.labels else None
        return origins.item_origins(prompt, static, choice)

    def _text_spans(self, row: Row, demos: Chosen, mode: Mode, label: Any) -> list[Span]:
        template = self._asking()
        if not isinstance(template, BasePromptTemplate):
            return []
        part = template.for_generation() if mode == "gen" else template.for_label(label)
        known = masked(row, self.output_column, self._mask) if mode == "gen" else row
        return list(origins.text_spans(part, template.ice_token, self._examples.labelled(demos), known))


def _usable(row: Row | Failure) -> Row:
    if isinstance(row, Failure):
        raise DemosError(
            "the retriever compares all rows of the index, and one of them cannot be used", why=row.message
        )
    return row


def _has_token(template: AnyTemplate) -> bool:
    if isinstance(template, RawPromptTemplate):
        return template.ice_token in template.messages
    token = template.ice_token or ""
    parts = (
        list(template.template.values())
        if template.labels and isinstance(template.template, dict)
        else [template.template]
    )
    return all(any(token in text for text in texts_in(part)) for part in parts)


def _content(template: AnyTemplate | None) -> Any:
    return template.messages if isinstance(template, RawPromptTemplate) else template and template.template
