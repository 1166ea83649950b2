"""Every example and every answer of the developer documentation of task templates (seed 000), and of the proposal (003)."""

import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.dialects.lm_eval.config import TaskConfig
from proctor.dialects.lm_eval.factory import TemplateFactory, resolve_template
from proctor.dialects.lm_eval.template import (
    ClozeTemplate,
    ClozeTemplateConfig,
    GenerateTemplate,
    MCQTemplateConfig,
    MMLUTemplate,
    TemplateConfig,
    process_field,
)
from proctor.errors import TemplateError, TrustError
from proctor.settings import settings

FRANCE = {
    "question": "What is the capital of France?",
    "choices": {"text": ["London", "Paris", "Berlin", "Madrid"], "label": ["A", "B", "C", "D"]},
    "answerKey": "B",
}
FRANCE_MMLU = "What is the capital of France?\nA. London\nB. Paris\nC. Berlin\nD. Madrid\nAnswer:"


def arc(template, **more):
    return TaskConfig(
        task="arc_easy",
        doc_to_text="{{question}}",
        doc_to_choice="{{choices.text}}",
        doc_to_target="{{choices.label.index(answerKey)}}",
        template=template,
        **{"output_type": "multiple_choice", **more},
    )


class TestProcessField:
    def test_a_name_is_a_column(self):
        assert process_field({"question": "Q?"}, "question") == "Q?"

    def test_an_unknown_name_is_the_default(self):
        assert process_field({"question": "Q?"}, "missing", "none") == "none"

    def test_a_single_expression_keeps_its_type(self):
        assert process_field({"choices": ["a", "b"]}, "{{choices}}") == ["a", "b"]
        assert process_field({"n": 3}, " {{ n }} ") == 3

    def test_a_complex_template_gives_text(self):
        assert process_field({"a": "x", "b": 1}, "{{a}}: {{b}}") == "x: 1"

    def test_nested_access(self):
        assert process_field(FRANCE, "{{choices.text}}") == FRANCE["choices"]["text"]
        assert process_field({"choices": [{"text": "x"}]}, "{{choices[0].text}}") == "x"

    def test_any_expression_that_jinja_knows(self):
        assert process_field(FRANCE, "{{choices.label.index(answerKey)}}") == 1
        assert process_field(FRANCE, "{{choices.text | length}}") == 4
        assert process_field({"n": 2}, "{{ -n }}") == -2
        assert process_field({"n": 2}, "{{- n -}}") == 2

    def test_functions_none_and_other_values(self):
        assert process_field({"q": 1}, lambda doc: doc["q"] + 1) == 2
        assert process_field({}, None, "default") == "default"
        assert process_field({}, ["A", "B"]) == ["A", "B"]
        assert process_field({}, 7) == 7

    @given(
        value=st.recursive(
            st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False),
            lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        )
    )
    def test_every_value_comes_back_as_it_is(self, value):
        assert process_field({"field": value}, "{{field}}") == value

    @given(text=st.text())
    def test_data_is_never_a_template(self, text):
        assert process_field({"field": "{{" + text + "}}"}, "<{{field}}>") == "<{{" + text + "}}>"


