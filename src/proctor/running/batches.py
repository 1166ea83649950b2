"""An engine whose questions go to its provider in batches: half the price, and answers within a day.

What is sent is written down before it is sent, in the response log: which requests, under which name, and the
provider's id of the batch once there is one. So a run that was killed, here or on another machine with the same log,
goes on waiting for the batches that it made, and makes none twice. A request is known in a batch by its content key, so
nothing depends on order, on which of two files an answer stands in, or on answers that come twice. Who asks has claimed
what he asks (:mod:`proctor.running.claims`): only he settles what became of it, and nobody else sends it meanwhile.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Coroutine, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from msgspec import structs

from proctor.engines.engine import Engine
from proctor.engines.http.batches import Batch, BatchAPI, BatchFullError, BatchGoneError, BatchRefusedError, Result
from proctor.engines.http.http_engine import is_too_long
from proctor.engines.http.lost_replies import tokens_said
from proctor.engines.http.openai_engine import OpenAIEngine
from proctor.engines.http.other_batches import APIS
from proctor.engines.http.protocols.protocol import ProviderProtocol
from proctor.engines.http.provider_engine import ProviderEngine
from proctor.engines.http.retrying_client import Caller, CallError
from proctor.engines.http.safe_replies import without_secrets
from proctor.errors import EngineError, UsageError
from proctor.ir import BATCHED, Answers, Failure, Generate, Response, Usage, content_key
from proctor.logs import get_logger
from proctor.running.batch_records import BatchRecords, Record, batch_records
from proctor.running.executors import PlacedEngine
from proctor.running.log_place import LogAddress, placed
from proctor.secrets import redacted

T = TypeVar("T")
_FIRST_WAIT, _LONGEST_WAIT = 5.0, 120.0
_TOO_MUCH = "token_limit_exceeded"
"""OpenAI's word for more tokens than may be queued: the batch failed as a whole, and nothing of it was read."""


class BatchEngine(PlacedEngine):
    """Asks a provider in batches.

    Attributes:
        engine: Whose provider it is; answers are filed under its identity.
        log: The response log in which is written down what was sent.
    """

    transient_fields: ClassVar[frozenset[str]] = Engine.transient_fields | {"log"}
    engine: OpenAIEngine
    log: str
    place: ClassVar[Path | LogAddress | None] = None  # with what opens it, as it was given

    def prepare(self) -> None:
        """Can write, and no more: batches give no likelihoods of given text."""
        super().prepare()
        object.__setattr__(self, "can_score", False)

    @property
    def draws_alike(self) -> bool:
        """Repeats need seeds of their own: a request is known by its content."""
        return True

    @property
    def most_at_once(self) -> int:
        """As many as a batch may have: all of them are on their way."""
        return self._api_class().most_requests

    def generate(self, requests: Iterable[Generate]) -> Answers:
        """Answer generation requests, when the provider does.

        Raises:
            UsageError: The provider has no batches that Proctor knows.
            EngineError: It does not take a batch, or does not say what became of it.
        """
        self._api_class()
        with batch_records(self.place or placed(self.log)) as records:
            loop = _Loop(self.engine)
            try:
                yield from _Shift(self, loop, records).answers(requests)
            finally:
                loop.close()

    def _api_class(self) -> type[BatchAPI]:
        name = self.engine.batch_api
        if name not in APIS:
            raise UsageError(
                f"--batch: there is no batch API of '{name}' that Proctor knows",
                why=f"it knows those of {', '.join(APIS)}, and of servers that copy OpenAI's",
                hint="leave --batch out",
            )
        if self.engine.stream:
            raise UsageError("--batch: answers of a batch are not streamed", hint="leave stream=true out")
        APIS[name].check(name, self.engine.served_name, self.engine.batch_place())
        return APIS[name]


def batched(engine: Engine, log: Path | LogAddress) -> BatchEngine:
    """Return an engine that asks in batches, and writes down in a response log what it sent.

    Raises:
        UsageError: The engine is none of a provider with batches.
    """
    if not isinstance(engine, OpenAIEngine):
        raise UsageError(f"--batch is for providers, and '{engine.label}' is asked in another way", hint="leave it out")
    if isinstance(engine, ProviderEngine):
        engine = engine._adapted()  # noqa: SLF001 - as it asks itself
    made = BatchEngine(engine=engine, log=str(log))
    object.__setattr__(made, "place", log)
    made._api_class()  # noqa: SLF001 - refused before anything is done
    return made


