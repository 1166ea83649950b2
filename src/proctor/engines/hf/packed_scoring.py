"""Scoring sequences with every shared prefix read once, in the steps that :mod:`.prefix_plan` plans."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from threading import get_ident
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from proctor.engines.encoder import Scorable
from proctor.engines.hf.loading import LoadedModel
from proctor.engines.hf.padded_scoring import looked_up, score_batch, takes
from proctor.engines.hf.prefix_plan import Limits, Step, plan
from proctor.ir import Scored
from proctor.logs import get_logger

if TYPE_CHECKING:
    import torch

_Ints = npt.NDArray[np.int64]
_Found = tuple[_Ints, "torch.Tensor"]
"""Sequences, and for one target of each its log-probability and whether it was the most likely token, on the device."""
_READ_SECONDS = 1.0
"""Between two transfers from the device, which make it wait: a small model answers a window in less."""

# Of a log-likelihood of a few tokens: rounding moves it less, and what a wrong mask lets in moves it more.
_TOLERANCE_SINGLE, _TOLERANCE_HALF = 1e-3, 0.5


def score_packed(loaded: LoadedModel, sequences: Sequence[Scorable], limits: Limits) -> Iterator[tuple[int, Scored]]:
    """Yield the position and score of every sequence, soon after all its targets were looked up."""
    missing = np.array([len(sequence.targets) for sequence in sequences])
    totals, hits = np.zeros(len(sequences)), np.zeros(len(sequences))
    for places, (values, best) in _read_together(_run(loaded, plan(sequences, limits), None)):
        np.add.at(totals, places, values)
        np.add.at(hits, places, best)
        np.subtract.at(missing, places, 1)
        for index in dict.fromkeys(places[missing[places] == 0].tolist()):
            count = len(sequences[index].targets)
            yield index, Scored(float(totals[index]), bool(hits[index] == count), count)


def _read_together(found: Iterable[_Found]) -> Iterator[tuple[_Ints, npt.NDArray[np.float64]]]:
    """Bring what steps found to the host, many at once; what was found before memory ran out, too."""
    held: list[_Found] = []
    last = time.monotonic()
    try:
        for each in found:
            held.append(each)
            if time.monotonic() - last >= _READ_SECONDS:
                together, held = held, []
                yield _read(together)
                last = time.monotonic()
    except RuntimeError:
        if held:
            yield _read(held)
        raise
    if held:
        yield _read(held)


def _read(found: Sequence[_Found]) -> tuple[_Ints, npt.NDArray[np.float64]]:
    import torch

    values = torch.cat([values for _, values in found], dim=1).cpu()  # not every device has float64
    return np.concatenate([places for places, _ in found]), values.double().numpy()


def _run(loaded: LoadedModel, groups: Iterable[Sequence[Step]], memory: Any) -> Iterator[_Found]:
    """Run steps that all start where ``memory`` ends; it is cut back to there behind each."""
    from transformers import DynamicCache

    for group in groups:
        own = memory
        # Without a memory, transformers asks a GPU whether a line is several sequences, and waits for it.
        if own is None and (group[0].then or (loaded.device.type != "cpu" and all(step.is_line for step in group))):
            own = DynamicCache()
        values = _forward(loaded, group, own)
        if values is not None:
            yield np.concatenate([step.lookups[:, 1] for step in group]), values
        if group[0].then:
            yield from _run(loaded, ([step] for step in group[0].then), own)
        if memory is not None:
            memory.crop(-len(group[0].tokens))


def _forward(loaded: LoadedModel, group: Sequence[Step], memory: Any) -> torch.Tensor | None:
    """Run steps as the rows of one batch; return what they look up, nothing where that is nothing."""
    import torch

    width = max(len(step.tokens) for step in group)
    asked = np.concatenate([step.lookups[:, 0] + row * width for row, step in enumerate(group)])
    nodes, at = np.unique(asked, return_inverse=True)
    kept = nodes if len(nodes) else np.array([width - 1])
    targets = np.concatenate([step.lookups[:, 2] for step in group])
    are_lines = all(step.is_line for step in group)
    index = np.arange(width)  # a filler is a token that looks at itself alone
    parts = [_table([step.tokens for step in group], np.zeros(width, dtype=np.int64))]
    if not are_lines:
        parts += [_table([step.depths for step in group], index), _table([step.ends for step in group], index + 1)]
    parts += [kept, at, targets]
    tokens, *places, kept_there, at_there, targets_there = _sent(parts, loaded.device)
    inputs: dict[str, Any] = {"input_ids": tokens.view(len(group), width)}
    if places:
        depths, ends = (each.view(len(group), width) for each in places)
        inputs |= {"position_ids": depths, "attention_mask": _mask(ends, group[0].start, loaded.model.dtype)}
    with torch.inference_mode(), _only(loaded.model, kept_there, len(group)) as keeping:
        logits = loaded.model(**inputs, **keeping, past_key_values=memory, use_cache=memory is not None).logits[0]
        return looked_up(logits, at_there, targets_there) if len(asked) else None


def _table(rows: Sequence[_Ints], filler: _Ints) -> _Ints:
    """Return rows behind each other, each filled up with the end of ``filler``."""
    table = np.tile(filler, (len(rows), 1))
    for line, row in zip(table, rows, strict=True):
        line[: len(row)] = row
    return table.ravel()


def _sent(parts: Sequence[_Ints], device: torch.device) -> Sequence[torch.Tensor]:
    """Send integers to the device in one piece, which nobody waits for."""
    import torch

    together = torch.from_numpy(np.concatenate(parts))
    if device.type == "cuda":  # other memory is copied before the call returns, when all work before is done
        together = together.pin_memory()
    sent: Sequence[torch.Tensor] = together.to(device, non_blocking=True).split([len(part) for part in parts])
    return sent


def _mask(ends: torch.Tensor, start: int, dtype: torch.dtype) -> torch.Tensor:
    """Return what is added to attention: nothing where a token may look, the least number where it may not."""
    import torch

    index = torch.arange(ends.shape[1], device=ends.device)
    hidden = (index > index[:, None]) | (index[:, None] >= ends[:, None, :])
    mask = torch.zeros(hidden.shape, dtype=dtype, device=ends.device).masked_fill_(hidden, torch.finfo(dtype).min)
    return torch.nn.functional.pad(mask, (start, 0))[:, None]


@contextmanager
def _only(model: Any, kept: torch.Tensor, rows: int) -> Iterator[dict[str, torch.Tensor]]:
    """Have the model predict at some tokens alone: by its own parameter, or of several rows before its last layer."""
    if rows == 1:
        yield {"logits_to_keep": kept}
        return
    owner = get_ident()

    def keep(_: Any, inputs: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor] | None:
        return (inputs[0].flatten(0, 1)[kept.to(inputs[0].device)][None],) if get_ident() == owner else None

    hook = model.get_output_embeddings().register_forward_pre_hook(keep)
    try:
        yield {}
    finally:
        hook.remove()


def can_pack(loaded: LoadedModel, limits: Limits) -> bool:
    """Return whether this model gives the same scores with shared prefixes as without, as rows where these are wanted.

    Found out by trying: architectures differ in whether they honour positions and masks (recurrent models and some
    position biases do not), and a model that cannot is still right, only slower.
    """
    if loaded.family == "seq2seq" or not takes(loaded.model, "logits_to_keep") or _looks_through_a_window(loaded):
        return False
    vocabulary = loaded.vocabulary_size
    stem = [(7 * index + 3) % vocabulary for index in range(24)]
    ends = [[11, 5, 2, 9], [11, 5, 8], [4, 2, 2, 7, 1], [4]]
    texts = [*((*stem, *end) for end in ends), *((*end, *stem[:10]) for end in ends if limits.batch)]
    trial = [Scorable(tuple(token % vocabulary for token in text), (1, 2)) for text in texts]
    try:
        packed = dict(score_packed(loaded, trial, Limits(6, 16, 64, batch=limits.batch and 64)))
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
