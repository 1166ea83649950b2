"""``lm_eval.models.openai_completions``: servers of OpenAI's kind with lm-eval's interface.

Where a program changes nothing of them, the engine answers. Where a class overrides a step (``_create_payload``,
``parse_generations``, ``api_key``, ``header``, ``model_call`` …), requests go lm-eval's own way through that step.

Source: the requests that lm-eval 0.4.13's classes post.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from inspect import signature
from typing import Any, ClassVar, Final

from proctor.compat.lm_eval_names.models import EngineFirst
from proctor.engines.engine import Engine
from proctor.engines.engine_registry import make_engine
from proctor.errors import UsageError
from proctor.guests.lm_eval.api_model import TemplateAPI
from proctor.guests.lm_eval.model_utils import handle_stop_sequences, postprocess_generated_text
from proctor.guests.overrides import brought, check_brought
from proctor.logs import get_logger
from proctor.services import may_have

_KEY: Final = "OPENAI_API_KEY"
_STOPS: Final = 4
"""Most stop strings that OpenAI's chat takes."""
_REASONS: Final = re.compile(r"(o\d|gpt-5)")
"""OpenAI's models that take no stop strings and one temperature only."""


class LocalCompletionsAPI(EngineFirst, TemplateAPI):
    """A server with OpenAI's completions.

    Args:
        base_url: Where requests are posted, with the route.
        tokenizer_backend: As in :class:`TemplateAPI`; ``auto`` is ``huggingface``.
        more: The other arguments of :class:`TemplateAPI`, and of the engine where no step is overridden.
    """

    engine_name: ClassVar[str] = "local-completions"
    posts_many: ClassVar[bool] = True
    _at_first: Mapping[str, Any] = {}

    def __init__(self, base_url: str | None = None, tokenizer_backend: str | None = "auto", **more: Any) -> None:
        self._given = {"base_url": base_url, "tokenizer_backend": tokenizer_backend, **more}
        if self._own_steps():
            backend = "huggingface" if tokenizer_backend == "auto" else tokenizer_backend
            super().__init__(base_url=base_url, tokenizer_backend=backend, **more)
        else:
            known = {name: value for name, value in more.items() if name in _ARGUMENTS}
            super().__init__(base_url=base_url, tokenizer_backend=None, **known)
            _ = self.engine  # says what is wrong with its arguments
        self._batch_size = self._batch_size if self.posts_many else 1
        self._at_first = dict(vars(self))

    def _own_steps(self) -> set[str]:
        check_brought(type(self))
        said = {name for _, name in brought(type(self)) if not name.startswith(("__", "_abc_"))}
        return {name for name in said if hasattr(OpenAIChatCompletion, name)}

    @cached_property
    def engine(self) -> Engine:
        """The engine that answers where no step is overridden."""
        return make_engine(self.engine_name, {name: each for name, each in self._given.items() if each is not None})

    @property
    def plain_engine(self) -> Engine | None:
        """The engine, where nothing but it answers; ``None`` where a program says more.

        Raises:
            UsageError: A program has put something upon a class that nothing here calls.
        """
        is_changed = any(vars(self).get(name) is not value for name, value in self._at_first.items())
        return None if self._own_steps() or is_changed else self.engine

    @cached_property
    def api_key(self) -> str:
        """OpenAI's key, where it may go: to OpenAI, or to the server that ``OPENAI_BASE_URL`` names."""
        key, url = os.environ.get(_KEY, ""), self.base_url or ""
        if key and not self.auth_token and not may_have(_KEY, url.partition("://")[2].partition("/")[0]):
            get_logger().warning("%s is not sent to %s: auth_token=… is, and what api_key of a class says", _KEY, url)
            return ""
        return self.auth_token or key

    def _create_payload(
        self, messages: Any, generate: bool = False, gen_kwargs: Any = None, seed: int = 1234, eos: Any = None, **_: Any
    ) -> dict[str, Any]:
        """Return what is posted: how to generate under OpenAI's names, or a request for the tokens' likelihoods."""
        if not generate:
            scores = {"temperature": 0, "max_tokens": 1, "logprobs": 1, "seed": seed, "echo": True}
            return {"model": self.model, "prompt": messages, **scores}
        return {"prompt": messages, **self._generating(gen_kwargs or {}, seed, eos)}

    def _generating(self, told: dict[str, Any], seed: int, eos: str | None) -> dict[str, Any]:
        told.pop("do_sample", None)
        longest = told.pop("max_gen_toks", self._max_gen_toks)
        return {
            "model": self.model,
            "max_tokens": told.pop("max_tokens", longest),
            "temperature": told.pop("temperature", 0),
            "stop": handle_stop_sequences(told.pop("until", None), eos),
            "seed": seed,
            **told,
        }

    @staticmethod
    def parse_logprobs(
        outputs: Any, tokens: list[list[int]] | None = None, ctxlens: list[int] | None = None, **kwargs: Any
    ) -> list[tuple[float, bool]]:
        """Return likelihoods of what follows ``ctxlens`` tokens; the last token is one that the server wrote."""
        del tokens, kwargs
        scored = [each for reply in _listed(outputs) for each in _in_order(reply, lambda one: one["logprobs"])]
        found = []
        for choice, start in zip(scored, ctxlens or (), strict=False):
            values = choice["token_logprobs"][start:-1]
            best = [max(each.values()) for each in choice["top_logprobs"][start:-1]]
            found.append((sum(values), values == best))
        return found

    @staticmethod
    def parse_generations(outputs: Any, **kwargs: Any) -> list[str]:
        """Return the texts of a reply."""
        del kwargs
        return [text for reply in _listed(outputs) for text in _in_order(reply, lambda choice: choice["text"])]


