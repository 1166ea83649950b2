"""``proctor why`` names the layer at which a run and somebody else's file part: 36 planted differences, and what they cost."""

import json
import shutil
from pathlib import Path

import pytest
import yaml

from proctor.cli.__main__ import main
from proctor.dialects.resolve import resolve_tasks
from proctor.engines.scripted import ScriptedEngine
from proctor.exchange.readers import observed
from proctor.exchange.why import LAYERS, explain
from proctor.recipes.options import ExamOptions
from proctor.running.run import run_exams
from proctor.running.spec import RunSpec

ROWS = [{"n": n, "question": f"What is {n} plus {n}?", "answer": f"sum {2 * n}"} for n in range(1, 9)]
TASK = {
    "task": "quiz",
    "dataset_path": "json",
    "test_split": "test",
    "fewshot_split": "test",
    "num_fewshot": 1,
    "output_type": "generate_until",
    "doc_to_text": "{{question}}",
    "doc_to_target": "{{answer}}",
    "generation_kwargs": {"until": ["\n"], "max_gen_toks": 16, "do_sample": False},
    "filter_list": [{"name": "none", "filter": [{"function": "take_first"}]}],
    "metric_list": [{"metric": "exact_match", "ignore_case": False}],
}
REGEX = [
    {"name": "none", "filter": [{"function": "regex", "regex_pattern": "(sum [0-9])"}, {"function": "take_first"}]}
]


def says(prompt):
    """Answer mostly right: one in other letters, one wrong."""
    n = int(prompt.text.rsplit("What is ", 1)[-1].split()[0])
    return {2: "SUM 4", 5: "sum 11"}.get(n, f"sum {2 * n}")


def says_otherwise(prompt):
    answer = says(prompt)
    return {"sum 6": "six", "SUM 4": "sum 4"}.get(answer, answer)


def run(folder, task=None, rows=ROWS, function=says, **options):
    """Run the quiz with a change, and return its run folder."""
    folder.mkdir(parents=True)
    data = folder / "rows.jsonl"
    data.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    file = folder / "quiz.yaml"
    kwargs = {"data_files": {"test": str(data)}}
    file.write_text(yaml.safe_dump({**TASK, **(task or {}), "dataset_kwargs": kwargs}))
    exams = resolve_tasks([str(file)], ExamOptions(**options))
    spec = RunSpec(model="scripted", tasks=(str(file),))
    run_exams(exams, ScriptedEngine(function=function), log=folder / "log.db", output=folder / "run", spec=spec)
    return folder / "run"


# -- files of others ------------------------------------------------------------------------------------------------


def lines_of(folder):
    return [json.loads(line) for line in (folder / "samples.jsonl").read_text().splitlines()]


def as_lm_eval(folder, target):
    """Write samples and results as lm-eval lays them out."""
    target.mkdir()
    stamp, lines = "2026-11-22T10-00-00.000000", lines_of(folder)
    entry = json.loads((folder / "results.json").read_text())["results"]["quiz"]
    with (target / f"samples_quiz_{stamp}.jsonl").open("w") as file:
        for line in lines:
            decoding = line["decoding"]
            kwargs = {
                "until": decoding["stop"],
                "do_sample": decoding["temperature"] > 0,
                "max_gen_toks": decoding["max_tokens"],
            }
            kwargs |= {"temperature": decoding["temperature"]}
            sample = {
                "doc_id": line["doc_id"], "doc": line["input"], "target": line["references"][0],
                "arguments": {"gen_args_0": {"arg_0": line["prompt"], "arg_1": kwargs}},
                "resps": [[line["output"]]], "filtered_resps": [line["processed_prediction"]], "filter": "none",
                "metrics": ["exact_match"], "doc_hash": "", "prompt_hash": "", "target_hash": "",
                "exact_match": line["scores"]["exact_match"],
            }  # fmt: skip
            file.write(json.dumps(sample) + "\n")
    results = {"results": {"quiz": {"alias": "quiz", "exact_match,none": entry["exact_match"]}}}
    (target / f"results_{stamp}.json").write_text(json.dumps(results))
    return target