class TestExamples:
    def test_example_1_mmlu_style(self):
        config = arc({"template_type": "mcq::mmlu"})
        assert config.doc_to_text(FRANCE) == FRANCE_MMLU
        assert config.doc_to_choice(FRANCE) == ["A", "B", "C", "D"]
        assert config.doc_to_target(FRANCE) == 1
        assert isinstance(config.template_config, MCQTemplateConfig)

    def test_example_2_custom_template(self):
        config = TaskConfig(
            task="custom_mcq",
            doc_to_text="{{question}}",
            doc_to_choice="{{options}}",
            template={
                "template_type": "mcq",
                "choice_labels": ["(a)", "(b)", "(c)", "(d)"],
                "choice_format": "{label} {choice}",
                "suffix": "Select one:",
                "choice_delimiter": " | ",
            },
        )
        doc = {"question": "Question text", "options": ["choice1", "choice2", "choice3", "choice4"]}
        assert config.doc_to_text(doc) == (
            "Question text\n(a) choice1 | (b) choice2 | (c) choice3 | (d) choice4\nSelect one:"
        )
        assert config.doc_to_choice(doc) == ["(a)", "(b)", "(c)", "(d)"]

    def test_example_3_mcq_to_cloze(self):
        mcq = TemplateFactory.from_dict({"template_type": "mcq::mmlu"})
        cloze = mcq.to_cloze()
        assert isinstance(cloze, ClozeTemplateConfig)
        config = TaskConfig(doc_to_text="{{question}}", doc_to_choice="{{choices}}", template=cloze.to_dict())
        assert config.template_config == cloze
        doc = {"question": "The sky is", "choices": ["blue", "green"]}
        assert config.doc_to_choice(doc) == ["blue", "green"]
        assert config.doc_to_text(doc) == "The sky is ______\nOptions: blue, green"
        assert cloze.to_mcq().format_prompt("Q", ["x"]) == "Q\nA. x\nAnswer:"

    def test_example_3_the_cloze_file(self):
        config = TaskConfig(
            task="task_cloze",
            doc_to_text="{{question}}",
            doc_to_choice="{{choices}}",
            template={"template_type": "cloze"},
        )
        assert isinstance(config.template_config, ClozeTemplateConfig)

    def test_example_4_functions(self):
        config = TaskConfig(
            task="custom_task",
            doc_to_text=lambda doc: f"Q: {doc['question'].upper()}",
            doc_to_choice=lambda doc: [choice.strip() for choice in doc["choices"]],
            template={"template_type": "mcq::mmlu"},
        )
        doc = {"question": "why?", "choices": [" x ", "y "]}
        assert config.doc_to_text(doc) == "Q: WHY?\nA. x\nB. y\nAnswer:"
        assert config.doc_to_choice(doc) == ["A", "B"]

    def test_manual_testing_section(self):
        template = TemplateFactory.from_dict({"template_type": "mcq::mmlu"})
        assert template.choice_labels == ["A", "B", "C", "D"]
        doc = {"question": "Test?", "choices": ["A", "B", "C"]}
        wrapped = template.wrap_doc_to_text("{{question}}", "{{choices}}")
        assert wrapped(doc) == "Test?\nA. A\nB. B\nC. C\nAnswer:"
        config = TaskConfig(
            task="test",
            doc_to_text="{{question}}",
            doc_to_choice="{{choices}}",
            template={"template_type": "mcq::mmlu"},
        )
        assert config.doc_to_text(doc) == "Test?\nA. A\nB. B\nC. C\nAnswer:"
        assert config.doc_to_choice(doc) == ["A", "B", "C"]

    def test_migration_gives_the_prompt_that_was_written_by_hand(self):
        by_hand = process_field(
            {"question": " Why? ", "choices": ["w", "x", "y", "z"]},
            "{{question.strip()}}\nA. {{choices[0]}}\nB. {{choices[1]}}\nC. {{choices[2]}}\nD. {{choices[3]}}\nAnswer:",
        )
        config = TaskConfig(
            doc_to_text="{{question}}", doc_to_choice="{{choices}}", template={"template_type": "mcq::mmlu"}
        )
        assert config.doc_to_text({"question": "Why?", "choices": ["w", "x", "y", "z"]}) == by_hand

    def test_complex_template_as_question(self):
        template = TemplateFactory.create_mmlu_style()
        wrapped = template.wrap_doc_to_text("{{subject}}: {{question}}", "{{choices}}")
        assert (
            wrapped({"subject": "Art", "question": "Who?", "choices": ["a", "b"]}) == "Art: Who?\nA. a\nB. b\nAnswer:"
        )

    @pytest.mark.parametrize(
        "template, text, labels",
        [
            ("mcq::mmlu", "Q\nA. x\nB. y\nAnswer:", ["A", "B"]),
            ("mcq::gpqa", "Q\n(A) x\n(B) y\nAnswer:", ["(A)", "(B)"]),
            ("mcq::numbered", "Q\n1. x\n2. y\nAnswer:", ["1", "2"]),
            ("cloze::options", "Q ______\nOptions: x, y", ["x", "y"]),
            ("cloze::pure", "Q ______", ["x", "y"]),
        ],
    )
    def test_named_styles(self, template, text, labels):
        doc = {"q": "Q", "c": ["x", "y"]}
        made = TemplateFactory.from_dict({"template_type": template})
        assert made.wrap_doc_to_text("{{q}}", "{{c}}")(doc) == text
        assert made.wrap_doc_to_choice("{{c}}")(doc) == labels

    def test_factory_methods_are_the_named_styles(self):
        pairs = {
            "mcq::mmlu": TemplateFactory.create_mmlu_style(),
            "mcq::gpqa": TemplateFactory.create_gpqa_style(),
            "mcq::numbered": TemplateFactory.create_numbered_style(),
            "cloze::options": TemplateFactory.create_cloze_with_options(),
            "cloze::pure": TemplateFactory.create_pure_cloze(),
        }
        for name, made in pairs.items():
            assert TemplateFactory.from_dict({"template_type": name}) == made

    def test_overrides_with_a_style(self):
        made = TemplateFactory.from_dict({"template_type": "mcq::gpqa", "suffix": "So:"})
        assert made.format_prompt("Q", ["x"]) == "Q\n(A) x\nSo:"

    def test_template_type_defaults_to_mcq(self):
        assert TemplateFactory.from_dict({}) == MCQTemplateConfig()


