"""Fault schedules on a virtual clock: nothing lost, nothing asked twice, equal answers."""

import os
import time
import tracemalloc

import pytest
from tests_virtual import VirtualLoop, simulated

from proctor.engines.http.openai_engine import OpenAIEngine
from proctor.ir import Generate, Prompt
from proctor.testing.behaviour import Behaviour
from proctor.testing.faults import Fault, Faults

COUNT = 60
SCHEDULES = int(os.environ.get("PROCTOR_FAULT_SCHEDULES", "200"))
"""`make soak` sets 10,000."""


def run(behaviour, count=COUNT, **fields):
    engine = simulated(OpenAIEngine(model="m", base_url="http://simulated", **fields), behaviour)
    answers = list(engine.generate(Generate(Prompt(f"Question {n}?")) for n in range(count)))
    assert sorted(position for position, _ in answers) == list(range(count))
    return dict(answers)


@pytest.fixture(scope="module")
def undisturbed():
    return {position: response.texts for position, response in run(Behaviour()).items()}


@pytest.mark.parametrize("seed", range(SCHEDULES))
def test_faults_that_pass_change_nothing(seed, undisturbed):
    behaviour = Behaviour(
        faults=Faults.random(seed, rate=0.2 + seed % 5 / 10, seconds=20, retry_after_seconds=60),
        latency_seconds=seed % 3 * 0.05,
        max_concurrency=(None, 1, 7)[seed % 3],
        reject=False,
    )
    answers = run(behaviour, max_concurrency=1 + seed % 16)
    assert {position: response.texts for position, response in answers.items()} == undisturbed
    assert all(response.failure is None for response in answers.values())
    statistics = behaviour.statistics()
    assert statistics["answered_twice"] == 0
    assert len(statistics["answered"]) == COUNT


@pytest.mark.parametrize("seed", range(40))
def test_faults_that_stay_are_recorded_with_their_reason(seed, undisturbed):
    behaviour = Behaviour(faults=Faults.random(seed, rate=0.8, seconds=200, most_per_request=50))
    answers = run(behaviour, max_retries=2, timeout=300, max_concurrency=8)
    failed = {position: response for position, response in answers.items() if response.failure}
    assert failed
    for position, response in answers.items():
        assert response.failure or response.texts == undisturbed[position]
    for response in failed.values():
        assert 1 <= response.failure.attempts <= 3
        assert response.failure.kind in {"server_error", "rate_limited", "connection", "protocol", "timeout"}
        assert response.texts == ()


def test_schedules_repeat():
    first, second = (
        {position: (response.texts, response.failure) for position, response in run(Behaviour(faults=faults)).items()}
        for faults in (Faults.random(5, most_per_request=50), Faults.random(5, most_per_request=50))
    )
    assert first == second


def test_a_server_that_turns_requests_away_is_asked_again():
    behaviour = Behaviour(latency_seconds=1, max_concurrency=4, reject=True)
    answers = run(behaviour, max_concurrency=16, max_retries=40)
    assert all(response.failure is None for response in answers.values())
    assert behaviour.statistics()["answered_twice"] == 0


def test_hours_pass_in_no_time():
    began = time.monotonic()
    answers = run(Behaviour(faults=Faults.first(Fault("status", status=503, retry_after="3000"))), timeout=7200)
    assert all(response.failure is None for response in answers.values())
    assert time.monotonic() - began < 5


def test_the_clock_jumps_by_what_is_waited():
    import asyncio

    loop = VirtualLoop()
    loop.run_until_complete(asyncio.sleep(3600))
    loop.close()
    assert loop.elapsed == pytest.approx(3600)


@pytest.mark.slow
def test_memory_is_flat_in_the_number_of_requests():
    def peak(count):
        tracemalloc.start()
        engine = simulated(OpenAIEngine(model="m", base_url="http://simulated", max_concurrency=256), _Forgetful())
        answered = sum(1 for _ in engine.generate(Generate(Prompt(f"Question {n}?")) for n in range(count)))
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert answered == count
        return most

    peak(500)
    assert peak(12_000) < 1.5 * peak(3_000)


class _Forgetful(Behaviour):
    """Counts nothing, so that only the engine's memory is measured."""

    def plan(self, path, authorization, content):
        found = super().plan(path, authorization, content)
        self.asked.clear()
        self.answered.clear()
        self.prompts.clear()
        return found
