"""Runs of one exam that differ in one thing, in five dialects: what ``compare``, ``why``, ``gate`` and ``same`` say."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from proctor.dialects.resolve import resolve_tasks
from proctor.engines.scripted import ScriptedEngine
from proctor.errors import ProctorError
from proctor.exchange.readers import observed
from proctor.exchange.sameness import Sameness, same_runs
from proctor.exchange.why import Explanation, explain
from proctor.ir import Failure, Prompt, Response
from proctor.recipes.options import ExamOptions
from proctor.running.baselines import load_baseline
from proctor.running.run import run_exams
from proctor.running.spec import RunSpec
from proctor.runs.compare_runs import compare_runs
from proctor.runs.exam_comparison import ExamComparison
from proctor.runs.sample_index import SampleIndex
from proctor.runs.stored_run import load_run

Rows = list[dict[str, Any]]
COUNT = 12
ROWS: Rows = [
    {"question": f"Which number comes after {n}?", "answer": f"number {n + 1}", "text": f"t{n % 4}"}
    for n in range(COUNT)
]


def says(prompt: Prompt) -> str | Response:
    """Answer mostly right: one in capitals, one wrong."""
    number = int(re.findall(r"after (\d+)", prompt.text)[-1])
    return {2: "NUMBER 3", 5: "number 7"}.get(number, f"number {number + 1}")


def says_otherwise(prompt: Prompt) -> str | Response:
    """Answer as :func:`says`, but for one more mistake."""
    answer = says(prompt)
    return "number 0" if answer == "number 9" else answer


def says_more(prompt: Prompt) -> str | Response:
    """Answer as :func:`says`, with a word behind it."""
    return f"{says(prompt)} indeed"


def fails_sometimes(prompt: Prompt) -> str | Response:
    """Answer as :func:`says`, but for two questions that get no answer."""
    answer = says(prompt)
    return Response((), failure=Failure("server", "it is away")) if answer in ("number 1", "number 2") else answer


@dataclass(frozen=True)
class Change:
    """One thing in which a run differs."""

    rows: Callable[[Rows], Rows] = list
    prompt: str = "Q: {} A:"
    metric: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    engine: Mapping[str, Any] = field(default_factory=dict)
    folder: Callable[[Path], None] = lambda _: None


# -- dialects -----------------------------------------------------------------------------------------------------


def _data(folder: Path, rows: Rows) -> str:
    path = folder / "rows.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return str(path)


def as_table(folder: Path, rows: Rows, change: Change) -> str:
    _data(folder, rows)
    return str(folder / "rows.jsonl")


def as_yaml(folder: Path, rows: Rows, change: Change) -> str:
    metric = {"metric": "exact_match", **({"ignore_case": True} if change.metric else {})}
    task = {
        "task": "exam",
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": _data(folder, rows)}},
        "test_split": "test",
        "fewshot_split": "test",
        "output_type": "generate_until",
        "doc_to_text": change.prompt.format("{{question}}"),
        "doc_to_target": "{{answer}}",
        "generation_kwargs": {"until": ["\n"], "max_gen_toks": 16},
        "metric_list": [metric],
    }
    (folder / "exam.yaml").write_text(yaml.safe_dump(task))
    return str(folder / "exam.yaml")


def as_config(folder: Path, rows: Rows, change: Change) -> str:
    evaluator = "EMEvaluator" if change.metric else "AccEvaluator"
    (folder / "exam.py").write_text(
        f"""
