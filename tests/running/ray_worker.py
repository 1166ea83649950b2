"""An engine for Ray workers: slow enough to be killed, and it notes in files what it was asked by which process."""

from __future__ import annotations

import os
import time
from pathlib import Path

from running_fakes import answer

from proctor.engines.engine import Engine
from proctor.errors import EngineError
from proctor.ir import Answers, Generate


class NotingSlowEngine(Engine):
    folder: str
    model: str = "slow"
    transient_fields = frozenset({"data_classification_policy", "folder"})
    can_score = True

    def generate(self, requests) -> Answers:
        return self._answer(requests)

    def score(self, requests) -> Answers:
        return self._answer(requests)

    def _answer(self, requests) -> Answers:
        wait_for_a_successor(Path(self.folder))
        with (Path(self.folder) / str(os.getpid())).open("a") as file:
            for position, request in enumerate(requests):
                if isinstance(request, Generate) and "poison" in request.prompt.text:
                    os.kill(os.getpid(), 9)
                if isinstance(request, Generate) and "broken" in request.prompt.text:
                    raise EngineError("the model is broken")
                time.sleep(0.005)
                file.write(f"{request.key}\n")
                file.flush()
                yield position, answer(request)


def wait_for_a_successor(folder: Path) -> None:
    """Leave work for the worker that takes a dead one's place: on a busy machine it takes a while to start."""
    names = [path.name for path in folder.iterdir()]
    if all(Path("/proc", name).exists() for name in names) or str(os.getpid()) not in names:
        return
    until = time.monotonic() + 60
    while len(list(folder.iterdir())) == len(names) and time.monotonic() < until and len(names) < MOST_WORKERS:
        time.sleep(0.01)


MOST_WORKERS = 3  # two, and one that takes the place of the one that is killed


def setup() -> None:
    """Runs in each worker process: importing this module has made the engine known."""
