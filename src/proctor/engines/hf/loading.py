"""Finding and loading transformers models: from a folder, a mapped folder, the local cache or the hub."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from proctor.data.hub_access import hub_answers, is_local_only, is_offline
from proctor.engines.hf.batches import is_out_of_memory
from proctor.engines.hf.onednn_weights import reorder_weights
from proctor.errors import EngineError, MissingExtraError, ProctorError, TrustError
from proctor.settings import model_folder, settings

Family = Literal["causal", "seq2seq", "image-text"]
"""How a model reads and writes: text after text, text into text, or text and pictures."""

DEFAULT_MAX_LENGTH = 2048  # lm-eval's _DEFAULT_MAX_LENGTH, so that both cut prompts at the same place
_UNSET_TOKENIZER_LENGTH = 10**12  # transformers writes 10**30 for "not known"; no model reads so much
_AUTO_CLASSES: dict[Family, str] = {
    "causal": "AutoModelForCausalLM",
    "seq2seq": "AutoModelForSeq2SeqLM",
    "image-text": "AutoModelForImageTextToText",
}


@dataclass(frozen=True, slots=True)
class ModelSource:
    """The model to load, and every argument of ``from_pretrained``.

    Attributes:
        name: Hub id or folder.
        family: ``None`` finds out from the model's configuration.
        dtype: ``auto`` (as saved), or the name of a torch dtype.
        device: ``auto`` is the first GPU where there is one, else the CPU.
        device_map: Passed on; spreads a model over several devices.
        reorder_weights: Whether a float32 model on the CPU is made faster; see :mod:`.onednn_weights`.
        options: Passed on to the model class (``attn_implementation``, ``quantization_config`` …).
        processor_options: Passed on to what turns pictures into tensors.
    """

    name: str
    family: Family | None = None
    tokenizer: str | None = None
    revision: str | None = None
    subfolder: str | None = None
    dtype: str = "auto"
    device: str = "auto"
    device_map: str | dict[str, Any] | None = None
    adapter: str | None = None
    gguf_file: str | None = None
    add_bos_token: bool | None = None
    trust_remote_code: bool = False
    reorder_weights: bool = True
    options: dict[str, Any] = field(default_factory=dict)
    processor_options: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class LoadedModel:
    """A model in memory, with what requests need to know about it.

    Attributes:
        max_length: Most tokens that the model reads at once.
        processor: Turns pictures into tensors; ``None`` for models that read text only.
        num_parameters: Numbers that the model has learned.
        vocabulary: Number of logits per position; 0 where the model's last layer tells it.
        packs: Whether shared prefixes may be read once; ``None`` until somebody tried.
    """

    model: Any
    tokenizer: Any
    family: Family
    device: Any
    max_length: int
    processor: Any = None
    packs: bool | None = None
    num_parameters: int = 0
    vocabulary: int = 0

    @property
    def vocabulary_size(self) -> int:
        """Number of logits per position."""
        return self.vocabulary or int(self.model.get_output_embeddings().weight.shape[0])


def loaded_in_memory(model: Any, tokenizer: Any) -> LoadedModel:
    """Return a model that a program has loaded, as requests need it."""
    encodes = bool(getattr(model.config, "is_encoder_decoder", False))
    length = max_length_of(model.config, tokenizer)
    count = sum(each.numel() for each in model.parameters())
    return LoadedModel(
        model.eval(), tokenizer, "seq2seq" if encodes else "causal", model.device, length, num_parameters=count
    )


def facts_of(loaded: LoadedModel) -> dict[str, Any]:
    """Return facts about a loaded model and its tokenizer, by the names of lm-eval's result files."""
    model, tokenizer = loaded.model, loaded.tokenizer
    template = getattr(tokenizer, "chat_template", None)
    found = {
        "model_num_parameters": loaded.num_parameters or sum(each.numel() for each in model.parameters()),
        "model_dtype": str(getattr(model, "dtype", None)),
        "model_sha": str(getattr(model.config, "_commit_hash", None) or ""),
        "device": str(loaded.device),
        "eot_token_id": tokenizer.eos_token_id,
        "chat_template": template if isinstance(template, str) else None,
    }
    for name in ("pad", "eos", "bos"):
        text, number = getattr(tokenizer, f"{name}_token", None), getattr(tokenizer, f"{name}_token_id", None)
        found[f"tokenizer_{name}_token"] = [str(text), str(number)]
    return found


