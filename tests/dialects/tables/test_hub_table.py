"""Datasets of the hub that bring no exam along: their rows are one."""

import json
from pathlib import Path

import pytest

from proctor.dialects.resolve import resolve_tasks
from proctor.effects import Author, written_by
from proctor.errors import DataError, DatasetNotFoundError, UsageError
from proctor.recipes.options import ExamOptions
from proctor.settings import settings

CARD = """---
configs:
- config_name: easy
  data_files: [{split: train, path: easy/train.jsonl}, {split: test, path: easy/test.jsonl}]
- config_name: hard
  data_files: [{split: validation, path: hard/validation.jsonl}]
---
"""


def rows(*names: str) -> str:
    return "".join(json.dumps({"question": f"{name}?", "answer": name}) + "\n" for name in names)


@pytest.fixture
def hub(tmp_path):
    """A folder of two datasets: one with configurations, one without."""
    pytest.importorskip("datasets")
    for name, text in {
        "a/cards/README.md": CARD,
        "a/cards/easy/train.jsonl": rows("t1", "t2", "t3"),
        "a/cards/easy/test.jsonl": rows("e1", "e2"),
        "a/cards/hard/validation.jsonl": rows("h1"),
        "b/plain/validation.jsonl": rows("v1"),
        "b/plain/train.jsonl": rows("w1", "w2"),
    }.items():
        Path(tmp_path, name).parent.mkdir(parents=True, exist_ok=True)
        Path(tmp_path, name).write_text(text)
    with settings.context(hub_dir=str(tmp_path), offline=True):
        yield tmp_path


def asked(name, **options):
    (exam,) = resolve_tasks([name], ExamOptions(**options))
    return exam.name, [str(each.requests[0].prompt.text) for each in exam.questions()]


@pytest.mark.parametrize(
    "name, wanted",
    [
        ("hf/a/cards/easy", ["e1?", "e2?"]),
        ("hf/a/cards/easy/train", ["t1?", "t2?", "t3?"]),
        ("hf/a/cards/hard", ["h1?"]),
        ("hf/b/plain", ["v1?"]),
        ("hf/b/plain/train", ["w1?", "w2?"]),
    ],
)
def test_a_name_means_a_split_of_a_configuration(hub, name, wanted):
    assert asked(name) == (name, wanted)


def test_the_split_that_nobody_named_is_said(hub, heard):
    asked("hf/a/cards/easy")
    assert "hf/a/cards/easy: the split 'test' is asked" in heard.text
    heard.clear()
    asked("hf/a/cards/easy/test")
    asked("hf/b/plain/train")
    assert "is asked" not in heard.text


def test_a_split_whose_answers_are_secret_is_asked_where_it_is_named_and_not_else(hub, heard):
    (hub / "b/plain/test.jsonl").write_text('{"question": "s1?", "answer": ""}\n' * 2)
    assert asked("hf/b/plain") == ("hf/b/plain", ["v1?"])
    assert "the split 'validation' is asked, since 'test' has no right answers" in heard.text
    with pytest.raises(DataError, match="'answer' is empty"):
        asked("hf/b/plain/test")


def test_of_many_configurations_a_message_says_how_many_it_leaves_out(hub):
    more = "".join(f"- config_name: c{n}\n  data_files: easy/test.jsonl\n" for n in range(20))
    (hub / "a/cards/README.md").write_text(CARD.replace("configs:\n", f"configs:\n{more}"))
    with pytest.raises(DatasetNotFoundError, match="c19 and 2 more"):
        asked("hf/a/cards")


def test_brackets_and_options_say_what_they_say_of_tables(hub):
    assert asked("hf/b/plain[prompt=Say {answer}.]") == ("hf/b/plain", ["Say v1."])
    assert asked("hf/b/plain", prompt=("Say {question}",)) == ("hf/b/plain", ["Say v1?"])


def test_demos_come_from_the_split_for_training(hub):
    _, (prompt, _) = asked("hf/a/cards/easy", num_demos=3)
    assert all(f"t{number}? t{number}" in prompt for number in (1, 2, 3))
    _, prompts = asked("hf/a/cards/easy/train", num_demos=1)
    assert all("e1" not in prompt and "e2" not in prompt for prompt in prompts), "a test is no place to learn from"


@pytest.mark.parametrize(
    "name, why",
    [
        ("hf/a", "names no dataset"),
        ("hf/a/cards/easy/test/more", "names no dataset"),
        ("hf/a//easy", "names no dataset"),
        ("hf/../b", "names no dataset"),
        ("hf/a/../../etc", "names no dataset"),
        ("hf/a/.", "names no dataset"),
        ("hf/a/cards", "needs a configuration"),
        ("hf/a/cards/eazy", "did you mean 'easy'"),
        ("hf/a/cards/easy/tset", "did you mean 'test'"),
        ("hf/a/nothing", "cannot be loaded"),
        ("hf/b/plain@v1", "has one revision"),
    ],
)
def test_what_is_not_there_is_refused_with_what_is(hub, name, why):
    with pytest.raises((UsageError, DatasetNotFoundError), match=why):
        resolve_tasks([name])


def test_a_dataset_that_brings_its_exam_along_is_that_exam(hub):
    (hub / "b" / "plain" / "eval.yaml").write_text("""
name: Plain
evaluation_framework: inspect-ai
tasks:
  - id: write
    split: validation
    field_spec: {input: answer, target: question}
    solvers: [{name: generate}]
    scorers: [{name: includes}]
""")
    (exam,) = resolve_tasks(["hf/b/plain"])
    assert (exam.dialect, exam.name) == ("hub_yaml", "hf/b/plain")


def test_classes_have_names_where_the_card_says_them(hub):
    card = "---\ndataset_info:\n  features:\n  - {name: text, dtype: string}\n  - name: label\n"
    names = "    dtype: {class_label: {names: {'0': bad, '1': good}}}\n---\n"
    (hub / "c" / "films").mkdir(parents=True)
    (hub / "c" / "films" / "README.md").write_text(card + names)
    (hub / "c" / "films" / "test.jsonl").write_text('{"text": "A gem", "label": 1}\n{"text": "A bore", "label": 0}\n')
    (exam,) = resolve_tasks(["hf/c/films"])
    assert [each.exchange.references[0] for each in exam.questions()] == ["good", "bad"]


def test_a_file_that_names_a_dataset_passes_the_gate(hub):
    asked = []
    with pytest.MonkeyPatch.context() as patch, written_by(Author("a file", str(hub))):
        patch.setattr("proctor.data.hub_dataset.require", lambda effects, who: asked.append((who.file, list(effects))))
        resolve_tasks(["hf/b/plain"])
    assert asked
    assert {who for who, _ in asked} == {"a file"}
