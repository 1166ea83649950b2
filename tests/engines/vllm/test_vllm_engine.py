"""The offline vLLM engine against a stand-in with vLLM's interface: vLLM itself needs a GPU."""

import json
import math
import sys
from functools import cache
from inspect import Parameter, Signature
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from proctor.engines.vllm import choice_ways, conversion, vllm_engine
from proctor.engines.vllm.vllm_engine import VLLMEngine
from proctor.errors import EngineError, MissingExtraError, ValidationError
from proctor.guests.unitxt.engines.vllm import VLLMInferenceEngine
from proctor.ir import Choose, Decoding, Generate, Pair, Prompt, Rolling, Span, Turn, Usage


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


SIGNATURES = json.loads((Path(__file__).parent / "vllm_signatures.json").read_text())
"""Of the release that they name; recorded by conformance/vllm/signatures.py."""
LENGTH = 64


class VLLMError(Exception):
    """The base of vLLM's own errors since 0.33, which are not a ``ValueError`` any more."""


class EngineDeadError(VLLMError):
    pass


def bound(name, arguments, options):
    """Return the arguments of a call by name, as the recorded signature binds them; ``TypeError`` where it does not."""
    recorded = SIGNATURES[name]
    kinds = Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY
    parameters = [Parameter(each, kinds[0], default=None) for each in recorded["positional"]]
    parameters += [Parameter(each, kinds[1], default=None) for each in recorded["keyword"]]
    return Signature(parameters).bind(*arguments, **options).arguments


def shaped(name, values):
    """Return an object with the recorded fields of a class, those that are not given ``None``."""
    fields = SIGNATURES[name]
    fields = fields if isinstance(fields, list) else [*fields["positional"], *fields["keyword"]]
    assert values.keys() <= set(fields), values.keys() - set(fields)
    return SimpleNamespace(**{**dict.fromkeys(fields), **values})


def entry(token, rank=1):
    return shaped("Logprob", {"logprob": -token / 100, "rank": rank, "decoded_token": chr(token)})


class LLM:
    """Takes what the recorded ``vllm.LLM`` takes, and refuses what it refuses."""

    calls = []
    error = VLLMError
    dies = None
    says = None
    tokenizer = Tokenizer

    def __init__(self, *arguments, **options):
        known = {*SIGNATURES["LLM"]["keyword"], *SIGNATURES["EngineArgs"]}
        assert len(arguments) <= 1
        if unknown := [name for name in options if name not in known]:
            raise TypeError(f"EngineArgs.__init__() got an unexpected keyword argument '{unknown[0]}'")
        self.arguments = options
        self.llm_engine = SimpleNamespace(model_config=SimpleNamespace(max_model_len=LENGTH))

    def get_tokenizer(self):
        return LLM.tokenizer()

    def generate(self, *arguments, **options):
        given = bound("LLM.generate", arguments, options)
        prompts, parameters = given["prompts"], given["sampling_params"]
        several = parameters if isinstance(parameters, list) else [parameters] * len(prompts)
        assert given["use_tqdm"] is False, "runs have a display of their own"
        if given.get("lora_request"):
            assert self.arguments["enable_lora"] is True
        if LLM.dies:
            raise LLM.dies
        LLM.calls.append((prompts, several, given.get("lora_request")))
        assert len(prompts) == len(several)
        assert all(prompt.keys() <= set(SIGNATURES["TokensPrompt"]) for prompt in prompts)
        return [self._output(prompt["prompt_token_ids"], each) for prompt, each in zip(prompts, several, strict=True)]

    def _output(self, ids, parameters):
        # One request that vLLM refuses ends the whole batch.
        if not ids:
            raise LLM.error("The decoder prompt cannot be empty")
        if len(ids) + 1 > LENGTH:
            raise LLM.error(
                f"The decoder prompt (length {len(ids)}) plus the number of requested output tokens (at least 1) is "
                f"longer than the maximum model length of {LENGTH}."
            )
        if (parameters.logprobs or 0) > 20:
            raise LLM.error(
                f"Requested sample logprobs of {parameters.logprobs}, which is greater than max allowed: 20"
            )
        text = "".join(map(chr, ids))
        written = {
            "index": 0,
            "text": (LLM.says or f"re: {text}") if parameters.detokenize else "",
            "token_ids": [65],
            "finish_reason": "abort" if "abort" in text else "stop",
            "logprobs": None if parameters.logprobs is None else [{65: entry(65)}],
        }
        values = {"request_id": "0", "prompt_token_ids": ids, "finished": True}
        values["outputs"] = [shaped("CompletionOutput", written)] * parameters.n
        if parameters.prompt_logprobs is not None:
            values["prompt_logprobs"] = [
                None, *({token: entry(token, 1 + (token == ord("z"))), 1: entry(1)} for token in ids[1:])
            ]  # fmt: skip
        return shaped("RequestOutput", values)


