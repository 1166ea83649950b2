"""Providers of a config: which engine each is, and what it is asked with."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from proctor.dialects.promptfoo import file_of
from proctor.dialects.promptfoo.reader import Config, read_config
from proctor.engines.engine_names import engine_names
from proctor.errors import did_you_mean

_NAMES: Final[Mapping[str, str]] = {
    "azureopenai": "azure",
    "togetherai": "together-ai",
    "bedrock": "aws",
    "vertex": "vertex-ai",
    "google": "gemini",
    "palm": "gemini",
    "alibaba": "dashscope",
    "alicloud": "dashscope",
    "lmstudio": "lm-studio",
    "nvidia": "nvidia-nim",
    "watsonx": "watsonx",
    "huggingface": "hf-inference",
    "localai": "custom",
    "vllm": "vllm-server",
    "llama": "llama-server",
}
"""What promptfoo calls a provider, and Proctor otherwise; most are called the same."""
_ROUTES: Final = frozenset({"chat", "messages", "responses", "text-generation", "completion"})
"""What may stand between a provider and its model: how it is asked, which the engine knows itself."""
_ARGUMENTS: Final = {"apiBaseUrl": "base_url", "apiKey": "api_key", "maxTokens": "max_tokens", "topP": "top_p"}
"""Arguments that engines call otherwise; an engine says which others it does not know."""
_CODE: Final = ("file", "exec", "python", "http", "https", "websocket", "webhook", "package", "golang", "ruby")


class Provider(NamedTuple):
    """A model of a config: its name, what ``--model`` takes, and its arguments."""

    name: str
    model: str
    arguments: Mapping[str, Any]


def models_in(name: str | Path) -> list[Provider]:
    """Return the models that a config names, whatever stands behind ``::``.

    Raises:
        ProctorError: The config cannot be read, or one is a program or not known.
    """
    config = read_config(file_of(str(name)) or Path(name))
    return [provider_of(config, *each) for each in config.providers()]


def provider_of(config: Config, entry: Any, path: str) -> Provider:
    """Return what an entry of ``providers`` is here.

    Raises:
        ProctorError: It is a program, or not known.
    """
    if isinstance(entry, str):
        return Provider(entry, _model(config, entry, path), {})
    if isinstance(entry, Mapping) and "id" not in entry and len(entry) == 1:  # openai:gpt-4.1: {id: NAME, config: …}
        ((name, said),) = entry.items()
        own = said if isinstance(said, Mapping) else {}
        entry = {"label": own.get("id"), **own, "id": name}
    if not isinstance(entry, Mapping) or not isinstance(entry.get("config") or {}, Mapping) or "id" not in entry:
        raise config.refuse("a provider is a text, or a mapping with 'id' and a mapping 'config'", path)
    said = {key: value for key, value in entry.items() if key not in ("id", "label", "config")}
    if said:
        raise config.refuse(f"'{next(iter(said))}' of a provider is not obeyed", path, hint="leave it out")
    identity = str(entry["id"])
    arguments = _arguments(config, entry.get("config") or {}, f"{path}.config")
    return Provider(str(entry.get("label") or identity), _model(config, identity, path), arguments)


def _model(config: Config, identity: str, path: str) -> str:
    """Return what ``--model`` takes for ``openai:chat:gpt-4.1``."""
    provider, colon, rest = identity.partition(":")
    if provider in _CODE:
        raise config.refuse(
            f"the provider '{identity}' is a program or an address", path, why="configs are data here",
            hint="-m openai -a base_url=URL asks any server of OpenAI's protocol",
        )  # fmt: skip
    known = engine_names()
    name = next((each for each in (_NAMES.get(provider, provider), provider) if each in known), None)
    if name is None:
        hint = did_you_mean(provider, known) or "-m NAME asks another model; proctor doctor lists them"
        raise config.refuse(f"there is no provider '{provider}'", path, hint=hint)
    if not colon:
        return name
    route, more, model = rest.partition(":")
    if route == "completion" and name != "ollama":  # Ollama puts the question in its model's chat template there, too
        hint = "-m openai -a model=…,endpoint=completions"
        raise config.refuse(f"'{identity}' asks for completions", path, hint=hint)
    return f"{name}/{model if more and route in _ROUTES else rest}"


def _arguments(config: Config, said: Mapping[str, Any], path: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in said.items():
        if isinstance(value, str) and "{{" in value:
            hint = "leave it out: keys are found by their usual names"
            raise config.refuse(f"'{key}' names an environment variable", f"{path}.{key}", hint=hint)
        found[_ARGUMENTS.get(key, key)] = value
    if (host := found.pop("apiHost", None)) is not None:
        found["base_url"] = f"https://{host}/v1"
    return found
