"""Operators: steps that turn streams into streams.

===========================  ==============================  =======================================================
base class                   override                        for
===========================  ==============================  =======================================================
``FieldOperator``            ``process_value(value)``        one field's value (``process(value)`` works as well)
``InstanceFieldOperator``    ``process_instance_value``      one field's value, seeing the whole row
``InstanceOperator``         ``process(instance, name)``     a row
``PagedStreamOperator``      ``process(page, name)``         a thousand rows at a time
``StreamOperator``           ``process(stream, name)``       the rows of one stream, as a generator
``MultiStreamOperator``      ``process(multi_stream)``       all streams
``SourceOperator``           ``process()``                   making streams from nothing
===========================  ==============================  =======================================================

Consecutive instance operators run in one loop: :meth:`InstanceOperator.bind` returns a plain function for a stream,
and a :class:`MappedStream` applies such functions to each row. Built-in operators override
:meth:`InstanceOperator.compile` to prepare what they can once; overriding ``process`` in a subclass always wins.
Built-in operators never change a value inside a row; rows given to foreign code are copied first, so that it may.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from inspect import Parameter, signature
from typing import Annotated, Any, ClassVar, cast

from pydantic import Field
from typing_extensions import override

from proctor.artifacts import NON_POSITIONAL, Artifact
from proctor.artifacts.deprecations import warn_deprecated
from proctor.artifacts.overriding import definer
from proctor.data.fields import MISSING, Row, finder, missing_field, setter
from proctor.data.policy import check_policy, policy_of
from proctor.data.row_failures import filed
from proctor.data.streams import INSTANCE_STREAM, GeneratorStream, ListStream, MultiStream, Stream
from proctor.errors import ArtifactError, DataError, ProctorError, ValidationError
from proctor.settings import settings

Step = Callable[[Row], Row]

_SHOWN = 100  # characters of an operator in a message, which says more after it


class Operator(Artifact):
    """Anything that works on data, and may be limited to data of some classes."""

    data_classification_policy: Annotated[list[str] | None, NON_POSITIONAL] = None

    def label(self) -> str:
        """Return the operator's name in messages."""
        text = repr(self)
        return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."

    def verify_instance(self, instance: Row, name: str | None = None) -> Row:
        """Return the row if this operator may see it.

        Raises:
            PolicyError: It may not.
        """
        check_policy(policy_of(self, name), instance, name or self.artifact_id or type(self).__name__)
        return instance

    @property
    def _looks_at_each(self) -> bool:
        """Whether :meth:`verify_instance` has something to say about rows: there is a policy, or an override."""
        return bool(policy_of(self)) or type(self).verify_instance is not Operator.verify_instance


class StreamingOperator(Operator):
    """An operator on streams.

    Attributes:
        requirements: Packages that the same operator needs elsewhere, kept for files that say so; what is needed here
            is said when it is missing.
    """

    reads_recipe: ClassVar[bool] = False
    """Whether it matters what rows say of their recipe's format and system prompt."""

    requirements: Annotated[list[str] | dict[str, str], NON_POSITIONAL] = Field(default_factory=list)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ARG002 - for those who override it
        """Return the new streams."""
        raise ArtifactError(f"{type(self).__name__} does not define what it does", hint="override __call__")


class SideEffectOperator(StreamingOperator):
    """An operator that leaves the streams as they are; override ``process()``."""

    @override
    def __call__(self, streams: MultiStream | None = None) -> MultiStream:
        self.process()
        return MultiStream() if streams is None else streams

    def process(self) -> None:
        """Do it."""
        raise undefined(self, "process()")