class TestQuestionsAndAnswers:
    def test_templates_are_optional(self):
        config = TaskConfig(doc_to_text="{{question}}", doc_to_choice=["A"], doc_to_target="answer")
        assert (config.doc_to_text, config.doc_to_choice, config.doc_to_target) == ("{{question}}", ["A"], "answer")
        assert config.template_config is None

    def test_a_template_wraps_manual_formatting(self):
        config = TaskConfig(doc_to_text="Read: {{q}}", doc_to_choice="{{c}}", template={"template_type": "mcq::mmlu"})
        assert config.doc_to_text({"q": "Q", "c": ["x"]}) == "Read: Q\nA. x\nAnswer:"

    def test_what_was_given_stays_readable(self):
        config = arc({"template_type": "mcq::mmlu"})
        assert config.originals["doc_to_text"] == "{{question}}"
        assert config.to_dict()["doc_to_choice"] == "{{choices.text}}"

    def test_a_template_of_ones_own(self):
        class Shouting(TemplateConfig):
            def format_prompt(self, question, choices=None):
                return f"{question}!!! {'/'.join(choices or [])}"

            def to_dict(self):
                return {"template_type": "shouting"}

        config = arc(Shouting())
        assert config.doc_to_text(FRANCE) == "What is the capital of France?!!! London/Paris/Berlin/Madrid"

    def test_three_choices_use_three_labels(self):
        template = TemplateFactory.create_mmlu_style()
        assert template.wrap_doc_to_choice("{{c}}")({"c": ["x", "y", "z"]}) == ["A", "B", "C"]

    def test_five_choices_with_four_given_labels_use_four_and_say_so(self):
        template = MCQTemplateConfig(choice_labels=["a", "b", "c", "d!"])
        with pytest.warns(UserWarning, match="5 choices, but only 4 labels"):
            assert template.wrap_doc_to_choice("{{c}}")({"c": list("vwxyz")}) == ["a", "b", "c", "d!"]
        with pytest.raises(TemplateError, match="not one of the choices"):
            template.wrap_doc_to_target(4, "{{c}}")({"c": list("vwxyz")})

    def test_default_labels_extend_by_themselves(self):
        template = TemplateFactory.create_mmlu_style()
        labels = template.wrap_doc_to_choice("{{c}}")({"c": [str(n) for n in range(28)]})
        assert labels[:5] == ["A", "B", "C", "D", "E"]
        assert labels[25:] == ["Z", "AA", "AB"]

    def test_the_template_can_be_inspected(self):
        assert arc({"template_type": "mcq::mmlu"}).template_config.suffix == "Answer:"

    @pytest.mark.parametrize("spec", ["mmlu", "mcq", "cloze", "generate_until", "cot", "boxed", "question"])
    def test_round_trip_of_to_dict(self, spec):
        made, _ = resolve_template(spec)
        again, _ = resolve_template(made.to_dict())
        assert again == made

    @given(
        prefix=st.text(max_size=5),
        suffix=st.text(max_size=5),
        delimiter=st.text(max_size=3),
        labels=st.none() | st.lists(st.text(min_size=1, max_size=3), min_size=1, max_size=5, unique=True),
    )
    def test_round_trip_of_any_fields(self, prefix, suffix, delimiter, labels):
        given = {} if labels is None else {"choice_labels": labels}
        made = MCQTemplateConfig(prefix=prefix, suffix=suffix, choice_delimiter=delimiter, **given)
        assert TemplateFactory.from_dict(made.to_dict()) == made

    @given(
        question=st.text(min_size=1),
        choices=st.lists(st.text(min_size=1), min_size=1, max_size=6),
        prefix=st.text(max_size=4),
    )
    def test_empty_parts_leave_no_stray_newline(self, question, choices, prefix):
        text = MCQTemplateConfig(prefix=prefix, suffix="").format_prompt(question, choices)
        assert text.startswith(prefix or question)
        assert text.endswith(choices[-1])


