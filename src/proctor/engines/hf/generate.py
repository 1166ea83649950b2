"""Generating text with a transformers model: one padded batch at a time.

Rows do not know each other: a row's answer, sampled or not, is the same in every batch and at every position.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from random import Random
from typing import TYPE_CHECKING, Any

from proctor.engines.encoder import RefusedError
from proctor.engines.hf.loading import LoadedModel
from proctor.engines.thoughts import UNKNOWN, Marks, Opening, marks_of, special_marks, split
from proctor.ir import Decoding, TokenLogProbability

if TYPE_CHECKING:
    import torch

# Arguments of generate() that are made of the request and the engine here; anything else goes to it as it is.
_OURS = frozenset(
    {"do_sample", "logprobs", "top_logprobs", "tools", "temperature", "top_p", "top_k", "max_new_tokens", "max_length"}
)


@dataclass(slots=True)
class Draft:
    """One answer to write: what to read, how to end, and where its random numbers come from."""

    ids: Sequence[int]
    stop: tuple[str, ...] = ()
    random: Random | None = None
    media: dict[str, Any] = field(default_factory=dict)
    opening: Opening = UNKNOWN


@dataclass(slots=True)
class Written:
    """All that was written for a draft.

    Attributes:
        text: Thoughts and answer; what follows a stop string in its last tokens is in it, too.
        token_count: Tokens written, the end-of-text token included.
        reason: ``stop`` or ``length``.
    """

    text: str
    token_count: int
    reason: str
    tokens: tuple[TokenLogProbability, ...] = ()


def write(
    loaded: LoadedModel, drafts: Sequence[Draft], decoding: Decoding, marks: Marks | None = None
) -> list[Written]:
    """Write one answer for each draft; all share ``decoding`` (its ``stop``, ``seed`` and ``count`` are the drafts').

    Args:
        loaded: The model.
        drafts: What to read.
        decoding: How to write.
        marks: What begins and ends thoughts: stop strings in thoughts do not count.

    Raises:
        RefusedError: A parameter in ``decoding.extra`` that the model does not know.
    """
    import torch
    from transformers import LogitsProcessorList, StoppingCriteriaList

    config = generation_config(loaded, decoding)
    inputs, mask = _left_padded(drafts, loaded)
    start = 1 if loaded.family == "seq2seq" else inputs.shape[1]
    marks = marks or marks_of()
    ending = _StopAtText(loaded.tokenizer, drafts, start, marks)
    recorder = _Recorder(decoding.extra.get("logprobs"), decoding.extra.get("top_logprobs"))
    processors: list[Any] = [recorder.look] if recorder.wanted else []
    criteria: list[Any] = [ending, recorder.note] if recorder.wanted else [ending]
    if all(draft.random is not None for draft in drafts):
        processors.append(_Sampler(decoding, [draft.random for draft in drafts if draft.random]))
    with torch.inference_mode():
        output = loaded.model.generate(
            input_ids=inputs,
            attention_mask=mask,
            generation_config=config,
            logits_processor=LogitsProcessorList(processors),
            stopping_criteria=StoppingCriteriaList(criteria),
            **_media(drafts, loaded),
        )
    cutter = _Cutter(loaded.tokenizer, _token_set(config.eos_token_id), special_marks(loaded.tokenizer, marks))
    return [
        cutter.finish(row, ending.ended_at[index], recorder.row(loaded.tokenizer, index))
        for index, row in enumerate(output[:, start:].tolist())
    ]


def generation_config(loaded: LoadedModel, decoding: Decoding) -> Any:
    """Return the model's own generation defaults, overridden by ``decoding``.

    Sampling is left out: :class:`_Sampler` does it, so that it can be repeated.
    """
    config = copy.deepcopy(loaded.model.generation_config)
    config.do_sample = False
    config.temperature = config.top_p = config.top_k = config.min_p = None
    config.max_length = None
    config.max_new_tokens = decoding.max_tokens
    config.pad_token_id = loaded.tokenizer.pad_token_id
    if config.eos_token_id is None:
        config.eos_token_id = loaded.tokenizer.eos_token_id
    extra = {key: value for key, value in decoding.extra.items() if key not in _OURS}
    if unknown := [key for key in extra if not hasattr(config, key)]:
        raise RefusedError("engine", f"transformers knows no generation parameter {', '.join(map(repr, unknown))}")
    config.update(**extra)
    return config


def is_sampled(decoding: Decoding) -> bool:
    """Return whether answers are drawn rather than the most likely ones."""
    return decoding.temperature > 0 and decoding.extra.get("do_sample") is not False


def _left_padded(drafts: Sequence[Draft], loaded: LoadedModel) -> tuple[torch.Tensor, torch.Tensor]:
    import torch

    width = max(len(draft.ids) for draft in drafts)
    filler = loaded.tokenizer.pad_token_id
    ids = [[*[filler] * (width - len(draft.ids)), *draft.ids] for draft in drafts]
    mask = [[*[0] * (width - len(draft.ids)), *[1] * len(draft.ids)] for draft in drafts]
    return torch.tensor(ids, device=loaded.device), torch.tensor(mask, device=loaded.device)


def _media(drafts: Sequence[Draft], loaded: LoadedModel) -> dict[str, Any]:
    """Return the tensors beside the ids; drafts with pictures are alone in their batch."""
    found = {name: value for draft in drafts for name, value in draft.media.items()}
    moved = {name: value.to(loaded.device) for name, value in found.items()}
    return {name: v.to(loaded.model.dtype) if v.is_floating_point() else v for name, v in moved.items()}


@dataclass(frozen=True, slots=True)
class _Cutter:
    """Turns the tokens that a model wrote into text."""

    tokenizer: Any
    ends: frozenset[int]
    special: re.Pattern[str] | None

    def finish(self, row: list[int], ended_at: int | None, tokens: tuple[TokenLogProbability, ...]) -> Written:
        """Cut a row at its first end token, or where a stop string was seen."""
        length = next((index for index, token in enumerate(row) if token in self.ends), len(row))
        natural = length < len(row)
        if ended_at is not None and ended_at <= length:
            length, natural = ended_at, False
        count = length + natural
        reason = "stop" if natural or ended_at is not None else "length"
        return Written(self._text(row[:length]), count, reason, tokens[:count])

    def _text(self, ids: list[int]) -> str:
        """Return the text of tokens without the special ones, but for those that are marks of thoughts."""
        text = str(self.tokenizer.decode(ids, skip_special_tokens=True))
        if self.special is None:
            return text
        whole = str(self.tokenizer.decode(ids, skip_special_tokens=False))
        return whole if self.special.search(whole) else text


def _token_set(value: Any) -> frozenset[int]:
    if value is None:
        return frozenset()
    return frozenset(value if isinstance(value, (list, tuple)) else [value])


class _StopAtText:
    """Stopping criterion: a row is done when its own text holds one of its stop strings."""

    def __init__(self, tokenizer: Any, drafts: Sequence[Draft], start: int, marks: Marks) -> None:
        self._tokenizer = tokenizer
        self._stops = [tuple(string for string in draft.stop if string) for draft in drafts]
        self._openings = [draft.opening for draft in drafts]
        self._start = start
        self._marks = marks
        self.ended_at: list[int | None] = [None] * len(drafts)
        # A token may be a single byte and a character four, so this many tokens always hold the stop string.
        self._tail = 4 * max((len(string) for stop in self._stops for string in stop), default=0) + 4

    def __call__(self, input_ids: torch.Tensor, *_: Any, **__: Any) -> torch.Tensor:
        import torch

        waiting = [index for index, end in enumerate(self.ended_at) if end is None and self._stops[index]]
        length = input_ids.shape[1] - self._start
        if waiting and len(input_ids) == len(self._stops):
            for index, text in zip(waiting, self._tails(input_ids, waiting), strict=True):
                if self._has_stop(index, text) and self._has_stop(index, self._answer(input_ids, index)):
                    self.ended_at[index] = length
        done = [end is not None for end in self.ended_at]
        if not any(done):  # made on the device: nothing waits for it
            return torch.zeros(len(input_ids), dtype=torch.bool, device=input_ids.device)
        return torch.tensor(done[: len(input_ids)] + [False] * (len(input_ids) - len(done)), device=input_ids.device)

    def _has_stop(self, index: int, text: str) -> bool:
        return any(string in text for string in self._stops[index])

    def _tails(self, input_ids: torch.Tensor, rows: list[int]) -> list[str]:
        """Return the text in which a stop string may have ended just now."""
        first = max(self._start, input_ids.shape[1] - self._tail)
        texts: list[str] = self._tokenizer.batch_decode(input_ids[rows, first:].tolist())
        return texts

    def _answer(self, input_ids: torch.Tensor, index: int) -> str:
        """Return the answer so far: empty as long as the model thinks."""
        opening = self._openings[index]
        text = self._tokenizer.decode(input_ids[index, self._start :].tolist())
        return split(text, self._marks, opening.family, is_closed=opening.is_closed).answer


class _Sampler:
    """Logits processor that draws the next token of each row from that row's own random stream."""

    def __init__(self, decoding: Decoding, streams: Sequence[Random]) -> None:
        import transformers

        self._streams = streams
        self._warpers: list[Any] = [transformers.TemperatureLogitsWarper(float(decoding.temperature))]
        if decoding.top_k:
            self._warpers.append(transformers.TopKLogitsWarper(decoding.top_k))
        if decoding.top_p is not None and decoding.top_p < 1:
            self._warpers.append(transformers.TopPLogitsWarper(decoding.top_p))
        if (min_p := decoding.extra.get("min_p")) is not None:
            self._warpers.append(transformers.MinPLogitsWarper(min_p))

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        import torch

        for warper in self._warpers:
            scores = warper(input_ids, scores)
        totals = scores.double().softmax(-1).cumsum(-1)
        draws = torch.tensor([[stream.random()] for stream in self._streams], device=scores.device)
        chosen = torch.searchsorted(totals, draws.double() * totals[:, -1:], right=True)
        only = torch.full_like(scores, -torch.inf)
        return only.scatter(1, chosen.clamp(max=scores.shape[1] - 1), 0.0)


class _Recorder:
    """Keeps the log-probabilities of what is written: looks at the logits first, and at the choice afterwards."""

    def __init__(self, logprobs: Any, top: Any) -> None:
        self.wanted = logprobs is not None and logprobs is not False
        self._top = int(top or 0) if isinstance(logprobs, bool) else int(logprobs or 0)
        self._latest: torch.Tensor | None = None
        self._seen: list[tuple[torch.Tensor, ...]] = []

    def look(self, _: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Remember the log-probabilities of the next token (a logits processor)."""
        self._latest = scores.float().log_softmax(-1)
        return scores

    def note(self, input_ids: torch.Tensor, *_: Any, **__: Any) -> torch.Tensor:
        """File them under the token that was chosen (a stopping criterion that never stops)."""
        import torch

        if self._latest is not None:
            chosen = input_ids[:, -1:]
            best = self._latest.topk(max(self._top, 1), dim=-1)
            self._seen.append((chosen[:, 0].clone(), self._latest.gather(1, chosen)[:, 0], best.indices, best.values))
        return torch.zeros(len(input_ids), dtype=torch.bool, device=input_ids.device)

    @cached_property
    def _steps(self) -> list[tuple[Any, ...]]:
        """For each token chosen ids and their log-probabilities, and the best ones; read from the device once."""
        import torch

        return list(zip(*(torch.stack(each).tolist() for each in zip(*self._seen, strict=True)), strict=True))

    def row(self, tokenizer: Any, index: int) -> tuple[TokenLogProbability, ...]:
        return tuple(
            TokenLogProbability(
                tokenizer.decode([chosen[index]]),
                found[index],
                tuple(
                    (tokenizer.decode([token]), value)
                    for token, value in zip(best[index][: self._top], values[index][: self._top], strict=True)
                ),
            )
            for chosen, found, best, values in self._steps
        )
