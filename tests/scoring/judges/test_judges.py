from __future__ import annotations

import json
import math

import pytest

from proctor.artifacts import fetch_artifact
from proctor.data.operator import SequentialOperator
from proctor.data.streams import ListStream, MultiStream
from proctor.engines.scripted import ScriptedEngine
from proctor.errors import ArtifactError, PolicyError, UsageError, ValidationError
from proctor.ir import Failure, Response, TokenLogProbability
from proctor.results.evaluate import evaluate
from proctor.scoring.columns import Columns
from proctor.scoring.composed import MetricsEnsemble
from proctor.scoring.judges.criteria import (
    CreateCriteriaFromString,
    CreateYesNoCriteriaFromString,
    CreateYesNoPartiallyCriteriaFromString,
    Criteria,
    CriteriaOption,
    CriteriaWithOptions,
)
from proctor.scoring.judges.direct import LLMJudgeDirect
from proctor.scoring.judges.from_template import LLMAsJudge, TaskBasedLLMasJudge
from proctor.scoring.judges.judge_client import asking_through
from proctor.scoring.judges.pairwise import LLMJudgePairwise
from proctor.scoring.judges.prompts import words_of
from proctor.scoring.judges.verdicts import chosen_option
from proctor.scoring.pipeline import apply_metrics
from proctor.templates import InputOutputTemplate

RATING = InputOutputTemplate(
    instruction="Rate the answer.\n",
    input_format="[Question] {question}\n[Answer] {answer}",
    output_format="[[{rating}]]",
    postprocessors=["processors.extract_mt_bench_rating_judgment"],
)
POLITE = CriteriaWithOptions(
    name="Polite Tone",
    description="Is the answer polite?",
    options=[
        CriteriaOption(name="Yes", description="it is polite"),
        CriteriaOption(name="No", description="it is not"),
    ],
    option_map={"Yes": 1.0, "No": 0.0},
)


def last_words(prompt):
    return prompt.messages[-1]["content"]


def columns_of(predictions, **fields):
    task_data = [{"source": f"question {number}", **fields} for number in range(len(predictions))]
    return Columns(predictions, [["reference"]] * len(predictions), task_data)


# -- ratings ----------------------------------------------------------------------------------------------------


def make_rater(answer, **fields):
    return LLMAsJudge(
        inference_model=ScriptedEngine(function=answer),
        template=RATING,
        task="rating.single_turn",
        main_score="rating",
        **fields,
    )


def test_a_judge_rates_answers():
    judge = make_rater(lambda prompt: "Rating: [[9]]" if "good" in prompt.text else "Rating: [[3]]")
    result = apply_metrics(columns_of(["good", "bad"]), [judge])
    assert list(result.instance_scores["rating"]) == [0.9, 0.3]
    assert result.scores["rating"] == result.scores["score"] == pytest.approx(0.6)
    assert {"rating_ci_low", "score_ci_high"} <= set(result.scores)
    assert result.instance_scores["rating_judge_raw_output"][0] == "Rating: [[9]]"
    prompt = result.instance_scores["rating_judge_raw_input"][0]
    assert "Rate the answer." in prompt
    assert "[Question] question 0\n[Answer] good" in prompt


def test_a_verdict_that_cannot_be_read_is_no_zero():
    judge = make_rater(lambda prompt: "I refuse." if "bad" in prompt.text else "Rating: [[9]]")
    result = apply_metrics(columns_of(["good", "bad"]), [judge])
    assert result.scores["rating"] == 0.9
    assert result.scores["num_of_instances"] == 1
    assert result.scores["num_of_failures"] == 1
    assert result.failures[1].kind == "unreadable"


def test_a_judge_that_does_not_answer_fails_the_instance():
    def answer(prompt):
        if "bad" in prompt.text:
            return Response(failure=Failure("timeout", "too slow"))
        return "[[5]]"

    result = apply_metrics(columns_of(["good", "bad"]), [make_rater(answer)])
    assert result.failures[1].kind == "timeout"
    assert result.scores["rating"] == 0.5


