"""Pages about runs: the list, one run, its instances, one instance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from proctor.dialects.spec_exams import exams_of_spec
from proctor.errors import ProctorError, UsageError
from proctor.results.origins import parts_in
from proctor.results.preview import first_items, payload_of, prompts_of
from proctor.results.sample_index import Sample
from proctor.results.sample_query import ORDERS, SampleQuery
from proctor.results.summary import ScoreRow, failure_notes, score_rows
from proctor.running.stored import StoredRun
from proctor.settings import settings
from proctor.web.charts import choice_bar, interval_bar, scale_of
from proctor.web.library import Library
from proctor.web.prompt_view import explained_messages

if TYPE_CHECKING:
    from starlette.requests import Request

PAGE_SIZE = 50
_LONGEST_EXCERPT = 160
_LONGEST_VALUE = 20_000

Values = tuple[str, dict[str, Any]]


def runs(library: Library, _: Request) -> Values:
    """List the runs."""
    found = library.runs()
    listed = [{"id": run_id, "run": run, "rows": list(score_rows(run.results))} for run_id, run in found]
    live = any(run.state == "running" for _, run in found)
    return "runs.html", {"runs": listed, "roots": [str(root) for root in library.roots], "live": live}


def run(library: Library, request: Request) -> Values:
    """Show one run: scores with intervals, failures, how it was made and how to repeat it."""
    stored, run_id = _stored(library, request)
    rows = list(score_rows(stored.results, every_score=True))
    return "run.html", {
        "id": run_id,
        "run": stored,
        "rows": [_linked(row, rows, run_id if stored.samples else "") for row in rows],
        "notes": failure_notes(rows),
        "facts": facts_of(stored),
        "live": stored.state == "running",
    }


def samples(library: Library, request: Request) -> Values:
    """List the instances of a run: filtered, sorted, searched, a page at a time."""
    stored, run_id = _stored(library, request)
    index = library.index(stored)
    query = _query(request)
    number = _page_number(request)
    page = index.page(query, (number - 1) * PAGE_SIZE, PAGE_SIZE)
    last = max(1, -(-page.total // PAGE_SIZE))
    return "samples.html", {
        "id": run_id,
        "run": stored,
        "query": query,
        "parameters": urlencode(_parameters(query)),
        "orders": ORDERS,
        "samples": [_line(sample) for sample in page.samples],
        "total": page.total,
        "is_more": page.is_more,
        "page": number,
        "last": last,
        "share": index.share,
        "live": index.share < 1.0,
    }


def sample(library: Library, request: Request) -> Values:
    """Show one instance with everything that is known about it."""
    stored, run_id = _stored(library, request)
    index = library.index(stored)
    number = int(request.path_params["number"])
    found = index.get(number)
    before, after = index.neighbours(_query(request), number)
    messages, problem = messages_of(found.record.get("prompt")), ""
    if wants_parts := request.query_params.get("parts") == "1":
        explained, problem = explain(stored, found.record)
        messages = explained or messages
    return "sample.html", {
        "id": run_id,
        "run": stored,
        "sample": found,
        "record": found.record,
        "messages": messages,
        "present": parts_in(part["origin"] for message in messages for part in message.get("parts", ())),
        "explanation": problem,
        "can_explain": stored.spec is not None and not wants_parts,
        "choices": choices_of(found.record),
        "values": values_of(found.record),
        "before": before,
        "after": after,
        "parameters": urlencode(_parameters(_query(request))),
        "live": False,
    }


def _stored(library: Library, request: Request) -> tuple[StoredRun, str]:
    run_id = str(request.path_params["run"])
    return library.get(run_id), run_id


def _linked(row: ScoreRow, rows: list[ScoreRow], run_id: str) -> dict[str, Any]:
    entry = score_view(row, rows)
    if run_id:
        exam = urlencode({"exam": row.task})
        entry |= {"link": f"/runs/{run_id}/samples?{exam}", "failures": f"/runs/{run_id}/samples?{exam}&failed=yes"}
    return entry


def score_view(row: ScoreRow, rows: list[ScoreRow]) -> dict[str, Any]:
    """Return a score with its picture, on the axis that fits all rows of the same metric."""
    return {"row": row, "chart": interval_bar(row, _axis(row, rows))}


def _axis(row: ScoreRow, rows: list[ScoreRow]) -> tuple[float, float]:
    return scale_of([each for each in rows if each.metric == row.metric] or rows)


def _query(request: Request) -> SampleQuery:
    given = request.query_params
    order = given.get("order", "place")
    if order not in ORDERS:
        raise UsageError(f"there is no order '{order}'", hint=f"the orders are {', '.join(ORDERS)}")
    failed = {"yes": True, "no": False}.get(given.get("failed", ""))
    bounds = [_bound(given.get(name, ""), name) for name in ("lowest", "highest")]
    return SampleQuery(given.get("exam") or None, given.get("q", ""), failed, bounds[0], bounds[1], order)


def _bound(text: str, name: str) -> float | None:
    try:
        return float(text) if text.strip() else None
    except ValueError:
        raise UsageError(f"the {name} score is '{text}', which is no number") from None


def _page_number(request: Request) -> int:
    text = request.query_params.get("page", "1")
    if not text.isdecimal() or int(text) < 1:
        raise UsageError(f"there is no page '{text}'")
    return int(text)


def _parameters(query: SampleQuery) -> dict[str, str]:
    given = {"exam": query.exam, "q": query.text, "lowest": query.lowest, "highest": query.highest}
    found = {name: str(value) for name, value in given.items() if value not in (None, "")}
    if query.failed is not None:
        found["failed"] = "yes" if query.failed else "no"
    if query.order != "place":
        found["order"] = query.order
    return found


def _line(found: Sample) -> dict[str, Any]:
    record = found.record
    prediction = record.get("processed_prediction")
    if prediction is None:
        prediction = record.get("prediction")
    return {
        "number": found.number,
        "exam": record.get("exam", ""),
        "doc_id": record.get("doc_id"),
        "question": excerpt(question_of(record)),
        "prediction": excerpt(record.get("output") if prediction is None else prediction),
        "references": excerpt(", ".join(map(str, record.get("references") or ()))),
        "score": found.score,
        "failure": found.failure,
    }


def explain(stored: StoredRun, record: dict[str, Any]) -> tuple[list[dict[str, Any]], str]:
    """Return an instance's prompt made of parts, by making it anew; or nothing, and why that is impossible."""
    if stored.spec is None:
        return [], "the run file cannot be read"
    try:
        with settings.context(trust_code=False):  # a page never runs code of a task file
            exam = next((each for each in exams_of_spec(stored.spec) if each.name == record.get("exam")), None)
            item = next(first_items(exam, 1, int(record.get("doc_id", 0))), None) if exam is not None else None
    except (ProctorError, ValueError) as error:
        return [], f"the prompt cannot be made again: {error}"
    if item is None:
        return [], "the exam does not have this document any more"
    made = [payload_of(prompt) for request in item.requests for prompt in prompts_of(request)]
    if record.get("prompt") not in (*made, made):
        return [], "the exam has changed since: it would ask this differently now"
    return [message for request in item.requests for message in explained_messages(request)], ""


