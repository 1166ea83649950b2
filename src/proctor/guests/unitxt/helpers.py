"""Helpers that Unitxt's own programs and test modules import: texts, containers, generators, exceptions' companions."""

from __future__ import annotations

import json
import os
import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from functools import wraps
from pathlib import Path
from random import Random
from typing import Any, ClassVar, Self

from proctor.artifacts import Artifact, fetch_artifact
from proctor.data.operator import container_copy
from proctor.errors import SettingsError
from proctor.randomness import random_stream
from proctor.recipes.recipe import DatasetRecipe
from proctor.safe_files import written
from proctor.settings import settings

# -- random generators ----------------------------------------------------------------------------------------


def new_random_generator(sub_seed: Any) -> Random:
    """Return a generator for some content, independent of all others; see :func:`proctor.randomness.random_stream`.

    Upstream takes the hash of whatever has one, which other processes compute otherwise (tuples of texts, NaN).
    Here only numbers, alone and in tuples, are taken by their hash.
    """
    is_numbers = isinstance(sub_seed, tuple) and all(isinstance(each, int) for each in sub_seed)
    return random_stream(str(hash(sub_seed)) if is_numbers else sub_seed)


def get_random_generator_based_on_instance(instance: Mapping[str, Any], local_seed: Any = None) -> Random:
    """Return the generator that draws an instance's demos."""
    content = dict(instance["input_fields"])
    return random_stream(content if local_seed is None else {**content, "local_seed": local_seed})


# -- texts ----------------------------------------------------------------------------------------------------


def split_words(s: str) -> list[str]:
    """Cut names into words: at capitals, ``_`` and ``-``, and between letters and digits."""
    apart = re.sub(r"([A-Z][a-z]+)", r" \1", re.sub(r"([A-Z]+)", r" \1", s))
    apart = re.sub(r"[_-]", " ", apart)
    apart = re.sub(r"(?<=[a-zA-Z])(?=\d)|(?<=\d)(?=[a-zA-Z])", " ", apart)
    return apart.split()


def is_camel_case(s: str) -> bool:
    """Whether a name is letters and digits, of which the first is a capital."""
    return re.fullmatch(r"[A-Z][A-Za-z0-9]*\n?", s) is not None


def is_snake_case(s: str) -> bool:
    """Whether a name is small letters and digits, with single ``_`` between."""
    return re.fullmatch(r"[a-z0-9]+(_[a-z0-9]+)*\n?", s) is not None


def camel_to_snake_case(s: str) -> str:
    """Return a CamelCase name in snake_case."""
    apart = re.sub(r"(?<=[^A-Z_-])([A-Z])", r"_\1", s)
    return re.sub(r"([A-Z]+)([A-Z][a-z0-9])", r"\1_\2", apart).lower()


def nested_tuple_to_string(nested_tuple: tuple[Any, ...]) -> str:
    """Return the members of nested tuples, joined by ``_``."""
    members = (nested_tuple_to_string(each) if isinstance(each, tuple) else str(each) for each in nested_tuple)
    return "_".join(members)


def is_made_of_sub_strings(string: str, sub_strings: Iterable[str]) -> bool:
    """Whether a text is nothing but some texts, one after the other."""
    return re.fullmatch(f"({'|'.join(map(re.escape, sub_strings))})+\n?", string) is not None


def escape_chars(s: str, chars_to_escape: Iterable[str]) -> str:
    """Return a text with a backslash before some characters."""
    for each in chars_to_escape:
        s = s.replace(each, f"\\{each}")
    return s


class LongString(str):
    """A text that shows itself by another one."""

    __slots__ = ("_shown",)
    _shown: str | None

    def __new__(cls, value: str, *, repr_str: str | None = None) -> Self:
        """Return the text."""
        made = super().__new__(cls, value)
        made._shown = repr_str
        return made

    def __repr__(self) -> str:
        return super().__repr__() if self._shown is None else self._shown


# -- containers and files -------------------------------------------------------------------------------------


def flatten_dict(d: Mapping[str, Any], parent_key: str = "", sep: str = "_") -> dict[str, Any]:
    """Return nested dicts as one, with the names of the way joined by ``sep``."""
    flat: dict[str, Any] = {}
    for key, value in d.items():
        name = f"{parent_key}{sep}{key}" if parent_key else key
        flat.update(flatten_dict(value, name, sep) if isinstance(value, dict) else {name: value})
    return flat


def load_json(path: str) -> Any:
    """Return what a JSON file holds.

    Raises:
        RuntimeError: It is not JSON.
    """
    text = Path(path).read_text(encoding="utf-8")
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise RuntimeError(f"Failed to decode json file at '{path}' with file content:\n{text}") from error


def json_dump(data: Any) -> str:
    """Return data as indented JSON."""
    return json.dumps(data, indent=4, ensure_ascii=False)


def save_to_file(path: str, data: str) -> None:
    """Write a text and a line end into a file."""
    with written(Path(path)) as file:
        file.write(f"{data}\n".encode())


class Singleton(type):
    """Makes classes of which there is one object."""

    _instances: ClassVar[dict[type, Any]] = {}

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        """Return the object."""
        if cls not in cls._instances:
            cls._instances[cls] = super().__call__(*args, **kwargs)
        return cls._instances[cls]


