"""A dialect is one value: a sixth one in one file works everywhere, and one of the five can be deleted."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from proctor.cli.__main__ import main
from proctor.dialects import registry
from proctor.dialects.dialect import Dialect, loaded
from proctor.dialects.resolve import resolve_task
from proctor.errors import PluginError
from proctor.plugins import Plugin
from proctor.recipes.options import ExamOptions

SIXTH = Path(__file__).parents[2] / "examples" / "plugin" / "src" / "proctor_shouting" / "dialect.py"


@pytest.fixture
def plugged(tmp_path, monkeypatch):
    """Bring a dialect, as a package does under an entry point."""

    def bring(place: str) -> None:
        plugin = Plugin("sixth", place, "a package 1.0", EntryPoint("sixth", place, "proctor.dialects"))
        monkeypatch.setattr(registry, "plugins", lambda _group: {"sixth": plugin})

    (tmp_path / "code").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path / "code"))
    monkeypatch.chdir(tmp_path)
    return bring


@pytest.fixture
def sixth(tmp_path, plugged):
    (tmp_path / "code" / "sixth_dialect.py").write_text(SIXTH.read_text())
    plugged("sixth_dialect:QUIZ")
    (tmp_path / "capitals.quiz").write_text("France = Paris\nItaly = Rome\n")
    (tmp_path / "broken.quiz").write_text("France = Paris\nno answer\n")
    yield
    sys.modules.pop("sixth_dialect", None)


@pytest.fixture
def invoke(capsys):
    def call(*arguments: str) -> tuple[int, str, str]:
        code = main(arguments)
        return code, *capsys.readouterr()

    return call


@pytest.mark.parametrize(
    "name, asked",
    [
        ("rows.csv", {"tables"}),
        ("rows.csv::part", {"tables"}),
        ("rows.jsonl[2:]", {"tables"}),
        ("own.py", {"aisbench"}),
        ("task.yaml", {"lm_eval"}),
        ("task.yaml::part", {"lm_eval"}),
        ("hub.yaml", {"hub_yaml", "lm_eval"}),
        ("hub.yaml::part", {"hub_yaml", "lm_eval"}),
        ("hub", {"hub_yaml", "unitxt", "lm_eval"}),
        ("pf/promptfooconfig.yaml::1", {"promptfoo", "lm_eval"}),
        ("pf", {"promptfoo", "unitxt", "lm_eval"}),
        ("arc_easy", {"unitxt", "lm_eval"}),
        ("card=cards.x", {"unitxt"}),
    ],
)
def test_a_name_is_asked_of_those_who_read_such_files(name, asked, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    evaluation = "tasks:\n- id: a\n  field_spec: {input: q, target: a}\n"
    for file, text in {
        "rows.csv": "a,b\n1,2\n",
        "rows.jsonl": '{"a": 1}\n',
        "own.py": "datasets = []\n",
        "task.yaml": "task: a\n",
        "hub.yaml": evaluation,
        "hub/eval.yaml": evaluation,
        "pf/promptfooconfig.yaml": "prompts: [hi]\nproviders: [dummy]\n",
    }.items():
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text(text)
    found = {each.name for each in registry.dialects() if each.recognises(name)}
    assert found - (set() if name == "own.py" else {"aisbench"}) == asked  # which has exams of any name


def test_a_sixth_dialect_in_one_file_is_run_shown_listed_and_validated(sixth, invoke, tmp_path):
    code, out, _ = invoke("show", "capitals.quiz")
    assert (code, "France" in out) == (0, True)
    code, out, _ = invoke("ls", "quiz", "--include-path", str(tmp_path))
    assert str(tmp_path / "capitals.quiz") in out
    code, _, err = invoke("validate", ".")
    assert (code, "2 files, 1 problem" in err, "there is no '='" in err) == (2, True, True)
    code, _, err = invoke("validate", "capitals.quiz")
    assert (code, "1 file, 0 problems" in err) == (0, True)
    code, out, err = invoke("convert", "capitals.quiz", "--to", "lm-eval")
    assert (code, "the exam scores itself" in err) == (0, True)
    asked = ["--model", "scripted", "--model-args", "answer=Rome", "--output", "out"]
    code, _, err = invoke("run", "capitals.quiz", *asked)
    assert code == 0, err
    results = json.loads((tmp_path / "out" / "results.json").read_text())["results"]["capitals"]
    assert (results["accuracy"], results["n"]) == (0.5, 2)


def test_a_function_is_not_a_dialect(plugged, tmp_path):
    (tmp_path / "code" / "plain_function.py").write_text("def resolve_name(name, options):\n    return None\n")
    plugged("plain_function:resolve_name")
    with pytest.raises(PluginError, match="is not a Dialect") as raised:
        resolve_task("nobody", ExamOptions())
    assert "recognises=" in raised.value.diagnostics[0].hint


def test_every_reference_of_a_dialect_is_a_function():
    for dialect in registry.dialects():
        given = [dialect.resolve, dialect.list, dialect.validate, dialect.words, dialect.knows, dialect.models]
        way = dialect.convert
        for each in filter(None, [*given, way.read, way.write, way.again, way.rewrite]):
            assert callable(loaded(each)), (dialect.name, each)


def test_recognising_imports_no_dialect():
    names = ["samples.science", "mmlu", "rows.csv", "config.py", "task.yaml", "hf/a/b", "card=cards.x,template=t"]
    code = f"""
