import json

from proctor.dialects.unitxt.validate import validate

TEMPLATE = {"__type__": "input_output_template", "input_format": "{text}", "output_format": "{label}"}
RECIPE = {"__type__": "dataset_recipe", "card": "samples.cards.sentiment", "template": TEMPLATE}


def written(folder, name, **changes):
    (folder / f"{name}.json").write_text(json.dumps({**RECIPE, **changes}))
    return folder / f"{name}.json"


def test_metrics_and_processors_that_there_are_not(tmp_path):
    written(tmp_path, "fine")
    written(tmp_path, "metric", metrics=["metrics.acuracy"])
    written(tmp_path, "processor", postprocessors=["lower_cas"])
    written(tmp_path, "of_template", template={**TEMPLATE, "postprocessors": ["processors.no_such"]})
    member = {**RECIPE, "metrics": ["metrics.f1_mico"]}
    (tmp_path / "suite.json").write_text(json.dumps({"__type__": "benchmark", "subsets": {"a": member}}))
    found = {problem.location.file.rpartition("/")[2]: problem.what for problem in validate(tmp_path)[1]}
    assert set(found) == {"metric.json", "processor.json", "of_template.json", "suite.json"}
    assert "metrics.acuracy" in found["metric.json"]
    assert "lower_cas" in found["processor.json"]


def test_what_cannot_be_built(tmp_path):
    file = written(tmp_path, "demos", num_demos=3)
    files, (problem,) = validate(file)
    assert "demos_pool_size" in problem.what
    assert files == [file]
    assert validate(tmp_path / "none.yaml") == ([], [])


def test_a_metric_that_does_not_take_what_the_task_predicts(tmp_path):
    task = {
        "__type__": "task",
        "input_fields": {"text": "str"},
        "reference_fields": {"label": "str"},
        "prediction_type": "str",
        "metrics": ["metrics.spearman"],
    }
    card = {
        "__type__": "task_card",
        "loader": {"__type__": "load_from_dictionary", "data": {"test": [{"text": "a", "label": "b"}]}},
        "task": task,
    }
    (problem,) = validate(written(tmp_path, "wrong", card=card))[1]
    assert problem.what.startswith("The task's prediction type (str) and 'metrics.spearman' metric's prediction type")
    assert validate(written(tmp_path, "own", card=card, metrics=["metrics.spearman"]))[1] == []


def test_rows_of_somebody_are_no_artifacts(tmp_path):
    (tmp_path / "rows.json").write_text('{"a": 1}\n{"a": 2}\n')
    (tmp_path / "list.json").write_text("[1, 2]")
    (tmp_path / "broken.json").write_text('{"__type__": "standard_recipe", ')
    files, problems = validate(tmp_path)
    assert [each.name for each in files] == ["broken.json"]
    assert len(problems) == 1
    assert validate(tmp_path / "list.json")[1]
