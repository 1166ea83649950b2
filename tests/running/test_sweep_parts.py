"""The part of a sweep that is asked."""

from __future__ import annotations

import pytest

from proctor.errors import UsageError
from proctor.running.sweep_parts import with_part
from proctor.running.sweeps import Design, Factor, Level, crossed

ROWS = [f"{number:016x}" for number in range(400)]


def _design(wordings: int, readings: tuple[str, ...] = ()) -> Design:
    levels = tuple(Level(str(each), {"num_demos": each}) for each in range(wordings))
    return Design("exam", "model", tuple(crossed([Factor("demos", levels)])), readings)


def _asked(wordings: int, budget: str, rows=ROWS, seed: int | None = None) -> set[tuple[str, str]]:
    design, parts = with_part(_design(wordings), budget, rows, seed)
    return {(cell.name, row) for cell in design.cells for row in parts[cell.folder].digests}


def test_a_budget_is_a_share_or_a_number():
    assert len(_asked(10, "1000")) == 1000
    assert len(_asked(10, "25%")) == pytest.approx(1000, abs=100)
    design, parts = with_part(_design(10), "1000", ROWS, None)
    assert design.part == {"budget": "1000", "asked": 1000, "of": 4000, "questions": 400, "seed": 42}
    assert sum(len(part.digests) for part in parts.values()) == 1000
    assert all(len(part.digests) > 60 for part in parts.values())
    assert with_part(_design(10), "100%", ROWS, None) == (_design(10), {})
    assert with_part(_design(10), "4000", ROWS, None) == (_design(10), {})


def test_what_grows_keeps_what_was_asked():
    small = _asked(10, "10%")
    assert small < _asked(10, "20%")
    assert small == {pair for pair in _asked(14, "10%") if int(pair[0]) < 10}
    assert small == {
        pair for pair in _asked(10, "10%", [*ROWS, *(f"{n:016x}" for n in range(400, 600))]) if pair[1] in ROWS
    }
    assert _asked(10, "300") < _asked(10, "301")
    assert _asked(10, "10%", seed=1) != small
    first, second = (with_part(_design(size), "10%", ROWS, None)[0].cells[3].folder for size in (10, 14))
    assert first == second  # whose results stand


@pytest.mark.parametrize("budget, wordings, readings, said", [
    ("5 %", 10, (), "--budget is '5 %'"), ("0", 10, (), "--budget is '0'"), ("101%", 10, (), "--budget is"),
    ("2.5", 10, (), "--budget is"), ("10%", 4, (), "--budget is for many wordings"),
    ("10%", 10, ("own", "last"), "cannot go together"), ("0.1%", 10, (), "would be asked nothing"),
])  # fmt: skip
def test_what_cannot_be_drawn_is_refused(budget, wordings, readings, said):
    with pytest.raises(UsageError) as raised:
        with_part(_design(wordings, readings), budget, ROWS, None)
    assert said in str(raised.value)
    if "nothing" in said:
        enough = raised.value.diagnostics[0].hint.split()[-1]
        assert all(part.digests for part in with_part(_design(wordings), enough, ROWS, None)[1].values())