import sys
from proctor.dialects.registry import dialects
found = [[each.name for each in dialects() if each.recognises(name)] for name in {names!r}]
folders = ("tables", "unitxt", "hub_yaml", "promptfoo", "lm_eval", "aisbench")
print([each for each in sys.modules if any(f"proctor.dialects.{{name}}." in each for name in folders)])
print(found)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded_modules, found = done.stdout.splitlines()
    assert loaded_modules == "[]"
    assert found == str([
        ["unitxt", "lm_eval", "aisbench"],
        ["unitxt", "lm_eval", "aisbench"],
        ["tables", "unitxt", "lm_eval", "aisbench"],
        ["unitxt", "lm_eval", "aisbench"],
        ["unitxt", "lm_eval", "aisbench"],
        ["tables", "unitxt", "hub_yaml", "lm_eval", "aisbench"],
        ["unitxt"],
    ])  # fmt: skip


WITHOUT = """
import sys
from proctor.cli.__main__ import main
from proctor.dialects import registry
gone = {gone!r}
registry.BUILT_IN = tuple(each for each in registry.BUILT_IN if each not in gone)
class Deleted:
    def find_spec(self, name, *_):
        if any(name == f"proctor.dialects.{{each}}" or name.startswith(f"proctor.dialects.{{each}}.") for each in gone):
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Deleted())
from proctor.cli.__main__ import main
sys.exit(max(main(each) for each in {commands!r}))
"""
FILES = {
    "rows.csv": "question,answer\nItaly,Rome\n",
    "task.yaml": "task: capital\ndataset_path: csv\ndataset_kwargs: {data_files: {test: rows.csv}}\ntest_split: test\n"
    "output_type: generate_until\ndoc_to_text: '{{question}}'\ndoc_to_target: '{{answer}}'\n"
    "metric_list: [{metric: exact_match}]\n",
    "hub.yaml": "tasks:\n- field_spec: {input: question, target: answer}\n  solvers: [{name: generate}]\n"
    "  scorers: [{name: match}]\n",
    "config.py": "datasets = [dict(abbr='capital_gen', type='CustomDataset', path='rows.csv',\n"
    "    reader_cfg=dict(input_columns=['question'], output_column='answer'),\n"
    "    infer_cfg=dict(prompt_template=dict(type='PromptTemplate', template='{question}'),\n"
    "    retriever=dict(type='ZeroRetriever'), inferencer=dict(type='GenInferencer')),\n"
    "    eval_cfg=dict(evaluator=dict(type='AccEvaluator')))]\n",
}
EXAMS = {"tables": "rows.csv", "unitxt": "samples.science", "lm_eval": "task.yaml", "aisbench": "config.py"}


@pytest.mark.parametrize(
    "gone", [["hub_yaml"], ["aisbench"], ["unitxt"], ["promptfoo"], ["lm_eval", "tables", "promptfoo"]], ids=",".join
)
def test_one_can_be_deleted_and_the_others_work(gone, tmp_path):
    for name, text in FILES.items():
        if name != "hub.yaml" or "hub_yaml" not in gone:
            (tmp_path / name).write_text(text)
    left = [exam for dialect, exam in EXAMS.items() if dialect not in gone]
    commands = [
        [
            "run",
            "--tasks",
            ",".join(left),
            "--model",
            "scripted",
            "--model-args",
            "answer=Rome",
            "--limit",
            "1",
            "--output",
            "out",
        ],
        ["ls", "--include-path", "."],
        ["validate", "."],
    ]
    code = WITHOUT.format(gone=gone, commands=commands)
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    assert len(json.loads((tmp_path / "out" / "results.json").read_text())["results"]) == len(left)


def test_their_names_are_those_of_their_folders():
    for name in registry.BUILT_IN:
        found = import_module(f"proctor.dialects.{name}").DIALECT
        assert isinstance(found, Dialect)
        assert found.name == name
