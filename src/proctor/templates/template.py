"""Template: an instance in words, and a model's words back into a prediction.

A template makes an :class:`~proctor.ir.Exchange` of an instance. The hooks run in this order, each on what the one
before it returned; a subclass overrides the ones it needs:

1. ``preprocess_input_and_reference_fields`` (not in production, where there is no reference)
2. ``preprocess_input_fields``, then ``title_fields`` are capitalised
3. every field is serialised to text
4. ``input_fields_to_source``, and the ``instruction`` and ``target_prefix`` are filled
5. ``preprocess_reference_fields``, serialisation, ``reference_fields_to_target_and_references``
6. ``post_process_instance``
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, ItemsView, Iterator, KeysView, Mapping, Sequence, ValuesView
from string import Formatter
from typing import Annotated, Any, Final

from pydantic import Field
from typing_extensions import override

from proctor.artifacts import NON_POSITIONAL, Artifact
from proctor.data.format_strings import compile_format
from proctor.data.operator import InstanceOperator, Step
from proctor.data.streams import INFERENCE_STREAM
from proctor.errors import TemplateError
from proctor.ir import Exchange, Span, Turn
from proctor.tasks.serializers import MultiTypeSerializer, Serializer, default_serializer

Fields = dict[str, Any]

_TEXT = frozenset({str})


def _serialized(serializer: Serializer) -> Callable[[Fields, Fields], Fields]:
    """Return what makes text of all values; texts that the serializer leaves alone are not handed to it."""
    serialize = serializer.serialize
    if not (isinstance(serializer, MultiTypeSerializer) and serializer.keeps_text):
        return lambda data, instance: {key: serialize(value, instance) for key, value in data.items()}

    def serialized(data: Fields, instance: Fields) -> Fields:
        if _TEXT.issuperset(map(type, data.values())):
            return dict(data)
        return {key: value if type(value) is str else serialize(value, instance) for key, value in data.items()}

    return serialized


class Template(InstanceOperator):
    """Base of all templates.

    Attributes:
        postprocessors: Processors (names or operators) that turn an output into a prediction, in order.
        instruction: Format string said once at the top of the prompt.
        target_prefix: Format string that starts every answer.
        title_fields: Input fields whose words are capitalised.
        skip_rendered_instance: Leave instances alone that already have source, target and references.
        serializer: How values become text.
    """

    skip_rendered_instance: Annotated[bool, NON_POSITIONAL] = True
    postprocessors: Annotated[list[Any], NON_POSITIONAL] = Field(
        default_factory=lambda: ["processors.to_string_stripped"]
    )
    instruction: Annotated[str, NON_POSITIONAL] = ""
    target_prefix: Annotated[str, NON_POSITIONAL] = ""
    title_fields: Annotated[list[str], NON_POSITIONAL] = Field(default_factory=list)
    serializer: Annotated[Serializer, NON_POSITIONAL] = Field(default_factory=default_serializer)

    # -- what subclasses write --------------------------------------------------------------------------------

    @abstractmethod
    def input_fields_to_source(self, input_fields: Fields) -> str:
        """Return the question in words."""

    @abstractmethod
    def reference_fields_to_target_and_references(self, reference_fields: Fields) -> tuple[str, list[str]]:
        """Return the answer that a demo shows, and every acceptable answer."""

    def preprocess_input_and_reference_fields(
        self, input_fields: Fields, reference_fields: Fields
    ) -> tuple[Fields, Fields]:
        """Change inputs and references together (shuffle choices, swap sides)."""
        return input_fields, reference_fields

    def preprocess_input_fields(self, input_fields: Fields) -> Fields:
        """Change input fields before they are serialised."""
        return input_fields

    def preprocess_reference_fields(self, reference_fields: Fields) -> Fields:
        """Change reference fields before they are serialised."""
        return reference_fields

    def post_process_instance(self, instance: Fields) -> Fields:
        """Change the instance after it has been put in words."""
        return instance

    def serialize(self, data: Fields, instance: Fields) -> Fields:
        """Return every value as text."""
        return _serialized(self.serializer)(data, instance)

    def choices_of(self, input_fields: Fields, reference_fields: Fields) -> tuple[tuple[str, ...], int | None]:
        """Return the continuations to score and the index of the right one; ``((), None)`` for free generation."""
        del input_fields, reference_fields
        return (), None

    def explain_source(self, input_fields: Fields) -> tuple[Span, ...]:
        """Return the source cut into labelled spans; joined they are ``input_fields_to_source``."""
        return (Span(self.input_fields_to_source(input_fields), "question"),)

    # -- what pipelines call ----------------------------------------------------------------------------------

    def process(self, instance: Fields, stream_name: str | None = None) -> Fields:
        """Return the instance with ``source``, ``instruction``, ``target_prefix``, ``target`` and ``references``."""
        is_asked = stream_name == INFERENCE_STREAM
        owner, step = self._steps.get(is_asked, _NO_STEP)
        if owner is not self:  # a copy has its original's, until it needs its own
            step = self.compile(stream_name)
            self._steps[is_asked] = self, step
        return step(instance)

    @override
    def compile(self, stream_name: str | None) -> Step:
        """Compile the template: the hooks that the class has, and nothing for others."""
        arrange, before, before_answer, after = map(self._hook, _HOOKS)
        skips, postprocessors, titles = self.skip_rendered_instance, self.postprocessors, self.title_fields
        serialize = self._serialized()
        source_of, answer_of = self.question_filler(), self.answer_filler()
        instruction, instruct = self.instruction, self.filler(self.instruction, "instruction")
        prefix_of = self.filler(self.target_prefix, "target_prefix")
        is_asked = stream_name == INFERENCE_STREAM

        def step(instance: Fields) -> Fields:
            if skips and "source" in instance and "target" in instance and "references" in instance:
                return instance
            instance = dict(instance)
            inputs = instance["input_fields"] = dict(instance["input_fields"])
            references = None
            if not is_asked:
                if instance.get("reference_fields") is None:
                    raise TemplateError("the instance has no reference fields", path="$.reference_fields")
                references = instance["reference_fields"] = dict(instance["reference_fields"])
                if arrange is not None:
                    inputs, references = arrange(inputs, references)
            if before is not None:
                inputs = before(inputs)
            if titles:
                self._capitalise(inputs)
            shown = serialize(inputs, instance)
            instance["source"] = source_of(shown)
            own = instance.get("instruction", instruction)
            instance["instruction"] = instruct(shown) if own is instruction else self.fill(own, "instruction", shown)
            instance["target_prefix"] = prefix_of(shown)
            instance["postprocessors"] = postprocessors
            if references is not None:
                answer = references if before_answer is None else before_answer(references)
                instance["target"], instance["references"] = answer_of(serialize(answer, instance))
            return instance if after is None else after(instance)

        return step

    def question_filler(self) -> Callable[[Fields], str]:
        """Return ``input_fields_to_source`` as a function; templates that fill a format string prepare it once."""
        return self.input_fields_to_source

    def answer_filler(self) -> Callable[[Fields], tuple[str, list[str]]]:
        """Return ``reference_fields_to_target_and_references`` as a function."""
        return self.reference_fields_to_target_and_references

    def _hook(self, name: str) -> Callable[..., Any] | None:
        """Return a hook that the class overrides, ``None`` where it does nothing."""
        return None if getattr(type(self), name) is getattr(Template, name) else getattr(self, name)

    def _serialized(self) -> Callable[[Fields, Fields], Fields]:
        """Return :meth:`serialize` as a function, prepared once where the class has no other."""
        return _serialized(self.serializer) if type(self).serialize is Template.serialize else self.serialize

    def filler(self, text: str, name: str, kind: str = "input field") -> Callable[[Mapping[str, Any]], str]:
        """Return :meth:`fill` for one of this template's format strings, compiled."""
        if type(self).fill is not Template.fill:
            return lambda values: self.fill(text, name, values, kind)
        if not text:
            return lambda values: text
        return compile_format(text, type(self).__name__, name, kind)

    def _capitalise_some(self, inputs: Fields) -> None:
        for field in self.title_fields:
            if isinstance(value := inputs.get(field), str):
                inputs[field] = value.title()

    def _capitalise(self, inputs: Fields) -> None:
        for field in self.title_fields:
            value = inputs.get(field)
            if not isinstance(value, str):
                raise TemplateError(
                    f"the title field '{field}' has to be a text", path="$.title_fields", why=f"it is {value!r}"
                )
            inputs[field] = value.title()

    def fill(self, text: str, name: str, values: Mapping[str, Any], kind: str = "input field") -> str:
        """Fill one of this template's format strings."""
        if not text:
            return text
        compiled = self._compiled.get(text)
        if compiled is None:
            compiled = self._compiled[text] = compile_format(text, type(self).__name__, name, kind)
        return compiled(values)

    def exchange(self, instance: Mapping[str, Any]) -> Exchange:
        """Return a processed instance as an exchange."""
        opening = instance["instruction"]
        choices, gold = self.choices_of(instance["input_fields"], instance.get("reference_fields") or {})
        return Exchange(
            question=question_turns(instance["source"], instance.get("__turns__")),
            opening=(Turn("system", (Span(opening, "instruction"),)),) if opening else (),
            answer_prefix=instance["target_prefix"],
            answer=instance.get("target"),
            references=tuple(instance.get("references") or ()),
            choices=choices,
            gold=gold,
        )

    def answer_prefix_of(self, fields: Mapping[str, Any]) -> str:
        """Return the prefix that an answer was asked to start with, from the task's fields.

        Raises:
            TemplateError: The prefix names a field that is not there.
        """
        prefix = self.target_prefix
        if "{" not in prefix:
            return prefix
        named = {name.partition(".")[0].partition("[")[0] for _, name, _, _ in Formatter().parse(prefix) if name}
        known = {name: fields[name] for name in named if name in fields}
        self._capitalise_some(known)
        return self.fill(prefix, "target_prefix", self.serialize(known, dict(fields)))

    def source_spans(self, instance: Mapping[str, Any]) -> tuple[Span, ...]:
        """Return the labelled spans of an instance's source, for people who look."""
        inputs, references = dict(instance["input_fields"]), instance.get("reference_fields")
        if references is not None:
            inputs, _ = self.preprocess_input_and_reference_fields(inputs, dict(references))
        inputs = self.preprocess_input_fields(inputs)
        self._capitalise(inputs)
        return self.explain_source(self.serialize(inputs, dict(instance)))

    def prepare(self) -> None:
        """Start with nothing compiled."""
        super().prepare()
        self._compiled: dict[str, Any] = {}
        self._steps: dict[bool, tuple[Template | None, Step]] = {}

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if not name.startswith("_") and not self._preparing:
            self._steps = {}


