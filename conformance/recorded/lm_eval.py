"""What is compared with lm-eval: requests and scores of made-up tasks, filters, aggregates, standard errors, groups."""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from conformance.lm_eval.made_up_answers import SAID, likelihood_for, text_for
from conformance.own import lm_eval_exams, made_up
from conformance.recorded import adapter
from conformance.recorded.recording import Answers, Case, Comparison, answer

from proctor.engines.engine import Answers as Responses
from proctor.engines.engine import Engine
from proctor.errors import ProctorError
from proctor.ir import Choose, Generate, Likelihood, Prompt, Request, Response, Rolling, Score, Scored

ORACLE = Path(__file__).resolve().parents[1] / "lm_eval" / "recorded_oracle.py"
RESAMPLES = 40
"""Bootstrap resamples behind standard errors, as in the oracle: enough to see the stream that they are drawn from."""
SEED = 20261122
COUNTS = {"filter": 25, "aggregation": 20, "match": 300, "group": 200}
"""Cases of each kind (of filters and aggregations: for each one)."""

LAYOUTS: tuple[dict[str, Any], ...] = (
    *({"shots": shots} for shots in (0, 1, 3, 5)),
    {"shots": 2, "limit": 5, "system": "Be brief."},
    {"shots": 3, "seed": 7},
    {"shots": 3, "samples": [1, 4, 6, 9, 12]},
    *({"shots": 2, "chat": chat, "system": "Be brief."} for chat in ("multiturn", "singleturn")),
    {"shots": 0, "chat": "multiturn"},
)


# -- cases --------------------------------------------------------------------------------------------------------


def tasks() -> Iterator[Case]:
    """Yield every task in every layout."""
    for name, values in lm_eval_exams.plain_tasks().items():
        for layout in LAYOUTS:
            yield {"kind": "task", "task": name, "values": values, "layout": layout}


_FILTERS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("regex", {"regex_pattern": r"answer is \(?([A-D])"}),
    ("regex", {"regex_pattern": r"(-?\d+)", "group_select": -1}),
    ("regex", {"regex_pattern": r"([A-D])|(\d)", "fallback": "nothing"}),
    ("multi_choice_regex", {"regex_pattern": r"(\([A-D]\))", "ignore_case": True, "ignore_punctuation": True}),
    ("multi_choice_regex", {"regex_pattern": r"(\([A-D]\))", "regexes_to_ignore": ["the "]}),
    ("remove_whitespace", {}),
    ("lowercase", {}),
    ("uppercase", {}),
    ("map", {"mapping_dict": {"yes": "A", "no": "B"}, "default_value": "C"}),
    ("format_span", {}),
    ("take_first", {}),
    ("take_first_k", {"k": 2}),
    ("majority_vote", {}),
    ("regex_pos", {"fallback": ["none"]}),
)
_SPANS = (
    "Person: Ada $$ Location: Paris, Rome",
    "organization: none\nDATE: May",
    "[('cat', 'NOUN'), ('runs', 'VERB')]",
)


def functions() -> Iterator[Case]:
    """Yield cases of filters, aggregates, matches and groups."""
    for place, (name, arguments) in enumerate(_FILTERS):
        stream = random.Random(f"{SEED}/{name}/{place}")
        for _ in range(COUNTS["filter"]):
            answers = [[_said(stream) for _ in range(3)] for _ in range(stream.randint(1, 4))]
            docs = [{"choices": stream.sample(["amber", "the heron", "delta", "basalt"], 3)} for _ in answers]
            yield {"kind": "filter", "filter": name, "arguments": arguments, "answers": answers, "docs": docs}
    yield from _aggregations()
    yield from _matches()
    yield from _groups()


def _said(stream: random.Random) -> str:
    return stream.choice((*SAID, *_SPANS)) + stream.choice(("", "", " ", "\n", " because"))