class SamplingParams(SimpleNamespace):
    """Takes the recorded fields, and refuses what ``SamplingParams._verify_args`` refuses."""

    def __init__(self, **values):
        if unknown := [name for name in values if name not in SIGNATURES["SamplingParams"]]:
            raise TypeError(f"Unexpected keyword argument '{unknown[0]}'")
        defaults = {"n": 1, "temperature": 1.0, "top_p": 1.0, "top_k": 0, "max_tokens": 16, "detokenize": True}
        super().__init__(
            **{**dict.fromkeys(NAMES), **dict.fromkeys(SIGNATURES["SamplingParams"]), **defaults, **values}
        )
        self.stop = [self.stop] if isinstance(self.stop, str) else self.stop or []
        checks = {
            f"n must be 1 when using greedy sampling, got {self.n}.": self.temperature >= 1e-5 or self.n == 1,
            f"temperature must be in [0, 2], got {self.temperature}.": 0 <= self.temperature <= 2,
            f"top_p must be in (0, 1], got {self.top_p}.": 0 < self.top_p <= 1,
            f"top_k must be 0 (disable), or at least 1, got {self.top_k}.": self.top_k >= -1,
            f"max_tokens must be at least 1, got {self.max_tokens}.": self.max_tokens is None or self.max_tokens >= 1,
            "stop cannot contain an empty string.": all(self.stop),
            "stop strings are only supported when detokenize is True.": self.detokenize or not self.stop,
            "logit_bias takes token ids": all(isinstance(token, int) for token in self.logit_bias or {}),
        }
        for message, is_fine in checks.items():
            if not is_fine:
                raise LLM.error(message)


def lora_request(*arguments):
    assert len(arguments) <= len(SIGNATURES["LoRARequest"])
    return dict(zip(SIGNATURES["LoRARequest"], arguments, strict=False))


def module(name, **contents):
    found = ModuleType(name)
    found.__path__ = []
    vars(found).update(contents)
    return found


@pytest.fixture(params=["0.33", "0.9"])
def engine(monkeypatch, request):
    is_new = request.param == "0.33"
    modules = [
        module("vllm", LLM=LLM, SamplingParams=SamplingParams),
        module("vllm.lora"),
        module("vllm.lora.request", LoRARequest=lora_request),
        module("vllm.v1"),
        module("vllm.v1.engine"),
        module("vllm.v1.engine.exceptions", EngineDeadError=EngineDeadError),
    ]
    if is_new:
        modules.append(module("vllm.exceptions", VLLMError=VLLMError))
        modules[0].exceptions = modules[-1]
    for each in modules:
        monkeypatch.setitem(sys.modules, each.__name__, each)
    monkeypatch.setattr(LLM, "calls", [])
    monkeypatch.setattr(LLM, "dies", None)
    monkeypatch.setattr(LLM, "tokenizer", Tokenizer)
    monkeypatch.setattr(LLM, "error", VLLMError if is_new else ValueError)
    return VLLMEngine(model="org/model", max_tokens=7, tensor_parallel_size=2, llm_kwargs={"enforce_eager": True})


def test_prompts_are_answered_in_one_batch(engine):
    chat = Prompt([{"role": "user", "content": "x"}])
    answers = dict(engine.generate([Generate(Prompt("ab")), Generate(chat, Decoding(stop=("\n",), count=2))]))
    assert answers[0].texts == ("re: ab",)
    assert answers[1].texts == ("re: <user>x",) * 2
    assert answers[0].usage.prompt_tokens == 2
    [(_, parameters, _)] = LLM.calls
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


def test_greedy_answers_are_asked_for_once_and_given_as_often_as_wanted(engine):
    answers = dict(engine.generate([Generate(Prompt("ab"), Decoding(count=3))]))
    assert answers[0].texts == ("re: ab",) * 3
    assert answers[0].finish_reasons == ("stop",) * 3
    [(_, [parameters], _)] = LLM.calls
    assert (parameters.n, parameters.temperature) == (1, 0.0)


