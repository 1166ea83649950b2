"""What is compared with Unitxt: templates, formats, recipes, processors, operators, metrics, evaluations."""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from conformance.own import unitxt_exams
from conformance.recorded import adapter
from conformance.recorded.recording import Answers, Case, Comparison, answer
from conformance.unitxt import field_cases, metric_fields, metrics, metrics_cases, name_cases, operators, prompts
from conformance.unitxt.evaluations import predictions
from conformance.unitxt.operator_cases import OPERATOR_CASES, SERIALIZER_CASES, augmentor_cases

from proctor import evaluate
from proctor.artifacts import catalogs, fetch_artifact
from proctor.errors import ProctorError

HERE = Path(__file__).resolve().parents[1] / "unitxt"
SEED = 20261122
METRIC_CASES = 20
"""Instances of each metric: batches of one to nine; Unitxt's intervals take its time."""
OPERATOR_COUNT = 2000
PROCESSED = 40
"""Texts that each processor gets."""
ROWS = 40
"""Rows of each split of a recipe: enough for pools, few enough for the repository."""
_KEYS = ("source", "target", "references", "task_data", "metrics", "postprocessors", "groups")


# -- cases --------------------------------------------------------------------------------------------------------


def texts() -> Iterator[Case]:
    """Yield instances for the templates and formats of the catalog."""
    for case in (*prompts.template_cases(), *prompts.format_cases()):
        kind = case["kind"]
        yield {**case, "body": fetch_artifact(case[kind]).to_dict()}


_DEMOS: tuple[dict[str, Any], ...] = (
    {},
    {"num_demos": 1, "demos_pool_size": 10},
    {"num_demos": [0, 1, 3], "demos_pool_size": 20},
    {"num_demos": 2, "demos_pool_size": 15, "demos_removed_from_data": False, "format": "formats.chat_api"},
    {"num_demos": 2, "demos_pool_size": 15, "format": "formats.llama3_instruct", "demos_sampling_seed": 7},
    {"num_demos": 2, "demos_pool_size": 15, "sampler": {"__type__": "fixed_indices_sampler", "indices": [3, 0, 5]}},
)


def recipes() -> Iterator[Case]:
    """Yield recipes that Unitxt knows, with several ways to show demos."""
    for name, values in unitxt_exams.plain_recipes(ROWS).items():
        for demos in _DEMOS if "num_demos" not in values else ({},):
            yield {"kind": "made", "name": name, "recipe": {**values, **demos}}


def processors() -> Iterator[Case]:
    """Yield texts for every processor of the catalog."""
    names = sorted({name for each in catalogs() for name in each.names() if name.startswith("processors.")})
    for name in names:
        if name in _OF_DICTS:
            continue
        stream = random.Random(f"{SEED}/{name}")
        yield {"kind": "processor", "processor": name, "texts": [_answer(stream) for _ in range(PROCESSED)]}


_OF_DICTS = ("processors.infer_logprobs_to_yes_no_probs", "processors.infer_last_token_logprobs_to_yes_no_probs")
"""Processors of log-probabilities, which are not texts."""
_SAID = (
    *(
        "Yes.",
        "no",
        "The answer is (B).",
        "3.5 of 10",
        "[[A]]",
        "[[7]]",
        "Rating: [[8.5]]",
        "a: b, c: d",
        "1,234 and -5",
    ),
    *(
        "",
        " ",
        "x - y - z",
        "[('a', 'B'), ('c', 'D')]",
        '{"a": ["b", "c"]}',
        "the cat, a dog",
        "Not toxic",
        "Safe",
        "unsafe",
    ),
    *(
        "word",
        "Ünïcode: ✓",
        "none",
        "True",
        "[1, 2]",
        "first\nsecond",
        "favor",
        "Hate speech",
        "A>B",
        "[[A>>B]]",
        "0.25",
    ),
)


def _answer(stream: random.Random) -> str:
    parts = [stream.choice(_SAID) for _ in range(stream.randint(1, 3))]
    return (
        stream.choice(("", " ", "\n")).join(["", *parts, ""])
        if stream.random() < 0.3
        else stream.choice((" ", "\n", ", ")).join(parts)
    )


def operated() -> Iterator[Case]:
    """Yield operators, serializers, augmentors, field paths and types."""
    for body, streams in OPERATOR_CASES:
        yield {"kind": "operator", "operator": body, "streams": streams}
    for body, given in SERIALIZER_CASES:
        yield {"kind": "serializer", "operator": body, "value": given}
    yield from augmentor_cases()
    source = operators.generated(random.Random(1))
    yield from (next(source) for _ in range(OPERATOR_COUNT))


