"""Comparison of runs, instance by instance, whoever wrote them: ``proctor.compare`` and ``proctor compare``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from proctor.dialects.run_file import exam_of_run
from proctor.errors import UsageError, did_you_mean
from proctor.exchange.foreign_runs import write_foreign
from proctor.exchange.readers import observed
from proctor.logs import get_logger
from proctor.running.run import RunResult
from proctor.runs.answer_labels import read_labels
from proctor.runs.compare_runs import corrected, evidence_of
from proctor.runs.exam_comparison import ExamComparison
from proctor.runs.pairs import matched_exams
from proctor.runs.rankings import with_places
from proctor.runs.sample_index import SampleIndex
from proctor.runs.stored_run import StoredRun, find_runs, is_run, load_run, runs_in, state_notes

Read = Callable[[Path], StoredRun]
"""Reads a run folder, or says what is wrong with it."""


class RunComparison(NamedTuple):
    """A run compared with a baseline.

    Attributes:
        baseline, run: Their names, as the user wrote them.
        exams: What the exams that they share say; ``exams[0].difference``, ``.low``, ``.high``, ``.p_corrected``,
            ``.decision`` and ``.sentence()`` among it.
    """

    baseline: str
    run: str
    exams: list[ExamComparison]


def compare(
    baseline: str | Path | RunResult,
    *others: str | Path | RunResult,
    clusters: str | None = None,
    labels: Sequence[str | Path] = (),
) -> list[RunComparison]:
    """Compare runs with a baseline as ``proctor compare`` does: paired by what instances hold, one test each.

    Args:
        baseline, others: Run folders, ``FOLDER::EXAM``, logs of other systems, or results of runs with an ``output``.
        clusters: The field whose values say which instances belong together; by default what the exam says.
        labels: Files of what people say of the answers; without them, those that are kept beside the runs.

    Returns:
        A comparison of each other run, ``run`` minus ``baseline``; intervals (95%) and p hold for all together.

    Raises:
        UsageError: A run has no folder or no samples, or shares nothing with the baseline.
    """
    if not others:
        raise UsageError("one run alone is compared with nothing", hint="compare(baseline, run)")
    return compared([_place(each) for each in (baseline, *others)], clusters, list(map(Path, labels)), _read)


def _place(run: str | Path | RunResult) -> str:
    if isinstance(run, RunResult) and run.output is None:
        raise UsageError("these results lie in no folder", hint='run(…, output="runs/a") keeps the samples')
    return str(run.output if isinstance(run, RunResult) else run)


def _read(path: Path) -> StoredRun:
    if not is_run(path):
        hint = runs_in(path) if path.is_dir() else ""
        raise UsageError(f"{path} is not a run folder", hint=hint)
    run = load_run(path)
    for note in ([run.problem] if run.problem else []) + state_notes(run):
        get_logger().warning("%s: %s", path, note)
    return run


def compared(names: Sequence[str], clusters: str | None, labels: Sequence[Path], read_run: Read) -> list[RunComparison]:
    """Return the comparisons of runs with the first, corrected for their number, with the places that each may hold.

    Args:
        names: The runs, as a user named them.
        clusters, labels: As of :func:`compare`.
        read_run: Reads a folder.

    Raises:
        UsageError: As of :func:`compare`.
    """
    with TemporaryDirectory(prefix="proctor-") as folder:
        opened = _opened(names, Path(folder), read_run)
        if labels:
            given = read_labels(labels)
            for each in opened:
                each.samples.labels = given
        found = _compared(opened, clusters)
    fixed = with_places(corrected([rows for _, _, rows in found]))
    return [each._replace(exams=rows) for each, rows in zip(found, fixed, strict=True)]


class _Opened(NamedTuple):
    """A run under the name that the user gave it, and the exam of it that is meant; empty where all are."""

    name: str
    samples: SampleIndex
    exam: str


def _opened(names: Sequence[str], folder: Path, read_run: Read) -> list[_Opened]:
    """Return runs with their indexes; files that others wrote become run folders in a folder."""
    read = {name: observed(name) for name in names if _is_foreign(name)}
    places = {name: folder / str(place) for place, name in enumerate(read)}
    ours = next((name for name in names if name not in read), None)
    known = [] if not read else next(iter(read.values())) if ours is None else observed(ours)
    for name, exams in read.items():
        write_foreign(exams, places[name], [] if exams is known else known)
    return [
        _Opened(name, *_index(str(places.get(name, name)), read_run, folder if name in places else None))
        for name in names
    ]


def _is_foreign(name: str) -> bool:
    """Whether a place is a file, or a folder of files, that another system wrote."""
    path = Path(name) if Path(name).exists() else Path(name.partition("::")[0])
    if path.is_file() or not path.is_dir():
        return path.is_file()
    return not any(find_runs(path)) and any(each.suffix in (".json", ".jsonl", ".eval") for each in path.rglob("*.*"))


def _compared(opened: Sequence[_Opened], clusters: str | None) -> list[RunComparison]:
    (baseline, first, exam), *others = opened
    found: list[RunComparison] = []
    for name, second, other in others:
        pairs = [(exam, other)] if exam and other else matched_exams(first, second)
        pairs = [pair for pair in pairs if exam in ("", pair[0]) and other in ("", pair[1])]
        if not pairs:
            raise _nothing_shared(baseline, first, name, second)
        rows = [evidence_of(first, one, second, two, exam_of_run, clusters) for one, two in pairs]
        found.append(RunComparison(baseline, name, rows))
    return found


def _nothing_shared(baseline: str, first: SampleIndex, name: str, second: SampleIndex) -> UsageError:
    return UsageError(
        "the runs share no exam, and no two of their exams ask about the same instances",
        why=f"{baseline} has {', '.join(first.exams()) or 'none'}; {name} has {', '.join(second.exams()) or 'none'}",
        hint="FOLDER::EXAM FOLDER::EXAM compares two exams whatever their names",
    )


def _index(name: str, read_run: Read, beside: Path | None = None) -> tuple[SampleIndex, str]:
    """Return the index of a run, kept in a folder or the cache, and the exam that is meant; empty where all are."""
    folder, _, exam = (name, "", "") if Path(name).is_dir() else name.partition("::")
    path = Path(folder)
    run = read_run(path)
    if run.samples is None:
        raise UsageError(f"{path} has no samples.jsonl", hint="a run with --log-samples writes it when it ends")
    place = beside and beside / f"{path.name}.db"
    index = SampleIndex.of_run(run.samples, run.results, run.spec, place)
    index.build()
    if exam and exam not in index.exams():
        hint = did_you_mean(exam, index.exams()) or f"its exams are {', '.join(index.exams())}"
        raise UsageError(f"{path} has no exam '{exam}'", hint=hint)
    return index, exam
