"""``HFLM``: what programs look at in a model. Values were compared with lm-eval 0.4.13's, of the same model."""

from types import MappingProxyType, SimpleNamespace

import pytest
import tests_warm

from proctor.compat.lm_eval_names.hf_model import _CREATED, HFLM
from proctor.errors import UsageError

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

PROGRAM = """
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

words = "<s> </s> <unk> a b c user : hi system".split()
inner = Tokenizer(models.WordLevel({word: place for place, word in enumerate(words)}, unk_token="<unk>"))
inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tokenizer = PreTrainedTokenizerFast(
    tokenizer_object=inner, bos_token="<s>", eos_token="</s>", unk_token="<unk>", pad_token="</s>"
)
tokenizer.chat_template = "{% for m in messages %}{{ m['role'] }} : {{ m['content'] }} {% endfor %}"
torch.manual_seed(0)
config = LlamaConfig(vocab_size=len(words), hidden_size=16, intermediate_size=16, num_hidden_layers=1,
                     num_attention_heads=2, num_key_value_heads=2, max_position_embeddings=32, initializer_range=0.5)
LlamaForCausalLM(config).save_pretrained("tiny")
tokenizer.save_pretrained("tiny")

from proctor.compat import install

install()
from lm_eval.api.instance import Instance
from lm_eval.models.huggingface import HFLM


def asked(*pairs):
    return [value for value, _ in lm.loglikelihood([Instance("loglikelihood", {}, pair, 0) for pair in pairs])]


lm = HFLM(pretrained="tiny", dtype="float32", batch_size=2, device="cpu")
assert lm.tok_encode("a b c") == [3, 4, 5] and lm.tok_encode("a b c", left_truncate_len=2) == [4, 5]
assert lm.tok_decode([0, 3, 4]) == "a b" and lm.tok_decode([0, 3], skip_special_tokens=False) == "<s> a"
assert (lm.eot_token_id, lm.prefix_token_id, lm.max_length, lm.max_gen_toks, lm.batch_size) == (1, 0, 32, 256, 2)
assert lm.tokenizer_name == "tiny" and str(lm.device) == "cpu"
assert lm.apply_chat_template([{"role": "user", "content": "hi"}]) == "user : hi "
assert lm.chat_template(True) == tokenizer.chat_template and lm.chat_template(False) is None
named, before = lm.engine.identity_values(), asked(("a b", " c"), ("", " a"))
assert lm.config.hidden_size == 16 and type(lm.model.model.layers[0].mlp.up_proj) is torch.nn.Linear
assert torch.allclose(torch.tensor(asked(("a b", " c"), ("", " a"))), torch.tensor(before), atol=1e-5)
assert lm.engine.identity_values() != named, "a model that a program holds is not the one of its name"
with torch.no_grad():
    for each in lm.model.parameters():
        each.mul_(0.25)
assert abs(asked(("a b", " c"))[0] - before[0]) > 1e-3
lm.tokenizer.chat_template = "changed {{ messages[0]['content'] }}"
assert lm.apply_chat_template([{"role": "user", "content": "hi"}]) == "changed hi"
"""


