"""``proctor sweep``: an exam in many wordings, for exams of every dialect."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from proctor.cli.__main__ import main
from proctor.testing import FaultServer

ROWS = [
    {"question": f"Capital of {country}?", "A": "Paris", "B": "Rome", "C": "Oslo", "answer": letter, "text": text}
    for country, letter, text in (("France", "A", "Paris"), ("Italy", "B", "Rome"), ("Norway", "C", "Oslo"))
]
SAYS = ("--model", "scripted", "--model-args", 'rules=[["please","A"],["capital","B"],["","C"]]')
CONFIG = """
datasets = [dict(
    abbr='NAME', type='JsonlDataset', path='rows.jsonl',
    reader_cfg=dict(input_columns=['question', 'A', 'B', 'C'], output_column='answer'),
    infer_cfg=dict(
        prompt_template=dict(type='PromptTemplate', template=dict(round=[
            dict(role='HUMAN', prompt='{question}WORDS A. {A} B. {B} C. {C}'), dict(role='BOT', prompt='{answer}')])),
        retriever=dict(type='ZeroRetriever'), inferencer=dict(type='GenInferencer')),
    eval_cfg=dict(evaluator=dict(type='AccEvaluator')))]
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    lines = "".join(f"{json.dumps(row)}\n" for row in ROWS)
    (tmp_path / "rows.jsonl").write_text(lines)
    (tmp_path / "texts.ndjson").write_text("".join(
        f"{json.dumps({'question': row['question'], 'answer': row['text']})}\n" for row in ROWS
    ))  # fmt: skip
    (tmp_path / "prompts.txt").write_text("{question}\n---\n{{question}} please\n")
    data = {"dataset_path": "json", "dataset_kwargs": {"data_files": {"test": "rows.jsonl"}}, "test_split": "test"}
    task = {
        **data, "task": "cap", "output_type": "multiple_choice", "doc_to_text": "{{question}}",
        "doc_to_choice": "{{[A,B,C]}}", "doc_to_target": "{{['A','B','C'].index(answer)}}",
        "template": {"mcq": None, "cloze": None},
    }  # fmt: skip
    (tmp_path / "task.yaml").write_text(json.dumps(task))
    (tmp_path / "own.yaml").write_text('doc_to_text: "Say, {{question}}"\n')
    for name, words in (("config", ""), ("other", " please")):
        (tmp_path / f"{name}.py").write_text(CONFIG.replace("NAME", name).replace("WORDS", words))
    fields = {"question": "str"}
    items = {
        name: {"__type__": "input_output_template", "input_format": text, "output_format": "{text}"}
        for name, text in (("plain", "{question}"), ("polite", "{question} please"))
    }
    recipe = {"__type__": "dataset_recipe", "demos_pool_size": 6, "card": {
        "__type__": "task_card",
        "loader": {"__type__": "load_from_dictionary", "data": {"train": [*ROWS, *({**row, "question": f"And {row['question']}"} for row in ROWS)], "test": ROWS}},
        "task": {"__type__": "task", "input_fields": fields, "reference_fields": {"text": "str"},
                 "prediction_type": "str", "metrics": ["metrics.accuracy"]},
        "templates": {"__type__": "templates_dict", "items": items},
    }}  # fmt: skip
    (tmp_path / "recipe.json").write_text(json.dumps(recipe))
    hub = {"field_spec": {"input": "question", "target": "answer", "choices": ["A", "B", "C"]},
           "solvers": [{"name": "multiple_choice"}], "scorers": [{"name": "choice"}]}  # fmt: skip
    (tmp_path / "hub").mkdir()
    (tmp_path / "hub" / "eval.yaml").write_text(yaml.safe_dump({"tasks": [hub]}))
    (tmp_path / "hub" / "test.jsonl").write_text(lines)
    tests = [{"vars": {"q": row["question"], "a": row["answer"]}} for row in ROWS]
    asserted = {"assert": [{"type": "equals", "value": "{{a}}"}]}
    config = {"prompts": ["{{q}}", "{{q}} please"], "defaultTest": asserted, "tests": tests}
    (tmp_path / "foo.yaml").write_text(json.dumps(config))
    return tmp_path


