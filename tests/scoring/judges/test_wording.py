"""Judges ask in Unitxt's words where its package is here, in ours where it is not, and say which."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proctor import InputOutputTemplate, Task, create_dataset
from proctor.artifacts import fetch_artifact
from proctor.artifacts.catalogs import JUDGING, builtin_catalog, read_json
from proctor.engines.scripted import ScriptedEngine
from proctor.results.evaluate import evaluate
from proctor.scoring.columns import Columns
from proctor.scoring.judges.criteria import Criteria, CriteriaOption, CriteriaWithOptions
from proctor.scoring.judges.direct import LLMJudgeDirect
from proctor.scoring.judges.judged import judged_by, judges_that_differ, note_of, say_once
from proctor.scoring.judges.pairwise import LLMJudgePairwise
from proctor.scoring.pipeline import apply_metrics

TEMPLATES = '''
from .templates import InputOutputTemplate
raise SystemExit("this file must not run")
direct_template_dict = {
    "assessment": InputOutputTemplate(
        input_format="""[{context_variables}] <{response}>
{criteria_description}|{display_options_instruction}"""
    ),
    "summarization": InputOutputTemplate(input_format="""Short: {assessment}"""),
    "answer": InputOutputTemplate(
        input_format="""Which? {display_options_instruction}""", postprocessors=["processors.match_closest_option"]
    ),
}
pairwise_template_dict = {
    "assessment": InputOutputTemplate(
        input_format="""{option_a}={response_a} {option_b}={response_b} {criteria_name}: {criteria_description}"""
    ),
    "summarization": InputOutputTemplate(input_format="""Short: {assessment}"""),
    "answer": InputOutputTemplate(input_format="""{score_option_instruction}Which?"""),
}
'''
JUDGES = """
raise SystemExit("this file must not run")
class LLMJudgeDirect:
    def parsed(self, criteria):
        display_options_instruction = "One of:\\n" + "\\n".join(
            [f'* "{o.name}"{f" when {o.description}" if o.description != "" else ""}' for o in criteria.options]
        )
class LLMJudgePairwise:
    def compute(self):
        score_option_instruction_list = [
            "".join([f'"{option}" if {option} wins.\\n' for option in option_pair])
            for option_pairs in option_pairs_list
            for option_pair in option_pairs
        ]
"""
SHORT = "metrics.llm_as_judge.direct.criteria.conciseness"
RATING = "templates.response_assessment.rating.mt_bench_single_turn"
OPTIONS = [CriteriaOption(name="Yes", description="it is"), CriteriaOption(name="No")]
POLITE = CriteriaWithOptions(name="polite", description="Polite?", options=OPTIONS, option_map={"Yes": 1.0, "No": 0.0})


@pytest.fixture
def unitxt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a package that has the form of Unitxt, and words of its own."""
    folder = tmp_path / "site" / "unitxt"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("raise SystemExit('this file must not run')")
    (folder / "version.py").write_text('version = "1.99"\n')
    (folder / "llm_as_judge_chat_templates.py").write_text(TEMPLATES)
    (folder / "llm_as_judge.py").write_text(JUDGES)
    published = {
        SHORT: {**fetch_artifact(SHORT).to_dict(), "description": "As they put it?"},
        RATING: {**fetch_artifact(RATING).to_dict(), "instruction": "As they rate it. "},
        "metrics.llm_as_judge.direct.criteria.of_theirs": {**fetch_artifact(SHORT).to_dict(), "name": "theirs"},
    }
    for name, data in published.items():
        path = folder / "catalog" / f"{name.replace('.', '/')}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(data))
    monkeypatch.syspath_prepend(folder.parent)
    return folder


def asked_by(judge: Any, predictions: list[Any]) -> list[str]:
    """Return the last message of all that a judge asks about predictions."""
    asked: list[str] = []

    def answer(prompt: Any) -> str:
        asked.append(prompt.messages[-1]["content"])
        return "Yes"

    judge.inference_engine = ScriptedEngine(function=answer)
    apply_metrics(Columns(predictions, [["x"]] * len(predictions), [{"question": "How?"}] * len(predictions)), [judge])
    return asked


def direct(**fields: Any) -> LLMJudgeDirect:
    """Return a judge of one answer."""
    given = {"criteria": POLITE, "context_fields": ["question"], "check_positional_bias": False, **fields}
    return LLMJudgeDirect(inference_engine=ScriptedEngine(answer="Yes"), **given)


def pairwise(**fields: Any) -> LLMJudgePairwise:
    """Return a judge of two answers."""
    return LLMJudgePairwise(
        inference_engine=ScriptedEngine(answer="1"),
        criteria=Criteria(name="better", description="Better?"),
        context_fields=None,
        check_positional_bias=False,
        **fields,
    )


@pytest.mark.usefixtures("unitxt")
def test_a_judge_of_one_answer_asks_in_the_words_of_the_package() -> None:
    assert asked_by(direct(generate_summaries=True), ["a"]) == [
        '[question: How?] <a>\nPolite?|One of:\n* "Yes" when it is\n* "No"',
        "Short: Yes",
        'Which? One of:\n* "Yes" when it is\n* "No"',
    ]


@pytest.mark.usefixtures("unitxt")
def test_a_judge_of_two_answers_asks_in_the_words_of_the_package() -> None:
    asked = asked_by(pairwise(), [["a", "b"]])
    assert asked == ["1=a 2=b better: Better?", '"1" if 1 wins.\n"2" if 2 wins.\nWhich?']


@pytest.mark.usefixtures("unitxt")
@pytest.mark.parametrize("answer", ["Response 2", "2", "'Response 2'."])
def test_a_system_is_chosen_by_its_name_or_as_the_package_calls_it(answer: str) -> None:
    judge = pairwise()
    judge.inference_engine = ScriptedEngine(answer=answer)
    result = apply_metrics(Columns([["a", "b"]], [["x"]], [{}]), [judge])
    assert list(result.instance_scores["2_winrate"]) == [1.0]