def test_a_model_can_be_looked_into_and_changed(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    done = tests_warm.python("program.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]


def test_a_model_that_is_not_there_is_refused_when_it_is_made_with_what_programs_catch(tmp_path):
    (tmp_path / "program.py").write_text("""
import pytest

from proctor.compat import install

install()
from lm_eval import simple_evaluate
from lm_eval.models.huggingface import HFLM

for make in (lambda: HFLM(pretrained="nowhere/x"), lambda: HFLM("./none"),
             lambda: simple_evaluate(model="hf", model_args="pretrained=nowhere/x", tasks=["samples.science"])):
    with pytest.raises(OSError, match="cannot be loaded|there is no folder") as caught:
        make()
    assert type(caught.value).__name__ == "ModelNotFoundError"
""")
    done = tests_warm.python("program.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]


class Words:
    """A tokenizer of a program's own."""

    pad_token, eos_token_id, bos_token_id, vocab_size = "<p>", 7, None, 9
    name_or_path, model_max_length = "o/m", 64
    chat_template = MappingProxyType({"default": "of all", "tools": "of tools"})


class Own(HFLM):
    """A model that a program loads in its own way; it keeps what it was asked for."""

    def _get_config(self, pretrained, **more):
        self._config = SimpleNamespace(is_encoder_decoder=True)
        self.asked = {"config": (pretrained, more)}

    def _create_tokenizer(self, pretrained, tokenizer, **more):
        self.asked["tokenizer"] = (pretrained, tokenizer, more)
        self.tokenizer = Words()

    def _create_model(self, pretrained, **more):
        self.asked["model"] = (pretrained, more)
        self._model = SimpleNamespace(
            parameters=lambda: [torch.zeros(2, 3), torch.zeros(4)], dtype=torch.float16, name_or_path="o/m"
        )


WHERE = {"revision": "r", "subfolder": "s", "gguf_file": None, "trust_remote_code": False}


def test_a_class_that_loads_its_model_is_asked_for_each_part_as_lm_eval_asks():
    lm = Own(
        "o/m",
        revision="r",
        subfolder="s",
        device="cpu",
        tokenizer="t",
        add_bos_token=True,
        dtype="float16",
        batch_size=3,
    )
    assert lm.asked["config"] == ("o/m", WHERE)
    assert lm.asked["tokenizer"] == ("o/m", "t", {**WHERE, "use_fast_tokenizer": True, "add_bos_token": True})
    created = {**_CREATED, **WHERE, "dtype": "float16", "quantization_config": None, "gpus": None}
    assert lm.asked["model"] == ("o/m", created)


def test_what_is_told_of_a_model_that_a_program_has_loaded():
    lm = Own("o/m", device="cpu", batch_size="auto:4")
    assert (lm.batch_size_per_gpu, lm.batch_schedule, lm.max_batch_size) == ("auto", 4.0, 64)
    assert (lm.backend, str(lm.device), lm.vocab_size, lm.max_gen_toks) == ("seq2seq", "cpu", 9, 256)
    assert (lm.eot_token_id, lm.prefix_token_id, lm.tokenizer_name) == (7, 7, "o__m")
    assert lm.chat_template(False) is None
    assert (lm.chat_template(True), lm.chat_template("tools")) == ("of all", "of tools")
    about = {"model_num_parameters": 10, "model_dtype": "torch.float16"}
    assert lm.get_model_info() == {**about, "model_revision": "main", "model_sha": ""}
    assert lm.plain_engine is None
    with pytest.raises(UsageError, match="Own has loaded its model itself"):
        lm.engine
    with pytest.raises(AttributeError, match="Own has no attribute 'nothing'"):
        lm.nothing
    lm.backend, lm.device = "causal", "meta"
    assert (lm.backend, lm.device) == ("causal", "meta")
    lm._model = object()
    assert lm.get_model_info()["model_num_parameters"] == -1


def test_how_a_model_is_asked_is_kept_under_lm_evals_names():
    lm = Own("o/m", device="cpu", think_end_token="12", enable_thinking=False, chat_template_args={"a": 1}, max_length=5, prefix_token_id=3, truncation=True, softmax_dtype="float32", max_batch_size=8)  # fmt: skip
    assert (lm.think_end_token, lm.chat_template_args) == (12, {"a": 1, "enable_thinking": False})
    assert (lm.max_length, lm.prefix_token_id, lm.truncation) == (5, 3, True)
    assert (lm.softmax_dtype, lm.mixed_precision_dtype) == (torch.float32, None)
    assert (lm.batch_size_per_gpu, lm.batch_schedule, lm.max_batch_size) == (1, 1.0, 8)
    words = Own("o/m", device="cpu", think_end_token="</think>")
    assert (words.think_end_token, words.chat_template_args) == ("</think>", {})


def test_a_chat_is_gone_on_with_where_the_models_words_are_last():
    lm = Own("o/m", device="cpu")
    for role, add in (("assistant", True), ("user", False)):
        with pytest.raises(UsageError, match=f"add_generation_prompt is {add}"):
            lm.apply_chat_template([{"role": role, "content": "x"}], add_generation_prompt=add)


def test_a_model_in_memory_needs_its_tokenizer():
    with pytest.raises(UsageError, match="a model in memory and no tokenizer"):
        HFLM(pretrained=SimpleNamespace())
