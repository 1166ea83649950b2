"""Random streams: each derives from the seed and from content, through an explicit digest.

No stream depends on another, on the order in which instances come, or on Python's hash seed.
The derivation is Unitxt's, so that both draw the same demos.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar, Token
from hashlib import md5
from random import Random
from typing import Any, Self, TypeVar

from proctor.settings import settings


def digest32(content: object) -> int:
    """Return the first 32 bits of the MD5 of ``str(content)``."""
    return int.from_bytes(md5(str(content).encode("utf-8"), usedforsecurity=False).digest()[:4], "big")


_seed_of_draws: ContextVar[int | None] = ContextVar("proctor_seed_of_draws", default=None)

Item = TypeVar("Item")


def seed_of_draws() -> int:
    """Return the seed of what an exam draws: that of the :func:`seeded` block, else ``settings.seed``."""
    given = _seed_of_draws.get()
    return int(settings.seed) if given is None else given


def seeded(seed: int | None) -> AbstractContextManager[None]:
    """Return a ``with`` block that draws from another seed; ``None`` changes nothing.

    Unlike ``settings.seed`` it reaches only what an exam draws (rows, demos, templates, orders), not the bootstraps
    behind intervals: equal answers have equal intervals whatever the seed.
    """
    return _AS_IT_IS if seed is None else _seeded(seed)


_AS_IT_IS = nullcontext()


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    token = _seed_of_draws.set(seed)
    try:
        yield
    finally:
        _seed_of_draws.reset(token)


def drawn_with(seed: int | None, items: Iterable[Item]) -> Iterator[Item]:
    """Yield items that are made while they are read, each inside a :func:`seeded` block."""
    if seed is None:
        yield from items
        return
    with seeded(seed):
        iterator = iter(items)
    while True:
        with seeded(seed):  # for each by itself: whoever reads them has his own seed
            item = next(iterator, _END)
        if item is _END:
            return
        yield item  # type: ignore[misc]


_END = object()


class Course:
    """The generators of a pass over streams, for steps that go on with one generator from row to row.

    Inside a ``with`` block, :func:`going_generator` returns these. A pass that comes after another one (the rows that
    are asked about, after those that demos were drawn from) :meth:`adopt` what that one left.
    """

    def __init__(self) -> None:
        self._generators: dict[int, Random] = {}
        self._tokens: list[Token[Course | None]] = []

    @property
    def has_drawn(self) -> bool:
        """Whether a step has drawn, so that what comes next depends on how far it went."""
        return bool(self._generators)

    def generator(self, step: object, content: object) -> Random:
        """Return the generator of a step; ``content`` is that of :func:`random_stream` where it has none yet."""
        return self._generators.setdefault(id(step), random_stream(content))

    def adopt(self, before: Course) -> None:
        """Take over the generators that another course has and this one has not."""
        for step, generator in before._generators.items():
            if step not in self._generators:
                self._generators[step] = Random()
                self._generators[step].setstate(generator.getstate())

    def copy(self) -> Course:
        """Return a course that stands where this one does, and goes on by itself."""
        made = Course()
        made.adopt(self)
        return made

    def __enter__(self) -> Self:
        self._tokens.append(_course.set(self))
        return self

    def __exit__(self, *_: object) -> None:
        _course.reset(self._tokens.pop())


class SplitCourses:
    """The courses of streams that are read one after the other, in any order.

    Each goes on where the one before it stopped, as in Unitxt. A further pass over a stream draws what its first drew.
    """

    def __init__(self) -> None:
        self._so_far = Course()
        self._starts: dict[str, Course] = {}

    def read(self, name: str, read: Callable[[], Iterable[Item]]) -> Iterator[Item]:
        """Yield what a pass over a stream makes while it is read; inside a caller's :class:`Course` that one counts."""
        if current_course() is not None:
            yield from read()
            return
        is_first = name not in self._starts
        if is_first:
            self._starts[name] = self._so_far.copy()
        course = self._starts[name].copy()
        iterator = iter(read())
        try:
            while True:
                with course:
                    item = next(iterator, _END)
                if item is _END:
                    return
                yield item  # type: ignore[misc]
        finally:
            if is_first:
                self._so_far = course


_course: ContextVar[Course | None] = ContextVar("proctor_course_of_draws", default=None)


def current_course() -> Course | None:
    """Return the :class:`Course` of the ``with`` block around."""
    return _course.get()


def going_generator(step: object, content: object) -> Random:
    """Return the generator that a step goes on with: that of the :class:`Course` around, else a new one."""
    course = _course.get()
    return random_stream(content) if course is None else course.generator(step, content)


def random_stream(content: object, seed: int | None = None) -> Random:
    """Return a generator for some content: a dict, list or text.

    Args:
        content: Text is used as it is; anything else by the digest of its ``str``.
        seed: The seed; :func:`seed_of_draws` by default.
    """
    root = seed_of_draws() if seed is None else seed
    part = content if isinstance(content, str) else _part(content)
    return Random(f"{root}/{part}")


def _part(content: Any) -> str:
    """Return a text for content that every process makes of it: of numbers their hash, as Unitxt has it."""
    return str(hash(content) if _hashes_alike(content) else digest32(content))


def _hashes_alike(content: Any) -> bool:
    """Whether the hash of content is the same in every process: that of NaN is made of where it lies in memory."""
    return isinstance(content, (int, float)) and content == content  # noqa: PLR0124 - NaN alone is not itself