def swept(invoke, *given: str, log: str = "log.db") -> dict:
    code, out, err = invoke("sweep", *given, *SAYS, "--log", log, "--output", "out", "--json")
    assert code == 0, err
    assert json.loads(Path("out/sweep.json").read_text()) == json.loads(out)
    return json.loads(out)


@pytest.mark.parametrize("given, cells", [
    (("texts.ndjson", "--templates", "prompts.txt", "--perturb", "case,typos", "--formats", "text,chat"), 12),
    (("texts.ndjson", "--prompt", "Q {question}", "--prompt", "{question}", "--system-prompts", "none",
      "--system-prompts", "Hi, you."), 4),
    (("task.yaml", "--templates", "all,own.yaml,prompts.txt", "--choice-orders", "2"), 10),
    (("config.py", "--templates", "config.py,other.py", "--choice-orders", "3", "--extraction", "own,last"), 12),
    (("recipe.json", "--templates", "all,prompts.txt", "--demos", "0,1,2", "--demo-seeds", "2"), 20),
    (("hub/eval.yaml", "--choice-orders", "2", "--perturb", "whitespace"), 4),
    (("foo.yaml::1", "--templates", "foo.yaml::1,foo.yaml::2", "--system-prompts", "none", "--system-prompts", "Hi"), 4),
])  # fmt: skip
def test_every_dialect_is_asked_in_every_combination(invoke, given, cells):
    if given[0] in ("recipe.json", "task.yaml"):  # a prompt like one of its own templates is the same wording
        Path("prompts.txt").write_text("Please: {question}\n---\nNow: {question}\n")
    record = swept(invoke, *given)
    result = record["result"]
    assert len(result["cells"]) == cells
    assert len({json.dumps(cell["levels"]) for cell in result["cells"]}) == cells
    assert {cell["n"] for cell in result["cells"]} == {3}
    for cell in record["cells"]:
        run = json.loads((Path("out") / cell["folder"] / "results.json").read_text())
        shown = [each for each in result["cells"] if each["folder"] == cell["folder"]]
        assert next(iter(run["results"].values()))["score"] == shown[0]["score"]
    scores = sorted(cell["score"] for cell in result["cells"])
    found = result["distribution"]["quantiles"]
    assert (found[0]["score"], found[-1]["score"]) == pytest.approx((scores[0], scores[-1]))


def test_a_sweep_that_grows_asks_what_is_new(invoke):
    swept(invoke, "texts.ndjson", "--templates", "prompts.txt", "--perturb", "case")
    Path("more.txt").write_text("Hello. {question}")
    record = swept(invoke, "texts.ndjson", "--templates", "prompts.txt,more.txt", "--perturb", "case")
    asked = {
        cell["name"]: json.loads((Path("out") / cell["folder"] / "results.json").read_text())["run"]["requests"]
        for cell in record["cells"]
    }
    assert {name: each["asked"] for name, each in asked.items()} == {
        name: 3 if name.startswith("more") else 0 for name in asked
    }


def test_what_flips_is_named(invoke):
    record = swept(
        invoke,
        "foo.yaml::1",
        "--templates",
        "foo.yaml::1,foo.yaml::2",
        "--system-prompts",
        "none",
        "--system-prompts",
        "Hi",
    )
    flips = {each["question"]: each["flips"] for each in record["result"]["flips"]}
    assert flips == pytest.approx({"Capital of France?": 2 / 3, "Capital of Norway?": 2 / 3})
    code, out, _ = invoke("sweep", "foo.yaml::1", "--templates", "foo.yaml::1,foo.yaml::2", *SAYS, "--log", "log.db")
    assert code == 0
    for words in ("Scores of the wordings", "Distribution over wordings", "Questions that flip", "Capital of France?"):
        assert words in out


