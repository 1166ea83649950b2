"""``unitxt-evaluate``: exams of recipes from the command line, with Unitxt's options.

``python -m proctor.compat -m unitxt.evaluate_cli --tasks card=…,template=… --model hf --model_args pretrained=…``
writes ``<time>_evaluation_results.json`` and, on request, the instances. ``proctor run`` does more of the same.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import logging
import os
import platform
import sys
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from proctor.artifacts.query import parse_assignments
from proctor.errors import UsageError
from proctor.guests.unitxt.engines.hf import HFAutoModelInferenceEngine
from proctor.guests.unitxt.engines.providers import CrossProviderInferenceEngine
from proctor.guests.unitxt.functions import logger
from proctor.jsonable import jsonable
from proctor.recipes import load_dataset, load_recipe
from proctor.recipes.benchmark import Benchmark
from proctor.results.evaluate import EvaluationResults
from proctor.running.evaluate import evaluate
from proctor.safe_files import write_for_user
from proctor.secrets import cleaned, keep_named, without_secrets
from proctor.settings import settings
from proctor.version import __version__

_LEVELS = ["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"]


def try_parse_json(value: str | None) -> Any:
    """Return the value of an option: JSON, ``key=value,…`` as a dict, or the text itself.

    Raises:
        argparse.ArgumentTypeError: It begins as JSON and is none, or its pairs cannot be read.
    """
    if value is None:
        return None
    try:
        if "=" in value and "{" not in value and (pairs := parse_assignments(value)):
            return pairs
        return json.loads(value)
    except json.JSONDecodeError as error:
        if value.strip().startswith(("{", "[")):
            raise argparse.ArgumentTypeError(f"Invalid JSON: {value!r}: {error}") from error
        return value
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{value!r} is neither JSON nor key=value,…: {error}") from error


def setup_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(description="Evaluate a model on recipes.")
    add = parser.add_argument
    add("--tasks", "-t", type=partial(str.split, sep="+"), required=True, help="recipes, joined by '+'")
    add("--split", type=str, default="test", help="the split to ask (test)")
    add("--num_fewshots", type=int, default=None, help="demos, taken from the split train")
    add("--limit", "-L", type=int, default=None, metavar="N", help="instances of each recipe")
    add("--batch_size", "-b", type=int, default=1, help="prompts at once, of --model hf (1)")
    add(
        "--model",
        "-m",
        type=str,
        default="hf",
        choices=["hf", "cross_provider"],
        help="a local model, or one of a provider",
    )
    add("--model_args", "-a", type=try_parse_json, default={}, help="pretrained=… (hf) or model_name=…; JSON or pairs")
    add("--gen_kwargs", type=try_parse_json, default=None, help="decoding: temperature=0,top_p=0.1")
    add("--chat_template_kwargs", type=try_parse_json, default=None, help="what the chat template of hf takes")
    add("--output_path", "-o", type=str, default=".", help="folder of the results (.)")
    add("--output_file_prefix", type=str, default="evaluation_results", help="how the names of files end")
    add("--log_samples", "-s", action="store_true", default=False, help="write the instances, too")
    add("--verbosity", "-v", type=str.upper, default="INFO", choices=_LEVELS, help="log level (INFO)")
    add("--apply_chat_template", action="store_true", default=False, help="ask by chat messages")
    add("--trust_remote_code", action="store_true", default=False, help="run Python that exams bring along")
    add("--disable_hf_cache", action="store_true", default=False, help="keep no copy of datasets")
    add("--cache_dir", type=str, default=None, help="folder of Hugging Face's caches")
    return parser


def _recipe_fields(args: argparse.Namespace) -> dict[str, Any]:
    """Return the fields of recipes that options set."""
    fields: dict[str, Any] = {}
    if args.limit is not None:
        fields[f"max_{args.split}_instances"] = args.limit
    if args.num_fewshots:
        fields |= {"num_demos": args.num_fewshots, "demos_taken_from": "train", "demos_pool_size": -1}
        fields["demos_removed_from_data"] = True
    if args.apply_chat_template:
        fields["format"] = "formats.chat_api"
    return fields


def _rows(args: argparse.Namespace) -> Any:
    """Return the rows of all recipes, as those of one benchmark."""
    subsets = {task: load_recipe(task, **_recipe_fields(args)) for task in args.tasks}
    first = next(iter(subsets.values()))
    source = first if len(subsets) == 1 and isinstance(first, Benchmark) else Benchmark(subsets=subsets)
    return load_dataset(source, split=args.split)


def _named(given: Any) -> dict[str, Any]:
    """Return an option that is a dict; nothing, with a warning, of a text that is none."""
    if given is not None and not isinstance(given, dict):
        logger.warning(f"{given!r} is neither JSON nor key=value,…, so it counts as empty")
    return given if isinstance(given, dict) else {}


def _engine(args: argparse.Namespace) -> Any:
    """Return the engine that the options mean; ``args.model`` becomes its name."""
    given, template = {**_named(args.model_args), **_named(args.gen_kwargs)}, _named(args.chat_template_kwargs)
    named = "pretrained" if args.model == "hf" else "model_name"
    if named not in given:
        raise UsageError(f"'{named}' is required in --model_args for --model {args.model}")
    name = given.pop(named)
    if args.model == "hf":
        fields = {"model_name": name, **given, "batch_size": args.batch_size, "chat_kwargs_dict": template}
        engine: Any = HFAutoModelInferenceEngine(**fields)
        args.model = engine.model_name
        return engine
    if template:
        raise UsageError("--chat_template_kwargs are for --model hf: a provider fills in the template itself")
    engine = CrossProviderInferenceEngine(model=name, **given)
    args.model = engine.get_engine_id()
    return engine


def _environment(args: argparse.Namespace) -> dict[str, Any]:
    given = vars(args)
    keep_named(given)  # a key among the model's arguments: files of results are passed on
    return {
        "timestamp_utc": datetime.now(UTC).replace(tzinfo=None).isoformat() + "Z",
        "command_line_invocation": [cleaned(each) for each in sys.argv],
        "parsed_arguments": without_secrets(given),
        "unitxt_version": __version__,
        "python_version": platform.python_version(),
        "system": platform.system(),
        "system_version": platform.version(),
        "installed_packages": {each.name: each.version or "N/A" for each in importlib.metadata.distributions()},
    }


def save_results(args: argparse.Namespace, results: EvaluationResults) -> None:
    """Log the scores of all subsets, and write them, on request with their instances."""
    logger.info(f"\n{results.subsets_scores.summary}")
    base = f"{datetime.now().strftime('%Y-%m-%dT%H-%M-%S')}_{args.output_file_prefix}"  # noqa: DTZ005 - the user's clock
    files: dict[str, dict[str, Any]] = {f"{base}.json": {"results": results.subsets_scores}}
    if args.log_samples:
        instances: dict[str, list[Any]] = {}
        for row in results.instance_scores:
            kept = {name: value for name, value in row.items() if name != "postprocessors"}
            instances.setdefault(row["subset"][0], []).append(kept)
        files[f"{base}_samples.json"] = {"samples": instances}
    environment = _environment(args)
    for name, content in files.items():
        described = jsonable({"environment_info": environment, **content})
        write_for_user(Path(args.output_path) / name, json.dumps(described, indent=4, ensure_ascii=False))


def _run(args: argparse.Namespace) -> None:
    if args.cache_dir:
        os.environ["HF_DATASETS_CACHE"] = os.environ["HF_HOME"] = args.cache_dir  # read when their library is loaded
    Path(args.output_path).mkdir(parents=True, exist_ok=True)
    with settings.context(disable_hf_datasets_cache=args.disable_hf_cache, trust_code=args.trust_remote_code):
        rows = _rows(args)
        engine = _engine(args)
        save_results(args, evaluate(predictions=engine.infer(rows), data=rows))


def main() -> None:
    """Run the command; exits with 1 where it fails."""
    args = setup_parser().parse_args()
    logging.basicConfig(level=args.verbosity, format="%(asctime)s - %(name)s - %(levelname)s - %(message)s", force=True)
    logger.setLevel(args.verbosity)
    try:
        _run(args)
    except Exception as error:  # noqa: BLE001 - whatever fails ends the command
        logger.exception(f"The evaluation failed: {error}")
        sys.exit(1)
