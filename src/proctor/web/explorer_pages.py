"""Pages about exams: search, and the prompts of one exam under settings that one chooses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from proctor.artifacts import fetch_artifact
from proctor.dialects.dialect import Entry
from proctor.dialects.listing import entries, everything
from proctor.effects import require
from proctor.errors import Diagnostic, NotAllowedError, ProctorError, UsageError
from proctor.ir import Answers, Choose, Generate, KnownAnswerer, Request, Response, Scored
from proctor.prompts.lint import warnings_of
from proctor.prompts.origins import parts_in
from proctor.prompts.preview import continuations_of
from proctor.recipes.exam import Answered, Exam, Question
from proctor.recipes.recipe import card_templates
from proctor.scoring.judges.judge_client import asking_through
from proctor.tasks.card import TaskCard
from proctor.web.asked import check_lengths, check_setting
from proctor.web.code_snippets import forms_of
from proctor.web.difference import Difference, difference
from proctor.web.exam_form import FIELDS, Setting, is_count, setting_of
from proctor.web.instances import find_instance
from proctor.web.library import Library
from proctor.web.prompt_view import explained_messages, request_view
from proctor.web.tokens import token_counter

if TYPE_CHECKING:
    from starlette.requests import Request as WebRequest

PAGE_SIZE = 60  # lines of a list that is searched rather than read to its end; the catalog has thousands
LEADING = frozenset({"exam", "benchmark", "card", "group", "suite", "tag"})
"""Kinds of what has prompts to look at."""
_LONGEST_SEARCH = 200
"""Characters of words to search for: each word is looked for in every entry of every catalog."""
_MOST_TAGS = 6  # as many as fit beside a name on a line

Values = tuple[str, dict[str, Any]]


def search(library: Library, request: WebRequest) -> Values:
    """List exams and artifacts that match words, a glob, a kind."""
    query, kind = request.query_params.get("q", "").strip(), request.query_params.get("kind", "")
    if len(query) > _LONGEST_SEARCH:
        raise UsageError(f"these are more than {_LONGEST_SEARCH} characters to search for", hint="use fewer words")
    known = everything(include_paths=library.include_paths)
    found = everything(query or None, [kind] if kind else [], library.include_paths)
    shown = found[:PAGE_SIZE]
    return "explore.html", {
        "q": query,
        "kind": kind,
        "kinds": sorted({entry.kind for entry in known}),
        "found": [{"entry": entry, "link": _link_of(entry.name, entry.kind), "tags": _tags(entry)} for entry in shown],
        "total": len(found),
    }


def _tags(entry: Entry) -> list[str]:
    """Return an artifact's tags as people read them: ``task: qa``."""
    found: list[str] = []
    for name, value in entry.tags.items():
        values = value if isinstance(value, list) else [value]
        found.extend(str(each) if name == "tags" else f"{name}: {each}" for each in values)
    return found[:_MOST_TAGS]


def _link_of(name: str, kind: str) -> str:
    if kind == "task":  # a task has no data of its own: its cards do
        return "/explore?" + urlencode({"q": name, "kind": "card"})
    return "/explore/exam?" + urlencode({"exam": name}) if kind in LEADING else ""


def exam(library: Library, request: WebRequest) -> Values:
    """Show the prompts of an exam, under one setting or two side by side."""
    given = request.query_params
    name = given.get("exam", "").strip()
    if not name:
        raise UsageError("no exam is chosen", hint="search for one under Explore")
    number = int(given["doc"]) if is_count(given.get("doc", "")) else 0
    first = replace(setting_of(given, name, "", library.include_paths), member=given.get("member", ""))
    other = setting_of(given, name, "other_", library.include_paths)
    second = replace(first, **{field: value for field in FIELDS if (value := getattr(other, field))})
    for setting in (first, second):
        check_setting(setting)
    typed, model = given.get("answer", ""), given.get("model", "").strip()
    check_lengths({"answer": typed, "model": model})
    views = [view_of(setting, number, typed, model) for setting in ([first, second] if second != first else [first])]
    return "exam.html", {
        "exam": name,
        "settings": [first, other],
        "changed": [sum(bool(getattr(setting, field)) for field in FIELDS) for setting in (first, other)],
        "fields": FIELDS,
        "doc": number,
        "answer": typed,
        "model": model,
        "views": views,
        "members": views[0]["members"],
        "member": views[0].get("member", ""),
        "difference": difference_of(views),
        "suggestions": _suggestions(first),
        "own": views[0]["own"],
        "parameters": urlencode([(key, value) for key, value in given.multi_items() if key != "doc" and value]),
        "compared": len(views) > 1,
    }


def _suggestions(setting: Setting) -> dict[str, list[str]]:
    """Return names for the fields that take one: of the catalogs, or of lm-eval for its tasks."""
    if not setting.is_recipe:
        return {"format": ["chat"], **_LM_EVAL_NAMES, "split": list(_SPLITS)}
    kinds = {"template": "template", "format": "format", "system_prompt": "system prompt", "sampler": "sampler"}
    listed = entries(kinds=kinds.values())
    found = {field: [entry.name for entry in listed if entry.kind == kind] for field, kind in kinds.items()}
    own = _templates_of_card(setting.exam) if setting.is_card else []
    return {**found, "template": [*own, *(each for each in found["template"] if each not in own)], "split": [*_SPLITS]}


_SPLITS = ("test", "validation", "train")
_LM_EVAL_NAMES = {"template": ["mcq", "cloze", "generate"], "sampler": ["default", "first_n"]}


