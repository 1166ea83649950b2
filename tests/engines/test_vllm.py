"""The offline vLLM engine against a stand-in with vLLM's interface: vLLM itself needs a GPU."""

import sys
from types import ModuleType, SimpleNamespace

import pytest

from proctor.engines.vllm import VLLMEngine
from proctor.errors import MissingExtraError
from proctor.ir import Choose, Decoding, Generate, Pair, Prompt, Rolling, Span, Turn


class Tokenizer:
    """One token for each character."""

    bos_token = None
    bos_token_id = None
    eos_token_id = 0
    pad_token_id = 0
    chat_template = "{% for message in messages %}{{ message['role'] }}: {{ message['content'] }}\n{% endfor %}"

    def __call__(self, texts, add_special_tokens=True, **options):
        return {"input_ids": [[ord(character) for character in text] for text in texts]}

    def decode(self, ids):
        return "".join(map(chr, ids))

    def apply_chat_template(self, messages, **options):
        return "".join(f"<{message['role']}>{message['content']}" for message in messages)


def entry(token, rank=1):
    return SimpleNamespace(logprob=-token / 100, rank=rank, decoded_token=chr(token))


class LLM:
    calls = []

    def __init__(self, model, **arguments):
        self.model, self.arguments = model, arguments
        self.llm_engine = SimpleNamespace(model_config=SimpleNamespace(max_model_len=64))

    def get_tokenizer(self):
        return Tokenizer()

    def generate(self, prompts, parameters, use_tqdm):
        several = parameters if isinstance(parameters, list) else [parameters] * len(prompts)
        LLM.calls.append((prompts, several))
        return [self._output(prompt["prompt_token_ids"], each) for prompt, each in zip(prompts, several, strict=True)]

    def _output(self, ids, parameters):
        if len(ids) + 1 > 64:  # as vLLM does; it would end the whole batch
            raise ValueError(f"The decoder prompt (length {len(ids)}) is longer than the maximum model length of 64.")
        text = "".join(map(chr, ids))
        written = SimpleNamespace(
            text=f"re: {text}",
            token_ids=[65],
            finish_reason="stop",
            logprobs=[{65: entry(65)}] if parameters.logprobs else None,
        )
        log_probabilities = None
        if parameters.prompt_logprobs:
            log_probabilities = [None, *({token: entry(token, 1 + (token == ord("z")))} for token in ids[1:])]
        return SimpleNamespace(
            outputs=[written] * parameters.n, prompt_token_ids=ids, prompt_logprobs=log_probabilities
        )


class SamplingParams(SimpleNamespace):
    def __init__(self, **values):
        super().__init__(**{"n": 1, "logprobs": None, "prompt_logprobs": None, **values})


@pytest.fixture
def engine(monkeypatch):
    module = ModuleType("vllm")
    module.LLM, module.SamplingParams = LLM, SamplingParams
    monkeypatch.setitem(sys.modules, "vllm", module)
    LLM.calls = []
    return VLLMEngine(model="org/model", max_tokens=7, tensor_parallel_size=2, llm_kwargs={"enforce_eager": True})


def test_prompts_are_answered_in_one_batch(engine):
    chat = Prompt([{"role": "user", "content": "x"}])
    answers = dict(engine.generate([Generate(Prompt("ab")), Generate(chat, Decoding(stop=("\n",), count=2))]))
    assert answers[0].texts == ("re: ab",)
    assert answers[1].texts == ("re: <user>x",) * 2
    assert answers[0].usage.prompt_tokens == 2
    [(_, parameters)] = LLM.calls
    assert [each.max_tokens for each in parameters] == [7, 7]
    assert parameters[1].stop == ["\n"]
    assert engine._loaded.arguments["tensor_parallel_size"] == 2
    assert engine._loaded.arguments["enforce_eager"] is True


def test_log_probabilities_of_answers(engine):
    [tokens] = engine.infer_log_probs([{"source": "x"}])
    assert tokens[0]["text"] == "A"
    assert tokens[0]["logprob"] == -0.65


def test_continuations_are_scored_at_their_tokens(engine):
    request = Choose((Pair(Prompt("q"), "ab"), Pair(Prompt("q"), "z")))
    [(_, response)] = list(engine.score([request]))
    first, second = response.scores
    assert first.log_likelihood == pytest.approx(-(ord("a") + ord("b")) / 100)
    assert (first.token_count, first.is_greedy) == (2, True)
    assert (second.token_count, second.is_greedy) == (1, False)


def test_rolling_scores_every_token(engine):
    [(_, response)] = list(engine.score([Rolling("abc")]))
    assert response.scores[0].token_count == 3
    assert response.scores[0].log_likelihood == pytest.approx(-(ord("a") + ord("b") + ord("c")) / 100)


def test_a_window_of_many(engine):
    answers = dict(engine.generate(Generate(Prompt(str(n))) for n in range(5000)))
    assert len(answers) == 5000
    assert len(LLM.calls) == 2
    assert answers[4999].text == "re: 4999"


def demos(count):
    spans = [Span("demonstration.", f"demo[{n}].question") for n in range(count)]
    spans.append(Span("the question", "question"))
    return Prompt("".join(span.text for span in spans), lambda: (Turn("user", tuple(spans)),))


@pytest.mark.parametrize(
    "truncate, read",
    [("left", ("demonstration." * 9 + "the question")[-57:]), ("demos", "demonstration." * 3 + "the question")],
)
def test_prompts_that_are_too_long_are_shortened(engine, truncate, read):
    engine.truncate = truncate
    answers = dict(engine.generate([Generate(demos(9)), Generate(Prompt("short"))]))
    assert answers[0].text == f"re: {read}"
    assert answers[1].text == "re: short"


def test_prompts_that_are_too_long_fail_alone(engine):
    engine.truncate = "none"
    answers = dict(engine.generate([Generate(demos(9)), Generate(Prompt("short"))]))
    assert answers[0].failure.kind == "context_too_long"
    assert "81 tokens longer than the 57" in answers[0].failure.message
    assert answers[1].text == "re: short"


def test_a_default_limit_leaves_room_for_the_prompt(engine):
    engine.max_tokens = 5000
    answers = dict(engine.generate([Generate(Prompt("short")), Generate(Prompt("x"), Decoding(max_tokens=5000))]))
    assert answers[0].text == "re: short"
    assert answers[1].failure.kind == "context_too_long"


def test_contexts_of_every_length_are_scored(engine):
    requests = [Choose((Pair(Prompt("c" * length), "ab"), Pair(Prompt("c" * length), "z"))) for length in range(1, 90)]
    answers = dict(engine.score(requests))
    assert all(answer.failure is None for answer in answers.values())
    assert {score.token_count for answer in answers.values() for score in answer.scores} == {1, 2}
    engine.truncate = "none"
    kinds = [answer.failure and answer.failure.kind for _, answer in sorted(dict(engine.score(requests)).items())]
    assert kinds.count("context_too_long") == len([length for length in range(1, 90) if length + 1 > 62])


def test_without_vllm_the_install_line_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "vllm", None)
    with pytest.raises(MissingExtraError, match=r"proctor\[vllm\]"):
        list(VLLMEngine(model="m").generate([Generate(Prompt("x"))]))


def test_names_of_other_systems():
    assert VLLMEngine(pretrained="m").model == "m"
