"""Construction of artifact classes: overrides without annotations, dunder fields, replaced names."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from threading import local
from typing import Any, ClassVar, get_origin

from pydantic import BaseModel
from pydantic._internal._model_construction import ModelMetaclass

META = {
    "__id__": "_artifact_id",
    "__description__": "_description",
    "__tags__": "_tags",
    "__title__": "_title",
    "__deprecated_msg__": "_deprecated_message",
}
"""What files and programs call parts of an artifact, and where it keeps them."""

PLAIN_TYPES = (str, bytes, int, float, bool, list, tuple, dict, set, frozenset, type(None))
"""Types of values that are written as they are."""


class ArtifactMeta(ModelMetaclass):
    """Gives un-annotated overrides the annotation of the field they override."""

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **kwargs: Any) -> type:
        """Complete the annotations, then build the class."""
        annotations = _annotations_of(namespace)
        if "<locals>" not in namespace.get("__qualname__", ""):
            _evaluate(annotations, namespace)
        for key, value in list(namespace.items()):
            if key.startswith("__") or key in annotations:
                continue
            if key.startswith("_") and any(key in getattr(base, "__class_vars__", ()) for base in bases):
                annotations[key] = ClassVar[Any]
            elif not key.startswith("_") and _is_default(value):
                annotations[key] = _inherited_annotation(key, bases)
        with warnings.catch_warnings():  # a field may take the place of an attribute that is there to be overridden
            warnings.filterwarnings("ignore", 'Field name "(description|label)" in .* shadows an attri', UserWarning)
            before, _making.now = getattr(_making, "now", False), True
            try:
                made = super().__new__(mcs, name, bases, namespace, **kwargs)
            finally:
                _making.now = before
        _forget_class_variables(made)
        return made

    def __getattr__(cls, name: str) -> Any:
        """Return the default of a field, which programs read on the class as on that of a dataclass."""
        field = vars(cls).get("__pydantic_fields__", {}).get(name)
        if field is None or field.is_required() or getattr(_making, "now", False):  # pydantic asks what bases have
            return super().__getattr__(name)  # type: ignore[misc]
        return field.get_default(call_default_factory=True)


_making = local()
"""Whether a class is being made in this thread."""


def _annotations_of(namespace: dict[str, Any]) -> dict[str, Any]:
    """Return what the body of a class annotates; Python 3.14 keeps it in a function until somebody asks."""
    if sys.version_info >= (3, 14) and "__annotations__" not in namespace:
        import annotationlib

        if (annotate := annotationlib.get_annotate_from_class_namespace(namespace)) is not None:
            found = annotationlib.call_annotate_function(annotate, annotationlib.Format.FORWARDREF)
            namespace["__annotations__"] = dict(found)
    annotations: dict[str, Any] = namespace.setdefault("__annotations__", {})
    return annotations


def _forget_class_variables(made: type) -> None:
    """Drop the annotations of class variables, which pydantic has noted: it evaluates all of them for each subclass."""
    own = made.__annotations__
    for name in getattr(made, "__class_vars__", set()) & own.keys():
        del own[name]


def _evaluate(annotations: dict[str, Any], namespace: dict[str, Any]) -> None:
    """Evaluate the annotations of a class of a module, where they can be: pydantic does it anew for each subclass."""
    known = vars(sys.modules[namespace["__module__"]]) if namespace.get("__module__") in sys.modules else {}
    for name, annotation in annotations.items():
        if isinstance(annotation, str):
            with suppress(NameError, AttributeError, TypeError):  # of something further down, or for type checkers only
                annotations[name] = eval(annotation, known, namespace)  # noqa: S307 - source that is being imported


class Overridable:
    """A property whose place a field of a subclass may take."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self._function = function
        self.__doc__ = function.__doc__

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else self._function(instance)


def _is_default(value: Any) -> bool:
    if isinstance(value, (*PLAIN_TYPES, BaseModel, type)):
        return True
    return get_origin(value) is not None or hasattr(value, "__supertype__")  # List[str], NewType


def _inherited_annotation(key: str, bases: tuple[type, ...]) -> Any:
    for base in bases:
        field = getattr(base, "__pydantic_fields__", {}).get(key)
        if field is not None:
            return field.rebuild_annotation()
    return ClassVar[Any]


class MetaField:
    """A dunder attribute of artifacts: ``artifact.__tags__``."""

    def __init__(self, attribute: str) -> None:
        self._attribute = attribute

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else getattr(instance, self._attribute)

    def __set__(self, instance: Any, value: Any) -> None:
        object.__setattr__(instance, self._attribute, value)
        if self._attribute != META["__id__"]:  # it is no longer what the catalog has under this name
            object.__setattr__(instance, META["__id__"], None)