def _templates_of_card(name: str) -> list[str]:
    """Return the templates that a card was made for: they are suggested first."""
    try:
        card = fetch_artifact(name)
    except ProctorError:
        return []  # the page says what is wrong with it
    templates = card_templates(card).values() if isinstance(card, TaskCard) else ()
    return [found for each in templates if (found := each if isinstance(each, str) else each.artifact_id)]


def view_of(setting: Setting, number: int, typed: str = "", model: str = "") -> dict[str, Any]:
    """Return instance ``number`` under a setting, or the problems that are in the way."""
    view: dict[str, Any] = {"setting": setting, "problems": (), "requests": [], "code": [], "members": [], "own": {}}
    try:
        exams = setting.resolve_all()
        chosen = setting.pick(exams)
        view["members"] = [each.name for each in exams] if len(exams) > 1 else []
        view["member"] = chosen.name
        view["own"] = _own_values(chosen)
        view["code"] = forms_of(setting, chosen)
        require(chosen.effects(), chosen.author)
        question = find_instance(chosen, lambda place, _: place == number)
        if question is None:
            hint = "go back to an earlier one" if number else "demos leave the split that they are taken from"
            raise UsageError(f"{chosen.name} has no instance {number}", hint=hint)
        view |= _question_view(chosen, question, typed)
        return view | _counted(view, model)
    except ProctorError as error:
        return view | {"problems": [_without_trust(each) for each in error.diagnostics]}


def _own_values(chosen: Exam) -> dict[str, str]:
    """Return what a recipe says itself where a field of the page is left empty; parts without a name are left out."""
    recipe = chosen.source.get("recipe")
    said = {"split": chosen.source.get("split"), **(recipe if isinstance(recipe, Mapping) else {})}
    return {name: str(value) for name in FIELDS if isinstance(value := said.get(name), str | int)}


def _without_trust(problem: Diagnostic) -> Diagnostic:
    """Return a problem with a hint that holds here: pages never run code, commands may."""
    if "--trust-code" not in problem.hint:
        return problem
    return replace(
        problem, hint="no page runs code of a task file; if you trust it, add --trust-code to a command below"
    )


def _question_view(chosen: Exam, question: Question, typed: str) -> dict[str, Any]:
    return {
        "exam": chosen,
        "item": question,
        "requests": [
            {**request_view(question, request), "present": parts_in(_origins(request))} for request in question.requests
        ],
        "warnings": list(warnings_of(question)),
        "tried": try_answer(chosen, question, typed) if typed else None,
    }


def _counted(view: dict[str, Any], model: str) -> dict[str, Any]:
    """Count tokens where a model is chosen, and warn of prompts that it cannot read to the end."""
    if not model:
        return {}
    counter = token_counter(model)
    warnings = list(view["warnings"])
    for request in view["requests"]:
        request["tokens"] = counter.count(request["text"])
        needed = request["tokens"] + (request["max_tokens"] or 0)
        if counter.context is not None and needed > counter.context:
            warnings.append(
                f"{needed} tokens are more than the {counter.context} that {model} can read and write at once"
            )
    return {"warnings": warnings}


def _origins(request: Any) -> Iterator[str]:
    for message in explained_messages(request):
        yield from (part["origin"] for part in message["parts"])


def try_answer(chosen: Exam, question: Question, typed: str) -> dict[str, Any]:
    """Return the exam's reading and scores of an answer that somebody typed."""
    responses = [answer_to(request, typed) for request in question.requests]
    if any(response is None for response in responses):
        said = ", ".join(f"'{each.strip()}'" for request in question.requests for each in continuations_of(request))
        why = f"the choices are {said}" if said else "the model writes nothing here"
        return {"prediction": None, "scores": {}, "failure": f"this cannot be answered so: {why}"}
    answered = Answered(question, tuple(response for response in responses if response is not None))
    with asking_through(_ask_nobody):
        grade = chosen.grade([answered])
    failure = grade.failures.get(0)
    return {
        "prediction": grade.processed_predictions[0] if len(grade.processed_predictions) else None,
        "scores": {name: column[0] for name, column in grade.instance_scores.items() if len(column)},
        "failure": failure.message if failure else "",
    }


def _ask_nobody(engine: KnownAnswerer, requests: Iterable[Generate]) -> Answers:
    """Refuse to ask a judge: that sends data to it, and may cost money."""
    del requests
    raise NotAllowedError(
        f"a judge ({engine.label}) would be asked about this answer, and no page asks models",
        hint="proctor evaluate does",
    )


def answer_to(request: Request, typed: str) -> Response | None:
    """Return an answer in the words that somebody typed: for choices, that the choice of these words is the likeliest.

    ``None`` where no choice has these words, or there is nothing to choose or to write.
    """
    if isinstance(request, Generate):
        return Response(texts=(typed,))
    words = typed.strip().lower()
    choices = [each.strip().lower() for each in continuations_of(request)]
    if not isinstance(request, Choose) or words not in choices:
        return None
    first = choices.index(words)
    return Response(
        scores=tuple(Scored(0.0 if place == first else _UNLIKELY, place == first) for place in range(len(choices)))
    )


# A log-likelihood far below any that is shared among real choices, and no infinity for a mean to meet.
_UNLIKELY = -100.0


def difference_of(views: list[dict[str, Any]]) -> Difference:
    """Return the difference between the prompts of two views; ``None`` where there are not two."""
    texts = ["\n\n".join(each["text"] for each in view["requests"]) for view in views]
    return difference(*texts) if len(texts) == 2 and all(texts) else Difference()  # noqa: PLR2004
