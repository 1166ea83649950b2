"""Which tokens of an echo belong to the continuation, whatever a server writes about them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.engines.http.openai_engine import OpenAIEngine
from proctor.engines.http.protocols.openai_echo import align
from proctor.engines.http.transport import Reply
from proctor.ir import Choose, Pair, Prompt, Rolling

WAYS = ["vllm", "old vllm", "sglang", "openai"]


class ByteServer:
    """A model with a token for each word and, outside ASCII, for each byte; the n-th token has log-probability -n.

    Args:
        way: Whose way of writing tokens and offsets it follows.
        bos: A special token before every text.
        counts: Whether it counts tokens.
    """

    def __init__(self, way: str, bos: str = "", *, counts: bool = True, width: int = 1) -> None:
        self.way, self.bos, self.counts, self.width = way, bos, counts, width
        self.asked: list[str] = []

    def tokens(self, text: str) -> list[tuple[str, bytes]]:
        found, word = [], ""
        for character in text:
            if ord(character) < 128:
                if character == " " and word:
                    found.append((word, word.encode()))
                    word = ""
                word += character
                continue
            if word:
                found.append((word, word.encode()))
                word = ""
            raw = character.encode()
            for index in range(0, len(raw), self.width):
                part = raw[index : index + self.width]
                is_last = index + self.width >= len(raw)
                shown = {"vllm": character if is_last else "", "openai": f"bytes:{part!r}"}.get(self.way, "\ufffd")
                found.append((shown, part))
        return [*found, (word, word.encode())] if word else found

    async def post(self, url: str, body: bytes, headers: Mapping[str, str], timeout_seconds: float) -> Reply:
        sent = json.loads(body)
        assert (sent["echo"], sent["logprobs"], sent["max_tokens"]) == (True, 1, 1)
        text = sent["prompt"]
        self.asked.append(text)
        names = [name for name, _ in self.tokens(text)]
        names = [self.bos, *names] if self.bos else names
        read = len(names)
        names.append("")  # the end of the text, or a special token
        offsets = [sum(map(len, names[:index])) for index in range(len(names))]
        values = [None, *(-float(index) for index in range(1, len(names)))]
        log_probabilities = {
            "tokens": names,
            "token_logprobs": values,
            "text_offset": [-1] * len(names) if self.way == "sglang" else offsets,
            "top_logprobs": [None, *({name: value} for name, value in zip(names[1:], values[1:], strict=True))],
        }
        if self.way == "together":  # together 3.1.1: types/completion.py, types/log_probs.py
            log_probabilities = {"tokens": names[:read], "token_logprobs": values[:read], "token_ids": [0.0] * read}
            echoed = [{"text": text, "logprobs": log_probabilities}]
            return Reply(200, {}, json.dumps({"prompt": echoed, "choices": [{"text": "!"}]}).encode())
        reply: dict[str, Any] = {"choices": [{"text": text, "index": 0, "logprobs": log_probabilities}]}
        if self.counts:
            reply["usage"] = {"prompt_tokens": read, "completion_tokens": 1}
        return Reply(200, {}, json.dumps(reply).encode())

    async def close(self) -> None:
        """Nothing is open."""


def score(server: ByteServer, request: Any) -> Any:
    engine = OpenAIEngine(model="m", base_url="http://small", endpoint="completions", max_retries=0)
    engine._make_transport = lambda: server
    [(_, response)] = list(engine.score([request]))
    assert response.failure is None, response.failure
    return response


def expected(server: ByteServer, context: str, continuation: str) -> tuple[float, int]:
    """Sum the log-probabilities of the tokens that come after the context's own."""
    first = len(server.tokens(context)) + bool(server.bos)
    last = len(server.tokens(context + continuation)) + bool(server.bos)
    return -float(sum(range(first, last))), last - first


TEXTS = [
    ("The sky is", " very blue"),
    ("问题：天空是什么颜色？答案：", "蓝色"),
    ("Emoji 🙂", " and more"),
    ("Emoji 🙂", "🙃 done"),
    ("Smile", " 🙂"),
    ("ünïcödé", " ä"),
    ("a", "蓝"),
    ("蓝", "b"),
    ("two\n\nlines:", " yes\nno"),
]


