import sys

import click
import pytest

from proctor.cli.commands import open_wall_for
from proctor.cli.exam_options import Limit, exam_options, read_options, split_names
from proctor.errors import ProctorError, UsageError
from proctor.recipes.options import ExamOptions
from proctor.settings import settings


@pytest.mark.parametrize(
    "text, names",
    [
        ("a", ["a"]),
        ("a,b", ["a", "b"]),
        (" a , b ,", ["a", "b"]),
        ("a[x=1,y=2],b", ["a[x=1,y=2]", "b"]),
        ("a[x={k=1,l=2}],b", ["a[x={k=1,l=2}]", "b"]),
        ("card=cards.wnli,template=t,num_demos=2", ["card=cards.wnli,template=t,num_demos=2"]),
        (
            "card=cards.wnli,template=t,card=cards.rte,template=t",
            ["card=cards.wnli,template=t", "card=cards.rte,template=t"],
        ),
        ("card=c[a=1,b=2],template=t,samples", ["card=c[a=1,b=2],template=t", "samples"]),
        ("samples,card=c,template=t", ["samples", "card=c,template=t"]),
        ("mmlu::stem@cloze,hellaswag_*", ["mmlu::stem@cloze", "hellaswag_*"]),
        ("", []),
    ],
)
def test_lists_of_tasks(text, names):
    assert split_names(text) == names


def test_flags_of_lm_eval_reach_its_tasks_and_everybody_else():
    given = {
        "seed": 1,
        "gen_kwargs": 'until=["\\n"],max_gen_toks=7,do_sample=true',
    }
    found = read_options({**given, "predict_only": None, "chat_override": True, "decoding": {"max_tokens": 9}})
    assert found == {
        "seed": 1,
        "decoding": {"stop": ["\n"], "max_tokens": 9, "do_sample": True},
        "predict_only": None,
        "chat_override": True,
    }


def test_without_them_nothing_changes():
    given = {"seed": 1, "samples": None}
    assert read_options({**given, "gen_kwargs": None}) == given


@pytest.mark.parametrize(
    "option, value", [("--gen-kwargs", "until"), ("--samples", "{"), ("--samples", "[1]"), ("--metadata", "=1")]
)
def test_values_that_cannot_be_read(invoke, option, value):
    code, _, err = invoke("show", "samples.science", option, value)
    assert (code, "Traceback" in err, option in err) == (2, False, True)


@pytest.mark.parametrize(
    "name", ["auto", "bubblewrap", "namespaces", "landlock", "docker", "docker:python:3.12", "none"]
)
def test_a_sandbox_is_chosen_by_name(invoke, name):
    before = settings.sandbox
    try:
        code, _, _ = invoke("show", "samples", "--sandbox", name)
        assert (code, settings.sandbox) == (0, name)
    finally:
        settings.sandbox = before


@pytest.mark.parametrize("name", ["bubblewarp", "", "docker:", "none:x", "auto:1"])
def test_a_sandbox_that_there_is_not_is_a_mistake(invoke, name):
    code, _, err = invoke("show", "samples", "--sandbox", name)
    assert code == 2
    assert "is not one of auto, bubblewrap" in err


@pytest.mark.parametrize("name, says", [("temperture", "did you mean 'temperature'"), ("min_p", ""), ("xyz", "")])
def test_a_name_of_how_to_write_that_may_be_mistyped_is_said(invoke, name, says):
    code, out, err = invoke("show", "samples.science", "--docs", "1", "--decoding", f"{name}=0.5")
    assert code == 0, err
    said = " ".join((out + err).split())
    assert says in said
    assert ("means nothing to Proctor" in said) == bool(says)


@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "nan%", "inf%", "1e999", "0", "-1", "1.5", "200%", "0%"])
def test_a_limit_that_is_no_number_of_instances_is_refused(text):
    with pytest.raises(click.BadParameter, match="neither a number of instances"):
        Limit().convert(text, None, None)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1])
def test_a_limit_of_a_program_that_is_none_is_refused(value):
    with pytest.raises(UsageError, match="limit is"):
        ExamOptions(limit=value)


def _metrics(*typed):
    found = []

    @click.command()
    @exam_options
    def command(**given):
        found.extend(given["metric"])

    command.main(list(typed), standalone_mode=False)
    return found


def test_criteria_are_metrics_of_a_judge(tmp_path):
    rubric = tmp_path / "rubric.yaml"
    rubric.write_text("- It names the capital\n- It is polite\n")
    assert _metrics() == []
    assert _metrics("--criteria", "correctness") == ["judge"]
    assert _metrics("--criteria", "Is it short?", "--metric", "exact") == ["exact", "judge:Is it short?"]
    assert _metrics("--metric", "exact", "--criteria", str(rubric)) == [
        "exact",
        "judge:It names the capital",
        "judge:It is polite",
    ]


@pytest.mark.parametrize("text", ["a: 1", "[]", "- 1", "- ' '", "{", "- [x]"])
def test_a_file_that_is_not_a_list_of_criteria_is_refused(tmp_path, text):
    (tmp_path / "rubric.yaml").write_text(text)
    with pytest.raises(ProctorError, match="is not a list of criteria|cannot be read|not valid YAML"):
        _metrics("--criteria", str(tmp_path / "rubric.yaml"))
    with pytest.raises(ProctorError, match="No such file"):
        _metrics("--criteria", str(tmp_path / "none.yaml"))


def test_the_wall_lets_the_judge_be_asked_that_is_typed_or_stands_in_a_run_file(monkeypatch):
    opened = []
    monkeypatch.setattr("proctor.wall.standing", object)
    monkeypatch.setattr("proctor.wall.open_for", opened.extend)
    monkeypatch.setitem(sys.modules, "proctor.wall.raising", sys)
    monkeypatch.setattr("proctor.engines.engine_registry.make_engine", lambda name: f"made {name}")
    monkeypatch.delenv("PROCTOR_JUDGE", raising=False)
    open_wall_for("model", judge="of the file")
    with click.Context(click.Command("run")) as context:
        context.params["judge"] = "typed"
        open_wall_for("model")
    assert opened == ["model", "made of the file", "model", "made typed"]
