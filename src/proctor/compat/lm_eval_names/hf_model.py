"""``lm_eval.models.huggingface``: a transformers model with lm-eval's interface, and what programs look at in one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from proctor.compat.lm_eval_names.models import EngineLM
from proctor.engines.encoder import Encoder
from proctor.engines.engine_registry import make_engine
from proctor.errors import UsageError

if TYPE_CHECKING:
    from proctor.engines.hf.hf_engine import HFEngine
    from proctor.engines.hf.loading import LoadedModel


class HFLM(EngineLM):
    """A transformers model: a name, a folder, or a model in memory with its tokenizer.

    A program that takes :attr:`model` or :attr:`tokenizer` may change it, so from then on the model is one of the
    program's own: loaded with plain layers, and answers that are on file under its name are not taken for its.

    Args:
        pretrained: Name, folder or model.
        tokenizer: Name, folder or tokenizer.
        more: The other arguments of lm-eval's ``hf``, and of the engine here.

    Raises:
        UsageError: A model in memory comes without its tokenizer.
    """

    engine: HFEngine

    def __init__(self, pretrained: Any, tokenizer: Any = None, **more: Any) -> None:
        self._more = more
        self._named: dict[str, Any] | None = None
        if isinstance(pretrained, str):
            self._named = {"pretrained": pretrained, **({} if tokenizer is None else {"tokenizer": tokenizer}), **more}
            super().__init__(make_engine("hf", self._named))
            return
        if tokenizer is None:
            raise UsageError("HFLM has a model in memory and no tokenizer", hint="HFLM(pretrained=model, tokenizer=…)")
        from proctor.engines.hf.loading import loaded_in_memory

        super().__init__(_in_memory(loaded_in_memory(pretrained, tokenizer), more))

    @property
    def _own(self) -> LoadedModel:
        """What is in memory, for programs that may change it."""
        if self._named is not None:
            plain: Any = make_engine("hf", {**self._named, "reorder_weights": False})
            self.engine.close()
            self.engine, self._named = _in_memory(plain.loaded, self._more), None
        return self.engine.loaded

    @property
    def model(self) -> Any:
        """The model of transformers."""
        return self._own.model

    @property
    def tokenizer(self) -> Any:
        """The tokenizer of transformers."""
        return self._own.tokenizer

    @property
    def config(self) -> Any:
        """The model's configuration."""
        return self._own.model.config

    @property
    def device(self) -> Any:
        """Where it computes."""
        return self.engine.loaded.device

    @property
    def batch_size(self) -> int | str:
        """Requests that are answered at once."""
        return self.engine.batch_size

    @property
    def max_length(self) -> int:
        """Most tokens that it reads at once."""
        return self._encoder.max_length

    @property
    def max_gen_toks(self) -> int:
        """Most tokens of an answer where a request does not say."""
        return self.engine.max_new_tokens

    @property
    def eot_token_id(self) -> int:
        """The token that ends a text."""
        return int(self.engine.loaded.tokenizer.eos_token_id)

    @property
    def prefix_token_id(self) -> int:
        """The token before a text that has nothing before it."""
        return self._encoder.prefix

    @property
    def tokenizer_name(self) -> str:
        """Name of the tokenizer, as a part of a file's name."""
        return str(self.engine.loaded.tokenizer.name_or_path).replace("/", "__")

    @property
    def _encoder(self) -> Encoder:
        return self.engine.encoder()

    def tok_encode(
        self, string: str, add_special_tokens: bool | None = None, left_truncate_len: int | None = None
    ) -> list[int]:
        """Return a text's tokens.

        Args:
            string: The text.
            add_special_tokens: Whether the tokenizer adds its own; ``None`` as requests are read.
            left_truncate_len: How many tokens are kept, from the end; ``None`` keeps all.
        """
        if add_special_tokens is None:
            (tokens,) = self._encoder.encode_prompts([string])
        else:
            tokens = self.engine.loaded.tokenizer.encode(string, add_special_tokens=add_special_tokens)
        return list(tokens if left_truncate_len is None else tokens[-left_truncate_len:])

    def tok_decode(self, tokens: Sequence[int], skip_special_tokens: bool = True) -> str:
        """Return the text of tokens."""
        return str(self.engine.loaded.tokenizer.decode(tokens, skip_special_tokens=skip_special_tokens))

    def apply_chat_template(self, chat_history: Sequence[Mapping[str, Any]], add_generation_prompt: bool = True) -> str:
        """Return messages in the model's chat template; without the system message where that takes none.

        Raises:
            UsageError: The last message is one of the model's own that is to be answered, or the other way round.
        """
        messages = [dict(each) for each in chat_history]
        is_open = not messages or messages[-1]["role"] != "assistant"
        if is_open != add_generation_prompt:
            raise UsageError(
                f"add_generation_prompt is {add_generation_prompt}",
                why="a chat that ends with the model's own words is gone on with, every other one answered",
            )
        return self._encoder.render_chat(messages)

    def chat_template(self, chat_template: bool | str = False) -> str | None:
        """Return the chat template that is applied; ``None`` where none is."""
        if chat_template is False:
            return None
        own = self.engine.chat_template or self.engine.loaded.tokenizer.chat_template
        if isinstance(own, Mapping):
            own = own.get(chat_template if isinstance(chat_template, str) else "default")
        return None if own is None else str(own)


def _in_memory(loaded: LoadedModel, more: Mapping[str, Any]) -> HFEngine:
    engine: Any = make_engine("hf", {"pretrained": f"in memory {uuid4().hex}", **more})
    engine.keep(loaded)
    return engine  # type: ignore[no-any-return]
