"""A benchmark whose groups list tasks in place: templates below it, one file of code above them, a class of its own."""

from __future__ import annotations

import json
import sys

import pytest

from proctor.dialects.lm_eval.functions import TaskCodeError
from proctor.dialects.lm_eval.reader import TaskFileError
from proctor.dialects.lm_eval.resolve import resolve
from proctor.dialects.lm_eval.validate import validate
from proctor.engines.scripted import ScriptedEngine
from proctor.errors import TrustError
from proctor.running.run import run_exams
from proctor.settings import settings

CODE = '''
from lm_eval.api.metrics import mean
from lm_eval.api.task import ConfigurableTask, eval_logger

eval_logger.debug("read")


class Ranked(ConfigurableTask):
    """Begins as lm-eval's own method does: which metrics are there, what they are and what they are given."""

    def process_results(self, doc, results):
        wanted = list(self._metric_fn_list.keys())
        assert self._metric_fn_list["acc"] is not None and self._metric_fn_kwargs["acc"] == {}
        scores = [score for score, _ in results]
        gold = self.doc_to_target(doc)
        place = sorted(scores, reverse=True).index(scores[gold]) + 1
        return {**({"acc": float(place == 1)} if "acc" in wanted else {}), "rank": 1 / place}

    def aggregation(self):
        return {**self._aggregation_list, "rank": mean}

    def higher_is_better(self):
        return {**self._higher_is_better, "rank": True}


def choices(doc):
    return doc["choices"]
'''
FILES = {
    "code.py": CODE,
    "templates/choice/ranked_yaml": (
        "include: ../shots_yaml\nclass: !function ../../code.Ranked\noutput_type: multiple_choice\ndataset_path: json\ndoc_to_text: q\n"
        "doc_to_choice: !function ../../code.choices\ndoc_to_target: gold\nmetric_list: [{metric: acc}]\n"
    ),
    "templates/shots_yaml": "test_split: test\nnum_fewshot: 0\ntarget_delimiter: '|'\n",
    "exam.yaml": (
        "group: exam\ndataset_path: json\ndataset_kwargs: {data_files: {test: rows.jsonl}}\nfewshot_delimiter: '##'\n"
        "task:\n- task: first\n  include: templates/choice/ranked_yaml\n  doc_to_text: 'A: {{q}}'\n"
        "- group: deeper\n  task:\n  - task: second\n    include: [templates/choice/ranked_yaml]\n"
        "    doc_to_text: 'B: {{q}}'\n    target_delimiter: ':'\n"
    ),
}
ROWS = [{"q": f"question {n}", "choices": ["x", "y", "zz"], "gold": n % 3} for n in range(4)]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(folder):
    with settings.context(trust_code=True):
        exams = resolve([str(folder / "exam.yaml")])
        asked = []

        def score(context, continuation):
            asked.append((context, continuation))
            return -float(len(continuation))

        return run_exams(exams, ScriptedEngine(log_likelihood=score)), asked


def test_tasks_listed_in_a_group_take_their_template_and_its_code(folder):
    result, asked = run(folder)
    assert {(context, continuation) for context, continuation in asked if context.endswith("0")} == {
        *(("A: question 0", f"|{choice}") for choice in ("x", "y", "zz")),
        *(("B: question 0", f":{choice}") for choice in ("x", "y", "zz")),  # a member's own key wins
    }
    for name in ("exam::first", "exam::deeper::second"):
        scores = result.results[name]
        assert scores["rank"] == pytest.approx((1 + 1 + 1 / 3 + 1) / 4)  # x and y are as long
        assert scores["acc"] == pytest.approx(3 / 4)


def test_a_missing_template_is_said_with_its_group(folder):
    (folder / "templates/choice/ranked_yaml").unlink()
    with pytest.raises(TaskFileError, match="ranked_yaml' cannot be read"):
        run(folder)


def test_code_above_the_file_needs_trust_and_is_looked_into(folder):
    with pytest.raises(TrustError, match=r"(?s)would run .*code\.py"):
        resolve([str(folder / "exam.yaml")])
    path = folder / "templates/choice/other.yaml"
    path.write_text("task: other\n" + FILES["templates/choice/ranked_yaml"].replace("code.choices", "code.nowhere"))
    _, (found,) = validate(path, installed=False)
    assert "code.py has no 'nowhere'" in str(found)


def test_tables_of_metrics_are_there_to_be_read(folder):
    put = CODE.replace("wanted = list", "self._metric_fn_list['own'] = None\n        wanted = list")
    (folder / "code.py").write_text(put)
    result, _ = run(folder)
    assert result.results["exam::first"]["failures"] == len(ROWS)


@pytest.mark.parametrize(
    "line, hint",
    [
        ("import lies_beside", r"PYTHONPATH=\S+ lets Python find lies_beside\.py"),
        ("import json.nowhere", "another release of 'json'"),
        ("import nowhere_at_all", "install the package that provides 'nowhere_at_all'"),
    ],
)
def test_a_module_that_cannot_be_found_is_looked_for_beside_the_task(folder, line, hint, monkeypatch):
    monkeypatch.setattr(
        sys, "path", [each for each in sys.path if each]
    )  # workers of pytest look into the working folder
    (folder / "lies_beside.py").write_text("")
    (folder / "code.py").write_text(f"{line}\n{CODE}")
    (folder / "alone.yaml").write_text(
        "task: alone\ndataset_path: json\ndataset_kwargs: {data_files: {test: rows.jsonl}}\ntest_split: test\n"
        "doc_to_text: !function code.choices\ndoc_to_target: q\n"
    )
    with settings.context(trust_code=True), pytest.raises(TaskCodeError, match=hint):
        run_exams(resolve([str(folder / "alone.yaml")]), ScriptedEngine(answer="x"))


def test_included_files_that_disagree_are_said_once(folder, heard):
    (folder / "one_yaml").write_text("output_type: generate_until\nrepeats: 2\n")
    (folder / "two_yaml").write_text("output_type: multiple_choice\nrepeats: 2\n")
    (folder / "both.yaml").write_text(
        "include: [one_yaml, two_yaml]\ntask: both\ndataset_path: json\ntest_split: test\n"
        "dataset_kwargs: {data_files: {test: rows.jsonl}}\ndoc_to_text: q\ndoc_to_choice: choices\ndoc_to_target: gold\n"
    )
    (exam,) = resolve([str(folder / "both.yaml")])
    resolve([str(folder / "both.yaml")])
    assert heard.text.count("say different things of output_type; the last one counts") == 1
    assert exam.dialect == "lm_eval"
