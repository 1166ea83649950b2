"""Configs of earlier releases of OpenCompass: names of then, read as those of today."""

import pytest

from proctor.dialects.aisbench.older_forms import with_names_of_today
from proctor.dialects.aisbench.signatures import known_names
from proctor.dialects.aisbench.values import ConfigDict, Reference
from proctor.errors import Location


def dataset(kind, evaluator="AccEvaluator", **more):
    return ConfigDict({"type": kind, "eval_cfg": {"evaluator": {"type": evaluator, **more}}})


@pytest.mark.parametrize(
    "then, today",
    [
        ("piqaDataset_V2", "PIQADatasetV2"),
        ("cmnliDataset", "CMNLIDataset"),
        ("NaturalQuestionDataset_CN", "NaturalQuestionDatasetCN"),
        (Reference("opencompass.datasets.WSCDataset_V3"), Reference("opencompass.datasets.WSCDatasetV3")),
        (Reference("opencompass.datasets.piqa.piqaDataset"), Reference("opencompass.datasets.piqa.PIQADataset")),
    ],
)
def test_a_dataset_that_was_called_otherwise_is_the_one_of_today(then, today):
    found = with_names_of_today(dataset(then))
    assert found["type"] == today
    assert found["eval_cfg"] == {"evaluator": {"type": "AccEvaluator"}}


def test_so_is_an_evaluator_with_what_it_is_given():
    found = with_names_of_today(dataset("HumanevalDataset", "HumanEvaluator", k=[1]))
    assert found["eval_cfg"]["evaluator"] == {"type": "HumanEvalEvaluator", "k": [1]}


@pytest.mark.parametrize(
    "kind",
    [
        *sorted(known_names("opencompass", "datasets"))[::40],
        *("my.piqaDataset_V2", Reference("beside.piqaDataset"), "NowhereDataset", None, 3),
        *("Mol_Instructions_Dataset", "MolInstructions_Dataset"),  # two names of today are spelt like the second
    ],
)
def test_names_of_today_and_of_others_stay(kind):
    given = dataset(kind)
    assert with_names_of_today(given) is given


def test_a_class_that_a_fork_has_around_its_config_stays_the_fork_s(tmp_path):
    package = tmp_path / "opencompass"
    for folder in ("datasets", "openicl"):
        (package / folder).mkdir(parents=True)
    for name in ("__init__.py", "datasets/__init__.py"):
        (package / name).write_text("")
    (package / "datasets" / "own.py").write_text("class piqaDataset_V2:\n    pass\n")
    config = tmp_path / "configs" / "c.py"
    config.parent.mkdir()
    config.write_text("")
    given = ConfigDict({"type": "piqaDataset_V2"}, location=Location(str(config), 1, 1))
    assert with_names_of_today(given) is given
