"""lm-eval's way to ask a model of tensors, of which every step is a method: what classes of programs override.

Source of its rules: ``HFLM`` of lm-eval 0.4.13. Batches are put together as there, so that equal models give equal
numbers.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, ClassVar

from proctor.errors import UsageError
from proctor.guests.lm_eval.instance import Instance
from proctor.guests.lm_eval.model import TemplateLM
from proctor.guests.lm_eval.model_utils import (
    Collator,
    handle_stop_sequences,
    has_bos_prefix,
    normalize_gen_kwargs,
    postprocess_generated_text,
)
from proctor.guests.lm_eval.torch_utils import clear_torch_cache, pad_and_concat, stop_sequences_criteria
from proctor.guests.lm_eval.utils import get_rolling_token_windows, make_disjoint_window
from proctor.logs import get_logger

Tokenized = tuple[Any, list[int], list[int]]
"""A (context, continuation) pair, or ``None``, with the tokens of both."""


class TorchLM(TemplateLM):
    """A model of tensors: scores and writes in batches, through its own methods.

    Attributes:
        truncation: Whether the tokenizer cuts contexts that are answered.
        logits_cache: Whether pairs that a model reads alike are read once.
        softmax_dtype, mixed_precision_dtype: Types that likelihoods, and all of the model, are computed in.
        add_bos_token: Whether the tokenizer's own tokens are added; ``None`` leaves it to the tokenizer.
        think_end_token: What ends thoughts: a text, or a token.
        batch_size_per_gpu: Requests at once, or ``auto``.
        max_batch_size: Where ``auto`` begins.
        batch_schedule: How often ``auto`` looks anew in one call.
    """

    truncation: bool = False
    logits_cache: bool = True
    softmax_dtype: Any = None
    mixed_precision_dtype: Any = None
    add_bos_token: bool | None = None
    think_end_token: str | int | None = None
    enable_thinking: bool | None = None
    batch_size_per_gpu: int | str = 1
    max_batch_size: int = 64
    batch_schedule: float = 1
    batch_sizes: Mapping[int, int] = {}

    uncalled: ClassVar[Mapping[str, str]] = {
        "_get_accelerate_args": "how a model is spread over devices is said to _create_model, or by device_map"
    }

    @property
    @abstractmethod
    def model(self) -> Any:
        """What is called."""

    @property
    @abstractmethod
    def max_length(self) -> int:
        """Most tokens that it reads at once."""

    @property
    @abstractmethod
    def max_gen_toks(self) -> int:
        """Most tokens of an answer where a request does not say."""

    @property
    def batch_size(self) -> int | str:
        """Requests that are answered at once."""
        return self.batch_size_per_gpu

    # -- tokens -------------------------------------------------------------------------------------------------------

    def tok_encode(
        self, string: str, add_special_tokens: bool | None = None, left_truncate_len: int | None = None, **_: Any
    ) -> list[int]:
        """Return a text's tokens.

        Args:
            string: The text.
            add_special_tokens: Whether the tokenizer adds its own; ``None`` does as :attr:`add_bos_token` says, and
                adds none to a text that begins with one.
            left_truncate_len: How many tokens are kept, from the end; ``None`` keeps all.
        """
        tokenizer, special = self._words, add_special_tokens
        if special is None:
            begun = has_bos_prefix(string, tokenizer.decode(self.prefix_token_id))
            special = False if begun else self.add_bos_token
        tokens = tokenizer.encode(string, **({} if special is None else {"add_special_tokens": special}))
        return list(tokens[-left_truncate_len:] if left_truncate_len else tokens)

    def tok_batch_encode(
        self,
        strings: list[str],
        padding_side: str = "left",
        left_truncate_len: int | None = None,
        truncation: bool = False,
    ) -> tuple[Any, Any]:
        """Return the tokens of texts, padded to one length, and which of them are not padding; both are tensors."""
        tokenizer, special = self._words, self.add_bos_token
        if has_bos_prefix(strings[0], getattr(tokenizer, "bos_token", None)):
            special = False
        more = {} if special is None or self.backend != "causal" else {"add_special_tokens": special}
        before, tokenizer.padding_side = tokenizer.padding_side, padding_side
        found = tokenizer(strings, truncation=truncation, padding="longest", return_tensors="pt", **more)
        tokenizer.padding_side = before
        tokens, mask = found["input_ids"], found["attention_mask"]
        if left_truncate_len and tokens.size(1) > left_truncate_len:
            get_logger().warning(
                "contexts of %s tokens are cut to %s, from the left", tokens.size(1), left_truncate_len
            )
            return tokens[:, -left_truncate_len:], mask[:, -left_truncate_len:]
        return tokens, mask

    def tok_decode(self, tokens: Any, skip_special_tokens: bool = True) -> str:
        """Return the text of tokens."""
        return str(self._words.decode(tokens, skip_special_tokens=skip_special_tokens))

    @property
    def _words(self) -> Any:
        return self.tokenizer

    # -- the model ----------------------------------------------------------------------------------------------------

    def _precision(self) -> Any:
        import torch

        kind = self.mixed_precision_dtype
        return torch.autocast(device_type=torch.device(self.device).type, dtype=kind, enabled=kind is not None)

    def _model_call(self, inps: Any, attn_mask: Any = None, labels: Any = None) -> Any:
        """Return logits of shape (batch, positions, vocabulary); an encoder is given its mask and the labels."""
        import torch

        with torch.no_grad(), self._precision():
            if attn_mask is None and labels is None:
                return self.model(inps).logits
            return self.model(input_ids=inps, attention_mask=attn_mask, labels=labels).logits

    def _model_generate(self, context: Any, max_length: int, stop: list[str], **generation_kwargs: Any) -> Any:
        """Return contexts with what the model writes behind them, as tokens."""
        import torch

        temperature = generation_kwargs.setdefault("temperature", 0.0)
        if temperature == 0.0 and generation_kwargs.get("do_sample") is None:
            generation_kwargs["do_sample"] = False
        if temperature == 0.0 and generation_kwargs["do_sample"] is False:
            del generation_kwargs["temperature"]
        ends = stop_sequences_criteria(self.tokenizer, stop, context.shape[1], context.shape[0])
        with torch.no_grad(), self._precision():
            return self.model.generate(
                input_ids=context,
                max_length=max_length,
                stopping_criteria=ends,
                pad_token_id=self.tokenizer.pad_token_id,
                use_cache=True,
                **generation_kwargs,
            )

    def _select_cont_toks(self, logits: Any, contlen: int | None = None, inplen: int | None = None) -> Any:
        """Return the logits of a continuation's positions, of those of one row."""
        if self.backend == "causal":
            return logits[(inplen or 0) - (contlen or 0) : inplen]
        return logits[:contlen]

    # -- batches ------------------------------------------------------------------------------------------------------

    def _detect_batch_size(self, requests: Sequence[Any] | None = None, pos: int = 0) -> int:
        """Return how many inputs fit: as long as the request at a position, or as the model reads at most."""
        import torch

        from proctor.engines.hf.batches import is_out_of_memory

        longest = source = self.max_length
        if requests:
            _, context, continuation = requests[pos]
            longest = min(len(context) + len(continuation) - 1, self.max_length)
            source = min(max(len(context), len(continuation)), self.max_length + 1)
        size = self.max_batch_size
        while size > 1:
            try:
                if self.backend == "causal":
                    self._model_call(torch.ones((size, longest), device=self.device, dtype=torch.long))
                else:
                    same = torch.ones((size, source), device=self.device, dtype=torch.long)
                    self._model_call(same, attn_mask=same, labels=same)
            except RuntimeError as error:
                if not is_out_of_memory(error):
                    raise
                size //= 2
                clear_torch_cache()
            else:
                break
        return size

    def _batch_scheduler(self, pos: int, n_reordered_requests: Sequence[Any]) -> int:
        """Return how many requests make the batch at a position, looked for :attr:`batch_schedule` times."""
        part = pos // max(int(len(n_reordered_requests) / self.batch_schedule), 1)
        sizes = dict(self.batch_sizes)
        if part not in sizes:
            is_largest = len(sizes) > 1 and sizes.get(part - 1) == self.max_batch_size
            sizes[part] = self.max_batch_size if is_largest else self._detect_batch_size(n_reordered_requests, pos)
            self.batch_sizes = sizes
        return sizes[part]

    def _size(self) -> int:
        return self._detect_batch_size() if self.batch_size == "auto" else int(self.batch_size)

    # -- likelihoods --------------------------------------------------------------------------------------------------

    def loglikelihood(self, requests: list[Instance], disable_tqdm: bool = False) -> list[tuple[float, bool]]:
        """Return for each (context, continuation) its log-likelihood, and whether it is what the model would write.

        Raises:
            UsageError: The model is to think.
        """
        if self.enable_thinking:
            raise UsageError("enable_thinking=True: continuations are not likely behind thoughts that are not written")
        return super().loglikelihood(requests, disable_tqdm=disable_tqdm)

    def loglikelihood_rolling(self, requests: list[Instance], disable_tqdm: bool = False) -> list[float]:
        """Return the log-likelihood of each whole text, read in windows of :attr:`max_length` tokens."""
        size = self._size()
        windows = [
            (place, (None, *make_disjoint_window(each)))
            for place, request in enumerate(requests)
            for each in get_rolling_token_windows(
                self.tok_encode(request.args[0]), self.prefix_token_id, self.max_length, 1
            )
        ]
        values: list[tuple[float, bool]] = []
        for start in range(0, len(windows), size):
            part = [each for _, each in windows[start : start + size]]
            values += self._loglikelihood_tokens(part, disable_tqdm=disable_tqdm, override_bs=len(part))
        numbered = zip((place for place, _ in windows), values, strict=True)
        sums = {place: sum(value for _, (value, _) in each) for place, each in groupby(numbered, lambda one: one[0])}
        totals = [float(sums.get(place, 0)) for place in range(len(requests))]
        for request, total in zip(requests, totals, strict=True):
            self.cache_hook.add_partial("loglikelihood_rolling", request.args[:1], total)
        return totals

    def _loglikelihood_tokens(  # type: ignore[override]
        self, requests: list[Any], disable_tqdm: bool = False, override_bs: int | None = None
    ) -> list[tuple[float, bool]]:
        """Return log-likelihoods of ((context, continuation), context tokens, continuation tokens)."""
        del disable_tqdm
        shared = "contexts" if self.backend == "causal" and self.logits_cache else None
        order = Collator(requests, sort_fn=_longest_first, group_fn=_as_read, group_by=shared)
        self.batch_sizes = {}
        is_auto = self.batch_size == "auto"
        size = (override_bs or 0) if is_auto else int(self.batch_size)
        found: list[tuple[float, bool]] = []
        for batch in order.get_batched(n=size, batch_fn=self._batch_scheduler if is_auto and not override_bs else None):
            for (text, context, continuation), logits in zip(batch, self._logits(batch), strict=True):
                greedy = logits.argmax(dim=-1)
                read = order.get_cache(req_str=text, cxt_toks=context, cont_toks=continuation, logits=logits)
                found += [self._scored(*each, greedy) for each in read]
        return order.get_original(found)

    def _scored(self, text: Any, tokens: list[int], logits: Any, greedy: Any) -> tuple[float, bool]:
        import torch

        wanted = torch.tensor([tokens], dtype=torch.long, device=self.device)
        likeliest = bool((greedy[:, -len(tokens) :] == wanted).all())
        answer = (float(torch.gather(logits, 2, wanted.unsqueeze(-1)).squeeze(-1).sum().detach()), likeliest)
        if text is not None:
            self.cache_hook.add_partial("loglikelihood", text, answer)
        return answer

    def _logits(self, batch: Sequence[Tokenized]) -> list[Any]:
        """Return log-probabilities of each continuation's positions, of shape (1, positions, vocabulary)."""
        import torch

        for text, context, continuation in batch:
            if not context or not continuation or len(continuation) > self.max_length:
                raise UsageError(
                    f"{len(context)} tokens of context and {len(continuation)} of a continuation: {text!r}",
                    why=f"both are at least one, and a continuation at most {self.max_length}",
                )
        is_causal = self.backend == "causal"
        rows = [(context + continuation)[-(self.max_length + 1) : -1] for _, context, continuation in batch]
        if not is_causal:
            rows = [context[-self.max_length :] for _, context, _ in batch]
        inputs, width = self._padded(rows, "right"), max(map(len, rows))
        more = {}
        if not is_causal:
            more["attn_mask"] = self._padded([[1] * len(each) for each in rows], "right")
            more["labels"] = self._padded([each[-self.max_length :] for _, _, each in batch], "right")
        logits = self._model_call(inputs, **more)
        every = torch.nn.functional.log_softmax(logits, dim=-1, dtype=self.softmax_dtype)
        return [
            self._select_cont_toks(
                each, contlen=len(request[2]), inplen=len(row) + len(each) - width if is_causal else None
            ).unsqueeze(0)
            for request, row, each in zip(batch, rows, every, strict=True)
        ]

    def _padded(self, rows: Sequence[list[int]], side: str) -> Any:
        import torch

        tensors = [torch.tensor(each, dtype=torch.long, device=self.device) for each in rows]
        return pad_and_concat(max(map(len, rows)), tensors, padding_side=side)

    # -- writing ------------------------------------------------------------------------------------------------------

    def generate_until(self, requests: list[Instance], disable_tqdm: bool = False) -> list[str]:
        """Return what the model writes after each context; contexts whose arguments are equal are answered together."""
        del disable_tqdm
        order = Collator(
            [each.args[:2] for each in requests],
            sort_fn=lambda each: (-len(self.tok_encode(each[0])), each[0]),
            group_by="gen_kwargs",
            group_fn=lambda each: each[1],
        )
        found: list[str] = []
        end = self.tok_decode(self.eot_token_id, skip_special_tokens=False)
        for batch in order.get_batched(n=self._size()):
            texts = self._written([context for context, _ in batch], batch[0][1], end)
            for asked, text in zip(batch, texts, strict=True):
                self.cache_hook.add_partial("generate_until", asked, text)
            found += texts
        return order.get_original(found)

    def _written(self, contexts: list[str], arguments: Mapping[str, Any], end: str) -> list[str]:
        told = normalize_gen_kwargs(arguments, self.max_gen_toks)
        stops, most = handle_stop_sequences(told.pop("until"), eos=end), told.pop("max_gen_toks")
        room = self.max_length - most if self.backend == "causal" else self.max_length
        if room <= 0:
            raise UsageError(f"{most} tokens are to be written, and the model has room for {self.max_length}")
        tokens, mask = self.tok_batch_encode(contexts, left_truncate_len=room, truncation=self.truncation)
        tokens, mask = tokens.to(self.device), mask.to(self.device)
        longest = told.pop("max_length", tokens.shape[1] + most)
        rows = self._model_generate(context=tokens, attention_mask=mask, stop=stops, max_length=longest, **told)
        start = tokens.shape[1] if self.backend == "causal" else 0
        return [self._text(each[start:], stops) for each in rows.tolist()]

    def _text(self, tokens: list[int], stops: list[str]) -> str:
        """Return what was written, without thoughts, up to the first stop string."""
        ends = self.think_end_token
        if not isinstance(ends, int):
            return postprocess_generated_text(self.tok_decode(tokens), stops, ends)
        if ends in tokens:
            tokens = tokens[len(tokens) - tokens[::-1].index(ends) :]
        return postprocess_generated_text(self.tok_decode(tokens).lstrip(), stops, None)


def _longest_first(request: Tokenized) -> tuple[int, tuple[int, ...]]:
    tokens = request[1] + request[2]
    return -len(tokens), tuple(tokens)


def _as_read(request: Tokenized) -> list[int]:
    return request[1] + request[2][:-1]