_NO_STEP: Final[tuple[Template | None, Step]] = (None, dict)

_HOOKS: Final = (
    "preprocess_input_and_reference_fields",
    "preprocess_input_fields",
    "preprocess_reference_fields",
    "post_process_instance",
)


def question_turns(source: str, turns: Sequence[Mapping[str, Any]] | None) -> tuple[Turn, ...]:
    """Return the turns of a question: one from the source, or those of a dialog."""
    if turns is None:
        return (Turn("user", (Span(source, "question"),)),)
    return tuple(Turn(str(each["role"]), (Span(str(each["content"]), "question"),)) for each in turns)


class TemplatesList(Artifact):
    """Templates in order; the first is the default."""

    items: list[Template]

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, index: int) -> Template:
        return self.items[index]

    def __iter__(self) -> Iterator[Template]:  # type: ignore[override]
        return iter(self.items)


class TemplatesDict(Artifact):
    """Templates by name; the first is the default."""

    items: dict[str, Template] = Field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, name: str) -> Template:
        return self.items[name]

    def __iter__(self) -> Iterator[str]:  # type: ignore[override]
        return iter(self.items)

    def keys(self) -> KeysView[str]:
        """The names."""
        return self.items.keys()

    def values(self) -> ValuesView[Template]:
        """The templates."""
        return self.items.values()

    def entries(self) -> ItemsView[str, Template]:
        """Names with templates."""
        return self.items.items()
