"""Causal models that OpenVINO runs, on processors and graphics of Intel: through ``optimum-intel``, as lm-eval does.

A folder that holds ``openvino_model.xml`` is loaded as it is; any other model is converted on the way, each time.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from logging import ERROR, getLogger
from pathlib import Path
from typing import Any

from proctor.data.hub_access import is_local_only
from proctor.engines.as_another import as_another
from proctor.engines.hf.hf_engine import HFEngine
from proctor.engines.hf.loading import (
    LoadedModel,
    ModelSource,
    load_tokenizer,
    loading_failed,
    max_length_of,
    quiet_transformers,
    require_trust,
)
from proctor.errors import EngineError, MissingExtraError, ProctorError, ValidationError
from proctor.settings import model_folder

CONVERTED = "openvino_model.xml"
"""The file of a model that is converted already."""

_NOT_HERE: Mapping[str, str] = {
    "device_map": "OpenVINO runs a model on one device: device=GPU, or device=HETERO:GPU,CPU",
    "dtype": "the conversion decides: load_in_8bit=true, or ov_config with INFERENCE_PRECISION_HINT",
    "peft": "merge the adapter into the model, and convert that",
    "gguf_file": "convert the model that the file was made of",
    "attn_implementation": "OpenVINO has its own",
    "load_in_4bit": "optimum-cli export openvino --weight-format int4 makes a folder that loads as it is",
    "family": "only text after text is read (causal)",
}
"""Fields of transformers models that say nothing to OpenVINO, and what does it."""


class OpenVINOEngine(HFEngine):
    """A causal model that OpenVINO runs.

    Attributes:
        model: Hub id or folder; of OpenVINO (``openvino_model.xml``) or of transformers, which is converted.
        device: ``auto`` (a GPU of Intel's where there is one, else the processor), or a name of OpenVINO's: ``CPU``,
            ``GPU.1``, ``HETERO:GPU,CPU``.
        load_in_8bit: Whether weights are rounded to 8 bits when they are converted.
        ov_config: Properties of OpenVINO (``INFERENCE_PRECISION_HINT``, ``KV_CACHE_PRECISION`` …). Left alone, it
            computes as it thinks best for the machine, which may be less exact than float32.
    """

    share_prefixes: bool = False
    reorder_weights: bool = False
    ov_config: dict[str, Any] = {}

    def verify(self) -> None:
        """Refuse what OpenVINO does not take."""
        super().verify()
        for name, instead in _NOT_HERE.items():
            usual = type(self).model_fields[name].default
            if getattr(self, name) != usual and (name, self.family) != ("family", "causal"):
                raise ValidationError(f"OpenVINO does not take '{name}'", path=f"$.{name}", hint=instead)
        if self.share_prefixes or self.reorder_weights:
            name = "share_prefixes" if self.share_prefixes else "reorder_weights"
            raise ValidationError(f"OpenVINO does not take '{name}'", path=f"$.{name}", hint="it is for transformers")

    def load_weights(self) -> LoadedModel:
        """Load the model, and convert it where nobody has.

        Raises:
            MissingExtraError: ``optimum-intel`` is not installed.
            TrustError: The model brings its own code and nobody said that it may run.
            EngineError: The model cannot be found, converted or loaded.
            NotAllowedError: A file names a model that lies where nobody allowed to read.
        """
        self.act()
        for module, package in (("optimum.intel", "optimum-intel"), ("openvino", "openvino")):
            if not _is_installed(module):
                raise MissingExtraError.of(package, "openvino", f"the model '{self.model}'")
        source = replace(self.source(), options=dict(self.model_kwargs))
        require_trust(source)
        place = model_folder(source.name) or source.name
        try:
            import_module("optimum.intel.openvino")  # it sets up loggers, before they are quietened
            with quiet_transformers(), _quiet_conversion():
                return self._loaded_from(source, place)
        except ProctorError:
            raise
        except (OSError, ValueError, RuntimeError, ImportError, KeyError, MemoryError) as error:
            raise loading_failed(source, place, error) from error

    def _loaded_from(self, source: ModelSource, place: str) -> LoadedModel:
        import torch

        shared: dict[str, Any] = {
            "trust_remote_code": source.trust_remote_code,
            "local_files_only": is_local_only(place),
        }
        given = {"revision": source.revision, "subfolder": source.subfolder}
        shared |= {key: value for key, value in given.items() if value is not None}
        rounded = {"load_in_8bit": True} if self.load_in_8bit else {}
        is_converted = (Path(place) / (source.subfolder or "") / CONVERTED).is_file()
        found = import_module("optimum.intel").OVModelForCausalLM.from_pretrained(
            place,
            export=not is_converted if Path(place).is_dir() else None,  # of a hub's model optimum finds out itself
            device=_device(self.device),
            ov_config={"CACHE_DIR": "", **self.ov_config},
            **shared,
            **rounded,
            **source.options,
        )
        tokenizer, _ = load_tokenizer(source, place, "causal", shared)
        length = max_length_of(found.config, tokenizer)
        return LoadedModel(
            _Runner(found),
            tokenizer,
            "causal",
            torch.device("cpu"),
            length,
            packs=False,
            num_parameters=_weights(found.model),
            vocabulary=int(found.config.get_text_config().vocab_size),
        )


@contextmanager
def _quiet_conversion() -> Iterator[None]:
    """Show nothing of how a model is converted: warnings of its tracer are about code that is not the user's."""
    from transformers.utils import logging

    shown = logging.get_verbosity()
    logging.set_verbosity_error()
    loggers = [getLogger(name) for name in ("optimum", "nncf")]
    levels = [each.level for each in loggers]
    for each in loggers:
        each.setLevel(ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.set_verbosity(shown)
        for each, level in zip(loggers, levels, strict=True):
            each.setLevel(level)


@as_another("model", "generate", "generation_config", "config", "dtype")
@dataclass(slots=True)
class _Runner:
    """A model of optimum's, called as one of transformers: scoring needs the mask said, and no cache kept."""

    model: Any

    def __call__(self, *, input_ids: Any, use_cache: bool = True) -> Any:
        import torch

        del use_cache  # each call begins anew: nothing is handed on
        return self.model(input_ids=input_ids, attention_mask=torch.ones_like(input_ids))

    def forward(self, input_ids: Any) -> Any:
        return self(input_ids=input_ids)


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # a package around it is missing
        return False


def _device(name: str) -> str:
    devices = list(import_module("openvino").Core().available_devices)
    if name == "auto":
        return next((each for each in devices if each.startswith("GPU")), "CPU")
    wanted = name.upper()
    if ":" not in wanted and wanted not in devices and wanted.partition(".")[0] not in devices:
        raise EngineError(f"the device '{name}' is not here", why=f"OpenVINO sees {', '.join(devices)}")
    return wanted


def _weights(graph: Any) -> int:
    """Return how many numbers a model has learned, as its graph holds them."""
    sizes = (each.get_output_tensor(0).shape for each in graph.get_ops() if each.get_type_name() == "Constant")
    total = 0
    for shape in sizes:
        size = 1
        for width in shape:
            size *= width
        total += size if len(shape) > 1 else 0  # scalars and lists are the graph's own
    return total
