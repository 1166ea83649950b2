"""What the levels of a sweep do to the questions of an exam."""

import csv

import pytest

from proctor.dialects.resolve import resolve_tasks
from proctor.dialects.sweep_levels import format_levels, system_levels, template_levels
from proctor.errors import UsageError
from proctor.recipes.options import ExamOptions

ROWS = [{"question": f"{n} + {n}?", "answer": f"{2 * n}"} for n in range(1, 5)]


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "sums.csv"
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, ["question", "answer"])
        writer.writeheader()
        writer.writerows(ROWS)
    return str(path)


def prompt_of(table, **options):
    (exam,) = resolve_tasks([table], ExamOptions(limit=1, **options))
    return next(iter(exam.questions())).requests[0].prompt


@pytest.mark.parametrize(
    "name, roles",
    [
        ("text", None),
        ("chat", ["user", "assistant", "user", "assistant", "user"]),
        ("chat-turns", ["user", "assistant", "user", "assistant", "user"]),
        ("chat-one-turn", ["user"]),
    ],
)
def test_a_format_says_how_demos_stand_in_a_chat(table, name, roles):
    (exam,) = resolve_tasks([table])
    (level,) = format_levels(exam, table, [name])
    prompt = prompt_of(table, num_demos=2, **level.changes)
    assert (level.name, prompt.is_chat) == (name, roles is not None)
    assert roles is None or [each["role"] for each in prompt.messages] == roles
    assert sum(str(prompt.text).count(row["question"]) for row in ROWS) == 3


def test_system_prompts_are_words_a_file_of_them_or_none(table, tmp_path):
    (tmp_path / "two.txt").write_text("Be brief.\n---\nBe kind.\n")
    levels = list(system_levels(["none", "Say it, please.", str(tmp_path / "two.txt")]))
    assert [each.changes for each in levels] == [
        {},
        {"system_prompt": "Say it, please."},
        {"system_prompt": "Be brief."},
        {"system_prompt": "Be kind."},
    ]
    assert prompt_of(table, apply_chat_template=True, **levels[1].changes).messages[0]["content"] == "Say it, please."
    with pytest.raises(UsageError, match="commas are part of a system prompt"):
        list(system_levels(["none,Be brief."]))


@pytest.mark.parametrize(
    "text, told",
    [("- a\n", "not a mapping of keys"), ("a: [", "cannot be read"), ("doc_to_text: '{{q}}'\n", None)],
)
def test_a_file_of_keys_is_a_template_of_a_task(tmp_path, text, told):
    (tmp_path / "rows.jsonl").write_text('{"q": "Who?", "a": "me"}\n')
    (tmp_path / "task.yaml").write_text(
        f"task: t\ndataset_path: json\ndataset_kwargs: {{data_files: {{test: {tmp_path / 'rows.jsonl'}}}}}\n"
        "test_split: test\noutput_type: generate_until\ndoc_to_text: 'Q {{q}}'\ndoc_to_target: a\n"
    )
    (tmp_path / "own.yaml").write_text(text)
    (exam,) = resolve_tasks([str(tmp_path / "task.yaml")])
    levels = template_levels(exam, str(tmp_path / "task.yaml"), [str(tmp_path / "own.yaml")])
    if told is None:
        assert [(each.name, each.changes) for each in levels] == [("own", {"keys": {"doc_to_text": "{{q}}"}})]
        return
    with pytest.raises(UsageError, match=told):
        list(levels)
