"""Whatever decides a score is in the fingerprint: exams that differ in it are never compared as one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from proctor.artifacts import fetch_artifact
from proctor.dialects.resolve import resolve_tasks
from proctor.dialects.unitxt.resolve import exam_of
from proctor.engines.scripted import ScriptedEngine
from proctor.recipes import DatasetRecipe
from proctor.recipes.exam import Exam
from proctor.recipes.fingerprint import Fingerprint, FingerprintMaker
from proctor.recipes.options import ExamOptions
from proctor.running.run import run_exams
from proctor.runs.compare_runs import compare_runs
from proctor.runs.sample_index import SampleIndex
from proctor.runs.stored_run import load_run
from proctor.settings import settings

OPTIONS = [{"__type__": "criteria_option", "name": "Yes"}, {"__type__": "criteria_option", "name": "No"}]
POLITE = {"name": "ok", "description": "Is it polite?", "options": OPTIONS, "option_map": {"Yes": 1.0, "No": 0.0}}
KIND = {**POLITE, "description": "Is it kind?"}
NAMED = {
    "criteria/own": {"__type__": "criteria_with_options", **POLITE},
    "processors/own": {"__type__": "lower_case"},
    "tasks/own": {
        "__type__": "task",
        "input_fields": {"question": "str"},
        "reference_fields": {"answer": "str"},
        "prediction_type": "str",
        "metrics": [],
    },
}


def fingerprint(exam: Exam) -> Fingerprint:
    """Return what an exam and its questions are made of."""
    maker = FingerprintMaker()
    for _ in maker.passing(exam.questions()):
        pass
    return maker.made(exam.definition)


@pytest.fixture
def catalog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return what writes an artifact into a catalog that the user has."""
    monkeypatch.setenv("PROCTOR_CATALOGS", str(tmp_path / "own"))

    def write(name: str, /, **changed: Any) -> None:
        path = tmp_path / "own" / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({**NAMED[name], **changed}))

    for each in NAMED:
        write(each)
    return write


def recipe(metric: Any, criteria: Any = "", steps: tuple[Any, ...] = ()) -> Exam:
    """Return an exam of a recipe whose rows have criteria."""
    rows = [{"question": f"q{number}", "answer": "a", "criteria": criteria} for number in range(3)]
    fields = {"question": "str", "criteria": "Any"}
    card = {
        "__type__": "task_card",
        "loader": {"__type__": "load_from_dictionary", "data": {"test": rows}},
        "preprocess_steps": list(steps),
        "task": {**NAMED["tasks/own"], "input_fields": fields},
    }
    template = {"__type__": "input_output_template", "input_format": "{question}", "output_format": "{answer}"}
    found = fetch_artifact({"__type__": "dataset_recipe", "card": card, "template": template, "metrics": [metric]})
    assert isinstance(found, DatasetRecipe)
    return exam_of("exam", found)


def by_rows(rows: Any, *steps: Any, **changed: Any) -> Exam:
    """Return an exam whose judge reads its criteria from the rows."""
    judge = {"__type__": "llm_judge_direct", "context_fields": "question", "criteria_field": "criteria"}
    return recipe({**judge, "inference_engine": ENGINE, **changed}, rows, steps)


def by_criteria(**changed: Any) -> Exam:
    """Return an exam whose judge has criteria."""
    criteria = {"__type__": "criteria_with_options", **POLITE, **changed.pop("of_criteria", {})}
    return by_rows("", criteria=criteria, criteria_field=None, **changed)


def by_template(**changed: Any) -> Exam:
    """Return an exam whose judge is a template."""
    words = {"input_format": "{question}: {answer}", "output_format": "{rating}", "postprocessors": ["processors.own"]}
    template = {"__type__": "input_output_template", **words, **changed.pop("of_template", {})}
    judge = {"__type__": "llm_as_judge", "task": "rating.single_turn", "template": template}
    return recipe({**judge, "inference_model": ENGINE, **changed})


def by_task(**changed: Any) -> Exam:
    """Return an exam whose judge judges by a task of a catalog."""
    engine = {"__type__": "open_ai_inference_engine", "model_name": "gpt-4o", **changed}
    words = {"input_format": "{question}", "output_format": "{answer}"}
    kind = {"__type__": "task_based_ll_mas_judge", "task": "tasks.own", "prediction_field": "answer"}
    return recipe({**kind, "template": {"__type__": "input_output_template", **words}, "inference_model": engine})


