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
    from unitxt.inference import (
        InferenceEngine,
        PackageRequirementsMixin,
        StandardAPIParamsMixin,
        TorchDeviceMixin,
        get_model_and_label_id,
    )
    from unitxt.random_utils import get_seed

    class Own(InferenceEngine, StandardAPIParamsMixin, PackageRequirementsMixin, TorchDeviceMixin):
        label: str = "own"
        _requirements_list = {"pytest": "pip install pytest"}
        model: str = "none"

        def get_engine_id(self) -> str:
            return str(get_model_and_label_id(self.model, self.label))

        def prepare_engine(self) -> None:
            self.client = self.credentials["api_key"]

        def _infer(self, dataset: Any, return_meta_data: bool = False) -> list[str]:
            sent = self.to_dict([StandardAPIParamsMixin])
            said = [self.to_messages(instance)[0]["content"] for instance in dataset]
            return [f"{self.get_device_id()} {self.client} {sent['top_p']} {each}" for each in said]

    engine = Own(device="cpu", model="a/b-1.5", top_p=0.5, credentials={"api_key": "k"})
    assert list(engine.infer([{"source": "x"}])) == ["cpu k 0.5 x"]
    assert engine.get_engine_id() == "b_1,5_own"
    assert (engine.label, engine.price_name, Own(credentials={"api_key": "k"}, label="x").label) == (
        "own",
        "a/b-1.5",
        "x",
    )
    assert get_seed() == 42
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
