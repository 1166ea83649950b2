"""The tasks of ``eval.yaml`` files in the mapped folder of datasets."""

from __future__ import annotations

from collections.abc import Iterator

from proctor.data.mapped_folder import hub_folder
from proctor.dialects.dialect import Entry, Named
from proctor.dialects.hub_yaml import FILE, PREFIX
from proctor.dialects.hub_yaml.reader import read_tasks
from proctor.errors import ProctorError


def list_tasks(_include_paths: tuple[str, ...], named: Named) -> Iterator[Entry]:
    """Yield the tasks; files with problems are left to ``proctor validate``."""
    base = hub_folder()
    for file in sorted(base.glob(f"*/*/{FILE}")) if base is not None else ():
        dataset = "/".join(file.parent.parts[-2:])
        try:
            tasks = read_tasks(file, dataset)
        except ProctorError:
            continue
        for task in tasks:
            name = f"{PREFIX}{dataset}/{task.id}" if len(tasks) > 1 else f"{PREFIX}{dataset}"
            if named is None or named(name.lower()):
                solvers = " → ".join(each.name for each in task.solvers)
                yield Entry(name, "exam", f"{solvers}; {', '.join(each.name for each in task.scorers)}", str(file))
