"""T-Eval: how a model plans with tools, calls them, and judges what came of it (``TEvalEvaluator``).

Scores are percentages. What is written in free words is compared by sentence embeddings. Source: OpenCompass'
``datasets/teval``, after Chen et al. 2024.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from proctor.errors import ScoringError, did_you_mean
from proctor.foreign_text import parse_literal
from proctor.regexes import BoundedPattern, SlowPatternError
from proctor.scoring.evaluators.cases import Cases, Verdict
from proctor.scoring.metrics.embeddings import sentence_model

Row = Mapping[str, Any]
_ENGLISH, _CHINESE = "sentence-transformers/all-mpnet-base-v2", "thenlper/gte-large-zh"
_UNREADABLE = (ValueError, SyntaxError, TypeError, KeyError, AttributeError, IndexError, RecursionError, MemoryError)


def teval(cases: Cases, subset: str) -> Verdict:
    """Return the scores of a part of T-Eval.

    Args:
        cases: Answers; references are JSON texts of whole rows of T-Eval's files.
        subset: ``instruct``, ``plan``, ``review``, ``reason_retrieve_understand``, ``reason``, ``retrieve`` or
            ``understand``, for Chinese with ``_zh`` behind it.

    Raises:
        ScoringError: There is no such part, or a row lacks what it needs.
        MissingExtraError: ``sentence-transformers`` is not installed.
    """
    name = subset.removesuffix("_zh")
    if name not in _PARTS:
        raise ScoringError(f"T-Eval has no part '{subset}'", hint=did_you_mean(name, _PARTS) or ", ".join(_PARTS))
    rows = [{**json.loads(gold), "prediction": given} for given, gold in cases.pairs()]
    model = _CHINESE if name not in {subset, "retrieve"} else _ENGLISH
    columns, decimals = _PARTS[name](rows, model)
    scores = {}
    for key, column in columns.items():
        if known := [value for value in column if value is not None]:
            mean = float(np.mean(known))
            scores[key] = 100 * (float(np.round(mean, decimals)) if decimals else mean)
    instances = {key: [None if value is None else 100.0 * value for value in each] for key, each in columns.items()}
    return Verdict(scores, instances, described=True)


_Columns = tuple[dict[str, list[float | None]], int]
"""The points of each row by metric, and the decimals that means are rounded to."""


def _loaded(text: Any, start: str = "", end: str = "") -> Any:
    """Return the value in an answer: a Python literal, JSON, or JSON in single quotes.

    Raises:
        ValueError: It is none of these.
    """
    if not isinstance(text, str):
        return text
    if "```json" in text:
        text = text[text.find("```json") + len("```json") :].strip("`")
    if start:
        text = text[text.find(start) :]
        text = text[: text.rfind(end) + len(end)]
    for read in (parse_literal, json.loads, lambda words: json.loads(words.replace("'", '"'))):
        try:
            return read(text)
        except _UNREADABLE:
            continue
    raise ValueError("it is neither Python nor JSON")


def _similar(pairs: Sequence[tuple[str, str]], model: str) -> list[float]:
    """Return the cosine of each pair of texts, at least 0."""
    if not pairs:
        return []
    found = sentence_model(model).encode([text for pair in pairs for text in pair])
    vectors = np.asarray(found, dtype=np.float64)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return [max(0.0, float(one @ other)) for one, other in zip(vectors[::2], vectors[1::2], strict=True)]


# -- following a format -------------------------------------------------------------------------------------------


def _instruct(rows: Sequence[Row], model: str) -> _Columns:
    del model
    columns: dict[str, list[float | None]] = {
        f"{kind}_{what}_metric": [None] * len(rows) for kind in ("json", "string") for what in ("format", "args_em")
    }
    for place, row in enumerate(rows):
        kind = row["meta_data"]["response_format"]
        found = (_json_call if kind == "json" else _written_call)(str(row["prediction"]), row["template"])
        gold, right = row["ground_truth"], 0
        if found is not None:
            action, given = found
            right = (action == gold["action"]) + sum(given.get(key, "") == value for key, value in gold["args"].items())
        columns[f"{kind}_format_metric"][place] = float(found is not None)
        columns[f"{kind}_args_em_metric"][place] = right / (len(gold["args"]) + 1)
    return columns, 4


def _json_call(text: str, template: Mapping[str, str]) -> tuple[Any, Mapping[str, Any]] | None:
    try:
        found = _loaded(text)
        _, action, given = (found[template[name]] for name in ("thought", "action", "args"))
    except _UNREADABLE:
        return None
    return action, given if isinstance(given, dict) else {}


def _written_call(text: str, template: Mapping[str, str]) -> tuple[Any, Mapping[str, Any]] | None:
    """Return what stands between a template's marks, which are regular expressions, as upstream takes them."""
    marks = (f"{template[f'{name}_start']}(.*){template[f'{name}_end']}" for name in ("thought", "action", "args"))
    try:
        found = BoundedPattern("".join(marks), re.DOTALL).groups(text)
    except SlowPatternError:
        return None
    if found is None:
        return None
    _, _, action, given = ((each or "") for each in found[:4])
    try:
        read = parse_literal(given.strip())
    except _UNREADABLE:
        read = {}
    return action.strip(), read if isinstance(read, dict) else {}