def test_a_judge_sees_the_reference_where_its_task_has_one():
    template = InputOutputTemplate(
        input_format="{question}|{answer}|{reference_answer}",
        postprocessors=["processors.extract_mt_bench_rating_judgment"],
    )
    judge = LLMAsJudge(
        inference_model=ScriptedEngine(answer="[[10]]"), template=template, task="rating.single_turn_with_reference"
    )
    result = apply_metrics(columns_of(["a"]), [judge])
    assert result.instance_scores["llm_as_judge_judge_raw_input"][0].strip() == "question 0|a|reference"


def test_a_question_is_shown_in_the_words_of_its_template():
    fields = {
        "metadata": {
            "template": {"__type__": "input_output_template", "input_format": "Q: {text}", "output_format": "{label}"}
        }
    }
    result = apply_metrics(columns_of(["a"], text="why?", label="x", **fields), [make_rater(lambda prompt: "[[1]]")])
    assert "[Question] Q: why?" in result.instance_scores["rating_judge_raw_input"][0]
    whole = make_rater(lambda prompt: "[[1]]", strip_system_prompt_and_format_from_inputs=False)
    result = apply_metrics(columns_of(["a"], text="why?", label="x", **fields), [whole])
    assert "[Question] question 0" in result.instance_scores["rating_judge_raw_input"][0]


def test_chat_prompts_are_shown_as_text():
    assert words_of([{"role": "user", "content": "a"}]) == "a"
    assert words_of([{"role": "system", "content": "s"}, {"role": "user", "content": "a"}]) == "s\na"
    turns = [{"role": role, "content": role[0]} for role in ("user", "assistant", "user")]
    assert words_of(turns) == "user: u\nassistant: a\nuser: u"


def test_answers_are_compared_with_a_baseline_by_win_rate():
    template = InputOutputTemplate(
        input_format="{question}\nA: {answer_a}\nB: {answer_b}",
        postprocessors=["processors.extract_arena_hard_numerical_judgment"],
    )
    engine = ScriptedEngine(function=lambda prompt: "[[A>>B]]" if "good" in prompt.text else "[[B>A]]")
    judge = LLMAsJudge(inference_model=engine, template=template, task="pairwise_comparative_rating.single_turn")
    result = apply_metrics(columns_of(["good", "bad", "bad"]), [judge])
    assert list(result.instance_scores["llm_as_judge"]) == [3, -1, -1]
    assert result.scores["llm_as_judge"] == 3 / 5


def test_swapped_answers_turn_the_verdict():
    template_data = {
        "__type__": "pairwise_comparative_rating_template",
        "input_format": "{question}\nA: {answer_a}\nB: {answer_b}",
        "choice_a_field": "answer_a",
        "choice_b_field": "answer_b",
        "choice_a_id_field": "model_a",
        "choice_b_id_field": "model_b",
        "answer_field": "answer_a_preference",
        "shuffle": True,
        "postprocessors": ["processors.extract_arena_hard_numerical_judgment"],
    }
    engine = ScriptedEngine(function=lambda prompt: "[[A>B]]" if "A: good" in prompt.text else "[[B>A]]")
    judge = LLMAsJudge(inference_model=engine, template=template_data, task="pairwise_comparative_rating.single_turn")
    columns = Columns(["good"] * 12, [[f"bad {i}"] for i in range(12)], [{"source": f"q{i}"} for i in range(12)])
    result = apply_metrics(columns, [judge])
    prompts = result.instance_scores["llm_as_judge_judge_raw_input"]
    assert {"A: good" in prompt for prompt in prompts} == {True, False}
    assert set(result.instance_scores["llm_as_judge"]) == {1}


def test_a_judge_may_be_asked_through_something():
    asked = []

    def asking(engine, requests):
        asked.append(engine)
        return ScriptedEngine(answer="[[2]]").generate(requests)

    judge = make_rater(lambda prompt: "[[9]]")
    with asking_through(asking):
        assert apply_metrics(columns_of(["a"]), [judge]).scores["rating"] == 0.2
    assert len(asked) == 1
    assert apply_metrics(columns_of(["a"]), [judge]).scores["rating"] == 0.9


