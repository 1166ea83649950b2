"""Every example of the document on prompt templates (seed 001), compared with the result printed beneath it.

The document prints dialogues without section markers and empty texts (``PromptList.plain``), and texts without the blanks
at the ends of lines.
"""

import base64

import pytest

from proctor.dialects.aisbench.prompts import PromptBuilder
from proctor.templates import MMPromptTemplate, MultiTurnPromptTemplate, PromptList, PromptTemplate

EXAMPLE = {"anything": "blabla", "question": "1+1=?", "answer": "2"}
EX1 = {"question": "2+2=?", "answer": "4", "irrelavent_infos": "blabla"}
EX2 = {"question": "3+3=?", "answer": "6", "irrelavent_infos": "blabla"}
EX3 = {"question": "1+1=?", "answer": "2", "irrelavent_infos": "blabla"}
READER = {"input_columns": ["question"], "output_column": "answer"}
ROUND = [{"role": "HUMAN", "prompt": "Question: {question}"}, {"role": "BOT", "prompt": "Answer: {answer}"}]
SYSTEM = {"role": "SYSTEM", "fallback_role": "HUMAN", "prompt": "Solve the following questions."}


def human(prompt):
    return {"role": "HUMAN", "prompt": prompt}


def bot(prompt):
    return {"role": "BOT", "prompt": prompt}


def shown(template, row=EXAMPLE):
    """The intermediate result as the document prints it."""
    return PromptTemplate(template=template).generate_item(row, output_field="answer").plain()


def test_string_style():
    template = PromptTemplate(template="{anything}\nQuestion: {question}\nAnswer: {answer}")
    prompt = template.generate_item(EXAMPLE, output_field="answer")
    assert prompt == "blabla\nQuestion: 1+1=?\nAnswer: "
    builder = PromptBuilder(
        {"prompt_template": template}, {"input_columns": ["anything", "question"], "output_column": "answer"}
    )
    assert builder.generate(EXAMPLE).text == prompt


def test_a_field_that_the_sample_lacks_remains_unchanged():
    assert PromptTemplate(template="{question} {nothing}").generate_item(EXAMPLE) == "1+1=? {nothing}"


def test_ordinary_dialogue():
    assert shown({"round": ROUND}) == PromptList([human("Question: 1+1=?"), bot("Answer: ")])


def test_multi_turn_dialogue():
    fixed = [human("Question: 2+2=?"), bot("Answer: 4"), human("Question: 3+3=?"), bot("Answer: 6")]
    assert shown({"round": [*fixed, *ROUND]}) == PromptList([*fixed, human("Question: 1+1=?"), bot("Answer: ")])


def test_dialogue_with_system():
    expected = PromptList([SYSTEM, human("Question: 1+1=?"), bot("Answer: ")])
    assert shown({"begin": [SYSTEM], "round": ROUND}) == expected


CONVERSATION = {"question": ["1+1=?", "2+2=?", "3+3=?"], "answer": ["2", "4", "6"]}
TURNS = MultiTurnPromptTemplate(template={"round": [human("{question}"), bot("{answer}")]})


def talk():
    """The conversation, and each of its turns as the document prints it."""
    return PromptBuilder({"prompt_template": TURNS}, READER, as_messages=True).conversation(CONVERSATION)


def said(messages):
    return [(each["role"], each["content"]) for each in messages]


def test_several_turns_after_the_model_s_own_answers():
    waits = [None if each is None else each["content"] for each in talk().with_own_answers]
    assert waits == ["1+1=?", None, "2+2=?", None, "3+3=?", None]


def test_several_turns_after_the_right_answers():
    first = [("user", "1+1=?")]
    second = [*first, ("assistant", "2"), ("user", "2+2=?")]
    third = [*second, ("assistant", "4"), ("user", "3+3=?")]
    assert [said(each) for each in talk().with_right_answers] == [first, second, third]
    assert said(talk().last) == third
    assert said(talk().messages) == [*third, ("assistant", "6")]


def tagged(**contents):
    tags = {"text": "TEXT", "image": "IMAGE", "audio": "AUDIO", "video": "VIDEO"}
    return "".join(f"<AIS_{tags[kind]}_START>{content}<AIS_CONTENT_TAG>" for kind, content in contents.items())


def multimodal(image, video, audio):
    return MMPromptTemplate(
        template={
            "round": [
                {
                    "role": "HUMAN",
                    "prompt_mm": {
                        "text": {"type": "text", "text": "{anything}\nQuestion: {question}"},
                        "image": {"type": "image_url", "image_url": {"url": image}},
                        "video": {"type": "video_url", "video_url": {"url": video}},
                        "audio": {"type": "audio_url", "audio_url": {"url": audio}},
                    },
                }
            ]
        }
    )


def media_row(image, audio, video):
    question = tagged(text="What is this?", image=image, audio=audio, video=video)
    return {"anything": "blabla", "question": question, "answer": "a cat"}


