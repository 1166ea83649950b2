"""Bases of engines, evaluations as recipes, caches of queries, and what ``unitxt/data`` takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from proctor.compat import install, uninstall
from proctor.errors import ProctorError

RECIPE = "card=samples.cards.science,template_card_index=0,max_test_instances=4"


@pytest.fixture(autouse=True)
def _names() -> Iterator[None]:
    install()
    yield
    uninstall()


def test_engines_of_ones_own_take_the_fields_of_bases() -> None:
    from unitxt.inference import HFGenerationParamsMixin, InferenceEngine, LazyLoadMixin, TorchDeviceMixin

    class Own(InferenceEngine, LazyLoadMixin, HFGenerationParamsMixin, TorchDeviceMixin):
        def _is_loaded(self) -> bool:
            return not self.lazy_load

        def _infer(self, dataset: Any, return_meta_data: bool = False) -> list[str]:
            return [f"{self.get_device_id()} {self.top_k}"] * len(dataset)

    engine = Own(device="cpu", top_k=3, lazy_load=True)
    assert list(engine.infer([{"source": "x"}])) == ["cpu 3"]
    assert not engine._is_loaded()
    with pytest.raises(ProctorError):
        Own(device="cpu", top_q=3)


def test_what_the_script_of_datasets_cannot_honour_is_refused() -> None:
    import datasets

    with pytest.raises(ProctorError, match="data_files"):
        datasets.load_dataset("unitxt/data", RECIPE, data_files="x.csv")
    rows = datasets.load_dataset("unitxt/data", RECIPE, split="test", trust_remote_code=True)
    assert len(rows) == 4


@pytest.mark.parametrize("module, instead", [("unitxt.dataset", "load_dataset"), ("unitxt.ui.run", "proctor view")])
def test_modules_that_are_not_here_say_what_is(module: str, instead: str) -> None:
    import importlib

    kind = importlib.import_module(module).anything
    with pytest.raises(ProctorError, match=instead):
        kind()