# -- reviewing ----------------------------------------------------------------------------------------------------


def _review(rows: Sequence[Row], model: str) -> _Columns:
    del model
    columns: dict[str, list[float | None]] = {"parse_rate": [], "review_quality": []}
    for row in rows:
        given = _reviewed(str(row["prediction"]), row["meta_data"]["response_format"])
        columns["parse_rate"].append(float(given is not None))
        columns["review_quality"].append(float(given is not None and given == row["ground_truth"]["answer"]))
    return columns, 4


def _reviewed(text: str, kind: str) -> Any:
    if kind != "json":
        words = text[text.find(":") + 1 :].strip()
        return words[0] if words[:1] in tuple("ABCDE") else None
    try:
        found = _loaded(text)["is_finished"]
    except _UNREADABLE:
        return None
    return {"review": found} if found in (True, False) else None


# -- planning -----------------------------------------------------------------------------------------------------

_NAME_WEIGHT, _ARGUMENTS_WEIGHT, _LEAST_LIKENESS = 0.75, 0.25, 0.7
_FINISH = "FinishAction"


def _plan(rows: Sequence[Row], model: str) -> _Columns:
    columns: dict[str, list[float | None]] = {name: [] for name in ("precision", "recall", "f1_score", "parse_rate")}
    for row in rows:
        given, gold = _steps(row), _listed(row["ground_truth"])
        right = _in_order(_actions(given), _actions(gold), model) if given and gold else 0
        precision, recall = (right / len(_actions(steps)) if right else 0.0 for steps in (given, gold))
        columns["precision"].append(precision)
        columns["recall"].append(recall)
        columns["f1_score"].append(2 * precision * recall / (precision + recall) if right else 0.0)
        columns["parse_rate"].append(float(bool(given and gold)))
    return columns, 0


def _steps(row: Row) -> list[Row]:
    """Return the steps of a plan as a model wrote it.

    Raises:
        ScoringError: It is of a kind that nothing here reads.
    """
    kind = (row.get("meta") or {}).get("prompt_type", "json")
    if kind == "json":
        return _listed(row["prediction"])
    if kind != "str":
        raise ScoringError(f"plans of the kind '{kind}' are not read here", why="T-Eval has given it up")
    steps: list[Row] = []
    for line in str(row["prediction"]).replace(". ", "\n").split("\n"):
        places = {name: line.find(name) for name in row["meta"]["API_list"] if name in line}
        if places:
            steps.append({"id": len(steps), "name": min(places, key=places.__getitem__), "args": line})
    return steps


def _listed(text: Any) -> list[Row]:
    try:
        found = _loaded(text, "[", "]")
        if not isinstance(found, list):
            return []
        return [{"name": str(each["name"]), "id": int(each["id"]), "args": str(each["args"])} for each in found]
    except _UNREADABLE:
        return []


def _actions(steps: Sequence[Row]) -> list[Row]:
    ordered = sorted(steps, key=lambda each: each["id"])
    return ordered[:-1] if ordered[-1]["name"] == _FINISH else ordered


def _in_order(given: Sequence[Row], gold: Sequence[Row], model: str) -> int:
    """Return how many steps stand in the right order, once each is matched with the likest right one.

    Of a plan with steps one is counted in any case, as upstream does it.
    """
    if not given or not gold:
        return 0
    pairs = [(one, other) for one in given for other in gold]
    names = _similar([(str(one["name"]), str(other["name"])) for one, other in pairs], model)
    arguments = _similar([(str(one["args"]), str(other["args"])) for one, other in pairs], model)
    likeness = _NAME_WEIGHT * np.array(names) + _ARGUMENTS_WEIGHT * np.array(arguments)
    matched = _matching(likeness.reshape(len(given), len(gold)))
    longest = [1] * len(given)
    for place, own in enumerate(matched):
        for before in range(place):
            if own is not None and (other := matched[before]) is not None and own > other:
                longest[place] = max(longest[place], longest[before] + 1)
    return max(longest)