class LRUCache:
    """A dict that keeps what was used last; every thread and task has its own.

    Args:
        max_size: How many entries; ``None`` for all.
    """

    def __init__(self, max_size: int | None = 10) -> None:
        self._max_size = max_size
        self._held: ContextVar[OrderedDict[Any, Any] | None] = ContextVar("proctor_lru_cache", default=None)

    def _entries(self) -> OrderedDict[Any, Any]:
        entries = self._held.get()
        if entries is None:
            entries = OrderedDict()
            self._held.set(entries)
        return entries

    def __setitem__(self, key: Any, value: Any) -> None:
        entries = self._entries()
        entries[key] = value
        entries.move_to_end(key)
        while self._max_size is not None and len(entries) > self._max_size:
            entries.popitem(last=False)

    def __getitem__(self, key: Any) -> Any:
        entries = self._entries()
        if key not in entries:
            raise KeyError(f"{key} not found in cache")
        entries.move_to_end(key)
        return entries[key]

    def get(self, key: Any, default: Any = None) -> Any:
        """Return an entry, or the default."""
        entries = self._entries()
        if key in entries:
            entries.move_to_end(key)
        return entries.get(key, default)

    def clear(self) -> None:
        """Forget all."""
        self._entries().clear()

    def __contains__(self, key: object) -> bool:
        return key in self._entries()

    def __len__(self) -> int:
        return len(self._entries())

    def __repr__(self) -> str:
        return f"LRUCache(max_size={self._max_size}, items={list(self._entries().items())})"


def lru_cache_decorator(max_size: int | None = 128) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator whose functions remember what they returned, in an :class:`LRUCache`."""

    def decorator(function: Callable[..., Any]) -> Any:
        cache = LRUCache(max_size)

        @wraps(function)
        def remembering(*args: Any, **kwargs: Any) -> Any:
            key = (*args, *sorted(kwargs.items()))
            if key not in cache:
                cache[key] = function(*args, **kwargs)
            return cache[key]

        remembering.cache_clear = cache.clear  # type: ignore[attr-defined]
        return remembering

    return decorator


class ReusableGenerator:
    """What a generator function makes, anew for each iteration.

    Args:
        generator: The function.
        gen_argv, gen_kwargs: Its arguments.
    """

    def __init__(
        self,
        generator: Callable[..., Iterable[Any]],
        gen_argv: Sequence[Any] = (),
        gen_kwargs: Mapping[str, Any] | None = None,
    ) -> None:
        self.generator, self.gen_argv, self.gen_kwargs = generator, list(gen_argv), dict(gen_kwargs or {})

    def activate(self) -> Iterable[Any]:
        """Return what the function returns."""
        return self.generator(*self.gen_argv, **self.gen_kwargs)

    def __iter__(self) -> Iterator[Any]:
        yield from self.activate()

    def __call__(self) -> Iterator[Any]:
        """Yield what the function makes."""
        yield from self


class CopyingReusableGenerator(ReusableGenerator):
    """:class:`ReusableGenerator` whose values may be changed."""

    def __iter__(self) -> Iterator[Any]:
        yield from map(container_copy, self.activate())


# -- registration and policies --------------------------------------------------------------------------------


def register_all_artifacts(path: str | None = None) -> None:
    """Nothing to do, whatever the folder: every class is known by its name from the start."""
    del path


class ProjectArtifactRegisterer(metaclass=Singleton):
    """Nothing to do, as in :func:`register_all_artifacts`."""


def is_name_legal_for_catalog(name: str) -> bool:
    """Whether a name can be that of an artifact in a catalog."""
    return re.fullmatch(r"[\w.]+\n?", name) is not None


def get_artifacts_data_classification(artifact: str) -> list[str] | None:
    """Return the classes of data that ``UNITXT_DATA_CLASSIFICATION_POLICY`` lets an artifact see; ``None`` for all.

    Raises:
        RuntimeError: The variable is not a JSON object of lists of texts.
    """
    variable = "UNITXT_DATA_CLASSIFICATION_POLICY"
    try:
        text = settings.data_classification_policy or os.environ.get(variable, "")
        found = json.loads(text) if text else {}
    except (ValueError, SettingsError):
        found = None
    if not isinstance(found, dict):
        raise RuntimeError(  # noqa: TRY004 - what programs catch
            f"If specified, the value of '{variable}' should be a valid json dictionary. "
            f"Got '{os.environ.get(variable, '')}' instead."
        )
    return found.get(artifact)


def verbosed_fetch_artifact(identifier: str) -> Artifact:
    """Return an artifact by its name."""
    return fetch_artifact(identifier)


def get_dataset_artifact(dataset: Any, overwrite_kwargs: dict[str, Any] | None = None) -> Artifact:
    """Return the recipe that a query means."""
    if isinstance(dataset, str) and "=" in dataset.partition("[")[0] and not overwrite_kwargs:
        return fetch_artifact(f"{DatasetRecipe.type_name()}[{dataset}]")
    return fetch_artifact(dataset, overwrite_kwargs)
