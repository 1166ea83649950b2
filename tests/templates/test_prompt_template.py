import pytest

from proctor.artifacts import build
from proctor.errors import TemplateError
from proctor.formats import MetaTemplate
from proctor.recipes import create_dataset
from proctor.tasks import Task
from proctor.templates import (
    MMPromptTemplate,
    MultiTurnPromptTemplate,
    PromptList,
    PromptTemplate,
    RawPromptTemplate,
    safe_format,
)
from proctor.templates.multimodal import check_base64, contents_of


def test_names_are_replaced_one_after_the_other():
    assert safe_format("{a}-{b}", a="{b}", b="X") == "X-X"
    assert safe_format("{a}-{b}", b="X", a="{b}") == "{b}-X"
    assert safe_format("{x} {{a}} {a!r}", a=None) == "{x} {None} {a!r}"
    assert safe_format("{input_str} {self}", input_str=1, self=2) == "1 2"


def test_lists_of_prompts():
    dialogue = PromptList(["a </E> b", {"role": "HUMAN", "prompt": "</E>"}, {"section": "round", "pos": "end"}])
    assert dialogue.replace("</E>", "x") == [
        "a x b",
        {"role": "HUMAN", "prompt": "x"},
        {"section": "round", "pos": "end"},
    ]
    spliced = PromptList(["</E> b"]).replace("</E>", PromptList(["x", "y"]))
    assert spliced == ["x", "y", " b"]
    with pytest.raises(TemplateError, match="stands inside a message"):
        dialogue.replace("</E>", PromptList(["x"]))
    with pytest.raises(TemplateError, match="cannot be replaced by a list"):
        dialogue.replace("</E>", ["x"])
    assert dialogue[1] == {"role": "HUMAN", "prompt": "</E>"}


def test_adding_prompts():
    a = PromptList(["a"])
    assert a + "b" == ["a", "b"]
    assert "b" + a == ["b", "a"]
    assert PromptList.__radd__(a, ["b"]) == ["b", "a"]
    assert a + "" == ["a"]
    assert isinstance(a.__add__(["c"]), PromptList)
    a += "b"
    a += ["c"]
    a += ""
    assert a == ["a", "b", "c"]
    assert str(PromptList(["a", {"prompt": "b"}, {"section": "round", "pos": "end"}])) == "ab"


def test_templates_are_artifacts():
    template = PromptTemplate("{question}</E>", "</E>")
    assert template.to_dict() == {"__type__": "prompt_template", "template": "{question}</E>", "ice_token": "</E>"}
    assert build(template.to_dict()) == template
    template.template = "other</E>"
    assert template.generate_item({}) == "other"
    with pytest.raises(TemplateError, match="ice token"):
        PromptTemplate({"A": "a</E>", "B": "b"}, "</E>")


def test_labels():
    template = PromptTemplate({0: "{q} no", 1: "{q} yes"})
    assert template.labels == [0, 1]
    assert template.prompt_type == "origin"
    assert template.generate_label_prompt_item({"q": "?"}, "", 1) == "? yes"
    assert template.generate_item({"q": "?"}) == "? no"
    read = PromptTemplate.from_dict(template.to_dict())
    assert read.generate_ice_item({"q": "?"}, 1) == "? yes"
    with pytest.raises(TemplateError, match="no part for the label 2"):
        template.generate_ice_item({"q": "?"}, 2)


def test_separators():
    template = PromptTemplate("{q}</S>{a}", sep_token="</S>")
    assert template.generate_item({"q": "Q", "a": "A"}, "a") == "Q"
    assert template.generate_label_prompt_item({"q": "Q", "a": "A"}, "", None) == "QA"
    assert template.generate_label_prompt_item({"q": "Q", "a": "A"}, "", None, True) == "Q</S>A"


def test_the_end_of_a_dialogue_begins():
    template = PromptTemplate({"round": [{"role": "HUMAN", "prompt": "a"}], "end": "b"})
    assert [item.get("pos") for item in template.generate_item({}) if isinstance(item, dict) and "pos" in item] == [
        "begin", "end", "begin", "end",
    ]  # fmt: skip


