"""Unitxt's data classes: fields by annotation, with kinds (final, abstract, required, not positional, internal).

Programs derive helpers of their own from ``unitxt.dataclass.Dataclass``. The declarations (``Field`` and its kin) are
those that artifacts take, too; what asks for fields works on both.
"""

from __future__ import annotations

import copy
import dataclasses
import inspect
from abc import ABCMeta
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from pydantic import Field as PydanticField
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from proctor.artifacts import NON_POSITIONAL, Artifact
from proctor.errors import ValidationError, did_you_mean

_KINDS = ("final", "abstract", "internal", "init", "also_positional", "required")
_WITHOUT_EFFECT = frozenset({"name", "type", "origin_cls", "metadata"})
"""What a declaration says of itself: the annotation and the class say it."""


class Undefined:
    """The default of a field that has none."""


class DataclassError(ValidationError, TypeError):
    """Fields that are declared or given wrongly: what programs of Unitxt catch as a ``TypeError``."""


@dataclasses.dataclass(frozen=True)
class FieldView:
    """A field, as Unitxt's programs look at it.

    Attributes:
        default, default_factory: Its default, or what makes it.
        name, type: Its name and annotation.
        final, abstract, required, internal, init, also_positional: Its kind.
        origin_cls: The qualified name of the class that declares it.
    """

    name: str
    type: Any
    default: Any = Undefined
    default_factory: Callable[[], Any] | None = None
    final: bool = False
    abstract: bool = False
    required: bool = False
    internal: bool = False
    init: bool = True
    also_positional: bool = True
    origin_cls: str = ""

    def get_default(self) -> Any:
        """Return the default."""
        return self.default_factory() if self.default_factory is not None else self.default


# -- declarations -------------------------------------------------------------------------------------------------


def Field(  # noqa: N802 - the name that programs import
    default: Any = Undefined, default_factory: Callable[[], Any] | None = None, **others: Any
) -> Any:
    """Return the declaration of a field: a default, or a function that makes one; with ``required``, neither counts.

    Raises:
        TypeError: A keyword that no declaration has.
    """
    for name in others.keys() - {*_KINDS, *_WITHOUT_EFFECT}:
        hint = did_you_mean(name, {*_KINDS, "default", "default_factory"})
        raise TypeError(f"the declaration of a field has no '{name}'{'; ' * bool(hint)}{hint}")
    kinds = {name: value for name, value in others.items() if name in _KINDS}
    if kinds.get("required"):
        default, default_factory = Undefined, None
    given = {} if default is Undefined else {"default": default}
    if default_factory is not None:
        given = {"default_factory": default_factory}
    declared = PydanticField(**given, json_schema_extra={"unitxt": kinds})
    if kinds.get("also_positional") is False:
        declared.metadata.append(NON_POSITIONAL)
    return declared


def FinalField(default: Any = Undefined, **others: Any) -> Any:  # noqa: N802
    """Return the declaration of a field that no subclass may declare again."""
    return Field(default, **{**others, "final": True})


def RequiredField(default: Any = Undefined, **others: Any) -> Any:  # noqa: N802
    """Return the declaration of a field that has to be given."""
    return Field(default, **{**others, "required": True})


def OptionalField(default: Any = Undefined, **others: Any) -> Any:  # noqa: N802
    """Return the declaration of a field with a default.

    Raises:
        DataclassError: It has none.
    """
    if default is Undefined and others.get("default_factory") is None:
        raise DataclassError("an optional field has no default", hint="give 'default' or 'default_factory'")
    return Field(default, **others)


def AbstractField(default: Any = Undefined, **others: Any) -> Any:  # noqa: N802
    """Return the declaration of a field that a subclass has to declare before there can be objects."""
    return Field(default, **{**others, "abstract": True})


def NonPositionalField(default: Any = Undefined, **others: Any) -> Any:  # noqa: N802
    """Return the declaration of a field that is given by name only."""
    return Field(default, **{**others, "also_positional": False})


