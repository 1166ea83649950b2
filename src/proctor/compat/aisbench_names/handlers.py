"""What collects the answers of an inferencer and writes them down (``…output_handler.base_handler``)."""
# ruff: noqa: A002 - upstream's names of arguments

from __future__ import annotations

import contextlib
import json
import os
import queue
import shutil
import sqlite3
import uuid
from collections import defaultdict
from pathlib import Path
from typing import Any

from proctor.compat.aisbench_names import error_codes
from proctor.compat.aisbench_names import exceptions as errors
from proctor.compat.aisbench_names.array_store import init_db, save_numpy_to_db
from proctor.compat.aisbench_names.logger import AISLogger
from proctor.compat.aisbench_names.outputs import Output
from proctor.compat.aisbench_names.result_files import safe_write

DB_REF_KEY = "__db_ref__"
DB_DATA_DIR = "db_data"
BASE64_MAX_DISPLAY_LEN = 256
"""Characters of a picture that a line of predictions shows."""
_WAITING_SECONDS = 1.0  # until the consumer looks again whether it was told to stop
_Results = defaultdict[str, dict[str, Any]]


class _Answers:
    """A queue that is filled from both sides; upstream has one for each."""

    def __init__(self) -> None:
        self.sync_q: Any = queue.Queue()
        self.async_q: Any = self.sync_q


