"""``lm_eval.models.huggingface``: a transformers model with lm-eval's interface, which programs look into and change.

Where a program changes nothing of it, the engine ``hf`` answers. Where a class overrides a step, or a program puts
something else in its place, lm-eval's own way is gone (:mod:`proctor.guests.lm_eval.torch_model`), through that step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from proctor.compat.lm_eval_names.models import EngineFirst
from proctor.engines.encoder import Encoder
from proctor.engines.engine_registry import make_engine
from proctor.errors import UsageError
from proctor.guests.lm_eval.model_utils import DEFAULT_MAX_LENGTH, configure_pad_token, resolve_max_length
from proctor.guests.lm_eval.torch_model import TorchLM
from proctor.guests.lm_eval.torch_utils import get_dtype
from proctor.guests.overrides import brought, check_brought

if TYPE_CHECKING:
    from proctor.engines.hf.hf_engine import HFEngine
    from proctor.engines.hf.loading import LoadedModel

_PARTS: Final = frozenset(("_get_config", "_get_backend", "_create_tokenizer", "_create_model", "AUTO_MODEL_CLASS"))
"""What classes override that load a model in their own way."""
_STEPS: Final = frozenset(("truncation", "logits_cache", "softmax_dtype", "mixed_precision_dtype", "max_batch_size"))
"""Arguments of lm-eval's way alone."""
_CREATED: Final[Mapping[str, Any]] = {
    "dtype": "auto",
    "parallelize": False,
    "max_memory_per_gpu": None,
    "max_cpu_memory": None,
    "peft": None,
    "offload_folder": "./offload",
    "tp_plan": None,
    "delta": None,
    "autogptq": False,
    "gptqmodel": False,
}
"""Arguments that a model is created with, and what they are where nobody says."""
_ASKED: Final = frozenset(
    (
        *("backend", "tokenizer", "device", "batch_size", "use_fast_tokenizer", "add_bos_token", "prefix_token_id"),
        *("think_end_token", "enable_thinking", "chat_template_args", "max_length"),
    )
)
"""Arguments that a model is not created with, beside those of lm-eval's way."""


