"""Scoring sequences with every shared prefix read once, in the steps that :mod:`.prefix_plan` plans."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from proctor.engines.encoder import Scorable
from proctor.engines.hf.loading import LoadedModel
from proctor.engines.hf.padded_scoring import score_batch, takes
from proctor.engines.hf.prefix_plan import Limits, Step, plan
from proctor.ir import Scored
from proctor.logs import get_logger

if TYPE_CHECKING:
    import torch

Found = tuple[int, float, bool]
"""Sequence, log-probability of one of its targets, and whether that target was the most likely token."""

# Of a log-likelihood of a few tokens: rounding moves it less, and what a wrong mask lets in moves it more.
_TOLERANCE_SINGLE, _TOLERANCE_HALF = 1e-3, 0.5


def score_packed(loaded: LoadedModel, sequences: Sequence[Scorable], limits: Limits) -> Iterator[tuple[int, Scored]]:
    """Yield the position and score of every sequence as soon as all its targets were looked up."""
    missing = [len(sequence.targets) for sequence in sequences]
    totals = [0.0] * len(sequences)
    greedy = [True] * len(sequences)
    for found in _run(loaded, plan(sequences, limits), None):
        for index, value, best in found:
            totals[index] += value
            greedy[index] &= best
            missing[index] -= 1
            if not missing[index]:
                yield index, Scored(totals[index], greedy[index], len(sequences[index].targets))


def _run(loaded: LoadedModel, steps: Sequence[Step], memory: Any) -> Iterator[list[Found]]:
    """Run steps that all start where ``memory`` ends; it is cut back to there behind each."""
    from transformers import DynamicCache

    for step in steps:
        own = memory
        if own is None and step.then:
            own = DynamicCache()
        yield _forward(loaded, step, own)
        if step.then:
            yield from _run(loaded, step.then, own)
        if memory is not None:
            memory.crop(-len(step.tokens))


def _forward(loaded: LoadedModel, step: Step, memory: Any) -> list[Found]:
    import torch

    nodes = sorted({node for node, _, _ in step.lookups}) or [len(step.tokens) - 1]
    device = loaded.device
    with torch.inference_mode():
        logits = loaded.model(
            input_ids=torch.tensor([step.tokens], device=device),
            position_ids=torch.tensor([step.depths()], device=device),
            attention_mask=None if step.is_line else _mask(step, loaded.model.dtype, device),
            past_key_values=memory,
            use_cache=memory is not None,
            logits_to_keep=torch.tensor(nodes, device=device),
        ).logits[0]
        return _look_up(logits, step, {node: row for row, node in enumerate(nodes)})


def _mask(step: Step, dtype: torch.dtype, device: Any) -> torch.Tensor:
    """Return what is added to attention: nothing where a token may look, minus infinity where it may not."""
    import torch

    inside = torch.from_numpy(step.sight())
    allowed = torch.cat([torch.ones(len(step.tokens), step.start, dtype=torch.bool), inside], dim=1).to(device)
    mask = torch.zeros(allowed.shape, dtype=dtype, device=device)
    return mask.masked_fill(~allowed, torch.finfo(dtype).min)[None, None]


def _look_up(logits: torch.Tensor, step: Step, rows: dict[int, int]) -> list[Found]:
    import torch

    if not step.lookups:
        return []
    logits = logits.float()
    at = torch.tensor([rows[node] for node, _, _ in step.lookups], device=logits.device)
    targets = torch.tensor([target for _, _, target in step.lookups], device=logits.device)
    values = logits.log_softmax(-1)[at, targets].tolist()
    best = (logits.argmax(-1)[at] == targets).tolist()
    return [(index, value, hit) for (_, index, _), value, hit in zip(step.lookups, values, best, strict=True)]


def can_pack(loaded: LoadedModel) -> bool:
    """Return whether this model gives the same scores with shared prefixes as without.

    Found out by trying: architectures differ in whether they honour positions and masks (recurrent models and some
    position biases do not), and a model that cannot is still right, only slower.
    """
    if loaded.family == "seq2seq" or not takes(loaded.model, "logits_to_keep") or _looks_through_a_window(loaded):
        return False
    vocabulary = loaded.vocabulary_size
    stem = [(7 * index + 3) % vocabulary for index in range(24)]
    ends = [[11, 5, 2, 9], [11, 5, 8], [4, 2, 2, 7, 1], [4]]
    trial = [Scorable((*stem, *(token % vocabulary for token in end)), (1, 2)) for end in ends]
    try:
        packed = dict(score_packed(loaded, trial, Limits(6, 16, 64)))
        apart = [score_batch(loaded, [each])[0] for each in trial]
    except (TypeError, ValueError, RuntimeError, IndexError, AttributeError, NotImplementedError) as error:
        get_logger().debug("no shared prefixes: %s", error)
        return False
    tolerance = _TOLERANCE_SINGLE if loaded.model.dtype.itemsize >= 4 else _TOLERANCE_HALF  # noqa: PLR2004 - bytes
    return all(abs(packed[i].log_likelihood - each.log_likelihood) <= tolerance for i, each in enumerate(apart))


def _looks_through_a_window(loaded: LoadedModel) -> bool:
    """Return whether the model sees less than its context: a mask of ours would show it too much."""
    config = getattr(loaded.model.config, "text_config", None) or loaded.model.config
    kinds = set(getattr(config, "layer_types", None) or [])
    if kinds:
        return bool(kinds - {"full_attention"})
    window = getattr(config, "sliding_window", None)
    return window is not None and getattr(config, "use_sliding_window", True) and window < loaded.max_length
