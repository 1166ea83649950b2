from proctor.ir import Failure, Generate, Prompt, Response
from proctor.ir.exchange import Exchange
from proctor.ir.question import Answered, Question
from proctor.running.rounds import count_paid


def answered(*responses: Response) -> Answered:
    return Answered(Question(0, {}, Exchange(()), (Generate(Prompt("q")),) * len(responses)), responses)


def test_what_stands_before_the_first_unpaid_answer_is_paid():
    good, timeout = answered(Response(texts=("a",))), answered(Response(failure=Failure("timeout", "late")))
    unpaid = answered(Response(texts=("a",)), Response(failure=Failure("budget", "used up")))
    assert count_paid([]) == 0
    assert count_paid([good, timeout, good]) == 3
    assert count_paid([good, timeout, unpaid, good, unpaid]) == 2
