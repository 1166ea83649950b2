"""A run folder keeps the results of its own exam: another one is refused, and what changed is said."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from running_fakes import ToyExam

from proctor.cli.__main__ import main
from proctor.running.run import run_exams

ROWS = [{"question": f"Is {number} even or odd?", "answer": ("even", "odd")[number % 2]} for number in range(6)]


def write_rows(rows: list[dict[str, Any]]) -> None:
    Path("rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    hub = Path("hub/org/parity")
    hub.mkdir(parents=True, exist_ok=True)
    (hub / "test.jsonl").write_text(Path("rows.jsonl").read_text())
    lines = [f"{row['question']},{row['answer']}\n" for row in rows]
    Path("rows.csv").write_text("question,answer\n" + "".join(lines))


def write_catalog(template: str = "Q: {question}", metric: str = "metrics.accuracy") -> None:
    def save(name: str, value: dict[str, Any]) -> None:
        path = Path("catalog", *name.split(".")).with_suffix(".json")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value))

    loader = {"__type__": "load_json_file", "files": {"test": str(Path("rows.jsonl").resolve())}, "lines": True}
    inputs = {"input_fields": {"question": "str"}, "reference_fields": {"answer": "str"}}
    made = {"__type__": "input_output_template", "output_format": "{answer}"}
    save("templates.parity", {**made, "input_format": template})
    save("templates.unused", {**made, "input_format": template + " unused"})
    save("tasks.parity", {"__type__": "task", **inputs, "prediction_type": "str", "metrics": [metric]})
    save(
        "cards.parity",
        {
            "__type__": "task_card",
            "loader": loader,
            "task": "tasks.parity",
            "templates": ["templates.parity", "templates.unused"],
        },
    )


YAML = """
task: parity
dataset_path: json
dataset_kwargs: {data_files: {test: rows.jsonl}}
test_split: test
output_type: generate_until
doc_to_text: "Q: {{question}}"
doc_to_target: "{{answer}}"
metric_list: [{metric: exact_match}]
"""
CONFIG = """
def tidy(text):
    return text.strip()

datasets = [dict(
    abbr="parity", type="CustomDataset", path="rows.jsonl",
    reader_cfg=dict(input_columns=["question"], output_column="answer"),
    infer_cfg=dict(
        prompt_template=dict(type="PromptTemplate", template="Q: {question}"),
        retriever=dict(type="ZeroRetriever"), inferencer=dict(type="GenInferencer")),
    eval_cfg=dict(evaluator=dict(type="AccEvaluator"), pred_postprocessor=dict(type=tidy)),
)]
"""
HUB = """
tasks:
  - id: parity
    split: test
    field_spec: {input: question, target: answer}
    solvers: [{name: prompt_template, args: {template: "Q: {prompt}"}}, {name: generate}]
    scorers: [{name: match}]
