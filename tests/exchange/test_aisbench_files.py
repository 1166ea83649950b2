"""``--output-format aisbench``: lines of predictions are those that ``ais_bench`` writes, and so are tables' versions."""

import json

import pytest
from conformance.aisbench.recording_server import RecordingServer

from proctor.cli.__main__ import main

CONFIG = """
from ais_bench.benchmark.datasets import Aime2025Dataset, Aime2025JDGDataset
from ais_bench.benchmark.datasets.utils.llm_judge import LLMJudgeCorrectEvaluator, get_a_or_b
from ais_bench.benchmark.models import VLLMCustomAPIChat
from ais_bench.benchmark.openicl.icl_evaluator import AccEvaluator, MATHEvaluator
from ais_bench.benchmark.openicl.icl_inferencer import GenInferencer, MultiTurnGenInferencer, PPLInferencer
from ais_bench.benchmark.openicl.icl_prompt_template import MultiTurnPromptTemplate, PromptTemplate
from ais_bench.benchmark.openicl.icl_retriever import FixKRetriever, ZeroRetriever

model = dict(attr="service", type=VLLMCustomAPIChat, abbr="m", path="", model="served", host_ip="localhost",
             host_port=PORT, max_out_len=9, batch_size=1, generation_kwargs=dict(temperature=0.0))
judge = dict(
    judge_reader_cfg=dict(input_columns=["question", "answer", "model_answer"], output_column="model_pred_uuid"),
    judge_model=dict(model, abbr="judge"),
    judge_dataset_type=Aime2025JDGDataset,
    prompt_template=dict(type=PromptTemplate, template=dict(round=[dict(role="HUMAN", prompt="<Gold Target Begin>: {answer} <Predicted Answer Begin>: {model_answer} <Predicted End>")])),
    retriever=dict(type=ZeroRetriever),
    inferencer=dict(type=GenInferencer),
)
turns = [dict(role="HUMAN", prompt="{question}"), dict(role="BOT", prompt="{answer}")]
solve = dict(round=[dict(role="HUMAN", prompt="Solve: {question}")])


def made(abbr, template, inferencer=GenInferencer, path="sums.jsonl", kind=PromptTemplate, **more):
    return dict(
        abbr=abbr, type=Aime2025Dataset, path=path,
        reader_cfg=dict(input_columns=["question"], output_column="answer"),
        infer_cfg=dict(prompt_template=dict(type=kind, template=template), retriever=dict(type=ZeroRetriever),
                       inferencer=dict(type=inferencer)),
        eval_cfg=dict(evaluator=dict(type=AccEvaluator)), **more)


datasets = [DATASETS]
models = [model]
summarizer = dict(attr="accuracy", SUMMARIZER)
"""
ASKED = [{"role": "HUMAN", "prompt": "Solve: 1+1"}]
ROLES = [{"role": "HUMAN", "prompt": "0+1"}, {"role": "BOT", "prompt": "The answer is \\boxed{1}. I choose A"}]


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sums.jsonl").write_text('{"question": "1+1", "answer": "2"}\n{"question": "1+3", "answer": "4"}\n')
    (tmp_path / "talks.jsonl").write_text('{"question": ["0+1", "0+2"], "answer": ["1", "2"]}\n')

    def ask(datasets, summarizer="", generation="temperature=0.0"):
        with RecordingServer() as server:
            text = CONFIG.replace("DATASETS", datasets).replace("PORT", str(server.port))
            text = text.replace("temperature=0.0", generation)
            (tmp_path / "config.py").write_text(text.replace("SUMMARIZER", summarizer))
            assert main(["run", "config.py", "--output", "out", "--output-format", "aisbench"]) == 0
        return tmp_path / "out"

    return ask


def lines(folder, name):
    found = map(json.loads, (folder / "predictions" / "m" / f"{name}.jsonl").read_text().splitlines())
    return [
        {key: value for key, value in line.items() if key not in ("uuid", "success", "data_abbr")} for line in found
    ]


def test_texts_are_filed_as_texts_and_dialogues_as_turns(run):
    out = run('made("round", solve), made("text", "Solve: {question}")')
    said = "The answer is \\boxed{2}. I choose A"
    assert lines(out, "round")[0] == {"id": 0, "origin_prompt": ASKED, "prediction": said, "gold": "2"}
    assert lines(out, "text")[0] == {"id": 0, "origin_prompt": "Solve: 1+1", "prediction": said, "gold": "2"}


