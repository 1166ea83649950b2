"""Whole tasks: from a file and rows to requests, and from answers to scores."""

import json
import math

import pytest

from proctor import regexes
from proctor.dialects.lm_eval.resolve import _finder, resolve, resolve_name
from proctor.dialects.resolve import resolve_task
from proctor.engines.scripted import ScriptedEngine
from proctor.errors import (
    DataError,
    DemosError,
    ProctorError,
    ScoringError,
    TemplateError,
    TrustError,
    UsageError,
    ValidationError,
)
from proctor.ir import Choose, Failure, Generate, Likelihood, Response, Rolling, Scored
from proctor.logs import get_logger
from proctor.recipes.exam import Answered
from proctor.recipes.options import ExamOptions
from proctor.running.run import run_exams
from proctor.settings import settings

ROWS = [
    {
        "question": f"Q{n}?",
        "choices": {"text": [f"w{n}", f"x{n}", f"y{n}"], "label": ["A", "B", "C"]},
        "answerKey": "ABC"[n % 3],
        "n": n % 3,
    }
    for n in range(6)
]
DEMOS = [{**ROWS[0], "question": f"D{n}?", "answerKey": "B", "n": 1} for n in range(8)]
HEAD = """
dataset_path: json
dataset_kwargs: {data_files: {test: test.jsonl, train: train.jsonl}}
test_split: test
training_split: train
"""
CHOICE = f"""{HEAD}
output_type: multiple_choice
doc_to_text: "Question: {{{{question}}}}\\nAnswer:"
doc_to_choice: "{{{{choices.text}}}}"
doc_to_target: "{{{{choices.label.index(answerKey)}}}}"
"""
TEXT = f"""{HEAD}
doc_to_text: "{{{{question}}}}"
doc_to_target: "{{{{answerKey}}}}"
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "test.jsonl").write_text("\n".join(map(json.dumps, ROWS)))
    (tmp_path / "train.jsonl").write_text("\n".join(map(json.dumps, DEMOS)))
    return tmp_path


@pytest.fixture
def exam(folder):
    def make(text, name="t", **options):
        (folder / "t.yaml").write_text(f"task: {name.partition('@')[0]}\n{text}")
        (found,) = resolve([name], [str(folder)], ExamOptions(**options))
        return found

    return make


def requests(exam):
    return [request for item in exam.questions() for request in item.requests]


def answer(exam, reply):
    """Grade an exam whose answers a function of (item, request) gives."""
    return exam.grade(Answered(item, tuple(reply(item, each) for each in item.requests)) for item in exam.questions())


def _filtered(exam, name):
    pipeline = next(each for each in exam.grader.pipelines if each.name == name)
    answers = [Answered(item, (says("fedcba"[item.number]),)) for item in exam.questions()]
    with settings.context(trust_code=True):
        return [scored.filtered for _, scored in exam.grader.scored(pipeline, answers)]


def says(*texts):
    return Response(texts=texts)


def likes(place, count=3):
    return Response(scores=tuple(Scored(-1.0 if each == place else -2.0, each == place) for each in range(count)))


class TestRequests:
    def test_multiple_choice(self, exam):
        first = requests(exam(CHOICE))[0]
        assert isinstance(first, Choose)
        assert [(pair.context.text, pair.continuation) for pair in first.pairs] == [
            ("Question: Q0?\nAnswer:", " w0"),
            ("Question: Q0?\nAnswer:", " x0"),
            ("Question: Q0?\nAnswer:", " y0"),
        ]

    def test_demos_description_and_system(self, exam):
        made = exam(
            f"{CHOICE}\ndescription: 'About {{{{n}}}}.'\nfewshot_config: {{sampler: first_n}}",
            num_demos=2,
            system_prompt="S",
        )
        assert requests(made)[1].pairs[0].context.text == (
            "S\n\nAbout 1.Question: D0?\nAnswer: x0\n\nQuestion: D1?\nAnswer: x0\n\nQuestion: Q1?\nAnswer:"
        )

    def test_zero_shots_of_the_task_stay(self, exam):
        assert exam(f"{CHOICE}\nnum_fewshot: 0", num_demos=5).own.num_fewshot == 0
        assert exam(f"{CHOICE}\nnum_fewshot: 2", num_demos=1).own.num_fewshot == 1
        assert exam(f"{CHOICE}\nnum_fewshot: 2").own.num_fewshot == 2

    def test_several_inputs(self, exam):
        made = exam(
            f"{HEAD}\noutput_type: multiple_choice\ndoc_to_text: n\ndoc_to_choice: '{{{{choices.text}}}}'\ndoc_to_target: ' end'\ntarget_delimiter: ''",
            num_demos=1,
        )
        pairs = requests(made)[2].pairs
        assert [pair.context.text[-2:] for pair in pairs] == ["w2", "x2", "y2"]
        assert {pair.continuation for pair in pairs} == {" end"}
        assert pairs[0].context.text.startswith("x0 end\n\n")
        assert answer(made, lambda item, each: likes(item.instance["n"])).scores["acc"] == 1.0

    def test_generation(self, exam):
        made = exam(
            f"{TEXT}\ngeneration_kwargs: {{until: [STOP], max_gen_toks: 7, top_p: 0.5, num_beams: 3}}\nrepeats: 2"
        )
        assert len(next(iter(made.questions())).requests) == 2
        first = requests(made)[0]
        assert isinstance(first, Generate)
        decoding = first.decoding
        assert (decoding.stop, decoding.max_tokens, decoding.top_p, decoding.extra) == (
            ("STOP",),
            7,
            0.5,
            {"num_beams": 3},
        )

    def test_options_change_generation(self, exam):
        made = exam(TEXT, decoding={"max_tokens": 9, "temperature": 0.5, "do_sample": True})
        decoding = requests(made)[0].decoding
        assert (decoding.max_tokens, decoding.temperature) == (9, 0.5)

    def test_likelihood_and_rolling(self, exam):
        first = requests(exam(f"{TEXT}\noutput_type: loglikelihood"))[0]
        assert isinstance(first, Likelihood)
        assert (first.context.text, first.continuation) == ("Q0?", "A")
        first = requests(exam(f"{TEXT}\noutput_type: loglikelihood_rolling"))[0]
        assert isinstance(first, Rolling)
        assert first.text == "A"

    def test_unconditional_likelihoods(self, exam):
        first = requests(exam(f"{CHOICE}\nmetric_list: [{{metric: acc_mutual_info}}]"))[0]
        assert [pair.context.text for pair in first.pairs[3:]] == ["", "", ""]
        assert first.pairs[3].continuation == " w0"

    def test_chat(self, exam):
        made = exam(CHOICE, num_demos=1, apply_chat_template=True, system_prompt="S")
        pair = requests(made)[0].pairs[0]
        assert [message["role"] for message in pair.context.messages] == ["system", "user", "assistant", "user"]
        assert pair.continuation == "w0"
        made = exam(CHOICE, num_demos=1, apply_chat_template=True, demos_as_turns=False)
        assert [message["role"] for message in requests(made)[0].pairs[0].context.messages] == ["user"]

    def test_an_answer_prefix_in_chat_needs_the_delimiter(self, exam):
        made = exam(f"{CHOICE}\ngen_prefix: So", apply_chat_template=True)
        pair = requests(made)[0].pairs[0]
        assert pair.context.messages[-1] == {"role": "assistant", "content": "So"}
        assert pair.continuation == " w0"

    def test_chat_override(self, exam):
        text = f"{CHOICE}\nchat_override: {{doc_to_text: 'Chat: {{{{question}}}}'}}"
        assert requests(exam(text))[0].pairs[0].context.text.startswith("Question")
        assert requests(exam(text, apply_chat_template=True))[0].pairs[0].context.text == "Chat: Q0?"
        assert requests(exam(text, chat_override=True))[0].pairs[0].context.text == "Chat: Q0?"

    def test_limits_and_samples(self, exam):
        assert [item.number for item in exam(CHOICE, limit=2).questions()] == [0, 1]
        assert len(list(exam(CHOICE, limit=0.4).questions())) == 3
        assert len(list(exam(CHOICE, limit=100).questions())) == 6
        made = exam(CHOICE, samples={"t": [4, 1]})
        assert [item.number for item in made.questions()] == [1, 4]
        with pytest.raises(DataError, match="has no instance 9"):
            list(exam(CHOICE, samples={"t": [9]}).questions())

    def test_every_call_gives_equal_items(self, exam):
        made = exam(CHOICE, num_demos=3)
        assert [request.key for request in requests(made)] == [request.key for request in requests(made)]

    def test_chosen_demos(self, exam):
        made = exam(f"{CHOICE}\nfewshot_config: {{sampler: first_n, fewshot_indices: [5, 3]}}", num_demos=2)
        assert requests(made)[0].pairs[0].context.text.startswith("Question: D5?\nAnswer: x0\n\nQuestion: D3?")
        made = exam(
            f"{CHOICE}\nfewshot_config: {{sampler: first_n, samples: [{{question: Given, choices: {{text: [z], label: [A]}}, answerKey: A}}]}}",
            num_demos=1,
        )
        assert requests(made)[0].pairs[0].context.text.startswith("Question: Given\nAnswer: z\n\n")

    def test_fields_of_demos(self, exam):
        made = exam(
            f"{CHOICE}\nfewshot_config: {{doc_to_text: 'Demo {{{{question}}}}', target_delimiter: '=', fewshot_delimiter: '; '}}",
            num_demos=1,
        )
        assert "Demo D" in requests(made)[0].pairs[0].context.text
        assert "?=x0; Question" in requests(made)[0].pairs[0].context.text

    def test_named_prompts(self, exam, folder):
        assert requests(exam(f"{TEXT}\nuse_prompt: 'qa-basic:q-newline-a'"))[0].prompt.text == "Q: Q0?\nA:"
        (folder / "prompts.yaml").write_text(
            "prompts:\n  mine: {doc_to_text: 'M {{question}}', doc_to_target: '{{n}}'}\n"
        )
        made = exam(f"{TEXT}\nuse_prompt: 'prompts.yaml:mine'")
        assert requests(made)[0].prompt.text == "M Q0?"
        with pytest.raises(TemplateError, match="no prompt"):
            list(exam(f"{TEXT}\nuse_prompt: 'qa-basic:nope'").questions())
        with pytest.raises(TemplateError, match="promptsource"):
            list(exam(f"{TEXT}\nuse_prompt: 'promptsource:x'").questions())


class TestTemplates:
    FIELDS = f"{HEAD}\noutput_type: multiple_choice\ndoc_to_text: '{{{{question}}}}'\ndoc_to_choice: '{{{{choices.text}}}}'\ndoc_to_target: n\n"

    def test_mmlu_scores_labels(self, exam):
        made = exam(f"{self.FIELDS}template: mmlu")
        first = requests(made)[1]
        assert first.pairs[0].context.text == "Question: Q1?\nA. w1\nB. x1\nC. y1\nAnswer:"
        assert [pair.continuation for pair in first.pairs] == [" A", " B", " C"]
        assert answer(made, lambda item, each: likes(item.instance["n"])).scores["acc"] == 1.0

    def test_cloze_scores_texts(self, exam):
        made = exam(f"{self.FIELDS}template: mmlu", "t@cloze")
        assert [pair.continuation for pair in requests(made)[1].pairs] == [" w1", " x1", " y1"]

    def test_generation_finds_the_label(self, exam):
        made = exam(f"{self.FIELDS}template: mmlu", template="generate_until", name="t", num_demos=1)
        assert requests(made)[0].prompt.text.endswith("C. y0\nAnswer:")
        assert "Answer: B\n\n" in requests(made)[0].prompt.text
        grade = answer(made, lambda item, each: says(f" {'ABC'[item.instance['n']]}. because"))
        assert grade.scores["exact_match,extract-answer"] == 1.0

    def test_boxed_answers(self, exam):
        made = exam(f"{TEXT}template: boxed")
        grade = answer(made, lambda item, each: says(f"so \\boxed{{{item.instance['answerKey']}}} done"))
        assert grade.scores["score"] == 1.0

    def test_chain_of_thought(self, exam):
        made = exam(f"{TEXT}template: cot")
        grade = answer(made, lambda item, each: says(f"Hm. The answer is {item.instance['answerKey']}."))
        assert grade.scores["score"] == 1.0

    def test_choices_as_text_by_hand(self, exam):
        made = exam(CHOICE, choices_as_text=True, num_demos=1)
        prompt = requests(made)[0].prompt.text
        assert prompt.startswith("Question: D7?\nA. w0\nB. x0\nC. y0\nAnswer with the label of the right choice only.")
        assert "\nAnswer: B\n\nQuestion: Q0?\nA. w0" in prompt
        grade = answer(made, lambda item, each: says(f"The answer is ({'ABC'[item.instance['n']]})"))
        assert grade.scores["score_name"] == "acc,extract-label"
        assert grade.scores["score"] == 1.0
        assert made.specification()["task"]["metadata"]["asked_as"] == "text"


class TestRecipesAndTasksInOneGroup:
    @pytest.fixture
    def run(self, folder, tmp_path, monkeypatch):
        rows = [{"label": n % 2, "sentence1": f"S{n}", "sentence2": f"T{n}", "idx": n} for n in range(4)]
        (folder / "wnli.jsonl").write_text("\n".join(map(json.dumps, rows)))
        card = {
            "__type__": "task_card",
            "loader": {"__type__": "load_json_file", "files": {"test": str(folder / "wnli.jsonl")}, "lines": True},
            "preprocess_steps": [
                {"__type__": "rename", "field": "sentence1", "to_field": "text_a"},
                {"__type__": "rename", "field": "sentence2", "to_field": "text_b"},
                {"__type__": "map_instance_values", "mappers": {"label": {"0": "not entailment", "1": "entailment"}}},
                {"__type__": "set", "fields": {"classes": ["entailment", "not entailment"]}},
                {"__type__": "set", "fields": {"type_of_relation": "entailment", "text_a_type": "premise"}},
                {"__type__": "set", "fields": {"text_b_type": "hypothesis"}},
            ],
            "task": "tasks.classification.multi_class.relation",
            "templates": "templates.classification.multi_class.relation.all",
        }
        (folder / "card.json").write_text(json.dumps(card))
        template = "templates.classification.multi_class.relation.default"
        (folder / "recipe.yaml").write_text(
            f"task: recipe\ninclude: unitxt\nrecipe: card={folder / 'card.json'},template={template},"
            "metrics=[metrics.accuracy]"
        )
        (folder / "own.yaml").write_text(f"task: own\n{TEXT}metric_list: [{{metric: exact_match}}]")
        (folder / "text.yaml").write_text(f"task: text\n{CHOICE}")
        (folder / "g.yaml").write_text("group: g\ntask: [recipe, text]\naggregate_metric_list: [{metric: acc}]")
        (folder / "h.yaml").write_text("group: h\ntask: [recipe, own]\naggregate_metric_list: [{metric: acc}]")

        def make(*names):
            engine = ScriptedEngine(answer="entailment", log_likelihood=lambda context, text: -1.0)
            return run_exams(resolve(names, [str(folder)]), engine, log=tmp_path / "log.db").results

        return make

    def test_the_score_is_of_both(self, run):
        found = run("g")
        assert found["recipe"]["accuracy"] == 0.5
        first = found["text"]["acc"]
        assert found["g"]["acc"] == pytest.approx((0.5 * 4 + first * 6) / 10)
        assert found["g"]["members"] == ["recipe", "text"]
        assert 0 < found["g"]["acc_stderr"] < 0.4

    def test_an_exam_of_two_groups_counts_in_both(self, run):
        found = run("g", "h")
        assert found["g"]["members"] == ["recipe", "text"]
        assert found["h"]["members"] == ["recipe", "own"]
        assert found["h"]["acc_without"] == ["own"]


class TestEnginesWithoutLikelihoods:
    """Multiple choice becomes text by itself, and the results say so."""

    def test_the_label_is_written_and_extracted(self, exam):
        made = exam(CHOICE)
        assert made.suited_to(ScriptedEngine(answer="B", log_likelihood=lambda context, text: -1.0)) is made
        text = made.suited_to(ScriptedEngine(answer="B"))
        assert text.suited_to(ScriptedEngine(answer="B")) is text
        assert all(isinstance(each, Generate) for each in requests(text))
        assert text.variant.startswith("choices as text")

    def test_runs_say_which_variant_was_used(self, exam, tmp_path, caplog, monkeypatch):
        monkeypatch.setattr(get_logger(), "propagate", True)
        result = run_exams([exam(CHOICE)], ScriptedEngine(answer="The answer is (B)."), log=tmp_path / "log.db")
        assert result.results["t"]["acc,extract-label"] == pytest.approx(2 / 6)
        assert result.results["t"]["variant"].startswith("choices as text")
        assert "t: choices as text (the label is written and extracted" in caplog.text

    def test_groups_aggregate_it(self, folder, tmp_path):
        (folder / "one.yaml").write_text(f"task: one\n{CHOICE}")
        (folder / "g.yaml").write_text("group: g\ntask: [one]\naggregate_metric_list: [{metric: acc}]")
        result = run_exams(resolve(["g"], [str(folder)]), ScriptedEngine(answer="B"), log=tmp_path / "log.db")
        assert result.results["g"]["acc,extract-label"] == pytest.approx(2 / 6)

    def test_it_can_be_refused(self, exam, tmp_path):
        made = exam(CHOICE, choices_as_text=False)
        assert made.suited_to(ScriptedEngine(answer="B")) is made
        with pytest.raises(UsageError, match="'scripted' cannot sit 't'"):
            run_exams([made], ScriptedEngine(answer="B"), log=tmp_path / "log.db")

    def test_generation_arguments_reach_it(self, exam):
        made = exam(CHOICE, decoding={"max_tokens": 7}).suited_to(ScriptedEngine(answer="B"))
        assert requests(made)[0].decoding.max_tokens == 7

    @pytest.mark.parametrize(
        "text, shown",
        [
            ("{{question}} Yes or no?", "Q0? Yes or no?"),
            ("{{question}}", "Q0?\nA. no\nB. yes\nAnswer with the label of the right choice only.\nAnswer:"),
        ],
        ids=["named in the question", "not named"],
    )
    def test_shared_choices_are_listed_where_the_question_does_not_name_them(self, exam, text, shown):
        made = exam(
            f"{HEAD}\noutput_type: multiple_choice\ndoc_to_text: '{text}'\ndoc_to_choice: ['no', 'yes']\ndoc_to_target: 1",
            choices_as_text=True,
        )
        assert requests(made)[0].prompt.text == shown
        right = "Yes." if "named" in shown or "or no" in shown else "B"
        assert answer(made, lambda item, each: says(right)).scores["score"] == 1.0

    def test_contexts_that_differ_become_choices(self, exam):
        made = exam(
            f"{HEAD}\noutput_type: multiple_choice\ndoc_to_text: n\ndoc_to_choice: ['a _', 'b _', 'c _']\n"
            "doc_to_target: ' the end'",
            choices_as_text=True,
        )
        assert "A. a _\nB. b _\nC. c _" in requests(made)[0].prompt.text
        assert answer(made, lambda item, each: says("ABC"[item.instance["n"]])).scores["score"] == 1.0


class TestPlacesOfProblems:
    """One clear message each, with its place."""

    def test_an_undefined_variable_names_task_document_field_file_and_columns(self, exam):
        with pytest.raises(TemplateError) as caught:
            list(exam(CHOICE.replace("{{question}}", "{{qestion}}")).questions())
        text = str(caught.value)
        assert "'qestion' is undefined" in text
        assert "t[0] split 'test', doc_to_text" in text
        assert "t.yaml:" in text
        assert "the columns are question, choices, answerKey, n" in text

    def test_it_does_so_for_choices_as_text(self, exam):
        with pytest.raises(TemplateError, match=r"t\[0\] split 'test', doc_to_text"):
            exam(CHOICE.replace("{{question}}", "{{qestion}}")).suited_to(ScriptedEngine(answer="A"))

    @pytest.mark.parametrize("as_text", [True, False])
    def test_a_column_that_is_missing(self, exam, as_text):
        made = exam(
            f"{HEAD}\noutput_type: multiple_choice\ndoc_to_text: questoin\ndoc_to_choice: [a]\ndoc_to_target: 0"
        )
        with pytest.raises(TemplateError, match="doc_to_text is 'questoin', and the documents have no") as caught:
            made.suited_to(ScriptedEngine(answer="A")) if as_text else list(made.questions())
        text = str(caught.value)
        assert "did you mean 'question'?" in text
        assert "t.doc_to_text" in text

    def test_a_literal_of_several_words_stays(self, exam):
        made = exam(f"{HEAD}\ndoc_to_text: 'Say it:'\ndoc_to_target: '{{{{answerKey}}}}'")
        assert requests(made)[0].prompt.text == "Say it:"

    def test_a_split_that_is_missing(self, exam):
        with pytest.raises(DataError, match="has no split 'tset'") as caught:
            list(exam(CHOICE.replace("test_split: test", "test_split: tset")).questions())
        assert "did you mean 'test'?" in str(caught.value)

    def test_a_gold_answer_outside_the_choices_as_text(self, exam, caplog, monkeypatch):
        monkeypatch.setattr(get_logger(), "propagate", True)
        made = exam(CHOICE.replace('"{{choices.label.index(answerKey)}}"', "7")).suited_to(ScriptedEngine(answer="A"))
        assert answer(made, lambda item, each: says("A")).scores["score"] == 0.0
        assert "the gold answer 7 is outside the choices" in caplog.text

    @pytest.mark.parametrize(
        "text, message",
        [
            ("include: nowhere.yaml", "the included file"),
            ("include: t.yaml", "the includes lead in a circle"),
            ("  a: [", "not valid YAML"),
        ],
    )
    def test_a_file_that_cannot_be_read_says_why(self, folder, text, message):
        (folder / "t.yaml").write_text(f"task: named\n{text}\n")
        with pytest.raises(ProctorError, match=message):
            resolve_task("named", ExamOptions(include_paths=(str(folder),)))


def test_files_of_this_machine_are_read_in_silence(exam, capfd):
    from datasets.utils import are_progress_bars_disabled

    requests(exam(CHOICE))
    assert "Generating" not in capfd.readouterr().err
    assert not are_progress_bars_disabled()


class TestScores:
    def test_an_answer_that_a_pattern_never_gets_through_is_that_documents_failure(self, exam, monkeypatch):
        monkeypatch.setattr(regexes, "LIMIT_SECONDS", 0.1)
        steps = "[{function: regex, regex_pattern: '(a+)+$'}, {function: take_first}]"
        made = exam(
            f"{TEXT}filter_list: [{{name: slow, filter: {steps}}}, {{name: raw, filter: [{{function: take_first}}]}}]"
        )
        grade = answer(
            made, lambda item, each: says("a" * 40 + "b" if item.number == 2 else item.instance["answerKey"])
        )
        assert list(grade.failures) == [2]
        assert "does not end on a text of 41 characters" in grade.failures[2].message
        assert grade.instance_scores["exact_match,slow"][2] is None
        assert grade.scores["exact_match,slow_n"] == 5
        assert grade.scores["exact_match,raw_n"] == 6

    def test_a_pattern_that_fails_on_every_answer_is_one_error(self, exam, monkeypatch):
        monkeypatch.setattr(regexes, "LIMIT_SECONDS", 0.05)
        made = exam(f"{TEXT}filter_list: [{{name: s, filter: [{{function: regex, regex_pattern: '(a+)+$'}}]}}]")
        grade = answer(made, lambda item, each: says("a" * 40 + "b"))
        (problem,) = grade.metric_failures.values()
        assert "does not end" in problem.message
        assert len(grade.failures) == grade.scores["num_of_failures"] == 6

    def test_a_metric_with_a_pattern_that_does_not_end(self, exam, monkeypatch):
        monkeypatch.setattr(regexes, "LIMIT_SECONDS", 0.1)
        made = exam(f"{TEXT}metric_list: [{{metric: exact_match, regexes_to_ignore: ['(a+)+ $']}}]")
        grade = answer(
            made, lambda item, each: says("a" * 40 + "b" if item.number == 1 else item.instance["answerKey"])
        )
        assert "does not end" in grade.failures[1].message
        assert grade.scores["exact_match"] == 1.0

    def test_accuracy_and_its_error(self, exam):
        grade = answer(exam(CHOICE), lambda item, each: likes(item.instance["n"] if item.number else 1))
        assert grade.scores["acc"] == pytest.approx(5 / 6)
        assert grade.scores["acc_stderr"] == pytest.approx(math.sqrt((5 / 6 * 1 / 6) / 5))
        assert grade.scores["score_name"] == "acc"
        assert grade.scores["acc_ci_low"] < 5 / 6 < grade.scores["acc_ci_high"]
        assert grade.scores["num_of_instances"] == 6
        assert "num_of_failures" not in grade.scores
        assert grade.main.unit == "share"
        assert grade.instance_scores["acc"][0] == 0.0
        assert grade.processed_predictions[1] == "x1"

    def test_intervals_of_proportions_stay_within_bounds(self, exam):
        scores = answer(exam(CHOICE), lambda item, each: likes(item.instance["n"])).scores
        assert scores["acc_ci_high"] == 1.0
        assert scores["acc_ci_low"] == pytest.approx(6 / (6 + 1.959964**2), rel=1e-6)

    def test_every_choice_metric(self, exam):
        names = [
            "acc",
            "acc_norm",
            "acc_bytes",
            "acc_mutual_info",
            "exact_match",
            "brier_score",
            "f1",
            "mcc",
            "likelihood",
        ]
        made = exam(
            f"{CHOICE}\nmetric_list: [{', '.join(f'{{metric: {name}}}' for name in names if name not in ('f1', 'mcc'))}]"
        )
        grade = answer(made, lambda item, each: likes(item.instance["n"], 6))
        for name in ("acc", "acc_norm", "acc_bytes", "exact_match"):
            assert grade.scores[name] == 1.0
        assert grade.scores["acc_mutual_info"] == 1.0
        assert grade.scores["likelihood"] == -1.0
        wrong = 2 * (1 / (math.e + 2)) ** 2 + (1 - math.e / (math.e + 2)) ** 2
        assert grade.scores["brier_score"] == pytest.approx(wrong)

    def test_length_normalisation(self, exam):
        text = CHOICE.replace("{{choices.text}}", "{{['ab', 'abcd', 'é']}}")
        reply = Response(scores=(Scored(-3.0), Scored(-4.0), Scored(-2.5)))
        grade = answer(
            exam(f"{text}\nmetric_list: [{{metric: acc}}, {{metric: acc_norm}}, {{metric: acc_bytes}}]"),
            lambda item, each: reply,
        )
        golds = [row["n"] for row in ROWS]
        assert grade.instance_scores["acc"] == [float(gold == 2) for gold in golds]
        assert grade.instance_scores["acc_norm"] == [float(gold == 1) for gold in golds]
        assert grade.instance_scores["acc_bytes"] == [float(gold == 1) for gold in golds]

    def test_several_right_answers(self, exam):
        text = CHOICE.replace('doc_to_target: "{{choices.label.index(answerKey)}}"', "doc_to_target: [0, 2]")
        assert answer(exam(text), lambda item, each: likes(2)).scores["acc"] == 1.0
        assert answer(exam(text), lambda item, each: likes(1)).scores["acc"] == 0.0

    def test_gold_outside_the_choices_is_wrong_and_said(self, exam, monkeypatch):
        said = []
        monkeypatch.setattr("logging.Logger.warning", lambda self, text, *values: said.append(text % values))
        text = CHOICE.replace('doc_to_target: "{{choices.label.index(answerKey)}}"', "doc_to_target: 7")
        assert answer(exam(text), lambda item, each: likes(0)).scores["acc"] == 0.0
        assert said == ["t: 6 documents have a gold answer outside their choices; they count as wrong"]

    def test_a_metric_that_cannot_be_computed_is_named(self, exam):
        made = exam(f"{TEXT}\nmetric_list: [{{metric: exact_match}}, {{metric: f1}}]")
        grade = answer(made, lambda item, each: says(item.instance["answerKey"]))
        assert grade.scores["exact_match"] == 1.0
        assert list(grade.metric_failures) == ["f1"]
        assert "f1" not in grade.scores

    def test_filters_have_scores_of_their_own(self, exam):
        text = f"{TEXT}\nfilter_list:\n  - {{name: strict, filter: [{{function: regex, regex_pattern: '^(A|B|C)$'}}, {{function: take_first}}]}}\n  - {{name: loose, filter: [{{function: regex, regex_pattern: '(A|B|C)'}}, {{function: take_first}}]}}"
        grade = answer(exam(text), lambda item, each: says(f" {item.instance['answerKey']}"))
        assert grade.scores["exact_match,strict"] == 0.0
        assert grade.scores["exact_match,loose"] == 1.0
        assert "exact_match_stderr,loose" in grade.scores

    def test_a_failed_answer_is_a_value_and_no_zero(self, exam):
        failure = Response(failure=Failure("timeout", "too slow"))
        grade = answer(exam(CHOICE), lambda item, each: failure if item.number == 2 else likes(item.instance["n"]))
        assert grade.scores["acc"] == 1.0
        assert grade.scores["acc_n"] == 5
        assert grade.scores["num_of_instances"] == 5
        assert grade.scores["num_of_failures"] == 1
        assert list(grade.failures) == [2]
        assert grade.instance_scores["acc"][2] is None

    def test_a_metric_that_fails_on_a_document(self, exam):
        text = f"{TEXT}\nmetric_list: [{{metric: exact_match}}]\nfilter_list: [{{name: f, filter: [{{function: map, mapping_dict: {{A: A}}}}, {{function: take_first}}]}}]"
        grade = answer(exam(text), lambda item, each: says("A" if item.number else "?"))
        assert grade.failures[0].kind == "scoring"

    def test_likelihood_and_rolling(self, exam):
        made = exam(f"{TEXT}\noutput_type: loglikelihood")
        grade = answer(made, lambda item, each: Response(scores=(Scored(-2.0, item.number < 3),)))
        assert grade.scores["perplexity"] == pytest.approx(math.exp(2))
        assert grade.scores["acc"] == 0.5
        made = exam(f"{HEAD}\noutput_type: loglikelihood_rolling\ndoc_to_text: ''\ndoc_to_target: 'a bc é'")
        grade = answer(made, lambda item, each: Response(scores=(Scored(-6.0),)))
        assert grade.scores["word_perplexity"] == pytest.approx(math.exp(2))
        assert grade.scores["byte_perplexity"] == pytest.approx(math.exp(6 / 7))
        assert grade.scores["bits_per_byte"] == pytest.approx(6 / 7 / math.log(2))

    def test_repeats(self, exam):
        text = f"{TEXT}\nrepeats: 4\nmetric_list: [{{metric: 'pass@k', k: [1, 2]}}, {{metric: 'avg@k'}}, {{metric: 'maj@k', k: 3}}]"
        replies = ["A", "x", "A", "x"]

        made = exam(text, limit=1)
        items = list(made.questions())
        grade = made.grade([Answered(items[0], tuple(says(each) for each in replies))])
        assert grade.scores["pass@1"] == pytest.approx(0.5)
        assert grade.scores["pass@2"] == pytest.approx(1 - 1 / 6)
        assert grade.scores["avg@4"] == 0.5
        assert grade.scores["maj@3"] == 1.0

    def test_more_repeats_than_answers(self, exam):
        made = exam(f"{TEXT}\nmetric_list: [{{metric: 'pass@k', k: 3}}]", limit=1)
        grade = answer(made, lambda item, each: says("A"))
        assert "needs 3 answers" in grade.failures[0].message

    def test_filters_that_see_all_answers_at_once(self, exam, folder):
        (folder / "utils.py").write_text(
            "def rank(answers, docs):\n"
            "    order = sorted(each for some in answers for each in some)\n"
            "    return [[str(order.index(each) + len(docs)) for each in some] for some in answers]\n"
        )
        text = (
            f"{TEXT}filter_list:\n  - {{name: all, filter: [{{function: custom, filter_fn: !function utils.rank}}, "
            "{function: take_first}]}\n  - {name: own, filter: [{function: lowercase}, {function: take_first}]}\n"
        )
        with settings.context(trust_code=True):
            made = exam(text)
            assert [each.scope for each in made.grader.pipelines] == ["column", "repeats"]
            grade = answer(made, lambda item, each: says("fedcba"[item.number]))
        assert [row[0] for row in _filtered(made, "all")] == ["11", "10", "9", "8", "7", "6"]
        assert list(grade.processed_predictions) == ["11", "10", "9", "8", "7", "6"]
        assert grade.scores["exact_match,all"] == 0.0

    def test_a_filter_that_fails_says_why(self, exam, folder):
        (folder / "utils.py").write_text("def read(answers, docs):\n    import no_such_package\n")
        steps = "[{function: custom, filter_fn: !function utils.read}, {function: take_first}]"
        with settings.context(trust_code=True):
            grade = answer(exam(f"{TEXT}filter_list: [{{name: own, filter: {steps}}}]"), lambda item, each: says("A"))
        assert grade.failures[0].message == "filter_fn fails: ModuleNotFoundError: No module named 'no_such_package'"

    def test_metrics_of_the_catalog_are_scored_beside_those_of_documents(self, exam):
        made = exam(f"{TEXT}metric_list: [{{metric: exact_match}}, {{metric: metrics.accuracy}}]")
        failure = Response(failure=Failure("timeout", "slow"))
        grade = answer(made, lambda item, each: failure if item.number == 2 else says(item.instance["answerKey"]))
        assert grade.scores["exact_match"] == grade.scores["accuracy"] == 1.0
        assert grade.instance_scores["accuracy"][2] is None
        assert grade.scores["num_of_instances"] == 5
        assert [score.unit for score in grade.table] == ["share", "share"]

    def test_predictions_only(self, exam):
        grade = answer(exam(TEXT, predict_only=True), lambda item, each: says("x"))
        assert (grade.table, grade.main, grade.failures) == ([], None, {})
        assert set(grade.predictions) == set(grade.processed_predictions) == {"x"}


class TestCode:
    UTILS = """