def test_a_doubt_is_said_once_with_the_wordings_that_it_concerns(invoke):
    Path("own.yaml").write_text('doc_to_text: "Say, {question}"\n')
    given = ("--templates", "mcq,own.yaml", "--choice-orders", "2", *SAYS, "--log", "log.db", "--output", "out")
    code, _, err = invoke("sweep", "task.yaml", *given)
    assert code == 0
    assert err.count("'{question}' as it stands") == 1
    assert "warning: 'own · 0' and 1 more: the prompt shows" in err


def test_a_part_of_changed_questions_is_of_the_same_questions(invoke):
    _many()
    given = ("sweep", "many.ndjson", "--templates", "words.txt", "--perturb", "case", *SAYS, "--log", "log.db")
    assert invoke(*given, "-o", "out", "--budget", "50%")[0] == 0
    files = [path.read_text().splitlines() for path in Path("out").glob("*/samples.jsonl")]
    assert len({json.loads(line)["instance"] for lines in files for line in lines}) == 60
    code, out, err = invoke(*given, "-o", "out", "--budget", "50%", "--json")  # and its rows are what they were
    assert code == 0, err
    found = json.loads(out)["result"]
    assert found["over_wordings"]["questions"] == 60
    assert "for these levels of perturbation (2)" in found["notes"][-1]


def test_readings_of_answers_that_are_graded_by_repeats_are_refused(invoke):
    given = ("sweep", "texts.ndjson", "--templates", "prompts.txt", "--extraction", "first,last", "--repeats", "2")
    code, _, err = invoke(*given, *SAYS, "--log", "log.db", "-o", "out")
    assert code == 2
    assert "each of its repeats is graded by itself" in err
    assert not Path("out").exists()


def test_a_budget_ends_a_sweep_and_the_rest_comes_later(invoke):
    given = ("sweep", "texts.ndjson", "--templates", "prompts.txt", *SAYS, "--log", "log.db", "--output", "out")
    code, _, err = invoke(*given, "--budget-tokens", "1")
    assert code != 0
    assert "no cell of out has a score" in err or "stopped" in err
    assert invoke(*given)[0] == 0


def _many(count: int = 60, prompts: int = 12) -> None:
    rows = ({"question": f"What is {n}?", "answer": "AB"[n % 3 == 0]} for n in range(count))
    Path("many.ndjson").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    Path("words.txt").write_text("\n---\n".join(f"P{n} {{question}}" for n in range(prompts)))


def _asked_of(folder: str) -> dict[str, int]:
    cells = json.loads(Path(folder, "sweep.json").read_text())["cells"]
    return {
        cell["name"]: json.loads((Path(folder) / cell["folder"] / "results.json").read_text())["run"]["requests"][
            "asked"
        ]
        for cell in cells
    }


