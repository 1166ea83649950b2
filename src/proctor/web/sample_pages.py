"""Pages about the instances of a run: the list, and one instance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from markupsafe import Markup

from proctor.dialects.run_file import exams_of_spec
from proctor.effects import require
from proctor.errors import ProctorError, UsageError
from proctor.prompts.origins import parts_in
from proctor.prompts.preview import payload_of, prompts_of
from proctor.recipes.exam import Exam, Question
from proctor.results.score_grid import group_label, groups_of, label_of_instance
from proctor.results.summary import score_rows
from proctor.runs.answer_notes import LONGEST, Note, Notes, add_note, notes_of
from proctor.runs.sample_index import SampleIndex
from proctor.runs.sample_lines import answer_key
from proctor.runs.sample_query import ORDERS, SampleQuery
from proctor.runs.stored_run import StoredRun
from proctor.web.asked import check_lengths, check_run
from proctor.web.charts import histogram
from proctor.web.confinement import page_of
from proctor.web.instance_lists import MOST_COUNTED, asked_of, line_of_sample, outcome_in, presets
from proctor.web.instances import find_instance
from proctor.web.library import Library
from proctor.web.prompt_view import explained_messages
from proctor.web.run_pages import stored_run
from proctor.web.sample_view import (
    assertions_in,
    choices_of,
    judgements_in,
    messages_of,
    values_of,
)

if TYPE_CHECKING:
    from starlette.requests import Request

_LONGEST_NUMBER = (
    12  # digits: more instances than a disk holds, and times the size of a page still an integer of SQLite
)
_LONGEST_SHOWN = 80  # characters of what cannot be meant: a line
PAGE_SIZE = 50  # a few screens of one line each, read from the index in milliseconds

Values = tuple[str, dict[str, Any]]


def samples(library: Library, request: Request) -> Values:
    """List the instances of a run: filtered, sorted, searched, a page at a time."""
    stored, run_id = stored_run(library, request)
    index = library.index(stored)
    notes = notes_of(stored.path)
    query = _query(stored, request, index, notes)
    number = _page_number(request)
    page = index.page(query, (number - 1) * PAGE_SIZE, PAGE_SIZE)
    last = max(1, -(-page.total // PAGE_SIZE))
    return "samples.html", {
        "id": run_id,
        "run": stored,
        "query": query,
        "subset": request.query_params.get("subset", ""),
        "subsets": [name for name, entry in stored.results.items() if entry.get("members")],
        "groups": _groups(stored, query),
        "parameters": _parameters(request),
        "narrowed": any(request.query_params.get(name) for name in FILTERS),
        "samples": [line_of_sample(sample, stored, notes) for sample in page.samples],
        "presets": presets(stored, index, query, request.query_params, notes),
        "histogram": _histogram(stored, index, query, request),
        "scores": [
            row
            for row in score_rows(stored.results)
            if row.task == (query.exam or row.task) and row.is_graded and row.is_main
        ],
        "total": page.total,
        "is_more": page.is_more,
        "page": number,
        "last": last,
        "share": index.share,
        "live": index.share < 1.0,
    }


def sample(library: Library, request: Request) -> Values:
    """Show one instance with everything that is known about it."""
    stored, run_id = stored_run(library, request)
    index = library.index(stored)
    number = _count(str(request.path_params["number"]), "instance")
    found = index.get(number)
    notes = notes_of(stored.path)
    before, after = index.neighbours(_query(stored, request, index, notes), number)
    messages, problem = messages_of(found.record.get("prompt")), ""
    if wants_parts := request.query_params.get("parts") == "1":
        explained, problem = explain(library, stored, found.record)
        messages = explained or messages
    return "sample.html", {
        "id": run_id,
        "run": stored,
        "sample": found,
        "outcome": outcome_in(found, stored),
        "record": found.record,
        "messages": messages,
        "present": parts_in(part["origin"] for message in messages for part in message.get("parts", ())),
        "explanation": problem,
        "can_explain": stored.spec is not None and not wants_parts,
        "choices": choices_of(found.record),
        "assertions": assertions_in(found.record),
        "judgements": judgements_in(found.record),
        "values": values_of(found.record),
        "groups": _groups_of(stored, found.record),
        "takes_notes": library.takes_notes,
        "notes": notes.get(answer_key(found.record), []),
        "before": before,
        "after": after,
        "parameters": _parameters(request),
        "live": False,
    }


def keep_note(library: Library, run_id: str, number: str, given: Mapping[str, str]) -> str:
    """Keep a note on an answer; return the address of the page that leads on: that where it was written.

    Args:
        library: The runs.
        run_id: The run.
        number: The instance.
        given: ``thumb``, ``note`` and ``who``, and the page (``back``).

    Raises:
        UsageError: There is no such answer, or a field is too long.
        OSError: It cannot be written.
    """
    with page_of(library):
        stored = library.get(run_id)
        key = answer_key(library.index(stored).get(_count(number, "instance")).record)
    said = {name: given.get(name, "").replace("\r\n", "\n").strip() for name in LONGEST}
    add_note(stored.path, key, Note(said["thumb"], said["note"], said["who"]))
    back = given.get("back", "")
    return back if back.startswith(("/runs/", "/compare?")) else f"/runs/{run_id}/samples/{number}"


def _query(stored: StoredRun, request: Request, index: SampleIndex, notes: Notes) -> SampleQuery:
    given = request.query_params
    check_lengths({"q": given.get("q", "")})
    order = given.get("order", "place")
    if order not in ORDERS:
        raise UsageError(f"there is no order '{order[:_LONGEST_SHOWN]}'", hint=f"the orders are {', '.join(ORDERS)}")
    return SampleQuery(
        exam=given.get("exam") or None,
        subset=_members(stored, given.get("subset", "")),
        group=given.get("group") or None,
        text=given.get("q", ""),
        failed={"yes": True, "no": False}.get(given.get("failed", "")),
        lowest=_bound(given.get("lowest", ""), "lowest"),
        highest=_bound(given.get("highest", ""), "highest"),
        order=order,
        numbers=index.numbers_of(notes) if given.get("notes") else None,
    )


def _members(stored: StoredRun, subset: str) -> tuple[str, ...]:
    if not subset:
        return ()
    members = stored.results.get(subset, {}).get("members")
    if not isinstance(members, list) or not members:
        known = [name for name, entry in stored.results.items() if entry.get("members")]
        raise UsageError(f"the run has no subset '{subset}'", hint=f"it has {', '.join(known) or 'none'}")
    return tuple(map(str, members))


def _groups(stored: StoredRun, query: SampleQuery) -> list[str]:
    """Return the groups of the exams that may be shown."""
    exams = [query.exam] if query.exam else query.subset or list(stored.results)
    found = [group_label(each["by"]) for exam in exams for each in groups_of(stored.results.get(exam, {}))]
    return sorted(set(found))


def _groups_of(stored: StoredRun, record: Mapping[str, Any]) -> list[str]:
    """Return the groups that an instance belongs to."""
    known = groups_of(stored.results.get(str(record.get("exam")), {}))
    fields = record.get("input")
    if not known or not isinstance(fields, dict):
        return []
    names = dict.fromkeys(tuple(sorted(group["by"])) for group in known)
    return [label_of_instance(fields, each) for each in names]


def _bound(text: str, name: str) -> float | None:
    try:
        return float(text if len(text) <= _LONGEST_SHOWN else "") if text.strip() else None
    except ValueError:
        raise UsageError(f"the {name} score is '{text[:_LONGEST_SHOWN]}', which is not a number") from None


def _page_number(request: Request) -> int:
    text = request.query_params.get("page", "1")
    number = _count(text, "page")
    if not number:
        raise UsageError("there is no page '0'")
    return number


def _count(text: str, what: str) -> int:
    """Return a number of an address.

    Raises:
        UsageError: It is not one, or larger than the number of anything here.
    """
    if not (text.isascii() and text.isdecimal() and len(text) <= _LONGEST_NUMBER):
        raise UsageError(f"there is no {what} '{text[:_LONGEST_SHOWN]}'")
    return int(text)


FILTERS = ("exam", "subset", "group", "q", "failed", "lowest", "highest", "notes")


def _parameters(request: Request) -> str:
    """Return what was asked for, to be asked for again on the next page."""
    given = [(name, request.query_params.get(name, "")) for name in (*FILTERS, "order")]
    return urlencode([(name, value) for name, value in given if value and (name, value) != ("order", "place")])


_BINS = 10
"""Columns of a histogram: tenths, where scores go from 0 to 1."""


def _histogram(stored: StoredRun, index: SampleIndex, query: SampleQuery, request: Request) -> Markup | None:
    """Return how the scores of one exam are spread; ``None`` for several exams, and where it says nothing."""
    exams = {query.exam} if query.exam else set(query.subset or stored.exams)
    if len(exams) != 1 or asked_of(stored) > MOST_COUNTED:
        return None
    kept = {
        name: text for name in ("exam", "subset", "group", "q", "order") if (text := request.query_params.get(name))
    }
    bins = index.distribution(query, _BINS)
    links = ["?" + urlencode({**kept, "failed": "no", "lowest": each.low, "highest": each.high}) for each in bins]
    return histogram(bins, links) if bins else None


def explain(library: Library, stored: StoredRun, record: dict[str, Any]) -> tuple[list[dict[str, Any]], str]:
    """Return an instance's prompt made of parts, by making it anew; or nothing, and why that is impossible."""
    if stored.spec is None:
        return [], "the run file cannot be read"
    try:
        check_run(stored.spec, library)
        exam = next((each for each in exams_of_spec(stored.spec) if each.name == record.get("exam")), None)
        question = _question_of(exam, record.get("doc_id")) if exam is not None else None
    except (ProctorError, ValueError) as error:
        problem = error.diagnostics[0] if isinstance(error, ProctorError) else None
        hint = f" ({problem.hint})" if problem and problem.hint else ""
        return [], f"the prompt cannot be made again: {problem.what if problem else error}{hint}"
    if question is None:
        return [], "the exam does not have this instance any more"
    made = [payload_of(prompt) for request in question.requests for prompt in prompts_of(request)]
    if record.get("prompt") not in (*made, made):
        return [], "the exam has changed since: it would ask this differently now"
    return [message for request in question.requests for message in explained_messages(request)], ""


def _question_of(exam: Exam, doc_id: Any) -> Question | None:
    """Return the question about an instance."""
    if not isinstance(doc_id, int) or doc_id < 0:
        return None
    require(exam.effects(), exam.author)
    return find_instance(exam, lambda _, question: question.number == doc_id)