def test_rows_of_conversations():
    template = MultiTurnPromptTemplate({"round": [{"role": "HUMAN", "prompt": "{question}"}]})
    with pytest.raises(TemplateError, match="'question' of a conversation has to be a list"):
        template.generate_item({"question": "a", "answer": ["b"]})
    with pytest.raises(TemplateError, match="needs the column 'answer'"):
        template.generate_item({"question": ["a"]})


def media(url):
    shape = {"video": {"type": "video_url", "video_url": url}}
    return MMPromptTemplate({"round": [{"role": "HUMAN", "prompt_mm": shape}]})


@pytest.mark.parametrize(
    "url, content, expected",
    [
        ("file://{video}", "/data/film.mp4", "file:///data/film.mp4"),
        ("file://{video}", "film.mp4", "film.mp4"),
        ("file://{video}", "file:///film.mp4", "file:///film.mp4"),
        ("{video}", "film.mp4", "film.mp4"),
        ("data:video/webm;base64,{video}", "AAAA", "data:video/webm;base64,AAAA"),
        ("data:video/jpeg;base64,{video}", "GkXfowEA", "data:video/webm;base64,GkXfowEA"),
        ("data:video/jpeg;base64,{video}", "AAAA", "data:video/mp4;base64,AAAA"),
        ("data:video/jpeg;base64,{video}", "https://x.org/a.mp4", "https://x.org/a.mp4"),
    ],
)
def test_where_media_are(url, content, expected):
    row = {"content": f"<AIS_VIDEO_START>{content}<AIS_CONTENT_TAG>", "question": "no tags here"}
    (message,) = media(url).generate_item(row).plain()
    assert message["prompt"] == [{"type": "video_url", "video_url": expected}]


def test_contents():
    text = "<AIS_TEXT_START>a<AIS_CONTENT_TAG>\n<AIS_IMAGE_START>b<AIS_CONTENT_TAG>"
    assert list(contents_of(text)) == [("text", "a"), ("image", "b")]
    for wrong, words in (
        ("<AIS_TEXT_START>a", "is not closed"),
        ("<AIS_TEXT_START>a<AIS_IMAGE_START>b<AIS_CONTENT_TAG>", "not closed before <AIS_IMAGE_START>"),
        ("words<AIS_CONTENT_TAG>", "outside of the content tags"),
    ):
        with pytest.raises(TemplateError, match=words):
            list(contents_of(wrong))
    with pytest.raises(TemplateError, match="neither 'question' nor 'content' has a tag"):
        media("{video}").generate_item({"question": "plain"})
    with pytest.raises(TemplateError, match="nothing about content of the kind 'image'"):
        media("{video}").generate_item({"question": "<AIS_IMAGE_START>b<AIS_CONTENT_TAG>"})


def test_all_data_that_does_not_decode_is_named():
    parts = [
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}} for data in ("AAAA", "A", "!!!!")
    ]
    with pytest.raises(TemplateError) as raised:
        check_base64(PromptList([{"role": "HUMAN", "prompt": parts}]))
    assert len(raised.value.diagnostics) == 2


def test_raw_messages():
    template = RawPromptTemplate(
        [{"role": "system", "content": "{s}"}, "</E>", {"expand_column": "talk"}, {"role": "user", "content": "{q}"}]
    )
    row = {"s": "S", "q": "Q", "talk": [{"role": "user", "content": "{q}"}]}
    made = template.generate_item(row, ice_field_replace_token=[{"role": "user", "content": "ice"}])
    assert [each["content"] for each in made] == ["S", "ice", "{q}", "Q"]
    assert [each["content"] for each in template.generate_ice_item(row)] == ["S", "{q}", "Q"]
    unfilled = RawPromptTemplate([{"role": "user", "content": "{q}"}], format_variables=False)
    assert unfilled.generate_item(row)[0]["content"] == "{q}"
    parts = [{"type": "text", "text": "{q}"}]
    assert RawPromptTemplate([{"role": "user", "content": parts}]).generate_item(row)[0]["content"] == parts
    assert RawPromptTemplate([{"expand_column": "q"}]).generate_item(row) == []
    with pytest.raises(TemplateError) as raised:
        RawPromptTemplate([{"role": "HUMAN", "content": ""}, {"role": "user"}])
    assert len(raised.value.diagnostics) == 2


