"""``lm_eval.api.model``: the class that models of one's own derive from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Self

from proctor.guests.lm_eval.instance import Instance
from proctor.guests.lm_eval.utils import simple_parse_args_string
from proctor.guests.overrides import Obeyed
from proctor.secrets import keep_environment, keep_named


class CacheHook:
    """What models of one's own tell each answer as they have it; the response log (``use_cache``) keeps them."""

    def __init__(self, cachinglm: Any = None) -> None:
        del cachinglm

    def add_partial(self, attr: str, req: Any, res: Any) -> None:
        """Keep nothing."""


def keep_secrets_of(model: Any) -> None:
    """Keep the keys of a model of somebody's own, and those of the environment, out of what is written.

    Servers echo keys, and such a model reads them without telling.
    """
    keep_environment()
    for kind in reversed(type(model).__mro__):
        keep_named(dict(vars(kind)))
    keep_named(getattr(model, "__dict__", {}))


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
