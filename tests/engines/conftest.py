"""Makes the helpers of this folder importable, and the tiny models of :mod:`tiny_models` fixtures."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from tiny_models import build_llava, build_model


@pytest.fixture(scope="session")
def tiny_llava(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tiny model of text and pictures."""
    pytest.importorskip("PIL")
    return build_llava(tmp_path_factory.mktemp("llava"))


@pytest.fixture(scope="session", params=["llama", "gpt2"])
def tiny_causal(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tiny causal model: once with rotary, once with learned positions."""
    return build_model(tmp_path_factory.mktemp(request.param), request.param)


@pytest.fixture(scope="session")
def tiny_llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tiny causal model."""
    return build_model(tmp_path_factory.mktemp("llama"), "llama")


@pytest.fixture(scope="session")
def tiny_t5(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tiny sequence-to-sequence model."""
    return build_model(tmp_path_factory.mktemp("t5"), "t5")


@pytest.fixture(scope="session", params=["mistral", "mamba"])
def tiny_forgetful(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tiny model that cannot share prefixes: a sliding window, a recurrent state."""
    return build_model(tmp_path_factory.mktemp(request.param), request.param)