def question_of(record: dict[str, Any]) -> str:
    """Return the words that tell an instance from the others: its input fields, else the end of its prompt."""
    fields = record.get("input")
    if isinstance(fields, dict):
        fields = fields.get("input_fields", fields)
        texts = [value for value in fields.values() if isinstance(value, str)] if isinstance(fields, dict) else []
        if texts:
            return max(texts, key=len)
    messages = messages_of(record.get("prompt"))
    return str(messages[-1]["content"])[-_LONGEST_EXCERPT:] if messages else ""


def excerpt(value: Any) -> str:
    """Return the beginning of a value on one line."""
    text = " ".join(str("" if value is None else value)[: 4 * _LONGEST_EXCERPT].split())
    return text if len(text) <= _LONGEST_EXCERPT else f"{text[:_LONGEST_EXCERPT]}…"


def messages_of(prompt: Any) -> list[dict[str, Any]]:
    """Return a stored prompt as messages with ``role`` (empty for a plain string), ``content`` and ``media``."""
    if prompt is None:
        return []
    if isinstance(prompt, str):
        return [{"role": "", "content": prompt, "media": []}]
    if isinstance(prompt, list) and all(isinstance(each, str) for each in prompt):
        return [{"role": f"choice {index + 1}", "content": each, "media": []} for index, each in enumerate(prompt)]
    return [_message(each) for each in prompt if isinstance(each, dict)] if isinstance(prompt, list) else []


