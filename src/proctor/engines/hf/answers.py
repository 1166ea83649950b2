"""From requests to batches and back to responses, for models in this process."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import structs

from proctor.engines.decoding import with_defaults
from proctor.engines.encoder import Encoder, Ids, RefusedError, Scorable
from proctor.engines.hf.batches import OUT_OF_MEMORY, Budget, free_memory, is_out_of_memory, run_batches
from proctor.engines.hf.generate import Draft, Written, is_sampled, write
from proctor.engines.hf.loading import LoadedModel
from proctor.engines.hf.packed_scoring import can_pack, score_packed
from proctor.engines.hf.padded_scoring import score_batch
from proctor.engines.hf.pictures import encode_pictures, has_pictures
from proctor.engines.hf.prefix_plan import Limits
from proctor.engines.thoughts import UNKNOWN, Marks, Opening, cut_at, heard, opening_of, token_counter
from proctor.engines.truncation import fitted_prompt, fitted_scorables
from proctor.ir import (
    Answers,
    Decoding,
    Failure,
    Generate,
    Prompt,
    Response,
    Rolling,
    Score,
    Scored,
    Timing,
    Usage,
)
from proctor.randomness import random_stream

if TYPE_CHECKING:
    from proctor.engines.hf.hf_engine import HFEngine  # which imports this module when it is first asked

CPU_TOKENS, GPU_TOKENS = 4096, 32768
"""Tokens per padded batch: enough to keep the device busy, not enough to fill its memory."""

CPU_STEP, GPU_STEP, STEM_STEP = 256, 4096, 2048
"""Tokens per step where prefixes are shared (nothing is padded, but every token of a step is masked against all)."""
_ROW_WORK = 2e12
"""Parameters times tokens of a batch of rows on a GPU: 10 ms at 400 TFLOP/s, about what a host takes to ask for the
kernels of thirty layers. A single row has no use for more tokens: its attention grows with their square."""
CPU_LOGITS, GPU_LOGITS = 2**26, 2**28
"""Numbers that the predictions of one step may fill."""
_TOKENS_OF_A_MARK = 32  # at the end of a prompt: enough for the longest mark, letter by letter
_SMALLEST_STEP = 32  # tokens: where even so few do not fit into memory, sharing prefixes cannot help

_KEY_ENCODER = msgspec.json.Encoder(order="deterministic", enc_hook=repr)


def failed(kind: str, message: str) -> Response:
    """Return a response that says why there is no answer; asking again would not help."""
    return Response(failure=Failure(kind, message, retryable=False))


def budget_of(engine: HFEngine, loaded: LoadedModel) -> Budget:
    """Return how much one padded batch of this engine may hold."""
    default = CPU_TOKENS if loaded.device.type == "cpu" else GPU_TOKENS
    sequences = engine.batch_size if isinstance(engine.batch_size, int) else None
    return Budget(sequences, engine.batch_tokens or default)


def limits_of(engine: HFEngine, loaded: LoadedModel) -> Limits:
    """Return the limits of one step with shared prefixes."""
    on_cpu = loaded.device.type == "cpu"
    tokens = engine.batch_tokens or (CPU_STEP if on_cpu else GPU_STEP)
    lookups = max(_SMALLEST_STEP, (CPU_LOGITS if on_cpu else GPU_LOGITS) // loaded.vocabulary_size)
    sequences = engine.batch_size if isinstance(engine.batch_size, int) else None
    batch = engine.batch_tokens or _row_tokens(loaded) if loaded.device.type == "cuda" and sequences is None else 0
    return Limits(tokens, max(tokens, STEM_STEP), lookups, sequences, batch)


def _row_tokens(loaded: LoadedModel) -> int:
    """Return the tokens of a batch of rows on a GPU: the more, the smaller the model, as far as memory is free."""
    import torch

    config = getattr(loaded.model.config, "text_config", None) or loaded.model.config
    # Activations of one layer and a row of its mask, with room for kernels that keep copies.
    bytes_each = loaded.model.dtype.itemsize * (64 * int(getattr(config, "hidden_size", GPU_STEP)) + GPU_STEP)
    fitting = torch.cuda.mem_get_info(loaded.device)[0] // 4 // bytes_each
    return int(min(max(GPU_STEP, _ROW_WORK / max(1, loaded.num_parameters)), GPU_TOKENS, max(_SMALLEST_STEP, fitting)))


@dataclass(slots=True)
class _Job:
    """A distinct generation request: whom to answer, what to read, and the answers so far."""

    positions: list[int]
    request: Generate
    decoding: Decoding
    ids: Ids
    opening: Opening = UNKNOWN
    media: dict[str, Any] = field(default_factory=dict)
    written: dict[int, Written] = field(default_factory=dict)
    timing: Timing | None = None

    @property
    def draft_count(self) -> int:
        return self.decoding.count if is_sampled(self.decoding) else 1

    def draft(self, number: int) -> Draft:
        stream = None
        if is_sampled(self.decoding):
            stream = random_stream(f"{self.request.key}/{number}", self.decoding.seed)
        return Draft(self.ids, self.decoding.stop, stream, self.media, self.opening)

    def response(self, marks: Marks, tokenizer: Any) -> Response:
        """Return the answers, which begin behind the thoughts and end at stop strings."""
        opening = replace(self.opening, is_shown=True)  # every token was seen
        response = heard(self._written(), marks, opening, token_counter(tokenizer))
        return cut_at(response, self.decoding.stop)

    def _written(self) -> Response:
        answers = [self.written[number % self.draft_count] for number in range(self.decoding.count)]
        return Response(
            texts=tuple(answer.text for answer in answers),
            finish_reasons=tuple(answer.reason for answer in answers),
            tokens=tuple(answer.tokens for answer in answers if answer.tokens),
            usage=Usage(len(self.ids), sum(answer.token_count for answer in self.written.values())),
            timing=self.timing or Timing(),
        )


class Writer:
    """Answers generation requests, one window at a time."""

    def __init__(self, engine: HFEngine, loaded: LoadedModel, encoder: Encoder) -> None:
        self._engine, self._loaded, self._encoder = engine, loaded, encoder
        self._budget = budget_of(engine, loaded)
        self._marks = engine.marks_for(loaded.tokenizer)
        self._defaults = dict(engine.decoding_defaults())
        # A default must not make requests impossible that name no limit.
        limits = (self._defaults.get("max_tokens") or engine.max_new_tokens, max(1, encoder.max_length // 2))
        self._defaults["max_tokens"] = min(limits)

    def answer(self, window: Sequence[Generate]) -> Answers:
        """Yield a response for every request of a window; equal requests are answered once."""
        same: dict[str, list[int]] = defaultdict(list)
        for position, request in enumerate(window):
            same[request.key].append(position)
        jobs, refused = self._jobs([(positions, window[positions[0]]) for positions in same.values()])
        for positions, response in refused:
            yield from ((position, response) for position in positions)
        groups: dict[bytes, list[_Job]] = defaultdict(list)
        for job in jobs:
            groups[_KEY_ENCODER.encode((_shared(job.decoding), bool(job.media)))].append(job)
        for group in groups.values():
            yield from self._answer_group(group)

    def _jobs(
        self, distinct: Sequence[tuple[list[int], Generate]]
    ) -> tuple[list[_Job], list[tuple[list[int], Response]]]:
        """Return what can be answered, and refusals for the rest. All strings are encoded at once."""
        refused: list[tuple[list[int], Response]] = []
        texts: list[tuple[_Job, str]] = []
        jobs: list[_Job] = []
        for positions, request in distinct:
            decoding = self._engine.with_allowance(with_defaults(request.decoding, self._defaults))
            job = _Job(positions, request, decoding, [])
            try:
                if self._shows_pictures(request.prompt):
                    job.ids, job.media = encode_pictures(self._loaded.processor, self._encoder, request.prompt.messages)
                    job.ids = self._fit(job)
                    end = self._loaded.tokenizer.decode(job.ids[-_TOKENS_OF_A_MARK:])
                    job.opening = opening_of(str(end), self._marks)
                    jobs.append(job)
                else:
                    text = self._encoder.text_of(request.prompt, job.decoding.extra.get("tools"))
                    job.opening = opening_of(text, self._marks)
                    texts.append((job, text))
            except RefusedError as error:
                refused.append((positions, failed(error.kind, str(error))))
        encoded = self._encoder.encode_prompts([text for _, text in texts])
        for (job, _), ids in zip(texts, encoded, strict=True):
            job.ids = ids
            try:
                job.ids = self._fit(job)
                jobs.append(job)
            except RefusedError as error:
                refused.append((job.positions, failed(error.kind, str(error))))
        return jobs, refused

    def _shows_pictures(self, prompt: Prompt) -> bool:
        return self._loaded.processor is not None and prompt.is_chat and has_pictures(prompt.messages)

    def _fit(self, job: _Job) -> Ids:
        """Return a prompt that leaves room for its answer; one with pictures is never cut."""
        truncate = "none" if job.media else self._engine.truncate
        tools = job.decoding.extra.get("tools")
        return fitted_prompt(self._encoder, job.request.prompt, job.ids, job.decoding.max_tokens or 0, truncate, tools)

    def _answer_group(self, group: Sequence[_Job]) -> Answers:
        decoding = group[0].decoding
        drafts = [(job, number) for job in group for number in range(job.draft_count)]
        room = (decoding.max_tokens or 0) if self._encoder.joined else 0

        def run(batch: Sequence[tuple[_Job, int]]) -> list[Written]:
            started, clock = time.time(), time.perf_counter()
            written = write(self._loaded, [job.draft(number) for job, number in batch], decoding, self._marks)
            timing = Timing(started, time.perf_counter() - clock)
            for job, _ in batch:
                job.timing = timing
            return written

        budget = Budget(1, 1) if group[0].media else self._budget
        try:
            for (job, number), written in run_batches(drafts, lambda d: len(d[0].ids) + room, budget, run):
                if written is None:
                    yield from ((position, failed("out_of_memory", OUT_OF_MEMORY)) for position in job.positions)
                    continue
                job.written[number] = written
                if len(job.written) == job.draft_count:
                    response = job.response(self._marks, self._loaded.tokenizer)
                    yield from ((position, response) for position in job.positions)
        except RefusedError as error:
            for job in group:
                yield from ((position, failed(error.kind, str(error))) for position in job.positions)


def _shared(decoding: Decoding) -> Decoding:
    """Return what the rows of one batch must have in common."""
    return structs.replace(decoding, stop=(), seed=None, count=1)


@dataclass(slots=True)
class _Sum:
    """A request to score: where its pairs (or windows) are among the distinct sequences, and what is known."""

    position: int
    parts: list[int]
    rolled: bool
    tokens: int
    missing: int

    def response(self, known: dict[int, Scored], timing: Timing) -> Response:
        scores = tuple(known[part] for part in self.parts)
        if self.rolled:
            total = sum(score.log_likelihood for score in scores)
            greedy = all(score.is_greedy for score in scores)
            scores = (Scored(total, greedy, sum(score.token_count for score in scores)),)
        return Response(scores=scores, usage=Usage(self.tokens), timing=timing)


class Scorer:
    """Answers requests for log-likelihoods, one window at a time."""

    def __init__(self, engine: HFEngine, loaded: LoadedModel, encoder: Encoder) -> None:
        self._engine, self._loaded, self._encoder = engine, loaded, encoder
        self._budget = budget_of(engine, loaded)
        self._limits = limits_of(engine, loaded)

    def answer(self, window: Sequence[Score]) -> Answers:
        """Yield a response for every request of a window; equal sequences are read once."""
        sequences: dict[Scorable, int] = {}
        waiting: dict[int, list[_Sum]] = defaultdict(list)
        for position, found in enumerate(fitted_scorables(self._encoder, window, self._engine.truncate)):
            if isinstance(found, RefusedError):
                yield position, failed(found.kind, str(found))
                continue
            parts = [sequences.setdefault(each, len(sequences)) for each in found]
            tokens = sum(len(each.inputs) for each in found)
            entry = _Sum(position, parts, isinstance(window[position], Rolling), tokens, len(set(parts)))
            for part in dict.fromkeys(parts):
                waiting[part].append(entry)
        yield from self._collect(list(sequences), waiting)

    def _collect(self, sequences: Sequence[Scorable], waiting: dict[int, list[_Sum]]) -> Answers:
        known: dict[int, Scored] = {}
        dead: set[int] = set()
        started, clock = time.time(), time.perf_counter()
        for index, score in self._scores(sequences):
            if score is not None:
                known[index] = score
            for entry in waiting.pop(index):
                entry.missing -= 1
                if score is None and entry.position not in dead:
                    dead.add(entry.position)
                    yield entry.position, failed("out_of_memory", OUT_OF_MEMORY)
                elif not entry.missing and entry.position not in dead:
                    yield entry.position, entry.response(known, Timing(started, time.perf_counter() - clock))

    def _scores(self, sequences: Sequence[Scorable]) -> Iterator[tuple[int, Scored | None]]:
        left = dict.fromkeys(range(len(sequences)))
        for index, score in self._packed(sequences) if self._may_pack() else ():
            del left[index]
            yield index, score

        def run(batch: Sequence[int]) -> list[Scored]:
            return score_batch(self._loaded, [sequences[index] for index in batch])

        yield from run_batches(list(left), lambda index: len(sequences[index].inputs), self._budget, run)

    def _may_pack(self) -> bool:
        if not self._engine.share_prefixes:
            return False
        if self._loaded.packs is None:
            self._loaded.packs = can_pack(self._loaded, self._limits)
        return self._loaded.packs

    def _packed(self, sequences: Sequence[Scorable]) -> Iterator[tuple[int, Scored]]:
        """Score with shared prefixes; what does not fit in memory even in small steps is left over."""
        left = list(range(len(sequences)))
        while left and self._limits.tokens >= _SMALLEST_STEP:
            done: set[int] = set()
            try:
                for place, score in score_packed(self._loaded, [sequences[index] for index in left], self._limits):
                    done.add(place)
                    yield left[place], score
            except RuntimeError as error:
                if not is_out_of_memory(error):
                    raise
                self._limits = self._limits.halved()
                free_memory()
            left = [index for place, index in enumerate(left) if place not in done]
