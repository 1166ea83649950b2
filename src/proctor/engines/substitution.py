"""Engines that stand in for others: ``PROCTOR_ENGINE_MAP="model=engine[args];…"``.

With ``PROCTOR_ENGINE_MAP="llama-3-3-70b-instruct=smollm2;*=scripted[answer=yes]"`` everything that asks for that model,
from whatever provider, is answered by SmolLM2 in this process, and all other models by a script. Exams, prompts and
decoding stay the same, so an example written for a large remote model runs anywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from msgspec import structs

from proctor.artifacts.query import parse_query
from proctor.data.policy import policy_of
from proctor.effects import written_by
from proctor.engines.as_another import as_another
from proctor.engines.decoding import with_defaults
from proctor.engines.engine import Engine
from proctor.engines.engine_names import engine_names
from proctor.engines.engine_registry import engine_named
from proctor.engines.scripted import ScriptedEngine
from proctor.errors import SettingsError, UsageError
from proctor.ir import Answers, Generate, Prompt, Response, Score
from proctor.ir.responses import TokenLogProbability
from proctor.settings import settings

_ANY = "*"


def engine_map() -> Mapping[str, str]:
    """Return ``settings.engine_map`` as a table from model to engine.

    Raises:
        SettingsError: A part is not ``model=engine``.
    """
    table = {}
    for part in str(settings.engine_map or "").split(";"):
        model, equals, engine = part.partition("=")
        if not part.strip():
            continue
        if not equals or not model.strip() or not engine.strip():
            raise SettingsError(
                f"'{part}' in PROCTOR_ENGINE_MAP is not a model=engine",
                hint="write model=engine[key=value];model2=engine2",
            )
        table[model.strip()] = engine.strip()
    return table


def _names(engine: Engine) -> Iterator[str]:
    """Yield what a model may be called in the map: its name, and what its provider calls it, where one is named."""
    for attribute in ("model", "model_name", "served_model"):
        with suppress(UsageError):  # no provider is named, and none is needed
            if name := getattr(engine, attribute, None):
                yield str(name)


def engine_from(text: str) -> Engine:
    """Return the engine of ``name`` or ``name[key=value,…]``, by short name or catalog name."""
    query = parse_query(text)
    return engine_named(query.name, query.overwrites) if query.name in engine_names() else engine_named(text, {})


_MOCK = "mock_inference_engine"


def _echo(prompt: Prompt) -> str:
    payload = prompt.payload
    return payload if isinstance(payload, str) else str(list(payload))


_RATED = TokenLogProbability("[[10]]", -1.0, (("[[10]]", -1.0),))
"""What Unitxt's mock generates where log-probabilities of tokens are asked for."""


class _Echo(ScriptedEngine):
    """Answers a prompt with itself, and with a rating where log-probabilities of tokens are asked for."""

    def generate(self, requests: Iterable[Generate]) -> Answers:
        """Answer generation requests, in order."""
        for position, request in enumerate(requests):
            count = request.decoding.count
            if request.decoding.extra.get("logprobs"):
                yield position, Response(texts=(_RATED.token,) * count, tokens=((_RATED,),) * count)
            else:
                yield from ((position, answer) for _, answer in super().generate([request]))


@as_another("_asked", "decoding_defaults", "to_dict")  # the map says again who answers
@as_another(
    "_answering",
    *("price_name", "is_billed", "takes_chats", "has_chat_template", "only_chats", "answers_in_order", "takes_time"),
    *("share_rates", "close"),
)
class StandIn(Engine):
    """An engine under the name and with the decoding of another."""

    _asked: Engine
    _answering: Engine
    _tries_out: bool = False

    @classmethod
    def in_place_of(cls, engine: Engine) -> Engine:
        """Return the engine that ``settings.engine_map`` puts in place of another; else that one."""
        if isinstance(engine, StandIn):
            return engine
        if settings.mock_inference_mode:
            if engine.type_name() == _MOCK:  # it knows what to say
                return engine
            with written_by(None):  # the user's settings say so
                return cls.of(engine, _Echo(function=_echo), tries_out=True)
        if not (table := engine_map()):
            return engine
        known = list(_names(engine))
        wanted = next((table[name] for name in known if name in table), table.get(_ANY) if known else None)
        if wanted is None:
            return engine
        with written_by(None):  # as above
            return cls.of(engine, engine_from(wanted))

    @classmethod
    def of(cls, asked: Engine, answering: Engine, *, tries_out: bool = False) -> StandIn:
        """Return ``answering`` in place of ``asked``; with ``tries_out`` nobody is sent anything."""
        stand_in = cls()
        stand_in._asked, stand_in._answering, stand_in._tries_out = asked, answering, tries_out
        object.__setattr__(stand_in, "can_score", answering.can_score)
        return stand_in

    def answering(self) -> Engine:
        """Return this engine: what stands in for another is not stood in for."""
        return self

    @property
    def label(self) -> str:
        """Both names: results must not pass for those of the model that was asked for."""
        return f"{self._asked.label} (by {self._answering.label})"

    @property
    def policy(self) -> list[str] | None:
        """The policy of the engine that answers: that is where the data goes; where a program is tried out, its own."""
        return policy_of(self._asked) if self._tries_out else self._answering.policy

    def identity_values(self) -> dict[str, Any]:
        """Return the values that decide answers: the engine that answers, and the decoding."""
        return {"engine": self._answering.identity, "decoding": dict(self._asked.decoding_defaults())}

    def generate(self, requests: Iterable[Generate]) -> Answers:
        """Let the other engine answer."""
        return self._answering.generate(self._decoded(requests))

    def score(self, requests: Iterable[Score]) -> Answers:
        """Let the other engine answer."""
        return self._answering.score(requests)

    def _decoded(self, requests: Iterable[Generate]) -> Iterator[Generate]:
        defaults = self._asked.decoding_defaults()
        for request in requests:
            yield structs.replace(request, decoding=with_defaults(request.decoding, defaults))
