"""Asking: sends what the log cannot answer, and files every answer before it counts."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import nullcontext
from itertools import chain
from operator import attrgetter

from msgspec import structs

from proctor.data.policy import POLICY_FIELD, check_policy, classes_of
from proctor.engines.decoding import with_defaults
from proctor.engines.engine import Engine
from proctor.errors import EngineError, problems_of
from proctor.ir import Answers, Choose, Converse, Failure, Generate, Pair, Prompt, Request, Response, Rolling
from proctor.logs import get_logger
from proctor.recipes.answer_seeds import derived_seed
from proctor.recipes.exam import Exam, Question
from proctor.recipes.exam_parts import NEED_SCORES
from proctor.running.claims import Claims, SharedKeys
from proctor.running.listening import listening, measured
from proctor.running.log import Key
from proctor.running.log_writer import LogWriter
from proctor.running.plan import Filed, Kind, Single, Step, Wanted, batches, kind_of, steps_of, wanted
from proctor.running.reckoning import Claim
from proctor.running.same_model import SameModel
from proctor.running.session import Session
from proctor.running.shared_means import sharing_limits

_COUNTING_SECONDS = 1.0
"""So long may nobody be asked yet, for a total on the screen."""

_MOST_COUNTED = 1 << 26
"""Characters of prompts that are kept while they are counted, so that no row is put in words twice for a total."""

_SIZE_OF_OTHERS = 1 << 12
"""Characters that chats and pairs are taken for: adding theirs up takes longer than it matters."""

_NO_ANSWER = Failure("engine", "the engine ended without answering this request")


def ask(exams: Sequence[Exam], session: Session, *, grades: bool = True) -> None:
    """Ask the engine everything that the log cannot answer, and return when all of it is durable.

    Requests of all exams flow through one call per kind, so batches and connections stay full across exams.

    Args:
        exams: Exams.
        session: Who is asked, and on which terms.
        grades: Whether the answers are graded by this process, so that judges are looked at, too.

    Raises:
        EngineError: The engine cannot work, or a judge could not be asked; what was answered before is kept.
        LogError: An answer could not be stored.
    """
    if session.observer.wants_total:
        session.progress.total = _count(exams)
    claims = Claims(session.log, session.number) if session.engine.takes_time else None
    with (
        claims.held() if claims else nullcontext(),
        sharing_limits(session.log, session.number, session.engine),
        LogWriter(session.log, session.number, claimed=bool(claims)) as writer,
    ):
        asking = _Asking(session, writer, claims, exams if grades else ())
        pending: dict[Kind, list[Exam]] = {"generate": [], "score": []}
        for exam in exams:
            pending["score" if exam.asker.kinds <= NEED_SCORES else "generate"].append(exam)
        while any(pending.values()) and session.stopped is None:
            for kind in ("generate", "score"):
                todo, pending[kind] = pending[kind], []
                if todo:
                    _round(kind, asking, todo, pending)
                    writer.flush()  # the next round of a conversation reads the answers of this one
        asking.model.keep()
    session.progress.total = session.progress.done
    session.observer.asking(session.progress)


def _count(exams: Sequence[Exam]) -> int | None:
    """Return how many requests the exams make, or ``None`` where that takes too long to find out."""
    give_up = time.monotonic() + _COUNTING_SECONDS
    total = size = 0
    for exam in exams:
        questions, seen = exam.questions(), deque[Question]()
        gives_up = False
        for question in questions:
            seen.append(question)
            for request in question.requests:
                total += 1 if type(request) is Generate else steps_of(request)
            size += sum(map(_size_of, question.requests[:1]))
            if gives_up := size > _MOST_COUNTED or time.monotonic() > give_up:
                break
        exam.resume(_resumed(seen, questions))
        if gives_up:
            return None
    return total


def _resumed(seen: deque[Question], questions: Iterator[Question]) -> Iterator[Question]:
    while seen:
        yield seen.popleft()
    yield from questions


def _size_of(request: Request) -> int:
    match request:
        case Generate():
            return len(request.prompt.payload) if isinstance(request.prompt.payload, str) else _SIZE_OF_OTHERS
        case Rolling(text=text):
            return len(text)
        case Choose(pairs=[Pair(context=Prompt(payload=str() as text)), *_]):
            return len(text)
    return _SIZE_OF_OTHERS


def _drawn_again(step: Step, engine: Engine) -> Single:
    """Return what is sent for a step that repeats another."""
    request, repeat = step.request, step.key.repeat
    if not isinstance(request, Generate):
        return request
    decoding = with_defaults(request.decoding, engine.decoding_defaults())
    if not decoding.temperature or (decoding.seed is None and not engine.draws_alike):
        return request
    return structs.replace(
        request, decoding=structs.replace(request.decoding, seed=derived_seed(decoding.seed, repeat))
    )


def _round(kind: Kind, asking: _Asking, todo: list[Exam], pending: dict[Kind, list[Exam]]) -> None:
    """Put one stream of requests to the engine; exams that need another round are put into ``pending``."""
    stream = _Stream(kind, asking, todo)
    _leg(kind, asking, stream)
    while stream.resume():  # the budget had to know what the requests on their way cost
        _leg(kind, asking, stream)
    for again, exams in stream.again.items():
        pending[again].extend(exams)
    if asking.wait_for_others():
        pending[kind].extend(exam for exam in todo if exam not in pending[kind])


def _leg(kind: Kind, asking: _Asking, stream: _Stream) -> None:
    """Let the engine answer what the stream gives it until it ends, or pauses for the budget."""
    engine = asking.session.engine
    try:
        answers: Answers = engine.generate(stream) if kind == "generate" else engine.score(stream)  # type: ignore[arg-type]
    except EngineError:
        asking.check_access()  # says what judges lack, too
        raise
    try:
        for position, response in answers:
            asking.file(position, response)
    finally:  # a generator that is left early frees its connections now, not some time later
        if isinstance(answers, Generator):
            answers.close()
    stream.check()
    asking.file_unanswered()


_OUT_OF_STEP = (
    "%s: a row that cannot be asked takes no answer of '%s', which answers in order: one recorded for it goes to the "
    "next row; proctor evaluate --predictions goes by rows"
)


class _Asking:
    """Which requests are on their way. Requests may be read in one thread while answers are filed in another."""

    _count: int

    def __init__(self, session: Session, writer: LogWriter, claims: Claims | None, judged: Sequence[Exam]) -> None:
        self.session = session
        self._judged: Sequence[Exam] | None = judged
        self._shared = None if claims is None else SharedKeys(claims, self._settled_elsewhere, self._pass)
        self._began = int(session.log.clock())
        self.filed = Filed(session.log, session.number, with_failures=not session.retry_failed)
        self._writer = writer
        self._lock = threading.Lock()
        self._sent: dict[int, tuple[Step, Claim | None]] = {}
        self._next: deque[Step] = deque()
        self._on_the_way: set[Key] = set()
        self._failed: set[Key] = set()
        self._policy = session.engine.policy
        self._has_warned = False
        self._visited: set[tuple[Kind, int]] = set()
        self.model = SameModel(session)

    def visit(self, kind: Kind, exam: Exam) -> bool:
        """Note that an exam is searched for requests of a kind; return whether that is the first time."""
        first = not self.has_visited(kind, exam)
        self._visited.add((kind, id(exam)))
        return first

    def has_visited(self, kind: Kind, exam: Exam) -> bool:
        """Whether an exam was searched for requests of a kind."""
        return (kind, id(exam)) in self._visited

    def open_steps(self, exam: Exam, requests: list[Wanted], *, count: bool) -> tuple[list[Step], bool]:
        """Return the requests to ask now for an exam, and whether a conversation goes on after them."""
        if not any(isinstance(entry.request, Converse) for entry in requests):
            return self._open_plain(requests, count=count), False
        steps, answered = self.filed.heard_by(listening(self.session.engine, exam)).next_steps(requests)
        if count:
            self.session.progress.cached += answered
        fresh, _ = self._unknown(steps)
        with self._lock:
            goes_on = any(not step.is_last and step.key not in self._failed for step in steps)
        return fresh, goes_on

    def _open_plain(self, requests: list[Wanted], *, count: bool) -> list[Step]:
        """Return what has to be asked, where every request is one step: these are claimed before the only look."""
        fresh, known = self._unknown([Step(entry.request, entry.key) for entry in requests])  # type: ignore[arg-type]
        if count and known:
            self.session.progress.cached += sum([entry.key in known for entry in requests])
        return fresh

    def _unknown(self, steps: list[Step]) -> tuple[list[Step], set[Key]]:
        """Claim steps; return those that the log does not know, and the keys that it does."""
        fresh = self._claim(steps)
        known = self.filed.known([step.key for step in fresh])
        if not known:  # nearly always, in a run that asks
            return fresh, known
        with self._lock:
            self._on_the_way.difference_update(known)
        return [step for step in fresh if step.key not in known], known

    def _claim(self, steps: list[Step]) -> list[Step]:
        fresh = []
        with self._lock:
            on_the_way, failed, is_held = self._on_the_way, self._failed, self._writer.holds
            for step in steps:
                key = step.key
                if not (key in on_the_way or key in failed or is_held(key)):
                    on_the_way.add(key)
                    fresh.append(step)
        return fresh

    def further(self) -> Iterator[Step]:
        """Yield the next steps of conversations that were just answered: a server has their beginnings at hand."""
        while self._next:
            yield from self.unclaimed(iter(self._unknown([self._next.popleft()])[0]))

    def unclaimed(self, steps: Iterator[Step]) -> Iterator[Step]:
        """Yield the steps that no other process has on its way."""
        return steps if self._shared is None else self._shared.mine(steps, attrgetter("key"))

    def _settled_elsewhere(self, keys: list[Key]) -> set[Key]:
        """Return what other processes answered, or failed at since this one began."""
        known = self.filed.known(keys)
        failed = self.session.log.failed_since(self.session.number, keys, self._began)
        self.session.progress.cached += len(known)
        self._failed |= failed
        return known | failed

    def _pass(self, keys: set[Key]) -> None:
        with self._lock:
            self._on_the_way -= keys

    def wait_for_others(self) -> bool:
        """Wait for what other processes have on their way; return whether there was anything."""
        if self._shared is None or not self._shared.elsewhere or self.session.stopped is not None:
            return False
        self._shared.left_by_others()
        return True

    def send(self, step: Step) -> bool:
        """Give a step the next position; return whether the budget allows it now."""
        session, claim = self.session, None
        if self._judged is not None:
            self.check_access()
        self.model.before(step.key, step.request)
        if session.budget is not None:
            claim = session.budget.claim(step.request, session.engine)
            if claim is None:
                with self._lock:
                    is_last_word = not self._sent
                if is_last_word:
                    session.stopped = session.budget.why
                return False
        self._sent[self._count] = step, claim  # one step on a dict needs no lock
        self._count += 1
        session.progress.asked += 1
        return True

    def check_access(self) -> None:
        """Check, before the first request, that the model and all judges can be asked: a judge comes last, and is dear.

        Raises:
            EngineError: Keys or addresses are missing, with all of them.
        """
        judged, self._judged = self._judged or (), None
        who: dict[str, Engine] = {"": self.session.engine}
        for exam in judged:
            who |= {f"judge {each.label}": each for each in exam.judges() if isinstance(each, Engine)}
        if lacking := [
            problem.at(path=path) for path, each in who.items() for problem in problems_of(each.check_access)
        ]:
            raise EngineError(lacking)

    def start_round(self) -> None:
        """Begin to count positions from zero."""
        self._count = 0

    def check_policy(self, questions: Sequence[Question]) -> None:
        """Refuse questions that the engine may not see, before anything is sent; warn once of unclassified ones."""
        for question in questions if self._policy else ():
            classes = classes_of(question.instance)
            if classes or not self._has_warned:
                check_policy(self._policy, {POLICY_FIELD: classes}, self.session.engine.label)
            self._has_warned |= not classes

    def file(self, position: int, response: Response) -> None:
        """Store an answer and count it."""
        sent = self._sent.pop(position, None)
        if sent is None:
            raise EngineError(
                f"the engine '{self.session.engine.label}' answered request {position}, which is not open",
                why="it was never asked or has been answered before",
                hint="this is a fault of the engine; every answer so far is kept",
            )
        self._settle(*sent, response)

    def file_unanswered(self) -> None:
        """Record a failure for every request that the engine left open."""
        with self._lock:
            left, self._sent = list(self._sent.values()), {}
        for sent in left:
            self._settle(*sent, Response(failure=_NO_ANSWER))

    def _settle(self, step: Step, claim: Claim | None, response: Response) -> None:
        session, progress, key = self.session, self.session.progress, step.key
        response = measured(response)
        self._writer.put(key, response)
        if response.failure is not None:
            self._failed.add(key)
        self._on_the_way.discard(key)  # last: until then nobody claims it, from then on it is found where it was put
        if claim is not None and session.budget is not None:
            session.budget.settle(claim, response)
        if step.then is not None and not session.engine.answers_in_order and (then := step.then(response)) is not None:
            self._next.append(then)
        progress.count(response)
        session.observer.asking(progress)


class _Stream:
    """The requests of one kind that some exams still need, read lazily by an engine."""

    are_talks: bool = False
    """Whether what was read last is a turn of a conversation: of these no more are begun than are answered at once."""

    def __init__(self, kind: Kind, asking: _Asking, exams: list[Exam]) -> None:
        self.again: dict[Kind, list[Exam]] = {"generate": [], "score": []}
        self._kind = kind
        self._other: Kind = "score" if kind == "generate" else "generate"
        self._asking = asking
        self._error: BaseException | None = None
        self._ended = False
        asking.start_round()
        self._left = asking.unclaimed(chain.from_iterable(steps for exam in exams for steps in self._steps(exam)))
        self._held: Step | None = None
        self._iterator = self._requests()

    def __iter__(self) -> Iterator[Single]:
        return self._iterator

    def resume(self) -> bool:
        """Go on where the budget made the stream pause; return whether there is anything to go on with."""
        if self._held is None or self._asking.session.stopped is not None:
            return False
        self._left = chain([self._held], self._left)
        self._held, self._ended = None, False
        self._asking.start_round()
        self._iterator = self._requests()
        return True

    def check(self) -> None:
        """Raise what went wrong while reading the exams."""
        if self._error is not None:
            raise self._error
        if not self._ended:
            raise EngineError(
                f"the engine '{self._asking.session.engine.label}' stopped before it had read all requests",
                hint="this is a fault of the engine; every answer so far is kept, running again goes on",
            )

    def _requests(self) -> Iterator[Single]:
        send, engine = self._asking.send, self._asking.session.engine
        try:
            for step in self._in_order():
                if not send(step):
                    self._held = step
                    break
                self.are_talks = step.then is not None
                yield _drawn_again(step, engine) if step.key.repeat else step.request
            self._ended = True
        except Exception as error:  # noqa: BLE001 - kept for check()
            self._error = error

    def _in_order(self) -> Iterator[Step]:
        """Yield what is to be sent: conversations to their end, before others begin."""
        while True:
            if self._kind == "generate":
                yield from self._asking.further()
            if (step := next(self._left, None)) is None:
                return
            yield step

    def _steps(self, exam: Exam) -> Iterator[list[Step]]:
        again: set[Kind] = set()
        first_time = self._asking.visit(self._kind, exam)
        session = self._asking.session
        place = exam.name if session.engine.answers_in_order else ""
        is_new = first_time and not self._asking.has_visited(self._other, exam)
        recording = session.spool.record(exam) if session.spool is not None and is_new else None
        told = not (place and first_time)
        for batch in batches(exam.questions()):
            self._asking.check_policy(batch)
            if not told and any(each.failure is not None for each in batch):
                told = True
                get_logger().warning(_OUT_OF_STEP, exam.name, session.engine.label)
            asked = [wanted(question, place) for question in batch]
            if recording is not None:
                recording.add(batch, asked)
            entries = list(chain.from_iterable(asked))
            mine = entries
            if {Generate} != {type(entry.request) for entry in entries} or self._kind != "generate":
                mine = [entry for entry in entries if kind_of(entry.request) == self._kind]
            if len(mine) < len(entries) and not self._asking.has_visited(self._other, exam):
                again.add(self._other)
            steps, goes_on = self._asking.open_steps(exam, mine, count=first_time)
            if goes_on:
                again.add(self._kind)
            yield steps
        if recording is not None:
            recording.finish()
        for kind in again:
            self.again[kind].append(exam)