datasets = [dict(
    abbr="exam", type="CustomDataset", path={_data(folder, rows)!r},
    reader_cfg=dict(input_columns=["question"], output_column="answer"),
    infer_cfg=dict(
        prompt_template=dict(type="PromptTemplate", template={change.prompt.format("{question}")!r}),
        retriever=dict(type="ZeroRetriever"), inferencer=dict(type="GenInferencer", max_out_len=16)),
    eval_cfg=dict(evaluator=dict(type="{evaluator}")),
)]
"""
    )
    return str(folder / "exam.py")


def as_recipe(folder: Path, rows: Rows, change: Change) -> str:
    loader = {"__type__": "load_json_file", "files": {"test": _data(folder, rows)}, "lines": True}
    fields = {"input_fields": {"question": "str", "text": "str"}, "reference_fields": {"answer": "str"}}
    metrics = ["metrics.string_containment" if change.metric else "metrics.accuracy"]
    task = {"__type__": "task", **fields, "prediction_type": "str", "metrics": metrics}
    template = {"__type__": "input_output_template", "input_format": change.prompt.format("{question}")}
    template["output_format"] = "{answer}"
    card = {"__type__": "task_card", "loader": loader, "task": task, "templates": [template]}
    recipe = {"__type__": "dataset_recipe", "card": card, "template_card_index": 0, "max_tokens": 16}
    (folder / "exam.json").write_text(json.dumps(recipe))
    return str(folder / "exam.json")


def as_eval_yaml(folder: Path, rows: Rows, change: Change) -> str:
    place = folder / "hub" / "org" / "exam"
    place.mkdir(parents=True)
    (place / "test.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    scorer = {"name": "includes"} if change.metric else {"name": "match", "args": {"location": "exact"}}
    solvers = [
        {"name": "prompt_template", "args": {"template": change.prompt.format("{prompt}")}},
        {"name": "generate"},
    ]
    task = {"id": "exam", "split": "test", "field_spec": {"input": "question", "target": "answer"}}
    task |= {"solvers": solvers, "scorers": [scorer]}
    (place / "eval.yaml").write_text(yaml.safe_dump({"tasks": [task]}))
    return "hf/org/exam"


DIALECTS = {
    "table": as_table,
    "yaml": as_yaml,
    "config": as_config,
    "recipe": as_recipe,
    "eval.yaml": as_eval_yaml,
}


def made(folder: Path, dialect: str, change: Change, base: Path | None = None) -> Path:
    """Run the exam with a change, and return its run folder; a copy of a run where only files are changed."""
    folder.mkdir(parents=True)
    if base is not None and replace(change, folder=Change.folder) == Change():
        shutil.copytree(base, folder / "run")
        change.folder(folder / "run")
        return folder / "run"
    exam = DIALECTS[dialect](folder, change.rows(ROWS), change)
    options = dict(change.options)
    if dialect == "table":
        options |= {"prompt": change.prompt.format("{question}"), "answer_column": "answer"}
    exams = resolve_tasks([exam], ExamOptions(**options))
    engine = ScriptedEngine(**{"function": says, **change.engine})
    told = {name: value for name, value in change.engine.items() if isinstance(value, str)}
    spec = RunSpec(model="scripted", model_args=told, tasks=(exam,))
    run_exams(exams, engine, log=folder / "log.db", output=folder / "run", spec=spec)
    change.folder(folder / "run")
    return folder / "run"


# -- what is said --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Said:
    """What four commands say of two runs."""

    compare: ExamComparison
    why: Explanation
    gate: Sequence[str]
    same: Sameness | str


def said_of(one: Path, two: Path, *, is_gated: bool = True) -> Said:
    """Return what is said of a run and one that differs."""
    indexes = []
    for folder in (one, two):
        run = load_run(folder)
        index = SampleIndex.of_run(run.samples, run.results, run.spec)
        index.build()
        indexes.append(index)
    (compared,) = compare_runs(*indexes)
    (first,), (second,) = observed(str(one)), observed(str(two))
    prints = [next(iter(load_baseline(each).exams.values())).fingerprint if is_gated else None for each in (one, two)]
    before, after = prints
    layers = [] if before is None or after is None else before.differences(after)
    try:
        (same,) = same_runs(one, two)
    except ProctorError as error:
        return Said(compared, explain(first, second), layers, error.diagnostics[0].what)
    return Said(compared, explain(first, second), layers, same)


# -- one thing -----------------------------------------------------------------------------------------------------


def of_lines(change: Callable[[Rows], Rows]) -> Callable[[Path], None]:
    """Return what changes the lines of a run folder's samples."""

    def changed(folder: Path) -> None:
        path = folder / "samples.jsonl"
        lines = change([json.loads(line) for line in path.read_text().splitlines()])
        path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))

    return changed


