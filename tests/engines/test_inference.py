"""What users call on engines."""

import json
import re

import pytest
from msgspec import structs

from proctor.engines.http.openai_engine import OpenAIEngine
from proctor.engines.inference import TextGenerationInferenceOutput, prompt_of
from proctor.engines.scripted import ScriptedEngine
from proctor.errors import EngineError, FieldTypeError, MissingFieldError, PolicyError, UnsupportedRequestError
from proctor.ir import Failure, Response
from proctor.testing import FaultServer

ENGINE = ScriptedEngine(function=lambda prompt: prompt.text.upper())


def rows(*sources, **more):
    return [{"source": source, **more} for source in sources]


def test_predictions_are_strings_in_order():
    assert ENGINE(rows("a", "b")) == ["A", "B"]
    assert ENGINE.infer(rows("a")) == ["A"]
    assert ENGINE([]) == []


def test_predictions_know_who_made_them():
    metadata = ENGINE(rows("a")).metadata
    assert metadata["inference_engine_type"] == "ScriptedEngine"
    assert metadata["init_dict"]["__type__"] == "scripted_engine"
    assert re.fullmatch(r"20\d\d-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}", metadata["creation_time"])


def test_a_hugging_face_dataset():
    datasets = pytest.importorskip("datasets")
    assert ENGINE(datasets.Dataset.from_list(rows("a", "b"))) == ["A", "B"]


def test_chat_messages_also_as_json_text():
    engine = ScriptedEngine(function=lambda prompt: prompt.messages[0]["content"] if prompt.is_chat else "text")
    chat = [{"role": "user", "content": "hi"}]
    assert engine(rows(chat, json.dumps(chat), "[not messages")) == ["hi", "hi", "text"]


def test_details():
    [output] = ENGINE.infer(rows("a b"), return_meta_data=True)
    assert isinstance(output, TextGenerationInferenceOutput)
    assert (output.prediction, output.generated_text, output.input_tokens, output.stop_reason) == (
        "A B",
        "A B",
        2,
        "stop",
    )
    assert output.model_name == "scripted"


def test_failures_raise_with_counts_or_are_kept():
    engine = ScriptedEngine(answers={"good": "yes"})
    with pytest.raises(EngineError, match="2 of 3 requests to 'scripted' failed; the first is row 1") as caught:
        engine(rows("good", "x", "y"))
    assert "no answer is scripted" in str(caught.value)
    assert engine(rows("good", "x"), on_failure="keep") == ["yes", None]
    kept = engine.infer(rows("x"), return_meta_data=True, on_failure="keep")
    assert kept[0].failure.kind == "engine"


@pytest.mark.parametrize(
    "dataset, error, message",
    [
        ([{"text": "x"}], MissingFieldError, "row 0 has no 'source'"),
        (["x"], FieldTypeError, "row 0 is a str"),
        ([{"source": 3}], FieldTypeError, "neither a string nor chat messages"),
    ],
)
def test_rows_are_checked(dataset, error, message):
    with pytest.raises(error, match=message):
        ENGINE(dataset)


def test_data_that_an_engine_may_not_see_is_not_sent():
    with FaultServer() as server:
        engine = OpenAIEngine(model="m", base_url=server.url, data_classification_policy=["public"])
        assert len(engine(rows("a", data_classification_policy=["public", "proprietary"]))) == 1
        mixed = rows("b", data_classification_policy=["public"]) + rows("c", data_classification_policy=["pii"])
        with pytest.raises(PolicyError, match="pii"):
            engine(mixed)
        assert server.statistics()["requests"] == 1


def test_tools_reach_the_server_and_calls_come_back():
    tools = [{"type": "function", "function": {"name": "add", "parameters": {}}}]
    bodies = []

    def answer(body):
        bodies.append(body)
        return "x"

    with FaultServer(answer=answer) as server:
        engine = OpenAIEngine(model="m", base_url=server.url)
        engine([{"source": "2+2", "task_data": json.dumps({"__tools__": tools})}])
    assert bodies[0]["tools"] == tools


