"""What ``proctor.engines`` offers."""

import subprocess
import sys

import pytest

import proctor.engines


@pytest.mark.parametrize("name", proctor.engines.__all__)
def test_every_name_is_there(name):
    assert getattr(proctor.engines, name).__name__ == name


def test_other_names_are_not():
    with pytest.raises(AttributeError, match="nothing"):
        _ = proctor.engines.nothing


def test_the_engines_behind_http_import_nothing_heavy():
    program = (
        "import sys; import proctor.engines.http.openai_engine, proctor.guests.unitxt.engines.providers, proctor.engines.engine_registry\n"
        "print([name for name in ('aiohttp', 'torch', 'transformers', 'datasets', 'PIL', 'numpy') if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