def _matching(likeness: np.ndarray[Any, np.dtype[np.float64]]) -> list[int | None]:
    """Return for each row the column it is matched with, so that the sum over all pairs that are like is largest.

    The Hungarian method (Kuhn 1955) on a square of gains, where pairs that are not alike gain nothing.
    """
    gains = np.where(likeness > _LEAST_LIKENESS, likeness, 0.0)
    size = max(gains.shape)
    costs = np.zeros((size + 1, size + 1))
    costs[1 : gains.shape[0] + 1, 1 : gains.shape[1] + 1] = -gains
    of_rows, of_columns = np.zeros(size + 1), np.zeros(size + 1)
    row_of = [0] * (size + 1)
    for row in range(1, size + 1):
        _augment(row, costs, of_rows, of_columns, row_of)
    found: list[int | None] = [None] * gains.shape[0]
    for column in range(1, gains.shape[1] + 1):
        row = row_of[column] - 1
        if row < gains.shape[0] and gains[row, column - 1] > 0:
            found[row] = column - 1
    return found


def _augment(row: int, costs: Any, of_rows: Any, of_columns: Any, row_of: list[int]) -> None:
    """Match one more row; ``of_rows`` and ``of_columns`` are the potentials, ``row_of`` the matching, in place."""
    size = len(row_of) - 1
    row_of[0], column = row, 0
    least, way, is_used = [np.inf] * (size + 1), [0] * (size + 1), [False] * (size + 1)
    while row_of[column]:
        is_used[column] = True
        current, step, nearest = row_of[column], np.inf, 0
        for other in (each for each in range(1, size + 1) if not is_used[each]):
            cost = costs[current, other] - of_rows[current] - of_columns[other]
            if cost < least[other]:
                least[other], way[other] = cost, column
            if least[other] < step:
                step, nearest = least[other], other
        for other in range(size + 1):
            if is_used[other]:
                of_rows[row_of[other]] += step
                of_columns[other] -= step
            else:
                least[other] -= step
        column = nearest
    while column:
        row_of[column] = row_of[way[column]]
        column = way[column]


# -- reasoning, retrieving, understanding -------------------------------------------------------------------------


def _one_call(part: str) -> Callable[[Sequence[Row], str], _Columns]:
    """Return what scores a part of a call (``thought``, ``name``, ``args``); an empty part means all of them."""

    def scored(rows: Sequence[Row], model: str) -> _Columns:
        names = [part] if part else ["thought", "name", "args"]
        columns: dict[str, list[float | None]] = {name: [0.0] * len(rows) for name in [*names, "parse_rate"]}
        calls = [(_given(row, part), _call(row["ground_truth"], part)) for row in rows]
        for name in names:
            places = [i for i, (given, gold) in enumerate(calls) if name in given and name in gold]
            pairs = [(calls[i][0][name], calls[i][1][name]) for i in places]
            if name == "name":
                points = [float(_is_name(*pair) if part else pair[0] == pair[1]) for pair in pairs]
            else:
                points = _similar([(str(one), str(other)) for one, other in pairs], model)
            for place, value in zip(places, points, strict=True):
                columns[name][place] = value
        columns["parse_rate"] = [float(bool(given)) for given, _ in calls]
        return columns, 0

    return scored


def _given(row: Row, part: str) -> dict[str, Any]:
    kind = (row.get("meta_data") or {}).get("response_format", "str" if part else "json")
    if kind == "str":
        return {part: str(row["prediction"])} if part else {}
    return _call(row["prediction"], part) if _call(row["ground_truth"], part) else {}


def _call(text: Any, part: str) -> dict[str, Any]:
    try:
        found = _loaded(text, "{", "}")
    except ValueError:
        return {}
    if not isinstance(found, dict):
        return {}
    arguments = found.get("args")
    read: Any = str(found.get("args", "")) if part else arguments if isinstance(arguments, dict) else {}
    return {"thought": str(found.get("thought", "")), "name": str(found.get("name", "")), "args": read}


def _is_name(given: str, gold: str) -> bool:
    """Return whether the right tool is named, and no other one."""
    dotted = re.findall(r"\w+\.\w+", given) if "." in given else []
    named = [*dotted, *re.findall(_FINISH, given)]
    return gold in given and all(name == gold for name in named)


_PARTS: Mapping[str, Callable[[Sequence[Row], str], _Columns]] = {
    "instruct": _instruct,
    "plan": _plan,
    "review": _review,
    "reason_retrieve_understand": _one_call(""),
    "reason": _one_call("thought"),
    "retrieve": _one_call("name"),
    "understand": _one_call("args"),
}
