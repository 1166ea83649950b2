import pytest
from tests_commands import proctor

TASK = """
task: my_benchmark
dataset_path: my_org/dataset
output_type: multiple_choice
template: mmlu
doc_to_text: "{{question}}"
doc_to_choice: "{{choices}}"
doc_to_target: "{{answer}}"
"""


@pytest.fixture
def task_file(tmp_path):
    path = tmp_path / "my_benchmark.yaml"
    path.write_text(TASK)
    return path


def convert(*arguments):
    return proctor("convert", *arguments)


def test_a_task_with_another_template(task_file):
    done = convert(task_file, "--template", "cloze")
    assert done.returncode == 0, done.stderr
    assert "cloze" in done.stdout


def test_a_task_for_lm_eval_is_written_to_a_file(task_file, tmp_path):
    target = tmp_path / "out.yaml"
    done = convert(task_file, "--to", "lm-eval", "-o", target)
    assert done.returncode == 0, done.stderr
    assert "template:" not in target.read_text()
    assert "Question: " in target.read_text()


def test_mistakes_are_named(task_file):
    done = convert(task_file, "--to", "unitx")
    assert done.returncode == 2
    assert "did you mean 'unitxt'" in done.stderr


def test_an_unknown_form_names_them_all(invoke):
    code, _, err = invoke("convert", "samples.science", "--to", "opencompas")
    assert code == 2
    assert "there are unitxt, eval.yaml, lm-eval, proctor, card, opencompass" in err
    assert "did you mean 'opencompass'?" in err


def test_any_exam_for_another_system(tmp_path, invoke):
    for form, file in (("unitxt", "s.json"), ("opencompass", "s.py"), ("lm-eval", "s.yaml")):
        code, _, err = invoke("convert", "samples.science", "--to", form, "-o", str(tmp_path / file))
        assert code == 0, err
        assert (tmp_path / f"samples_science.{form}.jsonl").is_file()
    assert "for Proctor only: metrics.accuracy" in err


def test_a_card_is_made_of_a_task_only(invoke):
    code, _, err = invoke("convert", "samples.science", "--to", "card")
    assert code == 2
    assert "'samples.science' is not a YAML task" in err