def test_every_turn_of_a_conversation_has_what_was_said_before_it(run):
    out = run('made("talk", dict(round=turns), MultiTurnGenInferencer, "talks.jsonl", MultiTurnPromptTemplate)')
    first, second = lines(out, "talk")
    assert first == {"id": 0, "origin_prompt": ROLES[:1], "prediction": ROLES[1]["prompt"], "gold": ["1", "2"]}
    assert second["origin_prompt"] == [*ROLES, {"role": "HUMAN", "prompt": "0+2"}]


THRICE = "temperature=0.7, num_return_sequences=3"


def test_answers_of_one_row_have_its_number_where_the_model_says_how_often(run):
    out = run('made("round", solve)', generation=THRICE)
    assert [line["id"] for line in lines(out, "round")] == [0, 0, 0, 1, 1, 1]
    text = (out / "predictions" / "m" / "round.jsonl").read_text().splitlines()
    assert len({json.loads(line)["uuid"] for line in text}) == 6


def test_answers_are_numbered_one_after_the_other_where_the_dataset_says_how_often(run):
    out = run('made("round", solve, n=3, k=3)')
    assert [line["id"] for line in lines(out, "round")] == [0, 1, 2, 3, 4, 5]


def test_tables_and_files_have_the_rows_of_aisbenchs(run):
    """What ``ais_bench`` 3.1 shows of the same configs; evaluators without details have the last run's scores."""
    out = run(
        'made("round", solve), dict(made("math", solve), eval_cfg=dict(evaluator=dict(type=MATHEvaluator)))',
        generation=THRICE,
    )
    shown = [row.split(",")[0:3:2] for row in (out / "summary.csv").read_text().splitlines()[1:]]
    means = ["accuracy (3 runs average)", "avg@3", "pass@3", "cons@3"]
    assert shown == [["round", "accuracy"], *(["math", metric] for metric in means)]
    filed = {name: [*json.loads((out / "results" / "m" / f"{name}.json").read_text())] for name in ("round", "math")}
    assert filed == {"round": ["accuracy"], "math": means}


def shuffled(out, keep=lambda line: True):
    """Put the lines of ``round`` in another order, as they arrive at AISBench; return how many there are."""
    path = out / "predictions" / "m" / "round.jsonl"
    kept = [line for line in path.read_text().splitlines(keepends=True) if keep(json.loads(line))]
    path.write_text("".join(kept[1::2] + kept[::2]))


def graded(capsys, *more):
    capsys.readouterr()
    code = main(["run", "config.py", "--mode", "eval", "-w", "out", "--json", *more])
    found = capsys.readouterr()
    return code, json.loads(found.out)["m"]["round"], found.err


RIGHT = 'dict(made("round", solve), eval_cfg=dict(evaluator=dict(type=MATHEvaluator)))'


def test_answers_of_one_row_are_read_back_as_its_repeats(run, capsys):
    out = run(RIGHT, generation=THRICE)
    before = json.loads((out / "results.json").read_text())["results"]["round"]
    shuffled(out)
    code, entry, _ = graded(capsys)
    assert code == 0
    names = ("accuracy (3 runs average)", "avg@3", "pass@3", "cons@3", "n")
    assert {name: entry[name] for name in names} == {name: before[name] for name in names}
    assert 0 < entry["avg@3"] < 100


def test_answers_that_failed_are_missing_from_their_own_row(run, capsys):
    out = run(RIGHT, generation=THRICE)
    shuffled(out, keep=lambda line: line["id"] == 1)
    code, entry, _ = graded(capsys)
    assert code == 1
    assert (entry["n"], entry["failures"], entry["failure_kinds"]) == (6, 3, {"missing": 3})


def test_files_that_number_all_answers_are_still_read(run, capsys):
    out = run(RIGHT, generation=THRICE)
    path = out / "predictions" / "m" / "round.jsonl"
    rows = [{**json.loads(line), "id": place} for place, line in enumerate(path.read_text().splitlines())]
    path.write_text("".join(json.dumps(row) + "\n" for row in reversed(rows)))
    code, entry, _ = graded(capsys)
    assert (code, entry["n"], entry["failures"]) == (0, 6, 0)
    assert entry["pass@3"] == entry["avg@3"] == 50.0


