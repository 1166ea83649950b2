"""AISBench's inferencers whose model is behind a server (``…icl_inferencer.icl_base_api_inferencer``)."""

from __future__ import annotations

import asyncio
import copy
import queue
import threading
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from proctor.compat.aisbench_names.failures import NOT_MEASURED, failure
from proctor.compat.aisbench_names.inferencer_base import BaseInferencer
from proctor.compat.aisbench_names.message_constants import MESSAGE_TYPE_NUM
from proctor.compat.aisbench_names.outputs import Output, RequestOutput

BLOCK_INTERVAL = 0.005
DEFAULT_SAVE_EVERY_FACTOR = 0.1
"""The share of a batch after which the file of answers is brought up to date."""
DEFAULT_DATA_FETCH_SIZE_FACTOR = 0.1
_WAITING_SECONDS = 0.2  # until a counter looks again whether it is to end


class ApiInferencerConfig:
    """What processes of a load test share; here what :meth:`BaseApiInferencer.set_config` takes over.

    Args:
        global_index: The row that is next.
        global_lock: Who may change it.
        use_timestamp: Whether rows say when they are asked.
        total_data_count: How many rows there are.
    """

    def __init__(
        self, global_index: Any, global_lock: Any, use_timestamp: bool = False, total_data_count: int = 0
    ) -> None:
        self.global_index, self.global_lock = global_index, global_lock
        self.use_timestamp, self.total_data_count = use_timestamp, total_data_count

    def to_dict(self) -> Mapping[str, Any]:
        """Return all of it by name."""
        return dict(self.__dict__)


class StatusCounter(threading.Thread):
    """Counts requests that were sent, answered and failed.

    Args:
        batch_size: How many are under way at once; 0 counts nothing.
    """

    def __init__(self, batch_size: int = 0) -> None:
        super().__init__(daemon=True)
        self.post_req = self.get_req = self.failed_req = self.finish_req = self.case_finish_req = 0
        self.status_queue: Any = queue.Queue(maxsize=batch_size * MESSAGE_TYPE_NUM) if batch_size > 0 else None
        self._stop_event = threading.Event()

    def _note(self, what: str) -> None:
        if self.status_queue is not None:
            self.status_queue.put_nowait(what)

    async def post(self) -> None:
        """Count a request."""
        self._note("post_req")

    async def rev(self) -> None:
        """Count an answer."""
        self._note("get_req")

    async def failed(self) -> None:
        """Count a failure."""
        self._note("failed_req")

    async def finish(self) -> None:
        """Count the end of a request."""
        self._note("finish_req")

    async def case_finish(self) -> None:
        """Count the end of a row."""
        self._note("case_finish_req")

    def stop(self) -> None:
        """Let :meth:`run` end."""
        self._stop_event.set()

    def run(self) -> None:
        """Add up what is counted until :meth:`stop`."""
        while self.status_queue is not None:
            ends = self._stop_event.is_set()
            try:
                what = self.status_queue.get(timeout=_WAITING_SECONDS) if not ends else self.status_queue.get_nowait()
            except queue.Empty:
                if ends:  # what was counted before the end is added up, too
                    break
                continue
            setattr(self, what, getattr(self, what) + 1)


class BaseApiInferencer(BaseInferencer):
    """An inferencer whose model is behind a server.

    Args:
        model_cfg: The model's config.
        batch_size: How many are asked at once.
        mode: ``infer``; ``perf`` and ``pressure`` write times.
        pressure_time: Kept for programs: load tests are not here.
        output_json_filepath: The folder of results.
        save_every: After how many answers the file is brought up to date, at least.
        **kwargs: Kept for programs.
    """

    def __init__(
        self,
        model_cfg: Any,
        batch_size: int | None = 1,
        mode: str = "infer",
        pressure_time: int = 15,
        output_json_filepath: str = "./icl_inference_output",
        save_every: int = 1,
        **kwargs: Any,
    ) -> None:
        super().__init__(model_cfg, batch_size, output_json_filepath)
        self.more = kwargs
        self.save_every = max(save_every, int(self.batch_size * DEFAULT_SAVE_EVERY_FACTOR))
        self.pressure_mode = mode == "pressure"
        self.perf_mode = mode in ("perf", "pressure")
        self.pressure_time = pressure_time
        self.status_counter = StatusCounter()
        self.total_data_count, self.use_timestamp = 0, False

    def set_config(self, config: Any) -> None:
        """Take over what a config says of things that an inferencer has."""
        for key, value in config.to_dict().items():
            if hasattr(self, key):
                setattr(self, key, value)

    async def do_request(self, data: dict[str, Any], token_bucket: Any, session: Any) -> None:
        """Ask one row.

        Raises:
            AISBenchImplementationError: This class is a base.
        """
        del data, token_bucket, session
        raise failure(
            "AISBenchImplementationError", "ICLI_CODES", "UNKNOWN_ERROR", f"{type(self).__name__} needs 'do_request'"
        )

    async def warmup(
        self, data_list: Sequence[dict[str, Any]], warmup_times: int = 1, concurrency: int = 1
    ) -> dict[str, Any]:
        """Ask rows, over and over, before anything is measured, and forget what was said.

        Args:
            data_list: The rows.
            warmup_times: How many requests are sent.
            concurrency: Most at once; as many as are sent where it is 0.

        Returns:
            How many succeeded (``success``) and failed (``failed``), and how often each reason came
            (``failed_reasons``).

        Raises:
            AISBenchRuntimeError: Something that is no answer was reported.
        """
        room = asyncio.Semaphore(concurrency or max(warmup_times, 1))

        async def ask(row: dict[str, Any]) -> None:
            async with room:
                await self.do_request(data=copy.deepcopy(row), token_bucket=None, session=None)

        await asyncio.gather(*(ask(data_list[number % len(data_list)]) for number in range(warmup_times)))
        reasons: dict[str, int] = defaultdict(int)
        succeeded = 0
        while not self.output_handler.cache_queue.sync_q.empty():
            output = self.output_handler.cache_queue.sync_q.get_nowait()[3]
            if not isinstance(output, Output):
                what = f"an answer to a request that warms up is a {type(output).__name__}, and no Output"
                raise failure("AISBenchRuntimeError", "ICLI_CODES", "UNKNOWN_ERROR", what)
            if output.success:
                succeeded += 1
            else:
                reasons[output.error_info] += 1
        return {"success": succeeded, "failed": sum(reasons.values()), "failed_reasons": reasons}

    def inference_with_shm(self, *_: Any, **__: Any) -> Any:
        """Refuse: processes that share memory are those of a load test.

        Raises:
            AISBenchNotImplementedError: Always.
        """
        raise failure("AISBenchNotImplementedError", "ICLI_CODES", "UNKNOWN_ERROR", NOT_MEASURED)

    async def _ask(self, prompt: Any, data: dict[str, Any], session: Any, uid: str, turn: int = 0) -> RequestOutput:
        """Return the answer to a prompt, counted and reported."""
        more = dict(data)
        index, data_abbr, gold = more.pop("index"), more.pop("data_abbr"), more.pop("gold", None)
        limit = more.pop("max_out_len")
        output = RequestOutput(self.perf_mode)
        output.uuid, output.turn_id = uid, turn
        await self.status_counter.post()
        await self.model.generate(prompt, limit, output, session=session, **more)
        await (self.status_counter.rev() if output.success else self.status_counter.failed())
        await self.status_counter.finish()
        await self.output_handler.report_cache_info(index, prompt, output, data_abbr, gold)
        return output
