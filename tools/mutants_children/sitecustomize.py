"""What a Python process runs first that a test starts while mutants are counted (``tools/mutants.py``).

It writes which lines it ran, or loads the changed module instead of the one on disk.
"""

import atexit
import json
import os
import sys
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType
from typing import Any


class Changed(SourceFileLoader):
    """An importer of one module with another source."""

    def __init__(self, name: str, path: str, source: str) -> None:
        super().__init__(name, path)
        self.source = source

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:  # noqa: ARG002
        """Find the module, and nothing else."""
        return spec_from_file_location(name, self.path, loader=self) if name == self.name else None

    def get_code(self, fullname: str) -> CodeType:  # noqa: ARG002
        """Compile the changed source."""
        return compile(Path(self.source).read_bytes(), self.path, "exec", dont_inherit=True)


def write_lines(folder: str, modules: list[str]) -> None:
    """Write the lines of the modules that this process runs, when it ends, with the test that started it."""
    import coverage

    cover = coverage.Coverage(data_file=None, include=modules, config_file=False)
    leave = os._exit

    def save() -> None:
        cover.stop()
        data = cover.get_data()
        lines = {path: data.lines(path) for path in data.measured_files()}
        test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
        name = f"{os.getpid()}-{os.urandom(4).hex()}.json"
        Path(folder, name).write_text(json.dumps([test, lines]), encoding="utf-8")

    def save_and_leave(status: int) -> Any:
        save()
        leave(status)

    os._exit = save_and_leave  # children that were forked end so
    atexit.register(save)
    cover.start()


TOLD: dict[str, Any] = json.loads(os.environ.get("MUTANTS_TOLD", "{}"))
if "source" in TOLD:
    sys.meta_path.insert(0, Changed(TOLD["name"], TOLD["path"], TOLD["source"]))
elif "lines" in TOLD:
    write_lines(TOLD["lines"], TOLD["modules"])