def test_a_part_of_the_grid_is_asked_and_the_rest_is_estimated(invoke):
    _many()
    given = ("sweep", "many.ndjson", "--templates", "words.txt", "--model", "scripted", "--log", "log.db", "-o", "out",
             "--model-args", 'rules=[["P1 ","B"],["","A"]]')  # fmt: skip
    code, out, err = invoke(*given, "--budget", "25%", "--json")
    assert code == 0, err
    record = json.loads(out)
    result, part = record["result"], record["part"]
    assert part["of"] == 720
    assert sum(_asked_of("out").values()) == part["asked"] == sum(cell["n"] for cell in result["cells"])
    assert result["estimated"]["scored"] == part["asked"]
    assert result["over_wordings"]["low"] < result["over_wordings"]["mean"] < result["over_wordings"]["high"]
    lowest = min(result["cells"], key=lambda cell: cell["estimate"]["score"])
    assert lowest["name"] == result["distribution"]["worst"] == "words-2"
    assert "components" not in result
    assert "best" not in result
    for command in (("report", "out"), ("report", "out", "-o", "out.html")):
        assert invoke(*command)[0] == 0
    shown = invoke("report", "out")[1]
    assert "ESTIMATED by a model, not measured" in shown
    assert "the median's interval held in two of three simulations" in shown
    assert shown.count("estimated from a part") == 2
    assert Path("out.html").read_text().count("estimated from a part") >= 3
    run = json.loads((Path("out") / record["cells"][0]["folder"] / "results.json").read_text())
    (entry,) = run["results"].values()
    assert entry["sample"] == {"asked": entry["n"], "of": 60, "chosen": "at random for the wording", "seed": 42}

    grown = sum(json.loads(invoke(*given, "--budget", "50%", "--json")[1])["part"]["asked"] for _ in "1")
    assert sum(_asked_of("out").values()) == grown - part["asked"]
    assert invoke(*given)[0] == 0
    assert sum(_asked_of("out").values()) == 720 - grown


@pytest.mark.slow
def test_a_sweep_that_was_killed_goes_on_and_asks_nothing_twice(tmp_path):
    _many(20, 5)
    with FaultServer(latency_seconds=0.02) as server:
        command = [
            sys.executable, "-m", "proctor.cli", "sweep", "many.ndjson", "--templates", "words.txt", "--model", "openai",
            "--model-args", f"model=m,base_url={server.url},api_key=k,max_concurrency=2", "--log", "log.db", "-o", "out",
        ]  # fmt: skip
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = time.monotonic() + 60
        while server.statistics()["requests"] < 50 and process.poll() is None and time.monotonic() < until:
            time.sleep(0.005)
        process.kill()
        assert process.wait() == -signal.SIGKILL
        killed = server.statistics()["requests"]
        assert 50 <= killed < 100
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        # a kill costs what was on its way: requests in flight, and answers of the last milliseconds
        assert 100 <= server.statistics()["requests"] <= 100 + 2 * 4
        whole = json.loads(Path("out/sweep.json").read_text())
        again = server.statistics()["requests"]
        assert subprocess.run(command, capture_output=True, check=False).returncode == 0
        assert server.statistics()["requests"] == again
    assert {cell["n"] for cell in whole["result"]["cells"]} == {20}
    assert json.loads(Path("out/sweep.json").read_text()) == whole


@pytest.mark.parametrize("more, said", [
    (("--budget", "many"), "--budget is 'many'"),
    (("--budget", "50%", "--extraction", "own,last"), "cannot go together"),
])  # fmt: skip
def test_budgets_that_cannot_be_are_refused(invoke, more, said):
    _many(20, 6)
    code, _, err = invoke("sweep", "many.ndjson", "--templates", "words.txt", *SAYS, "-o", "out", *more)
    assert code == 2
    assert said in err
    assert not Path("out").exists()


def test_one_budget_is_for_the_whole_sweep_and_answers_of_the_log_are_free(invoke):
    _many(10, 4)
    given = ("sweep", "many.ndjson", "--templates", "words.txt", *SAYS, "--log", "log.db", "--output", "out", "-q",
             "--decoding", "max_tokens=8")  # fmt: skip
    code, _, err = invoke(*given, "--budget-tokens", "150")
    assert code != 0
    assert "stopped: the budget of 150 tokens has no room" in err
    runs = [json.loads(path.read_text())["run"] for path in Path("out").glob("*/results.json")]
    spent = [
        sum(each[side] for each in run["usage"].values() for side in ("prompt_tokens", "completion_tokens"))
        for run in runs
    ]
    assert len(runs) in (2, 3)
    assert max(spent) < sum(spent) <= 150
    code, _, err = invoke(*given, "--budget-tokens", "150")  # the log's answers cost nothing: this comes further
    assert len(list(Path("out").glob("*/results.json"))) == 4, err