ROUND = [{"role": "HUMAN", "prompt": "{question}"}, {"role": "BOT", "prompt": "Answer: {answer}"}]
TASK = Task(
    input_fields={"question": "str"},
    reference_fields={"answer": "str"},
    prediction_type="str",
    metrics=["metrics.accuracy"],
)
ROWS = [{"question": f"{number}+{number}=?", "answer": str(2 * number)} for number in range(1, 6)]
META = MetaTemplate(
    round=[{"role": "HUMAN", "begin": "H:", "end": "\n"}, {"role": "BOT", "begin": "B:", "end": "\n", "generate": True}]
)


def prompt_of(template, **fields):
    dataset = create_dataset(
        task=TASK, template=template, format=META, train_set=ROWS[1:], test_set=ROWS[:1], split="test", **fields
    )
    return dataset[0]["source"], dataset[0]["target"]


def test_recipes_of_our_own_take_dialogue_templates():
    dialogue = PromptTemplate({"begin": {"role": "SYSTEM", "prompt": "Solve."}, "round": ROUND})
    assert prompt_of(dialogue) == ("H:Solve.\nH:1+1=?\nB:Answer: ", "2")
    few_shot = prompt_of(
        dialogue, num_demos=2, demos_pool_size=4, sampler={"__type__": "fix_k_retriever", "fix_id_list": [1, 0]}
    )
    assert few_shot[0] == "H:Solve.\nH:3+3=?\nB:Answer: 6\nH:2+2=?\nB:Answer: 4\nH:1+1=?\nB:Answer: "
    text = PromptTemplate("Solve.</E>{question}\n{answer}", ice_token="</E>")
    assert prompt_of(text) == ("H:Solve.\nH:1+1=?\n\nB:", "2")


def test_recipes_of_our_own_take_messages():
    raw = RawPromptTemplate([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "{question}"}])
    assert prompt_of(raw) == ("H:Be brief.\nH:1+1=?\nB:", "2")


def human(prompt):
    return {"role": "HUMAN", "prompt": prompt}


def bot(prompt):
    return {"role": "BOT", "prompt": prompt}


@pytest.mark.parametrize(
    "template, path, message",
    [
        ({"begin": "x"}, "$.template", "needs a 'round'"),
        ({"round": "x"}, "$.template.round", "has to be a list"),
        ({"round": [3]}, "$.template.round[0]", "a text or a dict"),
        ({"round": [human("a"), {"prompt": "x"}]}, "$.template.round[1]", "needs a 'role'"),
        ({"round": [human(3)]}, "$.template.round[0]", "'prompt' has to be a text"),
        ({"begin": human(3), "round": []}, "$.template.begin[0]", "'prompt' has to be a text"),
        ({"A": 3}, "$.template.A", "a template is a text, or a dialogue"),
        ({"A": {"begin": "x"}}, "$.template.A", "needs a 'round'"),
    ],
)
def test_what_cannot_be_laid_out_is_named_with_its_place(template, path, message):
    with pytest.raises(TemplateError, match=message) as caught:
        PromptTemplate(template)
    assert caught.value.diagnostics[0].path == path


def test_every_text_that_lacks_the_ice_token_is_named():
    with pytest.raises(TemplateError) as caught:
        PromptTemplate({"A": "a", "B": "b</E>", "C": "c"}, "</E>")
    assert [each.path for each in caught.value.diagnostics] == ["$.template.A", "$.template.C"]
    assert PromptTemplate({"A": {"begin": "</E>", "round": [human("a")]}, "B": "b</E>"}, "</E>").labels == ["A", "B"]