def require_packages(purpose: str, extra: str = "hf") -> None:
    """Raise :class:`MissingExtraError` unless torch and transformers are installed."""
    for package in ("torch", "transformers"):
        if find_spec(package) is None:
            raise MissingExtraError.of(package, extra, purpose)


def require_trust(source: ModelSource) -> None:
    """Raise :class:`TrustError` where a model brings its own code and nobody said that it may run."""
    if source.trust_remote_code and not settings.trust_code:
        raise TrustError(
            f"the model '{source.name}' asks to run code of its own",
            hint="say --trust-code (or settings.trust_code = True) if you trust it",
        )


def load_model(source: ModelSource) -> LoadedModel:
    """Return the model and its tokenizer, ready to answer.

    Raises:
        MissingExtraError: torch or transformers is not installed.
        TrustError: The model brings its own code and nobody said that it may run.
        EngineError: The model cannot be found or loaded; says where was looked.
    """
    require_packages(f"the model '{source.name}'")
    require_trust(source)
    place = model_folder(source.name) or source.name
    with _told(source, place), quiet_transformers():
        return _load(source, place)


@contextmanager
def _told(source: ModelSource, place: str) -> Iterator[None]:
    """Say where was looked when a model cannot be loaded."""
    try:
        yield
    except ProctorError:
        raise
    except (OSError, ValueError, RuntimeError, ImportError, KeyError, MemoryError) as error:
        raise loading_failed(source, place, error) from error


@contextmanager
def quiet_transformers() -> Iterator[None]:
    """Show no progress bars of transformers; its reader of GGUF files has one of its own."""
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    reader: Any = import_module("transformers.modeling_gguf_pytorch_utils")
    bar = getattr(reader, "tqdm", None)
    if bar is not None:
        reader.tqdm = partial(bar, disable=True)
    try:
        yield
    finally:
        if bar is not None:
            reader.tqdm = bar
        if shown:
            logging.enable_progress_bar()


def _load(source: ModelSource, place: str) -> LoadedModel:
    config = load_config(source)
    family = source.family or family_of(config)
    model = load_weights(source, family)
    count = sum(each.numel() for each in model.parameters())  # before weights move to where torch does not list them
    if source.reorder_weights and family == "causal" and source.device_map is None and not source.adapter:
        reorder_weights(model)
    tokenizer, processor = load_tokenizer(source, place, family, _shared(source, place))
    length = max_length_of(config, tokenizer)
    return LoadedModel(model, tokenizer, family, model.device, length, processor, num_parameters=count)


def _shared(source: ModelSource, place: str) -> dict[str, Any]:
    """Return what every part of a model is loaded with."""
    require_trust(source)
    shared: dict[str, Any] = {"trust_remote_code": source.trust_remote_code, "local_files_only": is_local_only(place)}
    given = {"revision": source.revision, "subfolder": source.subfolder, "gguf_file": source.gguf_file}
    return shared | {key: value for key, value in given.items() if value is not None}


def load_config(source: ModelSource) -> Any:
    """Return a model's configuration.

    Raises:
        MissingExtraError, TrustError, EngineError: As :func:`load_model`.
    """
    require_packages(f"the model '{source.name}'")
    require_trust(source)
    import transformers

    place = model_folder(source.name) or source.name
    with _told(source, place):
        return transformers.AutoConfig.from_pretrained(place, **_shared(source, place))


def load_weights(source: ModelSource, family: Family, kind: Any = None) -> Any:
    """Return the model itself, where it is to compute.

    Args:
        source: The model.
        family: How it reads and writes.
        kind: The class to load it with; ``None`` is that of its family.
    """
    import transformers

    place = model_folder(source.name) or source.name
    device = None if source.device_map is not None else pick_device(source.device)
    options = {"dtype": _dtype(source.dtype), **source.options}
    if source.device_map is not None:
        options["device_map"] = source.device_map
    kind = kind or getattr(transformers, _AUTO_CLASSES[family])
    model = kind.from_pretrained(place, **_shared(source, place), **options)
    if source.adapter:
        model = _with_adapter(model, source.adapter)
    if device is not None and not _is_quantized(model):
        model = model.to(device)
    return model.eval()


def load_tokenizer_alone(source: ModelSource) -> Any:
    """Return a model's tokenizer, or the one that is named instead."""
    place = model_folder(source.name) or source.name
    return load_tokenizer(source, place, "causal", _shared(source, place))[0]