def of_results(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    """Return what changes the exam's entry in a run folder's results."""

    def changed(folder: Path) -> None:
        path = folder / "results.json"
        document = json.loads(path.read_text())
        for entry in document["results"].values():
            change(entry)
        path.write_text(json.dumps(document))

    return changed


def without(*names: str) -> Callable[[Path], None]:
    return of_lines(lambda lines: [{name: line[name] for name in line if name not in names} for line in lines])


def renamed(folder: Path) -> None:
    """Call the main score otherwise."""

    def scores(line: dict[str, Any]) -> dict[str, Any]:
        (value,) = {value for value in line["scores"].values() if isinstance(value, float)}
        return {**line, "scores": {"em": value}}

    of_lines(lambda lines: [scores(line) for line in lines])(folder)
    of_results(lambda entry: entry.update(score_name="em", em=entry["score"]))(folder)


def edited(place: int, **values: str) -> Callable[[Rows], Rows]:
    return lambda rows: [{**row, **(values if at == place else {})} for at, row in enumerate(rows)]


NEW = {"question": "Which number comes after 40?", "answer": "number 41", "text": "t0"}


@dataclass(frozen=True)
class Want:
    """What is to be said of a change; what is not named, is as if nothing differed."""

    change: Change
    common: int = COUNT
    alone: tuple[int, int] = (0, 0)
    open: int = 0
    decision: str = "undecided"
    refused: str = ""
    note: str = ""
    layers: tuple[str, ...] = ()
    told: str = ""
    gate: tuple[str, ...] = ()
    requests: int | None = COUNT
    otherwise: int = 0
    verdict: str = "same"


OTHER_WORDS = {"layers": ("prompt",), "gate": ("prompts",), "requests": None}
OTHER_DECODING = {"layers": ("decoding",), "told": "decoding differs", "gate": ("decoding",), "requests": None}
ROWS_TOO = ("rows", "prompts")
WANTED = {
    "nothing": Want(Change()),
    "a row more": Want(Change(rows=lambda rows: [*rows, NEW]), alone=(0, 1), layers=("rows",), gate=ROWS_TOO, otherwise=1),
    "a row less": Want(
        Change(rows=lambda rows: rows[1:]), 11, (1, 0), layers=("rows",), gate=ROWS_TOO, requests=11, otherwise=1
    ),
    "a row twice": Want(
        Change(rows=lambda rows: [*rows, rows[3]]), alone=(0, 1), layers=("rows",), gate=ROWS_TOO, otherwise=1
    ),
    "another question": Want(
        Change(rows=edited(0, question="Which number comes right after 0?")),
        *(11, (1, 1)), layers=("rows",), gate=ROWS_TOO, requests=11, otherwise=2,
    ),
    "another gold": Want(Change(rows=edited(0, answer="number 2")), 11, (1, 1), layers=("rows",), gate=("rows",)),
    "a column more": Want(
        Change(rows=lambda rows: [{**row, "note": f"n{at}"} for at, row in enumerate(rows)]),
        note="paired by the columns that both runs have", gate=("rows",),
    ),
    "another value of what nobody shows": Want(
        Change(rows=edited(0, text="t9")),
        note="1 paired by what was sent and is right", told="1 instances differ in something that was not sent", gate=("rows",),
    ),
    "another order": Want(Change(rows=lambda rows: rows[::-1]), layers=("rows",), gate=("data",)),
    "fewer rows asked": Want(Change(options={"limit": 8}), 8, (4, 0), layers=("rows",), gate=ROWS_TOO, requests=8, otherwise=4),
    "other words": Want(Change(prompt="Question: {} Answer:"), **OTHER_WORDS),
    "a space more": Want(Change(prompt="Q: {} A: "), **OTHER_WORDS),
    "a system prompt": Want(Change(options={"system_prompt": "Be brief."}), **OTHER_WORDS),
    "a temperature": Want(Change(options={"decoding": {"temperature": 0.5}}), **OTHER_DECODING),
    "more tokens": Want(Change(options={"decoding": {"max_tokens": 99}}), **OTHER_DECODING),
    "a stop string": Want(Change(options={"decoding": {"stop": ["#"]}}), **OTHER_DECODING),
    "a seed that nothing draws by": Want(Change(options={"seed": 7})),
    "asked twice": Want(Change(options={"repeats": 2}), layers=("decoding",)),
    "clusters": Want(Change(options={"clusters": "text"}), note="errors are of 4 clusters of 'text'"),
    "groups": Want(Change(options={"group_by": ("text",)})),
    "another model that answers alike": Want(Change(engine={"model": "b"}), told="the engine differs", gate=("engine",)),
    "another model": Want(
        Change(engine={"function": says_otherwise}), layers=("answer",), gate=("engine",), verdict="undecided"
    ),
    "a model that says more": Want(
        Change(engine={"function": says_more}),
        decision="worse", layers=("answer",), gate=("engine",), verdict="different",
    ),
    "a model that thinks": Want(Change(engine={"thoughts": "hm"}), told="the engine differs", gate=("engine",)),
    "failures": Want(
        Change(engine={"function": fails_sometimes}),
        10, open=2, layers=("failure",), gate=("engine",), requests=10,
    ),
    "no digests of definitions": Want(
        Change(folder=of_results(lambda entry: entry.pop("fingerprint"))), note="one of the runs does not say by which definitions"
    ),
    "no digests of rows": Want(Change(folder=without("instance"))),
    "no rows": Want(Change(folder=without("instance", "input")), note="12 paired by what was sent and is right"),
    "no prompts": Want(Change(folder=without("prompt")), told="does not say prompts", requests=None),
    "no word of what was run": Want(Change(folder=lambda folder: (folder / "run.yaml").unlink())),
    "no unit": Want(Change(folder=of_results(lambda entry: [entry.pop("unit"), entry.pop("higher_is_better")]))),
    "a unit that nobody knows": Want(Change(folder=of_results(lambda entry: entry.update(unit="raw"))), refused="in the unit 'raw'"),
    "less is better": Want(
        Change(folder=of_results(lambda entry: entry.update(higher_is_better=False))), refused="is better, in the other less"
    ),
    "another name of the same score": Want(Change(folder=renamed), note="and as em"),
    "questions that were drawn for what they tell": Want(
        Change(folder=of_results(lambda entry: entry.update(sample={"is_adaptive": True}))), refused="(adaptive)"
    ),
    "lines that are gone": Want(
        Change(folder=of_lines(lambda lines: lines[:6])),
        *(6, (6, 0)), refused="the samples have 6 of the 12 instances", layers=("rows", "weights"), requests=6, otherwise=6,
    ),
}  # fmt: skip
METRICS = {
    "yaml": Want(Change(metric="x"), note="the metric is defined otherwise", layers=("metric",), gate=("metrics",)),
    "config": Want(Change(metric="x"), refused="scored by accuracy, the other by score", told="the metric is defined otherwise", gate=("metrics",)),
    "recipe": Want(Change(metric="x"), refused="the other by string_containment", told="the metric is defined otherwise", gate=("metrics",)),
    "eval.yaml": Want(Change(metric="x"), note="the metric is defined otherwise", layers=("extraction",), told="the metric is defined otherwise", gate=("metrics",)),
}  # fmt: skip
OTHERWISE = {
    ("recipe", "a column more"): {"note": "", "gate": ()},
    ("config", "asked twice"): {
        "layers": ("rows",), "note": "scored as accuracy and as accuracy (2 runs average)", "otherwise": 12,
        "gate": ("rows", "prompts", "decoding", "metrics"), "told": "the metric is defined otherwise",
    },
    ("config", "no unit"): {"layers": ("metric",)},
    ("config", "a unit that nobody knows"): {"layers": ("metric",)},
    ("eval.yaml", "asked twice"): {"gate": ("decoding",), "requests": None},
}  # fmt: skip
"""What a dialect does in its own way: recipes read the columns that they name, configs copy rows, eval.yaml asks once for
several answers."""
CASES = [
    *(
        (dialect, name, replace(want, **OTHERWISE.get((dialect, name), {})))
        for dialect in DIALECTS
        for name, want in WANTED.items()
    ),
    *((dialect, "another metric", want) for dialect, want in METRICS.items()),
]
UNGATED = {("config", "no unit"), ("config", "a unit that nobody knows")}
"""Percentages of which nobody says so: a gate refuses them as a baseline."""


@pytest.fixture(scope="module")
def bases(tmp_path_factory):
    """The run without a change, of each dialect."""
    found = {}
    with pytest.MonkeyPatch.context() as patch:
        for dialect in DIALECTS:
            folder = tmp_path_factory.mktemp(dialect.replace(".", "_"))
            patch.setenv("PROCTOR_HUB_DIR", str(folder / "base" / "hub"))
            found[dialect] = made(folder / "base", dialect, Change())
    return found


def test_at_least_a_hundred_pairs_are_tried():
    assert len(CASES) >= 100


@pytest.mark.parametrize("dialect, name, want", [pytest.param(*case, id=f"{case[0]}: {case[1]}") for case in CASES])
def test_four_commands_say_what_differs(dialect, name, want, bases, tmp_path, monkeypatch):
    monkeypatch.setenv("PROCTOR_HUB_DIR", str(tmp_path / "run" / "hub"))
    said = said_of(
        bases[dialect],
        made(tmp_path / "run", dialect, want.change, bases[dialect]),
        is_gated=(dialect, name) not in UNGATED,
    )
    compared = said.compare
    assert (compared.n, compared.alone_first, compared.alone_second) == (want.common, *want.alone)
    assert compared.unanswered == want.open
    assert compared.decision == want.decision
    assert (want.refused in compared.refused) if want.refused else (compared.refused == "")
    assert (
        any(want.note in note for note in compared.notes) if want.note else (compared.notes == () or compared.refused)
    )
    assert tuple(said.why.parts) == want.layers
    assert any(want.told in note for note in said.why.notes) if want.told else said.why.notes == ()
    assert tuple(said.gate) == want.gate
    if want.requests is None:
        assert said.same == "the runs have no request in common"
    else:
        assert (said.same.verdict, said.same.requests, said.same.otherwise) == (
            want.verdict,
            want.requests,
            want.otherwise,
        )
        assert said.same.unanswered == want.open
