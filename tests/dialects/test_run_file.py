import pytest

from proctor.dialects.run_file import exams_of_spec, options_of
from proctor.errors import UsageError
from proctor.running.spec import RunSpec


def test_what_a_run_changed_reaches_the_recipe():
    overrides = {"limit": 0.5, "system_prompt": "Be brief.", "include_paths": ["a", "b"], "decoding": {"max_tokens": 3}}
    options = options_of(RunSpec("m", ("t",), seed=7, num_demos=0, overrides=overrides))
    assert (options.limit, options.seed, options.num_demos) == (0.5, 7, 0)
    assert (options.system_prompt, options.include_paths) == ("Be brief.", ("a", "b"))
    assert options.decoding == {"max_tokens": 3}
    assert options.template is None


def test_tasks_see_the_arguments_of_the_model_without_its_machine_and_its_keys():
    arguments = {"max_length": 9, "batch_size": 4, "device": "cpu", "max_batch_size": 8, "api_key": "sk-secret"}
    assert "sk-secret" not in str(options_of(RunSpec("m", ("t",), model_args=arguments)))
    assert options_of(RunSpec("m", ("t",), model_args=arguments)).model_arguments["max_length"] == 9
    assert not {"batch_size", "device", "max_batch_size"} & {
        *options_of(RunSpec("m", ("t",), model_args=arguments)).model_arguments
    }


def test_an_unknown_override_gets_the_closest_one():
    with pytest.raises(UsageError, match="did you mean 'template'"):
        options_of(RunSpec("m", ("t",), overrides={"templte": "x"}))


def test_a_whole_limit_stays_one():
    assert str(options_of(RunSpec("m", ("t",), limit=3)).limit) == "3"


def test_the_samples_by_their_spec():
    exams = exams_of_spec(RunSpec("m", ("samples",), limit=2))
    assert [exam.name for exam in exams] == ["samples.science", "samples.sentiment", "samples.arithmetic"]
    assert [len(list(exam.questions())) for exam in exams] == [2, 2, 2]