class MultiStreamOperator(StreamingOperator):
    """An operator on all streams at once; override ``process(multi_stream)``."""

    caching: Annotated[bool | None, NON_POSITIONAL] = None

    @override
    def __call__(self, multi_stream: MultiStream | None = None) -> MultiStream:
        result = self.process(MultiStream() if multi_stream is None else multi_stream)
        if not isinstance(result, MultiStream):
            raise DataError(f"{self.label()} returned a {type(result).__name__}", why="a MultiStream is expected")
        return result

    def process(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ARG002 - for those who override it
        """Return the new streams: ``process(multi_stream)``; each kind of operator has its own arguments."""
        raise undefined(self, "process(multi_stream)")

    def process_instance(self, instance: Row, stream_name: str = INSTANCE_STREAM) -> Any:
        """Return what becomes of one row: a row, ``None``, or a list of rows. For debugging."""
        return _single(self(MultiStream({stream_name: ListStream([instance])}))[stream_name])


class SourceOperator(MultiStreamOperator):
    """An operator that makes streams; override ``process()``."""

    @override
    def __call__(self, multi_stream: MultiStream | None = None) -> MultiStream:
        del multi_stream
        return self.process()

    def process(self) -> MultiStream:
        """Return the streams."""
        raise undefined(self, "process()")

    def get_splits(self) -> list[str]:
        """Return the names of the streams."""
        return list(self.process())


class StreamOperator(MultiStreamOperator):
    """An operator on single streams; override ``process(stream, stream_name)`` as a generator.

    Attributes:
        apply_to_streams: The streams to work on; all where it is ``None``.
        dont_apply_to_streams: Streams to leave alone.
    """

    apply_to_streams: Annotated[list[str] | None, NON_POSITIONAL] = None
    dont_apply_to_streams: Annotated[list[str] | None, NON_POSITIONAL] = None

    @override
    def __call__(self, multi_stream: MultiStream | None = None) -> MultiStream:
        streams = MultiStream() if multi_stream is None else multi_stream
        return MultiStream({name: self._derive(stream, name) for name, stream in streams.items()})

    def applies_to(self, stream_name: str) -> bool:
        """Whether this operator works on a stream.

        Raises:
            ValidationError: The stream is named both as one to work on and as one to leave alone.
        """
        wanted, unwanted = self.apply_to_streams, self.dont_apply_to_streams
        if wanted and unwanted and stream_name in wanted and stream_name in unwanted:
            raise ValidationError(f"{self.label()} both applies and does not apply to the stream '{stream_name}'")
        return (wanted is None or stream_name in wanted) and (unwanted is None or stream_name not in unwanted)

    @override
    def process(self, *args: Any, **kwargs: Any) -> Any:
        """Yield the new rows: ``process(stream, stream_name)``."""
        raise undefined(self, "process(stream, stream_name)")

    def process_instance(self, instance: Row, stream_name: str = INSTANCE_STREAM) -> Any:
        """Return what becomes of one row: a row, ``None``, or a list of rows. For debugging."""
        return _single(self._generate(ListStream([instance]), stream_name))

    def _derive(self, stream: Stream, stream_name: str) -> Stream:
        if not self.applies_to(stream_name):
            return stream
        return _settled(GeneratorStream(self._generate, {"stream": stream, "stream_name": stream_name}))

    def _generate(self, stream: Stream, stream_name: str | None) -> Iterator[Row]:
        if self._looks_at_each:
            stream = self._guarded(stream)
        rows = iter(self.process(_isolated(self, stream), stream_name))
        while True:
            try:
                row = next(rows)
            except StopIteration:
                return
            except ProctorError:
                raise
            except Exception as error:  # whatever an operator meets in data, the message must say which and where
                raise _failure(self, stream_name or "", error) from error
            yield row

    def _guarded(self, stream: Stream) -> Stream:
        if isinstance(stream, list):
            return cast("Stream", [self.verify_instance(row) for row in stream])
        return GeneratorStream(lambda: map(self.verify_instance, stream))


SingleStreamOperator = StreamOperator


class PagedStreamOperator(StreamOperator):
    """An operator on pages of a stream; override ``process(page, stream_name)`` as a generator.

    Attributes:
        page_size: The number of rows in a page; the last page may be shorter.
    """

    page_size: int = Field(default=1000, gt=0)

    def _generate(self, stream: Stream, stream_name: str | None) -> Iterator[Row]:
        page: list[Row] = []
        copying = _is_foreign(self)
        for row in stream:
            page.append(container_copy(row) if copying else row)
            if len(page) >= self.page_size:
                yield from super()._generate(cast("Stream", page), stream_name)
                page = []
        if page:
            yield from super()._generate(cast("Stream", page), stream_name)

    @override
    def process(self, *args: Any, **kwargs: Any) -> Any:
        """Yield the new rows of a page: ``process(page, stream_name)``."""
        raise undefined(self, "process(page, stream_name)")


class InstanceOperator(StreamOperator):
    """An operator on rows; override ``process(instance, stream_name)``."""

    @override
    def verify(self) -> None:
        super().verify()
        if getattr(self, "use_query", None) is not None:
            warn_deprecated(
                "Field 'use_query' is deprecated. From now on, default behavior is compatible to use_query=True. "
                "Please remove this field from your code."
            )

    def process(self, instance: Row, stream_name: str | None = None) -> Row:
        """Return the new row; the row given may be changed and returned."""
        return self.compile(stream_name)(instance)

    def compile(self, stream_name: str | None) -> Step:
        """Return :meth:`process` for one stream as a function, with all that can be prepared prepared."""
        if type(self).process is InstanceOperator.process:
            raise undefined(self, "process(instance, stream_name)")
        return lambda row: self.process(row, stream_name)

    def bind(self, stream_name: str | None = None) -> Step:
        """Return the function to apply to each row of a stream; later changes to the operator do not reach it."""
        step: Step = self.compile(stream_name) if self._is_compiled() else lambda row: self.process(row, stream_name)
        if _is_foreign(self):
            own = step
            step = lambda row: own(container_copy(row))  # noqa: E731 - foreign code may change values in place
        if type(self).verify_instance is not Operator.verify_instance:
            return lambda row: step(self.verify_instance(row))
        if policy := policy_of(self):
            return _guarded(step, policy, self.artifact_id or type(self).__name__)
        return step

    def _is_compiled(self) -> bool:
        """Whether ``compile`` says what the operator does, and no descendant of its class overrides ``process``."""
        process, compiled = definer(type(self), "process"), definer(type(self), "compile")
        return process is compiled or not issubclass(process, compiled)

    def process_instance(self, instance: Row, stream_name: str = INSTANCE_STREAM) -> Row:
        """Return the new row for one row. For debugging."""
        return run_steps(dict(instance), [(self, self.bind(stream_name))], stream_name, None)

    def _derive(self, stream: Stream, stream_name: str) -> Stream:
        if not self.applies_to(stream_name):
            return stream
        if isinstance(stream, MappedStream) and stream.stream_name == stream_name:
            return _settled(MappedStream(stream.source, [*stream.operators, self], stream_name))
        return _settled(MappedStream(stream, [self], stream_name))


# -- running --------------------------------------------------------------------------------------------------


class MappedStream(Stream):
    """A stream whose rows go through instance operators, in one loop."""

    def __init__(self, source: Stream, operators: list[InstanceOperator], stream_name: str) -> None:
        self.source = source
        self.operators = operators
        self.stream_name = stream_name

    def __iter__(self) -> Iterator[Row]:
        steps = [(operator, operator.bind(self.stream_name)) for operator in self.operators]
        for index, row in enumerate(self.source):
            try:
                made = run_steps(dict(row), steps, self.stream_name, index)
            except ProctorError as error:
                if filed(error):
                    continue
                raise
            yield made


def run_steps(row: Row, steps: list[tuple[InstanceOperator, Step]], stream_name: str, index: int | None) -> Row:
    """Return a row after all steps.

    Raises:
        DataError: A step failed; the message names the step, the stream and the row (counted from 0).
    """
    operator: InstanceOperator | None = None
    try:
        for operator, step in steps:  # noqa: B007 - the error names it
            row = step(row)
    except Exception as error:  # whatever an operator meets in data, the message must say which and where
        place = stream_name if index is None else f"{stream_name}[{index}]"
        raise _failure(cast("InstanceOperator", operator), place, error) from error
    return row


def _failure(operator: Operator, place: str, error: Exception) -> ProctorError:
    path = f"{place} in {operator.label()}"
    if isinstance(error, ProctorError):
        return error.located(path=path)
    return DataError(f"{type(operator).__name__} failed", path=path, why=f"{type(error).__name__}: {error}")


def writing(path: str, compute: Callable[[Row], Any]) -> Step:
    """Return the step that writes what is computed of a row to a path of it."""
    write = setter(path)

    def step(row: Row) -> Row:
        write(row, compute(row))
        return row

    return step


def container_copy(value: Any) -> Any:
    """Return a value whose dicts and lists are new, and everything else is shared."""
    if type(value) is dict:
        return {key: container_copy(item) for key, item in value.items()}
    if type(value) is list:
        return [container_copy(item) for item in value]
    return value


def _guarded(step: Step, policy: list[str], name: str) -> Step:
    def guarded(row: Row) -> Row:
        check_policy(policy, row, name)
        return step(row)

    return guarded


def _settled(stream: Stream) -> Stream:
    return ListStream(list(stream)) if settings.use_eager_execution else stream


def _is_foreign(operator: Operator) -> bool:
    return not type(operator).__module__.startswith("proctor.")


def _isolated(operator: Operator, stream: Stream) -> Any:
    if isinstance(stream, list) or not _is_foreign(operator):
        return stream
    return GeneratorStream(lambda: map(container_copy, stream))


def _single(stream: Iterable[Row]) -> Any:
    rows = list(stream)
    if len(rows) > 1:
        return rows
    return rows[0] if rows else None


def undefined(operator: Operator, method: str) -> ArtifactError:
    """Return the error for an operator whose class does not say what it does."""
    return ArtifactError(f"{type(operator).__name__} does not define what it does", hint=f"override {method}")


class InstanceFieldOperator(InstanceOperator):
    """An operator on fields that sees the whole row; override ``process_instance_value(value, instance)``.

    Attributes:
        field: The field to read.
        to_field: The field to write; ``field`` itself where it is ``None``.
        field_to_field: Several fields to read, each with the field to write; instead of the two above.
        process_every_value: The field is a list, and each of its members is processed.
        set_every_value: Write one member of the result to each match of ``*`` in ``to_field``.
        not_exist_ok: Where there is no such field, process ``get_default`` in its place.
        not_exist_do_nothing: Where there is no such field, leave the row as it is.
    """

    field: str | None = None
    to_field: str | None = None
    field_to_field: list[list[str] | tuple[str, str]] | dict[str, str] | None = None
    use_query: bool | None = None
    process_every_value: bool = False
    set_every_value: Annotated[bool, NON_POSITIONAL] = False
    get_default: Any = None
    not_exist_ok: bool = False
    not_exist_do_nothing: bool = False

    def _filled_in(self, fields: dict[str, Any]) -> None:
        if isinstance(fields.get("field"), (list, dict)):  # pairs that a program gives first
            fields["field_to_field"] = fields.pop("field")
        super()._filled_in(fields)

    def field_pairs(self) -> list[tuple[str, str]]:
        """Return the fields to read, each with the field to write.

        Raises:
            ValidationError: No field or too many are named, or the result would depend on an order nobody gave.
        """
        if (self.field is None) == (self.field_to_field is None):
            raise ValidationError(f"{self.label()} needs either 'field' or 'field_to_field'")
        if self.field is not None:
            return [(self.field, self.field if self.to_field is None else self.to_field)]
        if self.to_field is not None:
            raise ValidationError(f"{self.label()} has both 'to_field' and 'field_to_field'")
        if not self.field_to_field:
            raise ValidationError(f"{self.label()} names no field", why="'field_to_field' is empty")
        if isinstance(self.field_to_field, dict):
            self._check_order(self.field_to_field)
            return list(self.field_to_field.items())
        if any(len(pair) != len(("from", "to")) for pair in self.field_to_field):
            raise ValidationError(f"{self.label()} needs pairs in 'field_to_field'")
        return [(pair[0], pair[1]) for pair in self.field_to_field]

    def _check_order(self, mapping: dict[str, str]) -> None:
        targets = list(mapping.values())
        for source, target in mapping.items():
            if targets.count(target) > 1 or (target != source and target in mapping):
                raise ValidationError(
                    f"{self.label()} depends on the order of its fields",
                    why=f"'{target}' is written and also read, or written twice",
                    hint="give 'field_to_field' as a list of pairs",
                )

    def process_instance_value(self, value: Any, instance: Row) -> Any:  # noqa: ARG002 - for those who override it
        """Return the new value of a field."""
        raise undefined(self, "process_instance_value(value, instance)")

    @override
    def compile(self, stream_name: str | None) -> Step:
        del stream_name
        pairs = [(path, finder(path), setter(to, each=self.set_every_value)) for path, to in self.field_pairs()]
        convert = self._converter()
        skip, default = self.not_exist_do_nothing, self.get_default
        required = not (skip or self.not_exist_ok)

        def step(row: Row) -> Row:
            for path, find, write in pairs:
                value = find(row)
                if value is MISSING:
                    if required:
                        raise missing_field(path, row)
                    if skip:
                        continue
                    value = default
                write(row, convert(value, row))
            return row

        return step

    def _converter(self) -> Callable[[Any, Row], Any]:
        convert = self.process_instance_value
        if self.process_every_value:
            return lambda value, row: [convert(each, row) for each in value]
        return convert

    def process_one(self, value: Any) -> Any:
        """Process a single value, outside of any row."""
        return self._converter()(value, {})


class FieldOperator(InstanceFieldOperator):
    """An operator on the values of fields; override ``process_value(value)``, or ``process(value)``."""

    _takes_value: ClassVar[bool] = False

    def process_value(self, value: Any) -> Any:
        """Return the new value of a field."""
        if self._takes_value:
            return cast("Any", self.process)(value)
        if type(self).process_value is not FieldOperator.process_value:
            return None  # somebody's own calls this one first
        raise undefined(self, "process_value(value)")

    @override
    def process_instance_value(self, value: Any, instance: Row) -> Any:
        del instance
        return self.process_value(value)

    def _converter(self) -> Callable[[Any, Row], Any]:
        if type(self).process_instance_value is not FieldOperator.process_instance_value:
            return super()._converter()
        convert = self.process_value
        if self.process_every_value:
            return lambda value, _: [convert(each) for each in value]
        return lambda value, _: convert(value)

    @override
    def _is_compiled(self) -> bool:
        return self._takes_value or super()._is_compiled()

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        super().__pydantic_init_subclass__(**kwargs)
        if "process" in vars(cls):
            cls._takes_value = _takes_one_argument(vars(cls)["process"])


def _takes_one_argument(function: Callable[..., Any]) -> bool:
    parameters = list(signature(function).parameters.values())[1:]
    return (
        len(parameters) == 1 and parameters[0].kind is not Parameter.VAR_POSITIONAL and parameters[0].name != "instance"
    )


class SequentialMixin(Artifact):
    """Steps, one after the other.

    Attributes:
        steps: The operators.
        max_steps: Stop after so many.
    """

    max_steps: int | None = None
    steps: list[StreamingOperator] = Field(default_factory=list)

    def num_steps(self) -> int:
        """Return the number of steps."""
        return len(self.steps)

    def active_steps(self) -> list[StreamingOperator]:
        """Return the steps that run."""
        return self.steps[: self.max_steps]


class SequentialOperator(SequentialMixin, MultiStreamOperator):
    """Operators, one after the other; instance operators that follow each other run in one loop."""

    @override
    def process(self, multi_stream: MultiStream) -> MultiStream:
        for operator in self.active_steps():
            multi_stream = operator(multi_stream)
        return multi_stream


class SourceSequentialOperator(SequentialMixin, SourceOperator):
    """Operators, one after the other; the first one makes the streams."""

    @override
    def process(self) -> MultiStream:
        steps = self.active_steps()
        if not steps:
            raise ValidationError(f"{self.label()} has no steps")
        streams: MultiStream = steps[0]()
        for operator in steps[1:]:
            streams = operator(streams)
        return streams
