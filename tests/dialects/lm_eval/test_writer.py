import json
from hashlib import sha256

import pytest
from tests_commands import proctor

from proctor.dialects.lm_eval.resolve import resolve
from proctor.dialects.lm_eval.results_file import ModelDescription, results_document, sanitized
from proctor.dialects.lm_eval.validate import validate
from proctor.dialects.lm_eval.writer import _plain, as_texts, samples, text_by, write_files
from proctor.errors import OutputError
from proctor.ir import Failure, Response, Scored
from proctor.recipes.exam import Answered
from proctor.recipes.options import ExamOptions
from proctor.settings import settings

TASK = """
task: t
task_alias: Tee
dataset_path: json
dataset_kwargs: {data_files: {test: test.jsonl}}
test_split: test
output_type: multiple_choice
doc_to_text: "{{q}}"
doc_to_choice: ["yes", "no"]
doc_to_target: a
metadata: {version: 2}
"""


@pytest.fixture
def written(tmp_path):
    (tmp_path / "test.jsonl").write_text("\n".join(json.dumps({"q": f"Q{n}", "a": n % 2}) for n in range(4)))
    (tmp_path / "t.yaml").write_text(TASK)
    (tmp_path / "u.yaml").write_text(
        "task: u\ninclude: t.yaml\noutput_type: generate_until\nrepeats: 2\ndoc_to_choice: null\ndoc_to_target: '{{q}}'\n"
        "filter_list: [{name: f, filter: [{function: lowercase}, {function: take_first}]}]\n"
    )
    (tmp_path / "g.yaml").write_text(
        "group: g\ngroup_alias: Gee\ntask: [t, u]\naggregate_metric_list: [{metric: acc}]\nmetadata: {version: 3}\n"
    )
    exams = resolve(["g"], [str(tmp_path)], ExamOptions(system_prompt="S"))

    def answers(exam):
        for item in exam.questions():
            if item.number == 3:
                yield Answered(item, (Response(failure=Failure("timeout", "slow")),) * len(item.requests))
            elif exam.name == "t":
                yield Answered(item, (Response(scores=(Scored(-1.0, True), Scored(-2.0))),))
            else:
                yield Answered(item, tuple(Response(texts=(f"{item.instance['q']} {n}",)) for n in range(2)))

    grades = {exam.name: exam.grade(answers(exam)) for exam in exams}
    model = ModelDescription("hf", "org/model:x", {"pretrained": "org/model"}, {"batch_size": 4}, seconds=1.5)
    paths = write_files(tmp_path / "out", exams, grades, model, answers)
    samples = {
        path.name.split("_")[1]: [json.loads(line) for line in path.read_text().splitlines()] for path in paths[1:]
    }
    return paths, json.loads(paths[0].read_text()), samples


def test_what_an_aggregation_gives_is_filed_as_it_is(tmp_path):
    (tmp_path / "test.jsonl").write_text("\n".join(json.dumps({"q": f"Q{n}", "a": n % 2}) for n in range(4)))
    (tmp_path / "utils.py").write_text(
        "def of_each(doc, results): return {'parts': len(results[0]), 'ends': len(results[0])}\n"
        "def parts(items): return {'all': sum(items), 'most': max(items)}\ndef ends(items): return min(items), max(items)\n"
    )
    (tmp_path / "t.yaml").write_text(
        TASK.replace("multiple_choice", "generate_until") + "process_results: !function utils.of_each\nmetric_list:\n"
        "- {metric: parts, aggregation: !function utils.parts, higher_is_better: true}\n"
        "- {metric: ends, aggregation: !function utils.ends, higher_is_better: true}\n"
    )
    with settings.context(trust_code=True):
        (exam,) = resolve(["t"], [str(tmp_path)], ExamOptions(resamples=0))
        grade = exam.grade([Answered(each, (Response(texts=(each.instance["q"],)),)) for each in exam.questions()])
        row = results_document([exam], {"t": grade}, ModelDescription("dummy", "m"))["results"]["t"]
    assert (row["parts,none"], list(row["ends,none"])) == ({"all": 8, "most": 2}, [2, 2])
    assert row["parts_stderr,none"] == "N/A"


def test_names_of_files(written, tmp_path):
    paths, _, _ = written
    assert paths[0].parent == tmp_path / "out" / "org__model__x"
    assert paths[0].name.startswith("results_2")
    assert ":" not in paths[0].name
    assert [path.name.rpartition("_")[0] for path in paths[1:]] == ["samples_t", "samples_u"]


