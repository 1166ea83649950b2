import json
import subprocess
import sys

import pytest


@pytest.fixture
def catalog(tmp_path, monkeypatch):
    def save(name, **data):
        path = tmp_path / "catalog" / f"{name.replace('.', '/')}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(data))

    save("cards.rain", __type__="task_card", __description__="Will it\n  rain?", __tags__={"region": "Kent"})
    save("cards.snow", __type__="task_card")
    save("templates.weather.open", __type__="input_output_template", __description__="Asks about rain openly.")
    save("recipes.rain", __type__="dataset_recipe", card="cards.rain", template="templates.weather.open")
    save("cards.old", __type__="artifact_link", to="cards.snow")
    (tmp_path / "catalog" / "cards" / "broken.json").write_text("{")
    monkeypatch.setenv("PROCTOR_CATALOGS", str(tmp_path / "catalog"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path


def listed(out):
    return [line.split()[0] for line in out.splitlines()]


def test_exams_come_first_then_names(invoke, catalog):
    code, out, err = invoke("ls")
    assert (code, err) == (0, "")
    names = listed(out)
    mine = ["recipes.rain", "cards.broken", "cards.old", "cards.rain", "cards.snow", "templates.weather.open"]
    assert [name for name in names if name in mine] == mine


@pytest.mark.parametrize(
    "pattern, names",
    [
        ("cards.r*", ["cards.rain"]),
        ("CARDS.R*", ["cards.rain"]),
        ("rain openly", ["templates.weather.open"]),
        ("weather", ["templates.weather.open", "recipes.rain"]),
        ("means cards.snow", ["cards.old"]),
    ],
)
def test_patterns(invoke, catalog, pattern, names):
    _, out, _ = invoke("ls", pattern)
    assert set(names) <= set(listed(out))
    assert "cards.snow" not in listed(out)


def test_kind_description_and_tags(invoke, catalog):
    _, out, _ = invoke("ls", "cards.ra?n", "--json")
    assert json.loads(out) == {
        "name": "cards.rain",
        "kind": "card",
        "description": "Will it rain?",
        "source": str(catalog / "catalog"),
        "tags": {"region": "Kent"},
    }


def test_only_one_kind(invoke, catalog):
    _, out, _ = invoke("ls", "--kind", "template", "*weather*")
    assert listed(out) == ["templates.weather.open"]


def test_an_unknown_kind_gets_the_closest_one(invoke, catalog):
    code, _, err = invoke("ls", "--kind", "crad")
    assert code == 2
    assert "did you mean 'card'?" in err


def test_nothing_found_gets_the_closest_name(invoke, catalog):
    code, out, err = invoke("ls", "cards.sno")
    assert code == 0
    code, out, err = invoke("ls", "cards.snwo")
    assert (code, out) == (2, "")
    assert "did you mean 'cards.snow'" in err


def test_a_broken_file_is_listed_with_its_reason(invoke, catalog):
    _, out, _ = invoke("ls", "cards.broken")
    assert "broken" in out
    assert "cannot be read" in out


def test_narrow_terminals_get_shortened_descriptions(invoke, catalog, monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "48")
    monkeypatch.setenv("NO_COLOR", "1")
    _, out, _ = invoke("ls", "templates.weather*")
    assert all(len(line) <= 48 for line in out.splitlines())
    assert "…" in out


def test_members_of_groups_are_listed_as_what_they_are(invoke, tmp_path):
    (tmp_path / "suite.yaml").write_text(
        "group: suite\noutput_type: multiple_choice\nchildren:\n  own: {dataset_path: d}\n  other: {ref: lone}\n"
        "  tagged: {tag: some}\n"
    )
    (tmp_path / "lone.yaml").write_text("task: lone\ntag: some\noutput_type: loglikelihood\n")
    code, out, _ = invoke("ls", "suite*", "--include-path", str(tmp_path))
    assert code == 0
    assert [line.split(None, 2) for line in out.splitlines()] == [
        ["suite::other", "exam", "lm-eval: means lone"],
        ["suite::own", "exam", "lm-eval: multiple choice"],
        ["suite", "group", "lm-eval: 3 tasks"],
        ["suite::tagged", "group", "lm-eval: 1 task"],
    ]


def test_listing_loads_nothing_that_builds():
    heavy = "import proctor.dialects.listing, sys; print({'pydantic', 'yaml', 'jinja2'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", heavy], capture_output=True, text=True, check=True).stdout == "set()\n"


def test_a_source_that_nothing_comes_from_is_named(invoke):
    code, _, err = invoke("ls", "--from", "built-inn")
    assert code == 2
    assert "nothing comes from a source with the word 'built-inn'" in err
    assert "did you mean 'built-in'?" in err
    assert "no template matches 'zzzz'" in invoke("ls", "zzzz", "--kind", "template")[2]


def test_folders_may_stand_in_one_word_with_colons_between(tmp_path, invoke):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "task.yaml").write_text(f"task: in_{name}\ndataset_path: json\n")
    both = f"{tmp_path / 'one'}:{tmp_path / 'two'}"
    for command in (("ls", "in_*"), ("ls", "tasks", "in_*")):
        code, out, _ = invoke(*command, "--include_path", both)
        assert code == 0
        assert "in_one" in out
        assert "in_two" in out
    code, _, err = invoke("ls", "--include-path", f"{both}:{tmp_path / 'three'}")
    assert code == 2
    assert f"{tmp_path / 'three'}' does not exist" in " ".join(err.split())


def test_a_source_is_named_by_its_package_however_it_is_written():
    from proctor.dialects.dialect import Entry
    from proctor.dialects.listing import is_from

    entry = Entry("arc_easy", "exam", "", "/packages/lm_eval/0.4.13/lm_eval/tasks/arc/arc_easy.yaml")
    assert [is_from(entry, word) for word in ("lm-eval", "LM_eval", "tasks/arc", "opencompass")] == [True] * 3 + [False]
