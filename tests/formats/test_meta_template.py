import json

import pytest

from proctor.errors import ProctorError, TemplateError
from proctor.formats import MetaTemplate
from proctor.formats.dialogue_layout import content_of
from proctor.formats.format import Demo, Parts
from proctor.formats.meta_template import without_meta_template
from proctor.templates import PromptList, PromptTemplate

HUMAN = {"role": "HUMAN", "begin": "<|H|>:", "end": "\n"}
BOT = {"role": "BOT", "begin": "<|B|>:", "end": "<eoa>\n", "generate": True}
SYSTEM = {"role": "SYSTEM", "begin": "<|S|>:", "end": "\n"}
META = MetaTemplate(begin="<s>META\n", round=[HUMAN, BOT], reserved_roles=[SYSTEM], end="END")
CHAT = MetaTemplate(
    round=[{"role": "HUMAN", "api_role": "HUMAN"}, {"role": "BOT", "api_role": "BOT", "generate": True}],
    reserved_roles=[{"role": "SYSTEM", "api_role": "SYSTEM"}],
)


def said(*rounds, begin=(), end=()):
    template = {"round": [{"role": role, "prompt": prompt} for role, prompt in rounds]}
    for name, items in (("begin", begin), ("end", end)):
        if items:
            template[name] = [{"role": role, "fallback_role": "HUMAN", "prompt": prompt} for role, prompt in items]
    return PromptTemplate(template=template).generate_item({})


DIALOGUE = said(("HUMAN", "Q1"), ("BOT", "A1"), ("HUMAN", "1+1=?"), ("BOT", "Answer: "), begin=[("SYSTEM", "Solve.")])


def test_a_prompt_that_is_to_be_answered_stops_where_the_model_begins():
    expected = "<s>META\n<|S|>:Solve.\n<|H|>:Q1\n<|B|>:A1<eoa>\n<|H|>:1+1=?\n<|B|>:"
    assert META.to_text(DIALOGUE, "gen") == expected
    assert META.to_text(DIALOGUE, "ppl") == expected + "Answer: <eoa>\nEND"


def test_a_role_falls_back():
    meta = MetaTemplate(round=[HUMAN, BOT])
    assert meta.to_text(DIALOGUE).startswith("<|H|>:Solve.\n<|H|>:Q1\n")
    without_system = MetaTemplate(round=CHAT.round)
    assert [each["content"] for each in without_system.to_messages(DIALOGUE)] == ["Solve.\nQ1", "A1", "1+1=?"]


def test_messages():
    roles = [each["role"] for each in CHAT.to_messages(DIALOGUE)]
    assert roles == ["SYSTEM", "HUMAN", "BOT", "HUMAN"]
    assert CHAT.to_messages(DIALOGUE, "ppl")[-1] == {"role": "BOT", "content": "Answer: "}
    assert CHAT.to_messages("words") == [{"role": "user", "content": "words"}]


def test_no_meta_template():
    assert without_meta_template(DIALOGUE) == "Solve.\nQ1\nA1\n1+1=?\nAnswer: "
    assert without_meta_template(PromptList(["", "a", "", "b"])) == "\na\nb"


def test_the_end_of_a_dialogue():
    dialogue = said(("HUMAN", "Q"), ("BOT", "A"), end=[("HUMAN", "Thanks.")])
    assert META.to_text(dialogue, "ppl") == "<s>META\n<|H|>:Q\n<|B|>:A<eoa>\n<|H|>:Thanks.\nEND"
    assert META.to_text(dialogue, "gen") == "<s>META\n<|H|>:Q\n<|B|>:"


def test_a_reserved_role_in_a_round_speaks_where_it_stands():
    dialogue = said(("SYSTEM", "Be brief."), ("HUMAN", "Q"), ("BOT", ""))
    assert META.to_text(dialogue) == "<s>META\n<|S|>:Be brief.\n<|H|>:Q\n<|B|>:"
    assert [each["content"] for each in CHAT.to_messages(dialogue)] == ["Be brief.", "Q"]
    later = said(("HUMAN", "Q"), ("BOT", "call"), ("SYSTEM", "result"), ("BOT", "so"), ("HUMAN", "R"), ("BOT", ""))
    assert [each["content"] for each in CHAT.to_messages(later)] == ["Q", "call", "result", "so", "R"]


def test_rounds_have_texts_of_their_own_and_what_absent_roles_say():
    meta = MetaTemplate(round=["<r>", {**HUMAN, "prompt": "(silence)"}, "|", BOT])
    assert meta.to_text(said(("HUMAN", "a"), ("BOT", "b"), ("BOT", "c"))) == (
        "<r><|H|>:a\n|<|B|>:b<eoa>\n<r><|H|>:(silence)\n|<|B|>:"
    )