"""
RECIPE = "card=cards.parity,template_card_index=0,max_tokens=8"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROCTOR_CATALOGS", str(tmp_path / "catalog"))
    monkeypatch.setenv("PROCTOR_HUB_DIR", str(tmp_path / "hub"))
    write_rows(ROWS)
    write_catalog()
    Path("parity.yaml").write_text(YAML)
    Path("parity.py").write_text(CONFIG.replace(", pred_postprocessor=dict(type=tidy)", ""))
    Path("hub/org/parity/eval.yaml").write_text(HUB)


def run(exam: str, *more: str, answer: str = "even") -> int:
    model = ("--model", "scripted", "--model-args", f"answer={answer}")
    return main(["run", *model, "--tasks", exam, "--log", "log.db", "--output", "out", *more])


def kept() -> tuple[bytes, ...]:
    return tuple(Path("out", name).read_bytes() for name in ("results.json", "samples.jsonl", "run.yaml"))


EXAMS = ["parity.yaml", "rows.csv", RECIPE, "parity.py", "hf/org/parity"]


@pytest.mark.parametrize("exam", EXAMS)
def test_the_same_run_again_is_welcome(exam: str) -> None:
    assert run(exam) == 0
    before = kept()
    assert run(exam) == 0
    assert kept()[1:] == before[1:]


@pytest.mark.parametrize("exam", EXAMS)
@pytest.mark.parametrize(
    "rows, said",
    [
        ([{**ROWS[0], "question": "Is 0 odd or even?"}, *ROWS[1:]], "rows were changed, added or left out"),
        ([{**ROWS[0], "answer": "odd"}, *ROWS[1:]], "rows were changed, added or left out"),
        (ROWS[1:], "rows were changed, added or left out"),
        ([*ROWS, ROWS[0]], "rows were changed, added or left out"),
        (ROWS[::-1], "the order of the data"),
    ],
)
def test_other_data_is_refused_and_nobody_is_asked(
    capsys: pytest.CaptureFixture[str], exam: str, rows: list[dict[str, Any]], said: str
) -> None:
    assert run(exam) == 0
    before = kept()
    write_rows(rows)
    capsys.readouterr()
    assert run(exam) == 2
    error = capsys.readouterr().err
    assert said in error
    assert "its results are kept" in error
    assert kept() == before
    assert "·" not in error.partition("error:")[0]  # no count of answers: nothing was asked


def test_another_template_of_the_catalog_is_refused_and_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(RECIPE) == 0
    before = kept()
    write_catalog("Say: {question}")
    assert run(RECIPE) == 2
    error = capsys.readouterr().err
    assert "artifacts.templates.parity.input_format: 'Q: {question}' → 'Say: {question}'" in error
    assert kept() == before


def test_a_template_that_the_exam_does_not_use_changes_nothing() -> None:
    assert run(RECIPE) == 0
    unused = Path("catalog/templates/unused.json")
    unused.write_text(unused.read_text().replace("unused", "changed"))
    assert run(RECIPE) == 0


def test_another_metric_of_the_catalog_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(RECIPE) == 0
    write_catalog(metric="metrics.f1_macro")
    assert run(RECIPE) == 2
    assert "artifacts.tasks.parity.metrics[0]: 'metrics.accuracy' → 'metrics.f1_macro'" in capsys.readouterr().err


def test_another_template_of_a_file_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("parity.yaml") == 0
    Path("parity.yaml").write_text(YAML.replace("Q:", "Say:"))
    assert run("parity.yaml") == 2
    assert "doc_to_text: 'Q: {{question}}' → 'Say: {{question}}'" in capsys.readouterr().err


def test_code_that_has_changed_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    text = YAML.replace('"Q: {{question}}"', "!function words.ask")
    Path("parity.yaml").write_text(text)
    Path("words.py").write_text("def ask(doc):\n    return 'Q: ' + doc['question']\n")
    assert run("parity.yaml", "--trust-code") == 0
    before = kept()
    Path("words.py").write_text("def ask(doc):\n    return 'Say: ' + doc['question']\n")
    assert run("parity.yaml", "--trust-code") == 2
    assert "artifacts.!function words" in capsys.readouterr().err
    assert kept() == before


def test_run_files_hold_what_they_name_and_digests_of_the_data() -> None:
    assert run(RECIPE) == 0
    held = yaml.safe_load(Path("out/run.yaml").read_text())
    (exam,) = held["exams"].values()
    (layers,) = held["fingerprints"].values()
    assert exam["artifacts"]["templates.parity"]["input_format"] == "Q: {question}"
    assert {"cards.parity", "tasks.parity", "metrics.accuracy"} <= set(exam["artifacts"])
    assert "templates.unused" not in exam["artifacts"]
    (entry,) = json.loads(Path("out/results.json").read_text())["results"].values()
    assert entry["fingerprint"] == layers
    assert all(len(digest) == 12 for digest in layers.values())


def test_a_folder_of_before_there_were_fingerprints_goes_on() -> None:
    assert run(RECIPE) == 0
    path = Path("out/run.yaml")
    held = yaml.safe_load(path.read_text())
    for name in ("fingerprints", "schema_version"):
        del held[name]
    for exam in held["exams"].values():
        del exam["artifacts"]
    path.write_text(yaml.safe_dump(held, sort_keys=False))
    assert run(RECIPE) == 0
    assert "fingerprints" in yaml.safe_load(path.read_text())


def test_layers_tell_what_differs_between_runs() -> None:
    def layers(folder: str, *more: str, answer: str = "even") -> dict[str, str]:
        model = ("--model", "scripted", "--model-args", f"answer={answer}")
        assert main(["run", *model, "--tasks", "parity.yaml", "--log", "log.db", "-o", folder, *more]) == 0
        (entry,) = json.loads(Path(folder, "results.json").read_text())["results"].values()
        return dict(entry["fingerprint"])

    def differing(one: dict[str, str], two: dict[str, str]) -> list[str]:
        return [name for name in one if one[name] != two[name]]

    plain = layers("a")
    assert differing(plain, layers("b", answer="odd")) == ["engine"]
    assert differing(plain, layers("c", "--system-prompt", "Be brief.")) == ["prompts"]
    Path("parity.yaml").write_text(YAML + "generation_kwargs: {until: [x], max_gen_toks: 3}\n")
    assert differing(plain, layers("d")) == ["decoding"]
    Path("parity.yaml").write_text(YAML.replace("exact_match}", "exact_match, ignore_case: true}"))
    assert differing(plain, layers("e")) == ["metrics"]
    filters = "filter_list: [{name: f, filter: [{function: lowercase}, {function: take_first}]}]\n"
    Path("parity.yaml").write_text(YAML + filters)
    assert differing(plain, layers("f")) == ["extraction"]
    Path("parity.yaml").write_text(YAML)
    write_rows(ROWS[::-1])
    assert differing(plain, layers("g")) == ["data"]


def test_a_helper_of_code_that_has_changed_is_refused_and_named(capsys: pytest.CaptureFixture[str]) -> None:
    Path("parity.yaml").write_text(YAML.replace('"Q: {{question}}"', "!function words.ask"))
    Path("words.py").write_text(
        "from pathlib import Path\n\nimport tools\n\n\ndef ask(doc):\n    return doc['question']\n"
    )
    Path("tools.py").write_text("VERSION = 1\n")
    sys.path.insert(0, str(Path.cwd()))
    try:
        assert run("parity.yaml", "--trust-code") == 0
        Path("tools.py").write_text("VERSION = 2\n\n")
        assert run("parity.yaml", "--trust-code") == 2
    finally:
        sys.path.pop(0)
        sys.modules.pop("tools", None)
    assert "artifacts.!function words: tools.py" in capsys.readouterr().err


@pytest.mark.parametrize(
    "exam, file, before, after, said",
    [
        (
            "hf/org/parity",
            "hub/org/parity/eval.yaml",
            "Q: {prompt}",
            "Say: {prompt}",
            "template: 'Q: {prompt}' → 'Say: {prompt}'",
        ),
        ("hf/org/parity", "hub/org/parity/eval.yaml", "name: match", "name: includes", "'match' → 'includes'"),
        ("parity.py", "parity.py", "Q: {question}", "Say: {question}", "'Q: {question}' → 'Say: {question}'"),
        ("parity.py", "parity.py", "AccEvaluator", "EMEvaluator", "EMEvaluator"),
        ("rows.csv", "rows.csv", "even or odd", "odd or even", "rows were changed"),
    ],
)
def test_an_edit_in_every_dialect_is_refused_and_named(
    capsys: pytest.CaptureFixture[str], exam: str, file: str, before: str, after: str, said: str
) -> None:
    assert run(exam) == 0
    held = kept()
    Path(file).write_text(Path(file).read_text().replace(before, after))
    assert run(exam) == 2
    assert said in " ".join(capsys.readouterr().err.split())
    assert kept() == held


def test_a_function_of_a_config_that_has_changed_is_refused_and_named(capsys: pytest.CaptureFixture[str]) -> None:
    Path("parity.py").write_text(CONFIG)
    assert run("parity.py", "--trust-code") == 0
    assert run("parity.py", "--trust-code") == 0
    before = kept()
    Path("parity.py").write_text(CONFIG.replace("text.strip()", "text.strip().upper()"))
    assert run("parity.py", "--trust-code") == 2
    assert "artifacts.def tidy" in capsys.readouterr().err
    assert kept() == before


def test_an_edited_metric_of_ones_own_is_refused_and_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code = "from proctor.scoring.metrics.accuracy import Accuracy\n\n\nclass OwnAccuracy(Accuracy):\n    pass\n"
    Path("metrics_of_mine.py").write_text(code)
    monkeypatch.syspath_prepend(str(Path.cwd()))
    importlib.import_module("metrics_of_mine")
    path = Path("catalog/metrics/own.json")
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"__type__": "own_accuracy"}))
    write_catalog(metric="metrics.own")
    try:
        assert run(RECIPE) == 0
        Path("metrics_of_mine.py").write_text(code + "\n\n# another rule\n")
        assert run(RECIPE) == 2
    finally:
        sys.modules.pop("metrics_of_mine", None)
    assert "artifacts.metrics_of_mine" in capsys.readouterr().err


def test_the_code_of_an_engine_that_is_not_ours_is_a_part_of_what_a_run_is_made_of(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)

    def layers(remark: str) -> dict[str, str]:
        text = (
            f"from proctor.engines.scripted import ScriptedEngine\n\nclass Brought(ScriptedEngine):\n    {remark!r}\n"
        )
        (tmp_path / "brought_engine.py").write_text(text)
        sys.modules.pop("brought_engine", None)
        importlib.invalidate_caches()
        engine = importlib.import_module("brought_engine").Brought(answer="a")
        (found,) = run_exams([ToyExam("toy", 1)], engine, log=tmp_path / "log.db").results.values()
        return dict(found["fingerprint"])

    first, same, edited = map(layers, ("one", "one", "another"))
    assert first == same
    assert {name for name in first if first[name] != edited[name]} == {"engine"}