def test_results(written):
    _, results, _ = written
    row = results["results"]["t"]
    assert row["alias"] == "Tee"
    assert row["sample_len"] == 3
    assert row["acc,none"] == pytest.approx(2 / 3)
    assert row["acc_stderr,none"] == pytest.approx(1 / 3)
    assert results["results"]["u"]["exact_match,f"] == 0.0
    assert results["groups"]["g"]["acc,none"] == pytest.approx(2 / 3)
    assert results["groups"]["g"]["alias"] == "Gee"
    assert results["group_subtasks"] == {"g": ["t", "u"]}
    assert results["versions"] == {"g": "3", "t": 2, "u": 2}
    assert results["n-shot"] == {"g": 0, "t": 0, "u": 0}
    assert results["higher_is_better"]["t"] == {"acc": True, "acc_norm": True}
    assert results["n-samples"]["t"] == {"original": 4, "effective": 3}
    assert results["configs"]["t"]["doc_to_text"] == "{{q}}"
    assert results["config"]["model_args"] == {"pretrained": "org/model"}
    assert results["system_instruction_sha"] == sha256(b"S").hexdigest()
    assert set(results["task_hashes"]) == {"t", "u"}
    assert results["total_evaluation_time_seconds"] == "1.5"


def test_scores_stand_in_the_order_of_lm_evals_files(tmp_path):
    (tmp_path / "test.jsonl").write_text('{"q": "Q", "a": 0}')
    (tmp_path / "t.yaml").write_text(TASK + "metric_list: [{metric: acc_norm}, {metric: acc}]\n")
    (tmp_path / "r.yaml").write_text(
        "task: r\ninclude: t.yaml\noutput_type: loglikelihood_rolling\ndoc_to_choice: null\ndoc_to_target: '{{q}}'\n"
        "metric_list: [{metric: bits_per_byte}, {metric: word_perplexity}]\n"
    )
    (tmp_path / "g.yaml").write_text(
        "group: g\ntask: [{group: inner, task: [t], aggregate_metric_list: [{metric: acc}]}, r]\n"
        "aggregate_metric_list: [{metric: acc}, {metric: word_perplexity}]\n"
    )
    exams = resolve(["g"], [str(tmp_path)], ExamOptions())
    grades = {
        exam.name: exam.grade(
            Answered(
                each, tuple(Response(scores=(Scored(-1.0), Scored(-2.0))[: len(_texts(each))]) for _ in each.requests)
            )
            for each in exam.questions()
        )
        for exam in exams
    }
    results = results_document(exams, grades, ModelDescription("hf", "m"))["results"]
    assert [name for name in results["t"] if name.endswith(",none")][::2] == ["acc,none", "acc_norm,none"]
    assert [name for name in results["r"] if name.endswith(",none")][::2] == [
        "word_perplexity,none",
        "bits_per_byte,none",
    ]
    assert list(results) == ["t", "r", "g::inner", "g"]


def _texts(each):
    return each.requests[0].pairs if hasattr(each.requests[0], "pairs") else [each.requests[0].text]


def test_the_direction_of_a_metric_that_nobody_knows_is_not_guessed(tmp_path):
    (tmp_path / "test.jsonl").write_text('{"q": "Q", "a": 0}')
    (tmp_path / "f.py").write_text("def f(doc, results):\n    return {'own': 1.0}\n")
    (tmp_path / "t.yaml").write_text(
        TASK + "process_results: !function f.f\nmetric_list: [{metric: own}, {metric: acc}]\n"
    )
    with settings.context(trust_code=True):
        (exam,) = resolve(["t"], [str(tmp_path)], ExamOptions())
        grade = exam.grade(
            Answered(each, (Response(scores=(Scored(-1.0), Scored(-2.0))),)) for each in exam.questions()
        )
        found = results_document([exam], {"t": grade}, ModelDescription("hf", "m"))
    assert found["higher_is_better"]["t"] == {"own": None, "acc": True}


