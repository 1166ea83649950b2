import json
import sys
from types import SimpleNamespace

import pytest

from proctor.artifacts.catalogs import builtin_catalog
from proctor.errors import DemosError, ProctorError, TemplateError, UsageError, ValidationError
from proctor.recipes import Benchmark, DatasetRecipe, create_dataset, load_dataset, load_recipe, produce
from proctor.tasks.card import TaskCard
from proctor.tasks.task import Task
from proctor.templates import InputOutputTemplate, KeyValTemplate, TemplatesDict, TemplatesList

TASK = Task(
    input_fields={"text": "str", "classes": "List[str]"},
    reference_fields={"label": "str"},
    prediction_type="str",
    metrics=["metrics.accuracy"],
)
TEMPLATE = InputOutputTemplate(
    instruction="Choose from {classes}.", input_format="Text: {text}", target_prefix="Label: ", output_format="{label}"
)
CLASSES = ["good", "bad"]


def rows(prefix, count):
    return [{"text": f"{prefix} {number}", "classes": CLASSES, "label": CLASSES[number % 2]} for number in range(count)]


def card(train=20, test=5):
    data = {"train": rows("train", train), "test": rows("test", test)}
    return TaskCard(loader={"__type__": "load_from_dictionary", "data": data}, task=TASK, templates=[TEMPLATE])


def test_rows_have_the_keys_that_programs_know():
    row = next(iter(DatasetRecipe(card=card())()["test"]))
    assert list(row) == [
        "metrics", "data_classification_policy", "media", "postprocessors", "target", "references", "source",
        "task_data", "groups", "subset",
    ]  # fmt: skip
    assert row["source"] == "Choose from good, bad.\nText: test 0\nLabel: "
    assert row["references"] == ["good"]
    assert json.loads(row["task_data"]) == {
        "text": "test 0",
        "classes": CLASSES,
        "metadata": {
            "data_classification_policy": ["proprietary"],
            "num_demos": 0,
            "demos_pool_size": 0,
            "template": TEMPLATE.to_dict(),
        },
        "label": "good",
    }


def test_demos_come_from_the_pool_which_leaves_its_split():
    recipe = DatasetRecipe(card=card(), num_demos=3, demos_pool_size=8)
    streams = recipe()
    assert len(list(streams["train"])) == 12
    sources = [row["source"] for row in streams["test"]]
    assert len(sources) == 5
    for source in sources:
        assert source.count("Label:") == 4
        assert source.count("Text: train") == 3
    assert sources == [row["source"] for row in recipe()["test"]]


def test_the_pool_stays_where_it_is_told_to_and_nobody_is_shown_themselves():
    recipe = DatasetRecipe(card=card(), num_demos=2, demos_pool_size=-1, demos_removed_from_data=False)
    train = list(recipe()["train"])
    assert len(train) == 20
    for number, row in enumerate(train):
        assert row["source"].count(f"Text: train {number}\n") == 1
    assert "train" not in DatasetRecipe(card=card(), num_demos=2, demos_pool_size=-1)()


def test_several_templates_and_numbers_of_demos():
    recipe = DatasetRecipe(
        card=card(test=60),
        template=[TEMPLATE, KeyValTemplate()],
        num_demos=[0, 1, 2],
        demos_pool_size=10,
        group_by=["num_demos", ["num_demos", "label"]],
    )
    groups = [json.loads(row["groups"][0])["num_demos"] for row in recipe()["test"]]
    assert set(groups) == {0, 1, 2}
    sources = [row["source"] for row in recipe()["test"]]
    assert any(source.startswith("Choose") for source in sources)
    assert any(source.startswith("text:") for source in sources)


def test_limits_apply_after_the_demos_are_out():
    recipe = DatasetRecipe(card=card(), num_demos=1, demos_pool_size=5, max_train_instances=4, max_test_instances=2)
    streams = recipe()
    assert (len(list(streams["train"])), len(list(streams["test"]))) == (4, 2)