def fields() -> Iterator[Case]:
    """Yield a case for every field of every public class."""
    yield from field_cases.cases()


def scored() -> Iterator[Case]:
    """Yield batches of predictions for every metric."""
    for name in metrics_cases.METRICS:
        for batch in metrics_cases.batches(name, METRIC_CASES):
            yield {"kind": "metric", "metric": name, "batch": batch}


_EVALUATED = (
    *("classes_0", "classes_1", "choice_mmlu_generate", "choice_helm_generate", "words", "numbers", "multi_label"),
    *("processors", "variants"),
)
_GROUPED = {"num_demos": [0, 2], "demos_pool_size": 20, "group_by": ["num_demos"]}


def evaluated() -> Iterator[Case]:
    """Yield recipes whose predictions are evaluated, with groups."""
    made = unitxt_exams.plain_recipes(ROWS)
    for name in _EVALUATED:
        for more in ({}, _GROUPED):
            yield {"kind": "evaluated", "name": name, "recipe": {**made[name], **more}}


# -- Proctor's answers --------------------------------------------------------------------------------------------


def said(case: Case) -> Answers:
    """Return what a template or a format makes of an instance."""
    return {"value": prompts.answer(case)}


def made(case: Case) -> Answers:
    """Return the rows of a recipe."""
    splits = adapter.rows_of(case["recipe"])
    rows = {f"{name} {place}": row for name in ("train", "test") for place, row in enumerate(splits.get(name, ()))}
    return {name: {key: row.get(key) for key in _KEYS} for name, row in rows.items()}


def processed(case: Case) -> Answers:
    """Return what a processor makes of predictions, and of references."""
    return {str(place): _processed(case["processor"], text) for place, text in enumerate(case["texts"])}


def _processed(name: str, text: str) -> Any:
    try:
        return repr(list(adapter.processed(name, text)))
    except Exception as error:  # noqa: BLE001 - what is refused is part of the comparison
        return {"error": str(error)}


def applied(case: Case) -> Answers:
    """Return what an operator makes of data, as Python text."""
    found = operators.answer(case)
    return {"value": found.get("value", found)}


def measured(case: Case) -> Answers:
    """Return the scores of a batch."""
    return _scores(metrics.proctor_scores(case["metric"], case["batch"]))


def _scores(found: Mapping[str, Any]) -> Answers:
    instances = {f"instance {place}": fractions(each) for place, each in enumerate(found["instances"])}
    return {**{f"global {name}": fractions(value) for name, value in found["global"].items()}, **instances}