def test_an_engine_that_may_not_see_the_data_is_asked_nothing():
    asked = []
    engine = ScriptedEngine(
        function=lambda prompt: asked.append(prompt) or "[[9]]", data_classification_policy=["public"]
    )
    judge = LLMAsJudge(inference_model=engine, template=RATING, task="rating.single_turn")
    columns = columns_of(["a"], metadata={"data_classification_policy": ["proprietary"]})
    with pytest.raises(PolicyError):
        apply_metrics(columns, [judge])
    assert asked == []


def test_the_engine_of_a_judge_must_predict():
    with pytest.raises(ValidationError, match="cannot predict"):
        LLMAsJudge(inference_model="metrics.accuracy", template=RATING, task="rating.single_turn")
    with pytest.raises(ArtifactError):
        LLMAsJudge(inference_model=ScriptedEngine(answer="x"), template=RATING, task="rating.double_turn")


# -- judges by a task ---------------------------------------------------------------------------------------------

BINARY_TASK = {
    "__type__": "task",
    "input_fields": {"question": "str", "answer": "str", "contexts": "List[str]"},
    "reference_fields": {"is_faithful": "str"},
    "prediction_type": "float",
    "metrics": ["metrics.accuracy"],
}
FAITHFUL = InputOutputTemplate(
    input_format="{contexts}\nQ: {question}\nA: {answer}\nFaithful?",
    output_format="{is_faithful}",
    postprocessors=["processors.take_first_word", "processors.lower_case", "processors.yes_no_to_int"],
)


@pytest.fixture
def binary_task(tmp_path):
    path = tmp_path / "task.json"
    path.write_text(json.dumps(BINARY_TASK))
    return str(path)


def test_a_judge_by_task_reads_fields_and_the_prediction(binary_task):
    engine = ScriptedEngine(function=lambda prompt: "Yes, it is" if "A: right" in prompt.text else "No")
    judge = TaskBasedLLMasJudge(
        task=binary_task,
        inference_model=engine,
        template=FAITHFUL,
        format="formats.chat_api",
        main_score="faithful",
        prediction_field="answer",
        judge_to_generator_fields_mapping={"contexts": "passages"},
    )
    task_data = [{"question": "q", "passages": ["p1", "p2"]}] * 2
    result = apply_metrics(Columns(["right", "wrong"], [["x"]] * 2, task_data), [judge])
    assert list(result.instance_scores["scripted_faithful"]) == ["1", "0"]
    assert result.scores["scripted_faithful"] == 0.5
    assert result.scores["score_name"] == "scripted_faithful"
    message = result.instance_scores["scripted_faithful_judge_raw_input"][0][0]
    assert message["content"] == "p1, p2\nQ: q\nA: right\nFaithful?"


# -- criteria -----------------------------------------------------------------------------------------------------


def test_options_must_have_scores():
    with pytest.raises(ValidationError, match="'No'"):
        CriteriaWithOptions(
            name="x",
            description="y",
            options=[CriteriaOption(name="Yes"), CriteriaOption(name="No")],
            option_map={"Yes": 1},
        )


def test_criteria_come_from_dicts_text_and_questions():
    data = {
        "name": "a",
        "description": "b",
        "options": [{"name": "Yes", "description": ""}],
        "option_map": {"Yes": 1.0},
    }
    criteria = CriteriaWithOptions.from_obj(data)
    assert criteria.description == "b"
    assert CriteriaWithOptions.from_jsons(json.dumps(data)) == criteria
    assert CriteriaWithOptions.from_dict(json.loads(criteria.to_json())) == criteria
    assert CreateYesNoCriteriaFromString().process_one("good?").option_map == {"Yes": 1.0, "No": 0.0}
    assert CreateYesNoPartiallyCriteriaFromString().process_one("good?").score_of("Partially") == 0.5
    assert CreateCriteriaFromString().process_one("good?").description == "good?"


@pytest.mark.parametrize(
    "answer, expected",
    [("Yes", "Yes"), (' "no". ', "No"), ("I choose: Yes", "Yes"), ("Answer: no way", "No")],
)
def test_options_are_found_in_answers(answer, expected):
    assert chosen_option(answer, ["Yes", "No"]) == expected


@pytest.mark.parametrize("answer", ["maybe", "", "Nope", "Yes and No, who can tell", "一"])
def test_an_answer_that_names_no_option_is_a_failure(answer):
    assert chosen_option(answer, ["Yes", "No"]).kind == "unreadable"


