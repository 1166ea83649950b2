"""Asks a server on Ray workers, where some answers are slow and one worker dies; prints what came of it as JSON."""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path

import ray

from proctor.engines.http.openai_engine import OpenAIEngine
from proctor.engines.http.provider_engine import ProviderEngine
from proctor.ir import Decoding, Generate, Prompt
from proctor.running import ResponseLog
from proctor.running.executors import RayEngine
from proctor.running.shared_means import SharedWindow
from proctor.testing.faults import Fault, Faults
from proctor.testing.server import FaultServer

COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 320
SLOW = Faults(lambda key, attempt: Fault("slow", seconds=1.0) if int(key[:4], 16) % 10 == 0 else None)


def requests(name: str, count: int) -> list[Generate]:
    return [Generate(Prompt(f"{name} {number}?"), Decoding()) for number in range(count)]


def seconds_of(engine, name: str, count: int = COUNT) -> float:
    """Return how long answers to some questions take."""
    began = time.monotonic()
    found = dict(engine.generate(requests(name, count)))
    assert len(found) == count
    assert all(each.texts == ("yes",) for each in found.values()), found
    return time.monotonic() - began


def best_of(engine, name: str, enough: float) -> float:
    """Return how long answers take, asked again where something else kept the machine busy."""
    found = seconds_of(engine, name)
    for number in range(2):
        if found > enough:
            found = min(found, seconds_of(engine, f"{name} {number}"))
    return found


def main() -> None:
    """Compare with one process, and kill a worker."""
    ray.init("local", num_cpus=6, include_dashboard=False, log_to_driver=False, configure_logging=False)
    report: dict[str, object] = {}
    with FaultServer(answer=lambda *_: "yes", latency_seconds=0.1, faults=SLOW) as server:
        fields = {"model": "m", "base_url": server.url}
        alone = OpenAIEngine(**fields, max_concurrency=32)
        workers = RayEngine(engine=OpenAIEngine(**fields, max_concurrency=16), workers=2)
        dict(alone.generate(requests("warm", 8)))
        dict(workers.generate(requests("warm", 8)))
        report["alone"] = limit = seconds_of(alone, "q")
        report["workers"] = best_of(workers, "q", 1.1 * limit)
        before = server.statistics()["requests"]
        threading.Timer(0.5, kill_a_worker).start()
        seconds_of(workers, "again", 120)
        report["asked_for_120"] = server.statistics()["requests"] - before
        report["actors"] = len(workers._crew.workers)
        workers.close()
        named = RayEngine(engine=ProviderEngine(**fields, provider="vllm-server", max_concurrency=16), workers=2)
        dict(named.generate(requests("warm", 8)))
        report["named"] = best_of(named, "named", 1.1 * limit)
        named.close()
    with FaultServer(answer=lambda *_: "yes") as server:
        report["in_a_minute"] = sent_in_a_minute(server)
    print(json.dumps(report), flush=True)
    ray.shutdown()
    os._exit(0)  # what is left of the minute is not waited for


def sent_in_a_minute(server: FaultServer) -> int:
    """Return how many requests 2 workers send under a limit of 40 of which another process of the log took ten."""
    engine = RayEngine(engine=OpenAIEngine(model="m", base_url=server.url, requests_per_minute=40.0), workers=2)
    log = ResponseLog(Path(tempfile.mkdtemp()) / "log.db")
    window = SharedWindow(log, log.engine_number("e"))
    assert window.take("requests", 40.0, 0.0, 10.0, 10.0) == (10.0, 0.0)
    engine.share_rates(window.take)
    threading.Thread(target=dict, args=(engine.generate(requests("limit", 100)),), daemon=True).start()
    count, end = 0, time.monotonic() + 60
    while time.monotonic() < end and (count == 0 or server.statistics()["requests"] > count):
        count = server.statistics()["requests"]
        time.sleep(1.5)
    return count


def kill_a_worker() -> None:
    for each in Path("/proc").iterdir():
        try:
            if b"ray::_Worker" in (each / "cmdline").read_bytes() and is_mine(int(each.name)):
                os.kill(int(each.name), signal.SIGKILL)
                return
        except (OSError, ValueError):
            continue


def is_mine(pid: int) -> bool:
    """Whether a process descends from this one."""
    while pid > 1:
        if pid == os.getpid():
            return True
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return False


if __name__ == "__main__":
    main()
