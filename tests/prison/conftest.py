"""Prisons that work on this machine; tests of the others are skipped, and say why."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from proctor.prison import Court, Limits, examined
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
