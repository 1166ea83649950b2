"""``proctor compare``, ``--fail-if-worse`` and ``--fail-under``: what users meet when they compare two numbers."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from proctor.cli.__main__ import main
from proctor.cli.error_reporting import BAD_INPUT, TROUBLE, UNDECIDED
from proctor.cli.thresholds import check_units, parsed, verdict
from proctor.dialects.resolve import resolve_tasks
from proctor.errors import UsageError
from proctor.running.gate_report import EXIT_CODES

ANSWERS = ("even", "odd")
ROWS = [{"question": f"Is {number} even or odd?", "answer": ANSWERS[number % 2]} for number in range(50)]

YAML = """
task: {name}
dataset_path: json
dataset_kwargs: {{data_files: {{test: {rows}}}}}
test_split: test
output_type: generate_until
doc_to_text: "{prompt}"
doc_to_target: "{{{{answer}}}}"
generation_kwargs: {{until: ["\\n"], max_gen_toks: 8}}
metric_list: [{{metric: {metric}}}]
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    write("rows.jsonl", ROWS)


def write(name: str, rows: list[dict[str, Any]]) -> None:
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))


def table(name: str, rows: list[dict[str, Any]]) -> str:
    Path(name).write_text("question,answer\n" + "".join(f"{row['question']},{row['answer']}\n" for row in rows))
    return name


def task(
    name: str = "parity",
    rows: str = "rows.jsonl",
    prompt: str = "Question: {{question}} Answer:",
    metric: str = "exact_match",
) -> str:
    Path(f"{name}.yaml").write_text(YAML.format(name=name, rows=rows, prompt=prompt, metric=metric))
    return f"{name}.yaml"


def recipe(
    name: str, template: str = "Q: {question}", metric: str = "metrics.accuracy", rows: str = "rows.jsonl"
) -> str:
    card = {
        "__type__": "task_card",
        "loader": {"__type__": "load_json_file", "files": {"test": str(Path(rows).resolve())}, "lines": True},
        "task": {
            "__type__": "task",
            "input_fields": {"question": "str"},
            "reference_fields": {"answer": "str"},
            "prediction_type": "str",
            "metrics": [metric],
        },
    }
    form = {"__type__": "input_output_template", "input_format": template, "output_format": "{answer}"}
    Path(f"{name}.json").write_text(
        json.dumps({"__type__": "dataset_recipe", "card": card, "template": form, "max_tokens": 8})
    )
    return f"{name}.json"


def run(folder: str, exam: str, answer: str = "even", *more: str) -> int:
    model = ("--model", "scripted", "--model-args", f"answer={answer}")
    return main(["run", *model, "--tasks", exam, "--log", "log.db", "--output", folder, *more])


def compared(capsys: pytest.CaptureFixture[str], *runs: str) -> list[dict[str, Any]]:
    capsys.readouterr()
    code = main(["compare", *runs, "--json"])
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    assert code == (1 if any(row["refused"] or row["difference"] is None for row in found) else 0)
    return found


def test_the_same_answers_in_percent_and_as_shares_do_not_differ(capsys):
    run("a", table("parity.csv", ROWS) + "[project=opencompass]")
    run("b", task())
    (row,) = compared(capsys, "a", "b")
    assert (row["n"], row["difference"], row["p"], row["unit"], row["test"]) == (50, 0.0, 1.0, "share", "mcnemar")
    assert row["low"] < 0 < row["high"]
    assert row["notes"][0] == "scored as accuracy and as exact_match"
    assert [note.split(",")[0] for note in row["notes"][1:]] == [
        "answers are read in other ways",
        "the metric is defined otherwise",
    ]