@pytest.mark.usefixtures("unitxt")
def test_the_package_wins_over_built_in_words_of_the_same_name() -> None:
    assert fetch_artifact(SHORT).to_dict()["description"] == "As they put it?"
    assert fetch_artifact(RATING).to_dict()["instruction"] == "As they rate it. "
    assert fetch_artifact("metrics.llm_as_judge.direct.criteria.of_theirs").to_dict()["name"] == "theirs"


@pytest.mark.usefixtures("unitxt")
def test_what_the_user_chose_wins_over_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "own" / f"{SHORT.replace('.', '/')}.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({**fetch_artifact(SHORT).to_dict(), "description": "As I put it?"}))
    monkeypatch.setenv("PROCTOR_CATALOGS", str(tmp_path / "own"))
    assert fetch_artifact(SHORT).to_dict()["description"] == "As I put it?"


@pytest.mark.usefixtures("unitxt")
def test_our_own_words_have_names_of_their_own() -> None:
    own = fetch_artifact(f"proctor.{SHORT}")
    assert own.to_dict()["description"] == read_json(builtin_catalog().file_for(SHORT))["description"]
    judge: Any = fetch_artifact(
        "proctor.metrics.llm_as_judge.direct.openai.gpt_4o",
        {"inference_engine": ScriptedEngine(answer="Yes"), "criteria": own, "context_fields": None},
    )
    assert "You judge an answer" in asked_by(judge, ["a"])[0]
    [asked] = judged_by([judge])
    assert (asked["words"], note_of(asked)) == ("proctor", "")


@pytest.mark.usefixtures("unitxt")
def test_a_link_under_our_own_name_leads_to_our_own_words() -> None:
    old = fetch_artifact("proctor.metrics.llm_as_judge.direct.criterias.conciseness")
    assert old.to_dict() == fetch_artifact(f"proctor.{SHORT}").to_dict()


@pytest.mark.usefixtures("unitxt")
def test_words_of_the_package_are_said_with_its_version() -> None:
    [asked] = judged_by([direct(criteria=SHORT)])
    assert (asked["words"], note_of(asked)) == ("unitxt 1.99", "")


def test_without_the_package_a_judge_says_that_the_words_are_ours_and_what_gets_the_others() -> None:
    [asked] = judged_by([direct(criteria=SHORT)])
    assert asked["words"] == "proctor"
    assert asked["instead"] == ["llm_judge_direct", SHORT]
    assert "proctor get unitxt" in note_of(asked)
    [own] = judged_by([direct(words="proctor")])
    assert (own["words"], note_of(own)) == ("proctor", "")


@pytest.mark.parametrize("release", ["direct_template_dict = make()", "other = {}", "def ("])
def test_a_release_with_words_in_another_form_is_not_guessed_at(unitxt: Path, release: str) -> None:
    (unitxt / "llm_as_judge_chat_templates.py").write_text(release)
    assert "You judge an answer" in asked_by(direct(), ["a"])[0]
    [asked] = judged_by([direct()])
    assert asked["instead"] == ["llm_judge_direct"]


def rater(**fields: Any) -> Any:
    """Return a judge by template."""
    kind = {"__type__": "llm_as_judge", "task": "rating.single_turn", "template": RATING, **fields}
    return fetch_artifact({**kind, "inference_model": ScriptedEngine(answer="[[1]]")})


@pytest.mark.parametrize("make", [lambda: direct(criteria=SHORT), pairwise, rater])
def test_two_wordings_are_never_one_number(
    make: Callable[[], Any], unitxt: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = judged_by([make()])
    monkeypatch.syspath_prepend(unitxt.parent.parent)
    monkeypatch.setattr("sys.path", [each for each in __import__("sys").path if each != str(unitxt.parent)])
    ours = judged_by([make()])
    assert theirs[0]["prompt"] != ours[0]["prompt"]
    assert "unitxt 1.99" in judges_that_differ(theirs, ours)
    assert judges_that_differ(ours, judged_by([make()])) == ""


def test_another_criterion_is_another_prompt() -> None:
    changed = POLITE.model_copy(update={"description": "Really polite?"})
    one, two = judged_by([direct()]), judged_by([direct(criteria=changed)])
    assert "with the prompt" in judges_that_differ(one, two)


def test_every_built_in_judge_of_unitxts_catalog_is_looked_for_there_first() -> None:
    kinds = {"llm_judge_direct", "llm_judge_pairwise", "llm_as_judge", "task_based_ll_mas_judge"}
    judges = [
        name for name in builtin_catalog().names() if _type(name) in kinds | {"criteria", "criteria_with_options"}
    ]
    assert len(judges) > 60
    assert [name for name in judges if not JUDGING.match(name)] == []


def _type(name: str) -> str:
    return str(read_json(builtin_catalog().file_for(name)).get("__type__"))


def test_evaluate_says_in_its_results_and_once_in_the_log_in_whose_words_judges_asked(
    caplog: pytest.LogCaptureFixture,
) -> None:
    say_once.cache_clear()
    task = Task(input_fields={"question": str}, reference_fields={}, prediction_type=str, metrics=[direct()])
    exam = create_dataset(
        task=task,
        test_set=[{"question": "How?"}],
        template=InputOutputTemplate(input_format="{question}", output_format=""),
        split="test",
    )
    results = [evaluate(["a"], exam) for _ in range(2)]
    assert [each.metadata["judged"][0]["words"] for each in results] == ["proctor", "proctor"]
    assert caplog.text.count("proctor get unitxt") == 1
