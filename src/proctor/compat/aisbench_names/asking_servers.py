"""Asks a server for everything that an inferencer has to ask, and writes the answers down."""

from __future__ import annotations

import asyncio
import threading
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def ask_all(inferencer: Any, rows: Sequence[dict[str, Any]], folder: str | Path) -> None:
    """Ask rows, as many at once as the inferencer's batch, and write a file of lines for each dataset.

    Args:
        inferencer: What asks one row: its ``do_request``.
        rows: What is asked.
        folder: Where answers go.
    """
    handler, name = inferencer.output_handler, f"tmp_{uuid.uuid4().hex[:8]}.jsonl"
    told = (str(Path(folder) / "tmp"), name, inferencer.perf_mode, inferencer.save_every)
    consumer = threading.Thread(target=handler.run_cache_consumer, args=told)
    consumer.start()
    try:
        asyncio.run(_asked(inferencer, rows))
    finally:
        handler.stop_cache_consumer()
        consumer.join()
    handler.write_to_json(str(folder), inferencer.perf_mode)


async def _asked(inferencer: Any, rows: Sequence[dict[str, Any]]) -> None:
    room = asyncio.Semaphore(inferencer.batch_size)

    async def ask(row: dict[str, Any]) -> None:
        async with room:
            await inferencer.do_request(row, None, None)

    await asyncio.gather(*map(ask, rows))
