"""Asking: how often what is asked, in which order, what is counted, and what a pause for the budget changes."""

from __future__ import annotations

import asyncio
import json
import zlib
from collections import Counter
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from running_fakes import Toy, ToyEngine, ToyExam, answer, choice, question, talk
from tests_made_exams import made_exam

from proctor.engines.http.openai_engine import OpenAIEngine
from proctor.engines.http.transport import Reply
from proctor.errors import EngineError, PolicyError
from proctor.ir import Choose, Converse, Decoding, Generate, Likelihood, Pair, Prompt, Response, Rolling
from proctor.running import ResponseLog, SilentObserver, execute, run_exams
from proctor.running.question_spool import QuestionSpool
from proctor.running.reckoning import Claim

_SPEC = spec_from_file_location("model_server", Path(__file__).resolve().parents[2] / "benchmarks" / "model_server.py")
assert _SPEC is not None
assert _SPEC.loader is not None
model_server = module_from_spec(_SPEC)
_SPEC.loader.exec_module(model_server)
MEGABYTE = "x" * (1 << 20)


class Totals(SilentObserver):
    """Keeps what a run tells."""

    wants_total = True

    def __init__(self) -> None:
        self.seen: list[tuple[int | None, int, int, int]] = []

    def asking(self, progress):
        self.seen.append((progress.total, progress.cached, progress.asked, progress.answered))


def told(exams, folder: Path, engine=None, **options) -> list[tuple[int | None, int, int, int]]:
    totals = Totals()
    run_exams(exams, engine or ToyEngine(), log=folder / "log.db", observer=totals, **options)
    return totals.seen


class Counted(Toy):
    """Counts how often a question is put in words."""

    made: Counter[int]

    def questions(self):
        self.made = getattr(self, "made", Counter())
        for each in super().questions():
            self.made[each.number] += 1
            yield each


def long_chat(name: str, number: int):
    return Generate(Prompt(({"role": "user", "content": f"{name} {number}"},)))


def long_text(name: str, number: int):
    return Generate(Prompt(f"{number} {MEGABYTE}"))


def long_choice(name: str, number: int):
    return Choose((Pair(Prompt(f"{number} {MEGABYTE}"), " A"), Pair(Prompt("short"), " B")))


def long_rolling(name: str, number: int):
    return Rolling(f"{number} {MEGABYTE}")


def test_what_is_counted_for_a_total_is_put_in_words_once(tmp_path):
    exam = Counted("a", 300)
    seen = told([exam.exam(), ToyExam("b", 5, choice, talk)], tmp_path)
    assert {total for total, *_ in seen} == {300 + 5 * (1 + 3)}
    assert set(exam.made.values()) == {1}, "to count, to ask and to grade"


@pytest.mark.parametrize("make", [long_text, long_choice, long_rolling])
@pytest.mark.parametrize("count, is_known", [(50, True), (70, False)])
def test_prompts_of_64_megabytes_are_not_held_for_a_total(tmp_path, make, count, is_known):
    class Silent(ToyEngine):
        def _answer(self, requests):
            for position, request in enumerate(requests):
                self.asked[request.key] += 1
                yield position, Response(texts=("yes",)) if isinstance(request, Generate) else Response(scores=(1,) * 2)

        def score(self, requests):
            for position, request in enumerate(requests):
                self.asked[request.key] += 1
                found = answer(request) if isinstance(request, Choose) else Response(failure=None)
                yield position, found

    engine = Silent()
    seen = told([ToyExam("a", count, make)], tmp_path, engine)
    assert seen[0][0] == (count if is_known else None)
    assert set(engine.asked.values()) == {1}
    assert len(engine.asked) == count, "whoever gives up counting loses nothing"
    assert seen[-1][0] == count


def test_chats_and_conversations_count_as_four_thousand_characters_each(tmp_path, monkeypatch):
    for make, least in ((long_chat, 1), (talk, 3)):
        monkeypatch.setattr(execute, "_MOST_COUNTED", 10 * 4096)
        assert told([ToyExam("a", 10, make)], tmp_path)[0][0] == 10 * least
        assert told([ToyExam("b", 11, make)], tmp_path)[0][0] is None
        (tmp_path / "log.db").unlink()