def _aggregations() -> Iterator[Case]:
    def pair(stream: random.Random, of: Callable[[random.Random], Any]) -> list[Any]:
        return [of(stream), of(stream)]

    words = [row["reference"] for row in made_up.asked()]
    makers: dict[str, Callable[[random.Random], Any]] = {
        "mean": lambda stream: stream.choice([0, 1, 0.5]),
        "median": lambda stream: round(stream.random(), 3),
        "nanmean": lambda stream: round(stream.random(), 3),
        "perplexity": lambda stream: -round(stream.random() * 5, 3),
        "weighted_perplexity": lambda stream: [-round(stream.random() * 50, 3), stream.randint(1, 20)],
        "bits_per_byte": lambda stream: [-round(stream.random() * 50, 3), stream.randint(1, 20)],
        "f1": lambda stream: pair(stream, lambda each: each.randint(0, 1)),
        "matthews_corrcoef": lambda stream: pair(stream, lambda each: each.randint(0, 2)),
        "bleu": lambda stream: pair(stream, lambda each: each.choice(words)),
        "chrf": lambda stream: pair(stream, lambda each: each.choice(words)),
        "ter": lambda stream: pair(stream, lambda each: each.choice(words)),
    }
    for name, make in makers.items():
        stream = random.Random(f"{SEED}/{name}")
        for size in range(2, COUNTS["aggregation"] + 2):
            items = [make(stream) for _ in range(size)]
            yield {"kind": "aggregation", "aggregation": name, "items": items, "resamples": RESAMPLES}


def _matches() -> Iterator[Case]:
    stream = random.Random(f"{SEED}/match")
    for _ in range(COUNTS["match"]):
        flags = {
            name: True for name in ("ignore_case", "ignore_punctuation", "ignore_numbers") if stream.random() < 0.4
        }
        ignored = (
            {"regexes_to_ignore": stream.sample([r"\s", "the ", r"\d+", "[.!]"], 2)} if stream.random() < 0.4 else {}
        )
        reference, prediction = _said(stream), _said(stream)
        given = prediction if stream.random() < 0.5 else stream.choice((reference, reference.upper(), f"{reference}."))
        yield {"kind": "match", "prediction": given, "reference": reference, "arguments": {**flags, **ignored}}


def _groups() -> Iterator[Case]:
    stream = random.Random(f"{SEED}/group")
    for _ in range(COUNTS["group"]):
        sizes = [stream.randint(2, 300) for _ in range(stream.randint(1, 6))]
        values, errors = ([round(stream.random(), 4) for _ in sizes] for _ in range(2))
        yield {"kind": "group", "sizes": sizes, "values": values, "errors": errors, "by_size": stream.random() < 0.5}


# -- Proctor's answers --------------------------------------------------------------------------------------------


class DigestEngine(Engine):
    """Gives the made-up answers that the oracle gives."""

    can_score = True
    model: str = "digest"

    def prepare(self) -> None:
        """Forget what was asked."""
        super().prepare()
        object.__setattr__(self, "_times", {})

    def generate(self, requests: Iterable[Generate]) -> Responses:
        """Answer in order."""
        for position, request in enumerate(requests):
            context = context_of(request.prompt)
            time = self._times[context] = self._times.get(context, -1) + 1
            yield position, Response(texts=(text_for(context, time),))

    def score(self, requests: Iterable[Score]) -> Responses:
        """Score in order."""
        for position, request in enumerate(requests):
            if isinstance(request, Rolling):
                pairs = [("", request.text)]
            else:
                pairs = [(context_of(pair.context), pair.continuation) for pair in request.pairs]
            yield position, Response(scores=tuple(Scored(*likelihood_for(*pair)) for pair in pairs))


def context_of(prompt: Prompt) -> str:
    """Return a prompt as the oracle's chat template writes it: messages as JSON, and whether an answer is to begin."""
    if isinstance(prompt.payload, str):
        return prompt.payload
    return json.dumps([list(prompt.payload), prompt.payload[-1]["role"] != "assistant"])


