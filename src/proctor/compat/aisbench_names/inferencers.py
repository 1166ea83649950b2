"""AISBench's inferencers as programs drive them: prompts of a retriever, a model, answers that are written down.

Exams are asked by Proctor's own pipeline; these classes serve programs that hold a retriever and a model. They ask one
after the other (or all of a batch at once), and write what ``ais_bench`` writes. Load tests are not here.
"""

from __future__ import annotations

import asyncio
import copy
import os
import queue
import threading
import time
import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from proctor.compat.aisbench_names import error_codes
from proctor.compat.aisbench_names import exceptions as errors
from proctor.compat.aisbench_names.builders import build_model_from_cfg
from proctor.compat.aisbench_names.config_files import load_jsonl
from proctor.compat.aisbench_names.handlers import BaseInferencerOutputHandler, GenInferencerOutputHandler
from proctor.compat.aisbench_names.logger import AISLogger
from proctor.compat.aisbench_names.naming import model_abbr_from_cfg
from proctor.compat.aisbench_names.outputs import RequestOutput
from proctor.compat.aisbench_names.result_files import safe_write
from proctor.compat.opencompass_names.prompting import BaseRetriever, get_round_index
from proctor.templates import PromptList

MAX_BATCH_SIZE = 100_000
_SAVED_SHARE = 0.1  # of a batch: upstream's default
_ROOM = 5  # batches of messages that a counter holds


def _error(kind: str, code: str, message: str) -> Exception:
    made: Exception = getattr(errors, kind)(getattr(error_codes.ICLI_CODES, code), message)  # type: ignore[attr-defined]
    return made


class BaseInferencer:
    """A model, and where its answers go.

    Args:
        model_cfg: The model's config.
        batch_size: How many are asked together.
        output_json_filepath: The folder of results.

    Raises:
        ParameterValueError: The batch is empty, or too large.
    """

    def __init__(
        self, model_cfg: Any, batch_size: int | None = 1, output_json_filepath: str = "./icl_inference_output"
    ) -> None:
        self.logger = AISLogger()
        self.model_cfg, self.output_json_filepath = model_cfg, output_json_filepath
        self.batch_size = int(batch_size) if batch_size else 1
        if not 1 <= self.batch_size <= MAX_BATCH_SIZE:
            what = f"batch_size is {self.batch_size}, and must be in [1, {MAX_BATCH_SIZE}]"
            raise _error("ParameterValueError", "BATCH_SIZE_OUT_OF_RANGE", what)
        self.model: Any = build_model_from_cfg(model_cfg)
        self.output_handler = BaseInferencerOutputHandler()
        self.is_main_process = self._is_main_process()
        self.perf_mode = False
        self.task_state_manager: Any = None

    def get_data_list(self, retriever: Any) -> list[dict[str, Any]]:
        """Return what is asked.

        Raises:
            AISBenchImplementationError: This class is a base.
        """
        del retriever
        raise _error("AISBenchImplementationError", "UNKNOWN_ERROR", f"{type(self).__name__} needs 'get_data_list'")

    def set_task_state_manager(self, task_state_manager: Any) -> None:
        """Say who is told of progress."""
        self.task_state_manager = task_state_manager

    def get_output_dir(self, output_json_filepath: str | None = None) -> str:
        """Return the folder of this model's answers."""
        top = self.output_json_filepath if output_json_filepath is None else output_json_filepath
        kind = "performances" if self.perf_mode else "predictions"
        return os.path.join(top, kind, model_abbr_from_cfg(self.model_cfg))  # noqa: PTH118 - texts, as upstream

    def get_finish_data_list(self) -> dict[str, dict[str, dict[str, Any]]]:
        """Return the answers that are there already, by dataset and uuid; those of a stopped run join their file."""
        folder = Path(self.get_output_dir())
        if self.perf_mode or not folder.is_dir():
            return {}
        found: dict[str, dict[str, dict[str, Any]]] = defaultdict(dict)
        for path in sorted(folder.glob("*.jsonl")):
            found[path.name.split(".")[0]] = {line["uuid"]: line for line in _succeeded(path)}
        late: dict[str, dict[str, Any]] = defaultdict(dict)
        for path in sorted((folder / "tmp").glob("*.jsonl")):
            for line in _succeeded(path):
                if line["uuid"] not in found[line["data_abbr"]]:
                    late[line["data_abbr"]][line["uuid"]] = line
                found[line["data_abbr"]][line["uuid"]] = line
        for data_abbr, lines in late.items():
            safe_write(lines, folder / f"{data_abbr}.jsonl")
        return found

    def _is_main_process(self) -> bool:
        return int(os.environ.get("RANK", "0")) == 0


