"""``lm_eval.api.model``: the class that models of one's own derive from."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from pathlib import Path
from typing import Any, Self

from proctor.guests.lm_eval.instance import Instance
from proctor.guests.lm_eval.utils import simple_parse_args_string
from proctor.guests.overrides import Obeyed
from proctor.secrets import cleaned, keep_environment, keep_named


def hash_args(attr: str, args: Iterable[Any]) -> str:
    """Return the digest of a method and what it is asked, under which answers are kept.

    Pictures and bytes count by their content.

    Raises:
        TypeError: Something has no content that could be told from another's.
    """
    return hashlib.sha256(json.dumps([attr, *args], default=_content).encode()).hexdigest()


def _content(value: Any) -> dict[str, Any]:
    if isinstance(value, bytes | bytearray | memoryview):
        return {"bytes": hashlib.sha256(value).hexdigest()}
    if hasattr(value, "tobytes") and hasattr(value, "size"):
        form = (str(getattr(value, "mode", getattr(value, "dtype", ""))), list(getattr(value, "shape", value.size)))
        return {"pixels": hashlib.sha256(value.tobytes()).hexdigest(), "form": form}
    raise TypeError(f"a request holds a {type(value).__name__}, which cannot be told from another of its kind")


class CacheHook:
    """What models of one's own tell each answer as they have it.

    Answers are kept by the response log (``use_cache``), so one without a store keeps nothing.

    Args:
        cachinglm: Something with a mapping ``dbdict`` to keep them in.
    """

    def __init__(self, cachinglm: Any = None) -> None:
        self.dbdict = None if cachinglm is None else cachinglm.dbdict

    def add_partial(self, attr: str, req: Iterable[Any], res: Any) -> None:
        """Keep an answer."""
        if self.dbdict is not None:
            self.dbdict[hash_args(attr, req)] = res


class CachingLM:
    """A model whose answers are kept in a file, and asked for once. Answers that are sampled are not kept.

    The file is SQLite, and holds JSON.

    Args:
        lm: The model.
        cache_db: The file.
    """

    def __init__(self, lm: LM, cache_db: str) -> None:
        keep_secrets_of(lm)
        Path(cache_db).parent.mkdir(parents=True, exist_ok=True)
        self.lm, self.cache_db, self.dbdict = lm, cache_db, KeptAnswers(cache_db)
        lm.set_cache_hook(self.get_cache_hook())

    def get_cache_hook(self) -> CacheHook:
        """Return what the model tells its answers to."""
        return CacheHook(self)

    def loglikelihood(self, requests: list[Instance]) -> list[Any]:
        """Return as the model does what is not kept yet."""
        return [tuple(each) for each in self._answered("loglikelihood", requests)]

    def loglikelihood_rolling(self, requests: list[Instance]) -> list[Any]:
        """Return as the model does what is not kept yet."""
        return self._answered("loglikelihood_rolling", requests)

    def generate_until(self, requests: list[Instance]) -> list[Any]:
        """Return as the model does what is not kept yet."""
        return self._answered("generate_until", requests)

    def _answered(self, kind: str, requests: list[Instance]) -> list[Any]:
        keys = [None if _is_sampled(kind, each) else hash_args(kind, each.args) for each in requests]
        missing = [place for place, key in enumerate(keys) if key is None or key not in self.dbdict]
        found = getattr(self.lm, kind)([requests[place] for place in missing]) if missing else []
        answers = dict(zip(missing, found, strict=True))
        for place, answer in answers.items():
            if (key := keys[place]) is not None:
                self.dbdict[key] = answer
        return [answers[place] if place in answers else self.dbdict[str(key)] for place, key in enumerate(keys)]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.lm, name)


def keep_secrets_of(model: Any) -> None:
    """Keep the keys of a model of somebody's own, and those of the environment, out of what is written.

    Servers echo keys, and such a model reads them without telling.
    """
    keep_environment()
    for kind in reversed(type(model).__mro__):
        keep_named(dict(vars(kind)))
    keep_named(getattr(model, "__dict__", {}))


def _is_sampled(kind: str, request: Instance) -> bool:
    return kind == "generate_until" and bool(request.args[1].get("do_sample"))


class KeptAnswers(MutableMapping[str, Any]):
    """Answers in a file, by digest.

    Args:
        file: The file; it is made where there is none.
    """

    def __init__(self, file: str) -> None:
        self._store = sqlite3.connect(file, isolation_level=None)
        self._store.execute("CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, value TEXT NOT NULL)")

    def __getitem__(self, key: str) -> Any:
        row = self._store.execute("SELECT value FROM answers WHERE key = ?", (key,)).fetchone()
        if row is None:
            raise KeyError(key)
        return json.loads(row[0])

    def __setitem__(self, key: str, value: Any) -> None:
        self._store.execute("INSERT OR REPLACE INTO answers VALUES (?, ?)", (key, cleaned(json.dumps(value))))

    def __delitem__(self, key: str) -> None:
        if not self._store.execute("DELETE FROM answers WHERE key = ?", (key,)).rowcount:
            raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return (key for (key,) in self._store.execute("SELECT key FROM answers"))

    def __len__(self) -> int:
        return int(self._store.execute("SELECT count(*) FROM answers").fetchone()[0])


class LM(Obeyed, ABC):
    """A model that answers requests of three kinds, many at once. It is alone: one process asks all of them."""

    cache_hook: CacheHook = CacheHook()  # of models that do not call this class's __init__
    _device: Any = None

    def __init__(self) -> None:
        self._rank, self._world_size = 0, 1
        self.cache_hook = CacheHook()

    def set_cache_hook(self, cache_hook: CacheHook) -> None:
        """Tell answers to another hook."""
        self.cache_hook = cache_hook

    @property
    def device(self) -> Any:
        """Where it computes, where it says so."""
        return self._device

    @device.setter
    def device(self, device: Any) -> None:
        self._device = device

    @abstractmethod
    def loglikelihood(self, requests: list[Instance]) -> list[tuple[float, bool]]:
        """Return for each (context, continuation) its log-likelihood, and whether it is what the model would write."""

    @abstractmethod
    def loglikelihood_rolling(self, requests: list[Instance]) -> list[float]:
        """Return the log-likelihood of each whole text."""

    @abstractmethod
    def generate_until(self, requests: list[Instance]) -> list[str]:
        """Return what the model writes after each context."""

    def apply_chat_template(self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True) -> str:
        """Return messages as the model's own text; models without a chat template do not say."""
        raise NotImplementedError("this model has no chat template: define apply_chat_template")

    @classmethod
    def create_from_arg_string(cls, arg_string: str, additional_config: Mapping[str, Any] | None = None) -> Self:
        """Return the model that ``key=value,key=value`` describes."""
        return cls.create_from_arg_obj(simple_parse_args_string(arg_string), additional_config)

    @classmethod
    def create_from_arg_obj(
        cls, arg_dict: Mapping[str, Any], additional_config: Mapping[str, Any] | None = None
    ) -> Self:
        """Return the model with arguments; what is ``None`` among the additional ones is left out."""
        more = {key: value for key, value in (additional_config or {}).items() if value is not None}
        return cls(**{**arg_dict, **more})

    @property
    def rank(self) -> int:
        """Which of several processes this is."""
        return self._rank

    @property
    def world_size(self) -> int:
        """How many processes there are."""
        return self._world_size

    def all_gather(self, tensor: Any) -> Any:
        """Return what all processes have: a tensor as it is."""
        return tensor

    def gather_object(self, obj: Any, dst: int = 0) -> list[Any]:
        """Return what all processes have, in a list."""
        del dst
        return [obj]

    def barrier(self) -> None:
        """Wait for nobody."""

    @property
    def tokenizer_name(self) -> str:
        """Name of the tokenizer, for caches."""
        return ""

    def chat_template(self, chat_template: bool | str = False) -> str | None:
        """Return the chat template that is applied, where the model has one."""
        del chat_template
        return None


