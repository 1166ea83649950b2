"""The page that compares runs with a baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

from proctor.errors import UsageError
from proctor.runs.answer_notes import notes_of
from proctor.runs.compare_runs import Change, FindExam, compare_with, pairs_by_change
from proctor.runs.question_words import question_of
from proctor.runs.sample_index import Sample, SampleIndex
from proctor.runs.sample_lines import answer_key
from proctor.runs.stored_run import StoredRun
from proctor.web.charts import difference_bar
from proctor.web.difference import difference
from proctor.web.exam_form import is_count
from proctor.web.library import Library
from proctor.web.rendering import pretty
from proctor.web.sample_view import Room, choices_of, excerpt, messages_of, reasons_of, references_text
from proctor.web.verdicts import outcome_of

if TYPE_CHECKING:
    from starlette.requests import Request

PAGE_SIZE = 10  # instances on a page: each shows its prompt and all outputs, which is a screen or more
FEWEST = 2  # one run has nothing to be compared with
_LONGEST_ANSWER = 2000  # characters: half a screen beside another
_LONGEST_PROMPT = 6000  # characters: some screens beside another, and compared in milliseconds
MOST_RUNS = 12  # each is a row of every exam and has an index to open: more of them nobody reads

Values = tuple[str, dict[str, Any]]
Chosen = list[tuple[str, StoredRun, SampleIndex]]
"""The runs that are compared, with their ids and indexes; the first is the baseline."""


def compare(library: Library, request: Request) -> Values:
    """Show paired differences of runs and a baseline, and the instances that flipped."""
    ids = _chosen_ids(request)
    values: dict[str, Any] = {
        "runs": [{"id": run_id, "run": run} for run_id, run in library.runs()],
        "chosen": ids,
        "rows": [],
        "takes_notes": library.takes_notes,
        "flips": None,
        "exam": request.query_params.get("exam", ""),
    }
    if len(ids) < FEWEST:
        return "compare.html", values
    chosen = [_opened(library, run_id) for run_id in ids]
    values["names"] = [run.path.name for _, run, _ in chosen]
    values["rows"] = _rows(chosen)
    if values["exam"]:
        values |= _flips(chosen, request)
    return "compare.html", values


def _chosen_ids(request: Request) -> list[str]:
    """Return the runs that are asked for, the baseline first, each once."""
    given = request.query_params.getlist("run")
    baseline = request.query_params.get("baseline", "")
    ids = list(dict.fromkeys([baseline, *given] if baseline else given))
    if len(ids) > MOST_RUNS:
        raise UsageError(f"{len(ids)} runs are too many for one page", hint=f"choose {MOST_RUNS} at most")
    return ids


def _opened(library: Library, run_id: str) -> tuple[str, StoredRun, SampleIndex]:
    run = library.get(run_id)
    index = library.index(run)
    if index.share < 1.0:
        raise UsageError(f"the instances of {run.path.name} are still being indexed", hint="load the page again soon")
    return run_id, run, index


def _rows(chosen: Chosen) -> list[dict[str, Any]]:
    names = [run.path.name for _, run, _ in chosen[1:]]
    rows = difference_rows(chosen[0][2], [index for _, _, index in chosen[1:]], names)
    for row in rows:
        if row["difference"] is None or row["test"] == "bootstrap":
            continue
        for way in ("better", "worse", "all"):
            row[f"{way}_link"] = _link(chosen, (row["task"], row["task_second"]), chosen[row["place"] + 1][0], way)
    return rows


def difference_rows(
    baseline: SampleIndex, others: Sequence[SampleIndex], names: Sequence[str], find_exam: FindExam | None = None
) -> list[dict[str, Any]]:
    """Return the comparisons with a baseline, exam by exam, with pictures on one axis.

    Each row has ``run`` (one of ``names``) and ``place`` (its position among ``others``); exams stand together. Where a
    comparison has no number, ``refused`` says why.
    """
    rows = [
        {
            **row.record(names[place]),
            "run": names[place],
            "place": place,
            "shows_nothing": row.shows_nothing,
            "refused": row.refused or row.too_few,
        }
        for place, compared in enumerate(compare_with(baseline, others, find_exam))
        for row in compared
    ]
    drawn = [row[name] for row in rows if not row["refused"] for name in ("low", "high", "difference")]
    bounds = [abs(value) for value in drawn if value is not None]
    reach = max(bounds, default=1.0)
    for row in rows:
        if not row["refused"]:
            row["chart"] = difference_bar(row["difference"], row["low"], row["high"], reach)
    order = {exam: place for place, exam in enumerate(baseline.exams())}
    return sorted(rows, key=lambda row: (order[row["task"]], row["place"]))


def _link(chosen: Chosen, exams: tuple[str, str], other: str, way: str) -> str:
    """Return the address of the instances of an exam that another run scored better, or worse."""
    runs = [("run", run_id) for run_id, _, _ in chosen]
    named = [("exam", exams[0]), *([("as", exams[1])] if exams[1] not in ("", exams[0]) else [])]
    return "/compare?" + urlencode([*runs, *named, ("with", other), ("way", way)]) + "#flips"


def _page(request: Request) -> int:
    text = request.query_params.get("page", "1")
    return max(1, int(text)) if is_count(text) else 1


def _flips(chosen: Chosen, request: Request) -> dict[str, Any]:
    """Return instances of an exam that a run and the baseline scored, with all outputs; those that flipped first."""
    exam, way = request.query_params.get("exam", ""), request.query_params.get("way", "worse")
    other = request.query_params.get("with") or chosen[1][0]
    found = next((entry for entry in chosen[1:] if entry[0] == other), None)
    if found is None:
        raise UsageError("the run that flipped is not among those that are compared")
    named = request.query_params.get("as") or exam
    way = way if way in WAYS else "worse"
    changes = pairs_by_change(chosen[0][2], found[2], exam, named)
    pairs = [pair for change in WAYS[way] for pair in changes[change]]
    page = _page(request)
    shown = pairs[(page - 1) * PAGE_SIZE : page * PAGE_SIZE]
    return {
        "flips": [_flip(chosen, other, (exam, named), pair) for pair in shown],
        "way": way,
        "ways": [
            (each, _link(chosen, (exam, named), other, each), sum(len(changes[c]) for c in WAYS[each])) for each in WAYS
        ],
        "flipped": found[1].path.name,
        "count": len(pairs),
        "page": page,
        "last": max(1, -(-len(pairs) // PAGE_SIZE)),
        "here": _link(chosen, (exam, named), other, way).partition("#")[0],
    }


WAYS: Final[Mapping[str, Sequence[Change]]] = {
    "worse": ("worse",),
    "better": ("better",),
    "flips": ("worse", "better"),
    "all": ("worse", "better", "same"),
}
"""Which instances are shown, in their order."""


def _exam_of(sample: Sample) -> str:
    return str(sample.record.get("exam", ""))


def _flip(chosen: Chosen, other: str, exams: tuple[str, str], pair: tuple[int, int]) -> dict[str, Any]:
    """Return an instance that flipped, with what every run that has the same one answered."""
    sides = []
    question = references = ""
    baseline = chosen[0][2].find(exams[0], pair[0])
    for run_id, run, index in chosen:
        if index is chosen[0][2]:
            sample = baseline
        elif run_id == other:
            sample = index.find(exams[1], pair[1])
        else:
            sample = index.find_same(exams[0], pair[0], baseline)
        if sample is None:
            continue
        question = question or excerpt(question_of(sample.record))
        references = references or references_text(sample.record)
        sides.append(
            {
                "run": run.path.name,
                "link": f"/runs/{run_id}/samples/{sample.number}",
                "score": sample.score,
                "outcome": "" if sample.failure else outcome_of(sample.score, run.results.get(_exam_of(sample), {})),
                "failure": sample.failure,
                "output": _answer_of(sample),
                "prompt": _prompt_of(sample),
                "thinking": Room(_LONGEST_PROMPT).cut(sample.record.get("thinking") or ""),
                "choices": choices_of(sample.record),
                "reasons": reasons_of(sample.record),
                "notes": notes_of(run.path).get(answer_key(sample.record), []),
            }
        )
    return {"doc_id": pair[0], "question": question, "references": references, "sides": sides, **_marked(sides)}


def _answer_of(sample: Sample) -> str:
    """Return an answer: the beginning and the end of a long one."""
    output = sample.record.get("output")
    return str(Room(_LONGEST_ANSWER).cut("" if output is None else pretty(output)))


def _prompt_of(sample: Sample) -> str:
    said = [
        (f"{each['role']}: " if each["role"] else "") + each["content"]
        for each in messages_of(sample.record.get("prompt"))
    ]
    return str(Room(_LONGEST_PROMPT).cut("\n".join(said)))


def _marked(sides: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Put the pieces of answers and of prompts into the sides, marked by words against the first one's.

    Returns:
        ``same_prompt``: whether all were asked with the same words.
    """
    for name in ("output", "prompt"):
        for side in sides[1:]:
            pieces = difference(sides[0][name], side[name]).pieces
            side[f"{name}_pieces"] = [each for each in pieces if each[0] != "removed"]
            sides[0][f"{name}_pieces"] = [each for each in pieces if each[0] != "added"]
        if len(sides) != FEWEST:  # of several, each has its own difference from the first
            sides[0][f"{name}_pieces"] = [("same", sides[0][name])]
    return {"same_prompt": len({side["prompt"] for side in sides}) == 1}
