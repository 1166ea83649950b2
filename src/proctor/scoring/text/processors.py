"""Processors: operators that turn what a model wrote into a prediction, and text functions in their place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from proctor.artifacts import Artifact, fetch_artifact
from proctor.data.fields import Row
from proctor.data.operator import InstanceFieldOperator, MultiStreamOperator, StreamOperator
from proctor.data.streams import MultiStream
from proctor.errors import ScoringError
from proctor.ir import Failure
from proctor.scoring.columns import Columns
from proctor.scoring.grading.protocols import Scope
from proctor.scoring.metric import failure_of
from proctor.scoring.named_table import NOTHING, UNITXT, Own, is_in_catalog, is_word, named
from proctor.scoring.text.how_read import alone
from proctor.scoring.text.text_functions import TextFunction, made_of, text_function_table

Converter = Callable[[Any, Row], Any]
INFERENCE_STREAM = "__INFERENCE_STREAM__"


class PostProcess(MultiStreamOperator):
    """Applies an operator on single values to predictions, and to each reference.

    Attributes:
        operator: The operator; its ``field`` plays no part.
        process_prediction: Whether predictions are processed.
        process_references: Whether references are processed.
    """

    operator: InstanceFieldOperator
    process_prediction: bool = True
    process_references: bool = True

    def converter(self) -> Converter:
        """Return the operator as a function of a value and its row."""
        return self.operator._converter()  # noqa: SLF001 - the compiled form of the operator's one rule

    def process(self, multi_stream: MultiStream) -> MultiStream:
        """Return streams with processed ``prediction`` and ``references``."""
        steps: list[StreamOperator] = []
        if self.process_prediction:
            steps.append(self.operator.model_copy(update={"field": "prediction"}))
        if self.process_references:
            update = {"field": "references", "process_every_value": True, "dont_apply_to_streams": [INFERENCE_STREAM]}
            steps.append(self.operator.model_copy(update=update))
        for step in steps:
            multi_stream = step(multi_stream)
        return multi_stream


TASK_DATA = "task_data"


def find_text_function(source: Any, own: Own, arguments: Mapping[str, Any] = NOTHING) -> TextFunction:
    """Return the text function that a name, a query, JSON or an artifact means.

    Args:
        source: As anybody writes it.
        own: The system whose names come first.

    Raises:
        ScoringError: There is none of this name, or it does not take these arguments.
        ArtifactError: The artifact cannot be made.
    """
    if isinstance(source, str):
        name, given = named(source)
        if (entry := text_function_table().find(name, own)) is not None:
            return made_of(entry, {**given, **arguments})
        if is_word(source) and not is_in_catalog(source):
            raise text_function_table().unknown(name)
    return of_processor(fetch_artifact(source, dict(arguments) or None), str(source))


def fetch_processor(source: Any) -> Artifact:
    """Return the processor that a recipe's ``postprocessors`` name; one of the table works on predictions alone.

    Raises:
        ScoringError: No catalog and no table has the name.
        ArtifactError: The artifact cannot be made.
    """
    if isinstance(source, str) and not is_in_catalog(source):
        name, given = named(source)
        if text_function_table().find(name, UNITXT) is not None:
            return PostProcess(operator=RegisteredProcessor(function=name, arguments=given), process_references=False)
        if is_word(source):
            raise text_function_table().unknown(name)
    return fetch_artifact(source)


class RegisteredProcessor(InstanceFieldOperator):
    """A text function of the table, by name: ``regex``, ``first_option_postprocess``.

    Attributes:
        function: The name, alone or with its system.
    """

    function: str
    arguments: dict[str, Any] = {}

    def prepare(self) -> None:
        """Make the function; there is none of this name, or it takes other arguments, is said now."""
        super().prepare()
        _ = self.made

    @cached_property
    def made(self) -> TextFunction:
        """The function with its arguments.

        Raises:
            ScoringError: There is none of this name, it takes other arguments, or it needs all answers at once.
        """
        entry = text_function_table().find(self.function, UNITXT)
        if entry is None:
            raise text_function_table().unknown(self.function)
        if entry.scope == "column" and entry.name != "decontaminate":
            raise ScoringError(
                f"'{entry.name}' needs the answers to all questions at once, and a processor sees one",
                hint="it works in the filter_list of a YAML task",
            )
        return made_of(entry, self.arguments)

    @property
    def scope(self) -> Scope:
        """What the function must see at once."""
        return self.made.scope

    def process_instance_value(self, value: object, instance: Mapping[str, Any]) -> Any:
        """Return what becomes of an answer; a list is that many answers to one question."""
        return self.made.of_answer(value, instance.get(TASK_DATA, instance))


def of_processor(processor: Artifact, name: str = "") -> TextFunction:
    """Return a processor as a text function of an answer and its row.

    Raises:
        ScoringError: It is not a processor, or works on references alone.
    """
    from proctor.scoring.text.processor_steps import process

    called = processor.artifact_id or name or type(processor).__name__
    if isinstance(processor, PostProcess) and not processor.process_prediction:
        raise ScoringError(
            f"the processor '{called}' works on references, and here are answers only",
            hint="put it in the postprocessors of a recipe",
        )

    def apply(answer: Any, row: Mapping[str, Any]) -> Any:
        with alone():
            found = process(Columns([answer], [[]], [row]), [processor]).predictions[0]
        if isinstance(found, Failure):
            raise ScoringError(found.message)
        return found

    return TextFunction(called, "row", _directly(processor) or apply)


def _directly(processor: Artifact) -> Callable[[Any, Mapping[str, Any]], Any] | None:
    """Return an operator on single values as a function, which is much faster than columns of one row."""
    if isinstance(processor, PostProcess):
        convert = processor.converter()
    elif isinstance(processor, InstanceFieldOperator) and processor.field is None and processor.field_to_field is None:
        convert = PostProcess(operator=processor).converter()
    else:
        return None

    def apply(answer: Any, row: Mapping[str, Any]) -> Any:
        try:
            return convert(answer, {TASK_DATA: row})
        except Exception as error:  # whatever an operator raises becomes one kind of error
            raise ScoringError(failure_of(error).message) from error

    return apply
