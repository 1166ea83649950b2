"""Scoring sequences in padded batches: right for every model, at the price of reading shared text again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from proctor.engines.encoder import Scorable
from proctor.engines.hf.loading import LoadedModel
from proctor.ir import Scored

if TYPE_CHECKING:
    import torch


def score_batch(loaded: LoadedModel, batch: Sequence[Scorable]) -> list[Scored]:
    """Return the scores of some sequences, read in one forward pass."""
    run = _score_encoded if loaded.family == "seq2seq" else _score_joined
    return list(run(loaded, batch))


def _score_joined(loaded: LoadedModel, batch: Sequence[Scorable]) -> Iterator[Scored]:
    """Score text after text. Padding on the right needs no mask: no position looks to its right."""
    import torch

    inputs = _padded([each.inputs for each in batch], 0, loaded.device)
    first = min(len(each.inputs) - len(each.targets) for each in batch)
    with torch.inference_mode():
        logits = loaded.model(input_ids=inputs, use_cache=False, **_keep_from(loaded.model, first, inputs)).logits
    offset = inputs.shape[1] - logits.shape[1]
    for row, each in zip(logits, batch, strict=True):
        end = len(each.inputs) - offset
        yield scored(row[end - len(each.targets) : end], each.targets)


def _keep_from(model: Any, first: int, inputs: torch.Tensor) -> dict[str, int]:
    """Ask for logits only from the first position that anybody looks at, where the model can do so."""
    return {"logits_to_keep": inputs.shape[1] - first} if takes(model, "logits_to_keep") else {}


def _score_encoded(loaded: LoadedModel, batch: Sequence[Scorable]) -> Iterator[Scored]:
    """Score what a decoder writes about what an encoder read; a text that several ask about is read once."""
    import torch
    from transformers.modeling_outputs import BaseModelOutput

    texts = {inputs: row for row, inputs in enumerate(dict.fromkeys(each.inputs for each in batch))}
    rows = torch.tensor([texts[each.inputs] for each in batch], device=loaded.device)
    inputs = _padded(list(texts), 0, loaded.device)
    mask = _padded([[1] * len(text) for text in texts], 0, loaded.device)
    labels = _padded([each.targets for each in batch], 0, loaded.device)
    with torch.inference_mode():
        read = loaded.model.get_encoder()(input_ids=inputs, attention_mask=mask).last_hidden_state
        encoded = BaseModelOutput(last_hidden_state=read[rows])
        logits = loaded.model(encoder_outputs=encoded, attention_mask=mask[rows], labels=labels).logits
    for row, each in zip(logits, batch, strict=True):
        yield scored(row[: len(each.targets)], each.targets)


def scored(logits: torch.Tensor, targets: Sequence[int]) -> Scored:
    """Return the score of tokens under one row of logits for each."""
    import torch

    wanted = torch.tensor(targets, device=logits.device)
    rows = logits.float()
    found = rows.log_softmax(-1).gather(1, wanted[:, None])
    greedy = bool((rows.argmax(-1) == wanted).all())
    return Scored(float(found.sum(dtype=torch.float64)), greedy, len(targets))


def _padded(rows: Sequence[Sequence[int]], filler: int, device: Any) -> torch.Tensor:
    import torch

    width = max(len(row) for row in rows)
    return torch.tensor([[*row, *[filler] * (width - len(row))] for row in rows], device=device)


def takes(model: Any, parameter: str) -> bool:
    """Return whether the model's forward pass has a parameter of this name."""
    import inspect

    return parameter in inspect.signature(model.forward).parameters