@pytest.mark.parametrize("given, said", [
    (("texts.ndjson",), "nothing is varied"),
    (("samples", "--demos", "0,1"), "a sweep is of one exam"),
    (("texts.ndjson", "--templates", "mcq"), "a table has no template 'mcq'"),
    (("texts.ndjson", "--templates", "all"), "brings no templates"),
    (("texts.ndjson", "--templates", "nowhere.txt"), "there is no file of prompts"),
    (("texts.ndjson", "--templates", "lacking.txt"), "did you mean 'question'?"),
    (("task.yaml", "--templates", "lacking.txt"), "did you mean 'question'?"),
    (("task.yaml", "--templates", "mcqq"), "did you mean 'mcq'"),
    (("task.yaml", "--templates", "mcq,mcq"), "template: 'mcq' is named twice"),
    (("task.yaml", "--templates", "mcq", "--template", "cloze"), "--template and --templates say the same"),
    (("config.py", "--templates", "prompts.txt"), "takes no prompt in words"),
    (("config.py", "--demos", "0,1"), "cannot honour --num-demos"),
    (("config.py", "--templates", "config.py,foo.yaml::1"), "asks other rows"),
    (("texts.ndjson", "--choice-orders", "2"), "cannot honour --choice-order"),
    (("texts.ndjson", "--perturb", "cas"), "did you mean 'case'?"),
    (("texts.ndjson", "--demos", "0,x"), "'x' is none"),
    (("texts.ndjson", "--demos", "0", "--demo-seeds", "3"), "--demos 0 shows none"),
    (("texts.ndjson", "--demo-seeds", "3"), "ask the same"),
    (("texts.ndjson", "--formats", "chatty"), "did you mean 'chat'"),
    (("texts.ndjson", "--system-prompts", "none,Hi"), "--system-prompts none --system-prompts TEXT"),
    (("texts.ndjson", "--extraction", "frist"), "did you mean 'first'?"),
    (("foo.yaml",), "a sweep is of one exam"),
])  # fmt: skip
def test_what_cannot_be_swept_is_refused_before_anybody_is_asked(invoke, given, said):
    Path("lacking.txt").write_text("{questoin}?")
    code, _, err = invoke("sweep", *given, *SAYS, "--log", "log.db", "--output", "out")
    assert code == 2, err
    assert said in err
    assert not Path("out").exists()


def test_the_folder_of_another_sweep_is_kept(invoke):
    swept(invoke, "texts.ndjson", "--templates", "prompts.txt")
    before = Path("out/sweep.json").read_text()
    code, _, err = invoke("sweep", "foo.yaml::1", "--templates", "foo.yaml::1,foo.yaml::2", *SAYS, "--output", "out")
    assert code == 2
    assert "out is a sweep of another exam" in err
    assert Path("out/sweep.json").read_text() == before
    code, _, err = invoke("sweep", "texts.ndjson", "--templates", "prompts.txt", *SAYS, "--output", "hub")
    assert code == 2
    assert "hub holds something else" in err


def _two(invoke) -> None:
    """Make two sweeps of different models, ``a`` and ``b``, of which the second knows more."""
    for name, rules in (
        ("a", '[["please","Paris"]]'),
        ("b", '[["France","Paris"],["Italy","Rome"],["please","Oslo"]]'),
    ):
        model = ("--model", "scripted", "--model-args", f"rules={rules},answer=-")
        code, _, err = invoke(
            "sweep", "texts.ndjson", "--templates", "prompts.txt", "--perturb", "typos", *model, "--output", name
        )
        assert code == 0, err


