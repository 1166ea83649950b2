"""Judges through the response log: a judge that has said it once is not asked again, in any process."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proctor.engines.engine import Engine
from proctor.ir import Answers, Failure, Generate, KnownAnswerer, Response
from proctor.running.accounts import Sent, cost_parts
from proctor.running.progress import Progress
from proctor.scoring.judges.judge_client import asking_through, is_asked_through

if TYPE_CHECKING:
    from proctor.running.budget import Price, PriceTable
    from proctor.running.log import Key, ResponseLog
    from proctor.running.log_place import LogAddress
    from proctor.running.reckoning import Claim
    from proctor.running.session import Budget

Watch = Callable[[str, Progress], None]
_NO_ANSWER = Failure("engine", "the engine ended without answering this request")


@dataclass(slots=True)
class JudgeCounts:
    """Counts of a judge's requests in one evaluation.

    Attributes:
        asked: Requests that were sent.
        from_log: Requests that the log answered.
        failed: Requests that were sent and got no answer.
        sent: Tokens of the requests that were sent.
        price: What they cost; ``None`` where no price is known.
    """

    asked: int = 0
    from_log: int = 0
    failed: int = 0
    sent: Sent = field(default_factory=Sent)
    price: Price | None = None

    def count(self, response: Response, price: Price | None = None) -> None:
        """Count an answer that was asked for."""
        self.asked += 1
        self.failed += response.failure is not None
        self.sent = self.sent.with_those_of(Sent.of([response], price.above if price else None))
        self.price = price

    def as_data(self) -> dict[str, Any]:
        """Return the counts by name, and dollars as of :func:`~proctor.running.accounts.cost_parts` where known."""
        usd = {} if self.price is None else cost_parts(self.price, self.sent)
        counts = {"asked": self.asked, "from_log": self.from_log, "failed": self.failed}
        return {**counts, **self.sent.usage.as_data(), **usd}


class Judging:
    """The response log between judges and their engines during an evaluation.

    Args:
        log: The response log or its file, by default the one in the cache folder. It is opened when a judge first
            asks, so that an evaluation without judges leaves no file.
        retry_failed: Ask again what failed in an earlier evaluation. If not, recorded failures stand.
        budget: Stops asking when it is used up; what was not asked is then a failure.
        prices: What models cost, where it is not the table that comes with Proctor.
        watch: Is told a judge's name and counts after each answer.
        batches: The log in which is written down what was sent in batches, where judges are asked so.

    Attributes:
        stopped: Why the budget ended the judging early, if it did.
    """

    def __init__(
        self,
        log: ResponseLog | str | Path | None = None,
        *,
        retry_failed: bool = True,
        budget: Budget | None = None,
        prices: PriceTable | None = None,
        watch: Watch | None = None,
        batches: Path | LogAddress | None = None,
    ) -> None:
        self.counts: dict[str, JudgeCounts] = defaultdict(JudgeCounts)
        self.stopped: str | None = None
        self._where = log
        self._open: ResponseLog | None = None
        self._files = ExitStack()
        self._retry_failed = retry_failed
        self._budget = budget
        self._prices = prices
        self._watch = watch
        self._batches = batches

    def ask(self, engine: KnownAnswerer, requests: Iterable[Generate]) -> Answers:
        """Yield the answer to each request; an engine that predicts in a way of its own is asked without the log."""
        if not isinstance(engine, Engine):
            return engine.generate(requests)
        if type(engine).infer is not Engine.infer:
            return ((position, engine.heard(response)) for position, response in engine.generate(requests))
        return self.answer(engine, requests)

    def summary(self) -> dict[str, dict[str, Any]]:
        """Return the counts by judge, as JSON-like data."""
        return {label: counts.as_data() for label, counts in sorted(self.counts.items())}

    def close(self) -> None:
        """Close the log, if this opened it."""
        self._files.close()

    def answer(self, engine: Engine, requests: Iterable[Generate]) -> Answers:
        """Yield the answer to each request, in order; what the log does not have is asked at once, each request once.

        Raises:
            LogError: An answer could not be stored.
            EngineError: The engine cannot work; what it answered before is kept.
        """
        if engine.answers_in_order:  # an answer belongs to its place, and could not be found again
            in_order = list(requests)
            progress = Progress(total=len(in_order), started=time.monotonic())
            for position, response in self.counted(engine, engine.generate(in_order), progress):
                yield position, engine.heard(response)
            return
        from proctor.running.listening import listening
        from proctor.running.log import Key
        from proctor.secrets import without_secrets

        log = self._log()
        number = log.engine_number(engine.identity, engine.label, without_secrets(engine.identity_values()))
        every = list(requests)
        keys = [Key.of(request.key) for request in every]
        known = self._known(engine, number, keys)
        wanted = {key: request for key, request in zip(keys, every, strict=True) if key not in known}
        self.counts[engine.label].from_log += sum(key in known for key in keys)
        if wanted:
            progress = Progress(len(wanted), started=time.monotonic())
            known.update(self._asked(engine, number, wanted, progress))
        hear = listening(engine)
        for position, key in enumerate(keys):
            found = known.get(key)
            yield position, Response(failure=_NO_ANSWER) if found is None else hear(every[position], found)

    def _known(self, engine: Engine, number: int, keys: Sequence[Key]) -> dict[Key, Response]:  # noqa: ARG002
        return self._log().get_many(number, keys, failures=not self._retry_failed)

    def _asked(
        self, engine: Engine, number: int, wanted: dict[Key, Generate], progress: Progress
    ) -> dict[Key, Response]:
        """Ask what is wanted and no other process asks already, and file each answer as it comes."""
        from proctor.running.claims import Claims, SharedKeys
        from proctor.running.log_writer import LogWriter
        from proctor.running.shared_means import sharing_limits

        log = self._log()
        began, found = int(log.clock()), dict[Any, Response]()

        def settled(keys: list[Key]) -> set[Key]:
            there = log.get_many(number, keys)
            if failed := log.failed_since(number, keys, began) - there.keys():
                there |= log.get_many(number, list(failed), failures=True)
            found.update(there)
            return set(there)

        claims = Claims(log, number) if engine.takes_time else None
        shared = None if claims is None else SharedKeys(claims, settled)
        with (
            claims.held() if claims else nullcontext(),
            sharing_limits(log, number, engine),
            LogWriter(log, number, claimed=bool(claims)) as writer,
        ):
            asking, left = _Asking(self._as_asked(engine), wanted, self._budget_of(engine)), list(wanted)
            while left and not asking.held:
                keys = shared.mine(iter(left), lambda key: key) if shared else iter(left)
                for key, response in asking.answers(keys, self, progress):
                    found[key] = response
                    writer.put(key, response)
                left = [] if shared is None or asking.held else shared.left_by_others()
        self.counts[engine.label].from_log += len(found.keys() - asking.asked)
        if asking.held:
            self.stopped = asking.budget.why if asking.budget else None
            unasked = Response(failure=Failure("budget", self.stopped or ""))
            return {key: found.get(key, unasked) for key in wanted}
        return found

    def counted(self, engine: Engine, answers: Answers, progress: Progress) -> Answers:
        """Count a judge's answers as they come."""
        from proctor.running.budget import price_table

        counts, watch = self.counts[engine.label], self._watch
        price = (self._prices or price_table()).price_of(engine.price_name)
        for position, response in answers:
            counts.count(response, price)
            if watch is not None:
                progress.count(response)
                watch(engine.label, progress)
            yield position, response

    def _as_asked(self, engine: Engine) -> Engine:
        """Return an engine as the run asks: in batches, where it says so and the judge's provider has some.

        Raises:
            UsageError: It is not asked in batches, and some are under way.
        """
        if not hasattr(type(engine), "batch_api"):
            return engine
        from proctor.running.batches import batched, check_none_waits, has_batches

        if self._batches is not None and has_batches(engine):
            return batched(engine, self._batches)
        check_none_waits(engine, self._log().path)
        return engine

    def _budget_of(self, engine: Engine) -> Budget | None:
        from proctor.running.budget import Allowance

        if isinstance(self._budget, Allowance):
            return self._budget.of_model(engine.price_name, self._prices)
        return self._budget

    def _log(self) -> ResponseLog:
        from proctor.running.log import ResponseLog

        if self._open is None:
            given = self._where
            self._open = given if isinstance(given, ResponseLog) else self._files.enter_context(ResponseLog(given))
        return self._open


