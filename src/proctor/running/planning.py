"""Estimates requests, tokens, cost, time and statistical power before a run starts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, stdev
from typing import NamedTuple

from proctor.engines.engine import Engine
from proctor.ir import Converse, Generate, Message, Prompt, Request, Response
from proctor.ir.question import Question
from proctor.recipes.exam import Exam, suited
from proctor.running.budget import Price, PriceTable, price_table
from proctor.running.checks import check_exams
from proctor.running.listening import listening
from proctor.running.log import Key, ResponseLog
from proctor.running.log_file import default_log
from proctor.running.log_store import AbsentLogError
from proctor.running.maintenance import engines as engines_of_log
from proctor.running.plan import BATCH, Filed, Single, Wanted, batches, wanted
from proctor.running.reckoning import Reckoner
from proctor.running.rehearsal import asked_of_judges
from proctor.statistics.distributions import t_quantile
from proctor.statistics.fixed_width import FIRST_LOOK, units_needed
from proctor.statistics.paired_shares import detectable_share

DISCORDANT = 0.1
"""Share of the answers in which two models are taken to differ, where nobody says: releases of one model differ in 5 to
15% of their answers to an exam."""

_FEWEST = 2  # of values: one has no spread
_MOST_JUDGED = 100
"""Questions whose made-up answers are graded, to see what judges are asked."""
_MOST_LOOKED_AT = 2_000
"""Answers to an exam that are read from the log: their mean is then known to some percent."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number of tokens, with the bounds of its 95% interval; bounds that nobody knows are ``None``."""

    value: float
    low: float | None = None
    high: float | None = None

    def __add__(self, other: Estimate) -> Estimate:
        """Add two independent estimates."""
        value = self.value + other.value
        if None in (self.low, self.high, other.low, other.high):
            return Estimate(value)
        down = math.hypot(self.value - (self.low or 0.0), other.value - (other.low or 0.0))
        up = math.hypot((self.high or 0.0) - self.value, (other.high or 0.0) - other.value)
        return Estimate(value, max(0.0, value - down), value + up)

    def priced(self, price: float) -> Estimate:
        """Return the price of tokens at a price for a million."""
        low, high = (None if bound is None else bound * price / 1e6 for bound in (self.low, self.high))
        return Estimate(self.value * price / 1e6, low, high)


_NONE = Estimate(0.0, 0.0, 0.0)


def _less(estimate: Estimate, saved: float) -> Estimate:
    bounds = (estimate.value, estimate.low, estimate.high)
    return Estimate(*(None if each is None else max(0.0, each - saved) for each in bounds))  # type: ignore[arg-type]


class JudgePlan(NamedTuple):
    """What a judge would be asked for an exam, were the log without its verdicts.

    Attributes:
        requests: How many requests, about; ``None`` where that shows only with answers.
        tokens_in: Tokens that it reads at least, about: answers are taken to be two words long.
        usd: What these cost; ``None`` where no price is known.
    """

    requests: int | None = None
    tokens_in: float | None = None
    usd: float | None = None


@dataclass(slots=True)
class ExamPlan:
    """Estimates for one exam.

    Attributes:
        exam: Its name.
        instances: Questions, each as often as the exam itself has it (``n`` of a config).
        questions: Different ones: copies of a question say nothing about others.
        requests: Requests that it makes; equal ones are asked once, the turns of a conversation one by one.
        from_log: Those that the log answers, or will answer when the exams before this one have been asked.
        tokens_in: Tokens to read, of what is left to ask.
        cache_written, cache_read: Of the tokens to read, those that the provider is told to put into its cache, and
            those that it then finds there.
        tokens_out: Tokens to write, of what is left to ask.
        most_out: The most that can be written, where every request has a limit.
        out_from: Where the estimate of written tokens comes from: ``model``, ``exam`` (other models' answers),
            ``limit`` (nobody has answered yet: half of what may be written), ``nothing``, or ``done`` where nothing is
            left to ask.
        seconds: How long one request took in the log; ``None`` where nobody knows.
        detectable: The smallest difference between two models that the exam shows four times out of five.
        judges: Who judges its answers, by name; what they are asked is counted nowhere else.
    """

    exam: str
    instances: int = 0
    questions: int = 0
    requests: int = 0
    from_log: int = 0
    tokens_in: Estimate = _NONE
    cache_written: float = 0.0
    cache_read: float = 0.0
    tokens_out: Estimate = _NONE
    most_out: int | None = 0
    out_from: str = "nothing"
    seconds: float | None = None
    detectable: float = math.nan
    judges: Mapping[str, JudgePlan] = field(default_factory=dict)

    @property
    def left(self) -> int:
        """Requests that have to be sent."""
        return self.requests - self.from_log


