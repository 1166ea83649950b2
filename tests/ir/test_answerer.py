import json

from proctor.ir import Answerer, Response, TokenLogProbability, in_order, prompt_of_source


class Two:
    def generate(self, requests):
        yield from ()

    def score(self, requests):
        yield from ()


class One:
    def generate(self, requests):
        yield from ()


def test_who_has_both_methods_answers_requests():
    assert isinstance(Two(), Answerer)
    assert not isinstance(One(), Answerer)


def test_answers_come_back_in_the_order_of_their_requests():
    found = in_order(iter([(2, Response(("c",))), (0, Response(("a",)))]), 3)
    assert [each.text for each in found] == ["a", "", "c"]
    assert [each.failure is not None for each in found] == [False, True, False]


def test_messages_may_be_written_as_json():
    chat = [{"role": "user", "content": "hi"}]
    assert prompt_of_source(chat).payload == prompt_of_source(json.dumps(chat)).payload == tuple(chat)
    for text in ("hi", "[not messages", '{"role": "user"}'):
        assert prompt_of_source(text).payload == text


def test_tokens_as_metrics_read_them():
    token = TokenLogProbability("a", -1.0, (("a", -1.0), ("b", -2.0)))
    top = [{"text": "a", "logprob": -1.0}, {"text": "b", "logprob": -2.0}]
    assert token.as_data() == {"text": "a", "logprob": -1.0, "top_tokens": top}
