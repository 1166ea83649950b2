"""``HFLM``: what programs look at in a model. Values were compared with lm-eval 0.4.13's, of the same model."""

import pytest
import tests_warm

pytest.importorskip("torch")
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