def test_a_refiner_works_on_its_own_split():
    last = {"__type__": "filter_by_condition", "values": {"input_fields/text": ["test 3", "test 4"]}, "condition": "in"}
    streams = DatasetRecipe(card=card(), test_refiner=last, max_test_instances=1)()
    assert [row["source"].splitlines()[1] for row in streams["test"]] == ["Text: test 3"]
    assert len(list(streams["train"])) == 20


def test_datasets_are_hugging_face_datasets():
    dataset = load_dataset(card=card(), split="test", format="formats.chat_api")
    assert dataset[0]["source"] == [
        {"role": "system", "content": "Choose from good, bad."},
        {"role": "user", "content": "Text: test 0"},
    ]
    both = load_dataset(card=card())
    assert both.keys() == {"train", "test"}
    assert both["test"]["references"][1] == ["bad"]
    streamed = load_dataset(card=card(), split="test", streaming=True)
    assert next(iter(streamed))["source"].endswith("Text: test 0\nLabel: ")


def test_custom_rows_for_a_task():
    dataset = create_dataset(task=TASK, test_set=rows("x", 3), template=TEMPLATE, split="test")
    assert len(dataset) == 3
    with pytest.raises(TemplateError, match="no default template"):
        create_dataset(task=TASK, test_set=rows("x", 3))


def test_prompts_of_instances_that_a_program_brings():
    recipe = DatasetRecipe(card=card(), num_demos=2, demos_pool_size=5)
    row = produce({"text": "new", "classes": CLASSES}, recipe)
    assert row["source"].endswith("Text: new\nLabel: ")
    assert row["source"].count("Text: train") == 2
    assert "references" not in row
    several = produce([{"text": "a", "classes": CLASSES}, {"text": "b", "classes": CLASSES}], recipe=recipe)
    assert [row["source"][-16:] for row in several] == ["\nText: a\nLabel: ", "\nText: b\nLabel: "]


def test_a_card_may_be_changed_after_it_was_fetched():
    changed = card()
    changed.loader = {"__type__": "load_from_dictionary", "data": {"test": rows("other", 1)}}
    assert "other 0" in next(iter(DatasetRecipe(card=changed)()["test"]))["source"]


def test_a_compiled_recipe_is_not_reached_by_later_changes():
    recipe = DatasetRecipe(card=card())
    pipeline = recipe.compile()
    recipe.card = card(test=1)
    assert sum(1 for _ in pipeline.render("test")) == 5


def test_benchmarks_are_trees():
    leaf = DatasetRecipe(card=card())
    benchmark = Benchmark(
        subsets={"a": leaf, "inner": Benchmark(subsets={"b": DatasetRecipe(card=card())})},
        max_samples_per_subset=2,
        format="formats.chat_api",
    )
    found = list(benchmark()["test"])
    assert [row["subset"] for row in found] == [["a"], ["a"], ["inner", "b"], ["inner", "b"]]
    assert all(row["source"].startswith("[{") for row in found)
    assert leaf.format is None
    assert [path for path, _ in benchmark.leaves()] == ["a", "inner/b"]
    assert {row["subset"][0] for row in Benchmark(subsets={"a": leaf, "b": leaf}, subset="b")()["test"]} == {"b"}


def test_a_pool_of_no_demos_is_no_pool():
    recipe = DatasetRecipe(card=card(), num_demos=0, demos_pool_size=0, demos_taken_from="nowhere")
    assert len(list(recipe()["train"])) == len(list(DatasetRecipe(card=card())()["train"]))


def test_errors_of_a_benchmark_name_the_subset():
    short = DatasetRecipe(card=card(train=2), num_demos=3, demos_pool_size=10)
    missing = DatasetRecipe(card=card(), num_demos=1, demos_pool_size=2, demos_taken_from="nowhere")
    inner = Benchmark(subsets={"short": short})
    with pytest.raises(DemosError, match=r"@ inner short test\[0\]|@ inner short train\[0\]"):
        list(Benchmark(subsets={"fine": DatasetRecipe(card=card()), "inner": inner})()["test"])
    with pytest.raises(DemosError, match=r"a stream named 'nowhere' .* \(@ missing\)"):
        Benchmark(subsets={"missing": missing})()


