from __future__ import annotations

import json

from proctor.engines.scripted import ScriptedEngine
from proctor.scoring.columns import Columns, rows_of
from proctor.scoring.composed import MetricsEnsemble
from proctor.scoring.judges.criteria import Criteria, CriteriaOption, CriteriaWithOptions
from proctor.scoring.judges.direct import LLMJudgeDirect
from proctor.scoring.judges.from_template import LLMAsJudge
from proctor.scoring.judges.judgements import judgements_of
from proctor.scoring.judges.pairwise import LLMJudgePairwise
from proctor.scoring.pipeline import apply_metrics
from proctor.templates import InputOutputTemplate

KIND = CriteriaWithOptions(
    name="kind",
    description="Is it kind?",
    options=[CriteriaOption(name="Yes"), CriteriaOption(name="No")],
    option_map={"Yes": 1.0, "No": 0.0},
)
RATING = InputOutputTemplate(
    input_format="{question}: {answer}", postprocessors=["processors.extract_mt_bench_rating_judgment"]
)


def judged(metric, *predictions):
    columns = Columns(
        list(predictions), [["r"]] * len(predictions), [{"source": "q", "context": "c"}] * len(predictions)
    )
    grade = apply_metrics(columns, [metric])
    return grade, [judgements_of(row) for row in rows_of(grade.instance_scores, len(predictions))]


def direct(answer, **fields):
    return LLMJudgeDirect(inference_engine=ScriptedEngine(function=answer), criteria=KIND, **fields)


def test_a_judgement_by_criteria_is_read_back():
    def answer(prompt):
        return "It is warm." if len(prompt.messages) == 1 else "Yes"

    _, [[found]] = judged(direct(answer), "Hello dear")
    assert (found.name, found.score, found.verdict) == ("kind", 1.0, "Yes")
    assert (found.reasoning, found.reply, found.bias) == ("It is warm.", "Yes", False)
    assert "Hello dear" in found.prompts["assessment"][0]["content"]
    assert found.criteria["description"] == "Is it kind?"
    assert found.other_order["verdict"] == "Yes"
    assert json.loads(json.dumps(found.to_dict()))["verdict"] == "Yes"


def test_what_led_to_no_verdict_is_kept():
    def answer(prompt):
        return "Let me think." if len(prompt.messages) == 1 else ("Yes" if "merci" in prompt.text else "42, surely")

    grade, [[good], [bad]] = judged(direct(answer), "merci", "zut")
    assert good.verdict == "Yes"
    assert (bad.score, bad.verdict, bad.reasoning, bad.reply) == (None, None, "Let me think.", "42, surely")
    assert "zut" in bad.prompts["assessment"][0]["content"]
    assert grade.failures[1].kind == "unreadable"
    assert "42, surely" in grade.failures[1].message
    assert (grade.scores["kind"], grade.scores["num_of_failures"]) == (1.0, 1)


def test_where_no_verdict_can_be_read_all_prompts_are_kept():
    grade, [[only]] = judged(direct(lambda prompt: "Hmm"), "x")
    assert only.reply == "Hmm"
    assert grade.scores["num_of_instances"] == 0


def test_a_rating_is_read_back_with_and_without_a_verdict():
    engine = ScriptedEngine(function=lambda prompt: "Fine. [[8]]" if "good" in prompt.text else "No comment.")
    judge = LLMAsJudge(inference_model=engine, template=RATING, task="rating.single_turn", main_score="rating")
    grade, [[good], [bad]] = judged(judge, "good", "bad")
    assert (good.name, good.score, good.reply) == ("rating", 0.8, "Fine. [[8]]")
    assert "q: good" in good.prompts["question"]
    assert (bad.score, bad.reply) == (None, "No comment.")
    assert "No comment." in grade.failures[1].message


def test_comparisons_are_read_back_for_each_system():
    engine = ScriptedEngine(function=lambda prompt: "B was clearer." if len(prompt.messages) == 1 else "Answer b")
    judge = LLMJudgePairwise(inference_engine=engine, criteria=Criteria(name="clarity", description="Clearer?"))
    _, [found] = judged(judge, {"a": "x", "b": "y"})
    by_name = {each.name: each for each in found}
    assert (by_name["a"].score, by_name["b"].score) == (0.0, 1.0)
    assert by_name["a"].verdict == ["b"]
    assert by_name["a"].opponents == ["b"]
    assert by_name["a"].reasoning == ["B was clearer."]
    assert by_name["b"].criteria["name"] == "clarity"


def test_a_comparison_without_a_winner_keeps_what_was_said():
    engine = ScriptedEngine(answer="Neither")
    judge = LLMJudgePairwise(inference_engine=engine, criteria=Criteria(name="clarity", description="Clearer?"))
    grade, [found] = judged(judge, {"a": "x", "b": "y"})
    assert grade.failures[0].kind == "unreadable"
    assert [each.name for each in found] == ["a", "b"]
    assert found[0].reply == ["Neither"]
    assert found[0].score is None


def test_members_of_an_ensemble_have_names_of_their_own():
    ensemble = MetricsEnsemble(metrics=[direct(lambda _: "Yes"), direct(lambda _: "No")])
    _, [found] = judged(ensemble, "x")
    assert {each.name: each.verdict for each in found} == {"ensemble_0_kind": "Yes", "ensemble_1_kind": "No"}


def test_scores_of_other_metrics_are_no_judgements():
    assert judgements_of({"f1": 0.5, "criteria": "of admission", "my_prompts": None, "score": 0.5}) == []


def test_an_ensemble_weights_judges_that_name_their_score_after_criteria():
    ensemble = MetricsEnsemble(metrics=[direct(lambda _: "Yes"), direct(lambda _: "No")], weights=[0.75, 0.25])
    grade, _ = judged(ensemble, "x", "y")
    assert grade.scores["ensemble_score"] == 0.75
    assert grade.failures == {}


def test_where_every_instance_failed_each_says_that_it_has_no_score():
    grade, _ = judged(direct(lambda prompt: "Hmm"), "x", "y")
    assert list(grade.instance_scores["score"]) == [None, None]
    assert list(grade.instance_scores["score_name"]) == ["kind", "kind"]
