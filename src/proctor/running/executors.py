"""Executors: an engine in this process, or as workers on a Ray cluster.

The plan and the response log stay in this process; workers get requests and give answers. So results are those of a
single machine, and a worker that dies costs the answers it was working on and nothing else.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, ClassVar

from proctor import effects
from proctor.artifacts import NON_POSITIONAL
from proctor.effects import Author
from proctor.engines.as_another import as_another
from proctor.engines.engine import Engine
from proctor.engines.http.background import APART
from proctor.engines.http.rate_limits import Take
from proctor.errors import EngineError, ProctorError, UsageError, did_you_mean, needed
from proctor.ir import Answers, Choose, Generate, Likelihood, Pair, Prompt, Score
from proctor.running.log_file import default_log
from proctor.running.log_place import placed
from proctor.running.plan import Kind, Single
from proctor.running.ray_feeds import Feed, Shift
from proctor.running.ray_limits import DeskService, OwnWindow
from proctor.settings import settings

EXECUTORS = ("local", "ray", "batch")

_FIRST_SLOTS = 16
"""Requests that a worker gets before it has shown how fast it is, if its engine adapts to what a server takes."""


def distribute(
    engine: Engine,
    executor: str = "local",
    *,
    workers: int | None = None,
    address: str | None = None,
    gpus: float | None = None,
    log: Path | str | None = None,
) -> Engine:
    """Return an engine with the same answers that runs where ``executor`` says.

    Args:
        engine: Who answers.
        executor: ``local`` (this process), ``ray``, or ``batch`` (the provider's batches).
        workers: Ray actors, each with an engine of its own; by default one for each node of the cluster.
        address: A Ray cluster (``auto``, ``ray://head:10001``); by default one is started on this machine.
        gpus: GPUs of each worker; by default one, where the engine asks no server and the cluster has some.
        log: The response log, in which batches are written down.

    Raises:
        UsageError: There is no such executor, a number of workers that cannot be, or workers of this process.
        MissingExtraError: Ray is not installed.
    """
    if executor not in EXECUTORS:
        hint = did_you_mean(executor, EXECUTORS) or f"there are {' and '.join(EXECUTORS)}"
        raise UsageError(f"there is no executor '{executor}'", hint=hint)
    if workers is not None and workers < 1:
        raise UsageError(f"{workers} workers cannot answer anything", hint="give --workers 1 or more")
    named = {"--workers": workers, "--ray-address": address, "--gpus-per-worker": gpus}
    if executor != "ray" and any(value is not None for value in named.values()):
        given = next(name for name, value in named.items() if value is not None)
        raise UsageError(f"{given} is for Ray, and this run does not use it", hint="add --executor ray")
    place = placed(log) if log else default_log()
    if executor == "batch" or hasattr(type(engine), "batch_api"):
        from proctor.running.batches import batched, check_none_waits

        if executor == "batch":
            return batched(engine, place)
        check_none_waits(engine, place)
    if executor == "local":
        return engine
    if getattr(engine, "has_server_file", False):
        raise UsageError(
            "--executor ray reads no file of servers",
            why="each worker would read it by itself, and nobody would see whether a new server has the model",
            hint="name the servers with commas between them, or leave --executor out: one process asks many servers",
        )
    return RayEngine(engine=engine, workers=workers, address=address, gpus_per_worker=gpus)


@as_another(
    "engine",
    *("identity", "identity_values", "earlier_identities", "is_model_of", "label", "price_name", "is_billed"),
    *("takes_chats", "has_chat_template", "only_chats", "thought_marks", "keeps_thoughts", "takes_time"),
    *("server_addresses", "is_told_apart", "says_of_itself", "at", "check_servers_by"),
)
class PlacedEngine(Engine):
    """An engine whose requests are answered somewhere else, or in another way; what is said of it stays the same.

    Attributes:
        engine: Whose answers they are; they are filed under its identity.
    """

    engine: Engine

    def prepare(self) -> None:
        """Can do what its engine can."""
        super().prepare()
        object.__setattr__(self, "can_generate", self.engine.can_generate)
        object.__setattr__(self, "can_score", self.engine.can_score)


class RayEngine(PlacedEngine):
    """An engine whose requests are answered by Ray actors, each with an engine of its own.

    Attributes:
        engine: What each worker runs. Its answers are filed under its own identity.
        workers: Number of actors; by default one for each node.
        address: The cluster; by default one is started on this machine.
        chunk_size: Requests that a worker gets at once, where it does not get them one by one as slots become free.
            Larger keeps a batching engine busier; smaller loses less when a worker dies.
        cpus_per_worker, gpus_per_worker: What Ray reserves for each; by default one GPU where the engine asks no
            server and the cluster has GPUs.
    """

    transient_fields: ClassVar[frozenset[str]] = Engine.transient_fields | {
        "workers",
        "address",
        "chunk_size",
        "cpus_per_worker",
        "gpus_per_worker",
    }
    workers: Annotated[int | None, NON_POSITIONAL] = None
    address: Annotated[str | None, NON_POSITIONAL] = None
    chunk_size: Annotated[int, NON_POSITIONAL] = 64
    cpus_per_worker: Annotated[float, NON_POSITIONAL] = 1.0
    gpus_per_worker: Annotated[float | None, NON_POSITIONAL] = None

    def prepare(self) -> None:
        """Can do what its engine can."""
        super().prepare()
        self._crew: _Crew | None = None
        self._take: Take | None = None

    def share_rates(self, take: Take | None) -> None:
        """Keep limits per minute for all workers together with other processes from now on."""
        self._take = take
        if self._crew is not None:
            self._crew.share(take)

    def generate(self, requests: Iterable[Generate]) -> Answers:
        """Answer generation requests on the workers."""
        return self._answer("generate", requests)

    def score(self, requests: Iterable[Score]) -> Answers:
        """Answer requests for log-likelihoods on the workers."""
        if not self.can_score:
            return self.engine.score(requests)
        return self._answer("score", requests)

    def close(self) -> None:
        """Let the workers go, and the cluster if it was started here."""
        if self._crew is not None:
            self._crew.dismiss()
            self._crew = None
        self.engine.close()

    def _answer(self, kind: Kind, requests: Iterable[Single]) -> Answers:
        if self._crew is None:
            self._crew = _Crew(self)
            self._crew.share(self._take)
        is_fed = _reads_apart(self.engine, kind)
        slots = (_FIRST_SLOTS, self.engine.most_at_once) if is_fed else (self.chunk_size, self.chunk_size)
        try:
            yield from Shift(self._crew, kind, enumerate(requests), slots, bare).answers()
        except self._crew.ray.exceptions.RayTaskError as error:
            raise _cause(error) from error


class _Crew:
    """The actors of an engine."""

    def __init__(self, engine: RayEngine) -> None:
        self.ray = _ray()
        self._engine = engine
        self._is_mine = not self.ray.is_initialized()
        if self._is_mine:
            self._start_cluster()
        nodes = sum(1 for node in self.ray.nodes() if node["Alive"])
        has_gpus = self.ray.cluster_resources().get("GPU", 0) >= 1
        gpus = engine.gpus_per_worker
        if gpus is None:
            gpus = float(has_gpus and _computes_here(engine.engine))
        self._check_room(gpus)
        self._count = engine.workers or max(nodes, 1)
        options = {"num_cpus": engine.cpus_per_worker, "num_gpus": gpus, "max_concurrency": 2}  # fed while it answers
        self._actor = self.ray.remote(**options)(_Worker)
        has_limits = any(getattr(engine.engine, name, None) for name in ("requests_per_minute", "tokens_per_minute"))
        self._limits = DeskService(self.ray) if has_limits else None
        self.workers = [self.hire() for _ in range(self._count)]

    def _check_room(self, gpus: float) -> None:
        """See to it that the cluster can ever have a worker: Ray would wait for one without a word."""
        most = max((node["Resources"].get("GPU", 0) for node in self.ray.nodes() if node["Alive"]), default=0)
        if gpus > most:
            raise UsageError(
                f"no node of the Ray cluster has {gpus:g} GPUs for a worker",
                why=f"the most that one has is {most:g}",
                hint="--gpus-per-worker, with fewer of them",
            )

    def hire(self) -> Any:
        """Start another worker."""
        engine = self._engine.engine
        said = (engine.author, engine.typed_fields, engine.is_of_config, tuple(effects.grants()), settings.trust_code)
        desk = self._limits.desk if self._limits else None
        return self._actor.remote(
            engine.to_dict(), said, type(engine).__module__, list(sys.path), _keys_of(engine), desk
        )

    def share(self, take: Take | None) -> None:
        """Keep the limits per minute by a window that other processes have, too; by one of its own without."""
        if self._limits is not None:
            self._limits.window = take or OwnWindow().take

    def replace(self, worker: Any) -> Any:
        """Start a worker in place of one that died."""
        self.workers.remove(worker)
        self.workers.append(self.hire())
        return self.workers[-1]

    def dismiss(self) -> None:
        """End the workers, and the cluster if it was started here."""
        for worker in self.workers:
            self.ray.kill(worker)
        if self._limits is not None:
            self._limits.close()
        if self._is_mine:
            self.ray.shutdown()

    def _start_cluster(self) -> None:
        options: dict[str, Any] = {"log_to_driver": False, "configure_logging": False}
        if self._engine.address is None:
            cpus = (self._engine.workers or 1) * max(self._engine.cpus_per_worker, 1)
            options |= {"num_cpus": int(cpus), "include_dashboard": False}
        try:
            self.ray.init(self._engine.address or "local", **options)  # and never whatever cluster left its address
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise EngineError(
                f"the Ray cluster '{self._engine.address or 'local'}' cannot be used",
                why=str(error),
                hint="check the address, or leave it out to start a cluster on this machine"
                if self._engine.address
                else "--ray-address names a cluster that runs already; --executor local needs none",
            ) from error


class _Worker:
    """What runs in an actor: an engine of its own."""

    def __init__(
        self,
        data: dict[str, Any],
        said: tuple[Author | None, frozenset[str], bool, tuple[str, ...], bool],
        module: str,
        path: Sequence[str],
        keys: Mapping[str, str],
        desk: Any = None,
    ) -> None:
        self._data = data
        self._said = said
        self._module = module
        self._desk = desk
        sys.path.extend(each for each in path if each not in sys.path)
        for name, value in keys.items():
            os.environ.setdefault(name, value)
        self._engine: Engine | None = None
        self._feeds: dict[str, Feed] = {}

    def start(self) -> Engine:
        """Build the engine; here and not in ``__init__``, so that its errors arrive as they are."""
        if self._engine is None:
            author, typed, is_config, grants, settings.trust_code = self._said
            effects.grant(*grants)
            with suppress(ImportError):  # a class of a program that is not here: building it says so
                import_module(self._module)
            with effects.written_by(author):
                engine = Engine.from_dict(self._data)
            object.__setattr__(engine, "typed_fields", typed)
            object.__setattr__(engine, "is_of_config", is_config)
            if self._desk is not None:
                get, take = _ray().get, self._desk.take
                engine.share_rates(lambda *wanted: get(take.remote(*wanted)))
            self._engine = engine
        return self._engine

    def feed(self, shift: str, items: list[tuple[int, Any]], is_last: bool) -> None:
        """Add requests to those of a shift, which may begin later."""
        self._feeds.setdefault(shift, Feed()).add(items, is_last=is_last)

    def answer(self, kind: Kind, shift: str) -> Answers:
        """Yield the number and the response of each request that comes, until the last one is answered."""
        engine, feed = self.start(), self._feeds.setdefault(shift, Feed())
        ask: Any = engine.generate if kind == "generate" else engine.score
        if _reads_apart(engine, kind):
            APART.set(True)
            for position, response in ask(feed):
                yield feed.numbers.pop(position), response
        else:
            while items := feed.together():
                for position, response in ask([request for _, request in items]):
                    yield items[position][0], response
        del self._feeds[shift]


def _reads_apart(engine: Engine, kind: Kind) -> bool:
    """Whether an engine may be fed requests one by one, as those that ask a server can be."""
    from proctor.engines.http.openai_engine import OpenAIEngine
    from proctor.engines.http.provider_engine import ProviderEngine

    name = "generate" if kind == "generate" else "score"
    ours = [getattr(each, name) for each in (OpenAIEngine, ProviderEngine)]
    return getattr(type(engine), name) in ours and not _computes_here(engine)


def _computes_here(engine: Engine) -> bool:
    """Whether an engine has the model in its own process, as far as one can see: it takes time, and asks no server."""
    return engine.takes_time and not any(each.kind == "net" for each in engine.would_do())


def _keys_of(engine: Engine) -> dict[str, str]:
    """Return the variables whose values an engine sends, for workers on machines that do not have them."""
    names = {each.target.partition("@")[0] for each in engine.would_do() if each.kind == "env"}
    return {name: value for name in names if (value := os.environ.get(name))}


def bare(request: Single) -> Single:
    """Return a request without the explanations of its prompts, which other processes have no use for."""
    match request:
        case Generate():
            return Generate(Prompt(request.prompt.payload), request.decoding)
        case Choose():
            return Choose(tuple(Pair(Prompt(pair.context.payload), pair.continuation) for pair in request.pairs))
        case Likelihood():
            return Likelihood(Prompt(request.context.payload), request.continuation)
    return request


def _cause(error: Any) -> ProctorError:
    cause = getattr(error, "cause", None)
    if isinstance(cause, ProctorError):
        return cause
    return EngineError("a worker's engine failed", why=str(cause or error).splitlines()[-1])


def _ray() -> Any:
    with needed("ray", "ray", "--executor ray"):
        import ray
    return ray
