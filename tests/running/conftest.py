"""Makes the helpers of this folder importable, and gives tests that flush the disk a thousand times a folder in memory."""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from proctor.running import budget, installed_prices

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(autouse=True)
def _own_prices(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Costs are those of the table that comes along, whatever is installed."""
    monkeypatch.setattr(installed_prices, "find_spec", lambda name: None)
    budget._own_prices.cache_clear()
    yield
    budget._own_prices.cache_clear()


@pytest.fixture
def memory_folder() -> Iterator[Path]:
    """A folder on a file system in memory, where there is one."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    folder = Path(tempfile.mkdtemp(prefix="proctor-", dir=memory))
    yield folder
    shutil.rmtree(folder)
