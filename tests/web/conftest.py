import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from proctor.web.app import create_app

_spec = spec_from_file_location("tests_web_support", Path(__file__).with_name("support.py"))
support = module_from_spec(_spec)
sys.modules["tests_web_support"] = support
_spec.loader.exec_module(support)
NASTY, TIMEOUT, sample, write_run = support.NASTY, support.TIMEOUT, support.sample, support.write_run


@pytest.fixture
def runs(tmp_path):
    """Two runs of the same exams: the second is worse at two documents and better at one."""
    root = tmp_path / "runs"
    scored = {
        "kind": "choose",
        "continuations": [" Paris", " Rome"],
        "output": [{"log_likelihood": -0.5}, {"log_likelihood": -1.5}],
        "gold": 1,
    }
    first = [sample(number) for number in range(120)]
    first[7] = sample(7, score=0.0)
    first[9] = sample(9, failure=TIMEOUT, output=None, prediction=None, scores={"score": None})
    first += [sample(0, "nasty", output=NASTY, prediction=NASTY, references=[NASTY]), sample(1, "nasty", 0.0, **scored)]
    second = [sample(number, output=f"other {number}") for number in range(120)]
    second[3] = sample(3, score=0.0, output="worse three")
    second[4] = sample(4, score=0.0, output="worse four")
    write_run(root / "first", first)
    write_run(root / "second", second, model="other")
    return root


@pytest.fixture
def grid(runs):
    """The runs, with one more whose exam has several templates, numbers of demos, groups and a suite."""
    return support.grid_run(runs / "grid")


@pytest.fixture
def third(runs):
    """The runs, with a third one that is right where the second is wrong."""
    return write_run(runs / "third", [sample(number, output=f"third {number}") for number in range(120)], model="best")


@pytest.fixture
def client(runs):
    with support.client_of(create_app([runs])) as made:
        yield made


@pytest.fixture
def ids(client):
    """The ids of the runs by name."""
    return {run.path.name: run_id for run_id, run in client.app.state.library.runs()}
