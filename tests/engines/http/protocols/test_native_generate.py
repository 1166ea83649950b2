"""Servers with a route of their own for one prompt."""

import json

import pytest

from proctor.engines.http.protocols.native_generate import NativeGenerateProtocol
from proctor.engines.http.retrying_client import CallError, ReplyError
from proctor.ir import Decoding, Prompt

TEXT = Prompt("Who?")


def protocol(**options):
    return NativeGenerateProtocol("http://here", "m", {}, options=options)


def test_a_prompt_goes_in_beside_its_parameters_and_the_text_comes_back():
    made = protocol(parameters="parameters", max_tokens_name="max_new_tokens", fields={"details": False})
    post = made.post(TEXT, Decoding(temperature=0.5, max_tokens=9, stop=("\n",), top_p=0.9, extra={"watermark": True}))
    assert (post.route, post.is_stream) == ("/generate", False)
    parameters = dict(post.body.pop("parameters"))
    assert list(parameters.pop("stop")) == ["\n"]
    assert parameters == {"temperature": 0.5, "max_new_tokens": 9, "top_p": 0.9, "watermark": True}
    assert post.body == {"inputs": "Who?", "details": False}
    assert post.parse(b'{"generated_text": "me"}').text == "me"
    assert post.parse(b'[{"generated_text": "me"}]').text == "me"


def test_what_a_server_calls_otherwise_is_in_its_options():
    options = {"prompt": "text_input", "model_name": "model", "id": "id", "says_stream": True, "reply": "text_output"}
    made = protocol(**options, route="/v2/{model}/generate", greedy_without_temperature=True, drop=("seed",))
    post = made.post(TEXT, Decoding(temperature=0.0, max_tokens=9, seed=3))
    assert post.route == "/v2/m/generate"
    assert post.body.pop("id")
    assert post.body == {"text_input": "Who?", "model": "m", "max_new_tokens": 9, "stream": False}
    assert post.parse(b'{"text_output": ["me"]}').text == "me"
    again, other = (made.post(Prompt(text), Decoding()).body["id"] for text in ("Who?", "What?"))
    assert again != other


def test_greedy_is_said_where_the_server_takes_it():
    assert protocol().post(TEXT, Decoding(temperature=0.0)).body["temperature"] == 0.0
    assert protocol(greedy_without_temperature=True).post(TEXT, Decoding(temperature=0.7)).body["temperature"] == 0.7


STREAM = b'event: x\nid: 3\n: a note\ndata: {"text": "m"}\n\ndata: {"other": 1}\ndata: {"text": "me"}\ndata: [DONE]\n'


@pytest.mark.parametrize("pieces, text", [(True, "mme"), (False, "me")])
def test_a_stream_has_pieces_or_the_whole_text_so_far(pieces, text):
    made = protocol(always_streams=True, stream_route="/stream", reply="text", pieces=pieces, says_stream=True)
    post = made.post(TEXT, Decoding())
    assert (post.route, post.is_stream, post.body["stream"]) == ("/stream", True, True)
    assert post.parse(STREAM).text == text
    with pytest.raises(ReplyError, match="no event of the reply has 'text'"):
        post.parse(b"data: [DONE]\n")


@pytest.mark.parametrize(
    "body, told",
    [
        (b"<html>", "the reply is not JSON"),
        (b"3", "the reply is not a JSON object"),
        (b"[]", "the reply is not a JSON object"),
        (b'{"error": "too long"}', "the server says: too long"),
        (b'{"other": "me"}', "the reply has no text 'generated_text'"),
        (b'{"generated_text": 3}', "the reply has no text 'generated_text'"),
    ],
)
def test_a_reply_that_is_none_says_why(body, told):
    with pytest.raises(ReplyError, match=told):
        protocol().post(TEXT, Decoding()).parse(body)


def test_an_empty_list_of_texts_is_an_empty_answer():
    assert protocol().post(TEXT, Decoding()).parse(b'{"generated_text": []}').text == ""


def test_parts_are_texts_and_addresses_of_media():
    made = protocol(parts=True, prompt="prompts")
    content = [
        {"type": "text", "text": "What is "},
        {"type": "image_url", "image_url": {"url": "file:///a.png"}},
        {"type": "audio_url", "audio_url": "b.wav"},
    ]
    chat = Prompt([{"role": "system", "content": "Be brief."}, {"role": "user", "content": content}])
    assert made.post(chat, Decoding()).body["prompts"] == [
        {"type": "text", "text": "Be brief."},
        {"type": "text", "text": "What is "},
        {"type": "image_url", "image_url": "/a.png"},
        {"type": "audio_url", "audio_url": "b.wav"},
    ]
    assert made.post(TEXT, Decoding()).body["prompts"] == [{"type": "text", "text": "Who?"}]
    with pytest.raises(CallError, match="does not take a part of the type 'file'"):
        made.post(Prompt([{"role": "user", "content": [{"type": "file"}]}]), Decoding())
    with pytest.raises(CallError, match="takes one string, not chat messages"):
        protocol().post(chat, Decoding())
    assert json.dumps(dict(made.post(chat, Decoding()).body))
