"""Traces of a server's load as AISBench reads them (``ais_bench.benchmark.datasets.mooncake_trace``): rows to ask.

A trace says when a request came, how long it was and which parts of it others had. Texts of these lengths are cut from
a corpus, by generators derived from one seed as upstream derives them: the same seed gives upstream's texts.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from proctor.compat.aisbench_names.base_datasets import BaseDataset
from proctor.compat.aisbench_names.dataset_helpers import get_data_path
from proctor.compat.aisbench_names.evaluator_base import BaseEvaluator
from proctor.compat.aisbench_names.failures import failure
from proctor.compat.aisbench_names.logger import AISLogger
from proctor.compat.aisbench_names.small_names import load_tokenizer
from proctor.foreign_text import parse_json
from proctor.packages import package_folder
from proctor.safe_files import write_text

logger = AISLogger()
DEFAULT_CORPUS_FILE = "assets/shakespeare.txt"
MAX_CHARS_PER_CHUNK = 10_000
_PACKAGED_CORPUS = "third_party/aiperf/" + DEFAULT_CORPUS_FILE
_WORD = 0xFFFFFFFF


def _wrong(code: str, message: str) -> Exception:
    return failure("ParameterValueError", "DSET_CODES", code, message)


class RNGManager:
    """Generators of random numbers, derived from one seed by names.

    Args:
        root_seed: The seed; ``None`` for generators that nobody can foretell.
    """

    def __init__(self, root_seed: int | None) -> None:
        self._root_seed = root_seed
        if root_seed is not None:
            random.seed(root_seed)
            np.random.seed((root_seed ^ (root_seed >> 32)) & _WORD)  # noqa: NPY002 - what programs draw from

    def derive(self, identifier: str) -> random.Random:
        """Return the generator of a name."""
        if self._root_seed is None:
            return random.Random()
        digest = hashlib.sha256(f"{self._root_seed}:{identifier}".encode()).digest()
        return random.Random(int.from_bytes(digest[:8], byteorder="big"))


_rng_manager: RNGManager | None = None


def init_rng(seed: int | None) -> None:
    """Set the seed that :func:`derive_rng` derives from."""
    global _rng_manager  # noqa: PLW0603 - programs take it back
    _rng_manager = RNGManager(seed)


def derive_rng(identifier: str) -> random.Random:
    """Return the generator of a name.

    Raises:
        AISBenchRuntimeError: There is no seed yet.
    """
    if _rng_manager is None:
        message = "RNG manager not initialized. Call init_rng() first."
        raise failure("AISBenchRuntimeError", "DSET_CODES", "UNKNOWN_ERROR", message)
    return _rng_manager.derive(identifier)


def initialize_corpus(tokenizer: Any, corpus_path: Any) -> list[int]:
    """Return the tokens of a corpus; its lines are put together in pieces, which are encoded one by one."""
    with open(corpus_path, encoding="utf-8") as file:  # noqa: PTH123 - programs replace it
        lines = [line.strip() for line in file if line.strip()]
    pieces: list[list[str]] = [[]]
    for line in lines:
        if sum(map(len, pieces[-1])) >= MAX_CHARS_PER_CHUNK:
            pieces.append([])
        pieces[-1].append(line)
    encoded = (tokenizer.encode(" ".join(piece), add_special_tokens=False) for piece in pieces if piece)
    return [token for tokens in encoded for token in tokens]


class PromptGenerator:
    """Makes texts of a wanted number of tokens.

    Args:
        tokenizer: Gives the text of tokens.
        tokenized_corpus: The tokens that texts are cut from.
        root_seed: Kept for programs: the seed is :func:`init_rng`'s.
        block_size: Tokens of a part that other texts may have, too.
    """

    def __init__(
        self, tokenizer: Any, tokenized_corpus: list[int], root_seed: int | None = None, block_size: int = 512
    ) -> None:
        del root_seed
        self.tokenizer, self.block_size = tokenizer, block_size
        self._tokenized_corpus, self._corpus_size = tokenized_corpus, len(tokenized_corpus)
        self._corpus_rng = derive_rng("dataset.prompt.corpus")
        self._cache: dict[int, list[int]] = {}

    def generate(
        self, mean: int | None = None, stddev: int | None = None, hash_ids: Sequence[int] | None = None
    ) -> Any:
        """Return a text.

        Args:
            mean: How many tokens it has; with a deviation, on average.
            stddev: The deviation.
            hash_ids: Its parts: texts with the same part begin alike.

        Raises:
            ParameterValueError: The parts do not make such a length, or there is no length.
        """
        if hash_ids:
            return self._generate_cached_prompt(mean, hash_ids, self.block_size)
        return self.generate_prompt(self._sample_num_tokens(mean, stddev))

    def generate_prompt(self, num_tokens: int) -> Any:
        """Return a text of so many tokens."""
        return self.tokenizer.decode(self._sample_tokens(num_tokens), skip_special_tokens=False)

    def _sample_tokens(self, num_tokens: int, hash_id: int | None = None) -> list[int]:
        if num_tokens > self._corpus_size:
            return list(self._tokenized_corpus)
        drawn = self._corpus_rng if hash_id is None else derive_rng(f"dataset.prompt.block.{hash_id}")
        start = drawn.randrange(self._corpus_size)
        found = self._tokenized_corpus[start : start + num_tokens]
        return found + self._tokenized_corpus[: num_tokens - len(found)]

    def _sample_num_tokens(self, mean: int | None, stddev: int | None) -> int:
        if mean is None:
            raise _wrong("MISSING_REQUIRED_PARAM", "mean must be provided")
        if not stddev:
            return mean
        lengths = derive_rng("dataset.prompt.length")
        while (value := int(lengths.gauss(mean, stddev))) <= 0:
            pass
        return value

    def _generate_cached_prompt(self, num_tokens: Any, hash_ids: Sequence[int], block_size: int) -> Any:
        last = num_tokens - (len(hash_ids) - 1) * block_size
        if not 0 < last <= block_size:
            raise _wrong(
                "INVALID_PARAM_VALUE",
                f"{num_tokens} tokens cannot be {len(hash_ids)} blocks of {block_size} (Hash IDs: {hash_ids}). "
                f"Final block size: {last} must be > 0 and <= {block_size}",
            )
        tokens: list[int] = []
        for number, hash_id in enumerate(hash_ids, 1):
            if hash_id not in self._cache:
                self._cache[hash_id] = self._block(hash_id, last if number == len(hash_ids) else block_size)
            tokens += self._cache[hash_id]
        return self.tokenizer.decode(tokens, skip_special_tokens=False)

    def _block(self, hash_id: int, size: int) -> list[int]:
        border = getattr(self.tokenizer, "block_separation_token_id", None)
        lead = [] if border is None else [border]
        return lead + self._sample_tokens(size - len(lead), hash_id=hash_id)


class MooncakeTrace:
    """A request of a trace.

    Args:
        data: Its text (``input_text``), or how long it is (``input_length``) and of which parts (``hash_ids``); how
            long its answer may be (``output_length``), and when it came (``timestamp``, in milliseconds).

    Raises:
        ParameterValueError: It has neither a text nor a length, or came at no time that there is.
    """

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.input_text, self.input_length = data.get("input_text"), data.get("input_length")
        self.hash_ids, self.output_length = data.get("hash_ids"), data.get("output_length")
        self.timestamp: Any = data.get("timestamp")
        if self.input_text is None and self.input_length is None:
            raise _wrong("MISSING_REQUIRED_PARAM", "Either 'input_text' or 'input_length' must be provided")
        if self.input_text is not None and self.hash_ids:
            logger.warning("a trace has 'input_text', so its 'hash_ids' are not looked at")
        if self.timestamp and not isinstance(self.timestamp, (float, int)):
            raise _wrong("INVALID_PARAM_VALUE", f"timestamp must be a number, and is {type(self.timestamp)}")
        if self.timestamp and self.timestamp < 0:
            raise _wrong("INVALID_PARAM_VALUE", f"timestamp must be >= 0, and is {self.timestamp}")


def load_mooncake_trace(filename: str) -> list[MooncakeTrace]:
    """Return the requests of a file, a line each.

    Raises:
        ParameterValueError: A line is no request.
    """
    with open(filename, encoding="utf-8") as file:  # noqa: PTH123 - programs replace it
        return [MooncakeTrace(parse_json(line)) for line in file if line.strip()]


def _process_timestamps(
    traces: list[MooncakeTrace], auto_offset: bool = False, start_offset: int = 0, end_offset: int = -1
) -> list[MooncakeTrace]:
    """Return the requests of a span of time, and those that came at no time that is known."""
    timed = [trace for trace in traces if trace.timestamp is not None]
    first = min((trace.timestamp for trace in timed), default=0)
    if auto_offset and first > 0:
        for trace in timed:
            trace.timestamp -= first
    return [
        trace
        for trace in traces
        if trace.timestamp is None
        or (trace.timestamp >= start_offset and (end_offset < 0 or trace.timestamp <= end_offset))
    ]


class MooncakeTraceDataset(BaseDataset):
    """The requests of a trace as rows: ``prompt``, ``max_out_len``, ``answer`` and ``timestamp``, by time."""

    def load(  # type: ignore[override]  # noqa: PLR0917 - upstream's signature
        self,
        path: str,
        model_path: str,
        random_seed: int | None = None,
        generated_prompts_path: str = "",
        fixed_schedule_auto_offset: bool = False,
        fixed_schedule_start_offset: int = 0,
        fixed_schedule_end_offset: int = -1,
        trust_remote_code: bool = False,
    ) -> Any:
        """Return the rows, which are kept in a file beside the trace.

        Args:
            path: The trace.
            model_path: The folder of the tokenizer.
            random_seed: The seed of texts.
            generated_prompts_path: The file that rows are kept in; it is read where it is there.
            fixed_schedule_auto_offset: Whether the first request comes at 0.
            fixed_schedule_start_offset, fixed_schedule_end_offset: The span of time; an end of -1 is no end.
            trust_remote_code: Whether code in the tokenizer's folder may run.

        Raises:
            ParameterValueError: The span ends before it starts, or a request is none.
            AISBenchDataContentError: There is no corpus to cut texts from.
        """
        from datasets import Dataset

        span = (fixed_schedule_auto_offset, fixed_schedule_start_offset, fixed_schedule_end_offset)
        if 0 <= span[2] < span[1]:
            what = f"fixed_schedule_start_offset ({span[1]}) must be <= fixed_schedule_end_offset ({span[2]})"
            raise _wrong("INVALID_PARAM_VALUE", what)
        path = get_data_path(path)
        kept = get_data_path(generated_prompts_path) if generated_prompts_path else _kept_beside(path, *span)
        if os.path.exists(kept):  # noqa: PTH110 - programs replace it
            self.logger.warning("rows are read from %s, where they were kept: without it, they are made anew", kept)
            with open(kept, encoding="utf-8") as file:  # noqa: PTH123
                return Dataset.from_list([parse_json(line) for line in file if line.strip()])
        init_rng(random_seed)
        tokenizer = load_tokenizer(model_path, trust_remote_code=trust_remote_code)
        generator = PromptGenerator(tokenizer, initialize_corpus(tokenizer, _corpus()), root_seed=random_seed)
        rows = _rows(path, span, generator)
        write_text(kept, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
        return Dataset.from_list(rows)


def _rows(path: str, span: tuple[bool, int, int], generator: PromptGenerator) -> list[dict[str, Any]]:
    """Return the requests of a trace within a span of time as rows, by time."""
    traces = load_mooncake_trace(path)
    if span != (False, 0, -1):
        traces = _process_timestamps(traces, *span)
    return sorted((_row(trace, generator) for trace in traces), key=lambda row: row.get("timestamp", float("inf")))


def _row(trace: MooncakeTrace, generator: PromptGenerator) -> dict[str, Any]:
    text = trace.input_text
    if text is None:
        text = generator.generate(mean=trace.input_length, stddev=0, hash_ids=trace.hash_ids or [])
    row = {"prompt": text, "max_out_len": trace.output_length or 1, "answer": "mock_answer"}
    return row if trace.timestamp is None else {**row, "timestamp": trace.timestamp}


def _kept_beside(path: str, auto: bool, start: int, end: int) -> str:
    """Return the file beside a trace that its rows are kept in, called by what is in the trace and by the span."""
    with open(path, "rb") as file:  # noqa: PTH123
        content = hashlib.md5(file.read(), usedforsecurity=False).hexdigest()
    parts = [*(["auto"] if auto else []), *([f"start{start}"] if start else []), *([f"end{end}"] if end != -1 else [])]
    stem, suffix = os.path.splitext(path)  # noqa: PTH122 - texts, as upstream
    return "_".join([f"{stem}_{content}_generated_prompts", *parts]) + suffix


def _corpus() -> Any:
    """Return the corpus: beside this module, where programs put one, or in a folder of AISBench, which is not run.

    Raises:
        AISBenchDataContentError: There is none.
    """
    places = [Path(__file__).parent / DEFAULT_CORPUS_FILE]
    if (folder := package_folder("ais_bench")) is not None:
        places.append(folder / _PACKAGED_CORPUS)
    for place in places:
        if place.exists():
            return place
    message = f"Corpus file not found: {', '.join(map(str, places))}: put a text there"
    raise failure("AISBenchDataContentError", "DSET_CODES", "FILE_NOT_FOUND", message)


class MooncakeTraceEvaluator(BaseEvaluator):
    """Scores nothing: answers to a trace are only timed."""
