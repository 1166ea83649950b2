import pytest

from proctor.dialects.lm_eval.checks import task_from_values, task_problems
from proctor.dialects.lm_eval.config import TaskConfig
from proctor.dialects.lm_eval.group_checks import group_problems
from proctor.dialects.lm_eval.reader import TaskReader
from proctor.errors import ValidationError


def problems(**values):
    return [str(each) for each in task_problems({"task": "t", **values})]


def test_every_key_of_the_surface_is_known():
    keys = [
        "task",
        "task_alias",
        "tag",
        "group",
        "include",
        "task_list",
        "recipe",
        "custom_dataset",
        "dataset_path",
        "dataset_name",
        "dataset_kwargs",
        "training_split",
        "validation_split",
        "test_split",
        "fewshot_split",
        "process_docs",
        "doc_to_text",
        "doc_to_target",
        "doc_to_choice",
        "doc_to_image",
        "doc_to_audio",
        "process_results",
        "use_prompt",
        "description",
        "target_delimiter",
        "fewshot_delimiter",
        "fewshot_config",
        "gen_prefix",
        "num_fewshot",
        "output_type",
        "generation_kwargs",
        "repeats",
        "filter_list",
        "metric_list",
        "should_decontaminate",
        "doc_to_decontamination_query",
        "unsafe_code",
        "metadata",
        "template",
        "chat_override",
        "class",
    ]
    assert not problems(**dict.fromkeys(keys))


def test_an_unknown_key_with_the_closest_one():
    (found,) = problems(num_fewshots=5)
    assert "there is no key 'num_fewshots'" in found
    assert "did you mean 'num_fewshot'" in found


@pytest.mark.parametrize(
    "key, value",
    [
        ("num_fewshot", "five"),
        ("metric_list", {"metric": "acc"}),
        ("generation_kwargs", ["until"]),
        ("dataset_kwargs", "x"),
        ("output_type", ["multiple_choice"]),
        ("repeats", "2"),
        ("fewshot_config", []),
        ("should_decontaminate", "yes"),
        ("doc_to_text", ["a"]),
    ],
)
def test_wrong_types(key, value):
    (found,) = problems(**{key: value})
    assert f"$.{key}" in found
    assert f"got {type(value).__name__}" in found


def test_all_problems_of_a_file_at_once_each_with_its_place(tmp_path):
    file = tmp_path / "t.yaml"
    file.write_text(
        "task: t\nnum_fewshot: five\noutput_typ: x\noutput_type: multiple_choise\nmetric_list:\n  - aggregation: mean\n"
        "  - acc\nfilter_list:\n  - name: f\nfewshot_config:\n  sampelr: x\nrepeats: 0\nx: !other y\n"
    )
    read = TaskReader().read(file)
    with pytest.raises(ValidationError) as caught:
        task_from_values(read.values, read)
    text = str(caught.value)
    for part in (
        "'num_fewshot' takes a whole number, got str 'five'",
        "t.yaml:2:1",
        "did you mean 'output_type'",
        "did you mean 'multiple_choice'",
        "an entry of metric_list has no 'metric'",
        "t.yaml:6:5",
        "expected a mapping, got str 'acc'",
        "an entry of filter_list has no 'filter'",
        "did you mean 'sampler'",
        "repeats is 0",
        "the tag '!other' means nothing here",
    ):
        assert part in text, part
    assert len(caught.value.diagnostics) == 10


def test_generation_defaults():
    config = TaskConfig(fewshot_delimiter="##")
    assert config.generation_kwargs == {"temperature": 0.0, "do_sample": False, "max_gen_toks": 256, "until": ["##"]}
    config = TaskConfig(generation_kwargs={"temperature": "0", "max_gen_toks": 5})
    assert config.generation_kwargs == {"temperature": 0.0, "max_gen_toks": 5, "until": ["\n\n"]}
    assert isinstance(config.generation_kwargs["temperature"], float)
    assert TaskConfig(output_type="multiple_choice").generation_kwargs is None


def test_demos_inherit_from_the_task():
    config = TaskConfig(
        doc_to_text="q", doc_to_target="a", fewshot_split="dev", gen_prefix="So", fewshot_config={"doc_to_target": "b"}
    )
    fewshot = config.fewshot
    assert (fewshot.doc_to_text, fewshot.doc_to_target, fewshot.split, fewshot.gen_prefix) == ("q", "b", "dev", "So")
    assert fewshot.sampler == "default"


def test_shared_values_are_never_changed():
    shared = {"temperature": 1}
    TaskConfig(generation_kwargs=shared)
    assert shared == {"temperature": 1}


def test_items_and_attributes():
    config = TaskConfig(task="t")
    config["num_fewshot"] = 3
    assert config["num_fewshot"] == config.num_fewshot == 3
    assert config.get("nothing", 7) == 7


def test_a_group_takes_keys_of_tasks_as_overrides():
    assert not list(group_problems({"group": "g", "task": ["a"], "num_fewshot": 5}))


def test_bad_groups():
    values = {"group": "g", "task": ["a"], "aggregate_metric_list": [{"metric": "acc", "wieght_by_size": 1}, {"x": 1}]}
    values["aggregate_metric_list"].append({"metric": "acc", "aggregation": "sum"})
    text = "\n".join(map(str, group_problems(values)))
    assert "weight_by_size" in text
    assert "an entry names no metric" in text
    assert "no aggregation 'sum' for groups" in text
