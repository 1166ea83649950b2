"""What a judge is asked for assertions, and what its answers mean."""

import pytest

from proctor.engines.scripted import ScriptedEngine
from proctor.ir import Failure
from proctor.scoring.assertions import Assertion
from proctor.scoring.judges.assertions import Hearing, judged


def judge(**replies: str) -> ScriptedEngine:
    return ScriptedEngine(function=lambda prompt: next(said for word, said in replies.items() if word in str(prompt)))


def test_a_criterion_whose_steps_cannot_be_read_is_a_failure_and_the_others_are_judged():
    engine = judge(Write="no steps today", Decide='{"pass": true, "score": 1}')
    asserted = [Assertion("g-eval", "is short"), Assertion("llm-rubric", "is polite"), Assertion("g-eval", "is short")]
    first, second, third = judged(engine, [Hearing(each, "Who?", "Me.") for each in asserted])
    assert isinstance(first, Failure)
    assert "no steps in the judge's answer, which is to be one JSON object: 'no steps today'" in first.message
    assert (second.score, third) == (1.0, first)


@pytest.mark.parametrize("said", ['{"steps": []}', '{"steps": "count"}', '{"parts": ["count"]}'])
def test_steps_are_a_list_of_some(said):
    (found,) = judged(judge(Write=said), [Hearing(Assertion("g-eval", "is short"), "Who?", "Me.")])
    assert found.message.startswith("no steps in the judge's answer: ")
