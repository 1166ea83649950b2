"""Pages about exams: search, and the prompts of one exam under settings that one chooses."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from proctor.dialects.listing import entries, everything
from proctor.dialects.resolve import resolve_tasks
from proctor.errors import ProctorError, UsageError
from proctor.ir import Response
from proctor.recipes.exam import Answered, Exam, Item
from proctor.recipes.options import RecipeOptions
from proctor.results.lint import warnings_of
from proctor.results.origins import parts_in
from proctor.results.preview import first_items
from proctor.settings import settings
from proctor.web.library import Library
from proctor.web.prompt_view import explained_messages, request_view
from proctor.web.tokens import token_counter

if TYPE_CHECKING:
    from starlette.requests import Request

PAGE_SIZE = 200
_LONGEST_DIFF = 20_000

Values = tuple[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Setting:
    """What one chooses on the page; empty means what the exam says."""

    exam: str
    template: str = ""
    format: str = ""
    system_prompt: str = ""
    num_demos: str = ""
    sampler: str = ""
    split: str = ""

    @property
    def recipe(self) -> str:
        """What to type for this setting: a name, a query, or a recipe."""
        chosen = {
            "template": self.template,
            "format": self.format,
            "system_prompt": self.system_prompt,
            "sampler": self.sampler,
            "split": self.split,
        }
        if self.num_demos:
            chosen |= {"num_demos": self.num_demos}
            if self.exam.startswith("cards.") and int(self.num_demos):
                chosen |= {"demos_pool_size": "100"}
        given = ",".join(f"{name}={value}" for name, value in chosen.items() if value)
        if self.exam.startswith("cards."):
            return f"card={self.exam}" + (f",{given}" if given else "")
        if "=" in self.exam.partition("[")[0]:
            return f"{self.exam},{given}" if given else self.exam
        return f"{self.exam}[{given}]" if given else self.exam


FIELDS = ("template", "format", "system_prompt", "num_demos", "sampler", "split")


def search(_: Library, request: Request) -> Values:
    """List exams and artifacts that match words, a glob, a kind."""
    query, kind = request.query_params.get("q", ""), request.query_params.get("kind", "")
    known = everything()
    found = everything(query or None, [kind] if kind else [])
    return "explore.html", {
        "q": query,
        "kind": kind,
        "kinds": sorted({entry.kind for entry in known}),
        "found": [{"entry": entry, "link": _link_of(entry.name, entry.kind)} for entry in found[:PAGE_SIZE]],
        "total": len(found),
    }


def _link_of(name: str, kind: str) -> str:
    return "/explore/exam?" + urlencode({"exam": name}) if kind in {"exam", "benchmark", "card"} else ""


def exam(_: Library, request: Request) -> Values:
    """Show the prompts of an exam, under one setting or two side by side."""
    given = request.query_params
    name = given.get("exam", "").strip()
    if not name:
        raise UsageError("no exam is chosen", hint="search for one under Explore")
    number = int(given["doc"]) if given.get("doc", "").isdecimal() else 0
    first, other = _setting(given, name, ""), _setting(given, name, "other_")
    second = replace(first, **{field: value for field in FIELDS if (value := getattr(other, field))})
    typed, model = given.get("answer", ""), given.get("model", "").strip()
    views = [view_of(setting, number, typed, model) for setting in ([first, second] if second != first else [first])]
    return "exam.html", {
        "exam": name,
        "settings": [first, other],
        "fields": FIELDS,
        "doc": number,
        "answer": typed,
        "model": model,
        "views": views,
        "difference": difference_of(views),
        "suggestions": _suggestions(),
        "parameters": urlencode([(key, value) for key, value in given.multi_items() if key != "doc" and value]),
        "compared": len(views) > 1,
    }


def _setting(given: Mapping[str, str], name: str, prefix: str) -> Setting:
    chosen = {field: given.get(prefix + field, "").strip() for field in FIELDS}
    if chosen["num_demos"] and not chosen["num_demos"].isdecimal():
        raise UsageError(f"'{chosen['num_demos']}' is no number of demos")
    return Setting(name, **chosen)


def _suggestions() -> dict[str, list[str]]:
    """Return the catalog's names for each field that takes one."""
    kinds = {"template": "template", "format": "format", "system_prompt": "system prompt", "sampler": "sampler"}
    listed = entries(kinds=kinds.values())
    return {field: [entry.name for entry in listed if entry.kind == kind] for field, kind in kinds.items()}