class TemplateLM(LM):
    """A model that scores tokens: texts become tokens here, and :meth:`_loglikelihood_tokens` does the rest.

    Attributes:
        tokenizer: Its tokenizer, where it has one.
        backend: ``causal`` reads context and continuation as one text, ``seq2seq`` each by itself.
    """

    tokenizer: Any = None
    backend = "causal"

    @property
    @abstractmethod
    def eot_token_id(self) -> int:
        """The token that ends a text."""

    @property
    def prefix_token_id(self) -> int:
        """The token before a text that has nothing before it."""
        return self.eot_token_id

    @abstractmethod
    def tok_encode(self, string: str, **kwargs: Any) -> list[int]:
        """Return a text's tokens."""

    @abstractmethod
    def _loglikelihood_tokens(self, requests: list[Any], **kwargs: Any) -> list[tuple[float, bool]]:
        """Return log-likelihoods of ((context, continuation), context tokens, continuation tokens)."""

    def _encode_pair(self, context: str, continuation: str) -> tuple[list[int], list[int]]:
        """Return the tokens of both; blanks at the end of the context belong to the continuation."""
        blanks = len(context) - len(context.rstrip())
        if blanks:
            context, continuation = context[:-blanks], context[-blanks:] + continuation
        start = self.tok_encode(context)
        if self.backend != "causal":
            return start, self.tok_encode(continuation, add_special_tokens=False)
        return start, self.tok_encode(context + continuation)[len(start) :]

    def loglikelihood(self, requests: list[Instance], disable_tqdm: bool = False) -> list[tuple[float, bool]]:
        """Return for each (context, continuation) its log-likelihood, and whether it is what the model would write."""
        return self._loglikelihood_tokens([self._tokens(*each.args) for each in requests], disable_tqdm=disable_tqdm)

    def _tokens(self, context: str, continuation: str) -> tuple[tuple[str, str], list[int], list[int]]:
        if context:
            return (context, continuation), *self._encode_pair(context, continuation)
        tokens = self.tok_encode(continuation, add_special_tokens=False)
        if tokens[:1] == [self.prefix_token_id]:
            return (context, continuation), tokens[:1], tokens[1:]
        return (context, continuation), [self.prefix_token_id], tokens