def test_token_log_probabilities():
    with FaultServer(answer=lambda body: "one two") as server:
        engine = OpenAIEngine(model="m", base_url=server.url)
        [tokens] = engine.infer_log_probs(rows("q"))
        [output] = engine.infer_log_probs(rows("q"), return_meta_data=True)
    assert [token["text"] for token in tokens] == ["one", " two"]
    assert tokens[0]["top_tokens"] == [{"text": "one", "logprob": tokens[0]["logprob"]}]
    assert output.prediction == tokens
    assert output.generated_text == "one two"


class Reticent(ScriptedEngine):
    """Writes, and does not say how sure it is."""

    def generate(self, requests):
        for position, response in super().generate(requests):
            yield position, structs.replace(response, tokens=())


def test_an_engine_without_log_probabilities_says_so():
    with pytest.raises(EngineError, match="no log-probabilities"):
        Reticent(answer="yes").infer_log_probs(rows("a"))


def test_selecting_an_option():
    engine = ScriptedEngine(log_likelihoods={"red": -3.0, "green": -1.0, "blue": -1.0})
    dataset = rows("The grass is ", task_data={"options": ["red", "green", "blue"]}, other=1)
    assert engine.select(dataset) == [{**dataset[0], "prediction": "green"}]
    with pytest.raises(UnsupportedRequestError):
        ENGINE.select(dataset)
    with pytest.raises(MissingFieldError, match="options"):
        engine.select(rows("x"))


def test_an_engine_that_stops_early_is_a_failure():
    class Lazy(ScriptedEngine):
        def generate(self, requests):
            yield 0, Response(texts=("only one",))

    with pytest.raises(EngineError, match="1 of 2"):
        Lazy()(rows("a", "b"))
    assert Failure("engine", "x").retryable


def test_pictures_in_a_string_reach_the_engine():
    Image = pytest.importorskip("PIL.Image")
    seen = []
    engine = ScriptedEngine(function=lambda prompt: seen.append(prompt.payload) or "x")
    picture = {"image": Image.new("RGB", (2, 2)), "format": "PNG"}
    row = {"source": 'What is <unitxt-img src="media/images/0"> here?', "media": {"images": [picture]}}
    engine([row, {"source": row["source"], "media": {}}])
    parts = seen[0][0]["content"]
    assert [part["type"] for part in parts] == ["text", "image_url", "text"]
    assert parts[1]["image_url"]["url"].startswith("data:image/")
    assert seen[1] == row["source"]


def test_pictures_need_a_tag_and_something_to_show():
    assert not prompt_of({"source": "no tag", "media": {"images": []}}).is_chat
    assert prompt_of({"source": "<unitxt-img here"}).payload == "<unitxt-img here"


def test_task_data_that_is_no_mapping_has_no_tools():
    seen = []

    class Spy(ScriptedEngine):
        def generate(self, requests):
            asked = list(requests)
            seen.extend(request.decoding.extra for request in asked)
            return super().generate(iter(asked))

    engine = Spy(answer="x")
    engine([*rows("a", "b", task_data="[1]"), {"source": "c", "task_data": {"__tools__": [{"name": "f"}]}}])
    assert seen == [{}, {}, {"tools": [{"name": "f"}]}]
    engine.infer_log_probs(rows("a"))
    assert seen[3] == {"logprobs": True, "top_logprobs": 5}


@pytest.mark.parametrize("options", [None, [], "abc", {"a": 1}])
def test_options_are_a_list_of_texts(options):
    engine = ScriptedEngine(log_likelihoods={"1": -1.0})
    with pytest.raises(MissingFieldError, match="row 0 has no options"):
        engine.select(rows("x", task_data={"options": options}))
    assert engine.select(rows("x", task_data={"options": [1]}))[0]["prediction"] == "1"


def test_options_that_cannot_be_scored_are_failures_or_none():
    engine = ScriptedEngine(log_likelihoods={"a": -1.0})
    dataset = rows("x", task_data={"options": ["b"]})
    with pytest.raises(EngineError, match="1 of 1 requests"):
        engine.select(dataset)
    assert engine.select(dataset, on_failure="keep")[0]["prediction"] is None