def test_a_sweep_is_reported_as_text_and_as_a_page_that_needs_nothing_else(invoke):
    _two(invoke)
    code, out, _ = invoke("report", "a")
    assert code == 0
    for words in ("over wordings and questions", "How much a single score varies", "What would make the error smaller",
                  "corrected for having been chosen", "Differences from"):  # fmt: skip
        assert words in out
    assert invoke("report", "a", "-o", "a.html")[0] == 0
    page = Path("a.html").read_text()
    assert page.count("<svg") >= 4 + 3
    assert 'class="heat"' in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert invoke("report", "a", "-o", "a.md")[0] == 0
    assert Path("a.md").read_text().strip() == out.strip()
    code, _, err = invoke("report", "a", "-o", "a.csv")
    assert code == 2
    assert "as html or md" in err


def test_sweeps_are_compared_over_their_wordings(invoke):
    _two(invoke)
    code, out, err = invoke("compare", "a", "b", "--json")
    assert code == 0, err
    (found,) = json.loads(out)
    a, b = (json.loads(Path(name, "sweep.json").read_text())["result"]["cells"] for name in "ab")
    differences = [two["score"] - one["score"] for one, two in zip(a, b, strict=True)]
    assert found["mean"] == pytest.approx(sum(differences) / 4)
    assert found["higher_under"] == sum(each > 0 for each in differences)
    assert found["low"] <= found["naive_low"] + 1e-9
    assert found["quantiles"][0]["difference"] == pytest.approx(min(differences))
    assert "b beside a (4 wordings, 3 questions)" in invoke("compare", "a", "b")[1]
    code, _, err = invoke("compare", "a", "b", "--clusters", "nothing")
    assert code == 2
    assert "no question has a 'nothing'" in err
    swept(invoke, "foo.yaml::1", "--templates", "foo.yaml::1,foo.yaml::2")
    code, _, err = invoke("compare", "a", "out")
    assert code == 2
    assert "cannot be compared" in err


def _sweep_of(invoke, name: str, right: int, *more: str, prompts: str = "words.txt", count: int = 60) -> None:
    """Sweep a model that knows the answer to so many of the rows."""
    rows = [{"question": f"Word {n} of all?", "answer": f"w{n}"} for n in range(count)]
    Path("known.ndjson").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    rules = json.dumps([[f"Word {n} of", f"w{n}"] for n in range(right)])
    code, _, err = invoke(
        "sweep", "known.ndjson", "--templates", prompts, "--model", "scripted", "--model-args",
        f"rules={rules},answer=-", "-o", name, *more,
    )  # fmt: skip
    assert code == 0, err


def test_a_gate_over_wordings_fails_passes_or_says_that_it_cannot_know(invoke):
    _many()
    for name, right in (("a", 40), ("b", 20), ("c", 41)):
        _sweep_of(invoke, name, right)
    code, out, err = invoke("compare", "a", "b", "--over", "wordings", "--fail-if-worse")
    assert code == 1, err
    assert "FAILED: b is worse over its wordings" in err
    assert "b beside a (12 wordings, 60 questions)" in out
    code, _, err = invoke("compare", "b", "a", "--over", "wordings", "--fail-if-worse")
    assert (code, "PASSED: a is not worse" in err) == (0, True)
    assert invoke("compare", "a", "c", "b", "--fail-if-worse")[0] == 1
    (same,) = json.loads(invoke("compare", "a", "a", "--json")[1])  # equal answers say little of questions not seen
    assert (same["mean"], same["high"]) == (0, pytest.approx(1 - 0.025 ** (1 / 60)))
    assert same["low"] == pytest.approx(-same["high"])
    for path in Path("b").glob("*/samples.jsonl"):  # what was not answered may have been anything
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        for line in lines[:35]:
            line["scores"] = {}
            line["failure"] = {"kind": "timeout", "message": "late"}
        path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    code, _, err = invoke("compare", "a", "b", "--fail-if-worse")
    assert (code, "UNDECIDED: b: 35 questions have no score under some wording" in err) == (4, True), err


