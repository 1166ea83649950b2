"""Compares prompts with Unitxt: every template and format of its catalog, and whole recipes on real data.

    python -m conformance.unitxt.prompts --python /path/to/an/environment/with/unitxt/bin/python

Prints how many are equal and every difference; exits with 1 where there is one that is not in ``KNOWN``.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from proctor.artifacts import fetch_artifact, register_local_catalog
from proctor.data.format_strings import fields_of
from proctor.data.hub_loaders import LoadHF
from proctor.errors import ProctorError
from proctor.recipes import load_recipe
from proctor.templates import Template, TemplatesDict, TemplatesList

HERE = Path(__file__).parent
HUB = Path(os.environ.get("PROCTOR_TEST_HUB", HERE.parents[2] / "shared" / "data" / "hub"))
Case = dict[str, Any]

KNOWN = {
    "_with_shuffling": "unitxt/shuffled-sides",
    "mt_bench_multi_turn": "unitxt/pairs-as-lists",
    "EmptyStreamError": "unitxt/empty-split",
    "UnitxtArtifactNotFoundError": "unitxt/own-artifact",
}
"""What a difference is about, to the id of its explanation."""

WORDS = ["a cat", "The (old) dog", "x\\y", "two\nlines", "Ünïcode ✓", "", "curly {braces}", "N", "comma, colon: dash"]
LISTS = ["classes", "choices", "labels", "options", "contexts", "answers", "references", "class_names"]


def values_for(field: str, rng: random.Random, choices: list[str]) -> Any:
    """Return a value of a type that fits what a field is called."""
    if any(word in field for word in LISTS):
        return list(choices)
    if field in {"spans_starts", "spans_ends"}:
        return []
    return rng.choice(WORDS)


def template_cases() -> Iterator[Case]:
    """Yield instances for every template of the catalog."""
    from proctor.artifacts import catalogs

    names = sorted({name for catalog in catalogs() for name in catalog.names() if name.startswith("templates.")})
    for name in names:
        try:
            artifact = fetch_artifact(name)
        except ProctorError as error:
            yield {"kind": "template", "template": name, "instance": None, "why": str(error)}
            continue
        if isinstance(artifact, (TemplatesList, TemplatesDict)):
            continue
        rng = random.Random(f"7/{name}")  # of its own, so that a new template changes no other's cases
        for _ in range(4):
            yield {"kind": "template", "template": name, "instance": instance_for(artifact, rng)}


def instance_for(template: Any, rng: random.Random) -> Case:
    """Return an instance with the fields that a template names."""
    choices = rng.sample(["red", "green", "blue (dark)", "a, b", "yellow"], rng.randint(2, 4))
    texts = [
        getattr(template, name, None) or ""
        for name in ("input_format", "output_format", "instruction", "target_prefix", "reference")
    ]
    names = [field for text in texts[:1] + texts[2:4] for field in fields_of(text)]
    inputs = {field: values_for(field, rng, choices) for field in names if field != "numerals"}
    references = {field: values_for(field, rng, choices) for text in (texts[1], texts[4]) for field in fields_of(text)}
    special(template, inputs, references, choices, rng)
    return {"input_fields": inputs, "reference_fields": references}


def special(template: Any, inputs: Case, references: Case, choices: list[str], rng: random.Random) -> None:
    """Add what particular kinds of template need."""
    kind = template.type_name()
    if kind == "multiple_choice_template":
        for fields in (inputs, references):
            fields[template.choices_field] = list(choices)
        references[template.target_field] = rng.choice([rng.randrange(len(choices)), rng.choice(choices)])
    if hasattr(template, "references_field"):
        references[template.references_field] = list(choices)
    if kind == "multi_label_template":
        references[template.labels_field] = list(choices)
    if kind.startswith("span_labeling"):
        text = "Alice met Bob, in Paris: today"
        references.update({"spans_starts": [0, 10], "spans_ends": [5, 13], "text": text, "labels": ["PER", "PER"]})
    if kind in {"key_val_template", "null_template"}:
        inputs.update({"text": "hello", "classes": list(choices)})
        references.update({"label": "yes"})
    add_dialogs_and_sides(template, inputs, references, rng)
    for field in template.title_fields:
        inputs.setdefault(field, "some title")


def add_dialogs_and_sides(template: Any, inputs: Case, references: Case, rng: random.Random) -> None:
    """Add dialogs, and the two sides that a judge compares."""
    for data in getattr(template, "dialog_fields", []):
        inputs[data.dialog_field] = [["user", "hi"], ["assistant", "ho"], ["system", "be nice"]]
    if hasattr(template, "choice_a_field"):
        inputs.update({template.choice_a_field: "left", template.choice_b_field: "right"})
        references[template.answer_field] = rng.choice(["choice_a", "choice_b", "tie"])
    if hasattr(template, "choice_a_id_field"):
        inputs.update({template.choice_a_id_field: "id 1", template.choice_b_id_field: "id 2"})
        references[template.answer_field] = 1


def format_cases() -> Iterator[Case]:
    """Yield instances for every format that lays out one string or messages."""
    from proctor.artifacts import catalogs

    for name in sorted({name for catalog in catalogs() for name in catalog.names() if name.startswith("formats.")}):
        rng = random.Random(f"11/{name}")
        if fetch_artifact(name).type_name() in {"hf_system_format", "granite_documents_format"}:
            continue  # they need the tokenizer of a model, which is not here
        for count in (0, 1, 3):
            demos = [
                {
                    "source": rng.choice(WORDS),
                    "target": rng.choice(WORDS),
                    "target_prefix": rng.choice(["", "Answer: "]),
                }
                for _ in range(count)
            ]
            yield {
                "kind": "format",
                "format": name,
                "instance": {
                    "source": rng.choice(WORDS),
                    "instruction": rng.choice(["", "Do it.\n", "\n\nDo"]),
                    "system_prompt": rng.choice(["", "Be good."]),
                    "target_prefix": rng.choice(["", "Answer: "]),
                    "demos": demos,
                    "media": {},
                },
            }


RECIPES: list[tuple[str, str, str | None, str]] = [
    ("cards.wnli", "nyu-mll/glue", "wnli", "templates.classification.multi_class.relation.default"),
    ("cards.rte", "nyu-mll/glue", "rte", "templates.classification.multi_class.relation.default"),
    ("cards.sst2", "nyu-mll/glue", "sst2", "templates.classification.multi_class.title"),
    ("cards.cola", "nyu-mll/glue", "cola", "templates.classification.multi_class.instruction"),
    ("cards.boolq.multiple_choice", "google/boolq", None, "templates.qa.multiple_choice.with_context.title"),
    ("cards.squad", "rajpurkar/squad", None, "templates.qa.with_context.title"),
    ("cards.hellaswag", "Rowan/hellaswag", None, "templates.completion.multiple_choice.title"),
    ("cards.ai2_arc.arc_challenge", "allenai/ai2_arc", "ARC-Challenge", "templates.qa.multiple_choice.title"),
    ("cards.ai2_arc.arc_easy", "allenai/ai2_arc", "ARC-Easy", "templates.qa.multiple_choice.title"),
    ("cards.openbook_qa", "allenai/openbookqa", "main", "templates.qa.multiple_choice.open.all[]"),
    ("cards.mmlu.anatomy", "cais/mmlu", "anatomy", "templates.qa.multiple_choice.with_topic.title"),
    ("cards.gsm8k", "openai/gsm8k", "main", "templates.qa.open.simple"),
]

DEMOS: list[dict[str, Any]] = [
    {},
    {"num_demos": 1, "demos_pool_size": 10},
    {"num_demos": 3, "demos_pool_size": 50},
    {"num_demos": [0, 1, 3], "demos_pool_size": 20},
    {"num_demos": 2, "demos_pool_size": 30, "demos_removed_from_data": False},
    {"num_demos": 2, "demos_pool_size": 30, "format": "formats.chat_api"},
    {"num_demos": 2, "demos_pool_size": 30, "format": "formats.llama3_instruct", "demos_sampling_seed": 7},
    {"num_demos": 2, "demos_pool_size": 30, "sampler": {"__type__": "fixed_indices_sampler", "indices": [3, 0, 5]}},
]


def recipe_cases() -> Iterator[Case]:
    """Yield whole recipes on the data that is here."""
    for card, path, config, template in RECIPES:
        if not (HUB / path).is_dir():
            continue
        for demos in DEMOS:
            arguments = {"card": card, "loader_limit": 300, **demos}
            if "[]" not in template:
                arguments["template"] = template
            loader = {"path": str(HUB / path), **({"name": config} if config else {})}
            yield {"kind": "recipe", "arguments": arguments, "loader": loader, "splits": {"train": 50, "test": 300}}


# -- Proctor's answers ----------------------------------------------------------------------------------------


def answer(case: Case) -> Any:
    """Return Proctor's answer to a case."""
    kind = case["kind"]
    if kind == "template":
        template = fetch_artifact(case["template"])
        assert isinstance(template, Template)
        done = template.process(case["instance"], "test")
        keys = ("source", "instruction", "target_prefix", "target", "references", "input_fields")
        return {key: done.get(key) for key in keys}
    if kind == "format":
        return fetch_artifact(case["format"]).process(case["instance"])["source"]  # type: ignore[attr-defined]
    arguments = dict(case["arguments"])
    card: Any = fetch_artifact(arguments["card"])
    card.loader = LoadHF(**case["loader"])
    streams = load_recipe(**{**arguments, "card": card})()
    keys = ("source", "target", "references", "task_data", "metrics", "postprocessors", "groups")
    return {
        split: [{key: row.get(key) for key in keys} for row in streams[split].take(count)]
        for split, count in case["splits"].items()
        if split in streams
    }