def test_samples(written):
    _, _, samples = written
    first = samples["t"][0]
    assert first["arguments"] == {
        "gen_args_0": {"arg_0": "SQ0", "arg_1": " yes"},
        "gen_args_1": {"arg_0": "SQ0", "arg_1": " no"},
    }
    assert first["resps"] == [[["-1.0", "True"]], [["-2.0", "False"]]]
    assert first["filtered_resps"] == [["-1.0", "True"], ["-2.0", "False"]]
    assert first["metrics"] == ["acc", "acc_norm"]
    assert (first["acc"], first["target"], first["filter"]) == (1.0, "0", "none")
    assert first["prompt_hash"] == sha256(b"SQ0").hexdigest()
    document = json.dumps({"q": "Q0", "a": 0}, indent=2, ensure_ascii=False)
    assert first["doc_hash"] == sha256(document.encode()).hexdigest()
    second = samples["u"][1]
    assert second["resps"] == [["Q1 0", "Q1 1"]]
    assert second["filtered_resps"] == ["q1 0"]
    assert second["arguments"]["gen_args_0"]["arg_1"]["until"] == ["\n\n"]


def test_failures_are_written_as_failures(written):
    _, _, samples = written
    assert samples["t"][3]["failure"] == {"kind": "timeout", "message": "slow"}
    assert samples["t"][3]["metrics"] == []


def test_a_row_that_cannot_be_used_is_written_as_a_failure(tmp_path):
    (tmp_path / "test.jsonl").write_text("\n".join(json.dumps({"q": "Q", "a": a}) for a in (["x"], [])))
    (tmp_path / "t.yaml").write_text(TASK.replace('["yes", "no"]', "a").replace("doc_to_target: a", "doc_to_target: 0"))
    (exam,) = resolve(["t"], [str(tmp_path)])

    def answers(exam):
        for item in exam.questions():
            yield Answered(item, (Response(scores=(Scored(-1.0),)),) if item.requests else ())

    paths = write_files(
        tmp_path / "out", [exam], {"t": exam.grade(answers(exam))}, ModelDescription("hf", "m"), answers
    )
    results = json.loads(paths[0].read_text())
    assert results["n-samples"]["t"] == {"original": 2, "effective": 1}
    first, second = map(json.loads, paths[1].read_text().splitlines())
    assert first["acc"] == 1.0
    assert "doc_to_choice gives an empty list" in second["failure"]["message"]
    assert (second["metrics"], second["arguments"], second["target"]) == ([], {}, "")


def test_a_name_of_ones_own(tmp_path):
    paths = write_files(tmp_path / "deep" / "mine.json", [], {}, ModelDescription("hf", "m"))
    assert paths[0].name.startswith("mine_2")


def test_a_place_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot be written"):
        write_files(tmp_path / "file" / "x", [], {}, ModelDescription("hf", "m"))


def test_small_parts():
    assert sanitized('a/b:c"d') == "a__b__c__d"
    assert as_texts([(1, True), [None]]) == [["1", "True"], ["None"]]


def test_exams_of_every_dialect_are_written_and_groups_hold_numbers_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cities.csv").write_text("question,answer\nFrance,Paris\nChile,Santiago\n")
    program = ["run", "--model", "dummy", "--model-args", "answer=Paris"]
    names = ["--tasks", "samples", "cities.csv", "--limit", "2", "--output-format", "lm-eval", "-o", "out"]
    done = proctor(*program, *names, "--log", "log.db", "--batch_size", "3", "--device", "cpu")
    assert done.returncode == 0, done.stderr
    (path,) = tmp_path.glob("out/dummy/results_*.json")
    found = json.loads(path.read_text())
    assert found["results"]["cities"]["sample_len"] == 2
    assert found["results"]["samples.science"]["accuracy,none"] in (0.0, 0.5, 1.0)
    assert found["group_subtasks"]["cities"] == []
    assert found["group_subtasks"]["samples"] == ["samples.science", "samples.sentiment", "samples.arithmetic"]
    for row in (*found["groups"].values(), *found["results"].values()):
        assert set(row) - {"name", "alias", "sample_len"} == {key for key in row if "," in key}
        assert all(isinstance(value, int | float | str) for value in row.values())
    config = found["config"]
    assert (config["batch_size"], config["device"], config["batch_sizes"]) == ("3", "cpu", [])
    assert [config[name] for name in ("random_seed", "numpy_seed", "torch_seed")] == [0, 1234, 1234]
    assert {"fewshot_seed", "use_cache", "limit", "bootstrap_iters", "gen_kwargs"} <= set(config)
    assert {"transformers_version", "lm_eval_version", "pretty_env_info", "git_hash"} <= set(found)
    (samples,) = tmp_path.glob("out/dummy/samples_cities_*.jsonl")
    first = json.loads(samples.read_text().splitlines()[0])
    assert (first["target"], first["resps"], first["filter"]) == ("Paris", [["Paris"]], "none")
    assert first["arguments"]["gen_args_0"]["arg_0"]
    assert len(found["task_hashes"]["cities"]) == 64


