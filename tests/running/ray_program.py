"""Runs exams on two Ray workers of this machine, lets one die, and prints what came of it as JSON."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

import ray
from ray_worker import NotingSlowEngine
from running_fakes import ToyExam, choice, question, talk

from proctor.errors import ProctorError
from proctor.recipes.exam import Exam
from proctor.running import run_exams
from proctor.running.executors import RayEngine

HERE = Path(__file__).parent


def main(folder: Path) -> None:
    environment = {"PYTHONPATH": os.pathsep.join([str(HERE), *filter(None, sys.path)])}
    start_ray(environment)
    exams = [ToyExam("plain", 150, question), ToyExam("choices", 60, choice), ToyExam("talks", 10, talk)]
    report = {}
    notes = {name: folder / f"notes-{name}" for name in ("alone", "killed", "poison", "broken")}
    for path in notes.values():
        path.mkdir(parents=True)
    alone = NotingSlowEngine(folder=str(notes["alone"]))
    report["alone"] = run(exams, alone, folder / "alone")
    killed = RayEngine(engine=NotingSlowEngine(folder=str(notes["killed"])), workers=2, chunk_size=8)
    killer = threading.Thread(target=kill_one, args=(notes["killed"],))
    killer.start()
    report["killed"] = run(exams, killed, folder / "killed")
    killer.join()
    killed.close()
    asked = [key for path in notes["killed"].iterdir() for key in path.read_text().split()]
    report["killed"] |= {
        "workers": len(list(notes["killed"].iterdir())),
        "asked": len(asked),
        "asked_again": len(asked) - len(set(asked)),
    }
    poison = RayEngine(engine=NotingSlowEngine(folder=str(notes["poison"])), workers=1, chunk_size=2)
    report["poison"] = run([ToyExam("poison", 1), ToyExam("fine", 8)], poison, folder / "poison")
    poison.close()
    broken = RayEngine(engine=NotingSlowEngine(folder=str(notes["broken"])), workers=1, chunk_size=2)
    try:
        run([ToyExam("broken", 1)], broken, folder / "broken")
    except ProctorError as error:
        report["broken"] = f"{type(error).__name__}: {error}"
    broken.close()
    same = (folder / "killed" / "samples.jsonl").read_bytes() == (folder / "alone" / "samples.jsonl").read_bytes()
    results = [json.loads((folder / name / "results.json").read_text())["results"] for name in ("killed", "alone")]
    report["killed"]["same"] = same and results[0] == results[1]
    print(json.dumps(report))


def start_ray(environment: dict[str, str]) -> None:
    """Start a cluster on this machine; Ray gives up after 30 seconds, which is too soon for a busy machine."""
    for attempt in range(3):
        try:
            ray.init(
                address="local",  # and never that of another cluster on this machine
                num_cpus=2,
                include_dashboard=False,
                log_to_driver=False,
                object_store_memory=100_000_000,
                runtime_env={"env_vars": environment, "worker_process_setup_hook": "ray_worker.setup"},
            )
        except Exception as error:
            if attempt == 2 or "timed out" not in str(error):
                raise
            ray.shutdown()
        else:
            return


def run(exams: list[Exam], engine, output: Path) -> dict:
    result = run_exams(exams, engine, log=output.with_suffix(".db"), output=output)
    return {"failures": {name: entry["failures"] for name, entry in result.results.items()}, **result.run["requests"]}


def kill_one(notes: Path) -> None:
    """Kill the first worker that has answered a few requests."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        for path in notes.iterdir():
            if len(path.read_text().split()) >= 20:
                os.kill(int(path.name), signal.SIGKILL)
                return
        time.sleep(0.01)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