def test_the_longer_of_two_nested_options_is_meant():
    assert chosen_option("I would say Very Good overall", ["Good", "Very Good"]) == "Very Good"


# -- direct judges ------------------------------------------------------------------------------------------------


def polite_judge(prompt):
    words = prompt.messages[-1]["content"]
    if words.startswith("Now decide"):
        return "Yes" if "please" in prompt.text else "No"
    return "It says please." if "please" in prompt.text else "It does not."


def test_a_direct_judge_chooses_an_option():
    judge = LLMJudgeDirect(
        inference_engine=ScriptedEngine(function=polite_judge), criteria=POLITE, context_fields=["question"]
    )
    result = apply_metrics(columns_of(["please", "now!"], question="how?"), [judge])
    assert list(result.instance_scores["polite_tone"]) == [1.0, 0.0]
    assert result.scores["polite_tone"] == 0.5
    assert result.scores["score_name"] == "polite_tone"
    assert list(result.instance_scores["polite_tone_selected_option"]) == ["Yes", "No"]
    assert list(result.instance_scores["polite_tone_positional_bias"]) == [False, False]
    assert result.instance_scores["polite_tone_assessment"][0] == "It says please."
    assert result.instance_scores["polite_tone_using_scripted_scripted"][0] == 1.0
    prompts = result.instance_scores["polite_tone_prompts"][0]
    assert "question: how?" in prompts["assessment"][0]["content"]
    assert [message["role"] for message in prompts["option_selection"]] == ["user", "assistant", "user"]
    first, second = (prompts[name][0]["content"] for name in ("assessment", "positional_bias_assessment"))
    assert first.index('"Yes"') < first.index('"No"')
    assert second.index('"No"') < second.index('"Yes"')
    assert judge.main_score == "llm_as_judge"


def test_positional_bias_is_noticed():
    def first_option(prompt):
        return prompt.messages[-1]["content"].split('- "')[1].split('"')[0]

    judge = LLMJudgeDirect(inference_engine=ScriptedEngine(function=first_option), criteria=POLITE, context_fields=None)
    result = apply_metrics(columns_of(["a"]), [judge])
    assert result.instance_scores["polite_tone_positional_bias"][0] is True
    assert result.instance_scores["polite_tone_positional_bias_selected_option"][0] == "No"


def test_criteria_may_differ_by_instance():
    question = CreateYesNoCriteriaFromString().process_one("Is it kind?")
    judge = LLMJudgeDirect(
        inference_engine=ScriptedEngine(function=polite_judge),
        criteria_field="criteria",
        context_fields="question",
        generate_summaries=True,
        check_positional_bias=False,
        include_prompts_in_result=False,
    )
    task_data = [{"question": "q", "criteria": POLITE}, {"question": "q", "criteria": question}, {"question": "q"}]
    result = apply_metrics(Columns(["please", "now", "x"], [[""]] * 3, task_data), [judge])
    assert list(result.instance_scores["llm_as_judge"])[:2] == [1.0, 0.0]
    assert result.failures[2].kind == "missing_field"
    assert "llm_as_judge_summary" in result.instance_scores
    assert "llm_as_judge_prompts" not in result.instance_scores


def test_a_direct_judge_without_criteria_says_so():
    judge = LLMJudgeDirect(inference_engine=ScriptedEngine(answer="Yes"))
    with pytest.raises(UsageError, match="criteria_field"):
        apply_metrics(columns_of(["a"], context="c"), [judge])


def test_a_direct_judge_that_babbles_is_counted():
    judge = LLMJudgeDirect(inference_engine=ScriptedEngine(answer="Hmm."), criteria=POLITE, context_fields=[])
    result = apply_metrics(columns_of(["a", "b"]), [judge])
    assert result.scores["num_of_failures"] == 2
    assert math.isnan(result.scores["score"])


def test_a_missing_context_fails_the_instance_only():
    judge = LLMJudgeDirect(inference_engine=ScriptedEngine(function=polite_judge), criteria=POLITE)
    task_data = [{"context": "c"}, {}]
    result = apply_metrics(Columns(["please", "please"], [[""]] * 2, task_data), [judge])
    assert "context" in result.failures[1].message
    assert result.scores["num_of_instances"] == 1


