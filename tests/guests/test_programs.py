import sys

import pytest
import tests_warm

import proctor
from proctor import compat
from proctor.errors import NotAllowedError, ValidationError


@pytest.fixture
def _installed():
    compat.install()
    yield
    compat.uninstall()


def run(tmp_path, program, *arguments):
    path = tmp_path / "program.py"
    path.write_text(program)
    return tests_warm.python("-m", "proctor.compat", path, *arguments)


@pytest.mark.usefixtures("_installed")
def test_names_of_unitxt_are_those_of_proctor():
    import unitxt
    from unitxt.api import load_dataset
    from unitxt.blocks import Task, TaskCard
    from unitxt.operators import Copy, Rename
    from unitxt.templates import InputOutputTemplate
    from unitxt.type_utils import register_type

    assert load_dataset is proctor.load_dataset
    assert (Task, TaskCard) == (proctor.Task, proctor.TaskCard)
    assert InputOutputTemplate is proctor.InputOutputTemplate
    assert Copy.type_name() == "copy"
    assert Rename
    assert register_type
    unitxt.settings.default_provider = "watsonx"
    assert proctor.settings.default_provider == "watsonx"
    del proctor.settings._assigned["default_provider"]


@pytest.mark.usefixtures("_installed")
def test_what_proctor_lacks_says_so():
    from unitxt.catalog import GithubCatalog

    with pytest.raises(NotAllowedError, match="register_git_catalog"):
        GithubCatalog()
    from unitxt.operators import ExecuteQuery

    with pytest.raises(NotAllowedError, match="ExecuteExpression"):
        ExecuteQuery()
    with pytest.raises(ImportError, match="did you mean"):
        from unitxt.templates import InputOutputTemplat  # noqa: F401
    with pytest.raises(ModuleNotFoundError, match=r"no module 'unitxt\.nothing'"):
        import unitxt.nothing  # noqa: F401


@pytest.mark.usefixtures("_installed")
def test_templates_that_lm_eval_never_got():
    from lm_eval.api.template import MCQTemplateConfig, TemplateFactory

    assert MCQTemplateConfig
    assert TemplateFactory


def test_an_alias_can_be_taken_back():
    compat.install()
    import unitxt  # noqa: F401

    compat.uninstall()
    assert "unitxt" not in sys.modules


def test_fetching_returns_what_programs_unpack():
    from proctor.guests.unitxt.functions import fetch_artifact

    template, catalog = fetch_artifact("templates.key_val")
    assert (template.type_name(), catalog) == ("key_val_template", None)


def test_declarations_of_fields_refuse_what_they_do_not_know():
    from proctor.artifacts import Artifact
    from proctor.guests.unitxt.data_classes import Field, RequiredField

    class Declared(Artifact):
        given: int = RequiredField()
        kept: int = Field(default=3, name="kept")

    assert Declared(given=1).kept == 3
    with pytest.raises(ValidationError, match="given"):
        Declared()
    with pytest.raises(TypeError, match=r"no 'defalut'; did you mean 'default'"):
        Field(defalut=3)
    with pytest.raises(TypeError, match="no 'nothing'"):
        RequiredField(nothing=3)


def test_a_program_runs_unchanged(tmp_path):
    program = """
import sys
from unitxt.api import create_dataset, evaluate

classes = ["positive", "negative"]
rows = [{"text": "I am happy.", "label": "positive", "classes": classes},
        {"text": "I never felt so bad", "label": "negative", "classes": classes}]
dataset = create_dataset(task="tasks.classification.multi_class", format="formats.chat_api", test_set=rows,
                         postprocessors=["processors.take_first_word", "processors.lower_case"])
results = evaluate(["Positive.", "positive"], dataset["test"])
print(results.global_scores.score_name, results.global_scores.score, sys.argv[1])
"""
    done = run(tmp_path, program, "argument")
    assert done.stdout.strip() == "f1_micro 0.5 argument", done.stderr


def test_recipes_through_hugging_face_names(tmp_path):
    program = """
import evaluate
from datasets import load_dataset
from proctor.artifacts import add_to_catalog

query = ("card={__type__=x}")
try:
    load_dataset("unitxt/data", "card=cards.nothing_like_it", split="test")
except Exception as error:
    print(type(error).__name__)
print(type(evaluate.load("unitxt/metric")).__name__)
"""
    done = run(tmp_path, program)
    assert done.stdout.split() == ["ValidationError", "RecipeMetric"], done.stderr


def test_mistakes_of_users_have_no_traceback(tmp_path):
    done = run(tmp_path, "from unitxt import load_dataset\nload_dataset('card=cards.nothing_like_it')")
    assert done.returncode == 2
    assert "no catalog has 'cards.nothing_like_it'" in done.stderr
    assert "Traceback" not in done.stderr
    missing = tests_warm.python("-m", "proctor.compat", "nowhere.py")
    assert missing.returncode == 2


def test_everything_may_be_imported_at_once(tmp_path):
    done = run(
        tmp_path, "from unitxt.blocks import *\nprint(Task.type_name(), TaskCard.type_name(), LoadHF.type_name())"
    )
    assert done.stdout.split() == ["task", "task_card", "load_hf"], done.stderr


def test_lm_eval_s_own_command_runs_as_a_module(tmp_path):
    asked = ["--model", "dummy", "--tasks", "samples.science", "--limit", "2"]
    done = tests_warm.python("-m", "proctor.compat", "-m", "lm_eval", *asked, cwd=tmp_path)
    assert "samples.science" in done.stdout, done.stderr
