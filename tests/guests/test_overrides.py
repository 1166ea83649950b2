"""Whoever derives from a class of a guest package sees his methods called, or is told when the class is made."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import tests_warm

from proctor.dialects.aisbench.classes.evaluators import evaluator_class
from proctor.errors import UsageError
from proctor.guests.overrides import Obeyed
from proctor.guests.table import at, table_of

CALLED: dict[str, dict[str, list[str]]] = json.loads(Path(__file__).with_name("called_by_others.json").read_text())
"""By package and class: the methods that the class there calls of itself (lm_eval 0.4.13, AISBench 3.1)."""
NOT_DERIVED = {
    "APITemplateParser": "a part of models, which are derived from instead",
    "BasePromptTemplate": "its class is Unitxt's kind of artifact, checked by the table of Unitxt",
    "DatasetReader": "a part of datasets, which are derived from instead",
    "LMTemplateParser": "a part of models, which are derived from instead",
    "MMPromptTemplate": "its class is Unitxt's kind of artifact, checked by the table of Unitxt",
    "MultiTurnPromptTemplate": "its class is Unitxt's kind of artifact, checked by the table of Unitxt",
    "PromptList": "a list of turns",
    "PromptTemplate": "its class is Unitxt's kind of artifact, checked by the table of Unitxt",
    "TaskIndex": "finds files of tasks; programs give it folders",
    "TaskManager": "names of tasks; programs give it folders",
}


def pairs() -> list[tuple[str, str, str]]:
    """Return the methods that a class of ours does not have, with the class and its package."""
    found = []
    for package, classes in CALLED.items():
        table = table_of(package)
        assert table is not None
        places = {name: place for names in table.places.values() for name, place in names.items()}
        for name, methods in classes.items():
            ours = at(places[name])
            found += [(package, name, each) for each in methods if not hasattr(ours, each)]
    return found


def test_the_list_covers_what_programs_derive_from() -> None:
    assert sum(len(methods) for classes in CALLED.values() for methods in classes.values()) > 200
    assert len(pairs()) > 50


@pytest.mark.parametrize("package, name, method", [each for each in pairs() if each[1] not in NOT_DERIVED])
def test_a_method_that_nothing_calls_is_refused_when_the_class_is_made(package: str, name: str, method: str) -> None:
    table = table_of(package)
    assert table is not None
    place = next(names[name] for names in table.places.values() if name in names)
    with pytest.raises(UsageError, match=rf"Mine\.{method} would never be called"):
        type("Mine", (at(place),), {method: lambda self, *_: None, "__module__": "a_program"})


def test_a_class_that_calls_the_method_itself_may_have_it() -> None:
    known: Any = evaluator_class("Gsm8kEvaluator")

    class Mine(known):  # type: ignore[misc]
        def is_equal(self, *_: Any) -> bool:
            return True

        def score(self, predictions: list[str], references: list[str]) -> dict[str, int]:
            return {"share": sum(map(self.is_equal, predictions, references))}

    assert Mine().score(["1"], ["2"]) == {"share": 1}
    assert issubclass(Mine, Obeyed)


PATCHED = """
import json
from lm_eval import simple_evaluate
from lm_eval.api.filter import FilterEnsemble
from lm_eval.api.model import LM
from lm_eval.api.task import ConfigurableTask
from lm_eval.tasks import TaskManager
called = set()

def heard(kind, name):
    before = getattr(kind, name)
    setattr(kind, name, lambda self, *a, **k: (called.add(name), before(self, *a, **k))[1])

for kind, name in ((TaskManager, "load"), (FilterEnsemble, "apply"), (ConfigurableTask, "process_results")):
    heard(kind, name)

class Mine(LM):
    def generate_until(self, requests):
        return ["2"] * len(requests)
    loglikelihood = loglikelihood_rolling = None

Mine.__abstractmethods__ = frozenset()
open("rows.jsonl", "w").write(json.dumps({"q": "1+1", "a": "2"}))
open("t.yaml", "w").write('task: t\\ndataset_path: json\\ndataset_kwargs: {data_files: {test: rows.jsonl}}\\n'
    'test_split: test\\noutput_type: generate_until\\ndoc_to_text: "{{q}}"\\ndoc_to_target: "{{a}}"\\n')
manager = TaskManager(include_path=".", include_defaults=False)
print(simple_evaluate(model=Mine(), tasks=["t"], task_manager=manager)["results"]["t"]["exact_match,none"], sorted(called))
"""


def test_methods_that_a_program_puts_upon_classes_are_called_as_in_lm_eval(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PATCHED)
    made = tests_warm.python("-m", "proctor.compat", "program.py", cwd=tmp_path)
    assert made.stdout.strip() == "1.0 ['apply', 'load', 'process_results']", made.stderr
