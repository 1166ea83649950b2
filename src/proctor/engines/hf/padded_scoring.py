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
    """Return the scores of some sequences, read in one forward pass, and from the device in one transfer."""
    import torch

    run = _score_encoded if loaded.family == "seq2seq" else _score_joined
    with torch.inference_mode():
        found = torch.cat(list(run(loaded, batch)), dim=1).cpu().double()
    rows = found.split([len(each.targets) for each in batch], dim=1)
    return [Scored(float(values.sum()), bool(best.all()), len(values)) for values, best in rows]


def _score_joined(loaded: LoadedModel, batch: Sequence[Scorable]) -> Iterator[torch.Tensor]:
    """Score text after text. Padding on the right needs no mask: no position looks to its right."""
    inputs = _padded([each.inputs for each in batch], 0, loaded.device)
    first = min(len(each.inputs) - len(each.targets) for each in batch)
    # Logits are wanted only from the first position that anybody looks at, where the model can do so.
    kept = {"logits_to_keep": inputs.shape[1] - first} if takes(loaded.model, "logits_to_keep") else {}
    logits = loaded.model(input_ids=inputs, use_cache=False, **kept).logits
    offset = inputs.shape[1] - logits.shape[1]
    for row, each in zip(logits, batch, strict=True):
        end = len(each.inputs) - offset
        yield _scored(row[end - len(each.targets) : end], each.targets)


def _score_encoded(loaded: LoadedModel, batch: Sequence[Scorable]) -> Iterator[torch.Tensor]:
    """Score what a decoder writes about what an encoder read; a text that several ask about is read once."""
    import torch
    from transformers.modeling_outputs import BaseModelOutput

    texts = {inputs: row for row, inputs in enumerate(dict.fromkeys(each.inputs for each in batch))}
    rows = torch.tensor([texts[each.inputs] for each in batch], device=loaded.device)
    inputs = _padded(list(texts), 0, loaded.device)
    mask = _padded([[1] * len(text) for text in texts], 0, loaded.device)
    labels = _padded([each.targets for each in batch], 0, loaded.device)
    read = loaded.model.get_encoder()(input_ids=inputs, attention_mask=mask).last_hidden_state
    encoded = BaseModelOutput(last_hidden_state=read[rows])
    logits = loaded.model(encoder_outputs=encoded, attention_mask=mask[rows], labels=labels).logits
    for row, each in zip(logits, batch, strict=True):
        yield _scored(row[: len(each.targets)], each.targets)


def _scored(logits: torch.Tensor, targets: Sequence[int]) -> torch.Tensor:
    import torch

    wanted = torch.tensor(targets, device=logits.device)
    return looked_up(logits, torch.arange(len(targets), device=logits.device), wanted)


def looked_up(logits: torch.Tensor, rows: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Return the log-probabilities of targets in rows of logits, and below them whether each was the most likely."""
    import torch

    logits, rows, targets = logits.float(), rows.to(logits.device), targets.to(logits.device)
    return torch.stack((logits.log_softmax(-1)[rows, targets], (logits.argmax(-1)[rows] == targets).float()))


def _padded(rows: Sequence[Sequence[int]], filler: int, device: Any) -> torch.Tensor:
    import torch

    width = max(len(row) for row in rows)
    return torch.tensor([[*row, *[filler] * (width - len(row))] for row in rows], device=device)


def takes(model: Any, parameter: str) -> bool:
    """Return whether the model's forward pass has a parameter of this name."""
    import inspect

    return parameter in inspect.signature(model.forward).parameters