def test_an_example_has_no_opening_and_no_end():
    template = PromptTemplate({"begin": ["o", "</E>"], "round": [human("{q}"), bot("{a}")], "end": ["e"]}, "</E>")
    row = {"q": "Q", "a": "A"}
    example = template.generate_ice_item(row)
    assert example.plain() == [human("Q"), bot("A")]
    assert example[0] == {"section": "ice", "pos": "begin"}
    asked = template.generate_item(row, "a", "?", example)
    assert asked.plain() == ["o", human("Q"), bot("A"), human("Q"), bot("?"), "e"]
    assert [each["pos"] for each in asked if "section" in each].count("begin") == 4
    assert template.generate_label_prompt_item(row, example, None).plain() == asked.replace("?", "A").plain()


def test_a_separator_stays_where_context_and_answer_are_told_apart():
    template = PromptTemplate({"A": "{q}</S>a", "B": "{q}</S>b"}, sep_token="</S>")
    assert template.generate_label_prompt_item({"q": "Q"}, "", "B") == "Qb"
    assert template.generate_label_prompt_item({"q": "Q"}, "", "B", remain_sep=True) == "Q</S>b"
    with_examples = PromptTemplate("</E>{q}", "</E>")
    assert with_examples.generate_label_prompt_item({"q": "Q"}, "x ", None) == "x Q"
    assert with_examples.generate_ice_item({"q": "Q"}) == "Q"
    with pytest.raises(TemplateError, match="the examples are messages, but the prompt is a text"):
        with_examples.generate_item({"q": "Q"}, None, "", PromptList([human("x")]))


CONVERSATION = MultiTurnPromptTemplate({"begin": "o", "round": [human("{question}"), bot("{answer}")], "end": ["e"]})
ROW = {"question": ["q1", "q2", "q3"], "answer": ["a1", "a2", "a3"]}


def test_a_conversation_keeps_what_comes_before_and_after_it():
    prompt = CONVERSATION.generate_item(ROW).plain()
    assert (prompt[0], prompt[-1]) == ("o", "e")
    assert [each["prompt"] for each in prompt[1:-1]] == ["q1", "a1", "q2", "a2", "q3", "a3"]


@pytest.mark.parametrize(
    "row, message",
    [
        ({"question": ["q"]}, "needs the column 'answer'(.|\n)*the row has question"),
        ({}, "needs the column 'question'(.|\n)*no columns"),
        ({"question": "q", "answer": ["a"]}, "'question' of a conversation has to be a list"),
        ({"question": ["q"], "answer": 3}, "'answer' of a conversation has to be a list"),
        ({"question": ["q"], "answer": ["a", "b"]}, "has 1 questions, but 2 answers"),
    ],
)
def test_a_row_that_is_no_conversation_is_refused(row, message):
    with pytest.raises(TemplateError, match=message):
        CONVERSATION.generate_item(row)


def test_a_conversation_needs_rounds():
    for template in ("{question}", {"A": "a"}):
        with pytest.raises(TemplateError, match="needs a 'round'"):
            MultiTurnPromptTemplate(template).generate_item(ROW)


def test_lists_of_prompts_hold_texts_and_messages_only():
    assert str(PromptList([{"role": "A", "prompt": [1]}, {"role": "B"}])) == "[1]"
    with pytest.raises(TemplateError, match="cannot hold a int"):
        str(PromptList([3]))
    assert PromptList([human("{a}"), {"role": "BOT", "prompt": ["{a}"]}, "{a}"]).format(a=1) == [
        human("1"),
        {"role": "BOT", "prompt": ["{a}"]},
        "1",
    ]
    assert PromptList(["</E>"]).replace("</E>", PromptList([human("x")])) == [human("x")]
    assert PromptList(["a"]).__radd__("") == ["a"]


def test_what_an_answer_starts_with_is_what_the_turns_before_it_tell():
    dialogue = PromptTemplate({"round": [human("{q}"), bot("On {q}: {a}")]})
    assert dialogue.answer_prefix_of({"q": "Q", "a": "A"}) == "On Q: "
    assert PromptTemplate("{q}: {a}").answer_prefix_of({"q": "Q", "a": "A"}) == ""
    known = PromptTemplate({"round": [human("{q} {a}"), bot("{a}")]})
    assert known.answer_prefix_of({"q": "Q", "a": "A"}) == "A"