def test_counting_gives_up_after_a_second(tmp_path, monkeypatch):
    class Slow(Toy):
        def questions(self):
            for each in super().questions():
                clock[0] += 0.3
                yield each

    clock = [100.0]
    monkeypatch.setattr(execute.time, "monotonic", lambda: clock[0])
    engine = ToyEngine()
    assert told([Slow("a", 5).exam()], tmp_path, engine)[0][0] is None
    assert sum(engine.asked.values()) == 5
    assert told([Slow("b", 3).exam()], tmp_path)[0][0] == 3


def test_the_last_word_is_that_all_is_done(tmp_path):
    exams = [ToyExam("a", 40, distinct=10)]
    assert told(exams, tmp_path)[0][0] == 40
    assert told(exams, tmp_path)[-1] == (40, 40, 0, 0), "all of it from the log"
    (tmp_path / "log.db").unlink()
    assert told(exams, tmp_path)[-1] == (10, 0, 10, 10), "equal requests are one"
    quiet = SilentObserver()
    assert not quiet.wants_total


def test_turns_that_the_log_knows_are_counted_one_by_one(tmp_path):
    with pytest.raises(EngineError):
        told([ToyExam("a", 4, talk)], tmp_path, ToyEngine(stop_after=6, error=EngineError("out")))
    seen = told([ToyExam("a", 4, talk)], tmp_path)
    assert seen[-1] == (12, 6, 6, 6)
    assert told([ToyExam("a", 4, talk)], tmp_path)[-1] == (12, 12, 0, 0)
    mixed = told([ToyExam("a", 4, talk, choice, question)], tmp_path)
    assert mixed[-1] == (20, 12, 8, 8)
    result = run_exams([ToyExam("a", 4, talk, choice, question)], ToyEngine(), log=tmp_path / "log.db")
    assert result.run["requests"]["from_log"] == 20


class Calls(ToyEngine):
    """Notes which of its methods is called with what, and reads all before it answers."""

    transient_fields = ToyEngine.transient_fields | {"calls"}
    calls: Any = None

    def prepare(self) -> None:
        super().prepare()
        self.calls = []

    def _all(self, kind, requests):
        read = list(requests)
        self.calls.append((kind, len(read)))
        for position, request in enumerate(read):
            self.asked[request.key] += 1
            yield position, answer(request)

    def generate(self, requests):
        return self._all("generate", requests)

    def score(self, requests):
        return self._all("score", requests)


def test_requests_of_all_exams_flow_through_one_call_per_kind_and_round(tmp_path):
    engine = Calls()
    exams = [ToyExam("a", 3, choice), ToyExam("b", 4), ToyExam("c", 2, question, choice), ToyExam("d", 5, talk)]
    run_exams(exams, engine, log=tmp_path / "log.db")
    assert engine.calls == [("generate", 4 + 2 + 5), ("score", 3 + 2), ("generate", 5), ("generate", 5)]
    assert set(engine.asked.values()) == {1}


@pytest.mark.parametrize("kinds", [{"choose"}, {"choose", "likelihood", "rolling", "rolling_chat"}])
def test_an_exam_that_only_compares_never_meets_the_other_method(tmp_path, kinds):
    class All(Calls):
        scores_chats = True

    engine, toy = All(), Toy("a", 3, choice)
    run_exams([made_exam("a", toy.questions, toy.grade, kinds=frozenset(kinds))], engine, log=tmp_path / "log.db")
    assert engine.calls == [("score", 3)]


class Gate:
    """A budget that refuses the claims of some numbers as long as anything is on its way."""

    why = "the gate is shut"

    def __init__(self, *refused: int, for_ever: bool = False) -> None:
        self.refused, self.for_ever = set(refused), for_ever
        self.count = 0
        self.held: list[Claim] = []
        self.settled: list[tuple[Claim, Response]] = []

    def claim(self, request, engine):
        self.count += 1
        is_idle = len(self.held) == len(self.settled)
        if (self.for_ever and self.count >= min(self.refused)) or (self.count in self.refused and not is_idle):
            return None
        self.held.append(Claim(self.count, None, 0))
        return self.held[-1]

    def settle(self, claim, response):
        self.settled.append((claim, response))


makers = st.lists(st.sampled_from([question, choice, talk]), min_size=1, max_size=3)


