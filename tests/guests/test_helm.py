"""HELM's metric for recipes, given the rows that were asked about: a small likeness of it."""

import tests_warm

METRIC = """
import re

from unitxt import evaluate, load_dataset


class UnitxtMetric:
    def __init__(self, **kwargs):
        self.dataset = load_dataset(kwargs["recipe"])

    def evaluate(self, scenario_state, parallelism):
        predictions, references = [], []
        for state in scenario_state.request_states:
            found = re.match("([a-z]+)([0-9]+)", state.instance.id)
            references.append(self.dataset[found.group(1)][int(found.group(2))])
            predictions.append(state.text)
        return references, evaluate(predictions, self.dataset.get(found.group(1)))
"""

PROGRAM = """
from importlib import import_module
from types import SimpleNamespace as Made

metric = import_module("helm.benchmark.metrics.unitxt_metrics").UnitxtMetric(recipe="card=samples.cards.sentiment")
whole = metric.dataset
asked = [("test", 3), ("train", 1), ("test", 0)]
states = [
    Made(instance=Made(id=f"{split}{number}"), text=whole[split][number]["target"]) for split, number in asked
]
references, results = metric.evaluate(Made(request_states=states), parallelism=1)
assert [row["source"] for row in results] == [row["source"] for row in references]
assert results.global_scores.score == 1.0, results.global_scores
assert results.global_scores["num_of_instances"] == 3
assert metric.dataset is whole
print("three rows")
"""


def run(folder, program):
    path = folder / "program.py"
    path.write_text(program)
    return tests_warm.python("-m", "proctor.compat", path, cwd=folder)


def test_helm_compares_the_rows_it_asked_about(tmp_path):
    place = tmp_path / "helm" / "benchmark" / "metrics"
    place.mkdir(parents=True)
    for folder in (tmp_path / "helm", tmp_path / "helm" / "benchmark", place):
        (folder / "__init__.py").write_text("")
    (place / "unitxt_metrics.py").write_text(METRIC)
    done = run(tmp_path, PROGRAM)
    assert (done.returncode, done.stdout) == (0, "three rows\n"), done.stderr


def test_without_helm_nothing_is_said_of_it(tmp_path):
    done = run(tmp_path, "import importlib.util\nprint(importlib.util.find_spec('helm') is None)\n")
    assert done.stdout == "True\n"
