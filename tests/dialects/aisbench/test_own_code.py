"""Classes beside a config: run where code is trusted, with Proctor's names beneath; refused with the true reason."""

import json
import sys
import textwrap

import pytest

from proctor.dialects.resolve import resolve_tasks
from proctor.engines import make_engine
from proctor.errors import ProctorError, TrustError
from proctor.guests.code import object_named
from proctor.running import run_exams
from proctor.settings import settings

CONFIG = """
    from {module} import OwnDataset, OwnEvaluator, own_last
    from opencompass.openicl.icl_inferencer import GenInferencer
    from opencompass.openicl.icl_prompt_template import PromptTemplate
    from opencompass.openicl.icl_retriever import ZeroRetriever

    datasets = [
        dict(
            abbr="own",
            type=OwnDataset,
            path="rows.jsonl",
            reader_cfg=dict(input_columns=["q"], output_column="gold"),
            infer_cfg=dict(
                prompt_template=dict(type=PromptTemplate, template="{{q}}"),
                retriever=dict(type=ZeroRetriever),
                inferencer=dict(type=GenInferencer),
            ),
            eval_cfg=dict(evaluator=dict(type=OwnEvaluator), pred_postprocessor=dict(type=own_last)),
        )
    ]
"""
MODULE = """
    import json
    from datasets import Dataset
    from opencompass.datasets.base import BaseDataset
    from opencompass.openicl.icl_evaluator import BaseEvaluator
    from opencompass.registry import ICL_EVALUATORS, LOAD_DATASET, TEXT_POSTPROCESSORS
    from {helper} import SHARE

    @LOAD_DATASET.register_module()
    class OwnDataset(BaseDataset):
        @staticmethod
        def load(path):
            with open(path, encoding="utf-8") as file:
                return Dataset.from_list([json.loads(line) for line in file])

    @TEXT_POSTPROCESSORS.register_module("own_last")
    def own_last(text):
        return text.split()[-1]

    @ICL_EVALUATORS.register_module()
    class OwnEvaluator(BaseEvaluator):
        def score(self, predictions, references):
            good = [p == r for p, r in zip(predictions, references)]
            return {{"share": SHARE * sum(good) / len(good)}}
"""


@pytest.fixture(autouse=True)
def _fresh():
    known = set(sys.modules)
    yield
    for name in {*sys.modules} - known:
        if name.startswith("own_"):
            del sys.modules[name]