def test_sampled_answers_are_asked_for_together(engine):
    decoding = Decoding(count=3, temperature=0.7, top_p=0.9, top_k=5, seed=2, stop=("END", ""))
    answers = dict(engine.generate([Generate(Prompt("ab"), decoding)]))
    assert answers[0].texts == ("re: ab",) * 3
    [(_, [parameters], _)] = LLM.calls
    assert (parameters.n, parameters.top_p, parameters.top_k, parameters.seed) == (3, 0.9, 5, 2)
    assert parameters.stop == ["END"]


@pytest.mark.parametrize(
    "decoding, message",
    [
        (Decoding(max_tokens=0), "max_tokens must be at least 1"),
        (Decoding(temperature=3.0), "temperature must be in"),
        (Decoding(extra={"best_of": 3}), "Unexpected keyword argument 'best_of'"),
        (Decoding(extra={"logprobs": True, "top_logprobs": 50}), "greater than max allowed: 20"),
    ],
)
def test_a_request_that_vllm_does_not_take_fails_alone(engine, decoding, message):
    requests = [Generate(Prompt(f"q{number}")) for number in range(5)]
    requests[3] = Generate(Prompt("bad"), decoding)
    answers = dict(engine.generate(requests))
    assert [answers[n].text for n in (0, 1, 2, 4)] == ["re: q0", "re: q1", "re: q2", "re: q4"]
    assert answers[3].failure.kind == "refused"
    assert message in answers[3].failure.message


def test_answers_that_vllm_ends_are_failures(engine):
    answers = dict(engine.generate([Generate(Prompt("fine")), Generate(Prompt("abort"))]))
    assert answers[0].text == "re: fine"
    assert answers[1].failure.kind == "server_error"


def test_log_probabilities_and_biases_reach_vllm(engine):
    extra = {"logprobs": True, "top_logprobs": 3, "logit_bias": {"65": 2.0}, "min_tokens": 1, "tools": []}
    [(_, response)] = list(engine.generate([Generate(Prompt("x"), Decoding(extra=extra))]))
    assert response.tokens[0][0].token == "A"
    [(_, [parameters], _)] = LLM.calls
    assert (parameters.logprobs, parameters.logit_bias, parameters.min_tokens) == (3, {65: 2.0}, 1)


def test_scoring_asks_for_ids_only(engine):
    list(engine.score([Choose((Pair(Prompt("q"), "ab"),))]))
    [([prompt], [parameters], _)] = LLM.calls
    assert prompt == {"prompt_token_ids": [ord("q"), ord("a"), ord("b")]}
    assert (parameters.prompt_logprobs, parameters.max_tokens, parameters.detokenize) == (1, 1, False)
    assert parameters.temperature == 0.0  # the written token is the likeliest


@pytest.mark.parametrize("name", ["peft", "lora_local_path"])
def test_an_adapter(engine, name):
    adapted = VLLMEngine(model="m", **{name: "/adapter"})
    list(adapted.generate([Generate(Prompt("x"))]))
    list(adapted.score([Choose((Pair(Prompt("q"), "ab"),))]))
    assert [call[2] for call in LLM.calls] == [{"lora_name": "adapter", "lora_int_id": 1, "lora_path": "/adapter"}] * 2
    assert adapted.identity != VLLMEngine(model="m").identity


@pytest.mark.parametrize("error", [RuntimeError("CUDA out of memory. Tried to allocate 2 GiB"), EngineDeadError("x")])
@pytest.mark.parametrize("asked", ["generate", "score"])
def test_an_engine_that_dies_says_what_to_do(engine, monkeypatch, error, asked):
    monkeypatch.setattr(LLM, "dies", error)
    request = Generate(Prompt("x")) if asked == "generate" else Choose((Pair(Prompt("q"), "ab"),))
    with pytest.raises(EngineError, match="smaller max_model_len") as caught:
        list(getattr(engine, asked)([request]))
    assert str(error) in str(caught.value)
    assert engine._loaded is None


def test_arguments_that_vllm_does_not_have(engine):
    with pytest.raises(EngineError, match=r"EngineArgs of the installed version"):
        list(VLLMEngine(model="m", llm_kwargs={"swap_space": 4}).generate([Generate(Prompt("x"))]))


def test_arguments_of_lm_eval(engine):
    found = VLLMEngine(pretrained="m", max_length=32, max_gen_toks=5, max_num_seqs=16, enable_prefix_caching=True)
    list(found.generate([Generate(Prompt("x"))]))
    assert found._loaded.arguments["max_model_len"] == 32
    assert found._loaded.arguments["max_num_seqs"] == 16
    assert LLM.calls[0][1][0].max_tokens == 5


