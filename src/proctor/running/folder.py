"""The run folder: ``run.yaml``, ``samples.jsonl``, ``results.json``. Each file appears whole or not at all.

One run at a time has a folder (:meth:`RunFolder.held`). No link in it is followed: it may have been somebody else's.

``run.yaml`` is written first and ``results.json`` last; a folder with one and not the other is a run that did not
end, and running into it again completes it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from itertools import count, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from proctor.errors import ChangedDataError, OutputError, ProctorError, UsageError
from proctor.jsonable import to_document, to_lines
from proctor.logs import get_logger
from proctor.recipes.exam import Answered, Exam
from proctor.recipes.fingerprint import Fingerprint
from proctor.running.folder_lock import locked
from proctor.running.sample_records import Decodings, ScoredParts, asked_part
from proctor.running.spec import MOST_BYTES, SCHEMA_VERSION, RunSpec
from proctor.safe_files import read_bytes, remove_leftovers, scratch, written
from proctor.scoring.grades import Grade

if TYPE_CHECKING:
    from proctor.engines.engine import Engine
    from proctor.running.progress import Progress

SPEC, SAMPLES, RESULTS = "run.yaml", "samples.jsonl", "results.json"
_BLOCK = 256  # lines that are encoded together: calls are cheap then, and the lines weigh little
_DIFFERENCES_SHOWN = 5  # enough to recognise the other run by, on a line or two


class RunFolder:
    """A folder that takes the files of one run.

    Args:
        path: The folder; made by :meth:`held` or :meth:`open`. It may be a link; what is in it is not followed.
        engine: The run's engine: a folder that an earlier version wrote for it is this run's.
    """

    def __init__(self, path: str | Path, engine: Engine | None = None) -> None:
        self.path = Path(path)
        self._engine = engine
        self._spec: RunSpec | None = None
        self._known: Mapping[str, Fingerprint] = {}

    @contextmanager
    def held(self, log: str = "") -> Iterator[None]:
        """Make the folder, and keep other runs out of it until the block ends; what a killed run left is removed.

        Args:
            log: Where the run files its answers, told to others who would run here.

        Raises:
            FolderHeldError: Another run is going on there.
            OutputError: It cannot be written.
        """
        with ExitStack() as stack:
            with _output_errors(self.path):
                self.path.mkdir(parents=True, exist_ok=True)
                stack.enter_context(locked(self.path, log))
                for name in (SPEC, SAMPLES, RESULTS):
                    remove_leftovers(self.path / name)
            yield

    def open(self, spec: RunSpec) -> None:
        """Make the folder and write ``run.yaml``; results of an earlier run of the same spec are kept until the end.

        Files of another run, which got no answer or of which nobody knows what it was, are set aside.

        Raises:
            UsageError: The folder holds another run.
            OutputError: The folder cannot be written.
        """
        before = self._compared(spec)
        if before is not None:
            spec = replace(spec, fingerprints=before.fingerprints, tags=spec.tags or before.tags)
        self._spec = spec if before is not None else replace(spec, fingerprints={})
        with _output_errors(self.path):
            self.path.mkdir(parents=True, exist_ok=True)
            if before is None and (self.path / RESULTS).is_file():
                self._set_aside()
        self._write_spec()

    def keep_answers(self, progress: Progress) -> None:
        """Set aside what an earlier run of the same spec wrote, if it got answers and the one that ends got none."""
        if progress.answered == progress.failed and not progress.cached and self._is_answered():
            with _output_errors(self.path):
                self._set_aside()
            self._write_spec()

    def _set_aside(self) -> None:
        """Move the files of an earlier run into a folder of their own."""
        place = next(each for number in count(1) if not (each := self.path / f"earlier-{number}").exists())
        place.mkdir()
        for name in (SPEC, SAMPLES, RESULTS):
            with suppress(FileNotFoundError):
                (self.path / name).rename(place / name)
        get_logger().warning("what an earlier run wrote into %s is kept in %s", self.path, place)

    def check(self, spec: RunSpec, exams: Iterable[Exam]) -> None:
        """Check that a run could write here, and write nothing.

        Raises:
            UsageError: The folder holds another run.
            ChangedDataError: It holds this one, on other rows.
        """
        self._compared(spec)
        self.check_rows(exams)

    def _compared(self, spec: RunSpec) -> RunSpec | None:
        """Return the run that is here already, and keep what its exams were made of."""
        before = self._before(spec)
        if before is not None and (differences := spec.differences(before)):
            if self._is_answered() is not False:
                raise self._another(differences)
            before = None
        is_sample = spec.precision is not None  # which questions these are depends on the answers: a budget ended some
        self._known = {} if before is None or is_sample else _fingerprints(before.fingerprints)
        return before

    def _is_answered(self) -> bool | None:
        """Whether the run that ended here got an answer; one that asked a wrong address got none. ``None``: unknown."""
        with suppress(OSError, ValueError, LookupError, TypeError, RuntimeError, ProctorError):
            found = json.loads(read_bytes(self.path / RESULTS, MOST_BYTES, within=self.path))["run"]["requests"]
            if found["answered"] or found["from_log"]:
                return bool(found["answered"] > found["failed"] or found["from_log"])
        return None

    def _write_spec(self) -> None:
        if self._spec is not None:
            with self._write(SPEC) as file:
                file.write(self._spec.to_yaml().encode())

    def _before(self, spec: RunSpec) -> RunSpec | None:
        """Return the run that is here already."""
        if not (self.path / SPEC).exists():
            return None
        with suppress(OSError):  # the run itself again: the text is the same, and says so faster than its meaning
            if read_bytes(self.path / SPEC, MOST_BYTES, within=self.path) == spec.to_yaml().encode():
                return spec
        found = RunSpec.load(self.path)
        is_earlier = self._engine is not None and found.is_earlier_run_of(self._engine)
        return replace(found, engine=spec.engine) if is_earlier else found

    def check_rows(self, exams: Iterable[Exam]) -> None:
        """Check that the data of exams is what it was when a run ended here; nothing is asked for it.

        Raises:
            ChangedDataError: Rows were changed, added, left out or put in another order since.
        """
        for exam in exams:
            if (known := self._known.get(exam.name)) is None or not known.rows:
                continue
            found = exam.rows_digest()
            now = replace(known, data=found.in_order, rows=found.as_set)
            if now.differences(known):
                raise ChangedDataError(self._another([_changed_data(exam.name, known, now)]).diagnostics)

    def take(self, fingerprints: Mapping[str, Mapping[str, str]]) -> None:
        """Note what exams were made of, before results are written.

        Raises:
            UsageError: The run that ended here before was made of something else.
        """
        for name, found in _fingerprints(fingerprints).items():
            known = self._known.get(name)
            layers = [] if known is None else [each for each in found.differences(known) if each != "engine"]
            if layers:  # the engine was compared before; a provider may serve another version of it by now
                raise self._another([f"the {', '.join(layers)} of {name}"])
        if self._spec is not None:
            self._spec = replace(self._spec, fingerprints={name: dict(each) for name, each in fingerprints.items()})
            self._write_spec()

    def _another(self, differences: Sequence[str]) -> UsageError:
        more = len(differences) - _DIFFERENCES_SHOWN
        shown = [*differences[:_DIFFERENCES_SHOWN], *([f"{more} more"] if more > 0 else [])]
        return UsageError(
            f"the folder {self.path} holds another run",
            why=f"it differs in {', '.join(shown)}",
            hint="its results are kept; choose another folder with --output, or remove this one",
        )

    def write_results(self, results: dict[str, Any], run: dict[str, Any]) -> None:
        """Write ``results.json``; ``results`` is reproducible, ``run`` says when, where and how."""
        with self._write(RESULTS) as file:
            file.write(to_document({"schema_version": SCHEMA_VERSION, "results": results, "run": run}))

    @contextmanager
    def samples(self) -> Iterator[SampleWriter]:
        """Open ``samples.jsonl``; it appears when the block ends well."""
        with self._write(SAMPLES) as file, scratch(self.path) as spool:
            yield SampleWriter(file, spool, self.path)

    @contextmanager
    def _write(self, name: str) -> Iterator[BinaryIO]:
        with _output_errors(self.path), written(self.path / name, durable=True) as file:
            yield file


class SampleWriter:
    """Writes one line per instance.

    Scores come when an exam is graded as a whole, so what is known before (input, prompt, output) waits in a spool
    file; memory does not grow with the number of instances.
    """

    def __init__(self, file: BinaryIO, spool: BinaryIO, folder: Path) -> None:
        self._file = file
        self._spool = spool
        self._folder = folder

    def record(self, exam: str, blocks: Iterable[Sequence[Answered]]) -> Iterator[Sequence[Answered]]:
        """Pass answered items through, keeping what their lines begin with."""
        spool = self._spool
        with _output_errors(self._folder):
            spool.seek(0)
            spool.truncate()
            decodings = Decodings()
            for block in blocks:  # before it is passed on: who grades it may change it
                spool.write(to_lines([asked_part(exam, each, decodings) for each in block]))
                yield block
            spool.flush()

    def finish(self, grade: Grade) -> None:
        """Write the lines of the exam whose items were recorded last."""
        self._spool.seek(0)
        scored = ScoredParts(grade)
        while lines := list(islice(self._spool, _BLOCK)):
            ends = to_lines(scored.next(len(lines))).splitlines(keepends=True)
            whole = [b"%s,%s" % (line[:-2], end[1:]) for line, end in zip(lines, ends, strict=True)]
            self._file.writelines(whole)


def _fingerprints(values: Mapping[str, Any]) -> dict[str, Fingerprint]:
    found = {name: Fingerprint.from_dict(value) for name, value in values.items()}
    return {name: value for name, value in found.items() if value is not None}


def _changed_data(exam: str, before: Fingerprint, now: Fingerprint) -> str:
    if before.rows == now.rows:
        return f"the order of the data of {exam}"
    return f"the data of {exam}: rows were changed, added or left out"


@contextmanager
def _output_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        choice = "another folder with --output; answers that came are in the response log and are not asked again"
        raise OutputError.unwritable(f"the run folder {path}", error, choice) from error
