"""The rows and the demos of a task's exam."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from proctor.data.streams import MultiStream
from proctor.dialects.lm_eval.code_draws import DEFAULT_SEED
from proctor.dialects.lm_eval.documents import Documents
from proctor.dialects.lm_eval.fields import value_of
from proctor.dialects.lm_eval.functions import load_code
from proctor.dialects.lm_eval.prepared import PreparedTask
from proctor.dialects.lm_eval.samplers import make_sampler
from proctor.errors import DataError
from proctor.ir.question import Ask
from proctor.recipes.exam_parts import Demos
from proctor.recipes.selection import Opened, Selection


class TaskRows:
    """The documents that a task asks about, and those that its demos come from.

    Args:
        task: The task.
    """

    def __init__(self, task: PreparedTask) -> None:
        self._task = task

    def open(self, selection: Selection) -> Opened:
        """Return the documents; the pool only where demos are shown, since its split need not be there otherwise.

        Raises:
            DataError: There is no document.
        """
        del selection
        documents = self._task.documents
        asked = documents.asked()
        if not asked:
            raise self._empty()
        return Opened(asked, lambda: len(asked), documents.shown_pool() if self._task.num_fewshot else ())

    def _empty(self) -> DataError:
        source = self._task.config.source
        return DataError(
            f"the exam '{self._task.name}' has no instance",
            why=f"its split '{self._task.documents.eval_split}' is empty, or process_docs leaves nothing of it",
            location=None if source is None else source.location("dataset_path"),
        )

    def stages(self) -> Iterator[tuple[str, MultiStream]]:
        """Yield the documents as they are loaded, as ``process_docs`` leaves them, and the pool of demos."""
        documents, config = self._task.documents, self._task.config
        split = documents.eval_split
        yield "the dataset is loaded", _streams({split: documents.split(split, None)})
        if config.process_docs is not None:
            yield "process_docs", _streams({split: documents.asked()})
        if self._task.num_fewshot:
            yield "the pool of demos", _streams({split: documents.asked(), "demos": documents.shown_pool()})


def _streams(splits: Mapping[str, Documents]) -> MultiStream:
    return MultiStream.from_generators({name: partial(map, dict, docs) for name, docs in splits.items()})


class TaskDraw:
    """Draws demos as lm-eval does: one stream of random numbers over the documents that are asked about.

    Args:
        task: The task.
    """

    def __init__(self, task: PreparedTask) -> None:
        self._task = task

    def bind(self, opened: Opened, seed: int | None) -> Callable[[Ask, Mapping[str, Any]], Demos]:
        """Return a function from a document to places of its demos in the pool.

        Raises:
            DemosError: There is no such sampler.
            TrustError: The sampler is code, and code is not trusted.
        """
        count, fewshot, documents = self._task.num_fewshot, self._task.config.fewshot, self._task.documents
        if not count:
            return lambda ask, doc: ()
        load_code(self._task.config)
        sampler = make_sampler(
            value_of(fewshot.sampler, "fewshot_config.sampler"),
            opened.pool,
            DEFAULT_SEED if seed is None else seed,
            own_split=fewshot.split == self._task.config.test_split,
            holds_asked=documents.pool_split == documents.eval_split,
            label=self._task.fields.demo.target,
        )
        return lambda ask, doc: tuple(sampler.draw(count, doc))