def test_chats_are_written_as_the_model_reads_them(tmp_path):
    (tmp_path / "test.jsonl").write_text('{"q": "Q1", "a": "1"}')
    (tmp_path / "c.yaml").write_text(
        "task: c\ndataset_path: json\ndataset_kwargs: {data_files: {test: test.jsonl}}\ntest_split: test\n"
        "output_type: generate_until\ndoc_to_text: '{{q}}'\ndoc_to_target: '{{a}}'\n"
    )
    (exam,) = resolve(["c"], [str(tmp_path)], ExamOptions(apply_chat_template=True))

    class Laid:
        def text_of(self, prompt):
            return "<" + "|".join(each["content"] for each in prompt.payload) + ">"

    class Remote:
        def text_of(self, prompt):
            return None

    def line(engine):
        def answers():
            return [Answered(each, (Response(texts=("1",)),)) for each in exam.questions()]

        (found,) = samples(exam, answers, exam.grade(answers()), text_by(engine))
        return found["arguments"][0][0], found["prompt_hash"]

    assert line(Laid()) == ("<Q1>", sha256(b"<Q1>").hexdigest())
    assert json.loads(line(Remote())[0]) == [{"role": "user", "content": "Q1"}]


def test_configs_hold_the_models_arguments_without_keys_and_what_the_run_says_of_the_machine(tmp_path):
    (tmp_path / "test.jsonl").write_text('{"q": "Q1", "a": 0}')
    (tmp_path / "t.yaml").write_text(TASK)
    (exam,) = resolve(["t"], [str(tmp_path)])
    arguments = {"pretrained": "m", "api_key": "sk-0123456789abcdef", "device": "cpu", "version": 9}
    grade = exam.grade(Answered(each, (Response(scores=(Scored(-1.0), Scored(-2.0))),)) for each in exam.questions())
    found = results_document([exam], {"t": grade}, ModelDescription("hf", "m", arguments))["configs"]["t"]["metadata"]
    assert found["pretrained"] == "m"
    assert found["version"] == 2
    assert not {"api_key", "device"} & found.keys()


def test_metrics_that_code_of_a_task_registers_are_found(tmp_path):
    (tmp_path / "test.jsonl").write_text('{"q": "Q", "a": 0}\n{"q": "QQ", "a": 1}')
    (tmp_path / "own_scores.py").write_text(
        "from lm_eval.api.registry import register_aggregation, register_metric\n"
        "@register_aggregation('longest_of_writer')\n"
        "def longest(values):\n    return max(values)\n"
        "@register_metric(metric='length_of_writer', higher_is_better=False, aggregation='longest_of_writer')\n"
        "def length(references, predictions):\n    return float(len(predictions[0]))\n"
        "def rows(dataset):\n    return dataset\n"
    )
    (tmp_path / "t.yaml").write_text(
        "task: t\ndataset_path: json\ndataset_kwargs: {data_files: {test: test.jsonl}}\ntest_split: test\n"
        "process_docs: !function own_scores.rows\ndoc_to_text: q\ndoc_to_target: q\n"
        "metric_list: [{metric: length_of_writer}, {metric: exact_match, aggregation: longest_of_writer}]\n"
    )
    assert validate(tmp_path, installed=False)[1] == []
    with settings.context(trust_code=True):
        (exam,) = resolve(["t"], [str(tmp_path)], ExamOptions())
        grade = exam.grade(Answered(each, (Response(texts=(each.instance["q"],)),)) for each in exam.questions())
        found = results_document([exam], {"t": grade}, ModelDescription("hf", "m"))
    assert found["results"]["t"]["length_of_writer,none"] == 2.0
    assert found["results"]["t"]["exact_match,none"] == 1.0
    assert found["higher_is_better"]["t"]["length_of_writer"] is False


def test_values_that_json_lacks_are_filed_as_plain_ones():
    import numpy as np

    assert (_plain(np.float32(0.5)), _plain(np.array([3])), _plain({1}), _plain(1j)) == (0.5, 3, [1], "1j")
    assert _plain(np.array([1, 2])) == "[1 2]"
