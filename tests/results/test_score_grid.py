import json

from proctor.results.score_grid import group_label, groups_of, label_of_instance, score_grids


def recipe(template, demos, **more):
    return {"recipe": {"card": "cards.wnli", "template": template, "num_demos": demos, **more}, "split": "test"}


def entry(score, n=10, name="accuracy", **more):
    return {
        "score": score,
        "score_name": name,
        "score_ci_low": score - 0.1,
        "score_ci_high": score + 0.1,
        "n": n,
        **more,
    }


def test_exams_that_differ_in_template_and_demos_alone_form_a_grid():
    results = {"a": entry(0.5), "b": entry(0.25), "c": entry(0.75), "other": entry(0.1)}
    specifications = {
        "a": recipe("t.one", 0),
        "b": recipe("t.one", 3, demos_pool_size=10),
        "c": recipe("t.two", 3, demos_pool_size=20),
        "other": recipe("t.one", 0, format="formats.llama"),
    }
    (grid,) = score_grids(results, specifications)
    assert (grid.title, grid.metric, grid.templates, grid.demos) == (
        "cards.wnli",
        "accuracy",
        ["t.one", "t.two"],
        [0, 3],
    )
    assert {key: cell.value for key, cell in grid.cells.items()} == {
        ("t.one", 0): 0.5,
        ("t.one", 3): 0.25,
        ("t.two", 3): 0.75,
    }
    assert grid.range() == (0.25, 0.75)


def test_groups_of_one_exam_form_a_grid():
    groups = [
        entry(0.5, 4, by={"template": "t.one", "num_demos": 0}),
        entry(1.0, 6, by={"template": "t.two", "num_demos": 2}),
        entry(0.9, 5, by={"label": "yes"}),
    ]
    (grid,) = score_grids({"a": entry(0.8, groups=groups)}, {"a": recipe(["t.one", "t.two"], [0, 2])})
    assert {key: (cell.value, cell.n, cell.group) for key, cell in grid.cells.items()} == {
        ("t.one", 0): (0.5, 4, "num_demos=0, template=t.one"),
        ("t.two", 2): (1.0, 6, "num_demos=2, template=t.two"),
    }


def test_a_grouping_by_template_alone_has_the_demos_of_its_recipe():
    groups = [entry(0.5, by={"template": "t.one"}), entry(0.6, by={"template": "t.two"})]
    (grid,) = score_grids({"a": entry(0.55, groups=groups)}, {"a": recipe(["t.one", "t.two"], 2)})
    assert set(grid.cells) == {("t.one", 2), ("t.two", 2)}


def test_tasks_of_other_dialects_form_a_grid_where_they_share_their_data():
    def task(name, shots, **options):
        return {"task": {"task": name, "dataset_path": "arc"}, "options": {"num_fewshot": shots, **options}}

    results = {"arc@mcq": entry(0.5), "arc@cloze": entry(0.7), "else": entry(0.1), "text": entry(0.3, name="exact")}
    specifications = {
        "arc@mcq": task("arc", 0, template="mcq"),
        "arc@cloze": task("arc", 0, template="cloze"),
        "text": task("arc", 0, template="generate"),
        "else": {"dialect": "unknown"},
    }
    (grid,) = score_grids(results, specifications)
    assert (grid.title, grid.templates) == ("arc", ["cloze", "mcq"])


def test_one_cell_is_no_grid():
    assert score_grids({"a": entry(0.5)}, {"a": recipe("t.one", 0)}) == []


def test_labels_sort_their_fields_and_show_what_is_no_text_as_json():
    assert group_label({"z": 1, "a": ["x"]}) == f"a={json.dumps(['x'])}, z=1"


def test_a_recipe_is_named_by_its_card_and_its_template():
    def named(**fields):
        specifications = {
            name: {"recipe": {"card": "cards.wnli", "num_demos": demos, **fields}}
            for name, demos in (("a", 0), ("b", 2))
        }
        (grid,) = score_grids({"a": entry(0.5), "b": entry(0.6)}, specifications)
        return grid.title, grid.templates

    assert named() == ("cards.wnli", ["the card's own"])
    assert named(template_card_index=3) == ("cards.wnli", ["the card's 3"])
    assert named(template="t.one") == ("cards.wnli", ["t.one"])
    assert named(template={"__type__": "ü"}) == ("cards.wnli", ['{"__type__": "ü"}'])
    assert named(card={"__type__": "task_card"})[0] == "a"
    assert named(card=None, task="tasks.qa")[0] == "tasks.qa"


def test_tasks_without_shots_are_asked_without_demos():
    def task(**options):
        return {"task": {"task": "arc", "dataset_path": "arc", "dataset_name": "easy"}, "options": options}

    specifications = {"a": task(template="mcq"), "b": task(num_fewshot=2), "c": task(num_fewshot="many")}
    (grid,) = score_grids({name: entry(0.5) for name in specifications}, specifications)
    assert (grid.title, set(grid.cells)) == ("arc/easy", {("mcq", 0), ("arc", 2)})


def test_labels_are_of_the_metadata_before_the_fields():
    fields = {"topic": "sums", "level": 1, "metadata": {"topic": "words"}}
    assert label_of_instance(fields, ["topic", "level", "nowhere"]) == "level=1, nowhere=null, topic=words"
    assert label_of_instance({"topic": "ä", "metadata": None}, ["topic"]) == "topic=ä"
    assert group_label({"a": ["ä"]}) == 'a=["ä"]'


def test_groups_are_those_that_say_by_what():
    good = {"by": {"topic": "sums"}, "score": 1.0}
    assert groups_of({"groups": [good, {"by": {}}, {"score": 1.0}, 3, {"by": "topic"}]}) == [good]
    assert groups_of({"groups": {"by": {"a": 1}}}) == groups_of({}) == []
