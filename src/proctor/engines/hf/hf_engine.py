"""Any model that transformers can load, in this process: on a GPU where there is one, else on the CPU."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, TypeVar

from pydantic import model_validator

from proctor.effects import Effect
from proctor.engines.chat_templates import has_chat_template, template_options
from proctor.engines.decoding import refuse_several
from proctor.engines.encoder import Encoder
from proctor.engines.engine import Engine
from proctor.engines.hf.loading import Family, LoadedModel, ModelSource, facts_of, load_model
from proctor.engines.model_content import content_of_engine
from proctor.engines.model_places import model_effects, places_in
from proctor.engines.thinking_engine import ThinkingEngine
from proctor.engines.thoughts import Marks, marks_of
from proctor.engines.truncation import Truncate
from proctor.errors import EngineError, ProctorError, ValidationError
from proctor.ir import Answers, Generate, Prompt, Score, in_windows
from proctor.wall.rules import accelerators

WINDOW = 1024
"""Requests that are read ahead, to sort by length and to find what they share."""

_T = TypeVar("_T")
_loading = threading.Lock()


class HFEngine(ThinkingEngine):
    """A transformers model: causal, sequence to sequence, or image and text.

    Attributes:
        model: Hub id or folder; ``settings.models_dir/<id>`` is asked before the cache and the hub.
        family: ``causal``, ``seq2seq`` or ``image-text``; found out from the model by default.
        dtype: ``auto`` (as saved), ``float32``, ``float16``, ``bfloat16``.
        device: ``auto`` (GPU where there is one), ``cpu``, ``cuda:1`` …
        device_map: Spreads the model over devices (needs ``accelerate``); goes to transformers as it is.
        batch_size: Sequences per forward pass; ``auto`` counts tokens instead, and finds out what fits.
        batch_tokens: Tokens per forward pass where ``batch_size`` is ``auto``.
        share_prefixes: Whether text that several requests begin with is read once when scoring, where the model can.
        reorder_weights: Whether a float32 model on an x86 CPU keeps its weights in the order that multiplies fastest.
        max_length: Context length in tokens; the model's own by default.
        max_new_tokens: Tokens to write where a request names no limit.
        truncate: What to do with a prompt that is too long: ``left`` drops its beginning (as lm-eval does), ``demos``
            drops whole demonstrations, the first ones first, ``none`` drops nothing. Where it is still too long, the
            answer is a failure that says by how many tokens.
        think_end_token: What lm-eval calls ``think_end``: the text, or the number of the token.
        generation_kwargs: Parameters of ``generate`` beside those named here (``num_beams``, ``repetition_penalty`` …).
        model_kwargs: Everything else that ``from_pretrained`` takes (``quantization_config`` …).
        processor_kwargs: How pictures are read (``min_pixels``, ``max_pixels`` …).
    """

    model: str
    family: Family | None = None
    tokenizer: str | None = None
    revision: str | None = None
    subfolder: str | None = None
    dtype: str = "auto"
    device: str = "auto"
    device_map: str | dict[str, Any] | None = None
    batch_size: int | str = "auto"
    batch_tokens: int | None = None
    share_prefixes: bool = True
    reorder_weights: bool = True
    max_length: int | None = None
    max_new_tokens: int = 256
    truncate: Truncate = "left"
    add_bos_token: bool | None = None
    prefix_token_id: int | None = None
    chat_template: str | None = None
    chat_template_args: dict[str, Any] = {}
    enable_thinking: bool | None = None
    think_end_token: str | int | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    seed: int | None = None
    generation_kwargs: dict[str, Any] = {}
    trust_remote_code: bool = False
    peft: str | None = None
    gguf_file: str | None = None
    attn_implementation: str | None = None
    load_in_8bit: bool = False
    load_in_4bit: bool = False
    model_kwargs: dict[str, Any] = {}
    processor_kwargs: dict[str, Any] = {}

    transient_fields: ClassVar[frozenset[str]] = Engine.transient_fields | {
        *("device", "device_map", "batch_size", "batch_tokens", "share_prefixes", "reorder_weights"),
        "trust_remote_code",
    }
    can_score: ClassVar[bool] = True
    loads_model: ClassVar[bool] = True

    other_names: ClassVar[dict[str, str]] = {
        "pretrained": "model",
        "model_name": "model",
        "max_gen_toks": "max_new_tokens",
        "max_tokens": "max_new_tokens",
    }
    """What other systems call our fields."""

    _loaded: LoadedModel | None = None

    @model_validator(mode="before")
    @classmethod
    def _rename(cls, values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        named = {cls.other_names.get(name, name): value for name, value in values.items()}
        return {name: str(value) if isinstance(value, os.PathLike) else value for name, value in named.items()}

    def verify(self) -> None:
        """Check the batch size, and what is said of thinking."""
        super().verify()
        refuse_several(self.generation_kwargs, "generation_kwargs")
        if self.think_end_token is not None and self.think_end not in (None, self.think_end_token):
            raise ValidationError("think_end and think_end_token are one argument", path="$.think_end_token")
        if self.enable_thinking is not None and self.thinking is not None:
            raise ValidationError("enable_thinking and thinking say the same", path="$.thinking")
        if isinstance(self.batch_size, str):
            number = self.batch_size
            if number.isdigit():
                object.__setattr__(self, "batch_size", int(number))
            elif number.partition(":")[0] != "auto":
                raise ValidationError(
                    f"the batch size is '{number}'", path="$.batch_size", hint="use a number or 'auto'"
                )
        if isinstance(self.batch_size, int) and self.batch_size < 1:
            raise ValidationError("the batch size is less than 1", path="$.batch_size")

    def effects(self) -> Iterable[Effect]:
        """Return its effects: reading the model, its tokenizer, its adapter, and what options name."""
        named = (self.model, self.tokenizer, self.peft, *places_in(self.model_kwargs))
        return model_effects(named, self.author, self.label)

    @property
    def starts_programs(self) -> bool:
        """Whether there is an accelerator, whose kernels compilers make."""
        return bool(accelerators())

    @property
    def thought_marks(self) -> Marks:
        """The marks of the model's thoughts: the user's, then those that its name tells."""
        named = None if str(self.think_end_token).isdigit() else str(self.think_end_token or "")
        return marks_of(self.label, self.think_start, self.think_end or named or None)

    def marks_for(self, tokenizer: Any) -> Marks:
        """Return the marks, where ``think_end_token`` is the number of a token, too."""
        if not str(self.think_end_token).isdigit():
            return self.thought_marks
        return marks_of(self.label, self.think_start, str(tokenizer.decode([int(self.think_end_token or 0)])))

    # -- requests ---------------------------------------------------------------------------------------------

    def generate(self, requests: Iterable[Generate]) -> Answers:
        """Answer prompts, batched by length; sampling is repeatable: it depends on seed and prompt only."""
        from proctor.engines.hf.answers import Writer

        return self._answers(requests, lambda *loaded: Writer(*loaded).answer)

    def score(self, requests: Iterable[Score]) -> Answers:
        """Score continuations with the token boundaries of lm-evaluation-harness."""
        from proctor.engines.hf.answers import Scorer

        return self._answers(requests, lambda *loaded: Scorer(*loaded).answer)

    def _answers(
        self,
        requests: Iterable[_T],
        answering: Callable[[HFEngine, LoadedModel, Encoder], Callable[[Sequence[_T]], Answers]],
    ) -> Answers:
        answer: Callable[[Sequence[_T]], Answers] | None = None
        for start, window in in_windows(requests, WINDOW):
            answer = answer or answering(self, self.loaded, self.encoder())
            try:
                for position, response in answer(window):
                    yield start + position, response
            except ProctorError:
                raise
            except (RuntimeError, IndexError, ValueError, TypeError) as error:
                raise EngineError(
                    f"the model '{self.label}' broke down",
                    why=f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}",
                    hint="an unsuitable tokenizer, dtype or device is the usual reason",
                ) from error

    @property
    def draws_alike(self) -> bool:
        """Sampling depends on seed and prompt only."""
        return True

    def decoding_defaults(self) -> Mapping[str, Any]:
        """Return the decoding that the fields ask for."""
        return {
            "max_tokens": self.max_new_tokens,
            "temperature": self.temperature,
            "top_p": self.top_p,
            "top_k": self.top_k,
            "seed": self.seed,
            "extra": self.generation_kwargs,
        }

    # -- the model --------------------------------------------------------------------------------------------

    @property
    def loaded(self) -> LoadedModel:
        """The model in memory; loaded on first use."""
        with _loading:
            if self._loaded is None:
                self.act()
                self._loaded = self.load_weights()
            return self._loaded

    def keep(self, loaded: LoadedModel) -> None:
        """Use a model that is in memory already."""
        self._loaded = loaded

    def load_weights(self) -> LoadedModel:
        """Load the model.

        Raises:
            MissingExtraError, TrustError, EngineError: See :func:`~proctor.engines.hf.loading.load_model`.
            NotAllowedError: A file names a model that lies where nobody allowed to read.
        """
        self.act()
        return load_model(self.source())

    def source(self) -> ModelSource:
        """Return the model to load, with its arguments."""
        return ModelSource(
            name=self.model,
            family=self.family,
            tokenizer=self.tokenizer,
            revision=self.revision,
            subfolder=self.subfolder,
            dtype=self.dtype,
            device=self.device,
            device_map=self.device_map,
            adapter=self.peft,
            gguf_file=self.gguf_file,
            add_bos_token=self.add_bos_token,
            trust_remote_code=self.trust_remote_code,
            reorder_weights=self.reorder_weights,
            options=self._load_options(),
            processor_options=self.processor_kwargs,
        )

    @property
    def has_chat_template(self) -> bool:
        """Whether a template is given, or lies beside the tokenizer."""
        source = self.source()
        return self.chat_template is not None or has_chat_template(source.tokenizer or source.name, source.revision)

    def identity_values(self) -> dict[str, Any]:
        """Return the values that decide answers; how pictures are read only where somebody says so.

        Of a model in a folder its content counts: a training may have written other weights there.
        """
        values = super().identity_values()
        if not self.processor_kwargs:
            del values["processor_kwargs"]
        return values | content_of_engine(self, (self.model, self.tokenizer, self.peft))

    def _load_options(self) -> dict[str, Any]:
        options = dict(self.model_kwargs)
        if self.attn_implementation:
            options["attn_implementation"] = self.attn_implementation
        if self.load_in_8bit or self.load_in_4bit:
            from transformers import BitsAndBytesConfig

            options["quantization_config"] = BitsAndBytesConfig(
                load_in_8bit=self.load_in_8bit, load_in_4bit=self.load_in_4bit
            )
        return options

    def encoder(self) -> Encoder:
        """Return the encoder of texts, as requests are read."""
        loaded = self.loaded
        options = dict(self.chat_template_args)
        if self.enable_thinking is not None:
            options["enable_thinking"] = self.enable_thinking
        template = self.chat_template or getattr(loaded.tokenizer, "chat_template", None)
        options.update(template_options(template, self.thinking, self.label))
        return Encoder(
            loaded.tokenizer,
            max_length=self.max_length or loaded.max_length,
            joined=loaded.family != "seq2seq",
            add_bos=self.add_bos_token,
            prefix_token=self.prefix_token_id,
            chat_template=self.chat_template,
            chat_options=options,
        )

    def facts(self) -> Mapping[str, Any]:
        """Return facts about the model; of one that was not loaded, as all answers were there, few."""
        revision = {"model_revision": self.revision or "main", "batch_size": self.batch_size}
        if self._loaded is None:  # everything came from the response log
            return {
                **revision,
                "model_num_parameters": None,
                "model_dtype": None,
                "model_sha": "",
                "device": self.device,
            }
        return {**revision, **facts_of(self._loaded), "max_length": self.max_length or self._loaded.max_length}

    def count_tokens(self, prompt: Prompt) -> int | None:
        """Return how many tokens the model reads of a prompt, those of the chat template included."""
        encoder = self.encoder()
        return len(encoder.encode_prompts([encoder.text_of(prompt)])[0])

    def text_of(self, prompt: Prompt) -> str | None:
        """Return the text that the model reads of a prompt, in its chat template; ``None`` where it has pictures."""
        if isinstance(prompt.payload, str):
            return prompt.payload
        if not all(isinstance(each["content"], str) for each in prompt.payload):
            return None
        return self.encoder().text_of(prompt)

    def close(self) -> None:
        """Free the model's memory; the next request loads it again."""
        if self._loaded is None:
            return
        on_gpu = self._loaded.device.type == "cuda"
        self._loaded = None
        if on_gpu:
            import gc

            import torch

            gc.collect()
            torch.cuda.empty_cache()
