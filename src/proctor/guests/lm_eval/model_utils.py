"""``lm_eval.models.utils``: what models of one's own use to batch, order and cut, with the results that lm-eval's give.

Source of their rules: lm-eval 0.4.13.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, zip_longest
from typing import Any, Final

from proctor.guests.lm_eval.utils import group
from proctor.logs import get_logger

DEFAULT_MAX_LENGTH: Final = 2048
"""Tokens that a model is taken to read where nothing says."""
TOKENIZER_INFINITY: Final = int(1e30)
"""What tokenizers of transformers have for "no limit"."""

_LIMITS = ("max_gen_toks", "max_new_tokens", "max_tokens", "max_completion_tokens")
"""Names of the most tokens to write; of several that are given the first counts."""

Ids = list[int]


def chunks(_iter: Iterable[Any], n: int = 0, fn: Callable[[int, Any], int] | None = None) -> Iterator[list[Any]]:
    """Yield lists of ``n`` things, or of as many as ``fn(position, things)`` says where one ends."""
    part: list[Any] = []
    for position, each in enumerate(_iter):
        part.append(each)
        if len(part) == (fn(position, _iter) if fn else n):
            yield part
            part = []
    if part:
        yield part


def undistribute(iterable: Iterable[Iterable[Any]]) -> list[Any]:
    """Return what was dealt out in turns to several lists, in the order before; ``None`` is left out."""
    rounds = zip_longest(*map(list, iterable))
    return [each for each in chain.from_iterable(rounds) if each is not None]


class Reorderer:
    """Things sorted by a function, and the way back to their order; of equal ones each is the first, as in lm-eval.

    Args:
        arr: The things.
        fn: What they are sorted by.
    """

    def __init__(self, arr: Sequence[Any], fn: Callable[[Any], Any]) -> None:
        alike = group(list(enumerate(arr)), lambda each: fn(each[1]))
        self.arr = sorted((([place], some[0][1]) for some in alike for place, _ in some), key=lambda each: fn(each[1]))

    def get_reordered(self) -> list[Any]:
        """Return the things, sorted."""
        return [each for _, each in self.arr]

    def get_original(self, newarr: Sequence[Any]) -> list[Any]:
        """Return values, given in the sorted order, in the order of the things."""
        pairs = sorted(zip(self.arr, newarr, strict=True), key=lambda pair: pair[0][0])
        return [value for _, value in pairs]


class Collator:
    """Things in batches, sorted and perhaps grouped, and the way back to their order.

    Args:
        arr: The things.
        sort_fn: What they are sorted by.
        group_fn: What they are grouped by.
        group_by: ``gen_kwargs`` makes batches within groups; ``contexts`` shows the longest thing of each group, whose
            answer :meth:`get_cache` hands out to all of it; ``None`` only sorts.
    """

    def __init__(
        self,
        arr: Sequence[Any],
        sort_fn: Callable[[Any], Any] = lambda each: each,
        group_fn: Callable[[Any], Any] = lambda each: each[1],
        group_by: str | None = None,
    ) -> None:
        self._group_by = group_by
        self._sort_fn = sort_fn
        self._reorder_indices: list[int] = []
        self._size = len(arr)
        numbered = tuple(enumerate(arr))
        self._arr_with_indices: Any = (
            self.group(numbered, lambda each: group_fn(each[1]), group_by) if group_by else numbered
        )

    def get_batched(self, n: int = 1, batch_fn: Callable[[int, Any], int] | None = None) -> Iterator[list[Any]]:
        """Yield batches of ``n`` things, or of as many as ``batch_fn`` says."""
        if self._group_by == "gen_kwargs":
            for members in self._arr_with_indices.values():
                yield from self.get_chunks(self._sorted(members), n, batch_fn)
            return
        shown = self._arr_with_indices
        if self._group_by == "contexts":
            shown = [max(members, key=lambda each: len(each[1][-1])) for members in shown.values()]
        yield from self.get_chunks(self._sorted(shown), n, batch_fn)

    def get_cache(self, req_str: Any, cxt_toks: Ids, cont_toks: Ids, logits: Any) -> Iterator[tuple[Any, Ids, Any]]:
        """Yield what an answer is an answer to: the thing itself, or all of its group of ``contexts``."""
        if self._group_by != "contexts":
            yield req_str, cont_toks, logits
            return
        members = self._arr_with_indices.pop(tuple(cxt_toks + cont_toks[:-1]))
        self._reorder_indices.extend(position for position, _ in members)
        if len(members) == 1:
            yield req_str, cont_toks, logits
            return
        parts = logits.expand(len(members), -1, -1).chunk(len(members))
        for (_, each), part in zip(members, parts, strict=True):
            yield each[0], each[-1], part

    def get_original(self, newarr: Sequence[Any]) -> list[Any]:
        """Return answers, given in the order of the batches, in the order of the things.

        Raises:
            ValueError: There are not as many as things.
        """
        if len(newarr) != self._size or len(set(self._reorder_indices)) != self._size:
            raise ValueError(f"{len(newarr)} answers for {self._size} things")
        found: list[Any] = [None] * self._size
        for position, value in zip(self._reorder_indices, newarr, strict=True):
            found[position] = value
        return found

    def __len__(self) -> int:
        return self._size

    def _sorted(self, numbered: Iterable[tuple[int, Any]]) -> list[Any]:
        ordered = sorted(numbered, key=lambda each: self._sort_fn(each[1]))
        if self._group_by != "contexts":
            self._reorder_indices.extend(position for position, _ in ordered)
        return [each for _, each in ordered]

    @staticmethod
    def group(arr: Iterable[Any], fn: Callable[[Any], Any], group_by: str = "gen_kwargs") -> dict[Any, list[Any]]:
        """Return things by what ``fn`` says of them: a mapping of arguments, or a sequence."""
        found: dict[Any, list[Any]] = {}
        for each in arr:
            said = fn(each)
            key = tuple(said) if group_by == "contexts" else _key_of(said)
            found.setdefault(key, []).append(each)
        return found

    @staticmethod
    def get_chunks(_iter: Iterable[Any], n: int = 0, fn: Callable[[int, Any], int] | None = None) -> Iterator[Any]:
        """Yield lists as :func:`chunks` does."""
        yield from chunks(tuple(_iter), n, fn)


def _key_of(said: Any) -> tuple[Any, ...]:
    if not isinstance(said, Mapping):
        return tuple(said)
    try:
        key = tuple(
            (name, tuple(value) if isinstance(value, Iterable) else value) for name, value in sorted(said.items())
        )
        hash(key)
    except TypeError:
        return tuple(said)
    return key


def handle_stop_sequences(until: str | list[str] | None, eos: str | None) -> list[str]:
    """Return stop strings as a list, the text of the last token among them.

    Raises:
        ValueError: They are neither text nor list.
    """
    if until is not None and not isinstance(until, str | list):
        raise ValueError(f"until is {until!r}, neither a text nor a list of texts")
    stops = [until] if isinstance(until, str) else [] if until is None else until
    if eos is not None and eos not in stops:
        stops.append(eos)
    return stops


def normalize_gen_kwargs(gen_kwargs: Mapping[str, Any], default_max_gen_toks: int = 256) -> dict[str, Any]:
    """Return how to generate: ``until`` a list, ``max_gen_toks`` a number, temperature 0 where nothing is drawn."""
    found = copy.deepcopy(dict(gen_kwargs))
    until = found.get("until", [])
    limits = [value for name in _LIMITS if (value := found.pop(name, None)) is not None]
    temperature, draws = float(found.get("temperature", 0.0)), found.get("do_sample")
    if len(limits) > 1:
        get_logger().warning("several limits are given: %s counts", limits[0])
    if draws is None:
        found["do_sample"] = temperature > 0
    elif draws is False:
        if temperature:
            get_logger().warning("do_sample=False: the temperature is 0, not %s", temperature)
        found["temperature"] = 0.0
    elif draws is True and not temperature:
        get_logger().warning("do_sample=True with temperature 0 draws nothing")
    limit = int(limits[0]) if limits else default_max_gen_toks
    return {**found, "until": until if isinstance(until, list) else [until], "max_gen_toks": limit}


def postprocess_generated_text(generation: str, stop: list[str] | str | None, think_end_token: str | None) -> str:
    """Return an answer without what comes before the end of its thoughts, and up to the first stop string."""
    if think_end_token:
        generation = generation.rsplit(think_end_token, maxsplit=1)[-1].lstrip()
    for each in [stop] if isinstance(stop, str) else stop or ():
        generation = generation.partition(each)[0] if each else generation
    return generation


def has_bos_prefix(sequence: str, bos_str: str | Iterable[str] | None = None) -> bool:
    """Return whether a text begins with the first token in words, or with one of several."""
    starts = () if bos_str is None else (bos_str,) if isinstance(bos_str, str) else tuple(bos_str)
    return sequence.startswith(starts)


def resolve_max_length(config: Any, tokenizer: Any = None, *, default: int = DEFAULT_MAX_LENGTH) -> int:
    """Return how many tokens a model reads: as its configuration says, else its tokenizer, else ``default``."""
    told = getattr(config, "text_config", None) or config
    for name in ("n_positions", "max_position_embeddings", "n_ctx"):
        if (value := getattr(told, name, None)) is not None:
            return int(value)
    length = getattr(tokenizer, "model_max_length", None)
    return default if length is None or length == TOKENIZER_INFINITY else int(length)


def configure_pad_token(tokenizer: Any, model_config: Any = None) -> Any:
    """Return a tokenizer with a token to pad with: its own, else the unknown one, else the last one, else a new one."""
    if getattr(tokenizer, "pad_token_id", None) is not None or getattr(tokenizer, "pad_token", None):
        return tokenizer
    if getattr(tokenizer, "unk_token", None):
        tokenizer.pad_token_id = tokenizer.unk_token_id
    elif getattr(tokenizer, "eos_token", None):
        tokenizer.pad_token_id = tokenizer.eos_token_id
    elif getattr(model_config, "model_type", None) == "qwen":  # its tokenizer takes no new token
        tokenizer.pad_token = "<|endoftext|>"  # noqa: S105 - the text of a token
    else:
        tokenizer.add_special_tokens({"pad_token": "<|pad|>"})
    return tokenizer
