"""What the host does between two steps: nothing that waits for the device."""

from __future__ import annotations

import threading

import numpy as np
import pytest

pytest.importorskip("transformers")
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from transformers import LlamaConfig, LlamaForCausalLM

from proctor.engines.encoder import Scorable
from proctor.engines.hf import packed_scoring
from proctor.engines.hf.answers import limits_of
from proctor.engines.hf.hf_engine import HFEngine
from proctor.engines.hf.loading import LoadedModel
from proctor.engines.hf.packed_scoring import can_pack, score_packed
from proctor.engines.hf.padded_scoring import score_batch
from proctor.engines.hf.prefix_plan import Limits

SHAPE = {"vocab_size": 90, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
LIMITS = {
    "steps": Limits(24, 48, 64),
    "rows": Limits(64, 64, 200, batch=120),
    "all at once": Limits(10**6, 10**6, 10**6, batch=10**6),
}
WAITING = {"aten::_local_scalar_dense", "aten::nonzero", "aten::equal", "aten::is_nonzero"}


def model_on(device: str, attention: str = "sdpa") -> LoadedModel:
    torch.manual_seed(3)
    config = LlamaConfig(**SHAPE, intermediate_size=32, num_key_value_heads=1, attn_implementation=attention)
    with torch.device(device):
        model = LlamaForCausalLM(config).eval()
    return LoadedModel(model, None, "causal", torch.device(device), 64)


def window(shared: int = 30) -> list[Scorable]:
    """Questions with four choices each of one token and of several, behind a beginning that all have."""
    stem = [(5 * place + 2) % 90 for place in range(shared)]
    return [
        Scorable((*stem, 10 + doc, *range(3 + doc % 5), *[choice] * (doc % 3)), (choice,) * (1 + doc % 3))
        for doc in range(9)
        for choice in range(4)
    ]


class Waits(TorchDispatchMode):
    """Counts what makes a host wait for a device: values read, and copies from or to memory that can be swapped out."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name, options = func.name(), kwargs or {}
        copies = name in ("aten::_to_copy", "aten::copy_") and not options.get("non_blocking")
        moves = copies and any(isinstance(each, torch.Tensor) and each.device.type == "cpu" for each in args)
        if name in WAITING or moves:
            self.found.append(name)
        return func(*args, **options)


@pytest.mark.parametrize("shared", [0, 30])
@pytest.mark.parametrize("limits", LIMITS.values(), ids=LIMITS)
def test_nothing_waits_for_the_device_between_two_steps(monkeypatch, limits, shared):
    reads = []

    def read(found):
        reads.append(len(found))
        places = np.concatenate([each for each, _ in found])
        return places, np.zeros((2, len(places)))

    monkeypatch.setattr(packed_scoring, "_read", read)
    monkeypatch.setattr(packed_scoring, "_READ_SECONDS", 1e6)
    loaded, asked = model_on("meta"), window(shared)  # tensors without data: reading one is an error, too
    with Waits() as waits:
        found = dict(score_packed(loaded, asked, limits))
    assert sorted(found) == list(range(len(asked)))
    assert waits.found == []
    assert len(reads) == 1


def test_waiting_is_noticed():
    with Waits() as waits:
        torch.tensor([1]).item()
        torch.zeros(3).to("meta")
        torch.zeros(3).to("meta", non_blocking=True)
    assert waits.found == ["aten::_local_scalar_dense", "aten::_to_copy"]


@pytest.mark.parametrize("seconds", [0, 1e6])
@pytest.mark.parametrize("shared", [0, 30])
@pytest.mark.parametrize("limits", LIMITS.values(), ids=LIMITS)
def test_steps_and_rows_equal_one_at_a_time(monkeypatch, limits, shared, seconds):
    monkeypatch.setattr(packed_scoring, "_READ_SECONDS", seconds)
    loaded, asked = model_on("cpu"), window(shared)
    found = dict(score_packed(loaded, asked, limits))
    for index, each in enumerate(asked):
        [alone] = score_batch(loaded, [each])
        assert found[index].log_likelihood == pytest.approx(alone.log_likelihood, abs=1e-5)
        assert (found[index].is_greedy, found[index].token_count) == (alone.is_greedy, alone.token_count)


@pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile")
@pytest.mark.parametrize("limits", LIMITS.values(), ids=LIMITS)
def test_flex_attention_takes_trees_as_they_are(limits):
    asked = window()
    with torch.compiler.set_stance("force_eager"):  # compiling takes a minute
        found = dict(score_packed(model_on("cpu", "flex_attention"), asked, limits))
    for index, each in enumerate(asked):
        [alone] = score_batch(model_on("cpu"), [each])
        assert found[index].log_likelihood == pytest.approx(alone.log_likelihood, abs=1e-5)


def test_rows_are_tried_before_they_are_used():
    loaded = model_on("cpu")
    assert can_pack(loaded, LIMITS["rows"])
    other = torch.nn.Linear(16, 90)
    loaded.model.get_output_embeddings = lambda: other  # predictions do not pass through it
    assert can_pack(loaded, LIMITS["steps"])
    assert not can_pack(loaded, LIMITS["rows"])


def test_rows_of_one_thread_do_not_reach_another(monkeypatch):
    loaded, asked = model_on("cpu"), window(0)
    expected = dict(score_packed(loaded, asked, LIMITS["rows"]))
    inside, done, alone = threading.Event(), threading.Event(), []
    real = loaded.model.model.forward

    def slow(*arguments, **options):
        if threading.current_thread() is threading.main_thread():
            inside.set()
            done.wait(20)
        return real(*arguments, **options)

    def other():
        inside.wait(20)
        alone.extend(score_batch(loaded, asked[:1]))
        done.set()

    monkeypatch.setattr(loaded.model.model, "forward", slow)
    thread = threading.Thread(target=other)
    thread.start()
    found = dict(score_packed(loaded, asked, LIMITS["rows"]))
    thread.join()
    assert found == expected
    assert alone[0].log_likelihood == pytest.approx(expected[0].log_likelihood, abs=1e-5)


def test_what_was_found_before_memory_ran_out_is_not_lost(monkeypatch):
    loaded, asked, left = model_on("cpu"), window(30), [3]
    real = packed_scoring._forward

    def forward(*arguments):
        left[0] -= 1
        if left[0] < 0:
            raise RuntimeError("out of memory")
        return real(*arguments)

    monkeypatch.setattr(packed_scoring, "_forward", forward)
    found = dict[int, object]()
    with pytest.raises(RuntimeError, match="out of memory"):
        found.update(score_packed(loaded, asked, LIMITS["steps"]))
    assert found


@pytest.mark.parametrize(
    "parameters, gigabytes, batch_size, tokens",
    [
        *((135e6, 70, "auto", 14814), (8e9, 70, "auto", 4096), (1e6, 70, "auto", 32768)),
        *((135e6, 1, "auto", 1638), (135e6, 70, 8, 0)),
    ],
)
def test_rows_on_a_gpu_are_many_where_the_model_is_small_and_memory_is_free(
    monkeypatch, parameters, gigabytes, batch_size, tokens
):
    loaded = model_on("meta")
    loaded.model.config.hidden_size = 576
    loaded.device, loaded.num_parameters = torch.device("cuda"), int(parameters)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda _: (gigabytes << 30, 80 << 30))
    assert limits_of(HFEngine("x", batch_size=batch_size), loaded).batch == tokens


def test_on_the_cpu_steps_run_alone():
    assert limits_of(HFEngine("x"), model_on("cpu")).batch == 0
