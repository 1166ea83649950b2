"""Templates in ``TaskConfig`` of programs for lm-eval, the same whether lm_eval is installed or not."""

import pytest
import tests_warm

DOC = """
doc = {"question": "Test?", "choices": ["x", "y", "z"], "answer": 1}
FIELDS = dict(doc_to_text="{{question}}", doc_to_choice="{{choices}}", doc_to_target="{{answer}}")
"""

PROGRAM = f"""{DOC}
from lm_eval.api.task import TaskConfig
from lm_eval.api.template import TemplateFactory
import lm_eval.config

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
    return tests_warm.python(*options, path, cwd=tmp_path)


@pytest.mark.parametrize("installed", [False, True])
@pytest.mark.parametrize("program", [PROGRAM, WHOLE_TASK], ids=["config", "task"])
def test_configs_take_templates(tmp_path, monkeypatch, program, installed):
    if installed:
        (tmp_path / "installed" / "lm_eval").mkdir(parents=True)
        (tmp_path / "installed" / "lm_eval" / "__init__.py").write_text("raise RuntimeError('never imported')\n")
        monkeypatch.setenv("PYTHONPATH", str(tmp_path / "installed"), prepend=":")
    result = run(tmp_path, program, "-m", "proctor.compat")
    assert result.stdout.endswith("fine\n"), result.stderr
