"""The built-in catalog holds together: whatever an artifact names is there."""

import json
import re
from pathlib import Path

import proctor

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
