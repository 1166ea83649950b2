"""Has a model seen an exam in the order in which it is published? Likelihoods of that order beside those of others."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Unpack

from proctor.engines.engine import Engine
from proctor.errors import DataError, EngineError, UsageError
from proctor.ir import Exchange, Rolling
from proctor.ir.question import Question
from proctor.jsonable import jsonable
from proctor.randomness import random_stream
from proctor.recipes.exam import Exam
from proctor.running.checks import check_exams
from proctor.running.drawn_questions import ORDER_SEED, part_of
from proctor.running.rounds import ask_round
from proctor.running.session import Terms, session_with
from proctor.statistics.exchangeability import OrderTest, grouped_p, order_test

_FEWEST: Final = 5  # instances of a shard: they have 120 orders
_BETWEEN: Final = "\n\n"  # instances, as between documents of a file
_LONGEST_VALUE: Final = 40  # characters of what instances may be grouped by: a topic, a label, and no question
_MOST_GROUPED: Final = 0.01  # p, of all fields together, below which instances lie in an order of their own


@dataclass(frozen=True, slots=True)
class Orders:
    """The orders of an exam's instances that a model is to read.

    Attributes:
        part: They as an exam: a question for each shard, a request for each order, the published one first.
        instances: How many there are.
        permutations: How many other orders each shard has.
        seed: Of these orders.
    """

    part: Exam
    instances: int
    permutations: int
    seed: int


def orders_of(exam: Exam, shards: int, permutations: int, seed: int | None = None) -> Orders:
    """Return the orders of an exam that are compared.

    Raises:
        UsageError: There are too few instances, or they are sorted by something, so that any model would find their
            order likelier.
        DataError: Some cannot be put in words.
    """
    seed, questions = ORDER_SEED if seed is None else seed, list(exam.questions())
    texts = [_text_of(exam, each) for each in questions]
    if len(texts) < _FEWEST * shards:
        why = f"it has {len(texts)} instances, and a shard takes {_FEWEST}"
        hint = f"--shards {len(texts) // _FEWEST}" if len(texts) >= 2 * _FEWEST else "choose a larger exam"
        raise UsageError(f"'{exam.name}' cannot be divided into {shards} shards", why=why, hint=hint)
    _check_ungrouped(exam, questions, seed)
    ends = [len(texts) * place // shards for place in range(shards + 1)]
    asked = []
    for place in range(shards):
        inside, stream = texts[ends[place] : ends[place + 1]], random_stream(f"orders of {exam.name}", seed + place)
        orders = [inside, *(stream.sample(inside, len(inside)) for _ in range(permutations))]
        requests = tuple(Rolling(_BETWEEN.join(each)) for each in orders)
        asked.append(Question(place, {"shard": place}, Exchange(()), requests, digest=questions[ends[place]].digest))
    return Orders(part_of(exam, asked, frozenset({"rolling"})), len(texts), permutations, seed)


def _text_of(exam: Exam, question: Question) -> str:
    """Return an instance in words: its question without demos and instruction, and the right answer."""
    found = question.exchange
    right = found.choices[found.gold] if found.gold is not None and found.choices else found.answer
    said = found.source, right if right is not None else next(iter(found.references), "")
    rolled = next((each.text for each in question.requests if isinstance(each, Rolling)), "")
    text = rolled or " ".join(each.strip() for each in map(str, said) if each.strip())
    if question.failure is not None or not text:
        why = "it has no words" if question.failure is None else question.failure.message
        raise DataError(f"instance {question.number} of '{exam.name}' cannot be put in words", why=why)
    return text


def _check_ungrouped(exam: Exam, questions: Sequence[Question], seed: int) -> None:
    columns = dict[str, list[Hashable]]()
    for place, question in enumerate(questions):
        for name, value in _short_values(question.instance):
            columns.setdefault(name, [None] * place).append(value)
        for values in columns.values():
            values.extend([None] * (place + 1 - len(values)))
    told = {name: values for name, values in columns.items() if 1 < len(set(values)) < len(values)}
    stream = random_stream(f"groups of {exam.name}", seed)
    for name, values in told.items():
        if grouped_p(values, stream, 100 * len(told) + 99) < _MOST_GROUPED / len(told):
            why = "neighbours agree more often than by chance, and a model finds such an order likelier unseen"
            hint = "test the exams of its parts one by one, or another exam"
            raise UsageError(f"the instances of '{exam.name}' are sorted by '{name}'", why=why, hint=hint)


def _short_values(instance: Any, path: str = "") -> Iterator[tuple[str, Hashable]]:
    for name, value in instance.items() if isinstance(instance, dict) else ():
        if isinstance(value, dict):
            yield from _short_values(value, f"{path}{name}.")
        elif isinstance(value, str | int | float) and len(shown := str(jsonable(value))) <= _LONGEST_VALUE:
            yield f"{path}{name}", shown


def order_of(orders: Orders, engine: Engine, **terms: Unpack[Terms]) -> OrderTest:
    """Ask a model for the likelihoods of all orders, those that the log lacks, and return the test.

    Raises:
        UsageError: It gives no likelihoods, or the budget ended.
        EngineError: It could not read some; what it read is kept.
    """
    engine = engine.answering()
    check_exams([orders.part], engine)
    with session_with(engine, **terms) as session:
        (found,) = ask_round([orders.part], session)
    failures = [response.failure for each in found for response in each.responses if response.failure is not None]
    if failures:
        what = f"{len(failures)} of {len(found) * (orders.permutations + 1)} likelihoods are lacking"
        if session.stopped is not None:
            raise UsageError(what, why=session.stopped, hint="the same command with a larger budget goes on")
        raise EngineError(what, why=failures[0].message, hint="the same command asks for these again")
    import numpy as np

    return order_test(np.array([[each.scores[0].log_likelihood for each in one.responses] for one in found]))