@pytest.mark.parametrize(
    "arguments, error, text",
    [
        ({}, ValidationError, "needs a card or a task"),
        ({"num_demos": 3}, DemosError, "demos_pool_size"),
        ({"num_demos": 3, "demos_pool_size": 3}, DemosError, r"num_demos \(got: 3\) should not exceed"),
        ({"num_demos": 1, "demos_pool_size": 1}, DemosError, r"num_demos \(got: 1\) should not exceed"),
        ({"num_demos": 1, "demos_pool_size": 9, "loader_limit": 5}, DemosError, "5 loaded rows"),
        ({"max_test_instances": 9, "loader_limit": 5}, ValidationError, "max_test_instances is 9"),
        ({"template": TEMPLATE, "template_card_index": 0}, ValidationError, "but not both"),
        ({"template_card_index": 7}, ValidationError, "template 7 is not defined"),
        ({"augmentor": {"__type__": "null_augmentor"}}, None, ""),
        ({"formt": "x"}, ValidationError, "did you mean 'format'"),
    ],
)
def test_recipes_that_cannot_work_are_refused_when_built(arguments, error, text):
    if arguments:
        arguments = {"card": card(), **arguments}
    if error is None:
        assert DatasetRecipe(**arguments)
        return
    with pytest.raises(error, match=text):
        DatasetRecipe(**arguments)


def test_a_pool_that_turns_out_too_small_says_so():
    recipe = DatasetRecipe(card=card(train=2), num_demos=3, demos_pool_size=10)
    with pytest.raises(DemosError, match="3 demos are asked of a pool with 2 candidates") as caught:
        list(recipe()["test"])
    assert "test[0]" in str(caught.value)


def test_a_template_that_does_not_fit_names_the_instance():
    recipe = DatasetRecipe(card=card(), template=InputOutputTemplate(input_format="{txt}", output_format="{label}"))
    with pytest.raises(TemplateError, match=r"test\[0\]"):
        list(recipe()["test"])


def test_queries_and_mistakes():
    assert isinstance(load_recipe(card=card()), DatasetRecipe)
    with pytest.raises(UsageError, match="did you mean 'template'"):
        load_recipe(card=card(), tempate="x")
    with pytest.raises(UsageError, match="which dataset"):
        load_recipe()
    with pytest.raises(ProctorError, match=r"no catalog has 'cards\.nothing'"):
        load_recipe("card=cards.nothing")


def test_templates_of_a_list_and_by_name():
    listed = TaskCard(
        loader={"__type__": "load_from_dictionary", "data": {"test": rows("t", 1)}},
        task=TASK,
        templates=TemplatesList([KeyValTemplate(), TEMPLATE]),
    )
    assert DatasetRecipe(card=listed).chosen_templates()[0].type_name() == "key_val_template"
    assert DatasetRecipe(card=listed, template_card_index=1).chosen_templates()[0] == TEMPLATE
    source = next(iter(DatasetRecipe(card=listed, template_card_index=1)()["test"]))["source"]
    assert source.startswith("Choose from")


def test_saved_and_loaded(tmp_path):
    from proctor.artifacts import fetch_artifact

    recipe = DatasetRecipe(card=card(), num_demos=1, demos_pool_size=4)
    again = fetch_artifact(recipe.to_dict())
    assert [row["source"] for row in again()["test"]] == [row["source"] for row in recipe()["test"]]