import json
def process_docs(dataset):
    return dataset.map(lambda row: {"question": row["question"].lower()})
def process_results(doc, results):
    return {"length": len(results[0]), "pair": (1, 2)}
def total(values):
    return sum(each[1] for each in values)
def text(doc):
    return "F " + doc["question"]
def broken(doc):
    raise SystemExit("enough")
"""

    def test_functions_need_trust_and_say_what_would_run(self, exam, folder):
        (folder / "utils.py").write_text(self.UTILS)
        made = exam(f"{TEXT}\nprocess_docs: !function utils.process_docs")
        with pytest.raises(TrustError) as caught:
            list(made.questions())
        text = str(caught.value)
        assert "process_docs is Python code: 'utils.process_docs'" in text
        assert f"would run {folder}/utils.py" in text
        line = (folder / "t.yaml").read_text().splitlines().index("process_docs: !function utils.process_docs") + 1
        assert f"t.yaml:{line}:15" in text
        assert "--trust-code" in text

    @pytest.mark.parametrize(
        "text",
        [
            TEXT.replace('"{{question}}"', "!function utils.text"),
            TEXT.replace('"{{answerKey}}"', "!function utils.text"),
            CHOICE.replace('"{{choices.text}}"', "!function utils.text"),
            f"{TEXT}\nprocess_docs: !function utils.process_docs",
            f"{TEXT}\ncustom_dataset: !function utils.process_docs",
            f"{TEXT}\nnum_fewshot: 1\nfewshot_config: {{samples: !function utils.process_docs}}",
        ],
    )
    def test_code_that_makes_questions_is_among_the_problems_that_are_known_without_rows(self, exam, folder, text):
        (folder / "utils.py").write_text(self.UTILS)
        (problem,) = exam(text).problems()
        assert "is Python code" in problem.what
        with settings.context(trust_code=True):
            assert exam(text).problems() == []

    def test_a_group_that_code_scores_needs_trust_before_anybody_is_asked(self, exam, folder):
        (folder / "utils.py").write_text(self.UTILS)
        exam(TEXT)
        metrics = "[{metric: exact_match, aggregation: !function utils.total}]"
        (folder / "g.yaml").write_text(f"group: g\ntask: [t]\naggregate_metric_list: {metrics}")
        (made,) = resolve(["g"], [str(folder)])
        assert [each.what for each in made.problems()] == ["aggregation is Python code: 'utils.total'"]
        with settings.context(trust_code=True):
            assert made.problems() == []

    @pytest.mark.parametrize("field", ["doc_to_text", "doc_to_choice", "doc_to_target"])
    def test_functions_under_a_template_are_refused_or_run(self, exam, folder, field):
        (folder / "utils.py").write_text(
            "doc_to_text = lambda doc: 'T ' + doc['question']\n"
            "doc_to_choice = lambda doc: doc['choices']['text']\ndoc_to_target = lambda doc: doc['n']\n"
        )
        text = f"{TestTemplates.FIELDS}\n{field}: !function utils.{field}\ntemplate: mmlu"
        with pytest.raises(TrustError, match=f"utils.{field}.* is Python code"):
            list(exam(text).questions())
        with settings.context(trust_code=True):
            first = requests(exam(text))[0]
        asked = "T Q0?" if field == "doc_to_text" else "Q0?"
        assert first.pairs[0].context.text == f"Question: {asked}\nA. w0\nB. x0\nC. y0\nAnswer:"

    def test_functions_of_the_task_folder(self, exam, folder):
        (folder / "utils.py").write_text(self.UTILS)
        with settings.context(trust_code=True):
            made = exam(
                f"{TEXT}\nprocess_docs: !function utils.process_docs\nprocess_results: !function utils.process_results\n"
                "metric_list: [{metric: length}, {metric: pair, aggregation: !function utils.total}]"
            )
            assert requests(made)[0].prompt.text == "q0?"
            grade = answer(made, lambda item, each: says("four"))
        assert grade.scores["length"] == 4
        assert grade.scores["pair"] == 12

    def test_code_that_fails_says_whose_it_is(self, exam, folder):
        (folder / "utils.py").write_text(self.UTILS)
        with settings.context(trust_code=True), pytest.raises(ProctorError, match=r"doc_to_text.*fails") as caught:
            list(exam(TEXT.replace('"{{question}}"', "!function utils.broken")).questions())
        assert "SystemExit: enough" in str(caught.value)

    @pytest.mark.parametrize(
        "code, message",
        [
            ("import nothing_of_the_kind", "nothing_of_the_kind"),
            ("raise SystemExit(3)", "SystemExit"),
            ("x = 1", "has no 'text'"),
            ("def (", "SyntaxError"),
        ],
    )
    def test_modules_that_cannot_be_imported(self, exam, folder, code, message):
        (folder / "utils.py").write_text(code)
        with settings.context(trust_code=True), pytest.raises(ProctorError, match=message):
            list(exam(TEXT.replace('"{{question}}"', "!function utils.text")).questions())

    def test_a_dataset_made_by_code(self, exam, folder):
        (folder / "data.py").write_text(
            "def make(size=1, **more):\n    return {'test': [{'question': f'C{n}', 'answerKey': 'A'} for n in range(size)]}\n"
        )
        with settings.context(trust_code=True):
            made = exam(
                "custom_dataset: !function data.make\nmetadata: {size: 3}\ntest_split: test\ndoc_to_text: question\ndoc_to_target: answerKey"
            )
            assert [each.prompt.text for each in requests(made)] == ["C0", "C1", "C2"]


class TestRowsThatCannotBeUsed:
    """They are failed instances; the exam goes on."""

    @pytest.fixture
    def broken(self, folder, exam):
        def make(change, place, text, **options):
            rows = [change(dict(row)) if number == place else row for number, row in enumerate(ROWS)]
            (folder / "rows.py").write_text(f"def make(**more):\n    return {{'test': {rows!r}, 'train': {DEMOS!r}}}\n")
            with settings.context(trust_code=True):
                made = exam(
                    f"custom_dataset: !function rows.make\ntest_split: test\ntraining_split: train\n{text}", **options
                )
                return made, list(made.questions())

        return make

    def test_a_missing_column(self, broken):
        text = "doc_to_text: question\ndoc_to_target: answerKey"
        made, found = broken(lambda row: {key: row[key] for key in row if key != "question"}, 2, text)
        assert [question.failure is None for question in found] == [True, True, False, True, True, True]
        message = found[2].failure.message
        assert "doc_to_text is 'question', and the document has no such column" in message
        assert "t[2] split 'test', doc_to_text" in message
        assert found[2].number == 2
        grade = answer(made, lambda item, each: says(item.instance["answerKey"]))
        assert grade.scores["exact_match"] == 1.0
        assert list(grade.failures) == [2]

    def test_a_value_of_the_wrong_type(self, broken):
        text = "doc_to_text: '{{question.lower()}}'\ndoc_to_target: answerKey"
        _, found = broken(lambda row: {**row, "question": 5}, 1, text)
        assert "t[1] split 'test', doc_to_text" in found[1].failure.message

    def test_draws_go_on_as_if_the_row_were_there(self, broken, exam):
        text = "doc_to_text: '{{question.lower()}}'\ndoc_to_target: answerKey"
        _, found = broken(lambda row: {**row, "question": 5}, 1, text, num_demos=2)
        _, whole = broken(lambda row: row, 1, text, num_demos=2)
        assert [each.requests for each in found[2:]] == [each.requests for each in whole[2:]]

    def test_none_that_can_be_used_refuses_the_exam(self, exam):
        with pytest.raises(TemplateError, match=r"t\[0\] split 'test', doc_to_text"):
            exam(TEXT.replace("{{question}}", "{{question.nope()}}")).questions()

    def test_a_demo_whose_answer_is_none_of_its_choices(self, exam):
        made = exam(f"{CHOICE}\nfewshot_config: {{doc_to_target: 7}}", num_demos=1)
        with pytest.raises(TemplateError, match="the answer of a demo is choice 7, counted from 0, and there are 3"):
            made.questions()


class TestBadInput:
    def test_an_undefined_variable_names_task_document_and_columns(self, exam):
        with pytest.raises(TemplateError) as caught:
            list(exam(CHOICE.replace("{{question}}", "{{questoin}}")).questions())
        text = str(caught.value)
        assert "t[0]" in text
        assert "'questoin' is undefined" in text
        assert "question, choices, answerKey, n" in text

    def test_choices_that_are_no_list(self, exam):
        with pytest.raises(TemplateError, match="doc_to_choice does not give a list"):
            list(exam(CHOICE.replace("{{choices.text}}", "{{question}}")).questions())

    def test_too_few_documents_for_the_demos(self, exam):
        with pytest.raises(DemosError, match="drawn from a pool of 8"):
            list(exam(CHOICE, num_demos=9).questions())

    def test_a_missing_split(self, exam):
        with pytest.raises(ProctorError, match="neither test_split nor validation_split"):
            list(exam(CHOICE.replace("test_split: test", "")).questions())

    def test_everything_that_is_wrong_with_scoring_is_said_at_once_with_its_place(self, exam):
        made = exam(
            f"{TEXT}process_results: !function utils.f\nmetric_list: [{{metric: one}}, {{metric: two, aggregation: men}}]\n"
            "filter_list: [{name: x, filter: [{function: regx}, {function: !function utils.g}]}]"
        )
        found = made.problems()
        assert [problem.path for problem in found] == [
            "$.process_results",
            "$.metric_list[1]",
            "$.filter_list[0].filter[0].function",
            "$.filter_list[0].filter[1].function",
        ]
        assert all(problem.location is not None and "t.yaml" in str(problem.location) for problem in found)
        assert "did you mean 'mean'" in found[1].hint

    def test_a_package_that_is_missing_is_said_before_anybody_is_asked(self, exam, monkeypatch):
        monkeypatch.setattr("proctor.scoring.packages.find_spec", lambda module: None)
        (problem,) = exam(f"{TEXT}metric_list: [{{metric: bleu}}]").problems()
        assert "'bleu' needs the package 'sacrebleu'" in problem.what
        assert "pip install" in problem.hint

    def test_unknown_metrics_filters_aggregations(self, exam):
        with pytest.raises(ScoringError, match="no metric 'acuracy'"):
            exam(f"{TEXT}\nmetric_list: [{{metric: acuracy}}]").grade([])
        with pytest.raises(ScoringError, match="no filter 'regx'"):
            exam(f"{TEXT}\nfilter_list: [{{name: x, filter: [{{function: regx}}]}}]").grade([])

    def test_all_broken_tasks_of_a_group_at_once(self, folder):
        (folder / "a.yaml").write_text("task: a\nx: 1\ntag: broken\n")
        (folder / "b.yaml").write_text("task: b\ny: 1\ntag: broken\n")
        with pytest.raises(ValidationError) as caught:
            resolve(["broken"], [str(folder)])
        assert len(caught.value.diagnostics) == 2

    def test_all_unknown_names_at_once(self, folder):
        with pytest.raises(UsageError) as caught:
            resolve(["nope", "nada"], [str(folder)])
        assert len(caught.value.diagnostics) == 2


def test_the_door_of_the_dialect(folder):
    (folder / "t.yaml").write_text(f"task: t\ntag: some\n{CHOICE}")
    options = ExamOptions(include_paths=(str(folder),))
    assert [exam.name for exam in resolve_name("t", options)] == ["t"]
    assert resolve_name("nothing_like_it", options) is None
    assert resolve_name("card=cards.wnli", options) is None
    assert {"t", "some"} <= set(_finder(ExamOptions(include_paths=(str(folder),))).index.names())


def test_groups_know_their_exams(folder):
    (folder / "t.yaml").write_text(f"task: t\n{CHOICE}")
    (folder / "g.yaml").write_text(
        "group: g\ntask: [{task: t, num_fewshot: 1}]\naggregate_metric_list: [{metric: acc}]\n"
    )
    (exam,) = resolve(["g"], [str(folder)])
    assert [group.name for group in exam.groups] == ["g"]
    assert exam.own.num_fewshot == 1


def test_a_specification_is_plain_data(exam):
    made = exam(f"{CHOICE}\nprocess_results: !function utils.f", num_demos=1, limit=2)
    found = json.loads(json.dumps(made.specification()))
    assert found["options"]["num_fewshot"] == 1
    assert found["task"]["process_results"] == "!function utils.f"
    assert "multiple choice on json" in made.description


def test_a_run_reports_groups(folder):
    from proctor.engines.scripted import ScriptedEngine
    from proctor.running.run import run_exams

    (folder / "t.yaml").write_text(f"task: t\n{CHOICE}")
    (folder / "u.yaml").write_text(f"task: u\n{CHOICE}")
    (folder / "g.yaml").write_text("group: g\ntask: [t, u]\naggregate_metric_list: [{metric: acc}]\n")
    (folder / "h.yaml").write_text("group: h\ntask: [g]\n")
    exams = resolve(["h"], [str(folder)])
    engine = ScriptedEngine(log_likelihood=lambda context, continuation: -float(len(continuation)))
    result = run_exams(exams, engine, log=folder / "log.db", output=folder / "out")
    assert list(result.results) == ["t", "u", "g"]
    group = result.results["g"]
    assert group["acc"] == pytest.approx((result.results["t"]["acc"] + result.results["u"]["acc"]) / 2)
    assert (group["n"], group["failures"], group["members"]) == (12, 0, ["t", "u"])
    assert "score_ci_low" in group