@pytest.mark.parametrize("kind", ["csv", "yaml", "recipe"])
def test_a_row_that_was_deleted_shifts_no_pairs(capsys, kind):
    def asked(rows: list[dict[str, Any]], folder: str) -> None:
        write("rows.jsonl", rows)
        exam = {"csv": lambda: table("p.csv", rows), "yaml": task, "recipe": lambda: recipe("p")}[kind]()
        run(folder, exam)

    asked(ROWS, "a")
    asked(ROWS[1:], "b")
    (row,) = compared(capsys, "a", "b")
    assert (row["n"], row["better"], row["worse"]) == (49, 0, 0)
    assert (row["alone_first"], row["alone_second"], row["left_out"]) == (1, 0, 1)
    asked(ROWS[::-1], "c")
    (row,) = compared(capsys, "a", "c")
    assert (row["n"], row["better"], row["worse"], row["left_out"]) == (50, 0, 0, 0)


def test_two_prompts_on_the_same_questions_are_compared(capsys):
    run("a", task("short", prompt="{{question}}"))
    run("b", task("long", prompt="Say it: {{question}}"), "odd")
    (row,) = compared(capsys, "a", "b")
    assert (row["task"], row["task_second"], row["n"]) == ("short", "long", 50)
    assert (row["better"], row["worse"]) == (25, 25)
    run("c", recipe("unlike", "Now: {question}"))
    assert compared(capsys, "a", "c")[0]["n"] == 50


def test_no_difference_is_promised_that_scores_cannot_have(capsys):
    """Of four questions two alike models would have to differ by more than everything for chance to be ruled out."""
    write("rows.jsonl", ROWS[:4])
    run("a", f"{task('few')},{recipe('much')}")
    run("b", f"{task('few')},{recipe('much')}", "odd")
    capsys.readouterr()
    assert main(["compare", "a", "b"]) == 0
    assert capsys.readouterr().out.count("no difference would show: the instances are too few (power 80%)") == 2


def test_two_exams_of_one_run_are_compared_by_name(capsys):
    run("a", ",".join([task("short", prompt="{{question}}"), task("long", prompt="Say: {{question}}")]))
    (row,) = compared(capsys, "a::short", "a::long")
    assert (row["task"], row["task_second"], row["n"], row["difference"]) == ("short", "long", 50, 0.0)
    assert main(["compare", "a::shirt", "a::long"]) == 2
    assert "did you mean 'short'" in capsys.readouterr().err


def test_a_corpus_score_is_compared_as_what_it_is(capsys):
    run("a", recipe("f1", metric="metrics.f1_macro"))
    run("b", recipe("f1", metric="metrics.f1_macro"), "odd")
    stored = json.loads(Path("a/results.json").read_text())["results"]["f1"]
    (row,) = compared(capsys, "a", "b")
    assert (row["metric"], row["test"], row["difference"]) == ("f1_macro", "bootstrap", 0.0)
    assert row["first"] == pytest.approx(stored["score"]) == pytest.approx(1 / 3)
    assert row["low"] < 0 < row["high"]
    assert (row["better"], row["worse"]) == (0, 0)


def test_a_corpus_score_on_the_common_instances_is_that_of_these(capsys):
    write("fewer.jsonl", [*ROWS[20:], ROWS[0]])
    run("a", recipe("f1", metric="metrics.f1_macro"))
    run("b", recipe("f2", metric="metrics.f1_macro", rows="fewer.jsonl"))
    (row,) = compared(capsys, "a", "b")
    assert (row["n"], row["alone_first"], row["alone_second"]) == (31, 19, 0)
    # 16 of the 31 are even, and all are said to be: F1 of "even" is 2 * 16 / (31 + 16), of "odd" 0.
    assert row["first"] == row["second"] == pytest.approx(2 * 16 / 47 / 2)
    assert row["difference"] == 0.0


def test_a_corpus_score_whose_exam_has_changed_is_refused(capsys):
    run("a", recipe("f1", metric="metrics.f1_macro"))
    recipe("f1", "Other: {question}", metric="metrics.f1_macro")
    (row,) = compared(capsys, "a", "a")
    assert row["difference"] is None
    assert "is not what it was" in row["refused"]
    recipe("f1", metric="metrics.f1_macro")
    write("rows.jsonl", [{**ROWS[0], "answer": "odd"}, *ROWS[1:]])
    (row,) = compared(capsys, "a", "a")
    assert "instance 0 has changed" in row["refused"]


