"""SciCode: programs in steps, each tested together with the steps before it against values of an HDF5 file.

The file is read here, and its values go into the prison as plain data; tests run there as their authors wrote them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from proctor.data.found_files import file_named
from proctor.effects import Author, author_of_rows, named_folders
from proctor.errors import DataError, Diagnostic, MissingFieldError, ProctorError, ScoringError, needed
from proctor.ir import Failure
from proctor.prison import Limits, Outcome, Trial
from proctor.prison.inside import wire
from proctor.scoring.evaluators.cases import Cases, Verdict, percent
from proctor.scoring.evaluators.code import one_process, rows_with
from proctor.scoring.programs.trials import run_programs

_GIVEN: Final = {"13": "13.6", "62": "62.1", "76": "76.3"}
"""Steps that SciCode answers itself, by problem: a model writes those around them."""
_MEMORY_BYTES: Final = 16 * 1024**3
_MOST_BYTES: Final = 2 * 1024**3  # of one target: those of SciCode take a gigabyte all together
_WHERE: Final = (
    "put SciCode's test_data.h5 (its README links to it), or test_data of OpenCompass' scicode_test_data.zip, into {}; "
    "test_data=… names another place"
)
_TESTS: Final = "from inside.scicode import ready\n__targets = ready(__task)\n"

Step = tuple[str, Sequence[str]]
"""The number of a step, and its tests."""


def scicode(
    cases: Cases,
    dataset_path: str = "./data/scicode",
    with_bg: bool = False,
    *,
    test_data: str = "",
    seconds: float = 120.0,
) -> Verdict:
    """Share of problems whose steps all pass, and of steps (``SciCodeEvaluator``), in percent.

    Args:
        cases: Rows of OpenCompass (``id``, ``import``, ``test``), of the hub's ``SciCode1/SciCode`` (``sub_steps``),
            or of single steps (``step_number``, ``test_cases``). An answer is a list, of a text or a round for each
            step, or, for rows of the hub, one text with the whole program.
        dataset_path: The folder with ``test_data``.
        with_bg: Whether questions tell the background; tests are the same.
        test_data: ``test_data.h5``, or a folder with it or with a file for each step.
        seconds: Time for the tests of one step; SciCode's own harness has 1800, OpenCompass 120.

    Raises:
        TrustError: There is no prison on this machine, and nobody said that programs may run without.
        ScoringError: No row can be tested.
    """
    del with_bg
    place, who = _place(test_data or dataset_path), author_of_rows()
    found: list[list[Outcome]] = []
    failures: dict[int, Failure] = {}
    for number, (answer, row) in enumerate(zip(cases.predictions, rows_with(cases), strict=True)):
        try:
            trials = [_trial(*each, place, seconds, who) for each in _programs(answer, row, place, who)]
        except (ProctorError, wire.CannotCrossError, OSError, LookupError, TypeError, ValueError) as error:
            failures[number] = Failure("scoring", str(error), retryable=False)
            trials = []
        found.append(run_programs(trials))
    if failures and len(failures) == len(found):
        raise ScoringError(failures[0].message)
    right = [bool(each) and all(step.how == "pass" for step in each) for each in found]
    steps = [[step.how == "pass" for step in each] for each in found]
    scores = {
        "accuracy": percent([mark for number, mark in enumerate(right) if number not in failures]),
        "sub_accuracy": percent([mark for each in steps for mark in each]),
        **one_process([step for each in found for step in each]),
    }
    instances = {
        "accuracy": [None if number in failures else 100.0 * mark for number, mark in enumerate(right)],
        "sub_accuracy": [percent(each) if each else None for each in steps],
    }
    return Verdict(scores, instances, right, failures=failures)


def missing_data(given: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """Yield that there is no file of targets, where there is none."""
    named = str(given.get("test_data") or given.get("dataset_path") or "./data/scicode")
    place = _place(named)
    if not place.is_file() and not any(any(place.glob(each)) for each in ("*.h5", "test_data/*.h5")):
        yield Diagnostic(
            f"SciCode's targets are not here: no .h5 file in {place.absolute()}", hint=_WHERE.format(place)
        )


def _place(named: str) -> Path:
    places = (folder / named for folder in (Path(), *named_folders()))
    return next((each for each in places if each.exists()), Path(named))


# -- programs -----------------------------------------------------------------------------------------------------


def _programs(answer: Any, row: Mapping[str, Any], place: Path, who: Author | None) -> Iterator[tuple[str, Step]]:
    """Yield the program of each step that a model answers, with the step."""
    problem, program, steps = _steps(row)
    if unknown := [name for name in _imported(program) if find_spec(name) is None]:
        raise DataError(f"the tests need the package '{unknown[0]}', which is not installed")
    given = _GIVEN.get(problem, "") if len(steps) > 1 else ""
    asked = [each for each in steps if each[0] != given]
    rounds = answer if isinstance(answer, list | tuple) else [answer]
    texts = [str(each["assistant"] if isinstance(each, Mapping) else each) for each in rounds]
    if len(texts) != len(asked) and (rounds is answer or "test" in row):
        raise DataError(f"there are {len(texts)} answers to {len(asked)} steps")
    for step in steps:
        if step[0] == given:
            program += _given_code(given, place, who) if "sub_steps" in row else ""
            continue
        if texts:
            program += f"\n{_script(texts.pop(0), fenced='test' in row)}\n"
        yield program, step


def _steps(row: Mapping[str, Any]) -> tuple[str, str, list[Step]]:
    """Return a row's problem, what its programs import, and its steps."""
    if "sub_steps" in row:
        steps = [(str(each["step_number"]), each["test_cases"]) for each in row["sub_steps"]]
        return str(row["problem_id"]), str(row["required_dependencies"]), steps
    if "test_cases" in row:
        step = str(row["step_number"])
        return step.partition(".")[0], str(row.get("required_dependencies") or ""), [(step, row["test_cases"])]
    if missing := [name for name in ("id", "import", "test") if name not in row]:
        raise MissingFieldError(f"the evaluator reads the column '{missing[0]}', which the data lacks")
    steps = [(f"{row['id']}.{number}", tests) for number, tests in enumerate(row["test"], 1)]
    return str(row["id"]), str(row["import"]), steps


