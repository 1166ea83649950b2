"""A class beside a config, or of an installed package, as the model that a config names: its own methods answer."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, ClassVar, Final

from proctor.dialects.aisbench.datasets.trusted import imported
from proctor.engines.engine import Engine
from proctor.errors import EngineError, Location, TrustError, UsageError
from proctor.guests.clones import is_defined_around
from proctor.guests.opencompass.models import BaseModel
from proctor.guests.overrides import check_brought
from proctor.guests.table import TABLES
from proctor.ir import Answers, Failure, Generate, Prompt, Response, Rolling, Score, Scored
from proctor.recipes.held_code import code_of_file, code_of_module
from proctor.settings import settings
from proctor.templates import PromptList

_LIMIT: Final = 512
"""Tokens of an answer where neither config nor dataset says how many: what most of OpenCompass' configs say."""
_ROLES: Final = {"user": "HUMAN", "assistant": "BOT", "system": "SYSTEM"}
NOT_ARGUMENTS: Final = frozenset(
    [
        *("type", "abbr", "attr", "run_cfg", "max_out_len", "batch_size"),
        *("pred_postprocessor", "summarizer_abbr", "min_out_len"),
    ]
)
"""Keys of a model that OpenCompass takes out before its class is made."""


def own_class(name: str, place: Location | None) -> Any:
    """Return the class that a config names as its model's type; ``None`` where it names none that answers.

    Raises:
        TrustError: It is code, and code is not trusted.
        UsageError: It overrides what nothing here calls.
    """
    short = name.rpartition(".")[2]
    if place is not None and place.file and is_defined_around(Path(place.file), short):
        name = short  # of the clone that the config lies in
    elif "." not in name or name.partition(".")[0] in TABLES:
        return None
    if not settings.trust_code:
        raise TrustError(
            f"the model's type {name} is code", location=place, why="it would run here", hint="--trust-code runs it"
        )
    try:
        found = imported(name, place)
    except ImportError as error:
        raise UsageError(
            f"the model's type {name} cannot be imported", location=place, path="$.type", why=str(error)
        ) from error
    if not (inspect.isclass(found) and callable(getattr(found, "generate", None))):
        return None
    if issubclass(found, BaseModel):
        check_brought(found)
    return found


