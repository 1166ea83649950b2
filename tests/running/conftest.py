"""Makes the helpers of this folder importable, and gives tests that flush the disk a thousand times a folder in memory."""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def memory_folder() -> Iterator[Path]:
    """A folder on a file system in memory, where there is one."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    folder = Path(tempfile.mkdtemp(prefix="proctor-", dir=memory))
    yield folder
    shutil.rmtree(folder)