def test_tokenizers_that_are_not_those_of_transformers(engine, monkeypatch):
    monkeypatch.setattr(LLM, "tokenizer", lambda: SimpleNamespace(bos_token_id=1))
    with pytest.raises(EngineError, match="tokenizer_mode=hf"):
        list(engine.generate([Generate(Prompt("x"))]))


def test_the_engine_of_unitxt_passes_on_what_vllm_samples_by(engine):
    given = {"n": 2, "temperature": 0.5, "min_p": 0.1, "repetition_penalty": 1.1, "logprobs": 2, "ignore_eos": True}
    [(_, response)] = list(VLLMInferenceEngine(model="m", **given).generate([Generate(Prompt("x"))]))
    assert len(response.texts) == 2
    [(_, [parameters], _)] = LLM.calls
    assert all(getattr(parameters, name) == value for name, value in given.items())


def test_without_vllm_the_install_line_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "vllm", None)
    with pytest.raises(MissingExtraError, match=r"proctor\[vllm\]"):
        list(VLLMEngine(model="m").generate([Generate(Prompt("x"))]))


def test_names_of_other_systems():
    assert VLLMEngine(pretrained="m").model == "m"


@pytest.mark.parametrize("asked", [Generate(Prompt("x")), Choose((Pair(Prompt("q"), "ab"),))])
def test_a_vllm_that_cannot_be_imported_says_why(monkeypatch, tmp_path, asked):
    (tmp_path / "vllm").mkdir()
    (tmp_path / "vllm" / "__init__.py").write_text("raise ImportError('libcuda.so.1: cannot open shared object file')")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "vllm", raising=False)
    engine = VLLMEngine(model="m")
    with pytest.raises(EngineError, match=r"libcuda\.so\.1"):
        list(engine.generate([asked]) if isinstance(asked, Generate) else engine.score([asked]))


class MarkedTokenizer(Tokenizer):
    """One whose marks of thoughts are special tokens."""

    all_special_tokens = ("<think>", "</think>")


def thought(engine, monkeypatch, says, prompt="why?<think>", **decoding):
    monkeypatch.setattr(LLM, "says", says)
    [(_, response)] = list(engine.generate([Generate(Prompt(prompt), Decoding(**decoding))]))
    return response, LLM.calls[-1][1][0]


def test_thoughts_that_the_prompt_began(engine, monkeypatch):
    response, parameters = thought(engine, monkeypatch, "hm\nhm</think>yes\nmore", stop=("\n",))
    assert (response.texts, response.thoughts, response.finish_reasons) == (("yes",), ("hm\nhm",), ("stop",))
    assert parameters.stop == []
    lost, _ = thought(engine, monkeypatch, "hm")
    assert (lost.failure.kind, lost.thoughts) == ("thinking", ("hm",))
    _, plain = thought(engine, monkeypatch, "yes", "why?", stop=("\n",))
    assert plain.stop == ["\n"]


def test_an_allowance_and_marks_that_are_special_tokens(engine, monkeypatch):
    _, parameters = thought(engine, monkeypatch, "yes", "why?", max_tokens=4)
    assert (parameters.max_tokens, parameters.skip_special_tokens) == (4, None)
    monkeypatch.setattr(LLM, "tokenizer", MarkedTokenizer)
    roomy = VLLMEngine(model="m", thinking_tokens=10)
    response, parameters = thought(roomy, monkeypatch, "<think>hm</think>yes", "why?", max_tokens=4)
    assert (response.texts, response.usage.thinking_tokens) == (("yes",), 1)
    assert (parameters.max_tokens, parameters.skip_special_tokens) == (14, False)


def test_how_lm_eval_calls_the_arguments():
    given = VLLMEngine(pretrained="m", think_end_token="</think>", enable_thinking=False)
    assert (given.think_end, given.thinking) == ("</think>", "off")


def test_without_a_limit_one_token_has_room(engine):
    unlimited = VLLMEngine(model="m", max_tokens=None)
    (answered,) = dict(unlimited.generate([Generate(Prompt("x" * 70))])).values()
    assert answered.text == f"re: {'x' * (LENGTH - 1)}"
    assert LLM.calls[0][1][0].max_tokens is None