def test_what_is_judged_may_be_a_field():
    criteria = POLITE.model_copy(update={"prediction_field": "letter", "context_fields": ["question"]})
    judge = LLMJudgeDirect(
        inference_engine=ScriptedEngine(function=polite_judge), criteria=criteria, context_fields=None
    )
    result = apply_metrics(columns_of([None], letter="please", question="q"), [judge])
    assert result.scores["polite_tone"] == 1.0


# -- pairwise judges ----------------------------------------------------------------------------------------------


def longer(prompt):
    words = prompt.messages[-1]["content"]
    if not words.startswith("Now decide"):
        return "I compare."
    answers = prompt.messages[0]["content"].split("\n\n")
    answers = [part.strip() for part in answers if part.strip().startswith("Answer ")]
    best = max(answers, key=lambda part: len(part.partition(":\n")[2]))
    return best.partition(":")[0]


def test_systems_are_ranked_by_win_rate():
    judge = LLMJudgePairwise(
        inference_engine=ScriptedEngine(function=longer),
        criteria=Criteria(name="", description="Longer?"),
        context_fields=[],
    )
    predictions = [{"a": "xx", "b": "xxxx", "c": "x"}, {"a": "xxx", "b": "x", "c": "xx"}]
    result = apply_metrics(columns_of(predictions), [judge])
    assert list(result.instance_scores["a_winrate"]) == [0.5, 1.0]
    assert list(result.instance_scores["b_ranking"]) == [1, 3]
    assert result.scores["score_name"] == "a_winrate"
    assert result.scores["a_winrate"] == 0.75
    assert result.scores["b_winrate"] == 0.5
    assert result.instance_scores["a_compared_to"][0] == ["b", "c"]
    assert result.instance_scores["a_selections"][0] == ["b", "a"]
    assert result.instance_scores["a_positional_bias"][0] == [False, False]
    assert len(result.instance_scores["a_prompts"][0]["option_selection"]) == 2


def test_systems_may_be_numbered():
    judge = LLMJudgePairwise(
        inference_engine=ScriptedEngine(function=longer),
        criteria=Criteria(name="Length", description="Longer?"),
        context_fields=[],
        check_positional_bias=False,
        generate_summaries=True,
    )
    result = apply_metrics(columns_of([["x", "xx"], ["xx", "x"], "alone"]), [judge])
    assert list(result.instance_scores["1_winrate"])[:2] == [0.0, 1.0]
    assert result.scores["1_winrate"] == 0.5
    assert list(result.failures) == [2]
    assert "1_positional_bias" not in result.instance_scores
    assert result.instance_scores["1_summaries"][0]


def test_equal_win_rates_share_a_rank():
    judge = LLMJudgePairwise(
        inference_engine=ScriptedEngine(function=longer), criteria=Criteria(name="", description="?"), context_fields=[]
    )
    contest = {"a": "xxx", "b": "xx", "c": "x"}
    result = apply_metrics(columns_of([contest]), [judge])
    assert [result.instance_scores[f"{name}_ranking"][0] for name in "abc"] == [1, 2, 3]


# -- judges of the catalog ----------------------------------------------------------------------------------------


def yes_or_no(yes, no):
    top = tuple((text, math.log(chance)) for text, chance in (("yes", yes), ("no", no)) if chance)
    tokens = (
        (TokenLogProbability(top[0][0], top[0][1], top),)
        if top
        else (TokenLogProbability("hm", -0.1, (("hm", -0.1),)),)
    )
    return Response(texts=("yes",), tokens=(tokens,))


def test_a_rag_judge_reads_probabilities():
    name = "metrics.rag.answer_correctness.llama_3_1_70b_instruct_wml_q_a_gt_loose_logprobs"
    mapping = "judge_to_generator_fields_mapping={ground_truths=reference_answers}"
    metric = fetch_artifact(f"{name}[{mapping}]")
    engine = ScriptedEngine(
        function=lambda prompt: yes_or_no(0.6, 0.2) if "in France" in prompt.text else yes_or_no(0, 0)
    )
    metric = metric.model_copy(update={"inference_model": engine})
    task_data = [
        {"question": "where?", "reference_answers": ["in France"]},
        {"question": "where?", "reference_answers": ["x"]},
    ]
    result = apply_metrics(Columns(["France", "Spain"], [["x"]] * 2, task_data), [metric])
    scores = list(result.instance_scores["score"])
    assert scores[0] == pytest.approx(0.75)
    assert scores[1] is None
    assert result.failures[1].kind == "unreadable"


