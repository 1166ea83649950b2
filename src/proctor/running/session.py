"""The context of asking: an engine, the response log, observers, a budget."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypedDict

from proctor.engines.engine import Engine
from proctor.ir import Response
from proctor.running.accounts import cost_of_responses
from proctor.running.budget import Allowance, Price, PriceTable, price_table
from proctor.running.judging import Judging, Watch, judges_through
from proctor.running.log import ResponseLog
from proctor.running.plan import Single
from proctor.running.progress import Observer, Progress, SilentObserver
from proctor.running.question_spool import QuestionSpool
from proctor.running.reckoning import Claim
from proctor.running.sampled import Sampled
from proctor.scoring.costs import reckoned_by
from proctor.secrets import without_secrets


class Budget(Protocol):
    """A limit on what a run may spend. Whatever is sent was claimed before, and is settled when it is back."""

    @property
    def why(self) -> str:
        """The reason for which the last request was refused."""

    def claim(self, request: Single, engine: Engine) -> Claim | None:
        """Hold what a request may cost, and return the claim.

        ``None`` where that is too much while others are on their way; the request is then asked about once more when
        these are back, and where none is on its way the run has used up its budget.
        """

    def settle(self, claim: Claim, response: Response) -> None:
        """Count what an answer cost instead of what was held for it."""


class Terms(TypedDict, total=False):
    """On which terms an engine is asked: named arguments of every function that asks.

    Attributes:
        log: The response log or its file; by default the one in the cache folder.
        observer: Is told how the asking goes on.
        retry_failed: Ask again what failed in an earlier run. If not, recorded failures stand.
        budget: Stops asking when it is used up; what was not asked is then a failure in the results.
        prices: What models cost, where it is not the table that comes with Proctor.
    """

    log: ResponseLog | str | Path | None
    observer: Observer | None
    retry_failed: bool
    budget: Budget | None
    prices: PriceTable | None


@dataclass(slots=True)
class Session:
    """The context of one run.

    Attributes:
        engine: Who is asked.
        log: Where answers are filed.
        observer: Who watches.
        retry_failed: Whether to ask again what failed in an earlier run. A failure is not an answer, so by default yes.
        budget: What may be spent.
        prices: What models cost, where it is not the table that comes with Proctor.
        spool: Takes the questions that are asked, for whoever grades them.
        samples: How questions were drawn, by exams that are samples of larger ones.
        stopped: Why the budget ended the run early, if it did.
        progress: The counts so far.
    """

    engine: Engine
    log: ResponseLog
    observer: Observer
    retry_failed: bool
    budget: Budget | None = None
    prices: PriceTable | None = None
    spool: QuestionSpool | None = None
    samples: Mapping[str, Sampled] = field(default_factory=dict)
    stopped: str | None = None
    progress: Progress = field(default_factory=lambda: Progress(started=time.monotonic()))
    _number: int | None = None

    @property
    def number(self) -> int:
        """The engine's number in the log, which files the engine when it is first wanted."""
        if self._number is None:
            engine = self.engine
            self._number = self.log.engine_number(
                engine.identity, engine.label, without_secrets(engine.identity_values())
            )
            if engine.server_addresses:
                self.log.also_read(self._number, engine.is_model_of)
        return self._number

    @property
    def price(self) -> Price | None:
        """The price of the model; ``None`` where nobody knows it."""
        return (self.prices or price_table()).price_of(self.engine.price_name)

    def reckon_long_prompts(self) -> None:
        """Count the tokens of long prompts by themselves from now on, where they cost more."""
        self.progress.above = None if (price := self.price) is None else price.above

    def judges(
        self, log: ResponseLog | str | Path | None, watch: Watch | None = None
    ) -> AbstractContextManager[Judging]:
        """Let judges ask through a log within a block, on the terms of the session."""
        return judges_through(
            log,
            retry_failed=self.retry_failed,
            budget=self.budget,
            prices=self.prices,
            watch=watch,
            batches=getattr(self.engine, "place", None),  # of an engine that is asked in batches
        )


@contextmanager
def session_with(
    engine: Engine,
    *,
    log: ResponseLog | str | Path | None = None,
    observer: Observer | None = None,
    retry_failed: bool = True,
    budget: Budget | None = None,
    prices: PriceTable | None = None,
) -> Iterator[Session]:
    """Open a session on the given :class:`Terms`; a log that is opened for it is closed at its end.

    Raises:
        LogError: The log cannot be opened.
    """
    with ExitStack() as stack:
        opened = log if isinstance(log, ResponseLog) else stack.enter_context(ResponseLog(log))
        session = Session(engine, opened, observer or SilentObserver(), retry_failed, budget, prices)
        if isinstance(budget, Allowance) and engine.takes_time:
            stack.enter_context(budget.shared(opened, session.number))
        stack.enter_context(
            reckoned_by(lambda found: cost_of_responses(found, prices or price_table(), engine.price_name))
        )
        yield session