def test_dialogs_inside_a_row_follow_the_format():
    talk = [{"user": "hi", "system": "ho"}, {"user": "so", "system": "yes"}]
    dialogs = TaskCard(
        loader={"__type__": "load_from_dictionary", "data": {"test": [{"text": talk, "classes": [], "label": "x"}]}},
        preprocess_steps=[{"__type__": "serialize_dialog", "field": "text"}],
        task=TASK,
        templates=[TEMPLATE],
    )
    form = {"__type__": "system_format", "demo_format": "U: {source}\nA: {target}\n"}
    source = next(iter(DatasetRecipe(card=dialogs, format=form)()["test"]))["source"]
    assert "Text: hi\nA: ho\nU: so\nA: yes" in source


def test_demos_without_a_card_need_a_pool():
    with pytest.raises(DemosError, match="need a card to come from"):
        DatasetRecipe(task=TASK, template=TEMPLATE, num_demos=1, demos_pool_size=5)
    with pytest.raises(DemosError, match="need a card to come from"):
        DatasetRecipe(task=TASK, template=TEMPLATE, demos_pool_size=0)
    given = DatasetRecipe(task=TASK, template=TEMPLATE, num_demos=1, demos_pool=rows("given", 2))
    assert given.plan().pool_size == 2
    with pytest.raises(DemosError, match="not both"):
        DatasetRecipe(card=card(), num_demos=1, demos_pool=rows("given", 2), demos_pool_size=3)


@pytest.mark.parametrize("size", [0, -2, None])
def test_demos_need_a_pool_of_some_size(size):
    with pytest.raises(DemosError, match="assigned with positive integers"):
        DatasetRecipe(card=card(), num_demos=1, demos_pool_size=size)


def test_limits_and_pools_may_be_as_large_as_what_is_loaded():
    made = DatasetRecipe(card=card(), num_demos=4, demos_pool_size=5, loader_limit=5, max_test_instances=5)
    assert (made.plan().limits, made.plan().loader_limit, made.most_demos) == ({"test": 5}, 5, 4)
    assert DatasetRecipe(card=card(), num_demos=[0, 3], demos_pool_size=-1, loader_limit=1).most_demos == 3


def test_what_a_recipe_and_its_card_bring_is_resolved():
    from proctor.demos import FixedIndicesSampler, RandomSampler

    sampler = FixedIndicesSampler(indices=[1, 0])
    plan = DatasetRecipe(card=card(), sampler=sampler, demos_sampling_seed=3, skip_demoed_instances=True).plan()
    assert (plan.sampler, plan.sampling_seed, plan.skip_demoed_instances, plan.num_demos) == (sampler, 3, True, 0)
    assert isinstance(DatasetRecipe(card=card()).plan().sampler, RandomSampler)
    of_card = card()
    of_card.sampler = sampler
    assert DatasetRecipe(card=of_card).plan().sampler is sampler
    of_card.sampler = TASK
    with pytest.raises(ValidationError, match="sampler is a Task"):
        DatasetRecipe(card=of_card).plan()


def test_augmentors_need_fields_to_augment():
    with pytest.raises(ValidationError, match="nothing to augment"):
        DatasetRecipe(card=card(), augmentor="augmentors.augment_whitespace_prefix_and_suffix_task_input").plan()
    assert DatasetRecipe(card=card(), augmentor=[None]).plan().augmentors == ()


def test_the_template_is_the_cards_else_the_tasks_default():
    by_default = TASK.model_copy(update={"default_template": KeyValTemplate()})
    data = {"test": rows("t", 1)}

    def card_with(task, templates):
        return TaskCard(loader={"__type__": "load_from_dictionary", "data": data}, task=task, templates=templates)

    assert DatasetRecipe(card=card_with(by_default, [TEMPLATE])).chosen_templates() == (TEMPLATE,)
    assert DatasetRecipe(card=card_with(by_default, [])).chosen_templates() == (KeyValTemplate(),)
    with pytest.raises(ValidationError, match="no template") as caught:
        DatasetRecipe(card=card_with(TASK, []))
    assert "give one: template=templates.…" in str(caught.value)
    with pytest.raises(ValidationError, match="template 'frist' is not defined") as caught:
        DatasetRecipe(card=card_with(TASK, {"first": TEMPLATE}), template_card_index="frist")
    assert "did you mean 'first'" in str(caught.value)