@dataclass(frozen=True, slots=True)
class RunPlan:
    """Estimates for a run.

    Attributes:
        exams: Each exam's part.
        label: Who would be asked.
        price: What the model costs; ``None`` where nobody knows.
        at_once: Requests in flight at the same time.
        discordant: In which share of the answers models are taken to differ.
    """

    exams: tuple[ExamPlan, ...]
    label: str
    price: Price | None
    at_once: int
    discordant: float

    def usd(self, each: ExamPlan) -> Estimate | None:
        """Return an exam's cost at list prices; ``None`` where no price is known."""
        if not each.left:
            return _NONE
        if self.price is None:
            return None
        parts = [(each.tokens_in, self.price.input), (each.tokens_out, self.price.output)]
        read, written = (part.priced(price) for part, price in parts)
        return _less(read + written, self.usd_saved(each) or 0.0)

    def usd_saved(self, each: ExamPlan) -> float | None:
        """Return how much less an exam costs since the provider's cache is told what questions share."""
        if self.price is None or self.price.cached_input is None:
            return None
        write = (self.price.input if self.price.cache_write is None else self.price.cache_write) - self.price.input
        return (each.cache_read * (self.price.input - self.price.cached_input) - each.cache_written * write) / 1e6

    def seconds(self, each: ExamPlan) -> float | None:
        """Return how long an exam takes; ``None`` where nobody has timed the model."""
        if not each.left:
            return 0.0
        return None if each.seconds is None else each.left * each.seconds / self.at_once


def plan_run(
    exams: Sequence[Exam],
    engine: Engine,
    *,
    log: str | Path | None = None,
    prices: PriceTable | None = None,
    discordant: float = DISCORDANT,
) -> RunPlan:
    """Estimate what a run would take. Nobody is asked, and nothing is written.

    Args:
        exams: Exams with different names.
        engine: Who would answer.
        log: The response log, by default the one in the user's state; it need not be there.
        prices: What models cost, where it is not the table that comes with Proctor.
        discordant: Share of the answers in which two models differ that are to be told apart.

    Raises:
        UsageError, DataError: As a run would.
    """
    engine = engine.answering()
    chosen = suited(exams, engine)
    check_exams(chosen, engine)
    with ExitStack() as stack:
        opened = None
        with suppress(AbsentLogError):
            opened = stack.enter_context(ResponseLog(log or default_log(), read_only=True))
        answers = _Answers(opened, engine)
        table = prices or price_table()
        plans = tuple(_planned(exam, engine, answers, discordant, table) for exam in chosen)
    price = table.price_of(engine.price_name)
    return RunPlan(plans, engine.label, price, engine.most_at_once, discordant)