def test_chat_messages_as_one_text():
    messages = [{"role": "system", "content": "S"}, {"role": "user", "content": "Q"}]
    assert META.text_of(messages) == "<s>META\n<|S|>:S\n<|H|>:Q\n<|B|>:"
    begun = [*messages, {"role": "assistant", "content": "The"}]
    assert META.text_of(begun) == "<s>META\n<|S|>:S\n<|H|>:Q\n<|B|>:The"
    assert META.text_of(begun, generate=False) == "<s>META\n<|S|>:S\n<|H|>:Q\n<|B|>:The<eoa>\nEND"


PARTS = Parts("1+1=?", "You are wise.", "Solve.", "A: ", [Demo("2+2=?", "4", "A: ")])


def test_prompts_of_recipes():
    prompt = META.lay_out(PARTS)
    assert prompt.payload == (
        "<s>META\n<|S|>:You are wise.\nSolve.\n<|H|>:2+2=?\n<|B|>:A: 4<eoa>\n<|H|>:1+1=?\n<|B|>:A: "
    )
    assert "".join(span.text for span in prompt.spans) == prompt.payload
    origins = [span.origin for span in prompt.spans if span.origin != "layout"]
    assert origins == ["system", "demo[0].question", "demo[0].answer", "question", "answer_prefix"]


def test_chats_of_recipes():
    prompt = CHAT.lay_out(PARTS)
    assert [(each["role"], each["content"]) for each in prompt.payload] == [
        ("system", "You are wise.\nSolve."),
        ("user", "2+2=?"),
        ("assistant", "A: 4"),
        ("user", "1+1=?"),
    ]
    assert [turn.text for turn in prompt.turns] == [each["content"] for each in prompt.payload]


def test_files(tmp_path):
    for name, text in (
        ("meta.json", json.dumps(META.to_dict())),
        ("meta.yaml", "meta_template:\n  round: [{role: HUMAN}]"),
    ):
        path = tmp_path / name
        path.write_text(text)
        assert MetaTemplate.from_file(path).round[0]["role"] == "HUMAN"
    assert MetaTemplate.from_file(tmp_path / "meta.json") == META
    assert MetaTemplate.from_config({"round": [HUMAN, BOT], "eos_token_id": 2}).eos_token_id == 2


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda path: META.to_text(said(("JUDGE", "x"))), ["no role 'JUDGE'", "HUMAN, BOT, SYSTEM"]),
        (lambda path: META.to_messages(DIALOGUE), ["'begin' of a meta template for chats", "has to be a message"]),
        (lambda path: MetaTemplate(round=[HUMAN, HUMAN]), ["'HUMAN' comes twice", "$.round[1]"]),
        (
            lambda path: MetaTemplate(round=[{**HUMAN, "begin": [1, 2]}]),
            ["'begin' of a role has to be a text", "[1, 2]"],
        ),
        (lambda path: MetaTemplate(round=[{"begin": "x"}]), ["needs a 'role'"]),
        (lambda path: MetaTemplate(round=[HUMAN], rond=1), ["no field 'rond'", "round"]),
        (lambda path: MetaTemplate.from_file(path / "nowhere.json"), ["cannot be read", "nowhere.json"]),
        (lambda path: MetaTemplate.from_file(path / "list.yaml"), ["a dictionary with 'round'", "list.yaml"]),
        (lambda path: MetaTemplate.from_file(path / "wrong.json"), ["neither JSON nor YAML", "wrong.json"]),
        (lambda path: META.to_text([{"section": "round", "pos": "end"}]), ["ends, but did not begin"]),
        (lambda path: META.to_text([{"role": "HUMAN", "prompt": "x"}]), ["outside all sections"]),
    ],
)
def test_what_does_not_fit_says_so(tmp_path, make, words):
    (tmp_path / "list.yaml").write_text("- a")
    (tmp_path / "wrong.json").write_text("{")
    with pytest.raises((TemplateError, ProctorError)) as raised:
        make(tmp_path)
    for each in words:
        assert each in str(raised.value)


def test_words_beside_pictures_are_parts():
    picture = {"type": "image_url", "image_url": {"url": "u"}}
    assert content_of(["a", "b"]) == "ab"
    assert content_of(["a", [picture], "", "b"]) == [
        {"type": "text", "text": "a"},
        picture,
        {"type": "text", "text": "b"},
    ]
    assert content_of([]) == ""