def media_result(image, audio, video):
    parts = [
        {"type": "text", "text": "blabla\nQuestion: What is this?"},
        {"type": "image_url", "image_url": {"url": image}},
        {"type": "audio_url", "audio_url": {"url": audio}},
        {"type": "video_url", "video_url": {"url": video}},
    ]
    return PromptList([{"role": "HUMAN", "prompt": parts}])


URLS = multimodal("file://{image}", "file://{video}", "file://{audio}")
BASE64 = multimodal("data:image/jpeg;base64,{image}", "data:video/jpeg;base64,{video}", "data:audio/wav;base64,{audio}")


@pytest.mark.parametrize(
    "data",
    [
        ("{image_data}", "{audio_data}", "{video_data}"),  # the document's own letters
        ("https://xxx.com/image.jpg", "file:///tmp/sound.wav", "data:video/mp4;base64,AAAA"),
        ("image.jpg", "sound.wav", "film.mp4"),
    ],
)
def test_multimodal_urls(data):
    prompt = URLS.generate_item(media_row(*data), output_field="answer")
    assert prompt.plain() == media_result(*data)


@pytest.mark.parametrize("data", [("{image_data}", "{audio_data}", "{video_data}"), ("AAAA", "BBBB", "CCCC")])
def test_multimodal_base64(data):
    image, audio, video = data
    prompt = BASE64.generate_item(media_row(*data), output_field="answer")
    expected = media_result(
        f"data:image/jpeg;base64,{image}", f"data:audio/wav;base64,{audio}", f"data:video/mp4;base64,{video}"
    )
    assert prompt.plain() == expected


def test_multimodal_prompts_as_messages():
    data = [base64.b64encode(kind).decode() for kind in (b"picture", b"sound", b"film")]
    builder = PromptBuilder({"prompt_template": BASE64}, READER, as_messages=True)
    message = builder.generate(media_row(*data)).payload[0]
    assert message["role"] == "user"
    assert message["content"][0] == {"type": "text", "text": "blabla\nQuestion: What is this?"}
    assert message["content"][3]["video_url"]["url"] == f"data:video/mp4;base64,{data[2]}"


STRING_ICE = {"type": "PromptTemplate", "template": "{question}\n{answer}"}
STRING_PROMPT = {
    "type": "PromptTemplate",
    "template": "Solve the following questions.\n</E>{question}\n{answer}",
    "ice_token": "</E>",
}
FIXED = {"type": "FixKRetriever", "fix_id_list": [0, 1]}
FEW_SHOT = "Solve the following questions.\n2+2=?\n4\n3+3=?\n6\n1+1=?\n"


def few_shot(**parts):
    builder = PromptBuilder({"retriever": FIXED, **parts}, READER, [EX1, EX2])
    return builder, builder.retrieve([EX3])[0]


def test_in_context_examples_in_a_text():
    builder, demos = few_shot(ice_template=STRING_ICE, prompt_template=STRING_PROMPT)
    assert builder.generate(EX3, demos).text == FEW_SHOT
    assert FEW_SHOT.rstrip() == "Solve the following questions.\n2+2=?\n4\n3+3=?\n6\n1+1=?"


def test_in_context_examples_in_a_dialogue():
    rounds = [human("{question}"), bot("{answer}")]
    ice = PromptTemplate(template={"round": rounds})
    template = PromptTemplate(template={"begin": [SYSTEM, "</E>"], "round": rounds}, ice_token="</E>")
    examples = PromptList()
    for row in (EX1, EX2):
        examples += ice.generate_ice_item(row)
    prompt = template.generate_item(EX3, output_field="answer", ice_field_replace_token=examples)
    assert prompt.plain() == PromptList(
        [SYSTEM, human("2+2=?"), bot("4"), human("3+3=?"), bot("6"), human("1+1=?"), bot("")]
    )
    builder, demos = few_shot(ice_template=ice, prompt_template=template)
    assert builder.generate(EX3, demos).text == "Solve the following questions.\n2+2=?\n4\n3+3=?\n6\n1+1=?"


def test_omitted_prompt_template():
    complete = {
        "ice_template": {"type": "PromptTemplate", "template": "Q: {question}\nA: {answer}"},
        "prompt_template": {
            "type": "PromptTemplate",
            "template": "</E>Q: {question}\nA: {answer}",
            "ice_token": "</E>",
        },
    }
    omitted = {
        "ice_template": {"type": "PromptTemplate", "template": "</E>Q: {question}\nA: {answer}", "ice_token": "</E>"}
    }
    texts = [builder.generate(EX3, demos).text for builder, demos in (few_shot(**complete), few_shot(**omitted))]
    assert texts[0] == texts[1] == "Q: 2+2=?\nA: 4\nQ: 3+3=?\nA: 6\nQ: 1+1=?\nA: "


def test_omitted_prompt_template_without_examples():
    ice = {"type": "PromptTemplate", "template": "Q: {question}\nA: {answer}"}
    builder = PromptBuilder({"ice_template": ice, "retriever": {"type": "ZeroRetriever"}}, READER)
    assert builder.generate(EX3, builder.retrieve([EX3])[0]).text == "Q: 1+1=?\nA: "
