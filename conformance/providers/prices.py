"""Makes the price table from the model price files that come with litellm.

Usage: ``python -m conformance.providers.prices DATE FOLDER > src/proctor/running/prices.json``, where FOLDER holds
wheels of litellm. The newest that has a model decides; older ones have models that providers have withdrawn since.
Facts only: prices of the models that the table of providers names, and of the text models of OpenAI, Anthropic, Groq,
DeepSeek and Mistral.
"""

from __future__ import annotations

import json
import re
import sys
import zipfile
from pathlib import Path
from typing import Any

from proctor.engines.http.providers import Provider, providers

_FILE = "litellm/model_prices_and_context_window_backup.json"
_OTHER_THAN_TEXT = re.compile(r"audio|realtime|image|tts|transcribe|search|embed|moderation|ocr|live|ft:|container")
_PREFIXES: dict[str, tuple[str, ...]] = {
    "azure": ("azure/", "azure_ai/"),
    "watsonx": ("watsonx/",),
    "together-ai": ("together_ai/",),
    "aws": ("", "bedrock/"),
    "vertex-ai": ("vertex_ai/", "vertex_ai/google/", "gemini-"),
    "replicate": ("replicate/",),
    "groq": ("groq/",),
    "mistral": ("mistral/",),
    "deepseek": ("deepseek/",),
    "openrouter": ("openrouter/",),
}
_WHOLE = {"groq": "groq/", "mistral": "mistral/", "deepseek": "deepseek/"}
_CACHES = {
    "cached_input": "cache_read_input_token_cost",
    "cache_write": "cache_creation_input_token_cost",
    "cache_write_hour": "cache_creation_input_token_cost_above_1hr",
}
_STEP = re.compile(r"input_cost_per_token_above_(\d+)k_tokens")
_UNIT = (
    "USD per million tokens: list prices of the smallest context, without batches or priority; cached_input is what "
    "tokens read from the provider's cache cost, cache_write and cache_write_hour what those cost that are written to "
    "it, batch the share of all prices that is asked in a batch, above_times and above_output_times how many times "
    "as much what is read and what is written costs in a request whose prompt has more tokens than above, where they "
    "are known"
)


def table_of(path: Path) -> dict[str, dict[str, Any]]:
    """Return the price file in a wheel."""
    with zipfile.ZipFile(path) as wheel:
        found: dict[str, dict[str, Any]] = json.loads(wheel.read(_FILE))
    return found


def price(entry: dict[str, Any]) -> dict[str, float] | None:
    """Return the prices of a text model; ``None`` where input and output are not both known and not nothing."""
    read, written = entry.get("input_cost_per_token"), entry.get("output_cost_per_token")
    if entry.get("mode") not in ("chat", "completion", "responses") or not read or not written:
        return None
    found = {"input": round(read * 1e6, 6), "output": round(written * 1e6, 6)}
    for ours, theirs in _CACHES.items():
        if (cost := entry.get(theirs)) is not None:
            found[ours] = round(cost * 1e6, 6)
    if batched := entry.get("input_cost_per_token_batches"):
        found["batch"] = round(batched / read, 6)
    steps = [(int(match[1]) * 1000, entry[key]) for key in entry if (match := _STEP.fullmatch(key)) and entry[key]]
    if steps:
        found["above"], dearer = min(steps)
        found["above_times"] = round(dearer / read, 6)
        if more := entry.get(f"output_cost_per_token_above_{found['above'] // 1000}k_tokens"):
            found["above_output_times"] = round(more / written, 6)
    return found


def first(tables: list[dict[str, dict[str, Any]]], names: list[str]) -> dict[str, float] | None:
    """Return the price under the first name that any table has, newer tables first."""
    for table in tables:
        for name in names:
            if name in table and (found := price(table[name])):
                return found
    return None


def own(tables: list[dict[str, dict[str, Any]]]) -> dict[str, dict[str, float]]:
    """Return the prices of OpenAI's and Anthropic's text models."""
    found: dict[str, dict[str, float]] = {}
    for table in tables:
        for name, entry in table.items():
            is_theirs = entry.get("litellm_provider") in ("openai", "anthropic") and "/" not in name
            if is_theirs and not _OTHER_THAN_TEXT.search(name) and (known := price(entry)):
                found.setdefault(name, known)
    return dict(sorted(found.items()))


def of_provider(tables: list[dict[str, dict[str, Any]]], name: str, entry: Provider) -> dict[str, dict[str, float]]:
    """Return the prices of a provider's models, by its own names."""
    wanted = set(entry.models.values())
    if prefix := _WHOLE.get(name):
        wanted |= {key.removeprefix(prefix) for key in tables[0] if key.startswith(prefix)}
    found = {}
    for model in sorted(wanted):
        if _OTHER_THAN_TEXT.search(model):
            continue
        bare = model.removeprefix("google/")
        spelled = [*(prefix + each for each in (model, bare) for prefix in _PREFIXES[name]), bare]
        if known := first(tables, spelled):
            found[model] = known
    return found


def version_of(wheel: Path) -> tuple[int, ...]:
    """Return the numbers of a wheel's version, to sort by."""
    return tuple(map(int, re.findall(r"\d+", wheel.name.split("-")[1])))


def main(date: str, folder: str) -> None:
    """Print the table as JSON, a model in each line."""
    wheels = sorted(Path(folder).glob("litellm-*.whl"), key=version_of, reverse=True)
    tables = [table_of(wheel) for wheel in wheels]
    names = [" ".join(wheel.name.split("-")[:2]) for wheel in wheels]
    lines = {"": own(tables), **{name: of_provider(tables, name, providers()[name]) for name in _PREFIXES}}
    head = {"date": date, "source": f"{', '.join(names)}: {Path(_FILE).name}", "unit": _UNIT}
    parts = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in head.items()]
    parts.append(f'  "models": {block(lines.pop(""), 4)}')
    inner = ",\n".join(f"    {json.dumps(name)}: {block(models, 6)}" for name, models in lines.items() if models)
    parts.append(f'  "providers": {{\n{inner}\n  }}')
    sys.stdout.write("{\n" + ",\n".join(parts) + "\n}\n")


def block(models: dict[str, dict[str, float]], indent: int) -> str:
    """Return models as JSON, one in each line."""
    lines = [f"{' ' * indent}{json.dumps(name)}: {json.dumps(each)}" for name, each in models.items()]
    return "{\n" + ",\n".join(lines) + "\n" + " " * (indent - 2) + "}"


if __name__ == "__main__":
    main(*sys.argv[1:])
