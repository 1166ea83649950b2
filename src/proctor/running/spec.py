"""``run.yaml``: everything that decides the results of a run, so that ``proctor run run.yaml`` gives them again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

import yaml

from proctor.errors import Diagnostic, Location, ProctorError, UsageError, did_you_mean, reason_of
from proctor.foreign_yaml import BoundedLoader, parse_with_nodes
from proctor.jsonable import jsonable
from proctor.recipes.exam import HELD
from proctor.recipes.options import DECLARED
from proctor.safe_files import read_bytes
from proctor.secrets import without_secrets

if TYPE_CHECKING:
    from proctor.engines.engine import Engine

SCHEMA_VERSION = 1
"""Of ``run.yaml``, ``results.json`` and ``samples.jsonl`` together; raised when a reader of them would go wrong."""

_ESCAPED = "\\U000"  # how the fast writer of YAML writes an emoji

MOST_BYTES = 16 << 20
"""Bytes of a run file that is read: a thousand exams take three million."""

_LONGEST_REASON = 300
"""Characters of a reason: some quote the whole value."""


class _RunFileLoader(BoundedLoader):
    """Run files are written by programs, and are larger than files of people: every exam with its options."""

    most_bytes = MOST_BYTES
    most_nodes = most_expanded = 200_000  # a thousand exams have half as many; reading that many takes two seconds


@dataclass(frozen=True, slots=True)
class RunSpec:
    """A run as a user asks for it.

    Attributes:
        model: Short name of the engine (``hf``, ``openai`` …).
        model_args: Its arguments. Secrets are not kept: they come from the environment when the run is repeated.
        tasks: Names of exams, suites and recipes, as given.
        limit: Most instances per exam.
        seed: Seed of every random stream.
        num_demos: Solved instances in each prompt, where it replaces the exam's own number.
        overrides: Further settings of the recipes, by name.
        precision: How near the bounds of the main scores' intervals are to be; questions are drawn until they are.
        draw: How these questions are drawn: ``auto``, ``uniform``, ``adaptive``.
        others: Runs and files of other models' scores that say which questions tell most.
        log_samples: Whether ``samples.jsonl`` is written.
        tags: Words by which people find the run again; they change nothing.
        engine: Identity of the engine: filled in by the run.
        exams: What each exam was, by name: filled in by the run, compared when it is repeated.
        fingerprints: Digests of what each exam was made of, data included: filled in when the run has ended.
        version: The Proctor that ran it.
        schema_version: Of the file's form.
    """

    model: str
    tasks: tuple[str, ...]
    model_args: dict[str, Any] = field(default_factory=dict)
    limit: int | None = None
    seed: int | None = None
    num_demos: int | None = None
    overrides: dict[str, Any] = field(default_factory=dict)
    precision: float | None = None
    draw: str | None = None
    others: list[str] = field(default_factory=list)
    log_samples: bool = True
    tags: tuple[str, ...] = ()
    engine: str = ""
    exams: dict[str, Any] = field(default_factory=dict)
    fingerprints: dict[str, Any] = field(default_factory=dict)
    version: str = ""
    schema_version: int = SCHEMA_VERSION

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-like data without secrets; what is not set is left out."""
        values = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        return {
            name: jsonable(value)
            for name, value in without_secrets(values).items()
            if value not in (None, {}, [], "", ())
        }

    def to_yaml(self) -> str:
        """Return the content of ``run.yaml``."""
        layout: Any = {"sort_keys": False, "allow_unicode": True, "width": 120}
        text: str = yaml.dump(self.to_dict(), Dumper=yaml.CSafeDumper, **layout)  # six times as fast
        if _ESCAPED in text:  # which writes no characters behind the first plane
            text = yaml.dump(self.to_dict(), Dumper=yaml.SafeDumper, **layout)
        return text

    def differences(self, other: RunSpec) -> list[str]:
        """Return the differences that change results: options, ``exams.<name>.<where>: before → now``; else nothing.

        Versions and how results are written do not count. Arguments that do not change answers (a batch size) do
        not count either, where both specs know the engine's identity; nor does what a file of an older Proctor does
        not hold.

        Args:
            other: The run that was there before.
        """
        mine, theirs = ({**data.pop("overrides", {}), **data} for data in (self.to_dict(), other.to_dict()))
        ignored = {"version", "log_samples", "tags", "exams", "fingerprints", "schema_version"}
        if self.engine and other.engine:
            ignored |= {"model", "model_args"}
        names = [name for name in {**mine, **theirs} if name not in ignored and mine.get(name) != theirs.get(name)]
        return names + list(_changed_exams(theirs.get("exams", {}), mine.get("exams", {})))

    def is_earlier_run_of(self, engine: Engine) -> bool:
        """Whether an earlier version ran this for an engine: it knew it by its address, which may be another now."""
        address = self.model_args.get("base_url")
        places = [engine, engine.at(address)] if isinstance(address, str) and engine.server_addresses else [engine]
        return any(self.engine in each.earlier_identities for each in places)

    @classmethod
    def from_yaml(cls, text: str, file: str = "run.yaml") -> RunSpec:
        """Read the content of a ``run.yaml``.

        Raises:
            UsageError: It is not YAML, or fields are missing, unknown or of the wrong type; it names every place.
        """
        try:
            node, values = parse_with_nodes(text, _RunFileLoader)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark
            place = Location(file, mark.line + 1, mark.column + 1) if mark else Location(file)
            raise UsageError("this is not YAML", location=place, why=str(error.problem or error.context)) from None
        except ProctorError:
            raise
        except (yaml.YAMLError, ValueError, TypeError, OverflowError) as error:
            raise UsageError("this is not YAML", location=Location(file), why=str(error)[:_LONGEST_REASON]) from None
        except RecursionError:
            raise UsageError("the run file is nested too deeply", location=Location(file)) from None
        if not isinstance(node, yaml.MappingNode) or not isinstance(values, dict):
            raise UsageError("a run file is a mapping with 'model' and 'tasks'", location=Location(file, 1))
        if problems := list(_problems(cls, node, values, file)):
            raise UsageError(problems)
        if values.get("schema_version", SCHEMA_VERSION) > SCHEMA_VERSION:
            raise UsageError(
                f"the run file has the form {values['schema_version']}, and this Proctor knows {SCHEMA_VERSION}",
                location=Location(file),
                hint="a newer Proctor wrote it: upgrade, pip install -U proctor",
            )
        return cls(**{**values, "tasks": tuple(values["tasks"]), "tags": tuple(values.get("tags") or ())})

    @classmethod
    def load(cls, path: str | Path) -> RunSpec:
        """Read a ``run.yaml``, or the one in a run folder."""
        path = Path(path)
        folder = path if path.is_dir() else None
        path = path if folder is None else folder / "run.yaml"
        try:
            text = read_bytes(path, MOST_BYTES, within=folder).decode("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            hint = (
                "" if folder is None else f"if the folder is not yours, choose another; a run needs its own {path.name}"
            )
            raise UsageError(f"the run file {path} cannot be read", why=reason_of(error), hint=hint) from None
        return cls.from_yaml(text, str(path))


