"""Whether a server has the model whose answers a log holds: answers belong to models, and addresses change.

Before a process sends its first request to a server, the server is asked what it says of its model; at an address that
is new to the log it gets up to three requests again that were answered elsewhere. What differs is refused, with both.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec

from proctor.engines.engine import Engine
from proctor.engines.http.server_file import ServerAwayError
from proctor.errors import EngineError
from proctor.ir import Choose, Decoding, Generate, Likelihood, Pair, Prompt, Response
from proctor.running.log import Key
from proctor.running.reckoning import Claim
from proctor.running.session import Session

_PROBES: Final = 3
_LONGEST: Final = 1 << 16
"""Bytes of a request that is kept for a probe: it is kept in the log, and asked again at each new address."""

_NEAR: Final = 0.02
"""How far two log-likelihoods of a text may be apart, as a share: servers compute in other precisions and orders."""

Probe = Generate | Choose | Likelihood


class SameModel:
    """Looks, once, whether the server of a session has the model that the log takes it for.

    Args:
        session: Who is asked, and the log.
    """

    def __init__(self, session: Session) -> None:
        self._session, self._engine = session, session.engine
        self._is_open = bool(self._engine.server_addresses)
        self._sent: list[tuple[Key, bytes]] = []
        self._most = _PROBES if self._is_open else 0
        if self._is_open:
            self._engine.check_servers_by(self._check_new)

    def before(self, key: Key, request: object) -> None:
        """Look at a request that is sent now; before the first one, the server is asked about its model.

        Raises:
            EngineError: It has another model.
        """
        if self._is_open:
            self._check()
        if len(self._sent) < self._most and not key.repeat and (body := _written(request)) is not None:
            self._sent.append((key, body))

    def _check(self) -> None:
        self._is_open = False
        for address in self._engine.server_addresses:
            self._is_there(address)  # who is away is asked all the same: whoever does says so

    def _check_new(self, address: str) -> None:
        """Look at a server that comes while others are asked."""
        if not self._is_there(address):
            raise ServerAwayError("it does not say yet which model it has", hint="it is asked again in a while")

    def _is_there(self, address: str) -> bool:
        """Check the model of a server; return whether it answers."""
        log, number, engine = self._session.log, self._session.number, self._engine
        known = log.servers(number)
        says = engine.says_of_itself(address)
        if says is None:
            return False
        for place, said in known.items():
            if said and says and said != says:
                raise self._another(address, f"{place} said '{said}' of it, and {address} says '{says}'")
        is_new = bool(known) and address not in known and not engine.is_told_apart
        if not is_new or self._is_known_by_its_answers(engine.at(address), address):
            log.note_server(number, address, says)
        return True

    def keep(self) -> None:
        """Keep the first requests that were sent, if the log has none: another server may be tried with them."""
        if self._sent and not self._session.log.probes(self._session.number):
            self._session.log.keep_probes(self._session.number, self._sent)

    def _is_known_by_its_answers(self, server: Engine, address: str) -> bool:
        """Ask a server what was answered elsewhere; return whether it was tried, or there is nothing to try it with."""
        probes = self._session.log.probes(self._session.number) or self._sent
        found = [(key, request) for key, body in probes if (request := _read(body)) is not None]
        filed = self._session.log.get_many(self._session.number, [key for key, _ in found])
        asked = [(request, filed[key]) for key, request in found if key in filed]
        pairs = [
            (answer, response)
            for kind in (True, False)
            for answer, response in self._answered(
                server, [each for each in asked if isinstance(each[0], Generate) is kind]
            )
            if response.failure is None
        ]
        if pairs and not any(_is_same(one, other) for one, other in pairs):
            before, now = pairs[0]
            raise self._another(
                address, f"to a question that was answered with {_shown(before)}, it answers {_shown(now)}"
            )
        return bool(pairs) or not asked

    def _answered(self, server: Engine, asked: Sequence[tuple[Probe, Response]]) -> Iterable[tuple[Response, Response]]:
        """Return the filed answer and the new one of each request, as far as the budget goes; they are of one kind."""
        budget, progress = self._session.budget, self._session.progress
        requests: list[Any] = []
        claims: list[Claim] = []
        for request, _ in asked:
            if budget is not None:
                if (claim := budget.claim(request, self._engine)) is None:
                    break
                claims.append(claim)
            requests.append(request)
        if not requests:
            return []
        ask = server.generate if isinstance(requests[0], Generate) else server.score
        progress.asked += len(requests)
        pairs = []
        for place, response in ask(requests):
            progress.count(response)
            if budget is not None:
                budget.settle(claims[place], response)
            pairs.append((asked[place][1], response))
        return pairs

    def _another(self, address: str, why: str) -> EngineError:
        label = self._engine.label
        return EngineError(
            f"the server at {address} has another model than the one whose answers the log holds as '{label}'",
            why=why,
            hint=f"model_id=NAME files the answers of this one apart, model_id={label} says that it is the same: "
            "--model-args has it",
        )


def _written(request: object) -> bytes | None:
    """Return a request as it is kept; ``None`` where it is long, or its answer is drawn."""
    match request:
        case Generate(prompt=Prompt(payload=payload), decoding=Decoding() as decoding) if not decoding.temperature:
            parts: Any = ["generate", payload, decoding]
        case Choose(pairs=pairs) | Likelihood(pairs=pairs):
            kind = "choose" if isinstance(request, Choose) else "likelihood"
            parts = [kind, [[pair.context.payload, pair.continuation] for pair in pairs]]
        case _:
            return None
    try:
        body = msgspec.json.encode(parts)
    except (TypeError, ValueError):  # a picture in memory
        return None
    return body if len(body) <= _LONGEST else None


def _read(body: bytes) -> Probe | None:
    try:
        match msgspec.json.decode(body):
            case ["generate", payload, decoding]:
                return Generate(Prompt(payload), msgspec.convert(decoding, Decoding))
            case ["choose", [*pairs]]:
                return Choose(tuple(Pair(Prompt(context), text) for context, text in pairs))
            case ["likelihood", [[context, text]]]:
                return Likelihood(Prompt(context), text)
    except (msgspec.MsgspecError, TypeError, ValueError):
        pass
    return None


def _is_same(one: Response, other: Response) -> bool:
    if one.texts or other.texts:
        return one.texts == other.texts
    scores = [(a.log_likelihood, b.log_likelihood) for a, b in zip(one.scores, other.scores, strict=False)]
    return bool(scores) and all(abs(a - b) <= _NEAR * max(abs(a), abs(b), 1.0) for a, b in scores)


def _shown(response: Response) -> str:
    if response.texts:
        text = response.texts[0]
        return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")
    return ", ".join(f"{each.log_likelihood:.3f}" for each in response.scores)


_SHOWN: Final = 80