@cache
def _folder() -> Path:
    """Return a folder with the task files and rows."""
    folder = Path(tempfile.mkdtemp(prefix="proctor-recorded-"))
    lm_eval_exams.write(folder)
    rows = made_up.asked(shared=False)
    (folder / "test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return folder


def sit(case: Case) -> Answers:
    """Return the requests of a task in a layout, and the scores of made-up answers."""
    layout, name = case["layout"], case["task"]
    exam = adapter.exam_of(
        name,
        num_demos=layout["shots"],
        limit=layout.get("limit"),
        seed=layout.get("seed", 1234),
        samples={name: layout["samples"]} if "samples" in layout else None,
        include_paths=(str(_folder()),),
        system_prompt=layout.get("system"),
        apply_chat_template="chat" in layout,
        demos_as_turns=layout["chat"] == "multiturn" if "chat" in layout else None,
        resamples=RESAMPLES,
    )
    found: dict[str, Any] = {}
    for place, requests in enumerate(adapter.requests_of(exam)):
        asked = [each for request in requests[:1] for each in described(request, len(requests))]
        found.update({f"{place} {number}": each for number, each in enumerate(asked)})
    return {**found, **_Scores(adapter.scores_of(exam, DigestEngine()))}


class _Scores(dict[str, Any]):
    """Scores under lm-eval's keys (``score acc,none``)."""

    def __init__(self, scores: Mapping[str, Any]) -> None:
        super().__init__({f"score {name if ',' in name else f'{name},none'}": value for name, value in scores.items()})


def described(request: Request, repeats: int) -> list[list[Any]]:
    """Return the requests of lm-eval's that one of ours stands for."""
    if isinstance(request, Choose | Likelihood):
        return [[context_of(pair.context), pair.continuation] for pair in request.pairs]
    if isinstance(request, Generate):
        decoding = request.decoding
        how = {"until": list(decoding.stop), "max": decoding.max_tokens, "temperature": repr(decoding.temperature)}
        return [[context_of(request.prompt), {**how, "repeats": repeats}]]
    assert isinstance(request, Rolling)
    return [[request.text]]


def filtered(case: Case) -> Answers:
    """Return what a filter leaves of answers."""
    found = adapter.filtered(case["filter"], case["arguments"], case["answers"], case["docs"])
    return {"value": [list(each) if not isinstance(each, str) else each for each in found]}


def aggregated(case: Case) -> Answers:
    """Return an aggregate and its standard error."""
    items = [tuple(each) if isinstance(each, list) else each for each in case["items"]]
    value, error = adapter.aggregated(case["aggregation"], items, case["resamples"])
    return {"value": value, "error": error}


def matched(case: Case) -> Answers:
    """Return whether answers match."""
    return {"value": adapter.matched(case["reference"], case["prediction"], case["arguments"])}


def grouped(case: Case) -> Answers:
    """Return a group's score and standard error."""
    value, error = adapter.grouped(case["values"], case["errors"], case["sizes"], by_size=case["by_size"])
    return {"value": value, "error": error}


_KINDS: dict[str, Callable[[Case], Answers]] = {
    "task": sit,
    "filter": filtered,
    "aggregation": aggregated,
    "match": matched,
    "group": grouped,
}


def ours(case: Case) -> Answers:
    """Return Proctor's answers to a case; a refusal is an answer as well."""
    try:
        return _KINDS[case["kind"]](case)
    except ProctorError as error:
        return {"refused": {"error": str(error)}}


# -- lm-eval's answers --------------------------------------------------------------------------------------------


def theirs(python: str) -> Callable[[Sequence[Case]], list[Answers]]:
    """Return what asks lm-eval in its own environment."""

    def ask(cases: Sequence[Case]) -> list[Answers]:
        with tempfile.TemporaryDirectory() as folder:
            asked, out = Path(folder) / "cases.json", Path(folder) / "answers.jsonl"
            asked.write_text(json.dumps(cases), encoding="utf-8")
            answer([python, str(ORACLE), str(asked), str(out), str(_folder())])
            return [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]

    return ask


def explain(case: Case, name: str, theirs: Any, ours: Any) -> str:
    """Return the id of why an answer differs."""
    del ours
    if case["kind"] == "task" and case["task"] == "indices" and case["layout"]["shots"]:
        return "lm_eval/fewshot-indices"
    return "lm_eval/one-metric-fails" if name == "scores" and "error" in theirs else ""


def comparisons(python: str = "") -> list[Comparison]:
    """Return what is compared with lm-eval, whose Python is only needed to ask it."""
    ask = theirs(python)
    return [
        Comparison("lm_eval/tasks", "lm_eval", tasks, ours, ask, explain),
        Comparison("lm_eval/functions", "lm_eval", functions, ours, ask, explain),
    ]