class HFLM(EngineFirst, TorchLM):
    """A transformers model: a name, a folder, or a model in memory with its tokenizer.

    A program that takes :attr:`model` or :attr:`tokenizer` may change it, so from then on the model is one of the
    program's own: loaded with plain layers, and answers that are on file under its name are not taken for its.

    Args:
        pretrained: Name, folder or model.
        backend: ``causal``, ``seq2seq``, or ``default``, which is found out.
        revision, subfolder: Which model of a repository.
        tokenizer: Name, folder or tokenizer.
        more: The other arguments of lm-eval's ``hf``, and of the engine here.

    Raises:
        UsageError: A model in memory comes without its tokenizer.
    """

    AUTO_MODEL_CLASS: Any = None
    _DEFAULT_MAX_LENGTH = DEFAULT_MAX_LENGTH
    custom_prefix_token_id: int | None = None
    chat_template_args: Mapping[str, Any] = {}
    _max_length: int | None = None
    _engine: HFEngine | None = None
    _named: Mapping[str, Any] | None = None
    _at_first: Mapping[str, Any] = {}

    def __init__(
        self,
        pretrained: Any,
        backend: str = "default",
        revision: str | None = None,
        subfolder: str | None = None,
        tokenizer: Any = None,
        **more: Any,
    ) -> None:
        super().__init__()
        self.pretrained, self.revision, self.peft = pretrained, revision or "main", more.get("peft")
        self._keep(more)
        named = {"backend": backend, "revision": revision, "subfolder": subfolder, "tokenizer": tokenizer, **more}
        given = {name: value for name, value in named.items() if value is not None}
        if _PARTS & {name for _, name in brought(type(self))}:
            self._make_parts(pretrained, {**named, "backend": backend})
        else:
            self._engine = self._made(pretrained, given)
        self._at_first = dict(vars(self))

    def _keep(self, given: Mapping[str, Any]) -> None:
        """Keep how requests are asked, under lm-eval's names."""
        for name in ("truncation", "logits_cache", "add_bos_token", "think_end_token", "enable_thinking"):
            setattr(self, name, given.get(name, getattr(type(self), name)))
        if str(self.think_end_token).isdigit():
            self.think_end_token = int(str(self.think_end_token))
        thinking = {} if self.enable_thinking is None else {"enable_thinking": self.enable_thinking}
        self.chat_template_args = {**(given.get("chat_template_args") or {}), **thinking}
        self._max_length, self.custom_prefix_token_id = given.get("max_length"), given.get("prefix_token_id")
        size, _, times = str(given.get("batch_size") or 1).partition(":")
        self.batch_size_per_gpu, self.batch_schedule = size if size == "auto" else int(size), float(times or 1)
        self.max_batch_size = given.get("max_batch_size") or 64
        for name in ("softmax_dtype", "mixed_precision_dtype"):
            setattr(self, name, None if (kind := given.get(name)) is None else get_dtype(kind))

    def _made(self, pretrained: Any, given: Mapping[str, Any]) -> HFEngine:
        """Return the engine; where a program says how it answers, with layers that are as they were loaded."""
        told = {name: str(value) if name == "dtype" else value for name, value in given.items()}
        if self._own_names():
            told = {"reorder_weights": False, **{name: value for name, value in told.items() if name not in _STEPS}}
        if isinstance(pretrained, str):
            from proctor.engines.hf.loading import load_config

            self._named = {"pretrained": pretrained, **told}
            engine: HFEngine = make_engine("hf", self._named)  # type: ignore[assignment]
            if type(self) is HFLM:  # others may bring a model of their own
                load_config(engine.source())
            return engine
        tokenizer = told.pop("tokenizer", None)
        if tokenizer is None:
            raise UsageError("HFLM has a model in memory and no tokenizer", hint="HFLM(pretrained=model, tokenizer=…)")
        from proctor.engines.hf.loading import loaded_in_memory

        return _in_memory(loaded_in_memory(pretrained, tokenizer), told)

    # -- whose it is --------------------------------------------------------------------------------------------------

    def _own_names(self) -> set[str]:
        """Return what a program says of how it answers: in a class, in place of ours, or in the object."""
        check_brought(type(self))
        said = {name for _, name in brought(type(self)) if not name.startswith("__") and hasattr(HFLM, name)}
        now = vars(self)
        changed = {name for name, value in now.items() if self._at_first.get(name, now) is not value}
        return said | {name for name in changed if hasattr(HFLM, name) or name in ("_model", "_config")} - _OWN_STATE

    @property
    def plain_engine(self) -> HFEngine | None:
        """The engine, where nothing but it answers; ``None`` where a program says more.

        Raises:
            UsageError: A program has put something upon a class that nothing here calls.
        """
        return None if self._engine is None or self._own_names() else self._engine

    @property
    def engine(self) -> HFEngine:
        """The engine behind it.

        Raises:
            UsageError: There is none: a program has loaded the model in its own way.
        """
        if self._engine is None:
            raise UsageError(f"{type(self).__name__} has loaded its model itself: there is no engine behind it")
        return self._engine

    @property
    def _own(self) -> LoadedModel:
        """What is in memory, for programs that may change it."""
        if self._named is not None:
            plain: Any = make_engine("hf", {**self._named, "reorder_weights": False})
            self.engine.close()
            more = {name: value for name, value in self._named.items() if name not in ("pretrained", "tokenizer")}
            self._engine, self._named = _in_memory(plain.loaded, more), None
        return self.engine.loaded

    def __getattr__(self, name: str) -> Any:
        if name == "_model":
            return self._own.model
        if name == "_config":
            return self.model.config
        if name == "vocab_size":
            return self.tokenizer.vocab_size
        raise AttributeError(f"{type(self).__name__} has no attribute '{name}'")

    @property
    def model(self) -> Any:
        """The model of transformers, or of the program."""
        return self._model

    @property
    def tokenizer(self) -> Any:
        """The tokenizer of transformers, or of the program."""
        own = vars(self).get("tokenizer")
        return self._own.tokenizer if own is None else own

    @tokenizer.setter
    def tokenizer(self, tokenizer: Any) -> None:
        vars(self)["tokenizer"] = tokenizer

    @property
    def _words(self) -> Any:
        plain = self.plain_engine
        return self.tokenizer if plain is None else plain.loaded.tokenizer

    @property
    def config(self) -> Any:
        """The model's configuration."""
        return self._config

    @property
    def backend(self) -> str:
        """``causal`` or ``seq2seq``."""
        if "backend" in vars(self):
            return str(vars(self)["backend"])
        if self._engine is not None and "_model" not in vars(self):
            return "seq2seq" if self._engine.loaded.family == "seq2seq" else "causal"
        return "seq2seq" if getattr(getattr(self.model, "config", None), "is_encoder_decoder", False) else "causal"

    @backend.setter
    def backend(self, backend: str) -> None:
        vars(self)["backend"] = backend

    @property
    def device(self) -> Any:
        """Where it computes."""
        if self._device is not None or self._engine is None:
            return self._device
        own = vars(self).get("_model")
        return self._engine.loaded.device if own is None else next(own.parameters()).device

    @device.setter
    def device(self, device: Any) -> None:
        self._device = device

    @property
    def max_length(self) -> int:
        """Most tokens that it reads at once."""
        if (plain := self.plain_engine) is not None:
            return plain.encoder().max_length
        config = getattr(self.model, "config", None)
        return self._max_length or resolve_max_length(config, self.tokenizer, default=self._DEFAULT_MAX_LENGTH)

    @property
    def max_gen_toks(self) -> int:
        """Most tokens of an answer where a request does not say."""
        return 256 if self._engine is None else self._engine.max_new_tokens

    @property
    def eot_token_id(self) -> int:
        """The token that ends a text."""
        return int(self._words.eos_token_id)

    @property
    def prefix_token_id(self) -> int:
        """The token before a text that has nothing before it."""
        begins = self._words.bos_token_id if self.custom_prefix_token_id is None else self.custom_prefix_token_id
        return self.eot_token_id if begins is None else int(begins)

    @property
    def tokenizer_name(self) -> str:
        """Name of the tokenizer, as a part of a file's name."""
        return str(self._words.name_or_path).replace("/", "__")

    # -- asking -------------------------------------------------------------------------------------------------------

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
        if (plain := self.plain_engine) is not None:
            return plain.encoder().render_chat(messages)
        own = None if self._engine is None else self._engine.chat_template
        encoder = Encoder(
            self.tokenizer, max_length=self.max_length, chat_template=own, chat_options=dict(self.chat_template_args)
        )
        return encoder.render_chat(messages)

    def chat_template(self, chat_template: bool | str = False) -> str | None:
        """Return the chat template that is applied; ``None`` where none is."""
        if chat_template is False:
            return None
        own = (self._engine.chat_template if self._engine is not None else None) or self._words.chat_template
        if isinstance(own, Mapping):
            own = own.get(chat_template if isinstance(chat_template, str) else "default")
        return None if own is None else str(own)

    def get_model_info(self) -> dict[str, Any]:
        """Return what results say of the model: numbers it has learned, their type, and which one it is."""
        count = sum(each.numel() for each in self.model.parameters()) if hasattr(self.model, "parameters") else -1
        named = {"model_num_parameters": count, "model_dtype": str(getattr(self.model, "dtype", ""))}
        return {**named, "model_revision": self.revision, "model_sha": ""}

    # -- a model that a program loads in its own way ------------------------------------------------------------------

    def _make_parts(self, pretrained: Any, given: Mapping[str, Any]) -> None:
        """Make configuration, tokenizer and model, each by the method that lm-eval makes it by, in its order."""
        from proctor.engines.hf.loading import pick_device

        trusts, where = bool(given.get("trust_remote_code")), {"gguf_file": given.get("gguf_file")}
        where |= {"revision": self.revision, "subfolder": given["subfolder"] or ""}
        if isinstance(pretrained, str):
            self._device = pick_device(str(given.get("device") or "auto"))
            self._get_config(pretrained, trust_remote_code=trusts, **where)
        else:
            self._model, self._device = pretrained, next(pretrained.parameters()).device
        self._get_backend(self.config, backend=given["backend"], trust_remote_code=trusts)
        reads = {"use_fast_tokenizer": given.get("use_fast_tokenizer", True), "add_bos_token": self.add_bos_token}
        self._create_tokenizer(pretrained, given["tokenizer"], trust_remote_code=trusts, **where, **reads)
        if isinstance(pretrained, str):
            more = {name: each for name, each in given.items() if name not in _ASKED and name not in _STEPS}
            more |= {"trust_remote_code": trusts, "quantization_config": None, "gpus": None, **where}
            self._create_model(pretrained=pretrained, **{**_CREATED, **more})
        if callable(getattr(self.model, "eval", None)):
            self.model.eval()
        self.tokenizer = configure_pad_token(self.tokenizer, self.config)

    def _get_config(self, pretrained: str, **more: Any) -> None:
        """Make the configuration."""
        from proctor.engines.hf.loading import load_config

        self._config = load_config(_engine_of(pretrained, more).source())

    def _get_backend(self, config: Any, backend: str = "default", trust_remote_code: bool = False) -> None:
        """Find out how the model reads: as is said, else as its configuration says."""
        del trust_remote_code
        encodes = backend == "seq2seq" if backend != "default" else getattr(config, "is_encoder_decoder", False)
        self.backend = "seq2seq" if encodes else "causal"

    def _create_tokenizer(self, pretrained: Any, tokenizer: Any, **more: Any) -> None:
        """Make the tokenizer: the one that is given, else the model's."""
        from proctor.engines.hf.loading import load_tokenizer_alone

        if tokenizer and not isinstance(tokenizer, str):
            self.tokenizer = tokenizer
            return
        name = pretrained if isinstance(pretrained, str) else str(self.model.name_or_path)
        self.tokenizer = load_tokenizer_alone(_engine_of(name, {**more, "tokenizer": tokenizer}).source())

    def _create_model(self, pretrained: str, **more: Any) -> None:
        """Make the model, of :attr:`AUTO_MODEL_CLASS` where a class names one."""
        from proctor.engines.hf.loading import load_weights

        told = {name: value for name, value in more.items() if value != _CREATED.get(name, "")}
        source = _engine_of(pretrained, {**told, "device": str(self.device)}).source()
        self._model = load_weights(source, "seq2seq" if self.backend == "seq2seq" else "causal", self.AUTO_MODEL_CLASS)


_OWN_STATE: Final = frozenset(("_engine", "_named", "_at_first", "_rank", "_world_size", "cache_hook", "batch_sizes"))
"""What it keeps of itself that says nothing of its answers."""


def _engine_of(pretrained: str, given: Mapping[str, Any]) -> HFEngine:
    told = {name: str(each) if name == "dtype" else each for name, each in given.items() if each not in (None, "")}
    return make_engine("hf", {"pretrained": pretrained, "reorder_weights": False, **told})  # type: ignore[return-value]


def _in_memory(loaded: LoadedModel, more: Mapping[str, Any]) -> HFEngine:
    engine: Any = make_engine("hf", {"pretrained": f"in memory {uuid4().hex}", **more})
    engine.keep(loaded)
    return engine  # type: ignore[no-any-return]