def test_a_corpus_score_of_a_task_is_computed_again(capsys):
    words = [{"question": f"say {number}", "answer": f"the cat {number % 7} sat on the mat"} for number in range(12)]
    write("rows.jsonl", words)
    run("a", task("t", metric="bleu"), "the cat 3 sat on the mat")
    run("b", task("t", metric="bleu"), "the cat 3 sat on a mat")
    stored = json.loads(Path("a/results.json").read_text())["results"]["t"]["score"]
    (row,) = compared(capsys, "a", "b")
    assert (row["refused"], row["test"]) == ("", "bootstrap")
    assert row["first"] == pytest.approx(stored)
    assert row["difference"] < 0
    assert row["low"] < row["difference"] < row["high"]


def test_scores_of_other_names_are_not_compared(capsys):
    run("a", recipe("one"))
    run("b", recipe("two", metric="metrics.f1_macro"))
    (row,) = compared(capsys, "a", "b")
    assert row["refused"] == "one run is scored by accuracy, the other by f1_macro"
    assert row["difference"] is None


def test_runs_without_a_common_instance_are_refused(capsys):
    run("a", task("one"))
    write("rows.jsonl", [{"question": f"other {number}", "answer": "x"} for number in range(9)])
    run("b", task("two"))
    assert main(["compare", "a", "b"]) == 2
    assert "no two of their exams ask about the same instances" in capsys.readouterr().err
    run("c", task("one"))
    (row,) = compared(capsys, "a", "c")
    assert row["refused"] == "their 50 and 9 instances have none in common"


def test_runs_of_before_there_were_digests_are_paired_by_content(capsys):
    run("a", task())
    run("b", task(), "odd")
    for folder in ("a", "b"):
        path = Path(folder, "samples.jsonl")
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        path.write_text(
            "".join(json.dumps({k: v for k, v in line.items() if k != "instance"}) + "\n" for line in lines)
        )
    (row,) = compared(capsys, "a", "b")
    assert (row["n"], row["better"], row["worse"]) == (50, 25, 25)


