"""Base classes of operators; import them from :mod:`proctor.data.operator`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Annotated, Any, ClassVar, cast

from pydantic import Field
from typing_extensions import override

from proctor.artifacts import NON_POSITIONAL, Artifact
from proctor.artifacts.deprecations import warn_deprecated
from proctor.artifacts.overriding import definer
from proctor.data.fields import Row
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
