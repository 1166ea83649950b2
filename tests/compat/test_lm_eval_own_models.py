"""Classes that derive from ``HFLM``: every step of lm-eval's way goes through their methods.

Numbers are lm-eval 0.4.13's, of the same programs and the same model.
"""

import json

import pytest
import tests_warm

from proctor.errors import UsageError

pytest.importorskip("torch")
pytest.importorskip("transformers")

START = """
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

words = "<s> </s> <unk> a b c user : hi system d e f g".split()
inner = Tokenizer(models.WordLevel({word: place for place, word in enumerate(words)}, unk_token="<unk>"))
inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tokenizer = PreTrainedTokenizerFast(
    tokenizer_object=inner, bos_token="<s>", eos_token="</s>", unk_token="<unk>", pad_token="</s>"
)
torch.manual_seed(0)
config = LlamaConfig(vocab_size=len(words), hidden_size=16, intermediate_size=16, num_hidden_layers=1,
                     num_attention_heads=2, num_key_value_heads=2, max_position_embeddings=32, initializer_range=0.5)
tiny = LlamaForCausalLM(config).eval()
tiny.save_pretrained("tiny")
tokenizer.save_pretrained("tiny")

from proctor.compat import install

install()
from lm_eval.api.instance import Instance
from lm_eval.api.model import LM
from lm_eval.models.huggingface import HFLM

PAIRS = [("a b", " c"), ("a b", " d"), ("", " a"), ("a b c d e", " f g"), ("hi ", " a b"), ("c", " </s>")]


def asked(lm, kind, *arguments):
    found = getattr(lm, kind)([Instance(kind, {}, each, 0) for each in arguments])
    return [round(each[0] if isinstance(each, tuple) else each, 4) if kind != "generate_until" else each for each in found]


def numbers(lm):
    return [asked(lm, "loglikelihood", *PAIRS), asked(lm, "loglikelihood_rolling", ("a b c",), ("a b c d e f g " * 8,))]


def texts(lm):
    how = {"until": ["e"], "do_sample": False}
    prompts = (("a b", 5), ("a", 5), ("hi user : a b c", 5), ("b", 3))
    return asked(lm, "generate_until", *((text, {**how, "max_gen_toks": most}) for text, most in prompts))


named = {"pretrained": "tiny", "device": "cpu", "dtype": "float32", "batch_size": 3}
"""

CLASSES = """
class Louder(HFLM):
    def _model_call(self, inps, attn_mask=None, labels=None):
        return super()._model_call(inps, attn_mask, labels) * 2


class Writes(HFLM):
    def _model_generate(self, context, max_length, stop, **generation_kwargs):
        return torch.cat([context, torch.full((len(context), max_length - context.shape[1]), 7)], 1)


class Words(HFLM):
    def tok_encode(self, string, **more):
        return [each for each in super().tok_encode(string, **more) if each != 9]

    def tok_decode(self, tokens, **more):
        return super().tok_decode(tokens, **more).upper()


class Pairs(HFLM):
    def _encode_pair(self, context, continuation):
        return self.tok_encode(context), self.tok_encode(continuation.strip())

    def _loglikelihood_tokens(self, requests, disable_tqdm=False, override_bs=None):
        return [(value - 1, same) for value, same in super()._loglikelihood_tokens(requests, disable_tqdm, override_bs)]


class Short(HFLM):
    max_length = property(lambda self: 8)
    prefix_token_id = property(lambda self: 4)


class Loads(HFLM):
    def _create_tokenizer(self, pretrained, tokenizer, **more):
        super()._create_tokenizer(pretrained, tokenizer, **more)
        self.tokenizer.bos_token_id = 5

    def _create_model(self, pretrained, dtype="auto", **more):
        self._model = AutoModelForCausalLM.from_pretrained(pretrained, dtype=torch.float32)
        with torch.no_grad():
            self._model.lm_head.weight.mul_(0.5)
"""

NUMBERS = {
    "Loads": (
        [-2.4769, -2.138, -0.8207, -8.6625, -7.5417, -2.9314],
        [-10.5495, -198.527],
        ["", "", "a", "c g g"],
    ),
    "Louder": (
        [-4.877, -3.5215, -1.7362, -26.6119, -20.1174, -8.449],
        [-14.6382, -492.2143],
        ["", "", "a", "c g g"],
    ),
    "Pairs": (
        [-3.9272, -3.2495, -2.6437, -15.0054, -12.2735, -5.3956],
        [-9.9898, -274.6185],
        ["", "", "a", "c g g"],
    ),
    "Short": (
        [-2.9272, -2.2495, -2.6414, -14.0054, -11.2735, -4.3956],
        [-9.5531, -265.7747],
        ["", "", "g g ", "c g g"],
    ),
    "Words": (
        [-2.9272, -2.2495, -1.6437, -14.0054, -11.2735, -4.3956],
        [-8.9898, -272.6185],
        ["E C SYSTEM", "E E A", "A", "C G G"],
    ),
    "Writes": (
        [-2.9272, -2.2495, -1.6437, -14.0054, -11.2735, -4.3956],
        [-8.9898, -272.6185],
        [": : : : :", ": : : : :", ": : : : :", ": : :"],
    ),
}
"""By class: log-likelihoods of pairs, of whole texts, and what is written."""


def _run(folder, program: str) -> str:
    (folder / "program.py").write_text(START + program)
    done = tests_warm.python("program.py", cwd=folder)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def _same(found, expected):
    assert found[2] == expected[2]
    for numbers, theirs in zip(found[:2], expected[:2], strict=True):
        assert numbers == pytest.approx(theirs, abs=2e-3)


