"""``proctor why`` on files that the real systems wrote: planted differences, in both directions, and none where none is.

``data/peers`` holds what each peer wrote for the quiz of ``peer_exams.py`` and for every change of it, recorded by
``conformance/why/record.py``. The same quiz, with the same change, is run here in the peer's own dialect.
"""

import json
import zipfile
from pathlib import Path

import peer_exams as quiz
import pytest
import yaml

from proctor.dialects.resolve import resolve_tasks
from proctor.engines.scripted import ScriptedEngine
from proctor.exchange.readers import observed
from proctor.exchange.why import explain
from proctor.recipes.options import ExamOptions
from proctor.running.run import run_exams
from proctor.running.spec import RunSpec
from proctor.settings import settings

FILES = Path(__file__).parent / "data" / "peers"


def rows_file(folder, rows):
    path = folder / "rows.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def lm_eval(folder, base, change):
    data = rows_file(folder, change.get("rows", quiz.ROWS))
    task = {**quiz.LM_EVAL_BASES[base], **change.get("task", {}), "dataset_kwargs": {"data_files": {"test": str(data)}}}
    (folder / "quiz.yaml").write_text(yaml.safe_dump(task))
    return resolve_tasks([str(folder / "quiz.yaml")], ExamOptions(system_prompt=change.get("system")))


def unitxt(folder, base, change):
    change = {**quiz.UNITXT_BASES[base], **change}
    card = quiz.unitxt_card(change)
    for name, value in (("cards/quiz", card), ("templates/quiz", card["templates"]["simple"])):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.json").write_text(json.dumps(value))
    query = ",".join(f"{name}={value}" for name, value in quiz.unitxt_query(change).items())
    with settings.context(catalogs=str(folder)):
        (exam,) = resolve_tasks([query], ExamOptions())
        exam.begin()
    return [exam]


def inspect(folder, base, change):
    task = {**quiz.INSPECT, **quiz.INSPECT_BASES[base], **change.get("task", {})}
    place = folder / "hub" / "org" / "data"
    place.mkdir(parents=True)
    (place / "eval.yaml").write_text(yaml.safe_dump({"tasks": [task]}))
    (place / "test.jsonl").write_text(rows_file(folder, change.get("rows", quiz.ROWS)).read_text())
    with settings.context(hub_dir=folder / "hub"):
        (exam,) = resolve_tasks(["hf/org/data"], ExamOptions())
        exam.begin()
    return [exam]


def aisbench(folder, base, change):
    for name, rows in {"rows": quiz.ROWS, **quiz.EDITED}.items():
        (folder / f"{name.replace(' ', '_')}.jsonl").write_text(rows_file(folder, rows).read_text())
    rows_file(folder, quiz.ROWS)
    (folder / "config.py").write_text(quiz.aisbench_config(folder, "[]"))
    exams = resolve_tasks([str(folder / "config.py")], ExamOptions())
    return [exam for exam in exams if exam.name == change.get("dataset", "base")]


def of_aisbench(name):
    dataset, model = quiz.aisbench_name(name)
    return {"dataset": dataset, "model": model}


AISBENCH = {name: (layer, of_aisbench(name)) for name, (layer, _) in quiz.AISBENCH_VARIANTS.items() if name != "base"}
PEERS = {
    "aisbench": (aisbench, {"base": {}}, AISBENCH),
    "lm_eval": (lm_eval, quiz.LM_EVAL_BASES, quiz.LM_EVAL_VARIANTS),
    "unitxt": (unitxt, quiz.UNITXT_BASES, quiz.UNITXT_VARIANTS),
    "inspect": (inspect, quiz.INSPECT_BASES, quiz.INSPECT_VARIANTS),
}
CASES = [(peer, name) for peer, (_, _, variants) in PEERS.items() for name in variants]
UNSAID = {"unitxt": {"decoding": "answer"}, "aisbench": {"decoding": "answer"}}
"""What files of a peer do not say: there, the next layer is the first that can be seen."""


class ChattingEngine(ScriptedEngine):
    """What AISBench asked: a server that takes messages."""

    @property
    def only_chats(self):
        return True


WRITTEN = {("aisbench", "another evaluator"): "extraction"}
"""AISBench's evaluator of formulas writes what it read out of an answer itself."""


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    """Return our run of a peer's quiz, made once."""
    made = {}

    def make(peer, base, name="", change=None):
        key = (peer, base, name)
        if key not in made:
            folder = tmp_path_factory.mktemp(peer)
            change = change or {}
            model = change.get("model", "base")
            kind = ChattingEngine if peer == "aisbench" else ScriptedEngine
            engine = kind(
                function=lambda prompt: quiz.says(prompt.text, model),
                log_likelihood=lambda context, continuation: quiz.likelihood(context, continuation, model),
            )
            exams = PEERS[peer][0](folder, base, change)
            run_exams(exams, engine, log=folder / "log.db", output=folder / "run", spec=RunSpec("scripted", (peer,)))
            made[key] = observed(str(folder / "run"))[0]
        return made[key]

    return make


@pytest.fixture(scope="module")
def theirs(tmp_path_factory):
    """Return what a peer wrote, read."""
    made = {}

    def read(peer, name):
        if (peer, name) not in made:
            folder = tmp_path_factory.mktemp(peer)
            with zipfile.ZipFile(FILES / f"{peer}.zip") as archive:
                if peer == "aisbench":
                    archive.extractall(folder)
                    dataset, model = quiz.aisbench_name(name.removeprefix("base ") or "base")
                    (made[peer, name],) = observed(str(folder / "predictions" / model / f"{dataset}.jsonl"))
                    return made[peer, name]
                archive.extractall(folder, [each for each in archive.namelist() if each.startswith(f"{name}/")])
            (made[peer, name],) = observed(str(folder / name))
        return made[peer, name]

    return read


def base_of(peer, name):
    return PEERS[peer][2][name][1].get("base", next(iter(PEERS[peer][1])))


@pytest.mark.parametrize("peer, base", [(peer, base) for peer, (_, bases, _) in PEERS.items() for base in bases])
def test_the_same_quiz_differs_in_nothing(peer, base, ours, theirs):
    found = explain(ours(peer, base), theirs(peer, f"base {base}"))
    assert (found.layer, found.pairs, found.alone) == (None, len(quiz.ROWS), (0, 0)), found.parts
    assert found.difference == pytest.approx(0.0)
    assert found.second.score == pytest.approx(found.means[1])


@pytest.mark.parametrize("peer, name", CASES)
def test_their_change_is_found(peer, name, ours, theirs):
    layer = WRITTEN.get((peer, name), PEERS[peer][2][name][0])
    check(explain(ours(peer, base_of(peer, name)), theirs(peer, name)), UNSAID.get(peer, {}).get(layer, layer))


@pytest.mark.parametrize("peer, name", CASES)
def test_our_change_is_found(peer, name, ours, theirs):
    layer, change = PEERS[peer][2][name]
    base = base_of(peer, name)
    found = explain(theirs(peer, f"base {base}"), ours(peer, base, name, change))
    check(found, UNSAID.get(peer, {}).get(layer, layer))


def check(found, layer):
    assert found.layer == layer, (found.parts, found.notes)
    assert sum(part.explained for part in found.parts.values()) == pytest.approx(found.difference)


def test_at_least_thirty_differences_for_each_peer():
    for peer, (_, _, variants) in PEERS.items():
        assert 2 * len(variants) >= 30, peer