def _message(message: dict[str, Any]) -> dict[str, Any]:
    content = message.get("content")
    parts = content if isinstance(content, list) else [{"type": "text", "text": "" if content is None else content}]
    texts = [str(part.get("text", "")) for part in parts if isinstance(part, dict)]
    media = [source for part in parts if isinstance(part, dict) if (source := _image(part))]
    return {"role": str(message.get("role", "")), "content": "".join(texts), "media": media}


def _image(part: dict[str, Any]) -> str:
    """Return the address of a picture that may be shown: only data URLs, nothing is fetched from outside."""
    link = part.get("image_url")
    address = link.get("url") if isinstance(link, dict) else link
    return address if isinstance(address, str) and address.startswith("data:image/") else ""


def choices_of(record: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the continuations with their log-likelihoods as bars; empty where nothing was scored."""
    continuations, output = record.get("continuations") or [], record.get("output")
    if not isinstance(output, list) or not all(isinstance(each, dict) for each in output):
        return []
    values = [float(each.get("log_likelihood") or 0.0) for each in output]
    best = max(range(len(values)), key=values.__getitem__, default=None)
    return [
        {
            "text": continuations[index] if index < len(continuations) else "",
            "log_likelihood": value,
            "chart": choice_bar(value, values),
            "gold": record.get("gold") == index,
            "best": best == index,
        }
        for index, value in enumerate(values)
    ]


def values_of(record: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the remaining parts of an instance under the names that people read, in reading order."""
    names = {
        "output": "Output",
        "prediction": "Prediction",
        "processed_prediction": "Prediction after processors",
        "references": "References",
        "processed_references": "References after processors",
        "scores": "Scores",
        "failure": "Failure",
        "scoring_failure": "Why it could not be scored",
        "input": "Input",
        "finish_reasons": "Why the answer ended",
        "usage": "Tokens",
        "timing": "Timing",
    }
    if choices_of(record):
        names.pop("output")
    shown = [{"name": title, "key": key, "value": record[key]} for key, title in names.items() if key in record]
    return [_cut(entry) for entry in shown if entry["value"] not in (None, [], {})]


def _cut(entry: dict[str, Any]) -> dict[str, Any]:
    value = entry["value"]
    if isinstance(value, str) and len(value) > _LONGEST_VALUE:
        return {**entry, "value": value[:_LONGEST_VALUE], "left_out": len(value) - _LONGEST_VALUE}
    return {**entry, "left_out": 0}


def facts_of(stored: StoredRun) -> list[tuple[str, str]]:
    """Return what a reader wants to know about how a run was made."""
    details = stored.run
    requests = details.get("requests") or {}
    tokens = details.get("usage") or {}
    totals = [
        sum(int(each.get(name) or 0) for each in tokens.values()) for name in ("prompt_tokens", "completion_tokens")
    ]
    facts = {
        "Model": stored.model,
        "Model arguments": ", ".join(
            f"{name}={value}" for name, value in (stored.spec.model_args if stored.spec else {}).items()
        ),
        "Started": stored.started,
        "Seconds": str(details.get("seconds", "")),
        "Requests": ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in requests.items()),
        "Tokens": f"{totals[0]} read, {totals[1]} written" if any(totals) else "",
        "Versions": ", ".join(f"{name} {version}" for name, version in (details.get("versions") or {}).items()),
        "Machine": ", ".join(map(str, (details.get("machine") or {}).values())),
        "Response log": str(details.get("log", "")),
        "Folder": str(stored.path),
        "Repeat it": f"proctor run {stored.path / 'run.yaml'}" if stored.spec else "",
    }
    return [(name, value) for name, value in facts.items() if value]