def view_of(setting: Setting, number: int, typed: str = "", model: str = "") -> dict[str, Any]:
    """Return document ``number`` under a setting, or the problems that are in the way."""
    view: dict[str, Any] = {"setting": setting, "problems": (), "requests": [], "code": code_of(setting)}
    try:
        with settings.context(trust_code=False):  # a page never runs code of a task file
            chosen = resolve_tasks([setting.recipe], RecipeOptions())[0]
            item = next(first_items(chosen, 1, number), None)
            if item is None:
                raise UsageError(f"{chosen.name} has no document {number}")
            view |= _item_view(chosen, item, typed)
            view["code"] = [*view["code"], *_saved_form(chosen)]
            return view | _counted(view, model)
    except ProctorError as error:
        return view | {"problems": error.diagnostics}


def _item_view(chosen: Exam, item: Item, typed: str) -> dict[str, Any]:
    origins = [origin for request in item.requests for origin in _origins(request)]
    return {
        "exam": chosen,
        "item": item,
        "present": parts_in(origins),
        "requests": [request_view(item, request) for request in item.requests],
        "warnings": list(dict.fromkeys(each for request in item.requests for each in warnings_of(item, request))),
        "tried": try_answer(chosen, item, typed) if typed else None,
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


def _saved_form(chosen: Exam) -> list[tuple[str, str]]:
    """Return a recipe as catalogs keep it; other dialects' tasks have no such form."""
    recipe = chosen.specification().get("recipe")
    return [("Catalog JSON", json.dumps(recipe, indent=2, ensure_ascii=False))] if isinstance(recipe, dict) else []


def _origins(request: Any) -> Iterator[str]:
    for message in explained_messages(request):
        yield from (part["origin"] for part in message["parts"])


def try_answer(chosen: Exam, item: Item, typed: str) -> dict[str, Any]:
    """Return what the exam's processors and metrics make of an answer that somebody typed."""
    grade = chosen.grade([Answered(item, tuple(Response(texts=(typed,)) for _ in item.requests))])
    failure = grade.failures.get(0)
    return {
        "prediction": grade.processed_predictions[0] if len(grade.processed_predictions) else None,
        "scores": {name: column[0] for name, column in grade.instance_scores.items() if len(column)},
        "failure": failure.message if failure else "",
    }


def code_of(setting: Setting) -> list[tuple[str, str]]:
    """Return the same setting as people type it elsewhere; each runs as copied."""
    recipe = setting.recipe
    python = (
        "from proctor import load_dataset\n\n"
        f"dataset = load_dataset({recipe!r})\n"
        "for name, split in dataset.items():\n"
        "    for row in split.take(3):\n"
        '        print(name, row["source"], row["references"])\n'
    )
    return [
        ("Show it", f"proctor show {shlex.quote(recipe)} --docs 3"),
        ("Run it", f"proctor run --model smollm2 --tasks {shlex.quote(recipe)} --limit 20"),
        ("Recipe", recipe),
        ("Python", python),
    ]


def difference_of(views: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Return the second prompt as pieces (``same``, ``added``, ``removed``; text), word by word; empty for one view."""
    texts = ["\n\n".join(each["text"] for each in view["requests"]) for view in views]
    if len(texts) < 2 or not all(texts) or max(map(len, texts)) > _LONGEST_DIFF:  # noqa: PLR2004
        return []
    before, after = (re.findall(r"\s+|\w+|[^\w\s]", text) for text in texts)
    pieces: list[tuple[str, str]] = []
    for kind, start, end, other_start, other_end in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind == "equal":
            pieces.append(("same", "".join(before[start:end])))
            continue
        if start < end:
            pieces.append(("removed", "".join(before[start:end])))
        if other_start < other_end:
            pieces.append(("added", "".join(after[other_start:other_end])))
    return pieces
