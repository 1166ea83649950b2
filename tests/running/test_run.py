"""Whole runs: what is asked, what is written, what happens when a run is stopped and started again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from running_fakes import Toy, ToyEngine, ToyExam, answer, choice, question, talk

from proctor.errors import EngineError, OutputError, PolicyError, RunInterruptedError, UsageError
from proctor.ir import Failure, Response
from proctor.running import ResponseLog, RunSpec, SilentObserver, run_exams
from proctor.running.reckoning import Claim
from proctor.scoring.grades import Grade

MIXED = (question, choice, talk)


def run(folder: Path, exams, engine, name: str = "out", **options):
    return run_exams(exams, engine, log=folder / "log.db", output=folder / name, **options)


def files(folder: Path, name: str = "out") -> tuple[bytes, bytes]:
    results = json.loads((folder / name / "results.json").read_text())["results"]
    return json.dumps(results).encode(), (folder / name / "samples.jsonl").read_bytes()


def lines(folder: Path, name: str = "out") -> list[dict]:
    return [json.loads(line) for line in (folder / name / "samples.jsonl").read_text().splitlines()]


def test_every_item_is_asked_graded_and_written(tmp_path):
    engine = ToyEngine()
    result = run(tmp_path, [ToyExam("a", 7), ToyExam("b", 5, choice)], engine)
    assert sum(engine.asked.values()) == 12
    assert result.results["a"]["n"] == 7
    assert result.results["b"]["failures"] == 0
    assert [(line["exam"], line["doc_id"]) for line in lines(tmp_path)] == [("a", n) for n in range(7)] + [
        ("b", n) for n in range(5)
    ]
    first, last = lines(tmp_path)[0], lines(tmp_path)[-1]
    assert first["prompt"] == "a 0"
    assert first["output"] == "A 0"
    assert first["prediction"] == [["A 0"]]
    assert first["scores"] == {"oddity": 1.0}
    assert first["timing"] == {"started": 1.0, "seconds": 0.5}
    assert last["prompt"] == "b 4"
    assert last["continuations"] == [" A", " B"]
    assert last["output"][1] == {"log_likelihood": -3.0, "is_greedy": False, "token_count": 0}


def test_running_again_asks_nothing_and_gives_the_same_bytes(tmp_path):
    exams = [ToyExam("a", 300, *MIXED), ToyExam("b", 20, choice)]
    run(tmp_path, exams, ToyEngine())
    again = ToyEngine()
    run(tmp_path, exams, again, "again")
    assert not again.asked
    assert files(tmp_path) == files(tmp_path, "again")


def test_equal_requests_are_asked_once(tmp_path):
    engine = ToyEngine()
    result = run(tmp_path, [ToyExam("a", 1000, *MIXED, distinct=3)], engine)
    assert set(engine.asked.values()) == {1}
    assert len(engine.asked) == 3 * (1 + 1 + 3)
    assert result.results["a"]["n"] == 1000


def test_equal_generations_of_one_item_are_separate_draws_and_equal_scores_are_not(tmp_path):
    engine = ToyEngine()
    run(tmp_path, [ToyExam("a", 4, question, question, question, choice, choice)], engine)
    assert sorted(engine.asked.values()) == [1] * 4 + [3] * 4


def test_a_conversation_is_asked_turn_by_turn(tmp_path):
    run(tmp_path, [ToyExam("a", 1, talk)], ToyEngine())
    (line,) = lines(tmp_path)
    second = "a 0\nA 0\nand then?".upper()
    third = f"a 0\nA 0\nand then?\n{second}\nand last?".upper()
    assert line["output"] == ["A 0", second, third]
    assert line["timing"] == {"started": 1.0, "seconds": 1.5}
    assert line["finish_reasons"] == ["stop"] * 3


def test_a_conversation_that_was_cut_off_goes_on_where_it_stopped(tmp_path):
    cut = ToyEngine(stop_after=15, error=EngineError("the cable is out"))
    with pytest.raises(EngineError, match="cable"):
        run(tmp_path, [ToyExam("a", 10, talk)], cut)
    again = ToyEngine()
    run(tmp_path, [ToyExam("a", 10, talk)], again)
    assert sum(again.asked.values()) == 15
    assert not again.asked & cut.asked


def test_a_turn_that_fails_ends_its_conversation_only(tmp_path):
    engine = ToyEngine(fail=["a 1\nA 1\nand then?"])
    result = run(tmp_path, [ToyExam("a", 3, talk)], engine)
    assert sum(engine.asked.values()) == 3 + 3 + 2
    assert result.results["a"]["failures"] == 1
    assert [line["failure"] is None for line in lines(tmp_path)] == [True, False, True]


def test_what_an_engine_answered_before_it_broke_is_kept(tmp_path):
    broken = ToyEngine(stop_after=400, error=EngineError("out of order"))
    with pytest.raises(EngineError, match="out of order"):
        run(tmp_path, [ToyExam("a", 1000)], broken)
    again = ToyEngine()
    run(tmp_path, [ToyExam("a", 1000)], again)
    assert sum(again.asked.values()) == 600
    assert not again.asked & broken.asked


def test_a_stopped_run_says_how_to_go_on(tmp_path):
    engine = ToyEngine(stop_after=40, error=KeyboardInterrupt())
    with pytest.raises(RunInterruptedError) as caught:
        run(tmp_path, [ToyExam("a", 100)], engine)
    assert f"proctor run {tmp_path / 'out' / 'run.yaml'}" in str(caught.value)
    assert "40 answers" in str(caught.value)
    again = ToyEngine()
    run(tmp_path, [ToyExam("a", 100)], again)
    assert sum(again.asked.values()) == 60


def test_a_failure_is_a_value_and_is_asked_again_by_the_next_run(tmp_path):
    exam = ToyExam("a", 10)
    result = run(tmp_path, [exam], ToyEngine(fail=["a 3", "a 7"]))
    assert result.results["a"]["failures"] == 2
    assert result.results["a"]["failure_kinds"] == {"server_error": 2}
    assert lines(tmp_path)[3]["failure"] == {"kind": "server_error", "message": "no answer to a 3"}
    assert lines(tmp_path)[3]["prediction"] is None
    again = ToyEngine()
    result = run(tmp_path, [exam], again)
    assert sum(again.asked.values()) == 2
    assert result.results["a"]["failures"] == 0


def test_recorded_failures_may_stand(tmp_path):
    exam = ToyExam("a", 10)
    run(tmp_path, [exam], ToyEngine(fail=["a 3"]))
    again = ToyEngine()
    result = run(tmp_path, [exam], again, "again", retry_failed=False)
    assert not again.asked
    assert result.results["a"]["failures"] == 1
    assert files(tmp_path) == files(tmp_path, "again")


def test_an_equal_request_that_failed_is_not_asked_twice_in_one_run(tmp_path):
    engine = ToyEngine(fail=["a 1"])
    result = run(tmp_path, [ToyExam("a", 1000, distinct=2)], engine)
    assert set(engine.asked.values()) == {1}
    assert result.results["a"]["failures"] == 500


def test_when_everything_fails_scores_are_null_not_nan(tmp_path):
    run(tmp_path, [ToyExam("a", 2)], ToyEngine(fail=["a 0", "a 1"]))
    text = (tmp_path / "out" / "results.json").read_text()
    assert "NaN" not in text
    assert json.loads(text)["results"]["a"]["score"] is None


def test_a_limit_takes_the_first_items(tmp_path):
    engine = ToyEngine()
    result = run(tmp_path, [ToyExam("a", 10)], engine, limit=4)
    assert sum(engine.asked.values()) == 4
    assert result.results["a"]["n"] == 4
    assert RunSpec.load(tmp_path / "out").limit == 4


def test_engines_with_another_identity_share_no_answers(tmp_path):
    run(tmp_path, [ToyExam()], ToyEngine())
    other = ToyEngine(model="other")
    run(tmp_path, [ToyExam()], other, "other")
    assert sum(other.asked.values()) == 10


def test_samples_may_be_left_out(tmp_path):
    run(tmp_path, [ToyExam()], ToyEngine(), log_samples=False)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["results.json", "run.yaml"]


def test_nothing_is_written_without_an_output_folder(tmp_path):
    result = run_exams([ToyExam()], ToyEngine(), log=tmp_path / "log.db")
    assert result.output is None
    assert [path.name for path in tmp_path.iterdir()] == ["log.db"]


def test_a_half_written_folder_is_completed(tmp_path):
    with pytest.raises(EngineError):
        run(tmp_path, [ToyExam()], ToyEngine(stop_after=3, error=EngineError("no")))
    assert not (tmp_path / "out" / "results.json").exists()
    run(tmp_path, [ToyExam()], ToyEngine())
    assert (tmp_path / "out" / "results.json").exists()


def test_a_folder_with_another_run_is_left_alone(tmp_path):
    run(tmp_path, [ToyExam("a", 10)], ToyEngine())
    before = files(tmp_path)
    with pytest.raises(UsageError, match="holds another run") as caught:
        run(tmp_path, [ToyExam("a", 11)], ToyEngine())
    assert "exams.a" in str(caught.value)
    assert files(tmp_path) == before


def test_a_folder_that_cannot_be_made_is_an_error_before_anything_is_asked(tmp_path):
    (tmp_path / "file").write_text("in the way")
    engine = ToyEngine()
    with pytest.raises(OutputError, match="cannot be written"):
        run_exams([ToyExam()], engine, log=tmp_path / "log.db", output=tmp_path / "file" / "out")
    assert not engine.asked


def test_two_exams_of_one_name_are_refused(tmp_path):
    with pytest.raises(UsageError, match="two exams are named 'toy'"):
        run(tmp_path, [ToyExam(), ToyExam()], ToyEngine())


def test_an_error_in_the_data_is_raised_as_it_is_and_keeps_what_was_answered(tmp_path):
    class Torn(Toy):
        def questions(self):
            yield from ToyExam("a", 600).questions()
            raise UsageError("row 600 is torn")

    engine = ToyEngine()
    with pytest.raises(UsageError, match="row 600 is torn"):
        run(tmp_path, [Torn("a", 600).exam()], engine)
    again = ToyEngine()
    run_exams([ToyExam("a", 600)], again, log=tmp_path / "log.db")
    assert sum(engine.asked.values()) + sum(again.asked.values()) == 600
    assert not engine.asked & again.asked


class Answering(ToyEngine):
    """Yields what ``script`` makes of the requests."""

    script: object = None

    def generate(self, requests):
        return iter(self.script(list(requests)))


def test_answers_may_come_in_any_order(tmp_path):
    backwards = Answering(script=lambda requests: [(at, answer(requests[at])) for at in reversed(range(len(requests)))])
    result = run(tmp_path, [ToyExam("a", 50)], backwards)
    assert result.grades["a"].predictions[:2] == [[["A 0"]], [["A 1"]]]


def test_a_request_that_the_engine_forgets_is_a_failure(tmp_path):
    forgetful = Answering(script=lambda requests: [(at, answer(r)) for at, r in enumerate(requests) if at != 5])
    result = run(tmp_path, [ToyExam("a", 10)], forgetful)
    assert result.results["a"]["failures"] == 1
    assert lines(tmp_path)[5]["failure"]["message"] == "the engine ended without answering this request"


@pytest.mark.parametrize("position", [-1, 3, 99])
def test_an_answer_to_nothing_is_the_engine_s_fault(tmp_path, position):
    confused = Answering(script=lambda requests: [(at, answer(requests[0])) for at in (*range(5), position)])
    with pytest.raises(EngineError, match=f"answered request {position}, which is not open"):
        run(tmp_path, [ToyExam("a", 10)], confused)


def test_an_engine_that_stops_reading_is_told(tmp_path):
    class Lazy(ToyEngine):
        def generate(self, requests):
            for position, request in enumerate(requests):
                yield position, answer(request)
                if position == 2:
                    return

    with pytest.raises(EngineError, match="stopped before it had read all requests"):
        run(tmp_path, [ToyExam("a", 10)], Lazy())


def test_an_engine_is_closed_when_a_run_ends_early(tmp_path):
    closed = []

    class Closing(ToyEngine):
        def generate(self, requests):
            try:
                for request in requests:
                    yield 77, answer(request)
            finally:
                closed.append(True)

    with pytest.raises(EngineError):
        run(tmp_path, [ToyExam()], Closing())
    assert closed == [True]


@pytest.mark.parametrize("place", ["instance", "metadata"])
def test_an_engine_is_never_sent_what_it_may_not_see(tmp_path, place):
    class Classified(Toy):
        def questions(self):
            for item in super().questions():
                classes = {"data_classification_policy": ["public" if item.number < 300 else "secret"]}
                instance = classes if place == "instance" else {"metadata": classes}
                yield type(item)(item.number, instance, item.exchange, item.requests)

    engine = ToyEngine(data_classification_policy=["public"])
    with pytest.raises(PolicyError, match="may not see this data"):
        run(tmp_path, [Classified("a", 310).exam()], engine)
    assert 0 < sum(engine.asked.values()) <= 300


def test_a_stand_in_answers_for_an_engine(tmp_path, monkeypatch):
    monkeypatch.setenv("PROCTOR_ENGINE_MAP", "toy=scripted[answer=yes]")
    engine = ToyEngine()
    result = run(tmp_path, [ToyExam("a", 3)], engine)
    assert not engine.asked
    assert result.grades["a"].predictions == [[["yes"]]] * 3


class Listed(ToyEngine):
    """Answers with numbers, whatever is asked."""

    @property
    def answers_in_order(self) -> bool:
        return True

    def generate(self, requests):
        return ((at, Response(texts=(str(at),))) for at, _ in enumerate(requests))


def test_answers_that_belong_to_places_are_not_shared_or_kept(tmp_path):
    exams = [ToyExam("a", 300, distinct=2), ToyExam("b", 3)]
    for name in ("first", "second"):
        result = run(tmp_path, exams, Listed(), name)
        assert result.grades["a"].predictions == [[[str(number)]] for number in range(300)]
        assert result.grades["b"].predictions == [[["300"]], [["301"]], [["302"]]]
    assert not (tmp_path / "log.db").exists()


class Watching(SilentObserver):
    def __init__(self) -> None:
        self.events: list[object] = []
        self.last = None

    def started(self, exams, engine):
        self.events.append(("started", tuple(exams), engine))

    def asking(self, progress):
        self.last = progress

    def graded(self, exam: str, grade: Grade):
        self.events.append(("graded", exam))

    def finished(self):
        self.events.append("finished")


def test_an_observer_sees_the_run(tmp_path):
    run(tmp_path, [ToyExam("a", 10)], ToyEngine(), "first", limit=4)
    watching = Watching()
    run(tmp_path, [ToyExam("a", 10)], ToyEngine(fail=["a 5"]), observer=watching)
    assert watching.events == [("started", ("a",), "toy"), ("graded", "a"), "finished"]
    assert (watching.last.cached, watching.last.asked, watching.last.failed, watching.last.total) == (4, 6, 1, 10)
    assert watching.last.usage.completion_tokens == 5


def test_an_observer_may_know_the_total_from_the_start(tmp_path):
    class Counting(Watching):
        wants_total = True
        totals = ()

        def asking(self, progress):
            self.totals += (progress.total,)

    counting = Counting()
    run(tmp_path, [ToyExam("a", 10), ToyExam("b", 2, talk, choice)], ToyEngine(), observer=counting)
    assert counting.totals[0] == 10 + 2 * (3 + 1)
    assert counting.totals[-1] == 10 + 2 * (3 + 1)


def test_an_observer_is_told_of_the_end_of_a_run_that_fails(tmp_path):
    watching = Watching()
    with pytest.raises(EngineError):
        run(tmp_path, [ToyExam()], ToyEngine(stop_after=1, error=EngineError("no")), observer=watching)
    assert watching.events[-1] == "finished"


class Purse:
    why = "the purse is empty"

    def __init__(self, answers: int) -> None:
        self.left = answers

    def claim(self, request: Any, engine: Any) -> Claim | None:
        self.left -= 1
        return Claim(0, 0, 0) if self.left >= 0 else None

    def settle(self, claim: Claim, response: Response) -> None:
        pass


def test_a_budget_stops_asking_and_the_rest_is_failed_but_not_recorded(tmp_path):
    engine = ToyEngine()
    result = run(tmp_path, [ToyExam("a", 10)], engine, budget=Purse(4))
    assert sum(engine.asked.values()) == 4
    assert result.results["a"]["failure_kinds"] == {"budget": 6}
    assert lines(tmp_path)[9]["failure"]["message"] == "the purse is empty"
    with ResponseLog(tmp_path / "log.db") as log:
        assert (log.stats().responses, log.stats().failures) == (4, 0)


def test_surrogates_and_odd_values_reach_the_files(tmp_path):
    odd = "half a pair \ud83d and a whole \U0001f600"

    class Odd(Toy):
        def questions(self):
            for item in super().questions():
                yield type(item)(
                    item.number, {"text": odd, "nan": float("nan"), "bytes": b"x"}, item.exchange, item.requests
                )

    engine = Answering(script=lambda requests: [(at, Response(texts=(odd,))) for at, _ in enumerate(requests)])
    run(tmp_path, [Odd("a", 2).exam()], engine)
    line = lines(tmp_path)[0]
    assert line["input"] == {"text": odd, "nan": None, "bytes": "eA=="}
    assert line["output"] == "half a pair \ufffd and a whole \U0001f600"


def test_secrets_of_an_engine_are_written_nowhere(tmp_path):
    class Keyed(ToyEngine):
        api_key: str = ""

    run(tmp_path, [ToyExam()], Keyed(api_key="hush-hush"))
    for path in [tmp_path / "log.db", *(tmp_path / "out").iterdir()]:
        assert b"hush-hush" not in path.read_bytes()


def test_failures_from_an_engine_are_stored_beside_answers(tmp_path):
    run(tmp_path, [ToyExam("a", 5)], ToyEngine(fail=["a 2"]))
    with ResponseLog(tmp_path / "log.db") as log:
        stats = log.stats()
    assert (stats.responses, stats.failures, stats.engines) == (4, 1, 1)


def test_what_can_be_known_before_asking_is_said_of_every_exam_at_once(tmp_path):
    class Blind(ToyEngine):
        can_score = False

    engine = Blind()
    with pytest.raises(UsageError) as caught:
        run(tmp_path, [ToyExam("a", 3, choice), ToyExam("b", 3), ToyExam("c", 3, choice)], engine)
    assert [each.what for each in caught.value.diagnostics] == ["'toy' cannot sit 'a'", "'toy' cannot sit 'c'"]
    assert not engine.asked
    assert not (tmp_path / "out").exists()


def test_an_exam_that_cannot_be_graded_leaves_the_others_results(tmp_path):
    class Odd(Toy):
        def grade(self, answered):
            list(answered)
            raise ValueError("no score fits")

    result = run(tmp_path, [ToyExam("a", 3), Odd("b", 3).exam(), ToyExam("c", 2)], ToyEngine())
    assert sorted(result.results) == ["a", "b", "c"]
    assert result.results["b"] == {"error": "ValueError: no score fits (@ b)"}
    written = json.loads((tmp_path / "out" / "results.json").read_text())["results"]
    assert written["b"]["error"] == result.results["b"]["error"]
    assert [written[name]["n"] for name in "ac"] == [3, 2]
    assert {line["exam"] for line in lines(tmp_path)} == {"a", "c"}


def test_a_row_that_cannot_be_used_is_a_failed_instance(tmp_path):
    class Torn(Toy):
        def questions(self):
            for each in super().questions():
                torn = structs.replace(each, requests=(), failure=Failure("row", "no such column"))
                yield torn if each.number == 2 else each

    engine = ToyEngine()
    result = run(tmp_path, [Torn("a", 4).exam()], engine)
    assert (result.results["a"]["n"], result.results["a"]["failures"]) == (4, 1)
    assert result.results["a"]["failure_kinds"] == {"row": 1}
    assert sum(engine.asked.values()) == 3
    assert lines(tmp_path)[2]["failure"] == {"kind": "row", "message": "no such column"}