def test_wordings_are_paired_by_what_they_ask_and_not_by_their_names(invoke):
    _many(prompts=5)
    _sweep_of(invoke, "a", 40)
    Path("other.txt").write_text("\n---\n".join(f"P{n} {{question}}" for n in (4, 2, 9)))
    _sweep_of(invoke, "b", 30, prompts="other.txt")  # two of a's, under other names, and one of its own
    (found,) = json.loads(invoke("compare", "a", "b", "--over", "wordings", "--json")[1])
    assert (found["wordings"], found["unpaired"], found["questions"]) == (2, 4, 60)
    assert "4 that ask otherwise, or only one has, are left out" in invoke("compare", "a", "b")[1]
    Path("words.txt").write_text("\n---\n".join(f"Q{n} {{question}}" for n in range(5)))
    _sweep_of(invoke, "c", 30)  # the same names, and other words
    code, _, err = invoke("compare", "a", "c")
    assert code == 2
    assert "both ask 0 wordings" in err
    _many(prompts=5)
    _sweep_of(invoke, "d", 30, "--limit", "50")  # of other rows the levels say which are the same
    (found,) = json.loads(invoke("compare", "a", "d", "--json")[1])
    assert (found["wordings"], found["unpaired"], found["questions"]) == (5, 0, 50)


def test_scores_of_sweeps_carry_the_interval_that_holds_for_other_wordings(invoke):
    _many()
    _sweep_of(invoke, "a", 40)
    _sweep_of(invoke, "part", 40, "--budget", "50%")
    code, out, err = invoke("report", "a", "part", "--over", "wordings", "--json")
    assert code == 0, err
    whole, part = json.loads(out)
    assert whole["mean"] == pytest.approx(2 / 3)
    assert whole["low"] <= whole["naive_low"] + 1e-12
    assert part["low"] <= 2 / 3 <= part["high"]
    shown = invoke("report", "a", "part", "--over", "wordings")[1]
    assert "of questions alone" in shown
    assert "12, estimated" in shown
    assert invoke("report", "a", "--over", "wordings", "-o", "a.md")[0] == 0
    assert Path("a.md").read_text().startswith("\n## Scores with intervals")
    cell = next(str(path.parent) for path in Path("a").glob("*/run.yaml"))
    for command in (("report", cell), ("compare", cell, cell), ("compare", "a", cell)):
        code, _, err = invoke(*command, "--over", "wordings")
        assert code == 2
        assert f"{cell} is not a sweep, which has an interval over wordings" in err
    assert invoke("report", "a", "--over", "wordings", "--format", "csv")[0] == 2
    code, _, err = invoke("gate", "known.ndjson", *SAYS, "--baseline", "a", "--margin", "0.1")
    assert code == 2
    assert "a is a sweep of many wordings" in err


def test_parts_of_sweeps_are_compared_by_the_answers_that_both_have(invoke):
    _many()
    for name, share in (("a", 30), ("b", 50)):
        _sweep_of(invoke, f"{name}-part", share, "--budget", "50%")
        _sweep_of(invoke, name, share)
    whole, part, mixed = (
        json.loads(invoke("compare", *names, "--json")[1])[0]
        for names in (("a", "b"), ("a-part", "b-part"), ("a", "b-part"))
    )
    asked = json.loads(Path("a-part", "sweep.json").read_text())["part"]["asked"]
    for found in (part, mixed):
        assert found["answers"] == asked < 400  # of 720: two models are asked the same
        assert (found["wordings"], found["questions"], found["unanswered"]) == (12, 60, 0)
        assert found["low"] < whole["mean"] < found["high"]
        assert found["mean"] == pytest.approx(whole["mean"], abs=0.05)
        assert [each["of"] for each in found["quantiles"]] == [each["of"] for each in whole["quantiles"]]
    assert part["high"] - part["low"] > whole["naive_high"] - whole["naive_low"]
    shown = invoke("compare", "a-part", "b-part")[1]
    assert f"12 wordings, 60 questions, {asked} answers of either" in shown
    assert "Distribution over wordings, estimated from a part" in shown
    code, _, err = invoke("compare", "b-part", "a-part", "--fail-if-worse")
    assert (code, "FAILED: a-part is worse over its wordings" in err) == (1, True)