class _Answers:
    """What a log knows: the model's own answers, and other models'."""

    def __init__(self, log: ResponseLog | None, engine: Engine) -> None:
        known = [] if log is None else engines_of_log(log)
        self._log, self._engine = log, engine
        self._own = [each.number for each in known if each.identity == engine.identity]
        self._others = [each.number for each in known if each.identity != engine.identity]
        self._seen: set[Key] = set()

    def fresh(self, entries: Sequence[Wanted]) -> list[tuple[Wanted, bool]]:
        """Return each request of a batch once, with whether an earlier batch has it too."""
        found = [(entry, entry.key in self._seen) for entry in {entry.key: entry for entry in entries}.values()]
        self._seen.update(entry.key for entry, _ in found)
        return found

    def own(self, exam: Exam, entries: Sequence[Wanted]) -> list[Sequence[Response]]:
        """Return the model's answers to the steps of each request."""
        return next(self._of(self._own, exam, entries), [()] * len(entries))

    def of_others(self, exam: Exam, entries: Sequence[Wanted]) -> list[Response]:
        return [each for found in self._of(self._others, exam, entries) for replies in found for each in replies]

    def _of(self, numbers: Sequence[int], exam: Exam, entries: Sequence[Wanted]) -> Iterator[list[Sequence[Response]]]:
        for number in numbers:
            if self._log is not None:
                filed = Filed(self._log, number, with_failures=False, hear=listening(self._engine, exam))
                yield filed.replies(entries)


@dataclass(slots=True)
class _Seen:
    """What was seen of an exam."""

    left: list[Single] = field(default_factory=list)
    sent: list[tuple[Single, Response]] = field(default_factory=list)
    others: list[Response] = field(default_factory=list)


def _planned(exam: Exam, engine: Engine, answers: _Answers, discordant: float, prices: PriceTable) -> ExamPlan:
    plan, seen, own_keys, first = ExamPlan(exam.name), _Seen(), set[Key](), list[Question]()
    place = exam.name if engine.answers_in_order else ""
    for batch in batches(exam.questions(), BATCH):
        plan.instances += len(batch)
        first += batch[: _MOST_JUDGED - len(first)]
        fresh = answers.fresh([entry for question in batch for entry in wanted(question, place)])
        fresh = [(entry, is_known) for entry, is_known in fresh if entry.key not in own_keys]
        own_keys.update(entry.key for entry, _ in fresh)
        _look_at(plan, seen, exam, answers, fresh)
    _reckon(plan, seen, engine)
    _reckon_answers(plan, [response for _, response in seen.sent], seen.others)
    plan.questions = plan.instances // max(exam.opened.copies, 1)
    if exam.options.repeats is not None:  # then a run counts questions, too
        plan.instances = plan.questions
    plan.detectable = detectable_share(discordant, plan.questions)
    plan.judges = _judged(exam, first, plan.instances, prices)
    return plan


def _judged(exam: Exam, first: Sequence[Question], count: int, prices: PriceTable) -> dict[str, JudgePlan]:
    found = {model: JudgePlan() for each in exam.judged for model in each.get("models", ())}
    for name, (engine, requests) in (asked_of_judges(exam, first) if found else {}).items():
        reckoner, price = Reckoner(), prices.price_of(engine.price_name)
        tokens = sum(reckoner.claim(each, engine).prompt for each in requests) * count / len(first)
        tokens *= (_GUESSED if engine.count_tokens(requests[0].prompt) is None else _COUNTED)[1]
        usd = None if price is None else tokens * price.input / 1e6
        found[name] = JudgePlan(round(len(requests) * count / len(first)), tokens, usd)
    return found


def _look_at(plan: ExamPlan, seen: _Seen, exam: Exam, answers: _Answers, fresh: Sequence[tuple[Wanted, bool]]) -> None:
    """Count what a batch of requests asks, and what of it is known."""
    entries = [entry for entry, _ in fresh]
    if len(seen.others) < _MOST_LOOKED_AT:
        seen.others += answers.of_others(exam, entries)
    for (entry, is_known), replies in zip(fresh, answers.own(exam, entries), strict=True):
        steps = list(_sent(entry.request))
        is_done = is_known or (len(replies) > 0 and replies[-1].failure is not None)  # a talk ends where a turn fails
        plan.requests += len(steps)
        plan.from_log += len(steps) if is_done else len(replies)
        if len(seen.sent) < _MOST_LOOKED_AT:
            seen.sent += zip(steps, replies, strict=False)
        if not is_done:
            seen.left += steps[len(replies) :]