class ConfigModel(Engine):
    """The model of a class that a config names.

    Attributes:
        kind: The dotted name of the class.
        file: The config that names it; modules beside it are found.
        arguments: What the class is made with.
        batch_size: Prompts that it is given at once.
    """

    transient_fields: ClassVar[frozenset[str]] = frozenset({"batch_size", "file"})

    kind: str
    file: str = ""
    arguments: dict[str, Any] = {}
    batch_size: int = 1

    def prepare(self) -> None:
        """Find the class.

        Raises:
            TrustError: Code is not trusted.
            UsageError: There is no such class.
        """
        super().prepare()
        found = own_class(self.kind, Location(self.file) if self.file else None)
        if found is None:
            raise UsageError(f"{self.kind} is not a class with a method 'generate'")
        self._class = found
        own_losses = getattr(found, "get_ppl", None)
        object.__setattr__(self, "can_score", own_losses is not None and own_losses is not BaseModel.get_ppl)

    @cached_property
    def model(self) -> Any:
        """The model, made on first use.

        Raises:
            EngineError: Its class fails.
        """
        try:
            return self._class(**self.arguments)
        except Exception as error:  # whatever foreign code raises becomes one message
            raise EngineError(f"{self.kind} cannot be made", why=f"{type(error).__name__}: {error}") from error

    def identity_values(self) -> dict[str, Any]:
        """Return the class with the digests of its files, and what it is made with."""
        found = {each.co_filename for kind in self._class.__mro__ for each in _codes(kind)}
        codes = [code_of_file(Path(each), Path.cwd()) for each in sorted(found) if Path(each).is_file()]
        code = (codes[0] if len(codes) == 1 else codes) or code_of_module(self._class.__module__)
        return {**super().identity_values(), "code": code}

    @property
    def label(self) -> str:
        """What tables call it."""
        return self.kind.rpartition(".")[2]

    @property
    def takes_chats(self) -> bool:
        """Whether it takes dialogues, as models behind a service do."""
        return bool(getattr(self._class, "is_api", False))

    def count_tokens(self, prompt: Prompt) -> int | None:
        """Return what the class's ``get_token_len`` says of a prompt; ``None`` where it says nothing."""
        counts = getattr(self._class, "get_token_len", BaseModel.get_token_len)
        return None if counts is BaseModel.get_token_len else int(self.model.get_token_len(prompt.text))

    def generate(self, requests: Iterable[Generate]) -> Answers:
        """Ask ``generate`` of as many prompts at once as the config says."""
        hear = self.hearing()
        for part in _batched(enumerate(requests), self.batch_size):
            ways = [(each.decoding.max_tokens, each.decoding.stop) for _, each in part]
            for limit, stop in dict.fromkeys(ways):
                asked = [pair for pair, way in zip(part, ways, strict=True) if way == (limit, stop)]
                prompts = [_input(each.prompt) for _, each in asked]
                more = self._stops(stop)
                said = self._asked("generate", prompts, max_out_len=limit or _LIMIT, **more)
                for (position, each), answer in zip(asked, said, strict=True):
                    is_failed = isinstance(answer, Failure)
                    found = Response(failure=answer) if is_failed else Response(texts=(str(answer),))
                    yield position, found if is_failed else hear(found, each.prompt)

    def score(self, requests: Iterable[Score]) -> Answers:
        """Ask ``get_ppl`` of whole texts.

        Raises:
            UnsupportedRequestError: The class has no ``get_ppl``, or something else is wanted than losses of texts.
        """
        if not self.can_score:
            return super().score(requests)
        return self._losses(requests)

    def _losses(self, requests: Iterable[Score]) -> Iterator[tuple[int, Response]]:
        for part in _batched(enumerate(requests), self.batch_size):
            if other := next((each for _, each in part if not isinstance(each, Rolling)), None):
                yield from super().score([other])
            texts = [each.text for _, each in part if isinstance(each, Rolling)]
            for (position, _), text, loss in zip(part, texts, self._asked("get_ppl", texts), strict=True):
                if isinstance(loss, Failure):
                    yield position, Response(failure=loss)
                else:
                    count = max(1, (self.count_tokens(Prompt(text)) or 2) - 1)  # a mean counts the first token, too
                    yield position, Response(scores=(Scored(-float(loss) * (count + 1), token_count=count),))

    def _asked(self, method: str, prompts: list[Any], **named: Any) -> Sequence[Any]:
        try:
            found = list(getattr(self.model, method)(prompts, **named))
        except EngineError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever foreign code raises becomes these questions' failure
            failure = Failure("engine", f"{self.label}.{method} failed: {type(error).__name__}: {error}")
            return [failure] * len(prompts)
        if len(found) != len(prompts):
            wrong = Failure("engine", f"{self.label}.{method} gave {len(found)} values for {len(prompts)}")
            return [wrong] * len(prompts)
        return found

    def _stops(self, stop: Sequence[str]) -> Mapping[str, Any]:
        takes = inspect.signature(self._class.generate).parameters
        return {"stopping_criteria": list(stop)} if stop and "stopping_criteria" in takes else {}


def _batched(items: Iterable[tuple[int, Any]], size: int) -> Iterator[list[tuple[int, Any]]]:
    waiting = iter(items)
    while part := list(islice(waiting, size)):
        yield part


def _input(prompt: Prompt) -> Any:
    payload = prompt.payload
    if isinstance(payload, str):
        return payload
    return PromptList([{"role": _ROLES[str(each["role"])], "prompt": each["content"]} for each in prompt.messages])


def _codes(kind: type) -> Iterator[CodeType]:
    """Yield the code of the methods that a class defines itself; none of Proctor's own classes."""
    if not kind.__module__.startswith("proctor."):
        yield from (each.__code__ for each in vars(kind).values() if isinstance(each, FunctionType))