class TestProposal:
    """The templates of the task configuration proposal (seed 003)."""

    @pytest.mark.parametrize(
        "name, text, choices, target, output_type",
        [
            ("mmlu", "Question: Q\nA. x\nB. y\nAnswer:", ["A", "B"], 1, "multiple_choice"),
            ("cloze", "Question: Q\nAnswer:", ["x", "y"], 1, "multiple_choice"),
            ("generate_until", "Question: Q\nA. x\nB. y\nAnswer:", None, "B", "generate_until"),
        ],
    )
    def test_available_templates(self, name, text, choices, target, output_type):
        config = TaskConfig(
            task="my_benchmark",
            output_type="multiple_choice",
            template=name,
            doc_to_text="{{question}}",
            doc_to_target="{{answer}}",
            doc_to_choice="{{choices}}",
        )
        doc = {"question": "Q", "answer": 1, "choices": ["x", "y"]}
        assert config.doc_to_text(doc) == text
        assert config.doc_to_target(doc) == target
        assert config.output_type == output_type
        if choices is not None:
            assert config.doc_to_choice(doc) == choices

    CUSTOM = {
        "mmlu": {"prefix": "Q: ", "suffix": "\nA:", "choice_delimiter": " | ", "choice_format": "numbers"},
        "cloze": {"choice_format": "numbers"},
    }

    def test_custom_parameters(self):
        made, _ = resolve_template(self.CUSTOM)
        assert made.format_prompt("Why?", ["x", "y"]) == "Q: Why?\n1. x | 2. y\nA:"

    def test_several_templates_the_first_is_the_default(self):
        assert isinstance(resolve_template(self.CUSTOM)[0], MMLUTemplate)
        cloze, _ = resolve_template(self.CUSTOM, "cloze")
        assert isinstance(cloze, ClozeTemplate)
        assert cloze.format_choices("", ["x", "y"]) == ["1. x", "2. y"]

    def test_a_template_that_the_task_does_not_name(self):
        assert resolve_template(self.CUSTOM, "generate_until")[0].template_type == "generate_until"

    def test_fields_inside_the_template(self):
        spec = {"mmlu": {"question": {"question": None}, "answer": "{{answer}}", "choices": "{{choices}}"}}
        config = TaskConfig(output_type="multiple_choice", template=spec)
        doc = {"question": "Q", "answer": 0, "choices": ["x"]}
        config = TaskConfig(
            output_type="multiple_choice",
            template=spec,
            doc_to_text="other",
            doc_to_choice="other",
            doc_to_target="other",
        )
        assert config.doc_to_text(doc) == "Question: Q\nA. x\nAnswer:"

    def test_target_delimiter_stands_after_the_answer_of_a_demo(self):
        config = arc({"mmlu": {"target_delimiter": "\n---\n"}})
        assert config.fewshot_delimiter == "\n---\n"
        assert config.fewshot.fewshot_delimiter == "\n---\n"

    def test_generative_tasks_and_their_extraction(self):
        config = TaskConfig(doc_to_text="{{q}}", doc_to_target="{{a}}", template="boxed")
        assert "\\boxed{}" in config.doc_to_text({"q": "1+1?"})
        assert config.filter_list[0]["filter"][0]["function"] == "regex"
        assert config.output_type == "generate_until"

    def test_a_choice_question_made_generative_is_scored_by_its_label(self):
        config = arc("generate_until", metric_list=[{"metric": "acc"}, {"metric": "acc_norm"}])
        assert [each["metric"] for each in config.metric_list] == ["exact_match"]
        assert config.filter_list[0]["name"] == "extract-answer"

    def test_a_target_that_is_the_text_or_the_label(self):
        doc = {"c": ["x", "y"], "text": "y", "label": "B"}
        made, _ = resolve_template("mmlu")
        assert made.wrap_doc_to_target("{{text}}", "{{c}}")(doc) == 1
        assert made.wrap_doc_to_target("{{label}}", "{{c}}")(doc) == 1

    def test_gold_outside_the_choices(self):
        made, _ = resolve_template("mmlu")
        with pytest.raises(TemplateError, match="the answer 7 is not one of the choices"):
            made.wrap_doc_to_target(7, "{{c}}")({"c": ["x", "y"]})

    class Protocol:
        format = "arrows"
        prefix, suffix = "> ", " ->"
        question_choice_delimiter, choice_delimiter, target_delimiter = " ", "/", ";"

        def format_prompt(self, q, c, a):
            return f"{self.prefix}{q} {self.choice_delimiter.join(c)}{self.suffix}"

        def format_choices(self, q, c, a):
            return [f"<{each}>" for each in c]

        def format_target(self, q, c, a):
            return a

    def test_a_class_of_ones_own_needs_trust(self):
        with pytest.raises(TrustError, match="Python code"):
            resolve_template("somewhere:Arrows")

    def test_a_class_of_ones_own_by_name(self, monkeypatch):
        import sys
        import types

        module = types.ModuleType("proctor_test_arrows")
        module.Arrows = self.Protocol
        monkeypatch.setitem(sys.modules, "proctor_test_arrows", module)
        with settings.context(trust_code=True):
            config = arc("proctor_test_arrows:Arrows")
        assert config.doc_to_text(FRANCE) == "> What is the capital of France? London/Paris/Berlin/Madrid ->"
        assert config.doc_to_choice(FRANCE)[0] == "<London>"
        assert config.fewshot_delimiter == ";"