@pytest.fixture
def write(tmp_path, monkeypatch):
    """A function that writes files below a folder, which becomes the working one."""

    def written(files, folder="", working=None):
        place = tmp_path / folder
        for name, text in files.items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_text(textwrap.dedent(text), encoding="utf-8")
        rows = [{"q": "say 4", "gold": "4"}, {"q": "say 5", "gold": "5"}]
        (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        monkeypatch.chdir(tmp_path if working is None else tmp_path / working)
        return place

    return written


def scored(config, tmp_path):
    """Return the score of a config's one dataset, and its definition."""
    (exam,) = resolve_tasks([str(config)])
    result = run_exams([exam], make_engine("scripted", {"answer": "it is 4"}), output=tmp_path / f"run-{config.stem}")
    (found,) = result.results.values()
    return found["score"], exam.definition


OWN = {
    "beside": {"cfg.py": CONFIG.format(module="own_bench"), "own_bench.py": MODULE.format(helper="own_helper")},
    "a package": {
        "cfg.py": CONFIG.format(module="own_bench.parts"),
        "own_bench/__init__.py": "",
        "own_bench/parts.py": MODULE.format(helper="own_helper"),
    },
    "a folder": {
        "cfg.py": CONFIG.format(module="own_bench.parts"),
        "own_bench/parts.py": MODULE.format(helper=".more"),
        "own_bench/more.py": "SHARE = 100",
    },
    "relative": {"cfg.py": CONFIG.format(module=".own_bench"), "own_bench.py": MODULE.format(helper="own_helper")},
}


@pytest.mark.parametrize("files", OWN.values(), ids=OWN)
def test_own_classes_make_rows_read_answers_and_score_them(files, write, tmp_path):
    place = write({**files, "own_helper.py": "SHARE = 100"})
    with settings.context(trust_code=True):
        score, definition = scored(place / "cfg.py", tmp_path)
    assert score == 50.0
    assert any("own_bench" in name for name in definition.held)


@pytest.mark.parametrize("where", ["beside", "working folder"])
def test_an_edited_helper_is_another_metric(write, tmp_path, monkeypatch, where):
    place = write(OWN["beside"])
    (tmp_path / "working").mkdir()
    monkeypatch.chdir(tmp_path / "working")
    helper = (place if where == "beside" else tmp_path / "working") / "own_helper.py"
    helper.write_text("SHARE = 100")
    with settings.context(trust_code=True):
        before = resolve_tasks([str(place / "cfg.py")])[0].definition
        helper.write_text("SHARE = 10")
        after = resolve_tasks([str(place / "cfg.py")])[0].definition
    assert before.metrics != after.metrics


def test_a_module_that_is_edited_is_run_anew_in_the_same_process(write, tmp_path):
    place = write({**OWN["beside"], "own_helper.py": "SHARE = 100"})
    with settings.context(trust_code=True):
        assert scored(place / "cfg.py", tmp_path)[0] == 50.0
        (place / "own_helper.py").write_text("SHARE = 1000")
        (place / "cfg.py").rename(place / "again.py")
        assert scored(place / "again.py", tmp_path)[0] == 500.0


def test_two_folders_may_have_modules_of_one_name(write, tmp_path):
    for folder, share in (("a", 100), ("b", 10)):
        write({**OWN["beside"], "own_helper.py": f"SHARE = {share}"}, folder)
    (tmp_path / "a" / "cfg.py").rename(tmp_path / "a" / "one.py")
    with settings.context(trust_code=True):
        assert scored(tmp_path / "a" / "one.py", tmp_path)[0] == 50.0
        assert scored(tmp_path / "b" / "cfg.py", tmp_path)[0] == 5.0


def test_modules_of_the_working_folder_are_found_as_python_finds_them(write, tmp_path):
    write({"own_bench.py": MODULE.format(helper="own_helper"), "own_helper.py": "SHARE = 100"})
    place = write({"cfg.py": CONFIG.format(module="own_bench")}, "configs")
    with settings.context(trust_code=True):
        assert scored(place / "cfg.py", tmp_path)[0] == 50.0


def test_without_trust_nothing_runs_and_the_flag_is_named(write, tmp_path):
    place = write({**OWN["beside"], "own_bench.py": "raise SystemExit('it ran')"})
    (exam,) = resolve_tasks([str(place / "cfg.py")])
    with pytest.raises(TrustError, match="'OwnDataset' is Python code: 'own_bench.OwnDataset'(.|\n)*--trust-code"):
        list(exam.questions())


@pytest.mark.parametrize(
    "module, why",
    [
        ("raise ImportError", "fails when it is imported: ImportError"),
        ("raise SystemExit('no')", "fails when it is imported: SystemExit: no"),
        ("import own_nothing", "No module named 'own_nothing'"),
        ("x = 1", "own_bench has no 'OwnDataset'"),
        ("from opencompass.datasets import Nonsense", "Proctor has no 'Nonsense' of 'opencompass.datasets'"),
    ],
)
def test_with_trust_the_reason_is_the_true_one(module, why, write, tmp_path):
    place = write({**OWN["beside"], "own_bench.py": module})
    with settings.context(trust_code=True), pytest.raises(ProctorError) as caught:
        list(resolve_tasks([str(place / "cfg.py")])[0].questions())
    text = str(caught.value)
    assert why in text
    assert "--trust-code" not in text
    assert module == "x = 1" or "own_bench" not in sys.modules


def test_a_folder_beside_does_not_hide_an_installed_package(write, tmp_path):
    place = write(
        {
            "json_lines_of_mine/x.py": "",
            "datasets/readme.txt": "",
            "own_a.py": "import datasets\nhub = datasets.Dataset",
        }
    )
    assert object_named("own_a.hub", place).__module__.startswith("datasets")


def test_a_module_beside_hides_an_installed_one_as_beside_a_script(write, tmp_path):
    place = write({"tabulate.py": "own = 1", "own_b.py": "from tabulate import own"})
    assert object_named("own_b.own", place) == 1
    import tabulate

    assert not hasattr(tabulate, "own")