def test_a_rag_judge_works_on_rows_and_streams():
    name = "metrics.rag.faithfulness.llama_3_1_70b_instruct_wml_q_c_a"
    engine = ScriptedEngine(answer="Yes.")
    metric = fetch_artifact(name, {"model": engine})
    rows = [{"question": "q", "contexts": ["c"], "answer": "a"}]
    done = list(SequentialOperator(steps=[metric])(MultiStream({"test": ListStream(rows)}))["test"])
    score_name = done[0]["score"]["instance"]["score_name"]
    assert score_name == "scripted_faithfulness_q_c_a"
    assert done[0]["score"]["instance"][score_name] == 1.0
    assert done[0]["score"]["global"][score_name] == 1.0
    assert f"{score_name}_judge_raw_input" in done[0]["score"]["instance"]


def test_three_judges_may_decide_together():
    ensemble = fetch_artifact("metrics.llm_as_judge.conversation_answer_topicality.ensemble_v1_ibmgenai_judges")
    said = iter(["Yes", "Yes", "No"])
    judges = []
    for judge in ensemble.metrics:
        decision = next(said)
        judges.append(judge.model_copy(update={"inference_engine": ScriptedEngine(answer=decision)}))
    ensemble = MetricsEnsemble(metrics=judges, weights=[0.5, 0.25, 0.25])
    columns = columns_of(["on topic"], conversation="user: hello")
    result = apply_metrics(columns, [ensemble])
    assert result.scores["ensemble_score"] == 0.75
    assert result.instance_scores["ensemble_2_conversation_answer_topicality"][0] == 0.0
    assert result.scores["score_name"] == "ensemble_score"
    members = [f"ensemble_{number}_conversation_answer_topicality" for number in range(3)]
    assert [score.name for score in result.table if score.name in members] == members


def test_an_ensemble_fails_where_a_member_does():
    ensemble = MetricsEnsemble(metrics=["metrics.accuracy", "metrics.char_edit_distance"])
    result = apply_metrics(Columns(["ab", 5], [["ab"], ["5"]]), [ensemble])
    assert result.scores["ensemble_score"] == 0.5
    assert list(result.failures) == [1]
    with pytest.raises(ValidationError, match="2 weights"):
        MetricsEnsemble(metrics=["metrics.accuracy"], weights=[1, 2])


def test_groups_ask_a_judge_nothing_new():
    asked = []

    def counting(engine, requests):
        listed = list(requests)
        asked.extend(listed)
        return engine.generate(listed)

    judge = make_rater(lambda prompt: "[[5]]")
    rows = [
        {
            "source": f"q{number % 3}",
            "references": ["x"],
            "metrics": [judge],
            "groups": [json.dumps({"kind": number % 2}), json.dumps({"size": number % 3})],
            "postprocessors": [],
            "task_data": {},
        }
        for number in range(6)
    ]
    with asking_through(counting):
        results = evaluate(["a"] * 6, rows)
        assert len(asked) == 6
        assert results.groups_scores["kind"][1]["score"] == 0.5
        evaluate(["a"] * 6, rows)
    assert len(asked) == 12


@pytest.mark.parametrize("wrong", [{"max": ["1_winrate"]}, {"mean": ["1_ranking"]}, {"group_mean": {}}])
def test_a_pairwise_judge_has_means_of_win_rates_alone(wrong):
    fields = {"inference_engine": ScriptedEngine(function=longer), "context_fields": []}
    with pytest.raises(ValidationError, match="no global scores by"):
        LLMJudgePairwise(**fields, reduction_map=wrong)
    for same in ({"mean": ["score"]}, {"mean": ["a_winrate", "b_winrate"]}):
        assert LLMJudgePairwise(**fields, reduction_map=same)