def _succeeded(path: Path) -> Iterable[dict[str, Any]]:
    return (line for line in load_jsonl(path) if line.get("success"))


class StatusCounter(threading.Thread):
    """Counts requests that were sent, answered and failed.

    Args:
        batch_size: How many are under way at once; 0 counts nothing.
    """

    def __init__(self, batch_size: int = 0) -> None:
        super().__init__(daemon=True)
        self.post_req = self.get_req = self.failed_req = self.finish_req = self.case_finish_req = 0
        self.status_queue: Any = queue.Queue(maxsize=batch_size * _ROOM) if batch_size > 0 else None
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
        while self.status_queue is not None and not self._stop_event.is_set():
            try:
                what = self.status_queue.get(timeout=0.2)
            except queue.Empty:
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
        self.save_every = max(save_every, int(self.batch_size * _SAVED_SHARE))
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
        raise _error("AISBenchImplementationError", "UNKNOWN_ERROR", f"{type(self).__name__} needs 'do_request'")

    async def warmup(self, data_list: Sequence[dict[str, Any]], warmup_times: int = 1, concurrency: int = 1) -> None:
        """Nothing: a server is warm when it is asked; only load tests need it."""
        del data_list, warmup_times, concurrency

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


class BaseLocalInferencer(BaseInferencer):
    """An inferencer that asks in batches, in this process."""

    save_every = 1

    def batch_inference(self, datum: dict[str, Any]) -> None:
        """Ask some rows at once: override it.

        Raises:
            AISBenchImplementationError: This class is a base.
        """
        del datum
        raise _error("AISBenchImplementationError", "UNKNOWN_ERROR", f"{type(self).__name__} needs 'batch_inference'")

    def inference(self, retriever: Any, output_json_filepath: str | None = None) -> None:
        """Ask all rows of a retriever, or of several, and write the answers to a folder.

        Raises:
            ParameterValueError: It is not a retriever.
        """
        listed = retriever if isinstance(retriever, list) else [retriever]
        if not all(isinstance(each, BaseRetriever) for each in listed):
            what = f"a retriever or a list of them is needed, and {type(retriever).__name__} is neither"
            raise _error("ParameterValueError", "INVALID_PARAM_VALUE", what)
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


def _asked_rows(prompts: Sequence[Any], retriever: Any, model: Any, logger: AISLogger) -> list[dict[str, Any]]:
    """Return what is asked: prompts with dataset, position, limit and, where there is one, the right answer."""
    rows = [
        {"prompt": each, "data_abbr": retriever.dataset.abbr, "index": place, "max_out_len": model.max_out_len}
        for place, each in enumerate(prompts)
    ]
    for row, gold in zip(rows, retriever.get_gold_ans() or (), strict=False):
        row["gold"] = gold
    limits = retriever.dataset_reader.get_max_out_len()
    if limits is not None:
        logger.info("rows say how long their answers may be")
        for row, limit in zip(rows, limits, strict=False):
            row["max_out_len"] = limit or model.max_out_len
    return rows


_MILLISECONDS = 1_000


