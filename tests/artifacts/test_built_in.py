"""The built-in catalog holds together: whatever an artifact names is there."""

import json
import re
from pathlib import Path

import pytest

import proctor
from proctor.artifacts import fetch_artifact
from proctor.artifacts.registry import registry
from proctor.errors import ArtifactError, ProctorError

ROOT = Path(proctor.__file__).parent / "catalog"
NAMED = re.compile(
    r"(cards|tasks|templates|formats|metrics|processors|operators|splitters|augmentors|system_prompts|benchmarks|engines|"
    r"serializers|samplers|recipes)\.[\w.]+"
)
WORDS = ("__description__", "__tags__", "__deprecated_msg__")


def texts(value):
    if isinstance(value, str):
        yield value.partition("[")[0]
    elif isinstance(value, dict):
        for key, item in value.items():
            if key not in WORDS:
                yield from texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)


def test_every_name_in_the_catalog_leads_somewhere():
    files = {str(path.relative_to(ROOT).with_suffix("")).replace("/", "."): path for path in ROOT.rglob("*.json")}
    named = {
        (name, text)
        for name, path in files.items()
        for text in texts(json.loads(path.read_text(encoding="utf-8")))
        if NAMED.fullmatch(text)
    }
    assert len(named) > 500
    assert sorted((name, text) for name, text in named if text not in files) == []


def test_every_type_is_built_or_refused_in_words():
    names = [*registry]
    refused = 0
    for name in names:
        try:
            fetch_artifact({"__type__": name})
        except ProctorError:
            refused += 1
    assert len(names) > 500
    assert 0 < refused < len(names)


def test_a_base_of_artifacts_is_not_one_of_them():
    with pytest.raises(ArtifactError, match="have in common"):
        fetch_artifact(
            {"__type__": "dataset_recipe", "card": "samples.cards.arithmetic", "sampler": {"__type__": "sampler"}}
        )