def test_each_step_is_that_of_the_class(tmp_path):
    told = _run(tmp_path, CLASSES + f"""
import json

for name in {sorted(NUMBERS)}:
    lm = globals()[name](**named)
    assert lm.plain_engine is None
    print(json.dumps([name, *numbers(lm), texts(lm)]))
""")  # fmt: skip
    for line in told.splitlines():
        name, *found = json.loads(line)
        _same(found, NUMBERS[name])
    assert len(told.splitlines()) == len(NUMBERS)


def test_what_a_program_puts_into_a_model_is_asked(tmp_path):
    """The forms of torchtune (a model and a tokenizer of its own), of mamba (no ``__init__`` of ``HFLM``), and patches."""
    _run(tmp_path, """
louder = [round(value, 4) for value in numbers(HFLM(**named))[0]]


class Own(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = tiny

    def forward(self, tokens):
        return self.inner(tokens).logits * 2


class Tune(HFLM):
    def __init__(self, model, tokenizer):
        super().__init__(pretrained="a model that is nowhere", device="cpu")
        self._model, self._tokenizer = model, tokenizer

    model = property(lambda self: self._model)
    eot_token_id = property(lambda self: self._tokenizer.eos_token_id)
    prefix_token_id = property(lambda self: self._tokenizer.bos_token_id)
    max_length = property(lambda self: 32)
    max_gen_toks = property(lambda self: 5)
    batch_size = property(lambda self: 2)
    device = property(lambda self: torch.device("cpu"))

    def tok_encode(self, text, **more):
        return self._tokenizer.encode(text, add_special_tokens=False)

    def tok_batch_encode(self, texts, left_truncate_len=None, **more):
        rows = [self.tok_encode(each) for each in texts]
        tokens = torch.tensor([[0] * (max(map(len, rows)) - len(each)) + each for each in rows])
        return tokens, torch.ones_like(tokens)

    def tok_decode(self, tokens, **more):
        return self._tokenizer.decode(tokens)

    def _model_call(self, tokens, **more):
        return self._model(tokens)

    def _model_generate(self, context, **more):
        assert more["max_length"] == context.shape[1] + 3 and more["do_sample"] is False
        return torch.cat([context, context[:, -1:]], 1)


class Mamba(HFLM):
    def __init__(self, pretrained, max_length=32, device="cpu"):
        LM.__init__(self)
        self._model = AutoModelForCausalLM.from_pretrained(pretrained)
        self.tokenizer = tokenizer
        self.vocab_size = tokenizer.vocab_size
        self._batch_size, self._max_length, self._device = 2, max_length, torch.device(device)

    batch_size = property(lambda self: self._batch_size)

    def _model_generate(self, context, max_length, stop, **generation_kwargs):
        raise NotImplementedError


def near(found, expected):
    assert all(abs(each - other) < 2e-3 for each, other in zip(found, expected, strict=True)), (found, expected)


twice = [-4.877, -3.5215, -1.7362, -26.6119, -20.1174, -8.449]
tune = Tune(Own(), tokenizer)
near(numbers(tune)[0], twice)
assert asked(tune, "generate_until", ("a b", {"until": [], "max_gen_toks": 3})) == ["b"]
near(numbers(Mamba("tiny"))[0], louder)
for put in ("object", "class", "model"):
    lm = HFLM(pretrained=tiny, tokenizer=tokenizer, batch_size=3)
    assert lm.plain_engine is not None
    if put == "object":
        lm._model_call = lambda tokens, **more: tiny(tokens).logits * 2
    elif put == "class":
        before = HFLM._model_call
        HFLM._model_call = lambda self, tokens, **more: self.model(tokens).logits * 2
    else:
        lm._model = Own().inner
        lm.softmax_dtype = torch.float64
    assert lm.plain_engine is None
    near(numbers(lm)[0], louder if put == "model" else twice)
    if put == "class":
        HFLM._model_call = before
""")  # fmt: skip


def test_a_method_that_nothing_calls_is_refused_with_the_class():
    from proctor.compat.lm_eval_names.hf_model import HFLM
    from proctor.guests.lm_eval.api_model import TemplateAPI

    of_servers = ("get_batched_requests", "batch_loglikelihood_requests")
    for base, name in ((HFLM, "_get_accelerate_args"), *((TemplateAPI, each) for each in of_servers)):
        with pytest.raises(UsageError, match=f"Mine.{name} would never be called"):
            type("Mine", (base,), {name: lambda self: {}, "__module__": "a_program"})


def test_an_engine_with_lm_evals_face_answers_as_that_engine():
    from proctor.compat.lm_eval_names.models import engine_of, get_model
    from proctor.engines.dummy import DummyEngine
    from proctor.guests.lm_eval.foreign_model import ForeignModel

    dummy = get_model("dummy")
    assert isinstance(engine_of(dummy(), None, {}), DummyEngine)
    own = type("Own", (dummy,), {"generate_until": lambda self, requests: ["own"] * len(requests)})
    assert isinstance(engine_of(own(), None, {}), ForeignModel)
    with pytest.raises(UsageError, match="Mine.tok_encode would never be called"):
        type("Mine", (dummy,), {"tok_encode": lambda self, text: [], "__module__": "a_program"})
    calls = {"tok_encode": lambda self, text: [], "generate_until": lambda self, requests: self.tok_encode("")}
    assert type("Mine", (dummy,), {**calls, "__module__": "a_program"})


def test_one_process_of_several_is_refused():
    from proctor.guests.lm_eval.foreign_model import ForeignModel
    from proctor.guests.lm_eval.model import LM

    methods = dict.fromkeys(("loglikelihood", "loglikelihood_rolling", "generate_until"), lambda self, requests: [])
    spread = type("Spread", (LM,), {**methods, "world_size": 4})()
    with pytest.raises(UsageError, match="one of 4 processes"):
        ForeignModel(lm=spread)