class GenInferencer(BaseApiInferencer, BaseLocalInferencer):
    """Asks for answers in words.

    Args:
        model_cfg: The model's config.
        stopping_criteria: Kept: AISBench sends none of them.
        batch_size: How many are asked at once.
        mode: As of :class:`BaseApiInferencer`.
        gen_field_replace_token: What stands where the answer would.
        output_json_filepath: The folder of results.
        save_every: As of :class:`BaseApiInferencer`.
        **kwargs: As of :class:`BaseApiInferencer`.
    """

    def __init__(
        self,
        model_cfg: Any,
        stopping_criteria: Sequence[str] = (),
        batch_size: int | None = 1,
        mode: str = "infer",
        gen_field_replace_token: str = "",
        output_json_filepath: str = "./icl_inference_output",
        save_every: int = 1,
        **kwargs: Any,
    ) -> None:
        named = {"output_json_filepath": output_json_filepath, "save_every": save_every, **kwargs}
        super().__init__(model_cfg, batch_size, mode, **named)
        self.stopping_criteria = list(stopping_criteria or ())
        self.gen_field_replace_token = gen_field_replace_token or ""
        self.output_handler = GenInferencerOutputHandler(perf_mode=self.perf_mode, save_every=self.save_every)

    def _prompts(self, retriever: Any) -> list[Any]:
        return [
            retriever.generate_prompt_for_generate_task(
                place, retriever.generate_ice(chosen), gen_field_replace_token=self.gen_field_replace_token
            )
            for place, chosen in enumerate(retriever.retrieve())
        ]

    def get_data_list(self, retriever: Any) -> list[dict[str, Any]]:
        """Return what is asked: prompts as the model wants them, with limits, right answers and times."""
        prompts = [self.model.parse_template(each, mode="gen") for each in self._prompts(retriever)]
        rows = _asked_rows(prompts, retriever, self.model, self.logger)
        for row, at in zip(rows, retriever.dataset_reader.get_timestamp() or (), strict=False):
            if isinstance(at, int | float):
                row["timestamp"] = at / _MILLISECONDS
        return rows

    async def do_request(self, data: dict[str, Any], token_bucket: Any, session: Any) -> None:
        """Ask one row."""
        del token_bucket  # of load tests
        data = copy.deepcopy(data)
        await self._ask(data.pop("prompt"), data, session, uuid.uuid4().hex)
        await self.status_counter.case_finish()

    def batch_inference(self, datum: dict[str, Any]) -> None:
        """Ask some rows at once."""
        places, prompts = datum.pop("index"), datum.pop("prompt")
        names, limits = datum.pop("data_abbr"), datum.pop("max_out_len")
        golds = datum.pop("gold", [None] * len(prompts))
        limit = limits if self.model.is_api else self.model.max_out_len
        answers = self.model.generate(prompts, limit, **datum)
        for place, asked, said, name, gold in zip(places, prompts, answers, names, golds, strict=False):
            self.output_handler.report_cache_info_sync(place, asked, said, name, gold)


class MultiTurnGenInferencer(GenInferencer):
    """Asks dialogues of several turns.

    Args:
        model_cfg: The model's config.
        infer_mode: ``every`` (each turn sees what the model said before), ``every_with_gt`` (the right answers), or
            ``last`` (the last turn alone, after the right answers).
        **settings: As of :class:`GenInferencer`.
    """

    def __init__(self, model_cfg: Any, *arguments: Any, infer_mode: str = "every", **settings: Any) -> None:
        super().__init__(model_cfg, *arguments, **settings)
        self.infer_mode = infer_mode

    def get_data_list(self, retriever: Any) -> list[dict[str, Any]]:
        """Return what is asked: dialogues as their templates made them."""
        return _asked_rows(self._prompts(retriever), retriever, self.model, self.logger)

    async def do_request(self, data: dict[str, Any], token_bucket: Any, session: Any) -> None:
        """Ask the turns of one row.

        Raises:
            ParameterValueError: There is no such mode.
        """
        del token_bucket  # of load tests
        modes = {"every": self.infer_every, "last": self.infer_last, "every_with_gt": self.infer_every_with_gt}
        if self.infer_mode not in modes:
            what = f"infer_mode is '{self.infer_mode}', and must be every, every_with_gt or last"
            raise _error("ParameterValueError", "MULTITRUN_MODE_OUT_OF_RANGE", what)
        await modes[self.infer_mode](data, session)
        await self.status_counter.case_finish()

    async def infer_last(self, data: dict[str, Any], session: Any) -> None:
        """Ask the last turn, after the right answers to the others."""
        await self._turns(data, session, keeps=False, last=True)

    async def infer_every(self, data: dict[str, Any], session: Any) -> None:
        """Ask every turn, after what the model said before; a failure ends the dialogue."""
        await self._turns(data, session, keeps=True)

    async def infer_every_with_gt(self, data: dict[str, Any], session: Any) -> None:
        """Ask every turn, after the right answers; a failure ends the dialogue."""
        await self._turns(data, session, keeps=False)

    async def _turns(self, data: dict[str, Any], session: Any, *, keeps: bool, last: bool = False) -> None:
        data = copy.deepcopy(data)
        dialogue, uid = data.pop("prompt"), uuid.uuid4().hex
        start, end = get_round_index(dialogue)
        left, chat, right = dialogue[:start], dialogue[start:end], dialogue[end:]
        limits = data.pop("max_out_len")
        places = [place for place, each in enumerate(chat) if each["role"] == "BOT"]
        for turn, place in enumerate(places[-1:] if last else places):
            asked = PromptList([*left, *chat[:place], *right])
            prompt = await asyncio.to_thread(self.model.parse_template, asked, mode="gen")
            limit = limits[-1 if last else turn] if isinstance(limits, list) else limits
            output = await self._ask(prompt, {**data, "max_out_len": limit}, session, uid, turn)
            if not output.success:
                break
            if keeps:
                chat[place]["prompt"] = output.content