def fractions(value: Any) -> Any:
    """Return scores with every number as a fraction: 1 and 1.0 are one score."""
    if isinstance(value, Mapping):
        return {str(key): fractions(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [fractions(each) for each in value]
    if callable(item := getattr(value, "item", None)):
        value = item()
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def judged(case: Case) -> Answers:
    """Return the scores of made-up predictions of a recipe."""
    rows = adapter.rows_of(case["recipe"])["test"]
    found = evaluate(predictions=predictions([row["target"] for row in rows]), data=rows)
    return evaluation([row["score"] for row in found])


def evaluation(scores: Sequence[Mapping[str, Any]]) -> Answers:
    """Return the scores of an evaluation: those of each instance, and once those of all and of the groups."""
    plain = json.loads(json.dumps([dict(each) for each in scores], default=str))
    instances = {f"instance {place}": fractions(each["instance"]) for place, each in enumerate(plain)}
    whole = {name: fractions(value) for name, value in plain[0].items() if name != "instance"}
    return {**{f"{name} {key}": each for name, part in whole.items() for key, each in _parts(part)}, **instances}


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        yield from value.items()
    else:
        yield "", value


_KINDS: dict[str, Callable[[Case], Answers]] = {
    "template": said,
    "format": said,
    "made": made,
    "processor": processed,
    "metric": measured,
    "evaluated": judged,
}


def ours(case: Case) -> Answers:
    """Return Proctor's answers to a case; a refusal is an answer as well."""
    try:
        return json.loads(json.dumps(_KINDS.get(case["kind"], applied)(json.loads(json.dumps(case))), default=str))  # type: ignore[no-any-return]
    except ProctorError as error:
        return {"value" if _is_simple(case) else "refused": {"error": str(error)}}


def _is_simple(case: Case) -> bool:
    """Whether a case has one answer."""
    return case["kind"] in ("template", "format") or case["kind"] not in _KINDS


# -- Unitxt's answers ---------------------------------------------------------------------------------------------


def _asked(python: str, script: str, cases: Sequence[Case]) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        asked, out = Path(folder) / "cases.jsonl", Path(folder) / "answers.jsonl"
        asked.write_text("".join(json.dumps(case) + "\n" for case in cases), encoding="utf-8")
        answer(["/bin/sh", "-c", f"'{python}' '{HERE / script}' < '{asked}' > '{out}'"])
        lines = out.read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines if line.startswith("{")]


def theirs(python: str, script: str) -> Callable[[Sequence[Case]], Iterator[Answers]]:
    """Return what asks Unitxt in its own environment."""

    def ask(cases: Sequence[Case]) -> Iterator[Answers]:
        for case, found in zip(cases, _asked(python, script, cases), strict=True):
            yield _named(case, found)

    return ask


_UNKNOWN = ("UnitxtArtifactNotFoundError", "UnrecognizedArtifactTypeError", "is not a recognized")
"""Errors about what Proctor's catalog has and Unitxt's has not: nothing to compare."""


def _named(case: Case, found: dict[str, Any]) -> Answers:
    """Return an answer as Proctor names its parts."""
    kind = case["kind"]
    if "error" in found:
        if kind in ("metric", "evaluated") or any(mark in found["error"] for mark in _UNKNOWN):
            return {}  # what Unitxt cannot score, mostly for want of a download, is nothing to compare
        return {"value" if _is_simple(case) else "refused": {"error": found["error"]}}
    value = found["value"]
    if kind == "made":
        return {f"{split} {place}": row for split, rows in value.items() for place, row in enumerate(rows)}
    if kind == "processor":
        return {str(place): each for place, each in enumerate(value)}
    if kind == "metric":
        return _scores(value)
    return evaluation(value) if kind == "evaluated" else {"value": value}


# -- differences --------------------------------------------------------------------------------------------------


_OF_RECIPES = {"refined": "unitxt/refiner-and-limit"}
"""Recipes that differ, to the id of the explanation."""


def explain(case: Case, name: str, theirs: Any, ours: Any) -> str:
    """Return the id of why an answer differs, ``""`` where it should not."""
    kind = case["kind"]
    if kind == "metric":
        return _explained_score(case, name, theirs, ours)
    if kind in ("template", "format", "made"):
        if kind == "made" and case["name"] in _OF_RECIPES:
            return _OF_RECIPES[case["name"]]
        text = f"{case.get('template')} {theirs}"
        return next((identifier for mark, identifier in prompts.KNOWN.items() if mark in text), "")
    if kind == "processor" and "harm_rating" in case["processor"] and _failed(theirs):
        return "unitxt/no-rating"
    if kind in ("processor", "evaluated"):
        return ""
    left, right = ({"error": each["error"]} if _failed(each) else {"value": each} for each in (theirs, ours))
    return operators.known_difference(case, left, right)


def _failed(value: Any) -> bool:
    return isinstance(value, Mapping) and "error" in value


def _explained_score(case: Case, name: str, theirs: Any, ours: Any) -> str:
    """Return why a score differs; of an instance every part of it has to be explained."""
    kind, _, path = name.partition(" ")
    kind, path = ("instances", f"[{path}]") if kind == "instance" else ("global", f".{path}")
    reasons = set()
    for place, own, other in metrics.differences(_numbers(ours), _numbers(theirs), path):
        reason = metrics_cases.explain(case["metric"], kind, place, own, other)
        reasons.add(reason or metrics.decided_by_rounding(case["metric"], case["batch"], place, other))
    return reasons.pop() if len(reasons) == 1 else ""


def _numbers(value: Any) -> Any:
    return "(absent)" if value is None else value


def comparisons(python: str = "") -> list[Comparison]:
    """Return what is compared with Unitxt, whose Python is only needed to ask it."""
    prompt, operator = theirs(python, "oracle.py"), theirs(python, "operators_oracle.py")
    made_of: dict[str, tuple[Callable[[], Iterator[Case]], Callable[[Sequence[Case]], Iterator[Answers]]]] = {
        "texts": (texts, prompt),
        "recipes": (recipes, prompt),
        "processors": (processors, prompt),
        "operators": (operated, operator),
        "fields": (fields, operator),
        "names": (name_cases.cases, operator),
        "metrics": (scored, prompt),
        "metric_fields": (metric_fields.cases, prompt),
        "evaluations": (evaluated, prompt),
    }
    return [Comparison(f"unitxt/{name}", "unitxt", cases, ours, ask, explain) for name, (cases, ask) in made_of.items()]
