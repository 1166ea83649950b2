"""Compiled prompts are those made step by step, and their spans join to them; what does not fit says so."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proctor.dialects.aisbench.prompt_frames import TextFrame, tokens_of
from proctor.dialects.aisbench.prompts import PromptBuilder
from proctor.errors import DataError, DemosError, MissingFieldError, ProctorError, TemplateError
from proctor.formats import MetaTemplate
from proctor.templates.prompt_list import fill

COLUMNS = ("question", "answer", "n")
READER = {"input_columns": ["question"], "output_column": "answer"}
META = MetaTemplate(
    begin="<s>",
    round=["[", {"role": "HUMAN", "begin": "H:", "end": "\n"}, {"role": "BOT", "begin": "B:", "generate": True}],
    reserved_roles=[{"role": "SYSTEM", "begin": "S:", "end": "\n"}],
    end="</s>",
)
ROUND = [{"role": "HUMAN", "prompt": "{question}"}, {"role": "BOT", "prompt": "{answer}"}]


def dialogue(rounds=ROUND, token="</E>", **more):
    body = {"begin": [{"role": "SYSTEM", "fallback_role": "HUMAN", "prompt": "Solve {n}."}, token], "round": rounds}
    return {"type": "PromptTemplate", "template": {**body, **more}, "ice_token": token}


def few_shot(**more):
    ice = {"type": "PromptTemplate", "template": {"round": ROUND}}
    retriever = {"type": "FixKRetriever", "fix_id_list": [0, 1]}
    return {"ice_template": ice, "prompt_template": dialogue(), "retriever": retriever, **more}


pieces = st.sampled_from(
    ["{question}", "{answer}", "{n}", "{x}", "{", "}", "{{", "%s", " ", "\n", "a", "{}", "100%", ""]
)
texts = st.lists(pieces, max_size=6).map("".join)
values = st.one_of(texts, st.text(max_size=5), st.integers(), st.none(), st.lists(st.integers(), max_size=2))
rows = st.permutations(COLUMNS).flatmap(lambda names: st.fixed_dictionaries(dict.fromkeys(names, values)))
rounds = st.lists(texts, min_size=1, max_size=4).map(
    lambda words: [{"role": ("HUMAN", "BOT")[number % 2], "prompt": each} for number, each in enumerate(words)]
)
ways = st.sampled_from([(None, False), (META, False), (None, True)])


@given(texts, rows)
@settings(max_examples=400)
def test_all_at_once_is_one_after_the_other(text, row):
    frame = TextFrame(tokens_of(text, dict.fromkeys(row)), row)
    assert frame.render(row, "") in (None, fill(text, row))


def test_what_was_brought_in_is_filled_too():
    frame = TextFrame(tokens_of("{a}-{b}", {"a": None, "b": None}), ("a", "b"))
    assert frame.render({"a": "x", "b": "y"}, "") == "x-y"
    assert frame.render({"a": "{b}", "b": "X"}, "") is None
    assert fill("{a}-{b}", {"a": "{b}", "b": "X"}) == "X-X"


def both_ways(builder, row, demos, label):
    """The prompt as it is sent, and as it is made step by step."""
    if label is None:
        prompt, slow = builder.generate(row, demos), builder._layout.payload(builder._generated(row, demos), "gen")
    else:
        prompt = builder.labelled(row, demos, label)
        slow = builder._layout.payload(builder._for_label(row, demos, label), "ppl")
    return prompt, slow if isinstance(slow, str) else tuple(slow)


@given(
    ways,
    texts,
    texts,
    rows,
    st.lists(rows, min_size=2, max_size=2),
    st.sampled_from([None, "A"]),
    st.sampled_from(["", "\n"]),
)
@settings(max_examples=200)
def test_texts_both_ways(way, ice, prompt, row, index, label, end):
    given = {
        "ice_template": {"type": "PromptTemplate", "template": ice},
        "prompt_template": {"type": "PromptTemplate", "template": f"{prompt}</E>{ice}", "ice_token": "</E>"},
        "retriever": {"type": "FixKRetriever", "fix_id_list": [1, 0], "ice_eos_token": end},
    }
    check_both_ways(PromptBuilder(given, READER, index, meta_template=way[0], as_messages=way[1]), row, label)


@given(ways, rounds, rounds, rows, st.lists(rows, min_size=2, max_size=2), st.sampled_from([None, "A"]))
@settings(max_examples=300)
def test_dialogues_both_ways(way, ice, prompt, row, index, label):
    given = few_shot(
        ice_template={"type": "PromptTemplate", "template": {"round": ice}}, prompt_template=dialogue(prompt)
    )
    check_both_ways(PromptBuilder(given, READER, index, meta_template=way[0], as_messages=way[1]), row, label)


def check_both_ways(builder, row, label):
    demos = builder.retrieve([row])[0]
    try:
        prompt, slow = both_ways(builder, row, demos, label)
    except ProctorError:
        return
    assert prompt.payload == slow
    if prompt.is_chat:
        assert [turn.text for turn in prompt.turns] == [message["content"] for message in prompt.payload]
    else:
        assert "".join(span.text for span in prompt.spans) == prompt.payload


def test_spans_say_who_said_what():
    index = [{"question": "1+1", "answer": "2", "n": 1}, {"question": "2+2", "answer": "4", "n": 1}]
    builder = PromptBuilder(few_shot(), READER, index, meta_template=META)
    row = {"question": "3+3", "answer": "6", "n": 7}
    said = {span.origin: span.text for span in builder.generate(row, (0, 1)).spans if span.origin != "layout"}
    assert said == {
        "system": "Solve 7.",
        "demo[0].question": "1+1",
        "demo[0].answer": "2",
        "demo[1].question": "2+2",
        "demo[1].answer": "4",
        "question": "3+3",
    }


def test_examples_that_the_template_brings_along_are_demos():
    fixed = [{"role": "HUMAN", "prompt": "1+1"}, {"role": "BOT", "prompt": "2"}]
    builder = PromptBuilder(
        {"prompt_template": {"type": "PromptTemplate", "template": {"round": fixed + ROUND}}}, READER
    )
    origins = [span.origin for span in builder.generate({"question": "3+3", "answer": "6"}).spans]
    assert origins == ["demo[0].question", "layout", "demo[0].answer", "layout", "question"]


def test_labels_are_choices():
    template = {
        "type": "PromptTemplate",
        "template": {
            label: {"round": [{"role": "HUMAN", "prompt": "{question}"}, {"role": "BOT", "prompt": label}]}
            for label in "AB"
        },
    }
    builder = PromptBuilder({"prompt_template": template}, READER, as_messages=True)
    assert builder.labels == ["A", "B"]
    prompt = builder.labelled({"question": "?", "answer": "A"}, (), "B")
    assert [message["content"] for message in prompt.payload] == ["?", "B"]
    assert prompt.spans[-1].origin == "choice[1]"


def test_labels_of_a_template_are_in_the_order_of_a_written_config():
    """Upstream's runners write configs with sorted keys: of labels with equal losses another one would win."""
    template = {"type": "PromptTemplate", "template": {label: f"{{question}} {label}" for label in ("no", 10, "a", 2)}}
    assert PromptBuilder({"prompt_template": template}, READER).labels == [10, 2, "a", "no"]
    given = {"prompt_template": template, "inferencer": {"type": "PPLInferencer", "labels": ["no", "a"]}}
    assert PromptBuilder(given, READER).labels == ["no", "a"]