class BaseInferencerOutputHandler:
    """Answers in a queue, and where they are written.

    Args:
        perf_mode: Whether times are kept rather than words.
        save_every: After how many answers the file on disk is brought up to date.
    """

    def __init__(self, perf_mode: bool = False, save_every: int = 100) -> None:
        self.logger = AISLogger()
        self.results_dict: _Results = defaultdict(dict)
        self.failed_results_dict: _Results = defaultdict(dict)
        self.cache_queue = _Answers()
        self.perf_mode, self.save_every, self.all_success = perf_mode, save_every, True

    def get_prediction_result(
        self,
        output: Any,
        gold: Any = None,
        input: Any = None,
        data_abbr: str = "",
    ) -> dict[str, Any]:
        """Return the line of an answer.

        Raises:
            AISBenchImplementationError: This class is a base.
        """
        del output, gold, input, data_abbr
        code = error_codes.ICLI_CODES.UNKNOWN_ERROR  # type: ignore[attr-defined]
        raise errors.AISBenchImplementationError(code, f"{type(self).__name__} needs a method 'get_prediction_result'")  # type: ignore[attr-defined]

    def get_result(
        self,
        conn: sqlite3.Connection,
        data_abbr: str,
        input: Any,
        output: Any,
        gold: Any = None,
    ) -> dict[str, Any]:
        """Return what is kept of an answer: times in performance mode, otherwise prompt and words."""
        if self.perf_mode and isinstance(output, Output):
            found = self._extract_and_write_arrays(output.get_metrics(), conn)
        elif isinstance(output, str):
            found = {"success": True, "uuid": uuid.uuid4().hex[:8], "origin_prompt": input, "prediction": output}
            found |= {"gold": gold} if gold else {}
        else:
            found = self.get_prediction_result(output, gold=gold, input=input, data_abbr=data_abbr)
        if not found.get("success", True):
            self.all_success = False
            found["error_info"] = getattr(output, "error_info", "nothing is known of it")
            self.logger.debug("%s failed: %s", getattr(output, "uuid", data_abbr), found["error_info"])
        return dict(found)

    def write_to_json(self, save_dir: str, perf_mode: bool) -> None:
        """Write what was collected: a file of lines for each dataset, one more for what failed.

        Args:
            save_dir: The folder.
            perf_mode: Whether they are times, whose files have another name.

        Raises:
            ParameterValueError: The folder has no name.
            FileOperationError: It cannot be written.
        """
        if not isinstance(save_dir, str) or not save_dir.strip():
            code = error_codes.ICLI_CODES.UNKNOWN_ERROR  # type: ignore[attr-defined]
            raise errors.ParameterValueError(code, f"'save_dir' names a folder, and {save_dir!r} does not")  # type: ignore[attr-defined]
        ending = "_details.jsonl" if perf_mode else ".jsonl"
        try:
            Path(save_dir).mkdir(parents=True, exist_ok=True)
            for results, end in ((self.results_dict, ending), (self.failed_results_dict, "_failed.jsonl")):
                for data_abbr, lines in results.items():
                    if lines:
                        safe_write(lines, Path(save_dir) / f"{data_abbr}{end}")
        except Exception as error:
            code = error_codes.ICLI_CODES.INFER_RESULT_WRITE_ERROR  # type: ignore[attr-defined]
            raise errors.FileOperationError(code, f"results cannot be written to {save_dir}: {error}") from error  # type: ignore[attr-defined]

    async def report_cache_info(self, id: int, input: Any, output: Any, data_abbr: str, gold: Any = None) -> bool:
        """Put an answer into the queue; whether it could be put there."""
        return self._put(self.cache_queue.async_q, (id, data_abbr, input, output, gold))

    def report_cache_info_sync(self, id: int, input: Any, output: Any, data_abbr: str, gold: Any = None) -> bool:
        """Put an answer into the queue; whether it could be put there."""
        return self._put(self.cache_queue.sync_q, (id, data_abbr, input, output, gold))

    def _put(self, waiting: Any, item: tuple[Any, ...]) -> bool:
        try:
            waiting.put_nowait(item)
        except Exception as error:  # noqa: BLE001 - whatever queue a program gave: the caller is told
            self.logger.warning("an answer of %s is lost: %s", item[1], error)
            return False
        return True

    def _extract_and_write_arrays(self, obj: Any, conn: sqlite3.Connection) -> Any:
        """Return a value that JSON can hold; arrays go to the file of arrays, and leave their number."""
        import numpy as np

        if obj is None or isinstance(obj, bool | int | float | str | list | tuple):
            return obj
        if isinstance(obj, np.ndarray):
            return self._reference(obj, conn)
        if isinstance(obj, dict):
            return {str(key): self._extract_and_write_arrays(each, conn) for key, each in obj.items()}
        with contextlib.suppress(TypeError, ValueError):
            json.dumps(obj, ensure_ascii=False)
            return obj
        return self._words(obj)

    def _reference(self, array: Any, conn: sqlite3.Connection) -> dict[str, int] | None:
        try:
            return {DB_REF_KEY: save_numpy_to_db(conn, array, self.save_every)}
        except Exception as error:  # noqa: BLE001 - upstream's promise: the line is written without it
            self.logger.warning("an array cannot be kept, and is left out: %s", error)
            return None

    def _words(self, obj: Any) -> str | None:
        try:
            return str(obj)
        except Exception as error:  # noqa: BLE001 - an object of a program
            self.logger.warning("a value has no words, and is left out: %s", error)
            return None

    def run_cache_consumer(self, save_dir: str, file_name: str, perf_mode: bool, save_every: int = 1) -> None:
        """Take answers out of the queue until there is ``None``, and keep them in a file until all are written.

        Args:
            save_dir: The folder.
            file_name: The file; it goes where every answer succeeded.
            perf_mode: Whether times are kept.
            save_every: After how many answers the file is brought up to date.
        """
        folder = Path(save_dir)
        folder.mkdir(parents=True, exist_ok=True)
        arrays = folder / f"{Path(file_name).stem}.db"
        name = arrays.name.replace("tmp_", "")
        conn = init_db(arrays)
        waiting: dict[int, Any] = {}
        safe_write({}, folder / file_name)
        for item in iter(self._next, None):
            line = self._line(item, conn, name if perf_mode else None)
            if line is not None:
                waiting[len(waiting)] = line
            if len(waiting) == save_every:
                safe_write(waiting, folder / file_name)
                waiting = {}
        safe_write(waiting, folder / file_name)
        conn.commit()
        conn.close()
        self._tidy(folder, file_name, arrays, name if perf_mode else None)

    def _next(self) -> Any:
        while True:
            try:
                return self.cache_queue.sync_q.get(timeout=_WAITING_SECONDS)
            except queue.Empty:
                continue

    def _line(self, item: tuple[Any, ...], conn: sqlite3.Connection, arrays: str | None) -> dict[str, Any] | None:
        number, data_abbr, asked = item[:3]
        try:
            found = self.get_result(conn, *item[1:])
            line = {"data_abbr": data_abbr, "id": number, **found, **({"db_name": arrays} if arrays else {})}
            json.dumps(line)
        except Exception as error:  # noqa: BLE001 - the others go on; this one is counted as failed
            self.logger.warning("the answer to %s of %s cannot be kept: %s", number, data_abbr, error)
            found = line = {"success": False, "error_info": str(error)}
            self.all_success = False
        key = uuid.uuid4().hex[:8]
        if arrays or found["success"]:
            self.results_dict[data_abbr][key] = line
        if not found["success"]:
            failed = {"data_abbr": data_abbr, "id": number, "input": asked, "error_info": found["error_info"]}
            self.failed_results_dict[data_abbr][key] = failed
        return line if "id" in line else None

    def _tidy(self, folder: Path, file_name: str, arrays: Path, kept_as: str | None) -> None:
        if kept_as is None:
            arrays.unlink(missing_ok=True)
        elif arrays.exists():
            (folder.parent / DB_DATA_DIR).mkdir(exist_ok=True)
            shutil.move(arrays, folder.parent / DB_DATA_DIR / kept_as)
        if self.all_success:
            (folder / file_name).unlink(missing_ok=True)
        else:
            self.logger.warning("some answers failed; all of them stay in %s", folder / file_name)
        with contextlib.suppress(OSError):  # others write there
            os.rmdir(folder)  # noqa: PTH106 - only where it is empty

    def stop_cache_consumer(self) -> None:
        """Tell :meth:`run_cache_consumer` that there are no more answers.

        Raises:
            AISBenchRuntimeError: It cannot be told.
        """
        try:
            self.cache_queue.sync_q.put(None)
        except Exception as error:
            code = error_codes.ICLI_CODES.UNKNOWN_ERROR  # type: ignore[attr-defined]
            raise errors.AISBenchRuntimeError(code, f"the consumer of answers cannot be stopped: {error}") from error  # type: ignore[attr-defined]
