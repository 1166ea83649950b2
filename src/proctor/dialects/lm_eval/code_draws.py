"""Random numbers that code of tasks draws: from lm-eval's seeds, the same in every run, whatever was drawn before.

Helpers shuffle choices with Python's or numpy's global generator (``gpqa``), or with one of their module. lm-eval seeds
the global ones when it starts, so a run of one task draws from there: first the module as it is imported, then
``process_docs`` of the documents that demos come from, then of those that are asked about. Here every task begins at
that point, also where others ran before (``--seed`` says of which seeds); and what draws for one document
(``doc_to_text``, ``process_results``) draws by the document's content, so that a second look at it sees the same. The
generators of others stay as they were.

Source: ``lm_eval.evaluator.simple_evaluate`` and ``ConfigurableTask.__init__``, lm-eval 0.4.13.
"""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from proctor.recipes.fingerprint import instance_digest
from proctor.recipes.options import ExamOptions

DEFAULT_SEED: Final = 1234
"""lm-eval's ``fewshot_random_seed``, so that equal exams draw equal demos."""
PYTHON_SEED: Final = 0
NUMPY_SEED: Final = 1234
"""lm-eval's defaults (``--seed 0,1234,1234,1234``)."""

_MARK: Final = "__proctor_draws__"
_MENTIONED = re.compile(r"\brandom\b")

Seeds = tuple[int, int]
"""Of Python's global generator, and of numpy's."""

DEFAULT_SEEDS: Final[Seeds] = (PYTHON_SEED, NUMPY_SEED)

State = tuple[Any, Any]
"""Of Python's global generator, and of numpy's where numpy has been imported."""


class ModuleDraws:
    """The random generators of a task's module, as they stand once it is imported.

    Args:
        module: The module.
    """

    def __init__(self, module: ModuleType) -> None:
        self.start = _global_state()
        with _seeded(DEFAULT_SEEDS):
            self._starts_as_seeded = _same(self.start, _global_state())
        own = [each for each in vars(module).values() if isinstance(each, random.Random)]
        self._own = [(each, each.getstate()) for each in own]
        self._below = {id(each): each for each in map(_marked, vars(module).values()) if each is not None}

    def start_of(self, seeds: Seeds) -> State:
        """Return where the global generators stand when functions of the module begin, of seeds of the user's.

        Where importing the module left them elsewhere than at the seeds (it seeds them itself, as ``mmmu`` does), that
        is where they stand with every seed.
        """
        if not self._starts_as_seeded:
            return self.start
        with _seeded(seeds):
            return _global_state()

    def rewind(self) -> None:
        """Let the generators of the module, and of those that it imports from, begin again."""
        for generator, state in self._own:
            generator.setstate(state)
        for each in self._below.values():
            each.rewind()


def draws_of(function: Any) -> ModuleDraws | None:
    """Return what a function of a task draws with; ``None`` where its module names no generator."""
    function = getattr(function, "__wrapped__", function)
    function = getattr(function, "func", function)  # a partial
    found: ModuleDraws | None = getattr(function, "__globals__", {}).get(_MARK)
    return found


@contextmanager
def importing(module: ModuleType, file: Path) -> Iterator[None]:
    """Let a module be imported from lm-eval's seeds; keep where its generators stand afterwards."""
    source = file.read_text(encoding="utf-8", errors="replace")
    draws_itself = _MENTIONED.search(source) is not None
    if draws_itself and "numpy" in source:
        with suppress(ImportError):  # the module's own import says so
            import_module("numpy")
    before = _global_state()
    _seed(PYTHON_SEED, NUMPY_SEED)
    try:
        yield
        if draws_itself or any(_marked(each) is not None for each in vars(module).values()):
            vars(module)[_MARK] = ModuleDraws(module)
    finally:
        _restore(before)


def seeds_of(options: ExamOptions) -> Seeds:
    """Return what code of tasks draws from: as the user says it, else the one seed for everything, else lm-eval's."""
    if options.code_seeds is not None:
        return options.code_seeds
    return DEFAULT_SEEDS if options.seed is None else (options.seed, options.seed % 2**32)  # numpy takes 32 bits


class Stream:
    """The random numbers that the whole-dataset functions of one task draw, one function after the other.

    Args:
        seeds: Where they begin.
    """

    def __init__(self, seeds: Seeds = DEFAULT_SEEDS) -> None:
        self._seeds = seeds
        self._state: State | None = None

    @contextmanager
    def going_on(self, function: Any) -> Iterator[None]:
        """Let a function draw where the one before it ended; the first one begins where its module does."""
        draws = draws_of(function)
        if draws is None:
            yield
            return
        before = _global_state()
        if self._state is None:
            draws.rewind()
        _restore(self._state or draws.start_of(self._seeds))
        try:
            with _computed_anew():
                yield
            self._state = _global_state()
        finally:
            _restore(before)


@contextmanager
def _computed_anew() -> Iterator[None]:
    """Keep ``datasets`` from taking mapped rows from an earlier run: what follows would then draw other numbers."""
    datasets = import_module("datasets")  # what draws is given a dataset: it would be imported a moment later
    if not datasets.is_caching_enabled():
        yield
        return
    datasets.disable_caching()
    try:
        yield
    finally:
        datasets.enable_caching()


def by_content(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that draws by the content of the document that it is given; itself where it draws nothing."""
    draws = draws_of(function)
    if draws is None:
        return function

    def call(*args: Any, **kwargs: Any) -> Any:
        if not args or not isinstance(args[0], Mapping):
            return function(*args, **kwargs)
        before = _global_state()
        draws.rewind()
        number = int(instance_digest(args[0]), 16) % 2**32
        _seed(number, number)
        try:
            return function(*args, **kwargs)
        finally:
            _restore(before)

    call.__wrapped__ = function  # type: ignore[attr-defined] # what it draws with is found there
    return call


def _marked(value: Any) -> ModuleDraws | None:
    names = vars(value) if isinstance(value, ModuleType) else getattr(value, "__globals__", None)
    found: ModuleDraws | None = names.get(_MARK) if isinstance(names, dict) else None
    return found


def _numpy_random() -> Any:
    numpy = sys.modules.get("numpy")
    return None if numpy is None else numpy.random


def _global_state() -> State:
    numpy = _numpy_random()
    return random.getstate(), None if numpy is None else numpy.get_state()


def _restore(state: State) -> None:
    random.setstate(state[0])
    numpy = _numpy_random()
    if numpy is not None and state[1] is not None:
        numpy.set_state(state[1])


@contextmanager
def _seeded(seeds: Seeds) -> Iterator[None]:
    """Seed the global generators for a while."""
    before = _global_state()
    _seed(*seeds)
    try:
        yield
    finally:
        _restore(before)


def _same(one: State, other: State) -> bool:
    """Whether two states would draw the same."""
    if (one[1] is None) != (other[1] is None):
        return False
    return one[0] == other[0] and (one[1] is None or all(map(_equal, one[1], other[1])))


def _equal(one: Any, other: Any) -> bool:
    found = one == other
    return bool(found.all()) if hasattr(found, "all") else bool(found)


def _seed(python: int, numpy_seed: int) -> None:
    random.seed(python)
    if (numpy := _numpy_random()) is not None:
        numpy.seed(numpy_seed)