def test_likelihoods_of_answers_alone():
    template = {
        "type": "PromptTemplate",
        "template": {"A": "{question}</S> yes", "B": "{question}</S> no"},
        "sep_token": "</S>",
    }
    builder = PromptBuilder({"prompt_template": template}, READER)
    row = {"question": "?", "answer": "A"}
    assert builder.labelled(row, (), "A").text == "? yes"
    assert builder.split(row, (), "B") == ("?", " no")
    assert builder.labelled(row, (), "B", normalizing="Answer:").text == "Answer: no"
    with pytest.raises(TemplateError, match="sep_token"):
        PromptBuilder({"prompt_template": {"type": "PromptTemplate", "template": "{question}"}}, READER).split(
            row, (), "A"
        )


def test_too_long_prompts_lose_their_last_examples():
    index = [{"question": f"question {number}", "answer": str(number), "n": 0} for number in range(4)]
    builder = PromptBuilder(few_shot(), READER, index)
    row = {"question": "last", "answer": "x", "n": 0}
    prompt = builder.shorten(row, (0, 1, 2, 3), lambda prompt: len(prompt.text) <= 50)
    assert prompt == builder.generate(row, (0, 1))
    assert builder.shorten(row, (0, 1), lambda prompt: False) == builder.generate(row, ())


def test_the_same_examples_are_put_in_words_once(monkeypatch):
    index = [{"question": "q", "answer": "a", "n": 0}] * 3
    builder = PromptBuilder(few_shot(), READER, index, meta_template=META)
    calls = []
    original = builder.ice_template.generate_ice_item
    monkeypatch.setattr(
        type(builder.ice_template), "generate_ice_item", lambda self, *args: calls.append(1) or original(*args)
    )
    for number in range(20):
        builder.generate({"question": str(number), "answer": "", "n": 0}, (0, 2))
    assert len(calls) == 2