def test_the_serializer_of_a_recipe_stands_before_that_of_the_template():
    from proctor.artifacts import fetch_artifact

    plain = DatasetRecipe(card=card()).plan().templates[0]
    assert plain.serializer is TEMPLATE.serializer
    numbers = fetch_artifact({"__type__": "number_quantizing_serializer", "quantum": 0.5})
    (changed,) = DatasetRecipe(card=card(), serializer=numbers).plan().templates
    assert changed.serializer.serializers[0] is numbers
    assert changed.serializer.serializers[1:]
    assert TEMPLATE.serializer is plain.serializer


def test_templates_that_have_names_are_all_drawn_from():
    named = TemplatesDict({"one": TEMPLATE, "two": KeyValTemplate()})
    assert DatasetRecipe(card=card(), template=named).chosen_templates() == (TEMPLATE, KeyValTemplate())
    sources = [row["source"] for row in DatasetRecipe(card=card(test=30), template=named)()["test"]]
    assert {source.startswith("Choose") for source in sources} == {True, False}
    of_card = card()
    of_card.templates = named
    assert DatasetRecipe(card=of_card, template_card_index="two").chosen_templates() == (KeyValTemplate(),)
    assert DatasetRecipe(card=of_card).chosen_templates() == (TEMPLATE,)


@pytest.mark.parametrize(
    "arguments, path",
    [
        ({"num_demos": 1, "demos_pool": rows("given", 2), "demos_pool_size": 3}, "$.demos_pool"),
        ({"num_demos": 3}, "$.demos_pool_size"),
        ({"num_demos": 3, "demos_pool_size": 3}, "$.demos_pool_size"),
        ({"num_demos": 1, "demos_pool_size": 9, "loader_limit": 5}, "$.loader_limit"),
        ({"max_test_instances": 9, "loader_limit": 5}, "$.max_test_instances"),
        ({"max_train_instances": 9, "loader_limit": 5}, "$.max_train_instances"),
        ({"template_card_index": 7}, "$.template"),
        ({"augmentor": "augmentors.augment_whitespace_prefix_and_suffix_task_input"}, "$.augmentor"),
    ],
)
def test_mistakes_say_in_which_field_they_are(arguments, path):
    with pytest.raises(ProctorError) as caught:
        DatasetRecipe(card=card(), **arguments).plan()
    assert caught.value.diagnostics[0].path == path


def test_mistakes_of_the_card_and_of_a_benchmark_say_where_they_are():
    from proctor.demos import RandomSampler

    def path_of(make):
        with pytest.raises(ProctorError) as caught:
            make()
        return caught.value.diagnostics[0].path

    of_card = card()
    of_card.sampler = TASK
    assert path_of(DatasetRecipe(card=of_card).plan) == "$.card.sampler"
    of_card.sampler = RandomSampler()
    leaf = DatasetRecipe(card=card())
    assert path_of(lambda: Benchmark(subsets={"a": TASK})) == "$.subsets.a"
    assert path_of(lambda: Benchmark(subsets={"a": leaf}, subset="b")) == "$.subset"


