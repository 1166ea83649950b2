"""Templates that fill format strings."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Annotated, Any

from pydantic import Field
from typing_extensions import override

from proctor.artifacts import NON_POSITIONAL
from proctor.data.fields import get_field
from proctor.errors import TemplateError, ValidationError
from proctor.randomness import random_stream
from proctor.tasks.serializers import MultiTypeSerializer, NumberQuantizingSerializer, Serializer
from proctor.templates.template import Fields, Template

References = tuple[str, list[str]]


class InputFormatTemplate(Template):
    """The question is a format string."""

    input_format: str

    def input_fields_to_source(self, input_fields: Fields) -> str:
        """Fill ``input_format``."""
        return self.fill(self._required(self.input_format, "input_format"), "input_format", input_fields)

    @override
    def question_filler(self) -> Callable[[Fields], str]:
        own = type(self).input_fields_to_source is InputFormatTemplate.input_fields_to_source
        if not (own and self.input_format):
            return super().question_filler()
        return self.filler(self.input_format, "input_format")

    def _required(self, text: str | None, name: str) -> str:
        if text is None:
            raise ValidationError(
                f"Required field '{name}' of class InputFormatTemplate not set in {type(self).__name__}",
                path=f"$.{name}",
            )
        return text


class OutputFormatTemplate(Template):
    """The answer is a format string; it is the only reference."""

    output_format: str | None = None

    def reference_fields_to_target_and_references(self, reference_fields: Fields) -> References:
        """Fill ``output_format``."""
        target = self._answer(self.output_format, "output_format", reference_fields)
        return target, [target]

    @override
    def answer_filler(self) -> Callable[[Fields], References]:
        cls = OutputFormatTemplate
        own = type(self).reference_fields_to_target_and_references is cls.reference_fields_to_target_and_references
        if not (own and self.output_format):
            return super().answer_filler()
        fill = self.filler(self.output_format, "output_format", "reference field")

        def answer(reference_fields: Fields) -> References:
            target = fill(reference_fields)
            return target, [target]

        return answer

    def _answer(self, text: str | None, name: str, reference_fields: Fields) -> str:
        if text is None:
            cls = type(self).__name__
            raise ValidationError(f"Required field '{name}' of class {cls} not set in {cls}", path=f"$.{name}")
        return self.fill(text, name, reference_fields, "reference field")


class InputOutputTemplate(InputFormatTemplate, OutputFormatTemplate):
    """Question and answer are format strings: ``input_format="{a}+{b}="``, ``output_format="{sum}"``."""


class InputOutputTemplateWithCustomTarget(InputOutputTemplate):
    """Like :class:`InputOutputTemplate`, but the reference differs from what demos show."""

    reference: str

    def reference_fields_to_target_and_references(self, reference_fields: Fields) -> References:
        """Fill ``output_format`` for demos and ``reference`` for scoring."""
        target = self._answer(self.output_format, "output_format", reference_fields)
        return target, [self._answer(self.reference, "reference", reference_fields)]


class JsonOutputFormatTemplate(Template):
    """The answer is a JSON object: ``output_fields`` maps reference fields to keys."""

    output_fields: dict[str, str]
    wrap_with_list_fields: list[str]

    def reference_fields_to_target_and_references(self, reference_fields: Fields) -> References:
        """Return the object as JSON text."""
        missing = [field for field in self.output_fields if field not in reference_fields]
        if missing:
            raise TemplateError(
                f"{type(self).__name__} needs the reference field '{missing[0]}'",
                path="$.output_fields",
                why=f"the reference fields are {', '.join(reference_fields)}",
            )
        data = {
            key: [reference_fields[field]] if field in self.wrap_with_list_fields else reference_fields[field]
            for field, key in self.output_fields.items()
        }
        target = json.dumps(data, ensure_ascii=False)
        return target, [target]


class JsonOutputTemplate(InputFormatTemplate, JsonOutputFormatTemplate):
    """The question is a format string, the answer a JSON object."""


class NullTemplate(Template):
    """Nothing is asked and nothing expected."""

    postprocessors: Annotated[list[Any], NON_POSITIONAL] = []

    def input_fields_to_source(self, input_fields: Fields) -> str:
        """Return the empty string."""
        del input_fields
        return ""

    def reference_fields_to_target_and_references(self, reference_fields: Fields) -> References:
        """Return no references."""
        del reference_fields
        return "", []


class KeyValTemplate(Template):
    """Fields as ``key: value`` pairs.

    ``outputs_key_val_separator`` joins keys and values of the answer, where ``use_keys_for_outputs`` shows keys.
    """

    pairs_separator: str = ", "
    key_val_separator: str = ": "
    use_keys_for_inputs: bool = True
    outputs_key_val_separator: str = ": "
    use_keys_for_outputs: bool = False

    def _pairs(self, data: Fields, separator: str, *, use_keys: bool) -> str:
        return self.process_dict(data, separator, self.pairs_separator, use_keys)

    def process_dict(self, data: Fields, key_val_sep: str, pairs_sep: str, use_keys: bool) -> str:
        """Return fields as pairs, or their values alone.

        Args:
            data: The fields.
            key_val_sep: What stands between a key and its value.
            pairs_sep: What stands between pairs.
            use_keys: Whether keys are shown.
        """
        if use_keys:
            return pairs_sep.join(f"{key}{key_val_sep}{value}" for key, value in data.items())
        return pairs_sep.join(str(value) for value in data.values())

    def input_fields_to_source(self, input_fields: Fields) -> str:
        """Return the input fields as pairs."""
        return self._pairs(input_fields, self.key_val_separator, use_keys=self.use_keys_for_inputs)

    def reference_fields_to_target_and_references(self, reference_fields: Fields) -> References:
        """Return the reference fields as pairs."""
        separator = self.outputs_key_val_separator
        target = self._pairs(reference_fields, separator, use_keys=self.use_keys_for_outputs)
        return target, [target]


class OutputQuantizingTemplate(InputOutputTemplate):
    """Numbers are rounded to multiples of ``quantum`` before they are shown."""

    quantum: float | int = 0.1
    serializer: Annotated[Serializer, NON_POSITIONAL] = Field(default_factory=MultiTypeSerializer)

    def prepare(self) -> None:
        """Let numbers pass through the quantising serialiser first."""
        super().prepare()
        if isinstance(self.serializer, MultiTypeSerializer):
            self.serializer = self.serializer.preceded_by([NumberQuantizingSerializer(quantum=self.quantum)])


class MultiLabelTemplate(InputOutputTemplate):
    """The answer is a list of labels, joined."""

    labels_field: str = "labels"
    labels_separator: str = ", "
    postprocessors: Annotated[list[Any], NON_POSITIONAL] = ["processors.to_list_by_comma"]
    output_format: str | None = "{labels}"
    empty_label: str = "None"

    def preprocess_reference_fields(self, reference_fields: Fields) -> Fields:
        """Join the labels."""
        labels = reference_fields[self.labels_field]
        if not isinstance(labels, list):
            raise TemplateError(
                f"{type(self).__name__} needs a list in '{self.labels_field}'",
                path="$.labels_field",
                why=f"it is {type(labels).__name__}: {labels!r}",
            )
        return {self.labels_field: self.labels_separator.join(labels or [self.empty_label])}


class MultiReferenceTemplate(InputOutputTemplate):
    """Every entry of ``references_field`` is an acceptable answer; demos show the first, or a random one."""

    references_field: str = "references"
    random_reference: bool = False
    serializer: Annotated[Serializer, NON_POSITIONAL] = Field(default_factory=MultiTypeSerializer)

    def serialize(self, data: Fields, instance: Fields) -> Fields:
        """Serialise references one by one."""
        return {
            key: [self.serializer.serialize(item, instance) for item in value]
            if key == self.references_field and isinstance(value, list)
            else self.serializer.serialize(value, instance)
            for key, value in data.items()
        }

    def reference_fields_to_target_and_references(self, reference_fields: Fields) -> References:
        """Return one reference to show and all to accept."""
        references = reference_fields.get(self.references_field)
        if not isinstance(references, list) or not all(isinstance(each, str) for each in references):
            raise TemplateError(
                f"{type(self).__name__} needs a list of texts in '{self.references_field}'",
                path="$.references_field",
                why=f"it is {type(references).__name__}: {references!r}",
            )
        if not references:
            return "", []
        target = random_stream(reference_fields).choice(references) if self.random_reference else references[0]
        return target, references


class MultiTurnTemplate(MultiReferenceTemplate):
    """The question is a dialog: the turns in ``turns_field`` are the prompt."""

    input_format: str = ""
    turns_field: str

    def post_process_instance(self, instance: Fields) -> Fields:
        """Keep the turns beside the words."""
        instance["__turns__"] = get_field(instance["input_fields"], self.turns_field)
        return super().post_process_instance(instance)