def test_conversations_of_columns():
    template = {"type": "PromptTemplate", "template": {"round": [{"role": "HUMAN", "prompt": "Q: {question}"}]}}
    builder = PromptBuilder({"prompt_template": template}, READER, as_messages=True)
    talk = builder.conversation({"question": ["a", "b"], "answer": ["1", "2"], "other": 3})
    assert [message["content"] for message in talk.messages] == ["Q: a", "1", "Q: b", "2"]
    assert builder.conversation({"question": "a", "answer": "1"}).turns == (1,)
    messages = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    plain = PromptBuilder({}, {"input_columns": ["chat"]}, as_messages=True)
    assert list(plain.conversation({"chat": messages}).messages) == messages
    assert [
        m["content"] for m in PromptBuilder({}, READER).conversation({"question": "a", "answer": "1"}).messages
    ] == ["a", "1"]


MM = {
    "type": "MMPromptTemplate",
    "template": {
        "round": [
            {
                "role": "HUMAN",
                "prompt_mm": {"image": {"type": "image_url", "image_url": {"url": "data:image/png;base64,{image}"}}},
            }
        ]
    },
}


def ask(infer, row, demos=(), reader=READER, index=(), **more):
    return PromptBuilder(infer, reader, index, **more).generate(row, demos)


ROW = {"question": "1", "answer": "2", "n": 3}


@pytest.mark.parametrize(
    "make, error, words",
    [
        (
            lambda: ask(
                {"prompt_template": dialogue([{"role": "TEACHER", "prompt": "{question}"}])}, ROW, meta_template=META
            ),
            TemplateError,
            ["no role 'TEACHER'", "HUMAN, BOT, SYSTEM", "reserved_roles"],
        ),
        (
            lambda: ask(
                {"prompt_template": {"type": "PromptTemplate", "template": "{question}", "ice_token": "</E>"}}, ROW
            ),
            TemplateError,
            ["the ice token '</E>' is missing", "{question}", "leave ice_token out"],
        ),
        (
            lambda: ask(few_shot(prompt_template={**dialogue(token="</X>"), "ice_token": "</E>"}), ROW),
            TemplateError,
            ["ice token '</E>' is missing from the prompt_template", "FixKRetriever"],
        ),
        (
            lambda: ask({key: value for key, value in few_shot().items() if key != "prompt_template"}, ROW),
            TemplateError,
            ["the ice_template has no ice_token", "ZeroRetriever"],
        ),
        (
            lambda: PromptBuilder(few_shot(), READER, [ROW]).retrieve([ROW]),
            DemosError,
            ["asks for the example 1", "the index has 1 rows", "train_split"],
        ),
        (
            lambda: ask(
                {"prompt_template": dialogue([{"role": "HUMAN", "prompt": "{question} {contxt}"}])},
                ROW,
                reader={"input_columns": ["question", "contxt"]},
            ),
            MissingFieldError,
            ["no column 'contxt'", "question, answer, n", "$.reader_cfg.input_columns"],
        ),
        (
            lambda: PromptBuilder(
                {"prompt_template": {**dialogue(), "type": "MultiTurnPromptTemplate"}}, READER
            ).conversation({"question": ["a", "b"], "answer": ["c"]}),
            TemplateError,
            ["2 questions, but 1 answers"],
        ),
        (
            lambda: PromptBuilder({"prompt_template": dialogue()}, READER).conversation(
                {"question": ["a", "b"], "answer": ["c"]}
            ),
            DataError,
            ["differ in length"],
        ),
        (
            lambda: ask({"prompt_template": MM}, {"question": "<AIS_IMAGE_START>AAAA"}),
            TemplateError,
            ["the tag <AIS_IMAGE_START> is not closed", "<AIS_CONTENT_TAG>", "$.question"],
        ),
        (
            lambda: ask({"prompt_template": MM}, {"question": "<AIS_IMAGE_START>no base64!<AIS_CONTENT_TAG>"}),
            TemplateError,
            ["the base64 data of 'image' does not decode", "no base64!"],
        ),
        (
            lambda: ask({"prompt_template": {"type": "PromptTemplat", "template": "x"}}, ROW),
            TemplateError,
            ["no template 'PromptTemplat'", "did you mean 'PromptTemplate'"],
        ),
        (
            lambda: ask({"prompt_template": {"type": "PromptTemplate", "template": {"begin": "x"}}}, ROW),
            TemplateError,
            ["a dialogue needs a 'round'", "$.infer_cfg.prompt_template"],
        ),
        (
            lambda: ask(
                few_shot(ice_template={"type": "PromptTemplate", "template": "{question}"}),
                ROW,
                (0,),
                index=[ROW],
                as_messages=True,
            ),
            TemplateError,
            ["a text between messages", "'round'"],
        ),
    ],
)
def test_what_does_not_fit_says_so(make, error, words):
    with pytest.raises(error) as raised:
        make()
    for each in words:
        assert each in str(raised.value)