def has_batches(engine: Engine) -> bool:
    """Whether an engine's provider takes batches that Proctor knows, and has what it needs for them."""
    if not (isinstance(engine, OpenAIEngine) and engine.is_billed and engine.batch_api in APIS and not engine.stream):
        return False
    with suppress(UsageError):
        APIS[engine.batch_api].check(engine.batch_api, engine.served_name, engine.batch_place())
        return True
    return False


def check_none_waits(engine: Engine, log: Path | LogAddress) -> None:
    """Refuse to ask an engine without batches while there are some of which the answers are not here.

    Raises:
        UsageError: There are.
    """
    if isinstance(log, Path) and not log.exists():
        return
    with batch_records(log) as records:
        found = records.under_way()
    if found and engine.identity in found:
        why = "what is in them would be paid twice"
        hint = "add --batch to wait for them, with the exams that they were made for; "
        hint += f"or name another --log (they stand in the table batches of {log})"
        raise UsageError(f"batches of '{engine.label}' are under way", why=why, hint=hint)


class _Loop:
    """An event loop in a thread of its own, which works in notebooks, too, with the connections to a provider."""

    def __init__(self, engine: OpenAIEngine) -> None:
        self._loop = (engine._new_loop or asyncio.new_event_loop)()  # noqa: SLF001 - the seam for tests
        self._thread = threading.Thread(target=self._loop.run_forever, name="proctor-batches", daemon=True)
        self._thread.start()
        self._room = engine.room()
        self.caller: Caller = self.run(self._room.__aenter__())

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Return what work returns; Ctrl-C ends it."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def close(self) -> None:
        self.run(self._room.__aexit__(None, None, None))
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class _Shift:
    """One call of :meth:`BatchEngine.generate`: what is asked, and the batches that it is in."""

    def __init__(self, engine: BatchEngine, loop: _Loop, records: BatchRecords) -> None:
        self._engine = engine
        self._loop = loop
        self._records = records
        inner = engine.engine
        self._protocol: ProviderProtocol = inner._protocol()  # noqa: SLF001 - as it asks itself
        place = inner.batch_place()._replace(authorize=inner._authorize())  # noqa: SLF001
        self._api = engine._api_class()(loop.caller.ask, self._protocol, place)  # noqa: SLF001
        self._is_taught = False
        self._route = ""
        self._asked: dict[str, tuple[Generate, list[int]]] = {}
        self._open: dict[str, Record] = {}
        self._told: dict[str, tuple[str, int]] = {}
        self._later: list[list[str]] = []
        self._results_of: dict[str, dict[str, Result]] = {}

    def answers(self, requests: Iterable[Generate]) -> Iterator[tuple[int, Response]]:
        """Yield positions and answers."""
        self._look_up()
        keys: list[str] = []
        size = 0
        for position, request in enumerate(requests):
            key = request.key
            if key in self._asked:  # an equal one: answered together
                self._asked[key][1].append(position)
                continue
            self._asked[key] = (request, [position])
            if not (line := len(self._line(key)) + 1) > 1:
                yield from self._directly([key])
                continue
            most = self._api.most_requests + (not self._is_taught)  # the first will go alone
            if keys and (len(keys) >= most or size + line > self._api.most_bytes):
                yield from self._sent(keys)
                keys, size = [], 0
            keys.append(key)
            size += line
        yield from self._sent(keys)
        yield from self._awaited()

    def _line(self, key: str) -> bytes:
        """Return a request as a batch has it; nothing where none may have it, or nobody can send it."""
        with suppress(CallError, ValueError, TypeError, OverflowError, RecursionError):  # said when it is asked at once
            post = self._protocol.posted(self._asked[key][0])
            if post is not None and self._api.takes(post):
                self._route = post.route
                return self._api.line(key, post)
        return b""

    def _look_up(self) -> None:
        """Learn which batches there are: other processes make some, and die."""
        for each in self._records.of(self._engine.engine.identity):
            if each.name not in self._open or not self._open[each.name].batch:
                self._open[each.name] = each
        self._api.known |= {each.batch for each in self._open.values() if each.batch}

    def _sent(self, keys: list[str]) -> Iterator[tuple[int, Response]]:
        """Make a batch of what is in none; yield the answers of batches that were read before."""
        self._look_up()
        self._settle()
        holding: dict[str, list[Record]] = {}
        for record in self._open.values():
            for key in record.requests:
                holding.setdefault(key, []).append(record)
        mine = []
        for key in keys:
            records = holding.get(key, [])
            if (known := next(filter(None, (self._read_before(each, key) for each in records)), None)) is not None:
                request, positions = self._asked.pop(key)
                yield from _given(positions, self._read(request, known))
            elif all(each.is_read for each in records):
                mine.append(key)
        yield from self._put(mine)

    def _put(self, keys: list[str]) -> Iterator[tuple[int, Response]]:
        """Make a batch, or ask at once where a batch may not have so few; yield the answers that are there then."""
        if keys and not self._is_taught:  # the first goes alone, and teaches what the model does not take
            self._is_taught = True
            yield from self._directly([keys.pop(0)])
        if len(keys) < self._api.least_requests:
            if keys:
                text = "%d requests to '%s' are asked at once, at the full price: a batch has %d of them or more"
                get_logger().warning(text, len(keys), self._engine.label, self._api.least_requests)
            yield from self._directly(keys)
            return
        try:
            is_made = self._make(keys)
        except BatchFullError:
            if not any(self._waits_for(each) for each in self._open.values()):
                raise
            self._later.append(keys)  # until one of ours is over
        else:
            if not is_made:
                yield from self._sent(keys)

    def _directly(self, keys: list[str]) -> Iterator[tuple[int, Response]]:
        """Ask at once, as many together as without batches."""
        width = self._engine.engine.most_at_once
        for start in range(0, len(keys), width):
            asked = [self._asked.pop(key) for key in keys[start : start + width]]
            found = self._do(self._together([request for request, _ in asked]))
            for (_, positions), response in zip(asked, found, strict=True):
                yield from _given(positions, response)

    async def _together(self, requests: list[Generate]) -> list[Response]:
        answer = self._engine.engine.answering_with(self._protocol.generate, self._loop.caller)
        return list(await asyncio.gather(*map(answer, requests)))

    def _do(self, work: Coroutine[Any, Any, T]) -> T:
        """Return what work with the provider returns; what it says may be anything."""
        try:
            return self._loop.run(work)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            why = redacted(f"{type(error).__name__}: {error}")[:1000]
            hint = "nothing is lost: run the same command again, and it goes on"
            raise EngineError("what the provider says of a batch cannot be read", why=why, hint=hint) from None

    # -- made once ------------------------------------------------------------------------------------------------

    def _make(self, keys: list[str]) -> bool:
        """Write down what is sent, then send it, then write down what became of it.

        Returns:
            Whether it was made. It is not where another process took over meanwhile, because this one seemed dead.
        """
        began = time.time()
        identity = self._engine.engine.identity
        record = Record(content_key("batch", identity, keys, began), identity, keys, began)
        self._records.write(record)
        try:
            send = self._do(self._api.prepared([self._line(key) for key in keys], self._route, record.name))
            if not self._records.has(record):
                return False
            record.batch = self._do(self._api.make(record.name, len(keys), send))
        except BatchRefusedError:
            self._forget(record)
            raise
        self._api.known.add(record.batch)
        self._records.write(record)
        self._open[record.name] = record
        return True

    def _settle(self) -> None:
        """Find out of batches with something that is asked whether they were made: who made them died meanwhile."""
        for record in [each for each in self._open.values() if not each.batch and self._wants(each)]:
            found = self._do(self._api.find(record.name, len(record.requests), record.began))
            if found is None:
                self._forget(record)
            else:
                record.batch = found
                self._api.known.add(found)
                self._records.write(record)

    def _awaited(self) -> Iterator[tuple[int, Response]]:
        """Yield the answers of every batch that has some of what is asked."""
        wait = _FIRST_WAIT
        while True:
            mine = [each for each in self._open.values() if self._waits_for(each)]
            if not mine and not self._later:
                return
            over = []
            for record in mine:
                batch = self._seen(record, self._api.look(record.batch, len(record.requests)))
                self._tell(record, batch)
                if batch.is_over:
                    over.append(record)
                    if _TOO_MUCH in batch.reason and len(record.requests) > 1:
                        self._put_off(record, is_alone=len(mine) == len(over))
                    else:
                        yield from self._results(record, batch)
            if self._later and (over or not mine):
                yield from self._put(self._later.pop(0))
                wait = _FIRST_WAIT
            else:
                self._loop.run(asyncio.sleep(wait))
                wait = min(wait * 1.5, _LONGEST_WAIT)

    def _seen(self, record: Record, work: Coroutine[Any, Any, T]) -> T:
        """Return what the provider says of a batch; where it has none of the name, say what can be done."""
        try:
            return self._do(work)
        except BatchGoneError as error:
            hint = "is the key one of the account that made it? Where the batch is lost, delete the row "
            hint += f"'{record.name}' in the table batches of {self._engine.log}: its requests are sent again then"
            raise EngineError(error.diagnostics[0].what, why=error.diagnostics[0].why, hint=hint) from None

    def _put_off(self, record: Record, *, is_alone: bool) -> None:
        """Send a batch later that is more than the provider may queue; in two, where nothing else is queued."""
        keys = [key for key in record.requests if key in self._asked]
        self._forget(record)
        middle = len(keys) // 2
        self._later += [keys[:middle], keys[middle:]] if is_alone and middle else [keys]

    def _waits_for(self, record: Record) -> bool:
        return bool(record.batch) and not record.is_read and self._wants(record)

    def _wants(self, record: Record) -> bool:
        return any(key in self._asked for key in record.requests)

    def _read_before(self, record: Record, key: str) -> Result | None:
        """Return an answer of a batch that was read before; ``None`` where it has none, or its results are gone."""
        if not record.is_read:
            return None
        if record.name not in self._results_of:
            found: dict[str, Result] = {}
            with suppress(BatchGoneError):
                batch = self._do(self._api.look(record.batch, len(record.requests)))
                found = {each.id: each for each in self._do(self._api.results(batch)) if each.failure is None}
            self._results_of[record.name] = found
        return self._results_of[record.name].get(key)

    def _results(self, record: Record, batch: Batch) -> Iterator[tuple[int, Response]]:
        results = self._seen(record, self._api.results(batch))
        if results and {each.id for each in results}.isdisjoint(record.requests):
            record.batch = ""  # somebody else's, which was like ours in every respect that the provider tells
            self._settle()
            if record.name not in self._open:
                self._later.append([key for key in record.requests if key in self._asked])
            return
        too_long = []
        for result in results:
            if result.id in self._asked:
                request, positions = self._asked[result.id]
                response = self._read(request, result)
                if self._engine.engine.truncate == "demos" and is_too_long(response):
                    too_long.append(result.id)  # asked without demonstrations, at once
                    continue
                del self._asked[result.id]
                yield from _given(positions, response)
        yield from self._directly(too_long)
        why = (
            redacted(batch.reason) or f"the batch {batch.id} ended ('{batch.status}') without an answer to this request"
        )
        for key in filter(self._asked.__contains__, record.requests):
            yield from _given(self._asked.pop(key)[1], Response(failure=Failure(batch.status, why)))
        record.is_read = True
        self._records.write(record)

    def _read(self, request: Generate, result: Result) -> Response:
        if result.failure is not None:
            failure = structs.replace(result.failure, message=redacted(result.failure.message))
            return Response(failure=failure, way=BATCHED)
        try:
            response = without_secrets(self._protocol.answered(request, result.body))
        except CallError as error:
            return Response(failure=error.failure, usage=error.usage, way=BATCHED)
        except Exception as error:  # noqa: BLE001 - a stranger's bytes may make a parser raise anything
            said = redacted(f"the answer in the batch cannot be read: {error}")
            read, written = tokens_said(result.body)
            usage = Usage(read, written, lost_prompt_tokens=read, lost_completion_tokens=written)
            return Response(failure=Failure("protocol", said), usage=usage, way=BATCHED)
        return structs.replace(response, way=BATCHED)

    # -- in the log -----------------------------------------------------------------------------------------------

    def _forget(self, record: Record) -> None:
        self._records.forget(record)
        self._open.pop(record.name, None)

    def _tell(self, record: Record, batch: Batch) -> None:
        """Say what the provider says, where it says something else than before."""
        if self._told.get(record.name) != (batch.status, batch.done):
            self._told[record.name] = batch.status, batch.done
            text = "batch %s of '%s': %s, %d of %d answered"
            get_logger().warning(text, batch.id, self._engine.label, batch.status, batch.done, len(record.requests))


def _given(positions: list[int], response: Response) -> Iterator[tuple[int, Response]]:
    yield positions[0], response
    for position in positions[1:]:  # an equal request was not sent again
        yield position, structs.replace(response, usage=Usage())
