"""Errors that people can act on.

The tree::

    ProctorError                 anything this package raises on purpose
    ├── UsageError               a command line or call that cannot mean anything
    │   ├── ChangedDataError         a run folder whose exams had other rows when its run ended
    │   └── UnknownColumnError       a column that results do not have (a KeyError, too)
    ├── SettingsError            an environment variable or setting with an impossible value
    ├── ArtifactError            an artifact that cannot be found, read, built or saved
    │   ├── UnknownArtifactError     no catalog has the name
    │   ├── UnknownTypeError         no class is registered under a __type__
    │   ├── QueryError               ``name[key=value]`` that does not parse
    │   ├── ValidationError          fields that are missing, unknown or of the wrong type
    │   └── LinkError                links that lead in a circle or nowhere
    ├── DataError                rows that cannot be loaded or standardised
    │   ├── DatasetNotFoundError     a dataset that is neither mapped, cached nor reachable
    │   ├── EmptyStreamError         a stream of which nothing is left (a RuntimeError, too)
    │   ├── UnreachableDatabaseError a database behind a server that does not answer (an OSError, too)
    │   ├── MissingFieldError        a row without a field that somebody needs
    │   └── FieldTypeError           a field with a value of the wrong type
    ├── TemplateError            a template that does not fit its task
    ├── DemosError               a pool too small, or a sampler that cannot choose
    ├── ScoringError             predictions that cannot be scored at all
    ├── EngineError              a model that cannot be loaded or reached
    │   └── UnsupportedRequestError  a kind of request the engine cannot answer
    ├── MissingExtraError        an optional package that is not installed
    ├── PluginError              an installed package whose entry points cannot be used
    ├── LogError                 a response log that cannot be read or written
    ├── OutputError              a run folder, or another file for the user, that cannot be written
    ├── RunInterruptedError      a run that was stopped before its end; running again goes on
    ├── PolicyError              data that a component may not see
    ├── NotAllowedError          an effect of an exam that nobody allowed
    └── TrustError               code from a file that nobody said may run

Each carries one or more :class:`Diagnostic`: what, where, why, and what to do next. What somebody gave and cannot be
used (usage, settings, artifacts, data, templates, demos, scoring) is a ``ValueError``, too, so that programs that were
written for other systems catch it.
"""

from __future__ import annotations

import difflib
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from errno import ENOSPC
from pathlib import Path
from typing import Self

from proctor.secrets import redacted

_WIDEST = 160
"""Characters of a line that an excerpt shows."""