@settings(max_examples=25)
@given(makers, st.integers(1, 12), st.sets(st.integers(2, 12), max_size=4), st.booleans())
def test_pauses_for_a_budget_change_nothing(tmp_path_factory, makers, distinct, refused, reads_all):
    folder = tmp_path_factory.mktemp("pauses")
    exams = [ToyExam("a", 12, *makers, distinct=distinct), ToyExam("b", 3, *makers)]
    engine, gate = (Calls() if reads_all else ToyEngine()), Gate(*refused)
    paused = run_exams(exams, engine, log=folder / "log.db", budget=gate)
    free_engine = ToyEngine()
    free = run_exams(exams, free_engine, log=folder / "free.db")
    assert paused.stopped is None
    assert engine.asked == free_engine.asked
    assert {name: grade.predictions for name, grade in paused.grades.items()} == {
        name: grade.predictions for name, grade in free.grades.items()
    }
    assert [claim for claim, _ in gate.settled] == gate.held, "whatever was held is settled, in order"
    assert paused.run["requests"]["asked"] == sum(engine.asked.values())


def test_a_pause_asks_nothing_twice_that_was_planned_before_it(tmp_path):
    engine, gate = Calls(), Gate(3)
    run_exams([ToyExam("a", 600, distinct=300)], engine, log=tmp_path / "log.db", budget=gate)
    assert set(engine.asked.values()) == {1}
    assert len(engine.asked) == 300
    assert engine.calls == [("generate", 2), ("generate", 298)]


def test_a_budget_that_stays_shut_ends_the_run_with_its_reason(tmp_path):
    engine, gate = Calls(), Gate(6, for_ever=True)
    result = run_exams([ToyExam("a", 9), ToyExam("b", 3, choice)], engine, log=tmp_path / "log.db", budget=gate)
    assert result.stopped == "the gate is shut"
    assert engine.calls == [("generate", 5), ("generate", 0), ("score", 0)]
    assert gate.count == 8, "once more when nothing was on its way, and then no more of the kind"
    assert [result.results[name]["failures"] for name in "ab"] == [4, 3]


def test_what_an_engine_never_answers_is_settled_too(tmp_path):
    class Forgetful(Calls):
        def generate(self, requests):
            return ((at, found) for at, found in super().generate(requests) if at != 1)

    gate = Gate()
    run_exams([ToyExam("a", 3)], Forgetful(), log=tmp_path / "log.db", budget=gate)
    assert len(gate.settled) == 3
    assert [found.failure is not None for _, found in gate.settled] == [False, False, True]


def classified(*classes: str | None):
    class Classified(Toy):
        def questions(self):
            for each in super().questions():
                own = classes[each.number]
                instance = {} if own is None else {"data_classification_policy": [own]}
                yield type(each)(each.number, instance, each.exchange, each.requests)

    return Classified("a", len(classes)).exam()


def test_rows_that_do_not_say_what_they_are_are_warned_of_once_and_hide_no_other(tmp_path, monkeypatch):
    warned = []
    monkeypatch.setattr(
        "proctor.data.policy.get_logger", lambda: type("", (), {"warning": lambda *args: warned.append(args)})
    )
    engine = ToyEngine(data_classification_policy=["public"])
    run_exams([classified("public", "public")], engine, log=tmp_path / "log.db")
    assert (warned, sum(engine.asked.values())) == ([], 2)
    run_exams([classified("public", None, None, "public", None)], engine, log=tmp_path / "log.db")
    assert len(warned) == 1
    for classes in ((None, "secret"), ("public", None, "secret"), ("secret",)):
        fresh = ToyEngine(data_classification_policy=["public"])
        with pytest.raises(PolicyError, match="may not see this data"):
            run_exams([classified(*classes)], fresh, log=tmp_path / "log.db")
        assert not fresh.asked
    warned.clear()
    run_exams([classified(None, "secret")], ToyEngine(), log=tmp_path / "log.db")
    assert warned == []


def test_an_exam_is_written_down_once_for_grading_however_many_rounds_it_takes(tmp_path, monkeypatch):
    recorded = []
    original = QuestionSpool.record
    monkeypatch.setattr(QuestionSpool, "record", lambda self, exam: recorded.append(exam.name) or original(self, exam))
    exam = Counted("a", 6, question, choice, talk)
    run_exams([exam.exam(), ToyExam("b", 2, choice)], ToyEngine(), log=tmp_path / "log.db", output=tmp_path / "out")
    assert sorted(recorded) == ["a", "b"]