@pytest.mark.parametrize(
    "extra, wanted",
    [
        ({"logprobs": True}, 1),
        ({"logprobs": 5}, 5),
        ({"logprobs": 5, "top_logprobs": 2}, 2),
        ({"logprobs": True, "top_logprobs": 0}, 0),
        ({"logprobs": False, "top_logprobs": 2}, None),
        ({"logprobs": 0}, 0),
        ({}, None),
    ],
)
def test_as_many_alternatives_as_were_asked_for(engine, extra, wanted):
    list(engine.generate([Generate(Prompt("x"), Decoding(extra=extra))]))
    assert LLM.calls[0][1][0].logprobs == wanted


def test_a_model_is_forgotten_when_the_engine_is_closed(engine):
    list(engine.generate([Generate(Prompt("x"))]))
    first = engine._loaded
    engine.close()
    list(engine.generate([Generate(Prompt("x"))]))
    assert engine._loaded is not first


def test_the_text_that_the_model_reads(engine):
    chat = [{"role": "user", "content": "x"}]
    assert (engine.text_of(Prompt("x")), engine.text_of(Prompt(chat))) == ("x", "<user>x")
    assert engine.text_of(Prompt([{"role": "user", "content": [{"type": "image_url"}]}])) is None


def test_an_answer_that_is_missing_is_an_error(engine, monkeypatch):
    monkeypatch.setattr(LLM, "generate", lambda *_, **__: [])
    with pytest.raises(EngineError, match="vLLM answered 0 of 1 requests"):
        list(engine.generate([Generate(Prompt("x"))]))


