"""What an address of the viewer may name: exams and recipes, and no files that lie about."""

import pytest

from proctor.errors import UsageError
from proctor.web.asked import check_exam


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("own.yaml", "rows.csv", "own.py"):
        (tmp_path / name).write_text("x: 1\n")
    (tmp_path / "folder").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    "text",
    [
        "samples.science",
        "samples.sentiment[num_demos=2]",
        "card=samples.cards.sentiment,template=samples.templates.sentiment,num_demos=1",
        "arc_easy",
        "nobody_knows_this",
        "group::member@cloze",
    ],
)
def test_names_and_recipes_are_asked(here, text):
    check_exam(text)


@pytest.mark.parametrize(
    "text",
    [
        "own.yaml",
        "./own.yaml",
        "rows.csv",
        "own.py",
        "folder",
        "/etc/passwd",
        "../own.yaml",
        "~/own.yaml",
        "own.yaml::a",
        "no_such_thing[num_demos=2]",
        'card={"__type__": "task_card"}',
        "samples.sentiment[__type__=task_card]",
        "a[",
        "",
    ],
)
def test_files_and_what_is_built_of_data_are_not(here, text):
    with pytest.raises(UsageError):
        check_exam(text)