def test_of_more_answers_than_are_asked_the_first_count_and_it_is_said(run, capsys, caplog):
    out = run(RIGHT, generation=THRICE)
    text = (out.parent / "config.py").read_text()
    (out.parent / "config.py").write_text(text.replace(THRICE, "temperature=0.7"))
    code, entry, said = graded(capsys)
    assert (code, entry["n"]) == (0, 2)
    assert "more answers than 1, row 0 first" in said + caplog.text  # where the logger writes, other tests may have set


def test_a_models_postprocessor_counts_when_its_answers_are_graded_later(run, capsys):
    out = run(RIGHT)
    text = (out.parent / "config.py").read_text()
    _, before, _ = graded(capsys)
    more = 'pred_postprocessor=dict(type="first_capital_postprocess")'
    (out.parent / "config.py").write_text(text.replace('abbr="m",', f'abbr="m", {more},'))
    _, entry, _ = graded(capsys)
    assert (before["score"], entry["score"]) == (50.0, 0.0)  # of a letter nothing is right


def test_how_often_is_said_once_and_every_model_is_looked_at_before_one_is_asked(tmp_path, run, capsys):
    with pytest.raises(AssertionError):
        run('made("one", solve), made("two", solve, n=2), made("four", solve, n=4)', generation=THRICE)
    said = capsys.readouterr().err
    assert "'two' is to be asked 2 times (n), and 3 times" in said
    assert "'four' is to be asked 4 times (n), and 3 times" in said
    assert main(["validate", "config.py"]) == 2
    assert "2 problems" in "".join(capsys.readouterr())
    text = (tmp_path / "config.py").read_text().replace(THRICE, "temperature=0.0")
    more = 'models = [model, dict(model, abbr="often", generation_kwargs=dict(num_return_sequences=3))]'
    (tmp_path / "config.py").write_text(text.replace("models = [model]", more))
    assert main(["run", "config.py", "--output", "both"]) == 2
    assert "'two' is to be asked 2 times" in capsys.readouterr().err
    assert not (tmp_path / "both").exists()


def test_losses_stand_beside_the_label_that_won(run):
    labels = (
        '{each: dict(round=[dict(role="HUMAN", prompt="{question}"), dict(role="BOT", prompt=each)]) for each in "24"}'
    )
    found = lines(run(f'made("ppl", {labels}, PPLInferencer)'), "ppl")[0]
    assert found["origin_prompt"][0] == [{"role": "user", "content": "1+1"}, {"role": "assistant", "content": "2"}]
    losses = {each["label"]: each["ppl"] for each in found["ppl_list"]}
    assert losses.keys() == {"2", "4"}
    assert found["prediction"] == min(losses, key=losses.get)


def test_thoughts_stay_in_what_was_predicted(run):
    found = lines(run('made("think", "Think first: {question}")'), "think")[0]
    assert found["prediction"] == "<think>2+2 is no help.</think>The answer is \\boxed{2}. I choose A"


def test_tables_have_the_versions_and_names_of_aisbenchs_tables(run):
    judged = 'made("judged", solve, judge_infer_cfg=judge), made("plain", "Question: {question}\\\\nAnswer:")'
    judged = judged.replace("judge_infer_cfg=judge", "judge_infer_cfg=judge, n=1")
    more = 'dataset_abbrs=["judged-judge", "all", "plain"], summary_groups=[dict(name="all", subsets=["judged-judge", "plain"])]'
    out = run(judged, more)
    rows = [row.split(",") for row in (out / "summary.csv").read_text().splitlines()[1:]]
    assert [(row[0], row[1], row[3]) for row in rows] == [
        ("judged-judge", SOLVE_VERSION, "gen"),
        ("all", "-", "gen"),
        ("plain", rows[2][1], "gen"),
    ]
    assert rows[2][1] != SOLVE_VERSION


SOLVE_VERSION = "e7ffca"
"""What ``ais_bench`` 3.1 shows of this prompt (``conformance/aisbench/processes.py``)."""