def test_a_model_that_cannot_be_loaded_says_what_helps(engine, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("Engine core initialization failed")

    monkeypatch.setattr(LLM, "__init__", fail)
    with pytest.raises(EngineError, match=r"cannot load 'org/model'(.|\n)*initialization failed(.|\n)*max_model_len"):
        list(engine.generate([Generate(Prompt("x"))]))


def test_a_text_is_scored_from_its_beginning_or_from_its_second_token(engine):
    _, (_, continued) = dict(engine.score([Rolling("abc"), Rolling("abc", from_start=False)])).items()
    assert (continued.scores[0].token_count, continued.scores[0].log_likelihood) == (2, pytest.approx(-1.97))
    answers = dict(engine.score([Rolling("a" * 100), Rolling("")]))
    assert answers[0].scores[0].token_count == 100
    assert (answers[1].failure.kind, answers[1].failure.retryable) == ("engine", False)


# -- choices behind a cached context -------------------------------------------------------------------------------


class Caching(LLM):
    """A model whose predictions depend on all that is before them, with vLLM's cache and the ways of a version."""

    knows = frozenset({"logprob_token_ids", "allowed_token_ids", "trace_decode_token_ids"})
    habit = ""
    computed = 0
    cached = set()

    def generate(self, *arguments, **options):
        given = bound("LLM.generate", arguments, options)
        several = given["sampling_params"]
        for each in several:
            named = [name for name in NAMES if getattr(each, name) is not None and name not in self.knows]
            assert not named, f"unexpected keyword argument {named}"
            assert each.trace_decode_token_ids is None or self.arguments.get("enable_trace_replay")
            if each.logprob_token_ids is not None and each.logprobs not in (None, len(each.logprob_token_ids)):
                raise ValueError("when both logprobs and logprob_token_ids are set, logprobs must equal their number")
        if self.habit == "reads no prompts" and any(each.prompt_logprobs is not None for each in several):
            raise ValueError("prompt_logprobs is not supported")
        return super().generate(*arguments, **options)

    def _output(self, ids, parameters):
        found = super()._output(ids, parameters)
        reads_cache = parameters.prompt_logprobs is None
        hits = max((n for n in range(len(ids)) if tuple(ids[:n]) in Caching.cached), default=0) if reads_cache else 0
        Caching.computed += len(ids) - hits
        Caching.cached |= {tuple(ids[:n]) for n in range(1, len(ids) + 1)}
        if parameters.prompt_logprobs is not None:
            pairs = ((ids[:place], ids[place]) for place in range(1, len(ids)))
            found.prompt_logprobs = [None, *({token: predicted(before, token)} for before, token in pairs)]
        found.outputs = [self._written(list(ids), parameters)]
        return found

    def _written(self, ids, parameters):
        forced = parameters.trace_decode_token_ids or parameters.allowed_token_ids
        tokens, entries = [], []
        for step in range(parameters.max_tokens):
            best = min(ALPHABET, key=lambda token: predicted(ids, token).rank)
            token = forced[step] if forced else best
            named = [token, *(parameters.logprob_token_ids or ())]
            listed = {each: predicted(ids, each) for each in named}
            listed |= {each: shaped("Logprob", {**vars(listed[each]), "rank": 1}) for each in named[1:]}  # as vLLM does
            if self.habit == "processed" and parameters.allowed_token_ids:
                listed = {token: shaped("Logprob", {"logprob": 0.0, "rank": 1})}
            if self.habit == "ignores":
                listed = {best: predicted(ids, best)}
            if self.habit == "leaves out" and len(listed) > 2:
                listed.pop(named[1])
            tokens.append(token if self.habit != "ignores" else best)
            entries.append(listed)
            ids = [*ids, token]
        return shaped("CompletionOutput", {"index": 0, "token_ids": tokens, "logprobs": entries, "text": ""})


NAMES = ("logprob_token_ids", "allowed_token_ids", "trace_decode_token_ids")
ALPHABET = range(32, 127)


@cache
def _scores(before):
    return {each: (hash((before, each)) % 9973) / 2000 for each in ALPHABET}


@cache
def _predicted(before, token):
    scores = _scores(before)
    total = math.log(sum(map(math.exp, scores.values())))
    return scores[token] - total, 1 + sum(each > scores[token] for each in scores.values())


def predicted(before, token):
    value, rank = _predicted(tuple(before[-4:]), token)
    return shaped("Logprob", {"logprob": value, "rank": rank})


LETTERS = [Choose(tuple(Pair(Prompt(f"Some demos. Question {n}:"), each) for each in "ABCD")) for n in range(12)]
WORDS = [Choose((Pair(Prompt(f"Some demos. Question {n}:"), "yes"), Pair(Prompt(f"Some demos. Question {n}:"), "no")))
         for n in range(12)]  # fmt: skip


@pytest.fixture
def caching(engine, monkeypatch):
    monkeypatch.setattr(sys.modules["vllm"], "LLM", Caching)
    monkeypatch.setattr(Caching, "computed", 0)
    monkeypatch.setattr(Caching, "cached", set())
    return engine


def plain(requests):
    """The likelihoods of requests as a version gives them that knows none of the ways."""
    engine = VLLMEngine(model="org/model", llm_kwargs={"logprobs_mode": "processed_logprobs"})
    Caching.computed = 0
    found = dict(engine.score(requests))
    assert {each.way for each in found.values()} == {"by prompt_logprobs"}
    return found, Caching.computed


@pytest.mark.parametrize(
    "knows, habit, replays, requests, way",
    [
        (NAMES, "", False, LETTERS, "by one token"),
        (NAMES[1:], "", False, LETTERS, "by one token each"),
        (NAMES[2:], "", False, LETTERS, "by prompt_logprobs"),
        (NAMES, "ignores", False, LETTERS, "by prompt_logprobs"),
        (NAMES, "leaves out", False, LETTERS, "by one token each"),
        (NAMES[1:], "processed", False, LETTERS, "by prompt_logprobs"),
        (NAMES, "", False, WORDS, "by prompt_logprobs"),
        (NAMES, "", True, WORDS, "by replay"),
        (NAMES, "ignores", True, WORDS, "by prompt_logprobs"),
        (NAMES, "", False, [Rolling("some text"), *LETTERS], "by one token"),
    ],
)
def test_choices_are_asked_behind_the_cached_context_where_that_gives_the_same(
    caching, monkeypatch, knows, habit, replays, requests, way
):
    known = [name for name in SIGNATURES["SamplingParams"] if name not in NAMES or name in knows]
    expected, computed = plain(requests)
    monkeypatch.setitem(SIGNATURES, "SamplingParams", known)
    monkeypatch.setattr(Caching, "habit", habit)
    monkeypatch.setattr(Caching, "knows", frozenset(knows))
    caching.llm_kwargs = {"enable_trace_replay": replays}
    Caching.computed, Caching.cached = 0, set()
    found = dict(caching.score(requests))
    assert {each.way for each in found.values()} - {"by prompt_logprobs"} == {way} - {"by prompt_logprobs"}
    for place, each in expected.items():
        for one, other in zip(found[place].scores, each.scores, strict=True):
            assert one.log_likelihood == pytest.approx(other.log_likelihood, abs=1e-9)
            assert (one.is_greedy, one.token_count) == (other.is_greedy, other.token_count)
    if way != "by prompt_logprobs" and not habit:
        assert Caching.computed < 0.6 * computed


def test_a_way_that_cannot_be_compared_is_not_taken(caching, monkeypatch):
    monkeypatch.setattr(Caching, "habit", "reads no prompts")
    found = dict(caching.score(LETTERS))
    assert len(found) == len(LETTERS)
    assert all("prompt_logprobs is not supported" in each.failure.message for each in found.values())


def test_on_a_cpu_a_failed_start_names_what_the_wall_refuses(monkeypatch):
    why = "Engine core initialization failed. See root cause above."
    assert vllm_engine.load_hint(why) == vllm_engine.MEMORY_HINT
    monkeypatch.setattr(vllm_engine, "standing", lambda: "a wall")
    monkeypatch.setattr(vllm_engine, "accelerators", list)
    assert "--allow read:/proc" in vllm_engine.load_hint(why)
    assert vllm_engine.load_hint("there is no such model") == ""
    monkeypatch.setattr(vllm_engine, "granted", lambda _: ["/proc"])
    assert vllm_engine.load_hint(why) == vllm_engine.MEMORY_HINT
    monkeypatch.setattr(vllm_engine, "granted", lambda _: [])
    monkeypatch.setattr(vllm_engine, "accelerators", lambda: ["/dev/nvidia0"])
    assert vllm_engine.load_hint(why) == vllm_engine.MEMORY_HINT


# -- arguments, and what comes back ----------------------------------------------------------------------------------


def test_what_a_model_is_loaded_with_where_nothing_is_said(engine):
    plain = VLLMEngine(model="m")
    list(plain.generate([Generate(Prompt("x"))]))
    given = {"model": "m", "dtype": "auto", "tensor_parallel_size": 1, "gpu_memory_utilization": 0.9}
    assert plain._loaded.arguments == {**given, "trust_remote_code": False}
    assert LLM.calls[0][1][0].max_tokens == LENGTH // 2
    assert plain.decoding_defaults() == {"max_tokens": 256, **dict.fromkeys(
        ("temperature", "top_p", "top_k", "seed", "stop")), "extra": {}}  # fmt: skip


@pytest.mark.parametrize(
    "given, is_taken",
    [
        ({"tensor_parallel_size": 0}, False),
        ({"tensor_parallel_size": 1}, True),
        ({"gpu_memory_utilization": 0}, False),
        ({"gpu_memory_utilization": 1}, True),
        ({"gpu_memory_utilization": 1.01}, False),
        ({"truncate": "right"}, False),
    ],
)
def test_what_no_machine_has_is_refused(given, is_taken):
    if is_taken:
        assert VLLMEngine(model="m", **given)
    else:
        with pytest.raises(ValidationError):
            VLLMEngine(model="m", **given)


def test_how_the_machine_is_used_does_not_change_whose_answers_they_are():
    def identity(**given):
        return VLLMEngine(model="m", **given).identity

    same = [{}, {"tensor_parallel_size": 4}, {"gpu_memory_utilization": 0.5}, {"trust_remote_code": True}]
    other = [{"dtype": "float16"}, {"max_tokens": 3}, {"llm_kwargs": {"kv_cache_dtype": "fp8"}}, {"truncate": "none"}]
    assert len({str(identity(**each)) for each in same}) == 1
    assert len({str(identity(**each)) for each in (*same, *other)}) == 5


def test_decoding_that_the_fields_ask_for_is_what_requests_leave_open(engine):
    own = VLLMEngine(model="m", temperature=0.7, top_p=0.8, top_k=9, seed=3, stop="END", max_tokens=5)
    list(own.generate([Generate(Prompt("x")), Generate(Prompt("x"), Decoding(temperature=0.2, stop=("\n",), seed=8))]))
    [(_, (left, said), _)] = LLM.calls
    names = ("temperature", "top_p", "top_k", "seed", "stop", "max_tokens")
    assert [getattr(left, each) for each in names] == [0.7, 0.8, 9, 3, ["END"], 5]
    assert [getattr(said, each) for each in names] == [0.2, 0.8, 9, 8, ["\n"], 5]


def test_the_likeliest_alternatives_come_first_and_the_written_token_is_its_own():
    entries = {7: entry(7), 3: entry(3), 5: shaped("Logprob", {"logprob": -0.5, "rank": 9, "decoded_token": None})}
    written = shaped(
        "CompletionOutput", {"token_ids": [7], "logprobs": [entries], "text": "t", "finish_reason": "length"}
    )
    output = shaped("RequestOutput", {"prompt_token_ids": [1, 2, 3], "outputs": [written]})
    found = conversion.answer_of(output, 2)
    [tokens] = {*found.tokens}
    assert [(each.token, each.log_probability, each.top) for each in tokens] == [
        ("\x07", -0.07, (("\x03", -0.03), ("\x07", -0.07), ("", -0.5)))
    ]
    assert (found.texts, found.finish_reasons, found.usage) == (("t",) * 2, ("length",) * 2, Usage(3, 1))
    assert len(found.tokens) == 2


def scorable(*targets, inputs=(1, 2)):
    return SimpleNamespace(inputs=list(inputs), targets=list(targets))


@pytest.mark.parametrize(
    "name, pieces, takes",
    [
        ("by one token", [scorable(n) for n in range(128)], True),
        ("by one token", [scorable(n) for n in range(129)], False),
        ("by one token", [scorable(n % 128) for n in range(129)], True),
        ("by one token", [scorable(1), scorable(1, 2)], False),
        ("by one token", [scorable(1), scorable(2, inputs=(3,))], False),
        ("by one token", [scorable(1)], True),
        ("by one token", [], False),
        ("by one token each", [scorable(n) for n in range(129)], True),
        ("by replay", [scorable(1, 2, inputs=range(16))], True),
        ("by replay", [scorable(1, 2, inputs=range(15))], False),
    ],
)
def test_which_questions_a_way_takes(name, pieces, takes):
    [way] = [each for each in choice_ways.ways_with({"enable_trace_replay": True}) if each.name == name]
    assert way.takes(pieces) is takes


def test_which_ways_a_loaded_model_has():
    ways = [[each.name for each in choice_ways.ways_with(options)] for options in (
        {}, {"enable_trace_replay": True, "logprobs_mode": "raw_logprobs"}, {"logprobs_mode": "raw_logits"})]  # fmt: skip
    assert ways == [["by one token", "by one token each"], ["by one token", "by one token each", "by replay"], []]


def test_replay_asks_behind_the_context_for_just_the_tokens_of_the_choice():
    *_, way = choice_ways.ways_with({"enable_trace_replay": True})
    [(ids, options)] = way.asks([scorable(8, 9, inputs=(1, 2, 3, 8))])
    assert ids == [1, 2, 3]
    assert options == {"logprobs": 1, "ignore_eos": True, "max_tokens": 2, "trace_decode_token_ids": [8, 9]}
    assert choice_ways.BY_PROMPT.asks([scorable(8, 9, inputs=(1, 2, 3, 8))]) == [
        ([1, 2, 3, 8, 9], {"prompt_logprobs": 1})
    ]


def test_an_answer_of_nothing_that_was_cut_off_is_no_thought(engine, monkeypatch):
    """vLLM shows every token: where there is none, nothing was thought."""
    monkeypatch.setattr(LLM, "_output", cut_off)
    [(_, response)] = list(engine.generate([Generate(Prompt("x"))]))
    assert (response.failure, response.texts, response.thoughts) == (None, ("",), ())


def cut_off(_, ids, parameters):
    written = {"index": 0, "text": "", "token_ids": [0], "finish_reason": "length"}
    return shaped("RequestOutput", {"prompt_token_ids": ids, "outputs": [shaped("CompletionOutput", written)]})


def test_a_model_that_cannot_be_loaded_for_another_reason_has_no_hint():
    assert vllm_engine.load_hint("no such repository") == ""
    assert "EngineArgs" in vllm_engine.load_hint("got an unexpected keyword argument 'x'")


@pytest.mark.parametrize(
    "given, beside, has", [("{{ x }}", False, True), (None, True, True), (None, False, False), ("", False, True)]
)
def test_a_chat_template_is_given_or_lies_beside_the_tokenizer(monkeypatch, given, beside, has):
    asked = []
    monkeypatch.setattr(vllm_engine, "has_chat_template", lambda *names: asked.append(names) or beside)
    assert VLLMEngine(model="m", revision="r", chat_template=given).has_chat_template is has
    assert asked == ([("m", "r")] if given is None else [])


def test_requests_that_vllm_refuses_to_score_are_answered_beside_the_others(engine, monkeypatch):
    real = LLM._output

    def output(self, ids, parameters):
        if ord("!") in ids:
            raise LLM.error("no exclamations")
        return real(self, ids, parameters)

    monkeypatch.setattr(LLM, "_output", output)
    asked = [Choose((Pair(Prompt("q"), "ab"), Pair(Prompt("q"), each))) for each in ("cd", "!!", "ef")]
    found = dict(engine.score([*asked, Rolling("ok!")]))
    assert [each.failure and each.failure.message for _, each in sorted(found.items())] == [
        None, "vLLM does not take this request: no exclamations", None, "vLLM does not take this request: no exclamations",
    ]  # fmt: skip