ENGINE, OTHER = ({"__type__": "scripted_engine", "answer": each} for each in ("Yes", "No"))
LOADED = {"__type__": "load_criteria_with_options", "field": "criteria"}
MADE = {"__type__": "create_criteria_with_options_from_dict", "field": "criteria"}
STRICT = {"__type__": "textual_system_prompt", "text": "Be strict."}
PAIRS: dict[str, tuple[Callable[[], Exam], Callable[[], Exam]]] = {
    "criteria of rows": (lambda: by_rows(POLITE), lambda: by_rows(KIND)),
    "criteria that a step makes": (lambda: by_rows(POLITE, MADE), lambda: by_rows(KIND, MADE)),
    "criteria": (by_criteria, lambda: by_criteria(of_criteria={"description": "Is it kind?"})),
    "scores of options": (by_criteria, lambda: by_criteria(of_criteria={"option_map": {"Yes": 0.5, "No": 0.0}})),
    "context": (by_criteria, lambda: by_criteria(context_fields=["question", "criteria"])),
    "both orders": (by_criteria, lambda: by_criteria(check_positional_bias=False)),
    "engine": (by_criteria, lambda: by_criteria(inference_engine=OTHER)),
    "template": (by_template, lambda: by_template(of_template={"input_format": "Rate {answer}"})),
    "instruction": (by_template, lambda: by_template(of_template={"instruction": "Be strict."})),
    "system prompt": (by_template, lambda: by_template(system_prompt=STRICT)),
    "task": (by_template, lambda: by_template(task="rating.single_turn_with_reference")),
    "engine of a template": (by_template, lambda: by_template(inference_model=OTHER)),
}


@pytest.mark.usefixtures("catalog")
@pytest.mark.parametrize("what", PAIRS)
def test_what_a_judge_is_made_of_is_in_the_fingerprint(what: str) -> None:
    one, two = (fingerprint(make()) for make in PAIRS[what])
    assert one.differences(two)
    assert fingerprint(PAIRS[what][0]()) == one


BY_NAME: dict[str, tuple[Callable[[], Exam], str, dict[str, Any]]] = {
    "criteria that rows name": (lambda: by_rows("criteria.own"), "criteria/own", {"description": "Is it kind?"}),
    "criteria that a step loads": (lambda: by_rows("criteria.own", LOADED), "criteria/own", {"name": "kind"}),
    "what reads verdicts": (by_template, "processors/own", {"__type__": "lower_case_till_punc"}),
    "the task of a judge": (by_task, "tasks/own", {"prediction_type": "float"}),
}


@pytest.mark.parametrize("what", BY_NAME)
def test_what_a_name_means_counts_and_not_the_name(what: str, catalog: Callable[..., None]) -> None:
    make, name, changed = BY_NAME[what]
    one = fingerprint(make())
    catalog(name, **changed)
    assert one.differences(fingerprint(make()))


def test_who_answers_in_a_judges_place_counts() -> None:
    one = fingerprint(by_task())
    with settings.context(engine_map="gpt-4o=scripted[answer=Yes]"):
        two = fingerprint(by_task())
    assert one.differences(two) == ["metrics"]


# -- judges of other dialects -------------------------------------------------------------------------------------

ROWS = [{"question": f"q{number}", "answer": "a", "rubric": "x"} for number in range(3)]