def InternalField(default: Any = Undefined, **others: Any) -> Any:  # noqa: N802
    """Return the declaration of a field that is not given at all."""
    return Field(default, **{**others, "internal": True, "init": False, "also_positional": False})


# -- classes ------------------------------------------------------------------------------------------------------


def _view(name: str, annotation: Any, declared: Any, origin: str) -> FieldView:
    """Return a field of what its class says of it: a declaration, a field of Python's data classes, or a default."""
    if isinstance(declared, FieldInfo):
        extra = declared.json_schema_extra
        kinds: Any = extra.get("unitxt", {}) if isinstance(extra, dict) else {}
        default = Undefined if declared.default is PydanticUndefined else declared.default
        factory: Any = declared.default_factory
        return FieldView(name, annotation, default, factory, origin_cls=origin, **kinds)
    if isinstance(declared, dataclasses.Field):
        made = None if declared.default_factory is dataclasses.MISSING else declared.default_factory
        return FieldView(name, annotation, declared.default, made, init=declared.init, origin_cls=origin)
    if declared is dataclasses.MISSING:
        return FieldView(name, annotation, required=True, origin_cls=origin)
    return FieldView(name, annotation, declared, origin_cls=origin)


def _declared(cls: type, namespace: Mapping[str, Any], inherited: Mapping[str, FieldView]) -> dict[str, Any]:
    """Return the annotations of a class, and those of inherited fields that it gives another default."""
    annotations = dict(inspect.get_annotations(cls))
    for name, value in namespace.items():
        if name in inherited and name not in annotations and not callable(value):
            annotations[name] = inherited[name].type
    return {name: kind for name, kind in annotations.items() if not _is_of_class(kind)}


def _is_of_class(annotation: Any) -> bool:
    return "ClassVar" in str(annotation)


def _collected(cls: type, namespace: Mapping[str, Any]) -> dict[str, FieldView]:
    found: dict[str, FieldView] = {}
    for base in cls.__bases__:
        found = {**getattr(base, "__fields__", {}), **found}
    for name, annotation in _declared(cls, namespace, found).items():
        if name in found and found[name].final:
            raise DataclassError(
                f"{cls.__name__} declares the field '{name}' again",
                why=f"{found[name].origin_cls} says that it is final",
            )
        found[name] = _view(name, annotation, namespace.get(name, dataclasses.MISSING), cls.__qualname__)
    return found


class DataclassMeta(ABCMeta):
    """Collects the fields of a class when it is made."""

    def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> None:
        super().__init__(name, bases, namespace)
        cls.__fields__ = _collected(cls, namespace)