def compare(cases: list[Case], python: str) -> tuple[int, list[str]]:
    """Return how many answers are equal, and a line on each that is not."""
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "UNITXT_USE_ONLY_LOCAL_CATALOGS": "True"}
    text = "".join(json.dumps(case) + "\n" for case in cases)
    done = subprocess.run(
        [python, str(HERE / "oracle.py")], input=text, capture_output=True, text=True, env=environment, check=False
    )
    theirs = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if len(theirs) != len(cases):
        raise SystemExit(f"the oracle answered {len(theirs)} of {len(cases)} cases\n{done.stderr[-2000:]}")
    equal, different = 0, []
    for case, their in zip(cases, theirs, strict=True):
        try:
            ours: Any = {"value": json.loads(json.dumps(answer(json.loads(json.dumps(case))), default=str))}
        except ProctorError as error:
            ours = {"error": str(error)}
        if ("error" in their and "error" in ours) or their == ours:
            equal += 1
        else:
            different.append(describe(case, their, ours))
    unexpected = [text for text in different if not any(known in text for known in KNOWN)]
    print(f"{len(different) - len(unexpected)} differ for a known reason", file=sys.stderr)
    return equal, unexpected


def describe(case: Case, theirs: Any, ours: Any) -> str:
    """Return where two answers part."""
    name = case.get("template") or case.get("format") or json.dumps(case["arguments"])
    if "error" in ours or "error" in theirs:
        return f"{name}:\n    unitxt:  {str(theirs)[:300]}\n    proctor: {str(ours)[:600]}"
    return f"{name}: {first_difference(theirs, ours)}"


