"""Small transformers models with random weights, built here: nothing is downloaded."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

WORDS = [
    "the",
    "a",
    "cat",
    "dog",
    "sat",
    "on",
    "mat",
    "big",
    "red",
    "sun",
    "moon",
    "runs",
    "over",
    "answer",
    "question",
    "why",
    "how",
    "many",
    "stars",
    "are",
    "in",
    "sky",
]
_TEMPLATE = (
    "{% for m in messages %}{% if m.role == 'tool' %}{{ raise_exception('no tools') }}{% endif %}"
    "<s>{{ m.role }}: {{ m.content }}{% if not loop.last or add_generation_prompt %}</s>{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<s>assistant: {% endif %}"
)

_PICTURE_TEMPLATE = (
    "{% for m in messages %}<s>{{ m.role }}: {% for c in m.content %}"
    "{% if c.type == 'image' %}<image>{% else %}{{ c.text }}{% endif %}{% endfor %}</s>{% endfor %}"
    "{% if add_generation_prompt %}<s>assistant: {% endif %}"
)


def build_tokenizer(folder: Path) -> Any:
    """Save and return a byte-level BPE tokenizer of a few hundred tokens with <s>, </s> and <pad>."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    inner = Tokenizer(models.BPE())
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=["<pad>", "<s>", "</s>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    inner.train_from_iterator([f" {a} {b}" for a in WORDS for b in WORDS], trainer)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=inner, bos_token="<s>", eos_token="</s>", pad_token="<pad>", chat_template=_TEMPLATE
    )
    tokenizer.save_pretrained(folder)
    return tokenizer


def build_model(folder: Path, kind: str) -> Path:
    """Save a tiny random model of a kind with its tokenizer."""
    import torch
    import transformers

    tokenizer = build_tokenizer(folder)
    shared = {"vocab_size": len(tokenizer), "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
    llama = {
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 128,
        "initializer_range": 0.5,
    }
    torch.manual_seed(0)
    models: dict[str, Any] = {
        "llama": lambda: transformers.LlamaForCausalLM(transformers.LlamaConfig(**shared, **llama)),
        "mistral": lambda: transformers.MistralForCausalLM(
            transformers.MistralConfig(**shared, **llama, sliding_window=8)
        ),
        "gpt2": lambda: transformers.GPT2LMHeadModel(
            transformers.GPT2Config(**shared, n_embd=32, n_layer=2, n_head=4, n_positions=128, initializer_range=0.5)
        ),
        "mamba": lambda: transformers.MambaForCausalLM(
            transformers.MambaConfig(**shared, hidden_size=32, num_hidden_layers=2, state_size=4, initializer_range=0.5)
        ),
        "t5": lambda: transformers.T5ForConditionalGeneration(
            transformers.T5Config(
                **shared, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, decoder_start_token_id=0
            )
        ),
    }
    models[kind]().save_pretrained(folder)
    return folder


def build_llava(folder: Path) -> Path:
    """Save a tiny random model of text and pictures with its processor."""
    import torch
    import transformers

    tokenizer = build_tokenizer(folder)
    tokenizer.add_special_tokens({"additional_special_tokens": ["<image>"]})
    vision = transformers.CLIPVisionConfig(
        hidden_size=16, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2, image_size=16, patch_size=8
    )
    text = transformers.LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=128,
        initializer_range=0.5,
        bos_token_id=1,
        eos_token_id=2,
        pad_token_id=0,
    )
    image_token = tokenizer.convert_tokens_to_ids("<image>")
    torch.manual_seed(0)
    config = transformers.LlavaConfig(
        vision_config=vision, text_config=text, image_token_index=image_token, vision_feature_layer=-1
    )
    transformers.LlavaForConditionalGeneration(config).save_pretrained(folder)
    images = transformers.CLIPImageProcessorPil(size={"shortest_edge": 16}, crop_size={"height": 16, "width": 16})
    transformers.LlavaProcessor(
        images,
        tokenizer,
        patch_size=8,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=_PICTURE_TEMPLATE,
    ).save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def tiny_llava(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tiny model of text and pictures."""
    pytest.importorskip("PIL")
    return build_llava(tmp_path_factory.mktemp("llava"))


@pytest.fixture(scope="session", params=["llama", "gpt2"])
def tiny_causal(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tiny causal model: once with rotary, once with learned positions."""
    return build_model(tmp_path_factory.mktemp(request.param), request.param)


@pytest.fixture(scope="session")
def tiny_llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tiny causal model."""
    return build_model(tmp_path_factory.mktemp("llama"), "llama")


@pytest.fixture(scope="session")
def tiny_t5(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tiny sequence-to-sequence model."""
    return build_model(tmp_path_factory.mktemp("t5"), "t5")


@pytest.fixture(scope="session", params=["mistral", "mamba"])
def tiny_forgetful(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tiny model that cannot share prefixes: a sliding window, a recurrent state."""
    return build_model(tmp_path_factory.mktemp(request.param), request.param)