def as_opencompass(folder, target):
    """Write predictions and results as OpenCompass and AISBench lay them out."""
    for part in ("predictions", "results"):
        (target / part / "model").mkdir(parents=True)
    lines = lines_of(folder)
    predictions = {
        str(number): {
            "origin_prompt": [{"role": "HUMAN", "prompt": line["prompt"]}],
            "prediction": line["output"],
            "gold": line["references"][0],
        }
        for number, line in enumerate(lines)
    }
    details = {
        str(number): {"pred": line["processed_prediction"], "correct": bool(line["scores"]["exact_match"])}
        for number, line in enumerate(lines)
    }
    accuracy = 100 * sum(line["scores"]["exact_match"] for line in lines) / len(lines)
    (target / "predictions" / "model" / "quiz.json").write_text(json.dumps(predictions))
    (target / "results" / "model" / "quiz.json").write_text(json.dumps({"accuracy": accuracy, "details": details}))
    return target / "predictions" / "model" / "quiz.json"


def as_unitxt(folder, target):
    """Write instances as Unitxt's ``evaluate`` returns them."""
    lines = lines_of(folder)
    mean = sum(line["scores"]["exact_match"] for line in lines) / len(lines)
    instances = [
        {
            "source": line["prompt"], "prediction": line["output"], "processed_prediction": line["processed_prediction"],
            "references": line["references"], "target": line["references"][0], "task_data": json.dumps(line["input"]),
            "score": {
                "instance": {"accuracy": line["scores"]["exact_match"], "score_name": "accuracy"},
                "global": {"score": mean, "score_name": "accuracy", "accuracy": mean},
            },
        }
        for line in lines
    ]  # fmt: skip
    target.mkdir()
    (target / "results.json").write_text(json.dumps(instances))
    return target / "results.json"


PEERS = {"lm-eval": as_lm_eval, "OpenCompass": as_opencompass, "Unitxt": as_unitxt}

# -- planted differences --------------------------------------------------------------------------------------------

EDITED = [*ROWS[:3], {**ROWS[3], "answer": "sum 9"}, *ROWS[4:]]
PLANTED = {
    "a space in the template": ("prompt", {"task": {"doc_to_text": "{{question}} "}}),
    "another seed": ("prompt", {"seed": 99}),
    "another number of demos": ("prompt", {"num_demos": 2}),
    "a system prompt": ("prompt", {"system_prompt": "Be brief."}),
    "a stop string": ("decoding", {"task": {"generation_kwargs": {**TASK["generation_kwargs"], "until": ["."]}}, "function": says_otherwise}),
    "a temperature": ("decoding", {"decoding": {"temperature": 0.7}, "function": says_otherwise}),
    "another model": ("answer", {"function": says_otherwise}),
    "a filter": ("extraction", {"task": {"filter_list": REGEX}}),
    "a normalisation of the metric": ("metric", {"task": {"metric_list": [{"metric": "exact_match", "ignore_case": True}]}}),
    "rows in another order": ("rows", {"rows": ROWS[::-1], "task": {"num_fewshot": 0}}),
    "a row less": ("rows", {"rows": ROWS[1:], "task": {"num_fewshot": 0}}),
    "a right answer edited": ("rows", {"rows": EDITED, "task": {"num_fewshot": 0}}),
}  # fmt: skip
SILENT = {"OpenCompass": {"decoding": "answer"}, "Unitxt": {"decoding": "answer"}}
"""What the files of a peer do not say: there, the next layer is the first that can be seen."""


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    place = tmp_path_factory.mktemp("base")
    return {False: run(place / "with_demos"), True: run(place / "bare", task={"num_fewshot": 0})}


@pytest.fixture(scope="module")
def changed(tmp_path_factory):
    place = tmp_path_factory.mktemp("changed")
    made = {}

    def make(name):
        if name not in made:
            made[name] = run(place / name.replace(" ", "_"), **PLANTED[name][1])
        return made[name]

    return make


def of_base(base, name):
    return base["num_fewshot" in PLANTED[name][1].get("task", {})]


@pytest.mark.parametrize("peer", PEERS)
@pytest.mark.parametrize("name", PLANTED)
def test_the_layer_of_a_planted_difference(name, peer, base, changed, tmp_path):
    mine, theirs = of_base(base, name), PEERS[peer](changed(name), tmp_path / "peer")
    (first,), (second,) = observed(str(mine)), observed(str(theirs))
    found = explain(first, second)
    layer = PLANTED[name][0]
    assert found.layer == SILENT.get(peer, {}).get(layer, layer), found.parts
    assert sum(part.explained for part in found.parts.values()) == pytest.approx(found.difference)
    assert second.score == pytest.approx(found.means[1])