def first_difference(theirs: Any, ours: Any, path: str = "$") -> str:
    """Return the first place where two JSON values differ."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        for key in dict.fromkeys([*theirs, *ours]):
            if theirs.get(key, "∅") != ours.get(key, "∅"):
                return first_difference(theirs.get(key, "∅"), ours.get(key, "∅"), f"{path}.{key}")
    if isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
        for index, (left, right) in enumerate(zip(theirs, ours, strict=True)):
            if left != right:
                return first_difference(left, right, f"{path}[{index}]")
    return f"{path}\n    unitxt:  {str(theirs)[:400]!r}\n    proctor: {str(ours)[:400]!r}"


def main() -> None:
    """Compare, print, and fail where something unexpected differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", required=True, help="Python of an environment with unitxt")
    parser.add_argument("--only", choices=["templates", "formats", "recipes"])
    options = parser.parse_args()
    where = "import importlib.util as u; print(u.find_spec('unitxt').submodule_search_locations[0])"
    found = subprocess.run([options.python, "-c", where], capture_output=True, text=True, check=True).stdout.strip()
    register_local_catalog(f"{found}/catalog")
    failed = 0
    for name, make in (("templates", template_cases), ("formats", format_cases), ("recipes", recipe_cases)):
        if options.only in (None, name):
            cases = list(make())
            equal, different = compare(cases, options.python)
            print(f"{name}: {equal} of {len(cases)} equal")
            print("\n".join(different))
            failed += len(different)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