class Dataclass(metaclass=DataclassMeta):
    """An object with declared fields, given by position or by name.

    Attributes:
        __allow_unexpected_arguments__: Keep what no field takes in ``_argv`` and ``_kwargs``, and refuse nothing.
    """

    __allow_unexpected_arguments__: ClassVar[bool] = False
    __fields__: ClassVar[dict[str, FieldView]]

    def __init__(self, *argv: Any, **kwargs: Any) -> None:
        given, beyond, unknown = self._sorted_out(argv, kwargs)
        self._check(given)
        self.__pre_init__(**given)
        for name, field in self.__fields__.items():
            setattr(self, name, given[name] if name in given else field.get_default())
        if self.__allow_unexpected_arguments__:
            self._argv, self._kwargs = beyond, unknown
        self.__post_init__()

    def _sorted_out(
        self, argv: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[dict[str, Any], tuple[Any, ...], dict[str, Any]]:
        """Return the values of fields, and what no field takes, by position and by name."""
        positional = [name for name, field in self.__fields__.items() if field.init and field.also_positional]
        known = {name for name, field in self.__fields__.items() if field.init}
        twice = [name for name in positional[: len(argv)] if name in kwargs]
        if twice:
            raise DataclassError(f"{type(self).__name__} got '{twice[0]}' by position and by name")
        beyond = (*argv[len(positional) :], *kwargs.pop("_argv", ()))
        unknown = {name: value for name, value in kwargs.items() if name not in known and name != "_kwargs"}
        unknown |= kwargs.pop("_kwargs", {})
        if not self.__allow_unexpected_arguments__ and (beyond or unknown):
            what = f"no field for {[*beyond, *unknown]}"
            raise DataclassError(f"{type(self).__name__} has {what}", why=f"its fields are {', '.join(sorted(known))}")
        given = {
            **{name: value for name, value in kwargs.items() if name in known},
            **dict(zip(positional, argv, strict=False)),
        }
        return given, beyond, unknown

    def _check(self, given: Mapping[str, Any]) -> None:
        for name, field in self.__fields__.items():
            if field.abstract:
                raise DataclassError(
                    f"{type(self).__name__} does not declare '{name}'",
                    why=f"{field.origin_cls} says that it is abstract",
                )
            if field.required and name not in given:
                raise DataclassError(f"{type(self).__name__} needs '{name}'")

    def __pre_init__(self, **kwargs: Any) -> None:
        """What a subclass does before its fields are set."""

    def __post_init__(self) -> None:
        """What a subclass does once its fields are set."""

    @property
    def __is_dataclass__(self) -> bool:
        return True

    def _to_raw_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__fields__}

    def to_dict(self, classes: Sequence[type] | None = None, keep_empty: bool = True) -> dict[str, Any]:
        """Return the fields' values, copied.

        Args:
            classes: Only the fields that these classes declare, as they are.
            keep_empty: Return those that are ``None``, too.
        """
        if classes:
            found = {name: getattr(self, name) for cls in classes for name in cls.__annotations__}
        else:
            found = _plain(self._to_raw_dict())
        return {name: value for name, value in found.items() if keep_empty or value is not None}

    def get_repr_dict(self) -> dict[str, Any]:
        """Return the values that say what the object is."""
        return {name: getattr(self, name) for name, field in self.__fields__.items() if not field.internal}

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.get_repr_dict().items())})"
        )


# -- questions about fields ---------------------------------------------------------------------------------------


def is_dataclass(obj: Any) -> bool:
    """Whether something is a data class or an artifact, or one of their objects."""
    cls = obj if isinstance(obj, type) else type(obj)
    return issubclass(cls, (Dataclass, Artifact))


def fields(cls: Any) -> list[FieldView]:
    """Return the fields of a class or an object."""
    found: Any = cls if isinstance(cls, type) else type(cls)
    if issubclass(found, Artifact):
        return [_view(name, info.annotation, info, found.__qualname__) for name, info in found.model_fields.items()]
    return list(found.__fields__.values())


def fields_names(cls: Any) -> list[str]:
    """Return the names of the fields."""
    return [field.name for field in fields(cls)]


def asdict(obj: Any) -> Any:
    """Return an object, and all that it holds, as plain data.

    Raises:
        AssertionError: It is not of a data class.
    """
    if not is_dataclass(obj):
        raise AssertionError(f"{obj} is not of a data class; its type is {type(obj)}")
    return _plain(obj)


def _plain(obj: Any) -> Any:
    if is_dataclass(obj) and not isinstance(obj, type):
        return obj.to_dict()
    return _mapped(obj, _plain, copy.deepcopy)


def _mapped(obj: Any, inner: Callable[[Any], Any], leaf: Callable[[Any], Any]) -> Any:
    if isinstance(obj, tuple) and hasattr(obj, "_fields"):
        return type(obj)(*map(inner, obj))
    if isinstance(obj, (list, tuple)):
        return type(obj)(map(inner, obj))
    if isinstance(obj, dict):
        return type(obj)({inner(key): inner(value) for key, value in obj.items()})
    return leaf(obj)