class TestBadInput:
    def test_an_unknown_name(self):
        with pytest.raises(TemplateError, match="no template 'mmlo'") as caught:
            resolve_template("mmlo")
        assert "did you mean 'mmlu'" in str(caught.value)

    def test_an_unknown_field(self):
        with pytest.raises(TemplateError, match="no field 'sufix'") as caught:
            TemplateFactory.from_dict({"template_type": "mcq", "sufix": "x"})
        assert "suffix" in str(caught.value)

    @pytest.mark.parametrize("form", ["{label.__class__}", "{0}", "{choice!r}", "{label", "{choices}"])
    def test_a_choice_format_that_reaches_further(self, form):
        with pytest.raises(TemplateError, match="choice format"):
            MCQTemplateConfig(choice_format=form).format_prompt("Q", ["x"])

    def test_an_unknown_choice_format(self):
        with pytest.raises(TemplateError, match="choice format 'leters'"):
            MMLUTemplate(choice_format="leters").format_prompt("Q", ["x"])

    def test_wrapping_warns_of_nothing(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            arc("mmlu").doc_to_text(FRANCE)


@pytest.mark.parametrize(
    "changes, text",
    [
        ({"choices_prefix": "Options: "}, "Q ______\nOptions: x, y"),
        ({"choices_prefix": " Options: "}, "Q ______ Options: x, y"),
        ({"choices_prefix": "\tOptions: "}, "Q ______\tOptions: x, y"),
        ({"choices_prefix": ""}, "Q ______\nx, y"),
        ({"choices_prefix": "Options: ", "question_choice_delimiter": " | "}, "Q ______ | Options: x, y"),
        ({"question_choice_delimiter": " | "}, "Q ______\nOptions: x, y"),
        ({"question_choice_delimiter": " | ", "prefix": "P", "suffix": "S"}, "P | Q ______\nOptions: x, y | S"),
    ],
)
def test_options_of_a_cloze_follow_the_delimiter_or_their_own_white_space(changes, text):
    assert ClozeTemplateConfig(**changes).format_prompt("Q", ["x", "y"]) == text


def _mine(self, question, choices=None):
    return f">>{question}|{'/'.join(choices or [])}"


@pytest.mark.parametrize(
    "kind", [MCQTemplateConfig, ClozeTemplateConfig, MMLUTemplate, ClozeTemplate, GenerateTemplate]
)
def test_a_class_of_ones_own_is_asked_for_prompts(kind):
    own = type("Own", (kind,), {"format_prompt": _mine})
    doc = {"question": "Q?", "choices": ["x", "y"], "answer": 1}
    shown = "x/y" if own()._should_show_choices() else ""
    assert own().wrap_doc_to_text("{{question}}", "{{choices}}")(doc) == f">>Q?|{shown}"
    hidden = type("Hidden", (own,), {"_should_show_choices": lambda self: False})
    assert hidden().wrap_doc_to_text("{{question}}", "{{choices}}")(doc) == ">>Q?|"
    patched = kind()
    patched.format_prompt = lambda question, choices=None: f"patched {question}"
    assert patched.wrap_doc_to_text("{{question}}", "{{choices}}")(doc) == "patched Q?"


@pytest.mark.parametrize("kind", [MCQTemplateConfig, ClozeTemplateConfig, MMLUTemplate, ClozeTemplate])
def test_a_class_of_ones_own_is_asked_for_continuations_and_targets(kind):
    numbers = {
        "format_choices": lambda self, question, choices, answer=None: ["I", "II"][: len(choices)],
        "format_target": lambda self, question, choices, answer: f"{answer} of {len(choices)}",
    }
    own = type("Own", (kind,), numbers)()
    doc = {"choices": ["x", "y"], "answer": 1}
    assert own.wrap_doc_to_choice("{{choices}}")(doc) == ["I", "II"]
    assert own.wrap_doc_to_target("answer", "{{choices}}")(doc) == "1 of 2"
