"""Several prompts of one table, several models beside them, and what is said of them at the end."""

import json

import pytest
import yaml
from tests_commands import proctor

from proctor.dialects.resolve import resolve_tasks
from proctor.errors import ProctorError
from proctor.recipes.options import ExamOptions

CITIES = "country,city\n" + "".join(f"land{number},town{number}\n" for number in range(12))


@pytest.fixture
def cities(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cities.csv").write_text(CITIES)
    return "cities.csv"


def asked(exam):
    return next(iter(exam.questions())).requests[0].prompt.text


def test_each_prompt_is_an_exam(cities):
    exams = resolve_tasks([cities], ExamOptions(prompt=("A {country}", "B {country}"), answer_column="city"))
    assert [(exam.name, asked(exam)) for exam in exams] == [("cities-1", "A land0"), ("cities-2", "B land0")]


def test_one_prompt_leaves_the_tables_name_alone(cities):
    for prompt in ("A {country}", ("A {country}",), ["A {country}"]):  # run files of before hold a text
        (exam,) = resolve_tasks([cities], ExamOptions(prompt=prompt, answer_column="city"))
        assert exam.name == "cities"


def test_files_hold_prompts_with_lines_between_them_and_columns_in_either_braces(cities, tmp_path):
    (tmp_path / "a.txt").write_text("Capital of {{ country }}?\n")
    (tmp_path / "b.txt").write_text("X {country}\r\n---\r\n{{other}} {country}\n")
    exams = resolve_tasks([cities], ExamOptions(prompts=("a.txt", "b.txt"), answer_column="city", name="towns"))
    assert [(exam.name, asked(exam)) for exam in exams] == [
        ("towns-a", "Capital of land0?"),
        ("towns-b-1", "X land0"),
        ("towns-b-2", "{other} land0"),
    ]


def test_files_of_one_name_are_told_apart(cities, tmp_path):
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "p.txt").write_text(f"{folder} {{country}}")
    exams = resolve_tasks([cities], ExamOptions(prompts=("one/p.txt", "two/p.txt"), answer_column="city"))
    assert [exam.name for exam in exams] == ["cities-p", "cities-p-2"]


@pytest.mark.parametrize(
    "content, said", [(None, "no file of prompts p.txt"), ("\n---\n", "has no prompt"), ("no column", "asks the same")]
)
def test_files_without_a_prompt_are_refused(cities, tmp_path, content, said):
    if content is not None:
        (tmp_path / "p.txt").write_text(content)
    with pytest.raises(ProctorError, match=said):
        resolve_tasks([cities], ExamOptions(prompts=("p.txt",), answer_column="city"))


def test_brackets_say_how_their_own_table_is_asked(cities):
    named = f"{cities}[prompt=B {{country}},name=own]"
    (exam,) = resolve_tasks([named], ExamOptions(prompt=("A {country}", "C {country}"), answer_column="city"))
    assert (exam.name, asked(exam)) == ("own", "B land0")


MODELS = """
right: {engine: replay, path: right.jsonl}
wrong: {engine: dummy}
"""


@pytest.fixture
def matrix(cities, tmp_path):
    answers = [f"town{number}" for number in range(12)]
    (tmp_path / "right.jsonl").write_text("".join(json.dumps(each) + "\n" for each in answers * 2))
    (tmp_path / "models.yaml").write_text(MODELS)
    (tmp_path / "p.txt").write_text("A {country}\n---\nB {country}")
    return ("run", cities, "--prompts", "p.txt", "--answer-column", "city")


def test_prompts_and_models_make_a_matrix_with_what_is_decided(matrix, tmp_path):
    done = proctor(*matrix, "--models", "models.yaml", "-o", "both")
    assert done.returncode == 0, done.stderr
    assert "wrong beside right on cities-p-1: wrong is worse" in done.stdout
    assert "right: cities-p-2 beside cities-p-1: not decided" in done.stdout
    for model in ("right", "wrong"):
        assert json.loads((tmp_path / "both" / model / "results.json").read_text())["results"].keys() == {
            "cities-p-1",
            "cities-p-2",
        }
    hint = next(line for line in done.stdout.splitlines() if "more of it" in line).partition("proctor ")[2]
    assert proctor(*hint.split()).returncode == 0


