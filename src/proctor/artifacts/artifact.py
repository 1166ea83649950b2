"""Artifact: everything that can be configured, named, saved, loaded and overwritten.

An artifact is a pydantic model with a few habits of its own:

* subclasses may override a field without repeating its type (``main_score = "f1"``);
* a field of an artifact type takes an artifact, a catalog name, a query, or a dict with ``__type__``;
* it is validated when built and when assigned to, and all problems are reported at once, each with its path;
* :meth:`Artifact.to_dict` emits what was given, so files stay small and defaults may improve.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from functools import cache
from inspect import isabstract
from types import BuiltinFunctionType, FunctionType
from typing import TYPE_CHECKING, Any, ClassVar, Self, get_origin

from pydantic import (
    BaseModel,
    ConfigDict,
    GetCoreSchemaHandler,
    SerializationInfo,
    SerializerFunctionWrapHandler,
    model_serializer,
)
from pydantic import ValidationError as PydanticValidationError
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from proctor.artifacts.artifact_class import META, ArtifactMeta, MetaField, Overridable
from proctor.artifacts.deprecations import log_deprecation, warn_deprecated
from proctor.artifacts.registry import registry
from proctor.artifacts.requirements import check_requirements
from proctor.artifacts.validation_errors import validation_error
from proctor.effects import Author, Effect, require, written_by
from proctor.effects import author as current_author
from proctor.errors import Location, ProctorError, ValidationError, did_you_mean
from proctor.safe_files import write_text

NON_POSITIONAL = "non-positional"
"""Marks a field that cannot be given by position: ``x: Annotated[int, NON_POSITIONAL] = 0``."""

_being_completed: set[type] = set()


class Artifact(BaseModel, metaclass=ArtifactMeta):
    """Base of all that is configured. Subclass it like a dataclass: annotate fields, give defaults.

    Override :meth:`prepare` to derive state when an artifact is built, :meth:`verify` to check fields against each
    other. ``__description__``, ``__tags__``, ``__title__`` and ``__deprecated_msg__`` may be given to every artifact.
    """

    model_config = ConfigDict(
        arbitrary_types_allowed=True,
        extra="forbid",
        validate_assignment=True,
        defer_build=True,  # most classes of a module are imported beside the one that is used
        validate_default=False,
        protected_namespaces=(),
        coerce_numbers_to_str=True,
        ignored_types=(FunctionType, Overridable),
    )

    _requirements_list: ClassVar[Any] = ()
    # Defaults of instance attributes. Private attributes of pydantic would cost a call per ancestor and instance.
    _artifact_id: ClassVar[str | None] = None
    _description: ClassVar[str | None] = None
    _tags: ClassVar[dict[str, Any] | None] = None
    _title: ClassVar[str | None] = None
    _deprecated_message: ClassVar[str | None] = None
    _location: ClassVar[Location | None] = None
    _author: ClassVar[Author | None] = None
    _tells_deprecation: ClassVar[bool] = True
    _preparing: ClassVar[bool] = False
    _is_now: ClassVar[str] = ""
    _given: ClassVar[tuple[str, ...]] = ()
    __id__: ClassVar[Any] = MetaField("_artifact_id")
    __description__: ClassVar[Any] = MetaField("_description")
    __tags__: ClassVar[Any] = MetaField("_tags")
    __title__: ClassVar[Any] = MetaField("_title")
    __deprecated_msg__: ClassVar[Any] = MetaField("_deprecated_message")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        meta = {META[key]: kwargs.pop(key) for key in list(kwargs) if key in META}
        if args:
            kwargs.update(self._by_position(args, kwargs))
        if not kwargs and _is_made_of_defaults(type(self)) and not (type(self) is Artifact and "_artifact_id" in meta):
            self._take_defaults()
        else:
            self._filled_in(kwargs)
        object.__setattr__(self, "_given", tuple(kwargs))
        for attribute, value in meta.items():
            object.__setattr__(self, attribute, value)
        if self._deprecated_message and self._tells_deprecation:
            log_deprecation(self._deprecated_message)
        elif self._deprecated_message:
            warn_deprecated(self._deprecated_message)
        elif (name := vars(type(self)).get("_is_now")) is not None:
            warn_deprecated(f"{type(self).__name__} is called {name} now")

    def _take_defaults(self) -> None:
        values = {
            name: each.get_default() if each.default_factory is None else each.default_factory()  # type: ignore[call-arg]
            for name, each in type(self).model_fields.items()
        }  # get_default looks at a factory's signature each time
        state: dict[str, Any] = {"__dict__": values, "__pydantic_fields_set__": set()}
        for attribute, value in {**state, "__pydantic_private__": None, "__pydantic_extra__": None}.items():
            object.__setattr__(self, attribute, value)
        self.model_post_init(None)

    def _filled_in(self, fields: dict[str, Any]) -> None:
        try:
            super().__init__(**fields)
        except PydanticValidationError as error:
            raise validation_error(type(self), error) from None

    def model_post_init(self, context: object, /) -> None:
        """Check requirements, then run :meth:`prepare` and :meth:`verify`."""
        super().model_post_init(context)
        check_requirements(type(self))
        if (author := current_author()) is not None:
            object.__setattr__(self, "_author", author)
        object.__setattr__(self, "_preparing", True)
        self.prepare()
        object.__setattr__(self, "_preparing", False)
        self.verify()

    def prepare(self) -> None:
        """Derive state from fields; attributes that are not fields may be set here."""

    def verify(self) -> None:
        """Check fields against each other; raise a :class:`ProctorError` where they do not fit."""

    # -- identity ---------------------------------------------------------------------------------------------

    @property
    def artifact_id(self) -> str | None:
        """The catalog name or query that this artifact was fetched by; ``None`` if built or changed in code."""
        return self._artifact_id

    @Overridable
    def description(self) -> str | None:
        """The ``__description__``."""
        return self._description

    @property
    def tags(self) -> dict[str, Any]:
        """The ``__tags__``."""
        return self._tags or {}

    @property
    def location(self) -> Location | None:
        """The file that this artifact was read from."""
        return self._location

    @property
    def author(self) -> Author | None:
        """The author, where it was read from a file, a catalog or a query; ``None`` where a program built it."""
        return self._author

    def effects(self) -> Iterable[Effect]:
        """Return its effects: files it reads or writes, servers it asks, keys it sends.

        Override this where :meth:`prepare` or the work itself touches something, and call :meth:`act` before it does.
        """
        return ()

    def act(self) -> None:
        """Pass the gate: called directly before the :meth:`effects` happen.

        Raises:
            NotAllowedError: The artifact was not built by the user's program, and nobody allowed one of them.
        """
        if self._author is not None:
            require(self.effects(), self._author)

    def fetched(self, source: Any) -> Artifact:
        """Return the artifact that a field or a row names, on behalf of whoever wrote this one.

        Raises:
            ArtifactError: As :func:`proctor.artifacts.fetch_artifact`.
            NotAllowedError: It is a file outside the folders in which the author may read.
        """
        from proctor.artifacts.fetch import fetch_artifact

        if self._author is None:
            return fetch_artifact(source)
        with written_by(self._author):
            return fetch_artifact(source)

    @classmethod
    def type_name(cls) -> str:
        """Return the ``__type__`` of this class."""
        return registry.name_of(cls)

    def get_pretty_print_name(self) -> str:
        """Return its name in a catalog, where it has one, else the name of its class."""
        return self._artifact_id or type(self).__name__

    if not TYPE_CHECKING:  # a name of Unitxt's: serializers and templates have it for what they do with values

        def serialize(self) -> str:
            """Return its name in a catalog, where it has one, else :meth:`to_json`."""
            return self._artifact_id or self.to_json()

    def get_repr_dict(self) -> dict[str, Any]:
        """Return all fields with their values, as they are."""
        return {name: getattr(self, name) for name in type(self).model_fields}

    # -- files ------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return ``__type__`` and what was given, in its order, as JSON-like data; fetched parts appear by name."""
        body: dict[str, Any] = {"__type__": self.type_name()}
        for key, attribute in META.items():
            if key != "__id__" and (value := getattr(self, attribute)) is not None:
                body[key] = value
        for name in dict.fromkeys((*self._given, *type(self).model_fields)):
            if name in self.model_fields_set:
                body[name] = to_data(getattr(self, name))
        return body

    @model_serializer(mode="wrap")
    def _dumped(self, plain: SerializerFunctionWrapHandler, info: SerializationInfo) -> Any:
        return self.to_dict() if info.mode == "json" else plain(self)  # fields may hold classes and functions

    def to_json(self) -> str:
        """Return :meth:`to_dict` as indented JSON."""
        return json.dumps(self.to_dict(), indent=4, ensure_ascii=False)

    def to_yaml(self) -> str:
        """Return :meth:`to_dict` as YAML, with fields in alphabetical order."""
        import yaml

        return yaml.safe_dump(self.to_dict(), default_flow_style=False)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write :meth:`to_json` into a file, complete or not at all.

        Raises:
            OSError: It cannot be written.
        """
        write_text(path, f"{self.to_json()}\n")

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        artifact_identifier: str | None = None,
        overwrite_args: dict[str, Any] | None = None,
    ) -> Self:
        """Build an artifact of this class from a file that :meth:`save` wrote, or one of a catalog.

        Args:
            path: The JSON file. A link in it leads to the artifact of the catalogs that it names.
            artifact_identifier: The name that the artifact has in a catalog.
            overwrite_args: Fields that replace some of the file's.

        Raises:
            ArtifactError: The file cannot be read, or is not an artifact of this class.
        """
        from proctor.artifacts.fetch import artifact_in_file

        artifact = artifact_in_file(path, overwrite_args or {}, name=artifact_identifier or "")
        if not isinstance(artifact, cls):
            raise ValidationError(f"'{os.fspath(path)}' holds '{artifact.type_name()}', which is not a {cls.__name__}")
        return artifact

    @classmethod
    def from_dict(cls, data: dict[str, Any], overwrite_args: dict[str, Any] | None = None) -> Self:
        """Build an artifact of this class from :meth:`to_dict` data (``__type__`` may be left out).

        Args:
            data: Its fields.
            overwrite_args: Fields that replace some of them.
        """
        from proctor.artifacts.fetch import build

        artifact = build({"__type__": cls.type_name(), **data, **(overwrite_args or {})})
        if not isinstance(artifact, cls):
            raise ValidationError(f"'{artifact.type_name()}' is not of the class {cls.__name__}")
        return artifact

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.to_dict() == other.to_dict()

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        if self._artifact_id:
            return f"<{type(self).__name__} {self._artifact_id}>"
        names = [name for name in type(self).model_fields if name in self.model_fields_set]
        given = ", ".join(f"{name}={_shown(getattr(self, name))}" for name in names)
        return f"{type(self).__name__}({given})"

    def __str__(self) -> str:
        return self._artifact_id or repr(self)

    # -- assignment -------------------------------------------------------------------------------------------

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_") or (name not in type(self).model_fields and self._preparing):
            object.__setattr__(self, name, value)
            return
        if name not in type(self).model_fields:
            raise ValidationError(
                f"{type(self).__name__} has no field '{name}'", hint=did_you_mean(name, type(self).model_fields)
            )
        if self._preparing:
            object.__setattr__(self, name, value)
            return
        try:
            super().__setattr__(name, value)
        except PydanticValidationError as error:
            raise validation_error(type(self), error) from None
        object.__setattr__(self, "_artifact_id", None)

    # -- validation -------------------------------------------------------------------------------------------

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        if not cls.__pydantic_complete__ and cls not in _being_completed:
            _being_completed.add(cls)
            try:  # by itself first: a part of another schema is named otherwise in errors
                cls.model_rebuild(raise_errors=False)
            finally:
                _being_completed.discard(cls)
        return core_schema.no_info_wrap_validator_function(cls._coerce, handler(source))

    @classmethod
    def _coerce(cls, value: Any, handler: Callable[[Any], Any]) -> Any:
        if isinstance(value, str) or (isinstance(value, dict) and "__type__" in value):
            from proctor.artifacts.fetch import fetch_artifact

            try:
                value = fetch_artifact(value)
            except ProctorError as error:
                raise PydanticCustomError("artifact", "{message}", {"message": str(error), "error": error}) from None
        elif isinstance(value, dict) and (cls is Artifact or isabstract(cls)):
            raise PydanticCustomError("artifact", "an artifact needs a '__type__'")
        return handler(value)

    @classmethod
    def _by_position(cls, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        names = [name for name, field in cls.model_fields.items() if NON_POSITIONAL not in field.metadata]
        if len(args) > len(names):
            raise ValidationError(
                f"{cls.__name__} takes at most {len(names)} values by position, {len(args)} were given",
                hint=f"its fields are {', '.join(names)}",
            )
        given = dict(zip(names, args, strict=False))
        if twice := given.keys() & kwargs.keys():
            raise ValidationError(f"{cls.__name__} got {', '.join(sorted(twice))} by position and by name")
        return given

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        super().__pydantic_init_subclass__(**kwargs)
        for check in class_checks:
            check(cls)
        registry.register(cls)


@cache
def _is_made_of_defaults(kind: type[Artifact]) -> bool:
    """Return whether an instance to which nothing is given needs no validator: they take a while to build."""
    checks, config, fields = kind.__pydantic_decorators__, kind.model_config, kind.model_fields.values()
    return not (
        any(field.is_required() or field.validate_default for field in fields)
        or any(getattr(field, "default_factory_takes_validated_data", False) for field in fields)
        or (config.get("validate_default") or config.get("extra") == "allow")
        or any((checks.validators, checks.field_validators, checks.root_validators, checks.model_validators))
        or kind.__private_attributes__
    )


def to_data(value: object) -> Any:
    """Return a field value as JSON-like data: artifacts by name or as dicts, types by name."""
    if isinstance(value, Artifact):
        return value.artifact_id or value.to_dict()
    if isinstance(value, dict):
        return {str(key): to_data(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_data(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted(map(to_data, value), key=str)
    return _plain(value)


def _plain(value: Any) -> Any:
    if isinstance(value, type) or get_origin(value) is not None or hasattr(value, "__supertype__"):
        from proctor.artifacts.types import to_type_string

        return to_type_string(value)
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    if isinstance(value, (FunctionType, BuiltinFunctionType)):
        return f"{value.__module__}.{value.__qualname__}"
    return str(value)


def _shown(value: Any) -> str:
    is_function = isinstance(value, (FunctionType, BuiltinFunctionType))
    return str(to_data(value)) if is_function else repr(value)


class_checks: list[Callable[[type], None]] = []
"""What is asked about every class of artifacts that is made, before it is known: each may refuse it."""
