"""``ais_bench`` whose tasks are forks of it rather than new interpreters: importing torch takes a minute each time.

Run with AISBench's Python; arguments are those of ``ais_bench``. Of the rest one check is left out: it refuses to work
where other programs use much of the machine's memory.
"""

from __future__ import annotations

import importlib.util
import os
import runpy
import shlex
import sys
import traceback
import types
from pathlib import Path
from typing import Any

from ais_bench.benchmark.cli.main import main  # type: ignore[import-not-found]
from ais_bench.benchmark.runners import local  # type: ignore[import-not-found]
from ais_bench.benchmark.tasks import openicl_api_infer, openicl_eval, utils  # type: ignore[import-not-found]  # noqa: F401
from mmengine.config import config as mmengine_config  # type: ignore[import-not-found]
from mmengine.config import utils as mmengine_utils  # type: ignore[import-not-found]


class Fork:
    """What stands in for ``subprocess.Popen``: the script of the command runs in a fork of this process."""

    def __init__(self, command: str, **options: Any) -> None:
        del options
        words = shlex.split(command)
        place = next(i for i, word in enumerate(words) if word.endswith(".py"))
        self.pid = os.fork()
        self.returncode = 0
        if self.pid == 0:
            sys.argv = words[place:]
            code = 0
            try:
                runpy.run_path(sys.argv[0], run_name="__main__")
            except BaseException:  # noqa: BLE001 - a fork must not return into the code of its parent
                traceback.print_exc()
                code = 1
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)

    def wait(self, timeout: float | None = None) -> int:
        """Wait until the fork has ended."""
        del timeout
        if self.pid:
            _, status = os.waitpid(self.pid, 0)
            self.pid, self.returncode = 0, os.waitstatus_to_exitcode(status)
        return self.returncode

    def poll(self) -> int:
        """Return the exit code; the fork has ended when anybody asks."""
        return self.wait()


def _without_pkg_resources() -> None:
    """Let mmengine look for packages where newer setuptools left out the module that it asks."""
    if importlib.util.find_spec("pkg_resources") is None:
        missing = type("DistributionNotFound", (Exception,), {})

        def get_distribution(name: str) -> None:
            raise missing(name)

        stand_in: Any = types.ModuleType("pkg_resources")
        stand_in.DistributionNotFound, stand_in.get_distribution = missing, get_distribution
        sys.modules["pkg_resources"] = stand_in


if __name__ == "__main__":
    _without_pkg_resources()
    local.subprocess.Popen = Fork
    mmengine_utils.PYTHON_ROOT_DIR = str(Path(os.__file__).parent)  # where this Python has its library
    mmengine_config.FormatCode = lambda text, *_, **__: (text, True)  # formatting a config takes seconds for each task
    utils.check_virtual_memory_usage = lambda *_, **__: None
    main()