class Reseeding(ToyEngine):
    """Draws equal answers to equal requests, and notes what it was sent."""

    sent: Any = None
    draws_alike = True
    transient_fields = ToyEngine.transient_fields | {"sent"}

    def prepare(self) -> None:
        super().prepare()
        self.sent = []

    def generate(self, requests):
        def noted():
            for each in requests:
                self.sent.append(each)
                yield each

        return super().generate(noted())


@pytest.mark.parametrize(
    "decoding, draws_alike, are_reseeded",
    [
        (Decoding(temperature=0.7), True, True),
        (Decoding(temperature=0.7), False, False),
        (Decoding(temperature=0.7, seed=3), False, True),
        (Decoding(), True, False),
        (Decoding(seed=3), True, False),
    ],
)
def test_repeats_are_drawn_with_seeds_of_their_own_where_they_would_be_equal(
    tmp_path, decoding, draws_alike, are_reseeded
):
    def drawn(name: str, number: int):
        return Generate(Prompt(f"{name} {number}"), decoding)

    class Engine(Reseeding):
        pass

    Engine.draws_alike = draws_alike
    engine = Engine()
    result = run_exams([ToyExam("a", 2, drawn, drawn, drawn)], engine, log=tmp_path / "log.db")
    seeds = [each.decoding.seed for each in engine.sent]
    assert seeds[0] == seeds[3] == decoding.seed
    assert len(set(seeds[:3])) == (3 if are_reseeded else 1)
    assert seeds[:3] == seeds[3:]
    assert {each.prompt.text for each in engine.sent} == {"a 0", "a 1"}
    assert {each.decoding.temperature for each in engine.sent} == {decoding.temperature}
    assert len(result.grades["a"].predictions[0]) == 3
    again = Engine()
    run_exams([ToyExam("a", 2, drawn, drawn, drawn)], again, log=tmp_path / "log.db")
    assert not again.sent, "filed under the requests as the exam makes them"


def test_the_temperature_of_an_engine_counts_where_a_request_names_none(tmp_path):
    class Warm(Reseeding):
        def decoding_defaults(self):
            return {"temperature": 0.5}

    engine = Warm()
    run_exams([ToyExam("a", 1, question, question)], engine, log=tmp_path / "log.db")
    assert len({each.decoding.seed for each in engine.sent}) == 2


def test_failed_turns_and_requests_are_asked_once_a_run_and_again_by_the_next(tmp_path):
    def exam():
        return ToyExam("a", 600, question, talk, distinct=3)

    engine = ToyEngine(fail=["a 1", "a 2\nA 2\nand then?"])
    run_exams([exam()], engine, log=tmp_path / "log.db")
    assert set(engine.asked.values()) == {1}
    stands = ToyEngine()
    run_exams([exam()], stands, log=tmp_path / "log.db", retry_failed=False)
    assert not stands.asked
    again = ToyEngine()
    result = run_exams([exam()], again, log=tmp_path / "log.db")
    assert sum(again.asked.values()) == 1 + 3 + 2  # a question, a whole conversation, and what is left of another
    assert result.results["a"]["failures"] == 0


def test_an_engine_that_answers_in_order_has_answers_of_places(tmp_path):
    class Listed(Calls):
        @property
        def answers_in_order(self):
            return True

    engine = Listed()
    run_exams([ToyExam("a", 3, distinct=1), ToyExam("b", 2, distinct=1)], engine, log=tmp_path / "log.db")
    assert engine.calls == [("generate", 5)]


def test_rolling_and_likelihood_requests_are_scored(tmp_path):
    class Scoring(Calls):
        def _all(self, kind, requests):
            read = list(requests)
            self.calls.append((kind, [type(each) for each in read]))
            for position, request in enumerate(read):
                self.asked[request.key] += 1
                pairs = getattr(request, "pairs", (None,))
                yield position, Response(scores=answer(Choose(tuple(Pair(Prompt("x"), "y") for _ in pairs))).scores)

    def rolling(name, number):
        return Rolling(f"{name} {number}")

    def likely(name, number):
        return Likelihood(Prompt(name), str(number))

    engine = Scoring()
    seen = told([ToyExam("a", 2, rolling, likely)], tmp_path, engine)
    assert engine.calls[-1] == ("score", [Rolling, Likelihood] * 2)
    assert seen[0][0] == 4
    assert isinstance(talk("a", 1), Converse)
    with ResponseLog(tmp_path / "log.db") as log:
        assert log.stats().responses == 4


