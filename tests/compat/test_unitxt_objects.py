"""What Unitxt's own tests call on its objects: settings, databases, engines, metrics, warnings, single rows."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from unittest.mock import patch

import pytest

from proctor.artifacts import Artifact, ArtifactLink
from proctor.compat import install, uninstall
from proctor.data.augmentors import AugmentPrefixSuffix
from proctor.data.computed_fields import Apply
from proctor.data.field_operators import Perturb
from proctor.data.filters import FilterByExpression
from proctor.data.instance_operators import AddFields
from proctor.data.streams import GeneratorStream, MultiStream
from proctor.demos.samplers import DiverseLabelsSampler
from proctor.errors import PolicyError, ProctorError, UsageError, ValidationError
from proctor.formats import SystemFormat
from proctor.guests.unitxt.engines.hf import HFPipelineBasedInferenceEngine
from proctor.guests.unitxt.engines.providers import GenericInferenceEngine, MockInferenceEngine
from proctor.guests.unitxt.own_settings import Settings
from proctor.scoring.metrics.accuracy import Accuracy
from proctor.scoring.metrics.labels import F1Macro, F1Micro
from proctor.settings import settings
from proctor.tasks import Task
from proctor.testing.operators import apply_operator, check_operator
from proctor.testing.unitxt_checks import apply_metric


@pytest.fixture
def unitxt() -> Iterator[None]:
    install()
    yield
    uninstall()


class TestSettings:
    def test_a_program_keeps_its_own(self):
        own = Settings()
        assert own is Settings()
        own.lamp = "on"
        assert (own.lamp, Settings().lamp) == ("on", "on")

    def test_ours_are_ours(self):
        own = Settings()
        with own.context(seed=7, passing="x"):
            assert (settings.seed, own.seed, own.passing) == (7, 7, "x")
        assert settings.seed == 42
        with pytest.raises(AttributeError):
            own.passing

    def test_what_looks_mistyped_is_told(self):
        with patch("proctor.guests.unitxt.own_settings.get_logger") as log:
            Settings().default_verbositi = "x"
        assert "default_verbosity" in str(log.return_value.warning.call_args)


class TestEngines:
    def test_ids_are_those_of_scores(self):
        assert MockInferenceEngine(model_name="a/B-c.d").get_engine_id() == "b_c,d_mock"
        assert HFPipelineBasedInferenceEngine(model_name="a/x").get_engine_id() == "x_hf_pipeline"
        assert GenericInferenceEngine().get_engine_id() == "generic_inference_engine"
        assert MockInferenceEngine(model_name="m").get_model_details() == {}

    def test_no_model_is_loaded_before_it_is_asked(self):
        engine = HFPipelineBasedInferenceEngine(model_name="a/x", lazy_load=True)
        assert engine._is_loaded() is False

    def test_a_program_that_is_tried_out_meets_the_policy(self):
        engine = HFPipelineBasedInferenceEngine(model_name="a/x", data_classification_policy=["public"])
        with settings.context(mock_inference_mode=True), pytest.raises(PolicyError):
            engine.infer([{"source": "", "data_classification_policy": ["pii"]}])


class TestErrors:
    def test_a_metric_that_fails_raises(self):
        with pytest.raises(ValueError, match="could not score"):
            apply_metric(F1Micro(), [None], [["cat"]])

        class NoFunction(Accuracy):
            reduction_map = {"group_mean": {"func": ["mean", max]}}

        with pytest.raises(AssertionError):
            apply_metric(NoFunction(), ["a"], [["a"]], [{"group_id": "g"}])

    def test_an_instance_has_the_scores_of_its_own_classes(self):
        rows = apply_metric(F1Macro(n_resamples=None), ["cat", "dog"], [["cat"], ["dog"]])
        assert [sorted(row["score"]["instance"]) for row in rows] == [
            ["f1_cat", "f1_macro", "score", "score_name"],
            ["f1_dog", "f1_macro", "score", "score_name"],
        ]

    def test_fields_are_asserted_elsewhere(self):
        for kind in (ValueError, AssertionError, TypeError):
            with pytest.raises(kind):
                Perturb(field="a", percentage_to_perturb=200)
        with pytest.raises(ValidationError):
            AugmentPrefixSuffix(prefixes=[10, "a"], suffixes=None)

    def test_nothing_left_is_a_runtime_error(self):
        with pytest.raises(RuntimeError):
            apply_operator(FilterByExpression(expression="a == 9"), [{"a": 1}])

    def test_an_error_may_name_a_page(self):
        assert str(UsageError("it failed", "docs/x.html")) == "it failed\n  hint: see docs/x.html"
        assert "see docs" not in str(ProctorError("it failed", "docs/x.html", hint="do that"))

    def test_deprecations_are_warned_of_for_programs(self, unitxt):
        import unitxt as imported  # noqa: F401 - Python warns from here on

        with pytest.warns(DeprecationWarning, match="gone"):
            ArtifactLink(to="metrics.accuracy", __deprecated_msg__="gone")
        with pytest.warns(DeprecationWarning, match="called Set now"):
            AddFields(fields={"a": 1})

    def test_and_only_for_them(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            AddFields(fields={"a": 1})

    def test_a_task_knows_whether_its_metrics_fit(self):
        fields = {"input_fields": {"a": "str"}, "reference_fields": {"b": "str"}}
        Task(**fields, prediction_type="str", metrics=["metrics.accuracy"]).check_metrics_type()
        with pytest.raises(ValidationError, match="are different"):
            Task(**fields, prediction_type="float", metrics=["metrics.token_overlap"]).check_metrics_type()


class TestSingleRows:
    def test_a_format_works_on_the_row_itself(self):
        row = {"source": "1+1", "instruction": "solve", "target": "2"}
        assert SystemFormat(model_input_format="{instruction}: {source}").process(row) is row
        assert row == {"source": "solve: 1+1", "target": "2"}

    def test_a_generator_goes_on_from_row_to_row(self):
        spoil = Perturb(field="a", to_field="b", select_from=[0, 1], percentage_to_perturb=100)
        found = {spoil.process({"a": 1})["b"] for _ in range(40)}
        assert found >= {0, 1}

    def test_functions_by_their_names(self):
        assert Apply("a", function="builtins.tuple", to_field="b").process({"a": [1]})["b"] == (1,)
        saved = [Apply("a", function=each, to_field="b").to_json() for each in (str.upper, tuple)]
        assert ["str.upper" in saved[0], "builtins.tuple" in saved[1]] == [True, True]

    def test_checks_return_the_rows(self):
        made = check_operator(Apply("a", function="str.upper", to_field="b"), [{"a": "x"}], [{"a": "x", "b": "X"}])
        assert made == [{"a": "x", "b": "X"}]

    def test_an_artifact_of_no_kind(self):
        bare = Artifact()
        bare.__id__ = "artifact.of.mine"
        assert (bare.__id__, Artifact().__id__) == ("artifact.of.mine", None)
        with pytest.raises(ValidationError):
            Artifact(__id__="artifact.of.mine")

    def test_samplers_say_what_an_instance_lacks(self):
        sampler = DiverseLabelsSampler()
        with pytest.raises(ValueError, match="input_fields. field is missing"):
            sampler.exemplar_repr(exemplar={"reference_fields": {"labels": []}})
        with pytest.raises(ValueError, match="input_fields"):
            sampler.filter_source_by_instance([], {"a": 1})


def test_a_dataset_on_disk_lies_where_it_was_told(tmp_path):
    streams = MultiStream({"test": GeneratorStream(generator=lambda: ({"x": each} for each in range(5)))})
    assert len(streams.to_dataset(cache_dir=str(tmp_path))["test"]) == 5
    assert not list(tmp_path.iterdir())
    assert streams.to_dataset(disable_cache=False, cache_dir=str(tmp_path))["test"]["x"][:] == list(range(5))
    assert list(tmp_path.iterdir())
