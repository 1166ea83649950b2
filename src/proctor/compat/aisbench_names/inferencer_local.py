"""AISBench's inferencers that ask in batches (``…icl_inferencer.icl_base_local_inferencer``)."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from proctor.compat.aisbench_names.failures import failure
from proctor.compat.aisbench_names.inferencer_base import BaseInferencer
from proctor.compat.aisbench_names.retrievers import BaseRetriever


class BaseLocalInferencer(BaseInferencer):
    """An inferencer that asks in batches, in this process."""

    save_every = 1

    def batch_inference(self, datum: dict[str, Any]) -> None:
        """Ask some rows at once: override it.

        Raises:
            AISBenchImplementationError: This class is a base.
        """
        del datum
        what = f"{type(self).__name__} needs a method 'batch_inference'"
        raise failure("AISBenchImplementationError", "ICLI_CODES", "UNKNOWN_ERROR", what)

    def inference(self, retriever: Any, output_json_filepath: str | None = None) -> None:
        """Ask all rows of a retriever, or of several, and write the answers to a folder.

        Raises:
            ParameterValueError: It is not a retriever.
        """
        listed = retriever if isinstance(retriever, list) else [retriever]
        if not all(isinstance(each, BaseRetriever) for each in listed):
            what = f"a retriever or a list of them is needed, and {type(retriever).__name__} is neither"
            raise failure("ParameterValueError", "ICLI_CODES", "INVALID_PARAM_VALUE", what)
        folder = Path(output_json_filepath or self.get_output_dir())
        name = f"tmp_{time.strftime('%Y%m%d%H%M%S')}_{uuid.uuid4().hex[:8]}.jsonl"
        told = (str(folder / "tmp"), name, self.perf_mode, self.save_every)
        consumer = threading.Thread(target=self.output_handler.run_cache_consumer, args=told)
        consumer.start()
        try:
            self._ask_all(
                self.get_dataloader([row for each in listed for row in self.get_data_list(each)], self.batch_size)
            )
        finally:
            self.output_handler.stop_cache_consumer()
            consumer.join()
        if self.is_main_process:
            self.output_handler.write_to_json(str(folder), self.perf_mode)

    def _ask_all(self, batches: Sequence[dict[str, Any]]) -> None:
        self._tell(total_count=len(batches), progress_description="Infer progress", finish_count=0)
        for count, batch in enumerate(batches, 1):
            self.batch_inference(batch)
            self._tell(status="inferencing", finish_count=count, other_kwargs={"batch_size": self.batch_size})

    def _tell(self, **state: Any) -> None:
        if self.task_state_manager is not None and self.is_main_process:
            self.task_state_manager.update_task_state(state)

    @staticmethod
    def get_dataloader(datalist: Sequence[Mapping[str, Any]], batch_size: int) -> list[dict[str, Any]]:
        """Return batches of rows, each as lists by key."""
        batches = [datalist[start : start + batch_size] for start in range(0, len(datalist), batch_size)]
        return [{key: [row[key] for row in batch] for key in batch[0]} for batch in batches]
