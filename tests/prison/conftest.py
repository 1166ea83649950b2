"""Prisons that work on this machine; tests of the others are skipped, and say why."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

import pytest

from proctor.prison import Court, Limits, examined
from proctor.prison.inside import candidate, judge, wire
from proctor.prison.prisons import KINDS

WALLED = ("bubblewrap", "namespaces", "landlock")


@pytest.fixture(params=WALLED)
def walled(request: pytest.FixtureRequest) -> str:
    """The name of a prison with walls."""
    finding = examined(request.param)
    if not finding.works:
        pytest.skip(f"no {finding.name} here: {finding.reason}")
    return finding.name


@pytest.fixture(scope="module", params=[*WALLED, "none"])
def court(request: pytest.FixtureRequest) -> Iterator[Court]:
    """A court in each kind of prison, and in none; programs come before the same one, as those of an exam do."""
    finding = examined(request.param)
    if not finding.works:
        pytest.skip(f"no {finding.name} here: {finding.reason}")
    court = Court(KINDS[finding.name](), Limits())
    yield court
    court.close()


class Joined(judge._Judge):
    """The tests' side with the program's side in the same process: each message is packed, carried over, answered."""

    def __init__(self, source: str, task: dict[str, object]) -> None:
        super().__init__(-1, -1, task)
        self.program = candidate._Candidate(-1, -1, source)
        self.program._call_back = self._calls_back  # type: ignore[method-assign]

    def _exchanged(self, message: bytes) -> dict[str, object]:
        mine = sys.stdout
        try:
            return wire.unpacked(wire.packed(self.program._answer(wire.unpacked(message))))
        finally:
            sys.stdout = mine

    def _calls_back(self, number: int, arguments: object, named: object) -> object:
        write = self.program._writer.form
        said = self._called_back({"callback": number, "arguments": write(list(arguments)), "named": write(named)})
        if "error" in said:
            raise candidate.CallbackError(said["error"])
        return self.program._reader.value(wire.unpacked(wire.packed(said["value"])))


@pytest.fixture
def joined(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[str, str, str]]:
    """Try a program without a prison: how its tests ended, why, and what could not be handed over."""
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, getattr(sys, name))
    monkeypatch.setitem(sys.modules, "program", None)

    def outcome(source: str, tests: str, entry: tuple[str, ...] = (), **task: object) -> tuple[str, str, str]:
        given = {"tests": tests, "entry": list(entry), "given": "", "data": None, "load": True, **task}
        found = Joined(source, given).verdict()
        return found["how"], found["why"], found["uncrossable"]

    return outcome