def eval_yaml(folder: Path, **arguments: Any) -> Exam:
    place = folder / "org" / "exam"
    place.mkdir(parents=True, exist_ok=True)
    (place / "test.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    task = {"id": "exam", "split": "test", "field_spec": {"input": "question", "target": "answer"}}
    solvers, scorers = [{"name": "generate"}], [{"name": "model_graded_qa", "args": arguments}]
    (place / "eval.yaml").write_text(yaml.safe_dump({"tasks": [{**task, "solvers": solvers, "scorers": scorers}]}))
    return resolve_tasks(["hf/org/exam"])[0]


@pytest.mark.parametrize(
    "changed",
    [
        {"instructions": "Reply with GRADE: C or GRADE: I"},
        {"template": "{question} {answer} {criterion}"},
        {"partial_credit": True},
        {"grade_pattern": "([CI])"},
    ],
)
def test_scorers_of_an_eval_yaml_count_with_what_they_ask(changed: dict[str, Any], tmp_path: Path) -> None:
    with settings.context(judge=ScriptedEngine(answer="GRADE: C"), hub_dir=str(tmp_path)):
        assert fingerprint(eval_yaml(tmp_path)).differences(fingerprint(eval_yaml(tmp_path, **changed)))


CONFIG = """
template = dict(type="PromptTemplate", template="{question}")
model = dict(type="VLLMCustomAPIChat", abbr="j", model="judge", host_ip="127.0.0.1", host_port=1, max_out_len=8)
asks = dict(type="PromptTemplate", template=dict(round=[dict(role="HUMAN", prompt="right? {prediction}")]))
datasets = [dict(abbr="d", type="CustomDataset", path="rows.jsonl",
    reader_cfg=dict(input_columns=["question"], output_column="answer"),
    infer_cfg=dict(prompt_template=template, retriever=dict(type="ZeroRetriever"), inferencer=dict(type="GenInferencer")),
    %s)]
"""
JUDGED = """judge_infer_cfg=dict(judge_model=model, judge_dataset_type="LLMJudgeDataset",
    judge_reader_cfg=dict(input_columns=["question", "model_answer"], output_column="model_pred_uuid"),
    prompt_template=dict(type="PromptTemplate", template="right? {model_answer}"),
    retriever=dict(type="ZeroRetriever"), inferencer=dict(type="GenInferencer")),
    eval_cfg=dict(evaluator=dict(type="AccEvaluator"))"""
GENERIC = """eval_cfg=dict(evaluator=dict(type="GenericLLMEvaluator", prompt_template=asks, judge_cfg=%s,
    dict_postprocessor=dict(type="generic_llmjudge_postprocess")))"""


def config(folder: Path, text: str) -> Exam:
    (folder / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    (folder / "exam.py").write_text(text)
    return resolve_tasks([str(folder / "exam.py")])[0]


@pytest.mark.parametrize(
    "before, after",
    [
        ("right? {model_answer}", "wrong? {model_answer}"),
        ('model="judge"', 'model="another"'),
        ("max_out_len=8", "max_out_len=9"),
    ],
)
@pytest.mark.parametrize("judged", [JUDGED, GENERIC % "model"])
def test_judges_of_configs_count(before: str, after: str, judged: str, tmp_path: Path) -> None:
    text = CONFIG % judged
    changed = text.replace(before, after).replace("right? {prediction}", "wrong? {prediction}")
    one = fingerprint(config(tmp_path, text))
    assert one.differences(fingerprint(config(tmp_path, changed)))
    assert fingerprint(config(tmp_path, text)) == one


def test_a_judge_that_the_environment_names_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OC_JUDGE_API_KEY", "k")
    monkeypatch.setenv("OC_JUDGE_MODEL", "one")
    exam = CONFIG % (GENERIC % "dict()")
    one = fingerprint(config(tmp_path, exam))
    monkeypatch.setenv("OC_JUDGE_MODEL", "two")
    assert one.differences(fingerprint(config(tmp_path, exam))) == ["metrics"]


# -- what is said of two runs -------------------------------------------------------------------------------------


def index_of(folder: Path, rows: list[dict[str, Any]], **options: Any) -> SampleIndex:
    folder.mkdir()
    path = folder / "rows.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    exams = resolve_tasks([str(path)], ExamOptions(prompt="{question}", **options))
    run_exams(exams, ScriptedEngine(answer="x or y"), log=folder / "log.db", output=folder / "run")
    run = load_run(folder / "run")
    index = SampleIndex.of_run(run.samples, run.results, run.spec)
    index.build()
    return index


@pytest.mark.parametrize("column, options", [("rubrics", {"metric": ("rubrics",)}), ("__expected", {})])
def test_rows_with_other_criteria_are_never_paired(
    column: str, options: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = '{"__type__": "scripted_engine", "answer": "{\\"pass\\": true}"}'
    monkeypatch.setenv("PROCTOR_JUDGE", answer)
    made = {"rubrics": lambda text: [{"criterion": text, "points": 1}], "__expected": lambda text: f"contains: {text}"}
    before, after = ([{**row, column: made[column](text)} for row in ROWS] for text in "xy")
    shared = [*before[:1], *after[1:]]
    one, same, two = (index_of(tmp_path / str(n), rows, **options) for n, rows in enumerate([before, before, after]))
    assert compare_runs(one, same)[0].n == len(ROWS)
    assert all(not each.n for each in compare_runs(one, two))
    some = index_of(tmp_path / "some", shared, **options)
    assert [each.n for each in compare_runs(one, some)] in ([], [1])


@pytest.mark.parametrize(
    "before, after",
    [
        ("value: yes", "value: no"),
        ("threshold: 0.5", "threshold: 0.9"),
        ("weight: 2", "weight: 3"),
        ("contains", "icontains"),
    ],
)
def test_assertions_of_promptfoo_count(before: str, after: str, tmp_path: Path) -> None:
    text = """prompts: ["Say {{word}}"]
providers: [echo]
tests:
  - vars: {word: a}
    threshold: 0.5
    assert: [{type: contains, value: yes, weight: 2}]
"""

    def of(text: str) -> Fingerprint:
        (tmp_path / "promptfooconfig.yaml").write_text(text)
        return fingerprint(resolve_tasks([str(tmp_path / "promptfooconfig.yaml")])[0])

    assert of(text).differences(of(text.replace(before, after)))
