from __future__ import annotations

import platform
from pathlib import Path
from typing import Any

import pytest

from proctor.engines.hf import onednn_weights
from proctor.engines.hf.hf_engine import HFEngine
from proctor.ir import Choose, Decoding, Generate, Pair, Prompt

CONTEXTS = [Prompt(f"the big cat sat on {'the red mat and ' * n}") for n in range(5)]
QUESTIONS = [Choose(tuple(Pair(context, word) for word in ("sun", "moon", "stars are many"))) for context in CONTEXTS]
WRITING = [Generate(context, Decoding(8)) for context in CONTEXTS]

on_x86 = pytest.mark.skipif(platform.machine().lower() not in {"x86_64", "amd64"}, reason="needs an x86 processor")


def engine(folder: Path, **options: Any) -> HFEngine:
    return HFEngine(folder, dtype="float32", device="cpu", **options)


def kinds(model: Any) -> list[str]:
    return [type(module).__name__ for module in model.modules()]


@on_x86
class TestReorderedWeights:
    def test_scores_and_texts_are_those_of_plain_transformers(self, tiny_llama):
        plain, fast = engine(tiny_llama, reorder_weights=False), engine(tiny_llama)
        for (_, expected), (_, found) in zip(plain.score(QUESTIONS), fast.score(QUESTIONS), strict=True):
            for one, other in zip(expected.scores, found.scores, strict=True):
                assert other.log_likelihood == pytest.approx(one.log_likelihood, abs=1e-4)
                assert other.is_greedy == one.is_greedy
        texts = [{place: response.text for place, response in each.generate(WRITING)} for each in (plain, fast)]
        assert texts[0] == texts[1]

    def test_every_layer_but_the_output_is_reordered(self, tiny_llama):
        model = engine(tiny_llama).loaded.model
        assert kinds(model).count("ReorderedLinear") == 14  # 2 blocks of q, k, v, o, gate, up, down
        assert type(model.get_output_embeddings()).__name__ == "Linear"

    def test_nothing_is_kept_twice(self, tiny_llama):
        model = engine(tiny_llama).loaded.model
        left = {name for name, _ in model.named_parameters() if "norm" not in name}
        assert left <= {"model.embed_tokens.weight", "lm_head.weight"}

    def test_a_model_that_looks_at_its_weights_is_left_as_it_was(self, tiny_llama, monkeypatch):
        import torch
        from transformers.models.llama.modeling_llama import LlamaMLP

        def forward(self: Any, x: Any) -> Any:
            gate, up = torch.nn.functional.linear(x, self.gate_proj.weight), self.up_proj(x)
            return self.down_proj(self.act_fn(gate) * up)

        before = engine(tiny_llama, reorder_weights=False).loaded.model
        monkeypatch.setattr(LlamaMLP, "forward", forward)
        model = engine(tiny_llama).loaded.model
        assert "ReorderedLinear" not in kinds(model)
        for name, weight in before.state_dict().items():
            assert torch.equal(model.state_dict()[name], weight)

    def test_a_model_of_another_dtype_is_left_alone(self, tiny_llama):
        model = HFEngine(tiny_llama, dtype="bfloat16", device="cpu").loaded.model
        assert "ReorderedLinear" not in kinds(model)

    def test_a_processor_of_another_kind_is_left_alone(self, tiny_llama, monkeypatch):
        monkeypatch.setattr(platform, "machine", lambda: "aarch64")
        model = engine(tiny_llama, reorder_weights=False).loaded.model
        assert onednn_weights.reorder_weights(model) is False
        assert "ReorderedLinear" not in kinds(model)

    def test_it_does_not_belong_to_the_identity(self, tiny_llama):
        assert engine(tiny_llama).identity == engine(tiny_llama, reorder_weights=False).identity
