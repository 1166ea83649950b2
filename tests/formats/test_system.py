import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.errors import TemplateError
from proctor.formats import ChatAPIFormat, Demo, Parts, SystemFormat
from proctor.ir import Span

WORDS = st.text("abN()\\\n {}é.", max_size=12)
DEMOS = st.lists(st.builds(Demo, WORDS, WORDS, WORDS), max_size=3)
PARTS = st.builds(Parts, WORDS, WORDS, WORDS, WORDS, DEMOS)
FORMATS = [
    SystemFormat(),
    SystemFormat(
        demo_format="{source} [/INST] {target_prefix}{target} </s><s>[INST] ",
        model_input_format="[INST] <<SYS>>\n{system_prompt}\n\n{instruction}<<SYS>>\n\n\n{demos}{source} [/INST]{target_prefix}",
    ),
    SystemFormat(
        demo_format="{instruction}\\N{source}{sep}{target}\\N",
        model_input_format="{demos}\\N{source}{sep}",
        format_args={"sep": " -> "},
    ),
]


@given(PARTS, st.sampled_from(FORMATS))
def test_spans_join_to_the_prompt(parts, form):
    prompt = form.lay_out(parts)
    assert "".join(span.text for span in prompt.spans) == prompt.text


@given(PARTS, st.booleans())
def test_spans_of_chat_messages_join_to_their_content(parts, in_user_turns):
    prompt = ChatAPIFormat(place_instruction_in_user_turns=in_user_turns).lay_out(parts)
    assert [turn.role for turn in prompt.turns] == [message["role"] for message in prompt.messages]
    assert [turn.text for turn in prompt.turns] == [message["content"] for message in prompt.messages]


def test_the_default_layout():
    prompt = SystemFormat().lay_out(
        Parts("1+1=?", "", "Solve.", "Answer: ", [Demo("2+2=?", "4", "Answer: "), Demo("3+3=?", "6", "Answer: ")])
    )
    assert prompt.text == "Solve.\n2+2=?\nAnswer: 4\n\n3+3=?\nAnswer: 6\n\n1+1=?\nAnswer: "
    assert [(span.text, span.origin) for span in prompt.spans if span.origin != "layout"] == [
        ("Solve.", "instruction"),
        ("2+2=?", "demo[0].question"),
        ("Answer: ", "demo[0].answer"),
        ("4", "demo[0].answer"),
        ("3+3=?", "demo[1].question"),
        ("Answer: ", "demo[1].answer"),
        ("6", "demo[1].answer"),
        ("1+1=?", "question"),
        ("Answer: ", "answer_prefix"),
    ]


def test_a_label_of_the_source_is_kept_where_it_joins_and_dropped_where_not():
    spans = (Span("A. x", "choice[0]"),)
    good = SystemFormat().lay_out(Parts("A. x", source_spans=lambda: spans))
    bad = SystemFormat().lay_out(Parts("B. y", source_spans=lambda: spans))
    assert "choice[0]" in {span.origin for span in good.spans}
    assert "choice[0]" not in {span.origin for span in bad.spans}


def test_a_compiled_format_is_not_reached_by_later_changes():
    form = SystemFormat()
    lay_out = form.layout()
    form.model_input_format = "changed"
    assert lay_out(Parts("x")).text == "x\n"


def test_unknown_parts_are_named():
    with pytest.raises(TemplateError, match="systm_prompt"):
        SystemFormat(model_input_format="{systm_prompt}{source}").lay_out(Parts("x"))


def test_chat_messages_as_apis_take_them():
    parts = Parts("q", "Be good.", "Do it.", "A: ", [Demo("dq", "da")])
    assert list(ChatAPIFormat().lay_out(parts).messages) == [
        {"role": "system", "content": "Be good.\nDo it."},
        {"role": "user", "content": "dq"},
        {"role": "assistant", "content": "A: da"},
        {"role": "user", "content": "q"},
    ]
    in_user = ChatAPIFormat(place_instruction_in_user_turns=True).lay_out(parts)
    assert [message["content"] for message in in_user.messages] == ["Be good.\n", "Do it.\ndq", "A: da", "Do it.\nq"]


def test_an_instance_is_formatted_as_in_the_documents():
    instance = {
        "source": "1+1",
        "target": "2",
        "instruction": "Solve the math exercises.",
        "demos": [{"source": "1+2", "target": "3"}, {"source": "4-2", "target": "2"}],
    }
    form = SystemFormat(
        demo_format="Input: {source}\nOutput: {target}\n\n",
        model_input_format="Instruction: {instruction}\n\n{demos}Input: {source}\nOutput: ",
    )
    assert form.process(instance)["source"] == (
        "Instruction: Solve the math exercises.\n\nInput: 1+2\nOutput: 3\n\nInput: 4-2\nOutput: 2\n\nInput: 1+1\nOutput: "
    )
