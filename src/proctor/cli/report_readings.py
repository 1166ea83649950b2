"""``proctor report --readings``: what the scores would be if answers were read otherwise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from proctor.cli.error_reporting import DONE, FAILURES, say, show
from proctor.cli.run_folders import read_run
from proctor.errors import ProctorError, UsageError

if TYPE_CHECKING:
    from proctor.runs.readings import ExamReadings

_WORDS: Final = {
    "own": "as the exam reads",
    "first": "the first match",
    "last": "the last match",
    "strict": "only what is clear",
}
"""Readings as they are called in tables."""


def report_readings(folders: Sequence[Path], most: int, *, as_json: bool = False) -> int:
    """Print the scores of runs under each reading of their answers; return the exit code.

    Args:
        folders: Run folders.
        most: Instances that are listed of those that change; JSON has all.
        as_json: Whether JSON is printed.

    Raises:
        UsageError: A run has no samples.
    """
    from proctor.dialects.run_file import exam_of_run
    from proctor.runs.readings import readings_of
    from proctor.runs.sample_index import SampleIndex

    found: list[ExamReadings] = []
    failed = False
    for run in map(read_run, folders):
        if run.samples is None:
            raise UsageError(f"{run.path} has no samples.jsonl", hint="a run with --log-samples writes it when it ends")
        index = SampleIndex.of_run(run.samples, run.results, run.spec)
        index.build()
        for exam in index.exams():
            try:
                found.append(readings_of(index, exam, exam_of_run))
            except ProctorError as error:
                failed = True
                why = f": {error.diagnostics[0].why}" if error.diagnostics[0].why else ""
                say(f"{exam}: cannot be read again: {error.diagnostics[0].what}{why}")
    if as_json:
        from proctor.cli.json_output import print_json

        print_json([each.record() for each in found], indent=2)
    else:
        show("\n".join(line for each in found for line in _lines(each, most)))
    return FAILURES if failed else DONE


def _lines(exam: ExamReadings, most: int) -> Iterator[str]:
    from proctor.results.summary import shown

    yield f"{exam.exam}: {exam.metric} of {exam.asked}: {exam.verdict()}"
    if "nothing" in exam.verdict():
        return
    for way, score in exam.scores.items():
        bounds = "" if score.low is None or score.high is None else f"  {shown(score.low)} to {shown(score.high)}"
        line = f"  {_WORDS[way]:20}{shown(score.number)}{bounds}"
        if changed := exam.changed.get(way):
            more = ", …" if len(changed) > most else ""
            line += f"  {len(changed)} change: {', '.join(map(str, changed[:most]))}{more}"
        yield line
    yield "  read by"
    for by, count in exam.read_by.items():
        yield f"    {count:6}  {by}"
    if exam.last_resorts:
        yield f"  {len(exam.last_resorts)} of {exam.asked} scores hang on a last resort"