@pytest.mark.parametrize("peer", PEERS)
def test_the_same_run_in_another_form_differs_in_nothing(peer, base, tmp_path):
    (first,), (second,) = observed(str(base[False])), observed(str(PEERS[peer](base[False], tmp_path / "peer")))
    found = explain(first, second)
    assert (found.layer, found.difference, found.pairs, found.alone) == (None, 0.0, len(ROWS), (0, 0))


@pytest.mark.parametrize("name", PLANTED)
def test_two_runs_of_our_own(name, base, changed):
    (first,), (second,) = observed(str(of_base(base, name))), observed(str(changed(name)))
    assert explain(first, second).layer == PLANTED[name][0]


# -- what is explained ------------------------------------------------------------------------------------------------


def test_each_layer_explains_its_part(base, tmp_path):
    both = run(
        tmp_path / "both",
        rows=ROWS[:-1],
        task={"num_fewshot": 0, "metric_list": [{"metric": "exact_match", "ignore_case": True}]},
        function=lambda prompt: "none" if "What is 1 plus" in prompt.text else says(prompt),
    )
    (first,), (second,) = observed(str(base[True])), observed(str(both))
    parts = explain(first, second).parts
    assert list(parts) == ["rows", "answer", "metric"]
    assert parts["answer"].explained == pytest.approx(-1 / 7)
    assert parts["metric"].explained == pytest.approx(1 / 7)
    assert parts["rows"].explained == pytest.approx(5 / 7 - 6 / 8)
    assert [each.first for each in parts["rows"].examples] == [7]


def test_it_is_shown_side_by_side(base, changed, capsys):
    assert main(["why", str(base[False]), str(changed("a space in the template")), "--show", "2"]) == 0
    said = capsys.readouterr().out
    assert LAYERS["prompt"] in said
    assert "[+␣sum" in said
    assert said.count("prompt, instance") == 2


def test_as_json(base, changed, capsys):
    assert main(["why", str(base[False]), str(changed("another model")), "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert (found["layer"], found["pairs"]) == ("answer", 8)


def test_what_a_file_does_not_say_is_said(base, changed, tmp_path, capsys):
    theirs = as_opencompass(changed("another model"), tmp_path / "peer")
    assert main(["why", str(base[False]), str(theirs)]) == 0
    assert "(OpenCompass) does not say how the model wrote" in capsys.readouterr().out


@pytest.mark.parametrize(
    "name, words", [("nothing", "no file or folder"), ("odd.json", "holds no results"), ("bad.json", "not JSON")]
)
def test_what_cannot_be_read_is_refused(name, words, base, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("odd.json").write_text('{"a": 1}')
    Path("bad.json").write_text("{")
    assert main(["why", str(base[False]), name]) == 2
    assert words in capsys.readouterr().err


def test_an_exam_of_several_is_named(base, tmp_path, capsys):
    shutil.copytree(as_lm_eval(base[False], tmp_path / "one"), tmp_path / "two")
    (samples,) = (tmp_path / "two").glob("samples_*")
    shutil.copy(samples, tmp_path / "two" / samples.name.replace("quiz", "other"))
    assert main(["why", str(base[False]), f"{tmp_path / 'two'}::other"]) == 0
    assert main(["why", str(base[False]), f"{tmp_path / 'two'}::othr"]) == 2
    assert "did you mean 'other'" in capsys.readouterr().err


def test_show_and_a_run_give_the_same_digests_and_layers(base, capsys):
    folder = base[False]
    file = str(next(folder.parent.glob("quiz.yaml")))
    assert main(["show", file, "--json", "--docs", "8"]) == 0
    shown = [json.loads(line)["instance"] for line in capsys.readouterr().out.splitlines()]
    assert shown == [line["instance"] for line in lines_of(folder)]
    assert main(["show", file, "--fingerprint", "--json"]) == 0
    layers = json.loads(capsys.readouterr().out)
    stored = json.loads((folder / "results.json").read_text())["results"]["quiz"]["fingerprint"]
    assert layers == {"task": "quiz", **{name: digest for name, digest in stored.items() if name != "engine"}}