def test_an_engine_that_stops_reading_after_a_pause_is_told_too(tmp_path):
    class Tired(Calls):
        def generate(self, requests):
            if self.calls:
                self.calls.append(("generate", 1))
                yield 0, answer(next(iter(requests)))
            else:
                yield from super().generate(requests)

    engine = Tired()
    with pytest.raises(EngineError, match="stopped before it had read all requests"):
        run_exams([ToyExam("a", 9)], engine, log=tmp_path / "log.db", budget=Gate(3))
    assert engine.calls == [("generate", 2), ("generate", 1)]


def test_answers_are_closed_at_once_also_where_somebody_holds_on_to_them(tmp_path):
    class Holding(Calls):
        def generate(self, requests):
            self.calls.append(self._endless(requests))
            return self.calls[-1]

        def _endless(self, requests):
            try:
                for request in requests:
                    yield 77, answer(request)
            finally:
                closed.append(True)

    closed, engine = [], Holding()
    with pytest.raises(EngineError, match="answered request 77"):
        run_exams([ToyExam("a", 3)], engine, log=tmp_path / "log.db")
    assert closed == [True]


def test_conversations_are_led_to_their_end_one_after_the_other(tmp_path):
    """A server that keeps the beginnings of few prompts finds each turn's there."""

    class Listens(ToyEngine):
        transient_fields = ToyEngine.transient_fields | {"lengths"}
        lengths: Any = None

        def generate(self, requests):
            self.lengths = []
            for position, request in enumerate(requests):
                self.lengths.append(len(request.prompt.messages))
                yield position, answer(request)

    engine = Listens()
    result = run_exams([ToyExam("d", 5, talk)], engine, log=tmp_path / "log.db")
    one = engine.lengths[: len(engine.lengths) // 5]
    assert one == sorted(set(one)), "each turn has the ones before it"
    assert engine.lengths == one * 5
    by_rounds = run_exams([ToyExam("d", 5, talk)], Calls(), log=tmp_path / "other.db")
    assert [result.results["d"][name] for name in ("score", "n", "answers")] == [
        by_rounds.results["d"][name] for name in ("score", "n", "answers")
    ]


def long_talk(name, number):
    turns = []
    for turn in range(5):
        turns += [{"role": "user", "content": " ".join(f"{number}.{turn}.{word}" for word in range(120))}, None]
    return Converse(tuple(turns))


class Chat:
    """A chat server that keeps some blocks of what it read, as vLLM does."""

    def __init__(self, blocks: int):
        self.cache = model_server.PrefixCache(blocks)

    async def post(self, url, body, headers, timeout_seconds):
        said = [word for message in json.loads(body)["messages"] for word in message["content"].split()]
        ids = [zlib.crc32(word.encode()) for word in said]
        self.cache.run(ids)
        await asyncio.sleep(0.002)
        text = " ".join(f"{said[-1]}.{word}" for word in range(60))
        computed = self.cache.computed
        self.cache.run(ids + [zlib.crc32(word.encode()) for word in text.split()])  # what it wrote is kept, too
        self.cache.computed = computed
        choice = {"message": {"content": text}, "finish_reason": "stop"}
        return Reply(200, {}, json.dumps({"choices": [choice]}).encode())

    async def close(self):
        pass


def test_a_server_that_keeps_few_conversations_finds_each_turns_beginning(tmp_path):
    computed = {}
    for blocks in (1 << 30, 1024):
        server = Chat(blocks)
        engine = OpenAIEngine(model="m", base_url="http://127.0.0.1:1/v1", max_concurrency=8)
        engine._make_transport = lambda server=server: server
        result = run_exams([ToyExam("d", 60, long_talk)], engine, log=tmp_path / f"{blocks}.db")
        assert result.results["d"]["failures"] == 0
        computed[blocks] = server.cache.computed
    assert computed[1024] <= 1.05 * computed[1 << 30], "60 conversations have 3,400 blocks; eight at a time, 450"