def test_every_field_of_a_recipe_reaches_its_plan():
    from proctor.artifacts import fetch_artifact
    from proctor.formats import ChatAPIFormat, TextualSystemPrompt

    refiner = fetch_artifact(
        {"__type__": "filter_by_condition", "values": {"input_fields/text": "x"}, "condition": "eq"}
    )
    made = DatasetRecipe(
        card=card(), task=TASK, template=KeyValTemplate(), format=ChatAPIFormat(), num_demos=[1, 2], demos_pool_size=4,
        system_prompt=TextualSystemPrompt(text="Be good."), demos_taken_from="test", demos_removed_from_data=False,
        demos_sampling_seed=5, skip_demoed_instances=True, loader_limit=9, max_validation_instances=3,
        train_refiner=refiner, metrics=["metrics.f1_macro"], postprocessors=["processors.lower_case"],
        group_by=["text"],
    )  # fmt: skip
    plan = made.plan()
    assert plan.card is made.card
    assert plan.task is made.task
    assert [each.type_name() for each in plan.templates] == ["key_val_template"]
    assert isinstance(plan.format, ChatAPIFormat)
    assert plan.system_prompt is made.system_prompt
    assert (plan.num_demos, plan.pool_size, plan.pool) == ((1, 2), 4, None)
    assert (plan.demos_taken_from, plan.demos_removed_from_data) == ("test", False)
    assert (plan.sampling_seed, plan.skip_demoed_instances) == (5, True)
    assert (plan.loader_limit, plan.limits, plan.refiners) == (9, {"validation": 3}, {"train": refiner})
    given = rows("given", 3)
    assert DatasetRecipe(card=card(), num_demos=1, demos_pool=given).plan().pool == given
    maker = made.row_maker()
    assert (maker.metrics, maker.postprocessors, maker.group_by) == (
        ["metrics.f1_macro"], ["processors.lower_case"], [["text"]],
    )  # fmt: skip
    spaces = "augmentors.text.whitespace_prefix_suffix"
    augmentable = TASK.model_copy(update={"augmentable_inputs": ["text"]})
    (augmentor,) = DatasetRecipe(card=card(), task=augmentable, augmentor=spaces).plan().augmentors
    assert augmentor.field_to_field == {"input_fields/text": "input_fields/text"}


def test_a_card_may_have_one_template_that_is_no_list():
    from proctor.recipes.recipe import card_templates

    bare = card()
    for templates, wanted in (
        (TEMPLATE, {0: TEMPLATE}),
        ([TEMPLATE, KeyValTemplate()], {0: TEMPLATE, 1: KeyValTemplate()}),
        ({"own": TEMPLATE}, {"own": TEMPLATE}),
        ("templates.qa.open.all", None),
        (None, {}),
    ):
        found = card_templates(SimpleNamespace(templates=templates))
        assert found == wanted if wanted is not None else len(found) > 1
    assert card_templates(bare) == {0: TEMPLATE}


def test_a_card_without_a_task_is_named():
    bare = card().model_copy(update={"task": None})  # as programs that build cards step by step may leave it
    with pytest.raises(ValidationError, match="the card has no task") as caught:
        DatasetRecipe(card=bare).plan()
    assert caught.value.diagnostics[0].path == "$.card.task"
    assert DatasetRecipe(card=bare, task=TASK).plan().task is TASK


def test_a_recipe_says_where_its_template_comes_from():
    made = card()
    assert (DatasetRecipe(card=made).has_card_templates, DatasetRecipe(card=made).has_no_templates) == (True, True)
    bare = TaskCard(loader=made.loader, task=TASK)
    assert not DatasetRecipe(card=bare, template=TEMPLATE).has_card_templates
    assert not DatasetRecipe(card=made, template=TEMPLATE).has_no_templates
    assert not DatasetRecipe(card=made, template_card_index=0).has_no_templates


@pytest.mark.parametrize("name, is_said", [("", True), ("proctor.", False)])
def test_a_built_in_template_by_a_name_of_unitxt_s_judges_is_said(name, is_said, monkeypatch):
    monkeypatch.setattr(
        sys.modules["proctor.artifacts.catalogs"], "UNITXT", builtin_catalog()
    )  # its package is not here
    said = []
    monkeypatch.setattr(sys.modules[DatasetRecipe.__module__], "say_once", said.append)
    asks = f"{name}templates.response_assessment.rating.generic_single_turn"
    rated = {"question": "Why?", "answer": "So.", "rating": 3.0}
    loader = {"__type__": "load_from_dictionary", "data": {"test": [rated]}}
    task = "tasks.response_assessment.rating.single_turn"
    DatasetRecipe(card=TaskCard(loader=loader, task=task, templates=[asks]), template_card_index=0).plan()
    assert [each.endswith("means ours") for each in said] == [True] * is_said
