"""Templates in the ``TaskConfig`` of an installed lm-eval: of a small likeness here, and of lm-eval itself where it is."""

import subprocess
import sys
from importlib.util import find_spec

import pytest

LIKENESS = {
    "__init__.py": "",
    "api/__init__.py": "",
    "config/__init__.py": "from .task import TaskConfig",
    "api/task.py": "from lm_eval.config.task import TaskConfig",
    "config/task.py": """
from dataclasses import asdict, dataclass


@dataclass
class TaskConfig(dict):
    task: str | None = None
    doc_to_text: object = None
    doc_to_target: object = None
    doc_to_choice: object = None
    output_type: str = "generate_until"
    metric_list: list | None = None
    filter_list: list | None = None
    generation_kwargs: dict | None = None
    fewshot_delimiter: str = "\\n\\n"
    fewshot_config: object = None

    def __post_init__(self):
        self.seen = self.output_type

    def to_dict(self):
        return asdict(self)
""",
}

DOC = """
doc = {"question": "Test?", "choices": ["x", "y", "z"], "answer": 1}
FIELDS = dict(doc_to_text="{{question}}", doc_to_choice="{{choices}}", doc_to_target="{{answer}}")
"""

PROGRAM = f"""{DOC}
from lm_eval.api.task import TaskConfig
from lm_eval.api.template import TemplateFactory
import lm_eval.config

assert TaskConfig.__module__ == "lm_eval.config.task"
assert lm_eval.config.TaskConfig is TaskConfig
config = TaskConfig(task="t", **FIELDS, template={{"template_type": "mcq::mmlu"}})
assert config.doc_to_text(doc) == "Test?\\nA. x\\nB. y\\nC. z\\nAnswer:"
assert config.doc_to_choice(doc) == ["A", "B", "C"]
assert config.doc_to_target(doc) == 1
assert config.output_type == "multiple_choice"
assert config.originals["doc_to_text"] == "{{{{question}}}}"
assert config.template_config.choice_labels[0] == "A"
assert config.to_dict()["template"] == {{"template_type": "mcq::mmlu"}}

cloze = TaskConfig(task="t", **FIELDS, template=TemplateFactory.create_mmlu_style().to_cloze().to_dict())
assert cloze.doc_to_choice(doc) == ["x", "y", "z"]

demos = TaskConfig(task="t", **FIELDS, template="mmlu", fewshot_config={{"doc_to_text": "Demo {{{{question}}}}"}})
shown = demos.fewshot_config
shown = shown["doc_to_text"] if isinstance(shown, dict) else shown.doc_to_text
assert shown(doc) == "Question: Demo Test?\\nA. x\\nB. y\\nC. z\\nAnswer:"

bare = TaskConfig(task="t", doc_to_text="{{{{question}}}}")
assert (bare.template, bare.doc_to_text) == (None, "{{{{question}}}}")
print("fine")
"""

RESTORED = """
from proctor import compat

if BEFORE:
    import lm_eval.api.task
compat.install()
import lm_eval.api.task
import lm_eval.config.task

assert lm_eval.api.task.TaskConfig(doc_to_text="q", template="mmlu").doc_to_text({"q": "Q"}) == "Question: Q\\nAnswer:"
compat.uninstall()
assert lm_eval.api.task.TaskConfig is lm_eval.config.task.TaskConfig
assert not hasattr(lm_eval.api.task.TaskConfig, "template")
print("fine")
"""

WHOLE_TASK = f"""{DOC}
import json
from pathlib import Path
from lm_eval.api.task import ConfigurableTask

file = Path("rows.jsonl")
file.write_text("\\n".join(json.dumps({{**doc, "question": f"Q{{n}}"}}) for n in range(3)))
source = dict(dataset_path="json", dataset_kwargs={{"data_files": {{"test": str(file.resolve())}}}}, test_split="test")
task = ConfigurableTask(
    config=dict(task="t", **source, **FIELDS, output_type="multiple_choice", template="mmlu", metadata={{"version": 1}})
)
task.build_all_requests(limit=1)
assert [each.arguments for each in task.instances] == [
    ("Question: Q0\\nA. x\\nB. y\\nC. z\\nAnswer:", f" {{label}}") for label in "ABC"
]
print("fine")
"""


def run(tmp_path, program, *options):
    path = tmp_path / "program.py"
    path.write_text(program)
    return subprocess.run(
        [sys.executable, *options, str(path)], capture_output=True, text=True, check=False, cwd=tmp_path
    )


@pytest.fixture
def likeness(tmp_path, monkeypatch):
    for name, text in LIKENESS.items():
        path = tmp_path / "installed" / "lm_eval" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "installed"), prepend=":")
    return tmp_path


def test_an_installed_config_takes_templates(likeness):
    result = run(likeness, PROGRAM, "-m", "proctor.compat")
    assert result.stdout == "fine\n", result.stderr


@pytest.mark.parametrize("before", [True, False], ids=["imported before", "imported after"])
def test_what_is_installed_is_left_as_it_was(likeness, before):
    result = run(likeness, f"BEFORE = {before}\n{RESTORED}")
    assert result.stdout == "fine\n", result.stderr


@pytest.mark.skipif(find_spec("lm_eval") is None, reason="lm_eval is not installed")
@pytest.mark.parametrize("program", [PROGRAM, WHOLE_TASK], ids=["config", "task"])
def test_with_lm_eval_itself(tmp_path, program):
    result = run(tmp_path, program, "-m", "proctor.compat")
    assert result.stdout.endswith("fine\n"), result.stderr
