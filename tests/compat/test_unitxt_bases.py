"""Bases of engines, evaluations as recipes, caches of queries, and what ``unitxt/data`` takes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from proctor import load_dataset
from proctor.compat import install, uninstall
from proctor.errors import ProctorError
from proctor.guests.unitxt import kept_results

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


def test_evaluations_are_recipes_too() -> None:
    from unitxt.metric_utils import MetricRecipe, PostProcessRecipe

    rows = list(load_dataset(RECIPE, split="test"))
    said = [row["target"] for row in rows]
    scored = list(MetricRecipe(calc_confidence_intervals=False)(predictions=said, references=rows, split_name="s")["s"])
    assert scored[0]["score"]["global"]["score"] == 1.0
    assert "score_ci_low" not in scored[0]["score"]["global"]
    processed = list(PostProcessRecipe()(predictions=said, references=rows, split_name="s")["s"])
    assert [row["raw_prediction"] for row in processed] == said
    with pytest.raises(ProctorError, match="2 levels"):
        MetricRecipe(subset_depth=1)


def test_results_of_queries_are_kept_where_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def ask() -> list[int]:
        asked.append(1)
        return asked

    off = kept_results.Cache()
    off.get_or_set("a", ask), off.get_or_set("a", ask)
    assert (len(asked), off.cache) == (2, None)
    monkeypatch.setattr(kept_results, "CACHE_LOCATION", "somewhere")
    on = kept_results.Cache()
    assert on.get_or_set("a", ask) is on.get_or_set("a", ask)
    assert len(asked) == 3
    on.get_or_set("a", ask, refresh=True)
    assert len(asked) == 4
    assert on.get_or_set("failed", lambda: (None, "why")) == (None, "why")
    assert "failed" not in (on.cache or {})


def test_memoized_functions_wait_and_tokens_come_with_time(monkeypatch: pytest.MonkeyPatch) -> None:
    from unitxt.inference import AsyncTokenBucket

    monkeypatch.setattr(kept_results, "CACHE_LOCATION", "somewhere")
    calls: list[int] = []

    @kept_results.Cache().async_memoize()
    async def doubled(value: int) -> int:
        calls.append(value)
        return 2 * value

    async def all_of_it() -> list[int]:
        bucket = AsyncTokenBucket(rate=1000, capacity=1)
        await bucket.acquire()
        await bucket.acquire()
        return [await doubled(4), await doubled(4)]

    assert asyncio.run(all_of_it()) == [8, 8]
    assert calls == [4]


def test_parts_of_queries() -> None:
    from unitxt.text2sql_utils import extract_select_info, strip_alias

    found = extract_select_info("SELECT a AS b, c FROM t WHERE x = 1 ORDER BY c")
    assert found["columns"] == frozenset({"a", "c"})
    assert (found["from"], found["order"]) == ("t", "") or found["from"].startswith("t")
    assert extract_select_info("SELECT 1; SELECT 2") is None
    assert strip_alias("a AS b") == "a"


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
