"""A model with lm-eval's interface as an engine: one that a program has made, or registered by a name."""

from __future__ import annotations

import copy
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from inspect import getsourcefile
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import msgspec
from msgspec import structs
from pydantic import PrivateAttr

from proctor.engines.engine import Engine
from proctor.errors import EngineError, UsageError
from proctor.guests.lm_eval.instance import Instance
from proctor.guests.lm_eval.model import keep_secrets_of
from proctor.guests.lm_eval.registry import model_registry
from proctor.ir import Answers, Decoding, Failure, Generate, Pair, Prompt, Response, Rolling, Score, Scored, content_key
from proctor.recipes.held_code import code_of_file
from proctor.secrets import cleaned, keep_named

if TYPE_CHECKING:
    from proctor.ir import Message

METHODS = ("loglikelihood", "loglikelihood_rolling", "generate_until")
LIMITS = ("max_gen_toks", "max_new_tokens", "max_tokens")
"""Names of the most tokens to write, in the arguments of tasks."""
_AT_ONCE = 1024  # requests: models of lm-eval's sort them by length, so few at a time would be slow


class NotAModelError(UsageError, TypeError):
    """Something that is given as a model, and is none."""


class _NoDocument(dict[str, Any]):
    """Stands for the document of a request, which an engine is not told: whoever reads it hears so."""

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise UsageError(
            "the model reads the document of a request (request.doc)",
            why="models are told requests alone here: equal requests of several documents are asked once",
            hint="what the answer depends on belongs into the prompt: doc_to_text",
        )

    __getitem__ = __iter__ = __contains__ = get = keys = values = items = _refuse

    def __reduce__(self) -> tuple[type[_NoDocument], tuple[()]]:
        return _NoDocument, ()


_NOT_HERE = _NoDocument()


class ForeignModel(Engine):
    """A model with lm-eval's interface, as an engine.

    Attributes:
        lm: The model.
        name: What tables call it.
        token: Tells it from every other: nothing says what such a model would answer another time.
        arguments: How tasks say to generate, word for word, by what it means here.
    """

    can_score = True

    lm: Any
    name: str = ""
    token: str = ""
    _arguments: dict[bytes, dict[str, Any]] = PrivateAttr(default_factory=dict)

    def prepare(self) -> None:
        """Give it a name and a token.

        Raises:
            UsageError: It is not a model.
        """
        super().prepare()
        keep_secrets_of(self.lm)
        if lacking := [name for name in METHODS if not hasattr(self.lm, name)]:
            raise NotAModelError(
                f"the model is a {type(self.lm).__name__}, which has no {lacking[0]}",
                why="a name, a model that derives from lm_eval.api.model.LM, or an engine is expected",
                hint="of a model in memory: lm_eval.models.huggingface.HFLM(pretrained=model, tokenizer=tokenizer)",
            )
        if getattr(self.lm, "world_size", 1) not in (None, 1):
            raise NotAModelError(
                f"{type(self.lm).__name__} says that it is one of {self.lm.world_size} processes",
                why="each of them would be asked everything here",
                hint="start the program once: it asks all requests, and the model may spread them over its devices",
            )
        self.name = self.name or type(self.lm).__name__
        self.token = self.token or uuid4().hex

    def keep_arguments(self, decoding: Decoding, arguments: Mapping[str, Any]) -> bool:
        """Ask with a task's own arguments where a request means the same; return whether nothing else was kept.

        What a task leaves out is left to the model, whose own defaults may be others than those here.
        """
        kept = self._arguments.setdefault(_key(decoding), dict(arguments))
        return any(name in kept for name in LIMITS) == any(name in arguments for name in LIMITS)

    def identity_values(self) -> dict[str, Any]:
        """Return what tells it from others."""
        return {"name": self.name, "token": self.token}

    @property
    def label(self) -> str:
        """What tables call it."""
        return self.name

    def facts(self) -> Mapping[str, Any]:
        """Return what the model says of itself (``get_model_info``)."""
        told = getattr(self.lm, "get_model_info", None)
        return dict(told()) if callable(told) else {}

    def generate(self, requests: Iterable[Generate]) -> Answers:
        """Ask ``generate_until``."""
        for part in _batched(enumerate(requests)):
            asked = [
                Instance("generate_until", _NOT_HERE, (self.text_of(each.prompt), self._how(each.decoding)), 0)
                for _, each in part
            ]
            texts = self._asked("generate_until", asked)
            for (position, request), text in zip(part, texts, strict=True):
                if text is None:
                    failure = Failure("engine", f"{self.name}.generate_until gave None for this request")
                    yield position, Response(failure=failure)
                else:
                    yield position, self.heard(Response(texts=(cleaned(str(text)),)), request.prompt)

    def score(self, requests: Iterable[Score]) -> Answers:
        """Ask ``loglikelihood``, and ``loglikelihood_rolling`` of whole texts."""
        for part in _batched(enumerate(requests)):
            pairs = [(position, pair) for position, each in part for pair in _pairs(each)]
            asked = [
                Instance("loglikelihood", _NOT_HERE, (self.text_of(pair.context), pair.continuation), place)
                for place, (_, pair) in enumerate(pairs)
            ]
            found: dict[int, list[Scored]] = {}
            for (position, _), (value, greedy) in zip(pairs, self._asked("loglikelihood", asked), strict=True):
                found.setdefault(position, []).append(Scored(float(value), bool(greedy)))
            rolled = [(position, each.text) for position, each in part if isinstance(each, Rolling)]
            whole = [Instance("loglikelihood_rolling", _NOT_HERE, (text,), 0) for _, text in rolled]
            for (position, _), value in zip(rolled, self._asked("loglikelihood_rolling", whole), strict=True):
                found[position] = [Scored(float(value[0] if isinstance(value, tuple) else value))]
            yield from ((position, Response(scores=tuple(found[position]))) for position, _ in part)

    def _asked(self, method: str, instances: list[Instance]) -> Sequence[Any]:
        if not instances:
            return []
        answers = list(getattr(self.lm, method)(instances))
        if len(answers) != len(instances):
            raise EngineError(f"{self.name}.{method} gave {len(answers)} answers to {len(instances)} requests")
        return answers

    def _how(self, decoding: Decoding) -> dict[str, Any]:
        """Return a task's own arguments; a seed that a run gives to each repeat is none of them."""
        kept = self._arguments.get(_key(decoding), self._arguments.get(_key(structs.replace(decoding, seed=None))))
        return _arguments(decoding) if kept is None else copy.deepcopy(kept)

    def text_of(self, prompt: Prompt) -> Any:
        """Return a prompt as the model takes it: messages by its own chat template."""
        payload = prompt.payload
        if isinstance(payload, str):
            return payload
        messages: list[Message] = [dict(each) for each in payload]
        is_open = not messages or messages[-1]["role"] != "assistant"
        return self.lm.apply_chat_template(messages, add_generation_prompt=is_open)