@dataclass(frozen=True, slots=True)
class Location:
    """A place in a file; lines and columns count from 1, 0 means unknown."""

    file: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        numbers = [str(number) for number in (self.line, self.column) if number]
        return ":".join([self.file, *numbers])

    def excerpt(self) -> str:
        """Return the line with a caret under the column, or ``""`` where the file cannot be read."""
        if not self.line:
            return ""
        try:
            lines = Path(self.file).read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            return ""
        if self.line > len(lines):
            return ""
        text, column = lines[self.line - 1], self.column
        if len(text) > _WIDEST:  # a line of a generated file can be the whole file
            start = max(0, min(column - _WIDEST // 2, len(text) - _WIDEST))
            head, tail = "…" if start else "", "…" if start + _WIDEST < len(text) else ""
            text, column = f"{head}{text[start : start + _WIDEST]}{tail}", column and column - start + len(head)
        gutter = f"{self.line:>5} | "
        caret = f"\n{' ' * 5} | {' ' * (column - 1)}^" if column else ""
        return f"{gutter}{text}{caret}"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One problem, in four parts.

    Attributes:
        what: The problem in one sentence.
        location: The file and line, where there is one.
        path: The place inside the document (``$.tasks[3].num_fewshot``) or the object (``cards.wnli``).
        why: The reason, where ``what`` does not say it.
        hint: What to do next.
    """

    what: str
    location: Location | None = None
    path: str = ""
    why: str = ""
    hint: str = ""

    def __post_init__(self) -> None:
        for name in ("what", "why", "hint"):  # what a server or a library said may hold a key
            if (said := getattr(self, name)) and (safe := redacted(str(said))) != said:
                object.__setattr__(self, name, safe)

    def __str__(self) -> str:
        place = " ".join(part for part in (str(self.location or ""), self.path and f"@ {self.path}") if part)
        lines = [self.what + (f" ({place})" if place else "")]
        if self.location and (excerpt := self.location.excerpt()):
            lines.append(excerpt)
        if self.why:
            lines.append(f"  why: {self.why}")
        if self.hint:
            lines.append(f"  hint: {self.hint}")
        return "\n".join(lines)

    def at(self, location: Location | None = None, path: str = "") -> Diagnostic:
        """Return the same problem with a place added where it had none."""
        return replace(self, location=self.location or location, path=self.path or path)


@dataclass(eq=False)
class ProctorError(Exception):
    """Base of all errors that this package raises on purpose.

    Args:
        what: The problem in one sentence, or a list of diagnostics for several problems at once.
        page: A page that says more; the hint where there is no other.
        location, path, why, hint: As in :class:`Diagnostic`.
    """

    what: str | Sequence[Diagnostic]
    page: str = ""
    location: Location | None = field(default=None, kw_only=True)
    path: str = field(default="", kw_only=True)
    why: str = field(default="", kw_only=True)
    hint: str = field(default="", kw_only=True)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Every problem that this error reports."""
        if isinstance(self.what, str):
            return (Diagnostic(self.what, self.location, self.path, self.why, self.hint or self._page_hint()),)
        return tuple(self.what)

    def _page_hint(self) -> str:
        return f"see {self.page}" if self.page else ""

    def located(self, location: Location | None = None, path: str = "") -> ProctorError:
        """Return the same error with a place added where it had none."""
        return type(self)([diagnostic.at(location, path) for diagnostic in self.diagnostics])

    def within(self, place: str) -> ProctorError:
        """Return the same error with the path of each problem starting at ``place`` (``test[17]``)."""
        return type(self)([replace(each, path=f"{place} {each.path}".rstrip()) for each in self.diagnostics])

    def __str__(self) -> str:
        return "\n".join(str(diagnostic) for diagnostic in self.diagnostics)

    def __reduce__(self) -> tuple[type[ProctorError], tuple[list[Diagnostic]]]:
        return type(self), (list(self.diagnostics),)


def problems_of(make: Callable[[], object], path: str = "") -> Iterator[Diagnostic]:
    """Yield what the error says that a call raises; nothing where it raises none.

    Args:
        make: The call.
        path: Where what it makes stands: the paths of its problems begin there, and not with ``$``.
    """
    try:
        make()
    except ProctorError as error:
        for each in error.diagnostics:
            yield replace(each, path=path + each.path.removeprefix("$")) if path else each


class UsageError(ProctorError, ValueError):
    """A command line or call that cannot mean anything."""


class ChangedDataError(UsageError):
    """A run folder whose exams had other rows when its run ended."""


class UnknownColumnError(UsageError, KeyError):
    """A column that results do not have."""


class SettingsError(ProctorError, ValueError):
    """An environment variable or setting with an impossible value."""


class ArtifactError(ProctorError, ValueError):
    """An artifact that cannot be found, read, built or saved."""


class UnknownArtifactError(ArtifactError):
    """No catalog has an artifact of this name."""


class UnknownTypeError(ArtifactError):
    """No class is registered under this ``__type__``."""


class QueryError(ArtifactError):
    """A query such as ``name[key=value]`` that does not parse."""


class ValidationError(ArtifactError, AssertionError, TypeError):
    """Fields that are missing, unknown or of the wrong type; constructors elsewhere assert, or raise a TypeError."""


class LinkError(ArtifactError):
    """Links that lead in a circle or nowhere."""


class DataError(ProctorError, ValueError):
    """Rows that cannot be loaded or standardised."""


class DatasetNotFoundError(DataError):
    """A dataset that is neither mapped, cached nor reachable."""


class EmptyStreamError(DataError, RuntimeError):
    """A stream of which nothing is left."""


class UnreachableDatabaseError(DataError, OSError):
    """A database behind a server that does not answer."""


class MissingFieldError(DataError):
    """A row without a field that somebody needs."""


class FieldTypeError(DataError):
    """A field with a value of the wrong type."""


class TemplateError(ProctorError, ValueError):
    """A template that does not fit its task."""


class DemosError(ProctorError, ValueError):
    """A demo pool that is too small, or a sampler that cannot choose."""


class ScoringError(ProctorError, ValueError):
    """Predictions that cannot be scored at all."""


class EngineError(ProctorError):
    """A model that cannot be loaded or reached."""

    @classmethod
    def without_log_probabilities(cls, label: str) -> EngineError:
        """Say that an engine was asked for the log-probabilities of tokens and gave none."""
        return cls(
            f"the engine '{label}' gave no log-probabilities of tokens",
            hint="use hf, smollm2, or a server that returns logprobs",
        )


class UnsupportedRequestError(EngineError):
    """A kind of request that the engine cannot answer."""


class MissingExtraError(ProctorError):
    """An optional package that is not installed."""

    @classmethod
    def of(cls, package: str, extra: str, purpose: str) -> MissingExtraError:
        """Say which package is missing for what, and the command that installs it."""
        return cls(
            f"{purpose} needs the package '{package}', which is not installed",
            hint=f"pip install 'proctor[{extra}]'",
        )


@contextmanager
def needed(package: str, extra: str, purpose: str) -> Iterator[None]:
    """Say of a package that is imported here and not installed what it is for, and which extra brings it.

    Raises:
        MissingExtraError: It is not installed.
    """
    try:
        yield
    except ImportError as error:
        raise MissingExtraError.of(package, extra, purpose) from error


@contextmanager
def extras_named() -> Iterator[None]:
    """Say of a package that data needs and that is not installed which extra brings it.

    Raises:
        MissingExtraError: It is one of them.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in _OF_DATASETS:
            raise
        raise MissingExtraError.of(package, "datasets", "reading this data") from error


_OF_DATASETS = frozenset({"datasets", "pandas", "pyarrow", "fsspec", "huggingface_hub"})


class PluginError(ProctorError):
    """An installed package whose entry points cannot be used."""


class LogError(ProctorError):
    """A response log that cannot be read or written."""


class ForgedError(ProctorError):
    """Something of the user's state that is not what was filed there; nothing of it is used."""


class OutputError(ProctorError):
    """A run folder, or another file for the user, that cannot be written."""

    @classmethod
    def unwritable(cls, what: str, error: OSError, choice: str = "another place") -> Self:
        """Return the error of something that the system did not let us write.

        Args:
            what: What was to be written, and where.
            error: What the system says.
            choice: What to choose instead.
        """
        first = "free space or choose" if error.errno == ENOSPC else "choose"
        return cls(f"{what} cannot be written", why=reason_of(error), hint=f"{first} {choice}")


class FolderHeldError(OutputError):
    """A run folder in which another run is going on; ``log`` is where that one files its answers, as far as it says."""

    log: str = ""


class RunInterruptedError(ProctorError):
    """A run that was stopped before its end; running again goes on."""


class PolicyError(ProctorError):
    """Data that a component may not see, by its classification."""


class NotAllowedError(ProctorError):
    """An effect (reading, writing, asking a server, sending a key) that an exam wants and nobody allowed."""


class TrustError(ProctorError):
    """Code from a file that nobody said may run."""


_LONGEST_NAME = 200  # characters; comparing takes their square, for each candidate, and nobody mistypes longer ones


def reason_of(error: Exception) -> str:
    """Return the system's reason for refusing a file, without a number; of other errors their own words."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


_WORDS = re.compile(r"[-_. ]")


def closest(name: str, candidates: Iterable[str], count: int = 3) -> list[str]:
    """Return up to ``count`` candidates that look like ``name``, best first: those of the same words, then others."""
    if len(name) > _LONGEST_NAME:
        return []
    pool = list(dict.fromkeys(candidates))
    lowered = {candidate.lower(): candidate for candidate in reversed(pool)}
    words = sorted(_WORDS.split(name.lower()))
    same = [each for each in lowered if len(each) == len(name) and sorted(_WORDS.split(each)) == words]
    found = [*same, *difflib.get_close_matches(name.lower(), list(lowered), n=count, cutoff=0.6)]
    return [lowered[match] for match in dict.fromkeys(found[:count])]


_HINT_SECONDS = 0.3
"""Processor time for hints about one artifact: a name among thousands takes a tenth of a second, and the file of a
stranger may have thousands of unknown ones."""

_spent: ContextVar[list[float] | None] = ContextVar("proctor_hint_seconds", default=None)


@contextmanager
def few_hints() -> Iterator[None]:
    """Compare unknown names inside the block with those that there are for so long, and the first one in any case."""
    token = _spent.set([0.0]) if _spent.get() is None else None
    try:
        yield
    finally:
        if token is not None:
            _spent.reset(token)


def did_you_mean(name: str, candidates: Iterable[str]) -> str:
    """Return ``"did you mean 'a' or 'b'?"``, or ``""`` where nothing is close."""
    spent = _spent.get()
    if spent is None:
        found = closest(name, candidates)
    elif spent[0] > _HINT_SECONDS:
        return ""
    else:
        began = time.thread_time()
        found = closest(name, candidates)
        spent[0] += time.thread_time() - began
    names = [f"'{candidate}'" for candidate in found]
    if not names:
        return ""
    return f"did you mean {' or '.join(names)}?"