def load_tokenizer(source: ModelSource, place: str, family: Family, shared: dict[str, Any]) -> tuple[Any, Any]:
    """Return the tokenizer, and what turns pictures into tensors; ``None`` where the model reads text only."""
    import transformers

    if source.tokenizer:
        place = model_folder(source.tokenizer) or source.tokenizer
        shared = {key: value for key, value in shared.items() if key in {"trust_remote_code", "local_files_only"}}
    own = {} if source.add_bos_token is None else {"add_bos_token": source.add_bos_token}
    processor = None
    if family == "image-text":
        processor = transformers.AutoProcessor.from_pretrained(place, **shared, **source.processor_options)
        tokenizer = processor.tokenizer
    else:
        tokenizer = transformers.AutoTokenizer.from_pretrained(place, **shared, **own)
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.unk_token or tokenizer.eos_token or tokenizer.convert_ids_to_tokens(0)
    return tokenizer, processor


def _with_adapter(model: Any, adapter: str) -> Any:
    if find_spec("peft") is None:
        raise MissingExtraError.of("peft", "peft", f"the adapter '{adapter}'")
    peft = import_module("peft")
    place = model_folder(adapter) or adapter
    return peft.PeftModel.from_pretrained(model, place, local_files_only=is_local_only(place))


def family_of(config: object) -> Family:
    """Return the family of models that read and write with this configuration."""
    if getattr(config, "is_encoder_decoder", False):
        return "seq2seq"
    return "image-text" if getattr(config, "vision_config", None) is not None else "causal"


def max_length_of(config: object, tokenizer: object) -> int:
    """Return a model's context length in tokens: its configuration, else its tokenizer, else 2048.

    The configuration of the text part of a composite model comes first (the order of lm-evaluation-harness).
    """
    text_config = getattr(config, "text_config", None) or config
    for attribute in ("n_positions", "max_position_embeddings", "n_ctx"):
        if (value := getattr(text_config, attribute, None)) is not None:
            return int(value)
    length = getattr(tokenizer, "model_max_length", None)
    return int(length) if length and length < _UNSET_TOKENIZER_LENGTH else DEFAULT_MAX_LENGTH


def pick_device(name: str) -> Any:
    """Return a torch device; ``auto`` is the first GPU where there is one.

    Raises:
        EngineError: The device is not there.
    """
    import torch

    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise EngineError(f"there is no device '{name}'", why=str(error).splitlines()[0]) from None
    if device.type == "cuda" and not torch.cuda.is_available():
        raise EngineError(f"the device '{name}' is not here", why="torch sees no GPU", hint="use device=cpu or auto")
    return device


def _dtype(name: str) -> Any:
    import torch

    if name == "auto":
        return "auto"
    dtype = getattr(torch, name.removeprefix("torch."), None)
    if not isinstance(dtype, torch.dtype):
        raise EngineError(f"there is no dtype '{name}'", hint="use auto, float32, float16 or bfloat16")
    return dtype


def _is_quantized(model: Any) -> bool:
    return getattr(model, "hf_quantizer", None) is not None or getattr(model, "is_quantized", False)


def _hub_looked_in() -> str:
    if is_offline():
        return "the hub was not asked: offline"
    return "the hub" if hub_answers() else "the hub does not answer"


class ModelNotFoundError(EngineError, OSError):
    """A model that is not there or cannot be read: also what transformers raises, for programs that catch it."""


def loading_failed(source: ModelSource, place: str, error: Exception) -> EngineError:
    """Return the error of a model that could not be loaded, with where was looked."""
    first_line = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
    if is_out_of_memory(error):
        return EngineError(
            f"the model '{source.name}' does not fit into memory",
            why=first_line,
            hint="dtype=bfloat16 halves float32; device_map=auto spreads it over GPUs and the CPU; device=cpu uses the "
            "machine's own memory; or another program holds the GPU's (nvidia-smi shows it)",
        )
    if place != source.name or Path(place).exists():
        return ModelNotFoundError(f"the model '{source.name}' cannot be loaded from {place}", why=first_line)
    if source.name.startswith(("/", "./", "../", "~")):
        return ModelNotFoundError(f"there is no folder '{source.name}'", hint="give the folder of a model, or a hub id")
    looked = [str(Path(settings.models_dir) / source.name)] if settings.models_dir else []
    looked.append(f"the Hugging Face cache ({os.environ.get('HF_HOME', '~/.cache/huggingface')})")
    looked.append(_hub_looked_in())
    return ModelNotFoundError(
        f"the model '{source.name}' cannot be loaded",
        why=f"{first_line}; looked in {', '.join(looked)}",
        hint="give a folder, or set PROCTOR_MODELS_DIR to a folder that holds models as <hub id>/",
    )