def _reckon(plan: ExamPlan, seen: _Seen, engine: Engine) -> None:
    """Count the tokens to read, and the most that can be written."""
    reckoner = Reckoner()
    claims = [reckoner.claim(request, engine) for request in seen.left]
    tokens = float(sum(claim.prompt for claim in claims))
    longest = [claim.answer for claim in claims]
    plan.most_out = None if None in longest else sum(each or 0 for each in longest)
    read = [(each.usage.of_answer[0], reckoner.claim(request, engine).prompt) for request, each in seen.sent]
    read = [(found, held) for found, held in read if found]
    if len(read) >= _FEWEST:
        plan.tokens_in = _like_those_read(tokens, read, plan.left)
    else:
        first = next(iter(seen.left), None)
        known = isinstance(first, Generate) and engine.count_tokens(first.prompt) is not None
        likely, least, most = _COUNTED if known else _GUESSED
        plan.tokens_in = Estimate(tokens * likely, tokens * least, tokens * most)
    if size := sum(claim.size for claim in claims):
        prompts = [request.prompt for request in seen.left if isinstance(request, Generate)]
        plan.cache_written, plan.cache_read = (each * plan.tokens_in.value / size for each in engine.cached(prompts))


def _like_those_read(tokens: float, read: Sequence[tuple[int, int]], left: int) -> Estimate:
    """Return the tokens to read where the log says how many of such prompts were read: a ratio estimate."""
    held = sum(each for _, each in read)
    ratio = sum(found for found, _ in read) / held
    spread = math.sqrt(math.fsum((found - ratio * each) ** 2 for found, each in read) / (len(read) - 1))
    error = spread * math.sqrt(len(read) * (tokens / held) ** 2 + left)
    margin = t_quantile(0.975, len(read) - 1) * error
    value = ratio * tokens
    return Estimate(value, max(0.0, value - margin), value + margin)


_COUNTED = (0.98, 0.9, 1.0)
"""Of what a tokenizer counts and a frame for each prompt: chat templates are shorter or longer than the frame."""

_GUESSED = (0.8, 0.55, 1.05)
"""Of what is held for prompts of which only the bytes are known: English has about four bytes to a token, and three are
reckoned with."""


def _sent(request: Request) -> Iterator[Single]:
    """Yield what is sent for a request; the turns of a conversation without the answers, which nobody knows."""
    if not isinstance(request, Converse):
        yield request
        return
    messages: list[Message] = []
    for turn in request.turns:
        if turn is None:
            yield Generate(Prompt(list(messages)), request.decoding)
        else:
            messages.append(turn)


def _reckon_answers(plan: ExamPlan, own: Sequence[Response], others: Sequence[Response]) -> None:
    """Estimate the tokens to write from answers in the log."""
    found, plan.out_from = (own, "model") if own else (others, "exam")
    lengths = [float(each.usage.of_answer[1]) for each in found]
    timed = [each.timing.seconds for each in own if each.timing.seconds > 0]
    plan.seconds = fmean(timed) if timed else None
    most = math.inf if plan.most_out is None else float(plan.most_out)
    if not plan.left:
        plan.out_from = "done"
    elif len(lengths) >= _FEWEST:
        mean, spread = fmean(lengths), stdev(lengths)
        # of the mean that is estimated, and of the sum that is to come
        error = spread * math.sqrt(plan.left**2 / len(lengths) + plan.left)
        margin = t_quantile(0.975, len(lengths) - 1) * error
        total = min(mean * plan.left, most)
        plan.tokens_out = Estimate(total, max(0.0, total - margin), min(total + margin, most))
    elif plan.most_out is not None:
        plan.out_from = "limit"
        plan.tokens_out = Estimate(most / 2, 0.0, most)
    else:
        plan.out_from = "nothing"
        plan.tokens_out = Estimate(0.0)


def questions_to_precision(precision: float, questions: int, share: float = 0.5) -> int:
    """Return about how many questions of an exam ``run --precision`` asks where right and wrong answers are counted.

    Args:
        precision: Half of the width of the interval.
        questions: Of the exam.
        share: The score; one half takes the most.
    """
    found = math.ceil(float(units_needed(share * (1.0 - share), questions, precision)))
    return min(questions, max(found, FIRST_LOOK))