@pytest.mark.parametrize("columns", ["60", "200"])
def test_what_people_read_fits_60_columns(capsys, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    long = "runs-of-a-model-with-a-very-long-name/and-of-an-exam-with-one-that-is-longer-still"
    Path(long).parent.mkdir()
    run("a", task())
    run(long, task(), "odd")
    capsys.readouterr()
    assert main(["compare", "a", long]) == 0
    said = capsys.readouterr().out
    assert max(map(len, said.splitlines())) <= 60
    for words in (
        "A = a",
        "B = runs-of",
        "parity",
        "exact_match (of 1) on 50 common instances",
        "A       0.5000",
        "(power 80%)",
    ):
        assert words in said
    assert "25 better, 25 worse, 0 equal" in said


def test_a_worse_run_fails_where_that_is_wanted(capsys):
    mostly = [{"question": f"q{number}", "answer": "even"} for number in range(40)]
    write("rows.jsonl", mostly)
    run("good", task())
    run("bad", task(), "odd")
    assert main(["compare", "good", "bad"]) == 0
    assert main(["compare", "good", "bad", "--fail-if-worse"]) == 1
    assert "bad is worse on parity" in capsys.readouterr().err
    assert main(["compare", "bad", "good", "--fail-if-worse"]) == 0
    assert main(["compare", "good", "good", "--fail-if-worse"]) == 0


def test_what_cannot_be_decided_does_not_pass(capsys):
    run("a", recipe("one"))
    run("b", recipe("two", metric="metrics.f1_macro"))
    assert main(["compare", "a", "b", "--fail-if-worse"]) == UNDECIDED
    assert "UNDECIDED: one: one run is scored by accuracy, the other by f1_macro" in capsys.readouterr().err


@pytest.mark.parametrize(
    "given, code, said",
    [
        ("parity=0.5", 0, ""),
        ("parity=50%", 0, ""),
        ("parity=0.51", 1, "parity: exact_match is 0.5000, under 0.5100"),
        ("parity=51%", 1, "under 0.5100"),
        ("parity=50", 2, "parity=50%"),
        ("parity", 2, "is not TASK=SCORE"),
        ("parity=half", 2, "is not TASK=SCORE"),
        ("party=0.5", 2, "did you mean 'parity'"),
    ],
)
def test_a_score_that_is_too_low_fails_the_run(capsys, given, code, said):
    assert run("a", task(), "even", "--fail-under", given) == code
    assert said in capsys.readouterr().err
    assert Path("log.db").exists() == (code != 2), "what is refused asks nobody"


CONFIG = """parity_datasets = [dict(type='CustomDataset', abbr='parity', path='rows.jsonl',
  reader_cfg=dict(input_columns=['question'], output_column='answer'),
  infer_cfg=dict(prompt_template=dict(type='PromptTemplate', template='{question}'),
    retriever=dict(type='ZeroRetriever'), inferencer=dict(type='GenInferencer')),
  eval_cfg=dict(evaluator=dict(type='AccEvaluator')))]
"""


def config() -> str:
    write("rows.jsonl", ROWS)
    Path("parity.py").write_text(CONFIG)
    return "parity.py"


@pytest.mark.parametrize("more", [(), ("--repeats", "2"), ("--repeats", "2", "--reduce", "pass@2")], ids=len)
@pytest.mark.parametrize("kind", ["lm_eval", "recipe", "csv", "aisbench"])
def test_no_dialect_asks_before_it_refuses_a_threshold_of_another_unit(capsys, kind, more):
    write("rows.jsonl", ROWS)
    exam = {
        "lm_eval": task,
        "recipe": lambda: recipe("parity"),
        "csv": lambda: table("parity.csv", ROWS),
        "aisbench": config,
    }[kind]()
    assert run("a", exam, "even", "--fail-under", "parity=70", *more) == 2
    assert "parity=70%" in capsys.readouterr().err
    assert not Path("log.db").exists()
    assert run("a", exam, "even", "--fail-under", "parity=70%", *more) == 1
    assert run("a", exam, "even", "--fail-under", "parity=0.4", *more) == 0


def test_all_thresholds_of_another_unit_are_refused_at_once(capsys):
    one, two = task(), table("p.csv", ROWS)
    thresholds = ("--fail-under", "parity=70", "--fail-under", "p=120%")
    assert run("a", f"{one},{two}", "even", *thresholds) == 2
    said = capsys.readouterr().err
    assert "--fail-under parity=70:" in said
    assert "--fail-under p=120%:" in said
    assert "120%%" not in said


def test_a_score_without_a_unit_takes_any_number_but_no_percent():
    write("rows.jsonl", ROWS)
    Path("raw.yaml").write_text(
        YAML.format(name="raw", rows="rows.jsonl", prompt="{{question}}", metric="likelihood")
        .replace("generate_until", "multiple_choice")
        .replace('generation_kwargs: {until: ["\\n"], max_gen_toks: 8}', "doc_to_choice: [even, odd]")
    )
    exams = resolve_tasks(["raw.yaml"])
    check_units(parsed(["raw=400", "other=70"]), exams)
    with pytest.raises(UsageError, match="likelihood is not a share"):
        check_units(parsed(["raw=40%"]), exams)


DECLARED = {
    "samples.arithmetic": "share",
    "samples.sentiment": "share",
    "parity.yaml": "share",
    "parity.csv": "share",
    "parity.csv[project=opencompass]": "percent",
    "parity.json": "share",
    "parity.py": "percent",
    "bleu.yaml": "percent",
}


@pytest.mark.parametrize("exam", DECLARED)
def test_the_unit_that_is_declared_is_the_one_that_results_have(exam):
    for make in (
        config,
        lambda: recipe("parity"),
        lambda: table("parity.csv", ROWS),
        task,
        lambda: task("bleu", metric="bleu"),
    ):
        make()
    (declared,) = [each.declared_main for each in resolve_tasks([exam])]
    run("a", exam)
    (entry,) = json.loads(Path("a/results.json").read_text())["results"].values()
    assert declared is not None
    assert declared.unit == entry["unit"] == DECLARED[exam]
    assert declared.higher_is_better in (None, entry.get("higher_is_better"))


def test_where_less_is_better_nobody_is_asked(capsys):
    exam = task(metric="ter")
    assert run("a", exam, "even", "--fail-under", "parity=40") == 2
    assert "less is better" in capsys.readouterr().err
    assert not Path("log.db").exists()


def test_metrics_of_several_units_are_held_to_a_threshold_when_they_have_scored(capsys):
    exam = Path(task())
    exam.write_text(exam.read_text().replace("{metric: exact_match}", "{metric: exact_match}, {metric: bleu}"))
    assert run("a", str(exam), "even", "--fail-under", "parity=70") == 2
    assert "is a share" in capsys.readouterr().err
    assert Path("log.db").exists()


def test_percent_and_shares_are_held_to_the_same_threshold():
    for exam in (table("p.csv", ROWS), "p.csv[project=opencompass]"):
        assert run("a", exam, "even", "--fail-under", "p=0.51") == 1
        assert run("a", exam, "even", "--fail-under", "p=0.49") == 0
        shutil.rmtree("a")


def test_what_is_damaged_in_a_run_is_said(capsys):
    run("a", table("even.csv", ROWS))
    run("b", table("even.csv", ROWS))
    Path("b", "results.json").write_text('{"results": {"samp')
    capsys.readouterr()
    main(["compare", "a", "b"])
    assert "warning: b: results.json cannot be read" in capsys.readouterr().err


def more_columns(**columns: str) -> list[dict[str, Any]]:
    return [{**row, **{name: f"{text} {number}" for name, text in columns.items()}} for number, row in enumerate(ROWS)]


@pytest.mark.parametrize("where", ["second", "first", "both"])
def test_a_column_that_nobody_shows_makes_no_other_question(capsys, where):
    write("rows.jsonl", more_columns(note="n") if where != "second" else ROWS)
    run("a", task("one"))
    write("rows.jsonl", {"second": more_columns(note="n"), "first": ROWS, "both": more_columns(tag="t")}[where])
    run("b", task("two"), "odd")
    (row,) = compared(capsys, "a", "b")
    assert (row["n"], row["better"], row["worse"], row["alone_first"], row["alone_second"]) == (50, 25, 25, 0, 0)
    assert "paired by the columns that both runs have: only one has note" in row["notes"][0]


def test_columns_that_do_not_tell_rows_apart_pair_nothing(capsys):
    write("rows.jsonl", [{"answer": row["answer"], "question": row["answer"]} for row in ROWS])
    run("a", task("one", prompt="{{answer}}"))
    write("rows.jsonl", [{"answer": row["answer"], "text": row["question"]} for row in ROWS])
    run("b", task("one", prompt="{{text}}"))
    (row,) = compared(capsys, "a", "b")
    assert row["refused"] == "their 50 and 50 instances have none in common"


def test_a_gate_takes_its_baseline_when_a_column_came_since(capsys):
    run("a", task())
    gate = ["gate", task(), "--model", "scripted", "--model-args", "answer=even", "--log", "log.db", "--baseline"]
    assert main(["gate", "--baseline", "a", "--save-baseline", "b.json"]) == 0
    write("rows.jsonl", more_columns(note="n", tag="t"))
    assert [main([*gate, baseline]) for baseline in ("a", "b.json")] == [0, 0]
    capsys.readouterr()
    before = json.loads(Path("b.json").read_text())
    before["exams"]["parity"]["fingerprint"] = None
    Path("old.json").write_text(json.dumps(before))
    assert main([*gate, "old.json"]) == 0
    assert "Note: the baseline has no fingerprint" in capsys.readouterr().out
    write("rows.jsonl", [{**row, "question": f"{row['question']} Say it."} for row in more_columns(note="n")])
    assert main([*gate, "b.json"]) == 2
    assert "the instances differ" in capsys.readouterr().err


def test_another_definition_of_a_metric_is_said_beside_the_number(capsys):
    run("a", task(), "Even")
    exam = Path(task())
    exam.write_text(exam.read_text().replace("{metric: exact_match}", "{metric: exact_match, ignore_case: true}"))
    run("b", str(exam), "Even")
    (row,) = compared(capsys, "a", "b")
    note, said = row["notes"]
    assert said == "task.metric_list.0.ignore_case: not set and True"
    assert note.startswith("the metric is defined otherwise")
    entry = [json.loads(Path(folder, "results.json").read_text())["results"]["parity"] for folder in ("a", "b")]
    assert all(each["fingerprint"]["metrics"] in note for each in entry)


def test_runs_without_fingerprints_say_what_was_not_checked(capsys):
    run("a", task())
    stored = json.loads(Path("a/results.json").read_text())
    del stored["results"]["parity"]["fingerprint"]
    Path("a/results.json").write_text(json.dumps(stored))
    run("b", task(), "odd")
    (row,) = compared(capsys, "a", "b")
    assert (row["n"], row["notes"]) == (
        50,
        ["one of the runs does not say by which definitions answers were read and scored: only the names are compared"],
    )


def test_one_definition_under_two_names_is_compared(capsys):
    run("a", task())
    run("b", task(), "odd")
    stored = json.loads(Path("b/results.json").read_text())
    entry = stored["results"]["parity"]
    entry["score_name"], entry["quite another"] = "quite another", entry["exact_match"]
    Path("b/results.json").write_text(json.dumps(stored))
    (row,) = compared(capsys, "a", "b")
    assert (row["refused"], row["notes"]) == ("", ["scored as exact_match and as quite another"])


def test_a_model_that_answered_few_does_not_pass(capsys, monkeypatch):
    run("a", task())
    run("b", task(), "even")
    path = Path("b/samples.jsonl")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines[2:]:
        line |= {"failure": {"kind": "thinking", "message": "no answer"}, "scores": {}}
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    capsys.readouterr()
    assert main(["compare", "a", "b", "--fail-if-worse"]) == UNDECIDED
    assert "UNDECIDED: parity: 48 of 50 instances have no score, and it depends on them" in capsys.readouterr().err


def test_a_threshold_that_hangs_on_what_has_no_score_is_undecided():
    main_score = {"score": 1.0, "score_name": "accuracy", "accuracy": 1.0, "unit": "share", "higher_is_better": True}
    few, most = ({**main_score, "n": 20, "failures": failures} for failures in (18, 1))
    (least,) = parsed(["e=0.9"])
    assert (verdict([least], {"e": few}), verdict([least], {"e": most}), verdict([least], {"e": main_score})) == (
        UNDECIDED,
        0,
        0,
    )
    assert verdict([least], {"e": {**few, "score": 0.5, "accuracy": 0.5}}) == 1
    suite = {**main_score, "n": 40, "failures": 18, "members": ["few", "most"]}
    assert verdict([least], {"e": suite, "few": few, "most": most}) == UNDECIDED
    assert "nothing bounds" in least.open_question({"e": {**few, "unit": "raw"}})


def test_every_command_that_decides_has_one_code_for_undecided():
    assert (EXIT_CODES["passed"], EXIT_CODES["failed"], EXIT_CODES["undecided"]) == (0, 1, UNDECIDED)
    assert UNDECIDED not in (BAD_INPUT, TROUBLE)