class LocalChatCompletion(LocalCompletionsAPI):
    """A server with OpenAI's chat: messages are posted one chat at a time, and nothing has a likelihood."""

    engine_name = "local-chat-completions"
    posts_many = False
    think_end_token: str | None = None

    def __init__(self, base_url: str | None = None, tokenizer_backend: str | None = None, **more: Any) -> None:
        self.think_end_token = more.get("think_end_token")
        if self._own_steps():
            more = {name: value for name, value in more.items() if name != "think_end_token"}
        super().__init__(base_url=base_url, tokenizer_backend=tokenizer_backend, **more)

    def _create_payload(
        self, messages: Any, generate: bool = False, gen_kwargs: Any = None, seed: int = 1234, eos: Any = None, **_: Any
    ) -> dict[str, Any]:
        """Return what is posted.

        Raises:
            UsageError: A text is to be posted where messages are expected.
        """
        del generate
        if not isinstance(messages, list) or not all(isinstance(each, Mapping) for each in messages):
            raise UsageError(f"{type(self).__name__} posts messages", hint="apply_chat_template=True")
        told = self._generating(gen_kwargs or {}, seed, eos)
        return {"messages": messages, **told, "stop": told["stop"][:_STOPS]}

    def parse_generations(self, outputs: Any, **kwargs: Any) -> list[str]:  # type: ignore[override]
        """Return the texts of a reply without what comes before ``think_end_token``."""
        del kwargs
        texts = [text for each in _listed(outputs) for text in _in_order(each, lambda one: one["message"]["content"])]
        return [text and postprocess_generated_text(text, None, self.think_end_token) for text in texts]

    def tok_encode(self, string: Any, *args: Any, **kwargs: Any) -> Any:
        """Return a text as it is."""
        del args, kwargs
        return string

    def _loglikelihood_tokens(self, requests: list[Any], **kwargs: Any) -> list[tuple[float, bool]]:
        del requests, kwargs
        raise UsageError(
            f"{type(self).__name__} has no likelihoods",
            why="chats do not say them",
            hint="a class derived from LocalCompletionsAPI, or a task that generates",
        )


class OpenAICompletionsAPI(LocalCompletionsAPI):
    """OpenAI's completions."""

    engine_name = "openai-completions"

    def __init__(
        self,
        base_url: str | None = "https://api.openai.com/v1/completions",
        tokenizer_backend: str | None = "tiktoken",
        **more: Any,
    ) -> None:
        super().__init__(base_url=base_url, tokenizer_backend=tokenizer_backend, **more)


class OpenAIChatCompletion(LocalChatCompletion):
    """OpenAI's chat."""

    engine_name = "openai-chat-completions"

    def __init__(self, base_url: str | None = "https://api.openai.com/v1/chat/completions", **more: Any) -> None:
        super().__init__(base_url=base_url, **more)

    def _create_payload(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Return what is posted, under the names that OpenAI's own models take."""
        made = super()._create_payload(*args, **kwargs)
        made["max_completion_tokens"] = made.pop("max_tokens")
        if _REASONS.match(self.model or ""):
            del made["stop"]
            made["temperature"] = 1
        return made


_ARGUMENTS: Final = frozenset(signature(TemplateAPI).parameters) - {"fixed"}


def _listed(outputs: Any) -> list[Any]:
    return outputs if isinstance(outputs, list) else [outputs]


def _in_order(reply: Mapping[str, Any], text_of: Any) -> Sequence[Any]:
    return [text_of(each) for each in sorted(reply["choices"], key=lambda one: one["index"])]