def _imported(program: str) -> list[str]:
    return re.findall(r"^\s*(?:import|from)\s+(\w+)", program, re.MULTILINE)


def _script(text: str, *, fenced: bool) -> str:
    """Return the program of an answer without its imports, for which the problem's own stand.

    Args:
        text: The answer.
        fenced: Whether only a block marked as Python counts (OpenCompass), or any block, or all (SciCode).
    """
    fence = next((each for each in ("```python", *(() if fenced else ("```",))) if each in text), "")
    body = text.split(fence)[1].partition("```")[0] if fence else "" if fenced else text
    return re.sub(r"^\s*(import .*|from .*\s+import\s+.*)", "", body, flags=re.MULTILINE)


def _given_code(step: str, place: Path, who: Author | None) -> str:
    beside = (place if place.is_dir() else place.parent) / f"{step}.txt"
    if not beside.is_file():
        raise DataError(f"SciCode answers step {step} itself: put its {step}.txt (eval/data) at {beside}")
    return f"\n{Path(file_named(beside, who, 'a step of SciCode')).read_text(encoding='utf-8')}\n"


# -- targets ------------------------------------------------------------------------------------------------------


def _trial(program: str, step: Step, place: Path, seconds: float, who: Author | None) -> Trial:
    number, tests = step
    files = (place, place / "test_data" / f"{number}.h5", place / f"{number}.h5", place / "test_data.h5")
    found = next((each for each in files if each.is_file()), files[1])
    targets = _targets(file_named(found, who, "SciCode's targets"), number, len(tests))
    source = "".join(f"target = __targets[{place}]\n\n{test}\n" for place, test in enumerate(tests))
    compares = any(name in source for name in ("scicode.compare", "datasets.scicode"))
    imports = "numpy", "inside.scicode", *(("scipy.sparse", "sympy") if compares else ())
    limits = Limits(seconds=seconds, memory_bytes=_MEMORY_BYTES)
    return Trial(program, _TESTS + source, data=targets, limits=limits, together=True, imports=imports)


def _targets(file: str, step: str, count: int) -> Any:
    """Return the targets of a step's tests as forms of the wire."""
    with needed("h5py", "scicode", "SciCode's targets"):
        import h5py
    writer = wire.Writer(lambda value: _special(writer, value))
    with h5py.File(file, "r") as data:
        groups = [_member(data, f"{step}/test{number}") for number in range(1, count + 1)]
        variables = [[_variable(_member(group, name)) for name in group] for group in groups]
    return writer.form([each[0] if len(each) == 1 else tuple(each) for each in variables])


def _member(group: Any, name: str) -> Any:
    """Return what a group holds; nothing that lies in another file."""
    found = group
    for part in name.split("/"):
        if type(found.get(part, getlink=True)).__name__ != "HardLink":
            raise DataError(f"{part} of {group.file.filename} is a link")
        found = found[part]
    if hasattr(found, "shape") and (found.external or found.is_virtual or found.nbytes > _MOST_BYTES):
        raise DataError(f"{name} of {group.file.filename} is too large, or lies in another file")
    return found


def _variable(node: Any) -> Any:
    """Return a value as SciCode's ``process_hdf5_to_tuple`` reads it."""
    if hasattr(node, "shape"):
        return _text(node[()])
    first = next(iter(node), None)
    inner = _member(node, first) if first in ("list", "sparse_matrix") else {}
    if first == "list":
        return [_member(inner, name)[()] for name in inner]
    if first == "sparse_matrix":
        return _sparse(inner)
    members = {name: _member(node, name) for name in node}
    return {_key(name, each): _entry(each) for name, each in members.items()}


def _entry(node: Any) -> Any:
    return _text(node[()]) if hasattr(node, "shape") else _sparse(_member(node, "sparse_matrix"))


def _key(name: str, node: Any) -> str | float:
    """Return a key of a mapping: a number where it reads as one and its value is numbers."""
    if not hasattr(node, "shape") or isinstance(node[()], bytes):
        return name
    try:
        return float(name)
    except ValueError:
        return name


def _text(value: Any) -> Any:
    return value.decode("utf-8") if isinstance(value, bytes) else value


def _sparse(group: Any) -> Callable[[], Mapping[str, Any]]:
    """Return a sparse matrix as the arrays in the file; a function, which the wire's writer hands back."""
    parts = {name: _member(group, name)[()] for name in group}
    return lambda: parts


def _special(writer: wire.Writer, value: Any) -> tuple[str, Any]:
    """Return the tag and the form of what is not plain data."""
    if callable(value):
        return "sparse", writer.form(value())
    if getattr(getattr(value, "dtype", None), "hasobject", False):
        return "objects", writer.form([list(value.shape), value.ravel().tolist()])
    raise wire.CannotCrossError(f"a {type(value).__name__} cannot be handed to another process")