def _key(decoding: Decoding) -> bytes:
    return msgspec.json.encode(decoding.content, order="sorted")


def _batched(items: Iterable[Any]) -> Iterator[list[Any]]:
    iterator = iter(items)
    for first in iterator:
        part = [first]
        for each in iterator:
            part.append(each)
            if len(part) == _AT_ONCE:
                break
        yield part


def _pairs(request: Score) -> Sequence[Pair]:
    return () if isinstance(request, Rolling) else request.pairs


def _arguments(decoding: Decoding) -> dict[str, Any]:
    """Return how to generate, under the names that models of lm-eval read."""
    found: dict[str, Any] = {"until": list(decoding.stop), "temperature": decoding.temperature}
    found["do_sample"] = decoding.temperature > 0
    more = {
        "max_gen_toks": decoding.max_tokens,
        "top_p": decoding.top_p,
        "top_k": decoding.top_k,
        "seed": decoding.seed,
    }
    return {**found, **{name: value for name, value in more.items() if value is not None}, **decoding.extra}


def registered_engine(name: str, given: str | Mapping[str, Any], more: Mapping[str, Any] | None = None) -> Engine:
    """Return the engine of a model that was registered by a name.

    Its answers are kept under its name, its arguments and the digests of its code.

    Args:
        name: The name.
        given: Its arguments, as a text or a mapping.
        more: ``batch_size``, ``max_batch_size`` and ``device``; ``None`` says nothing.
    """
    from proctor.engines.model_args import parse_model_args

    kind = model_registry[name]
    named = parse_model_args(given) if isinstance(given, str) else dict(given)
    keep_named(named)
    make = kind.create_from_arg_string if isinstance(given, str) else kind.create_from_arg_obj
    return engine_of_model(make(given, dict(more or {})), name, _token(name, kind, {**named, **(more or {})}))


def _token(name: str, kind: type, arguments: Mapping[str, Any]) -> str:
    """Return what tells a registered model from others; empty where its code is not in a file."""
    file = getsourcefile(kind) if kind.__module__ in sys.modules else None
    code = code_of_file(Path(file)) if file else {}
    said = {key: str(value) for key, value in arguments.items() if value is not None}
    return content_key("registered", name, kind.__qualname__, said, code) if code else ""


def engine_of_model(model: Any, name: str = "", token: str = "") -> Engine:
    """Return a model with lm-eval's interface as an engine; one that is only a face of an engine as that engine."""
    plain: Engine | None = getattr(model, "plain_engine", None)
    return ForeignModel(lm=model, name=name, token=token) if plain is None else plain
