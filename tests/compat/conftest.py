import pytest

from proctor import compat


@pytest.fixture
def installed():
    """Other systems' names can be imported, and cannot afterwards."""
    compat.install()
    yield
    compat.uninstall()