def test_questions_that_belong_together_are_a_component(invoke):
    rows = [{"question": f"What is {n}?", "answer": "AB"[n // 5 % 2], "text": f"t{n // 5}"} for n in range(40)]
    Path("many.ndjson").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    Path("words.txt").write_text("\n---\n".join(f"P{n} {{question}}" for n in range(6)))
    given = ("sweep", "many.ndjson", "--templates", "words.txt", "--clusters", "text",
             "--answer-column", "answer", "--model", "scripted", "--model-args")  # fmt: skip
    for name, rule in (("a", 'rules=[["P1 ","B"],["","A"]]'), ("b", 'rules=[["7","B"],["","A"]]')):
        code, out, err = invoke(*given, rule, "-o", name, "--json")
        assert code == 0, err
    result = json.loads(out)["result"]
    assert result["clusters"] == 8
    assert [each["name"] for each in result["components"]][:2] == ["template", "cluster"]
    assert "40 questions in 8 clusters" in invoke("report", "b")[1]
    (found,) = json.loads(invoke("compare", "a", "b", "--json")[1])
    assert "cluster" in [each["name"] for each in found["parts"]]
    code, _, err = invoke(*given, rule, "-o", "c", "--budget", "50%")
    assert code == 2
    assert "its questions come in clusters of 'text'" in err


def test_noise_of_answers_is_told_apart(invoke):
    record = swept(invoke, "texts.ndjson", "--templates", "prompts.txt", "--repeats", "3")
    assert record["result"]["answer_noise"] == {"variance": 0.0, "repeats": 3}


def test_a_score_that_is_no_mean_has_no_components(invoke):
    code, out, err = invoke(
        "sweep", "samples.sentiment", "--perturb", "case", "--model", "scripted", "--model-args", "answer=positive",
        "--output", "out", "--json",
    )  # fmt: skip
    assert code == 0, err
    result = json.loads(out)["result"]
    assert "components" not in result
    assert "f1_macro is not a mean over questions" in result["notes"][0]


def test_a_table_whose_prompts_are_files_needs_no_question_column(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "capitals.csv").write_text("country,capital\nFrance,Paris\nJapan,Tokyo\n")
    (tmp_path / "prompts.txt").write_text("What is the capital of {country}?\n---\nName the capital of {{country}}.\n")
    command = ["sweep", "capitals.csv", "--answer-column", "capital", "--model", "scripted", "-a", "answer=Paris"]
    assert main([*command, "--templates", "prompts.txt", "-o", "out", "--json"]) == 0
    cells = json.loads(capsys.readouterr().out)["cells"]
    assert [each["name"] for each in cells] == ["prompts-1", "prompts-2"]


@pytest.mark.parametrize("command", [["report"], ["report", "-o", "x.html"], ["compare"]])
def test_a_damaged_sweep_is_named(tmp_path, monkeypatch, capsys, command):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text("question,answer\nFrance?,Paris\nJapan?,Tokyo\n")
    asked = ["sweep", "rows.csv", "--model", "scripted", "-a", "answer=Paris", "--perturb", "case", "-o", "out"]
    assert main(asked) == 0
    record = json.loads((tmp_path / "out" / "sweep.json").read_text())
    del record["cells"][0]["levels"]
    record["result"] = {"cells": [{}]}
    (tmp_path / "out" / "sweep.json").write_text(json.dumps(record))
    capsys.readouterr()
    assert main([command[0], "out", *(["out"] if command == ["compare"] else command[1:])]) == 2
    assert "is damaged" in capsys.readouterr().err