def test_a_cell_of_the_matrix_is_an_ordinary_run(matrix, tmp_path):
    proctor(*matrix, "--models", "models.yaml", "-o", "both")
    done = proctor("run", "both/wrong/run.yaml")
    assert done.returncode == 0, done.stderr
    assert "24 from the log" in done.stderr


def test_some_models_of_a_list(matrix, tmp_path):
    done = proctor(*matrix, "--models", "models.yaml::wr*", "-o", "some")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "some" / "run.yaml").exists()


@pytest.mark.parametrize(
    "models, content, said",
    [
        (["models.yaml", "models.yaml::right"], MODELS, "two models are called 'right'"),
        (["models.yaml::x*"], MODELS, "has no model 'x*'"),
        (["none.yaml"], MODELS, "there is no list of models none.yaml"),
        (["models.yaml"], "- a\n", "a list of models is a mapping"),
        (["models.yaml"], "a: {model: x}\n", "names no engine"),
        (["models.yaml"], "a: [\n", "this is not YAML"),
        (["models.yaml"], "a: nowhere\n", "there is no engine 'nowhere'"),
    ],
)
def test_lists_that_cannot_be_meant_are_refused_before_anybody_is_asked(matrix, tmp_path, models, content, said):
    (tmp_path / "models.yaml").write_text(content)
    done = proctor(*matrix, "--models", *models, "-o", "out")
    assert done.returncode != 0
    assert said in done.stderr
    assert not (tmp_path / "out").exists()


CHAT = [{"role": "system", "content": "You know {{country}}."}, {"role": "user", "content": "Capital of {country}?"}]


@pytest.mark.parametrize("write", [json.dumps, yaml.safe_dump])
def test_a_file_of_messages_is_asked_as_a_chat(tmp_path, write):
    (tmp_path / "q.csv").write_text("country,answer\nPeru,Lima\n")
    (tmp_path / "chat.txt").write_text(write(CHAT, indent=2))
    (exam,) = resolve_tasks([str(tmp_path / "q.csv")], ExamOptions(prompts=(str(tmp_path / "chat.txt"),)))
    (question,) = exam.questions()
    asked = ({"role": "system", "content": "You know Peru."}, {"role": "user", "content": "Capital of Peru?"})
    assert question.requests[0].prompt.messages == asked
    with pytest.raises(ProctorError, match="a prompt of messages shows none"):
        resolve_tasks([str(tmp_path / "q.csv")], ExamOptions(prompts=(str(tmp_path / "chat.txt"),), num_demos=1))


@pytest.mark.parametrize(
    "columns, cells, chat, why",
    [
        ("country,A,B,answer", "Peru,Lima,Oslo,A", CHAT, "the table has choices"),
        ("country,image,answer", "Peru,https://a.b/c.png,Lima", CHAT, "the table has pictures"),
        ("country,answer", "Peru,Lima", [{"role": "user", "content": [{"type": "text"}]}], "is not text"),
        ("country,answer", "Peru,Lima", [{"role": "user", "content": "{land}?"}], "'land', and the table has no such"),
    ],
)
def test_messages_that_cannot_be_asked_are_refused(tmp_path, columns, cells, chat, why):
    (tmp_path / "q.csv").write_text(f"{columns}\n{cells}\n")
    (tmp_path / "chat.json").write_text(json.dumps(chat))
    with pytest.raises(ProctorError, match=why):
        resolve_tasks([str(tmp_path / "q.csv")], ExamOptions(prompts=(str(tmp_path / "chat.json"),)))