@pytest.mark.parametrize("width", [1, 2])
@pytest.mark.parametrize("counts", [True, False], ids=["counted", "uncounted"])
@pytest.mark.parametrize("bos", ["", "<|begin_of_text|>"], ids=["plain", "bos"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("context, continuation", TEXTS)
def test_the_continuation_is_found(
    context: str, continuation: str, way: str, bos: str, counts: bool, width: int
) -> None:
    server = ByteServer(way, bos, counts=counts, width=width)
    found = score(server, Choose((Pair(Prompt(context), continuation),))).scores[0]
    assert (found.log_likelihood, found.token_count) == expected(server, context, continuation)
    assert found.is_greedy


def test_together_echoes_beside_the_choices() -> None:
    server = ByteServer("together", "<s>")
    found = score(server, Choose((Pair(Prompt("The sky is"), " very blue"),))).scores[0]
    assert (found.log_likelihood, found.token_count) == expected(server, "The sky is", " very blue")
    assert not found.is_greedy  # it does not say which tokens were likelier


def test_the_context_is_asked_for_alone_only_where_it_has_to_be() -> None:
    server = ByteServer("sglang", width=2)
    score(server, Choose((Pair(Prompt("sky："), " blue"), Pair(Prompt("sky："), "蓝"))))
    assert server.asked == ["sky： blue", "sky：蓝", "sky："]


MIXED = (
    "The sky is blue, isn't it? 答案：天空是蓝色的。 Ünïcödé ẞ naïve café — “quotes” … 🙂🙃 Привет, мир! こんにちは \n\n\tcode = "
    "{'a': 1}  \n  spaces   here हिन्दी عربى 한국어 ½ ± ∑ × "
)


class TokenizerServer(ByteServer):
    """A server with a tokenizer that joins bytes, also a blank and the first byte of a character."""

    def __init__(self, way: str, tokenizer: Any) -> None:
        super().__init__(way)
        self.tokenizer = tokenizer

    def tokens(self, text: str) -> list[tuple[str, bytes]]:
        found, waiting = [], []
        for each in self.tokenizer.encode(text).ids:
            waiting = [*waiting, each] if self.way == "vllm" else [each]
            shown = self.tokenizer.decode(waiting)
            if self.way == "vllm" and shown.endswith("\ufffd"):
                shown = ""
            else:
                waiting = []
            found.append((shown, b""))
        return found

    def inside(self, text: str, start: int) -> list[int]:
        """Return the tokens of which a character lies behind the start."""
        return [index for index, (_, end) in enumerate(self.tokenizer.encode(text).offsets) if end > start]


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=330, initial_alphabet=alphabet, show_progress=False)
    made.train_from_iterator([MIXED] * 3, trainer)
    return made


@pytest.mark.parametrize("way", ["vllm", "sglang"])
def test_cuts_at_any_place_of_a_text_with_any_characters(way: str, tokenizer: Any) -> None:
    server = TokenizerServer(way, tokenizer)
    random = Random(1)
    cases = []
    for _ in range(300):
        begin = random.randrange(len(MIXED) - 2)
        text = MIXED[begin : begin + random.randrange(2, 40)]
        cut = random.randrange(1, len(text))
        cases.append((text, cut))
    engine = OpenAIEngine(model="m", base_url="http://small", endpoint="completions", max_retries=0, max_concurrency=1)
    engine._make_transport = lambda: server
    requests = [Choose((Pair(Prompt(text[:cut]), text[cut:]),)) for text, cut in cases]
    found, refused = dict(engine.score(requests)), 0
    for index, (text, cut) in enumerate(cases):
        inside = [each for each in server.inside(text, cut) if each]  # the first token of all has no likelihood
        response = found[index]
        if response.failure is not None:  # this tokenizer has tokens with halves of two characters, which few have
            refused += 1
            continue
        assert response.scores[0].log_likelihood == -sum(inside), (text, cut)
    assert refused < len(cases) / 5


@pytest.mark.parametrize("way", WAYS)
def test_a_rolled_text_counts_every_token_that_has_a_likelihood(way: str) -> None:
    assert score(ByteServer(way), Rolling("one two 三")).scores[0].token_count == 5
    assert score(ByteServer(way, "<s>"), Rolling("one two 三")).scores[0].token_count == 6


@given(st.lists(st.sampled_from(["a", "b", " a", " the", "\n", "é", "蓝", "🙂", ".", "aa"]), min_size=1, max_size=12))
def test_tokens_of_a_text_lie_where_they_were_cut(tokens: list[str]) -> None:
    text = "".join(tokens)
    ends = [sum(map(len, tokens[: index + 1])) for index in range(len(tokens))]
    assert align(tokens, text) == [(end - len(token), end) for token, end in zip(tokens, ends, strict=True)]


@given(st.lists(st.text(max_size=4), max_size=8), st.text(max_size=20))
def test_any_tokens_are_read(tokens: list[str], text: str) -> None:
    spans = align(tokens, text)
    assert spans is None or len(spans) == len(tokens)


@pytest.mark.parametrize(
    "tokens, spans",
    [
        (["What", "is", "it"], [(0, 4), (4, 7), (7, 10)]),  # older vLLM and Llama 2: blanks are swallowed
        ([" What", " is", " it"], [(0, 4), (4, 7), (7, 10)]),  # a blank too many at the start
        (["<s>", " What", " is", " it"], [(0, 0), (0, 4), (4, 7), (7, 10)]),
    ],
)
def test_tokenizers_with_blanks_of_their_own(tokens: list[str], spans: list[tuple[int, int]]) -> None:
    assert align(tokens, "What is it") == spans


@pytest.mark.parametrize("cut, inside", [(0, 4), (1, 3), (2, 3), (3, 0)])
def test_a_blank_may_be_part_of_a_token_that_shows_nothing(cut: int, inside: int) -> None:
    # SmolLM2's tokens of "x ẞ" are "x", " " with the first byte of ẞ, and two more bytes; vLLM shows the last one whole.
    spans = align(["x", "", "", " ẞ"], "x ẞ")
    assert spans is not None
    assert sum(end > cut for _, end in spans) == inside


def test_texts_that_have_nothing_to_do_with_the_prompt() -> None:
    assert align(["token_id:1", "token_id:2"], "a b") is None
