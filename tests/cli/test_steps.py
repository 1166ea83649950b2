from tests_commands import proctor


def show(*arguments):
    return proctor("show", *arguments)


def test_every_step_with_counts_and_one_row():
    done = show("samples.sentiment", "--steps")
    assert done.returncode == 0, done.stderr
    assert "1. loaded" in done.stdout
    assert "made instances of" in done.stdout
    assert "laid out by SystemFormat" in done.stdout
    assert done.stdout.count("test: ") >= 3


def test_a_step_that_fails_is_named(tmp_path):
    recipe = tmp_path / "broken.json"
    recipe.write_text(
        '{"__type__": "dataset_recipe", "card": "samples.cards.sentiment",'
        ' "template": {"__type__": "input_output_template", "input_format": "{txt}", "output_format": "{label}"}}'
    )
    done = show(str(recipe), "--steps")
    assert done.returncode == 2
    assert "did you mean 'text'" in done.stderr
    assert "Traceback" not in done.stderr
