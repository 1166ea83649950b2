"""Recordings: what another system answered to made-up cases, small enough for the repository.

A file of JSON lines, compressed: a header for each comparison (whose answers, which version, by what command, when),
then a line for each case with its answers. An answer that holds no fraction is kept as a digest; one that does as a
digest of what is around its fractions, and the fractions. An answer that differs on purpose carries the id of its
explanation and what Proctor answered, so that neither changes unseen.
"""

from __future__ import annotations

import gzip
import json
import math
import os
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

from conformance.explained import EXPLANATIONS

Case = Any
Answers = Mapping[str, Any]
"""What is answered to a case: JSON-like values by name (of the row, the score, the layout)."""
Code = str | list[Any]
"""An answer as it is kept."""

FOLDER = Path(__file__).parent / "recordings"
DIGEST_BYTES = 6
"""48 bits: among 100,000 answers two that differ have one digest with a chance of 1 in 50,000."""
DIGITS = 12
"""Significant digits of fractions that are kept: three more than are compared."""
TOLERANCE = 1e-9
"""Relative difference that is none: the systems sum in other orders."""
ERROR = "!"
"""Stands for any error: whether both refuse is compared, not in which words."""


@dataclass(frozen=True, slots=True)
class Header:
    """Who answered.

    Attributes:
        comparison: Name of the comparison.
        peer: The other system.
        version: Its version.
        command: What records it anew.
        date: When it answered.
    """

    comparison: str
    peer: str
    version: str
    command: str
    date: str


@dataclass(frozen=True, slots=True)
class Explained:
    """An answer that differs on purpose."""

    theirs: Code
    explanation: str
    ours: Code


@dataclass(slots=True)
class Recording:
    """One comparison: by digest of the case, the peer's answers by name."""

    header: Header
    cases: dict[str, dict[str, Code | Explained]] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """How many answers it holds."""
        return sum(map(len, self.cases.values()))

    def explanations(self) -> Counter[str]:
        """Return how many answers have each explanation."""
        kept = (code for answers in self.cases.values() for code in answers.values())
        return Counter(code.explanation for code in kept if isinstance(code, Explained))


Explain = Callable[[Case, str, Any, Any], str]
"""From a case, the name of an answer, theirs and ours to the id of an explanation, ``""`` where there is none."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What is compared with a peer.

    Attributes:
        name: Of the comparison; its first part is the dialect, which is the file that it is kept in.
        peer: Whose answers are compared.
        cases: Makes the cases, always the same.
        ours: Proctor's answers to a case.
        theirs: The peer's answers to cases, in their order; run where its environment is.
        explain: Why an answer differs.
    """

    name: str
    peer: str
    cases: Callable[[], Iterable[Case]]
    ours: Callable[[Case], Answers]
    theirs: Callable[[Sequence[Case]], Iterable[Answers]]
    explain: Explain


# -- answers, kept ------------------------------------------------------------------------------------------------