def _changed_exams(before: dict[str, Any], now: dict[str, Any]) -> Iterator[str]:
    for name in {**now, **before}:
        one, two = before.get(name), now.get(name)
        if isinstance(one, dict) and isinstance(two, dict):
            if HELD not in one:  # an older Proctor held no artifacts
                two = {key: value for key, value in two.items() if key != HELD}
            yield from (f"exams.{name}{where}" for where in changes(one, two))
        elif one != two:
            yield f"exams.{name}"


def changes(before: object, now: object) -> Iterator[str]:
    """Yield the differences of two JSON-like values: ``.recipe.num_demos: 0 → 3``."""
    if isinstance(before, dict) and isinstance(now, dict):
        for key in {**before, **now}:
            yield from (f".{key}{each}" for each in changes(before.get(key), now.get(key)))
    elif isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        for place, pair in enumerate(zip(before, now, strict=True)):
            yield from (f"[{place}]{each}" for each in changes(*pair))
    elif before != now:
        yield f": {_short(before)} → {_short(now)}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…"


_LONGEST_VALUE = 60  # characters of a value that has changed: enough to recognise it by


def _problems(cls: type[RunSpec], node: yaml.MappingNode, values: dict[str, Any], file: str) -> list[Diagnostic]:
    hints = get_type_hints(cls)
    found = []
    for key, value in node.value:
        place = Location(file, key.start_mark.line + 1, key.start_mark.column + 1)
        if key.value not in hints:
            hint = did_you_mean(key.value, hints) or f"its fields are {', '.join(hints)}"
            found.append(Diagnostic(f"a run file has no field '{key.value}'", place, f"$.{key.value}", hint=hint))
        elif (expected := _mismatch(values.get(key.value), hints[key.value], key.value)) is not None:
            place = Location(file, value.start_mark.line + 1, value.start_mark.column + 1)
            what = f"'{key.value}' is {values.get(key.value)!r}, expected {expected}"
            found.append(Diagnostic(what, place, f"$.{key.value}"))
    missing = [name for name in ("model", "tasks") if name not in values]
    return found + [Diagnostic(f"a run file needs the field '{name}'", Location(file, 1)) for name in missing]


def _mismatch(value: object, hint: Any, name: str) -> str | None:
    """Return what was expected, or ``None`` where the value fits."""
    if name in ("tasks", "tags"):
        fits = (
            isinstance(value, Sequence) and not isinstance(value, str) and all(isinstance(each, str) for each in value)
        )
        return None if fits and (value or name == "tags") else "a list of names"
    kinds = tuple(
        getattr(kind, "__origin__", kind) for kind in (get_args(hint) if type(None) in get_args(hint) else (hint,))
    )
    if isinstance(value, bool) and bool not in kinds:
        return "a whole number" if int in kinds else "text"
    if isinstance(value, kinds):
        return None
    words = {int: "a whole number", str: "text", bool: "true or false", dict: "a mapping"}
    return words.get(kinds[0], "another type")


def overrides_of_runs() -> tuple[str, ...]:
    """Return the options of exams that a run file keeps under ``overrides``: those without a field of their own."""
    own = {each.name for each in fields(RunSpec)}
    return tuple(name for name in DECLARED if name not in own and name != "model_arguments")