@contextmanager
def judges_through(
    log: ResponseLog | str | Path | None = None,
    *,
    retry_failed: bool = True,
    budget: Budget | None = None,
    prices: PriceTable | None = None,
    watch: Watch | None = None,
    batches: Path | LogAddress | None = None,
) -> Iterator[Judging]:
    """Let judges ask through a response log within a block; arguments are those of :class:`Judging`.

    Where a block around this one chose a log already and this one names none, the outer log stays.
    """
    judging = Judging(log, retry_failed=retry_failed, budget=budget, prices=prices, watch=watch, batches=batches)
    if log is None and is_asked_through():
        yield judging
        return
    try:
        with asking_through(judging.ask):
            yield judging
    finally:
        judging.close()


class _Asking:
    """Requests of one judge on their way."""

    def __init__(self, engine: Engine, wanted: Mapping[Key, Generate], budget: Budget | None) -> None:
        self.budget = budget
        self.held: list[Key] = []
        self.asked: set[Key] = set()
        self._engine, self._wanted = engine, wanted
        self._sent: list[tuple[Key, Claim | None]] = []

    def answers(self, keys: Iterator[Key], judging: Judging, progress: Progress) -> Iterator[tuple[Key, Response]]:
        """Ask, and yield answers as they come, until all are there or the budget ends it."""
        budget, is_first = self.budget, True
        while is_first or (self.held and self._sent):  # the budget may have to know what those on their way cost
            is_first = False
            self._sent = []
            for position, response in judging.counted(
                self._engine, self._engine.generate(self._sending(keys)), progress
            ):
                key, claim = self._sent[position]
                if budget is not None and claim is not None:
                    budget.settle(claim, response)
                yield key, response

    def _sending(self, keys: Iterator[Key]) -> Iterator[Generate]:
        while (key := self.held.pop() if self.held else next(keys, None)) is not None:
            claim = None if self.budget is None else self.budget.claim(self._wanted[key], self._engine)
            if self.budget is not None and claim is None:
                self.held.append(key)
                return
            self._sent.append((key, claim))
            self.asked.add(key)
            yield self._wanted[key]