def digest(value: Any) -> str:
    """Return a digest of a JSON-like value; keys of mappings in any order."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).hexdigest()


def code_of(value: Any) -> Code:
    """Return an answer as it is kept."""
    if isinstance(value, Mapping) and set(value) == {"error"}:
        return ERROR
    fractions: list[Any] = []
    around = _without_fractions(value, fractions)
    return [digest(around), *fractions] if fractions else digest(around)


def _without_fractions(value: Any, found: list[Any]) -> Any:
    if isinstance(value, float):
        found.append(str(value) if not math.isfinite(value) else float(f"{value:.{DIGITS}g}"))
        return "~"
    if isinstance(value, Mapping):
        return {str(key): _without_fractions(value[key], found) for key in sorted(value, key=str)}
    if isinstance(value, list | tuple):
        return [_without_fractions(each, found) for each in value]
    return value


def same(one: Code, other: Code) -> bool:
    """Whether two kept answers are equal, their fractions nearly."""
    if isinstance(one, str) or isinstance(other, str) or len(one) != len(other) or one[0] != other[0]:
        return one == other
    return all(map(_near, one[1:], other[1:]))


def _near(one: Any, other: Any) -> bool:
    if isinstance(one, str) or isinstance(other, str):
        return bool(one == other)
    return math.isclose(one, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE)


# -- recording and replaying --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Difference:
    """An answer that is not the recorded one, nor explained.

    Attributes:
        comparison: Where.
        name: Of the answer.
        case: What was asked.
        ours: What Proctor answers.
        theirs: What the peer answers; as it is kept, where it is only kept.
    """

    comparison: str
    name: str
    case: Case
    ours: Any
    theirs: Any

    def __str__(self) -> str:
        case, ours, theirs = (_short(each) for each in (self.case, self.ours, self.theirs))
        return f"{self.comparison} {self.name}\n    case   {case}\n    theirs {theirs}\n    ours   {ours}"


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 1500 else f"{text[:1500]}…"


def record(comparison: Comparison, header: Header) -> tuple[Recording, list[Difference]]:
    """Ask the peer; return its answers, and those that differ without an explanation."""
    made, differences = Recording(header), []
    cases = list(comparison.cases())
    for case, theirs in zip(cases, comparison.theirs(cases), strict=True):
        mine = comparison.ours(case)
        kept = made.cases.setdefault(digest(case), {})
        for name, answer in theirs.items():
            code, own = code_of(answer), mine.get(name)
            kept[name] = code
            if same(code, code_of(own)):
                continue
            if identifier := comparison.explain(case, name, answer, own):
                assert identifier in EXPLANATIONS, identifier
                kept[name] = Explained(code, identifier, code_of(own))
            else:
                differences.append(Difference(comparison.name, name, case, own, answer))
    return made, differences


def replay(comparison: Comparison, recording: Recording) -> Iterator[Difference]:
    """Yield what Proctor answers otherwise than the peer did, and what is recorded and not asked any more."""
    left = dict(recording.cases)
    for case in comparison.cases():
        kept = left.pop(digest(case), None)
        if kept is None:
            continue  # a new case, which the next recording will have
        mine = comparison.ours(case)
        for name, code in kept.items():
            own = code_of(mine.get(name))
            if not (same(code.theirs, own) or same(code.ours, own) if isinstance(code, Explained) else same(code, own)):
                yield Difference(comparison.name, name, case, mine.get(name), code)
    for lost in left:
        yield Difference(comparison.name, lost, "a recorded case that is not made any more", None, None)


def explain_anew(comparison: Comparison, recording: Recording) -> list[Difference]:
    """Explain what differs since Proctor changed on purpose, without asking the peer; return what stays unexplained.

    Only single numbers can be read back from what is kept; for the others the peer has to be asked again.
    """
    left = []
    for case in comparison.cases():
        kept, mine = recording.cases.get(digest(case), {}), comparison.ours(case)
        for name, code in kept.items():
            theirs, own = code.theirs if isinstance(code, Explained) else code, mine.get(name)
            accepted = {str(theirs), str(code.ours)} if isinstance(code, Explained) else {str(theirs)}
            if same(theirs, code_of(own)) or str(code_of(own)) in accepted:
                continue
            value = float(theirs[1]) if list(theirs[:1]) == [digest("~")] else None
            if value is not None and (identifier := comparison.explain(case, name, value, own)):
                assert identifier in EXPLANATIONS, identifier
                kept[name] = Explained(theirs, identifier, code_of(own))
            else:
                left.append(Difference(comparison.name, name, case, own, code))
    return left


def answer(command: Sequence[str], folder: Path | None = None, **variables: str) -> None:
    """Run a peer's side, offline and without our own path.

    Args:
        command: The program and its arguments.
        folder: Where it runs.
        **variables: Of its environment.

    Raises:
        RuntimeError: It failed; the end of what it said.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    offline = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "UNITXT_USE_ONLY_LOCAL_CATALOGS": "True"}
    done = subprocess.run(
        list(command),
        cwd=folder,
        env={**environment, **offline, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{command[1]} failed:\n{done.stderr[-3000:]}")


# -- files --------------------------------------------------------------------------------------------------------


def path_of(dialect: str) -> Path:
    """Return the file of a dialect's recordings."""
    return FOLDER / f"{dialect}.jsonl.gz"


def changed(before: Recording | None, now: Recording) -> int | None:
    """Return how many cases have other answers than before, or are new or gone; ``None`` where nothing was before."""
    if before is None:
        return None
    return sum(before.cases.get(case) != now.cases.get(case) for case in before.cases.keys() | now.cases.keys())


def write(dialect: str, recordings: Iterable[Recording]) -> None:
    """Write a dialect's recordings; equal ones give equal bytes."""
    FOLDER.mkdir(exist_ok=True)
    lines = [line for recording in recordings for line in _lines(recording)]
    path_of(dialect).write_bytes(gzip.compress(("\n".join(lines) + "\n").encode(), mtime=0))


def _lines(recording: Recording) -> Iterator[str]:
    yield _compact({name: getattr(recording.header, name) for name in Header.__slots__})
    for case, answers in recording.cases.items():
        yield _compact([case, {name: _plain(code) for name, code in answers.items()}])


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _plain(code: Code | Explained) -> Any:
    return {code.explanation: [code.theirs, code.ours]} if isinstance(code, Explained) else code


def read(dialect: str) -> dict[str, Recording]:
    """Return a dialect's recordings by the name of the comparison."""
    found: dict[str, Recording] = {}
    recording: Recording | None = None
    for line in gzip.decompress(path_of(dialect).read_bytes()).decode().splitlines():
        values = json.loads(line)
        if isinstance(values, dict):
            recording = Recording(Header(**values))
            found[recording.header.comparison] = recording
        elif recording is not None:
            recording.cases[values[0]] = {name: _read(code) for name, code in values[1].items()}
    return found


def _read(code: Any) -> Code | Explained:
    if isinstance(code, dict):
        ((explanation, (theirs, ours)),) = code.items()
        return Explained(theirs, explanation, ours)
    return code  # type: ignore[no-any-return]
