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
import subprocess
import sys
import warnings
from collections.abc import Mapping
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from proctor.artifacts.query import parse_assignments
from proctor.guests.unitxt.engines import CrossProviderInferenceEngine, HFAutoModelInferenceEngine, InferenceEngine
from proctor.guests.unitxt.functions import logger
from proctor.guests.unitxt.own_settings import settings
from proctor.jsonable import jsonable
from proctor.recipes import load_dataset, load_recipe
from proctor.recipes.benchmark import Benchmark
from proctor.results.evaluate import EvaluationResults
from proctor.running.evaluate import evaluate
from proctor.safe_files import write_for_user
from proctor.secrets import cleaned, keep_named, without_secrets
from proctor.settings import settings as known_settings

_LEVELS = ["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"]
_HASH_LENGTH = 40  # characters of a commit's SHA-1


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


def setup_logging(verbosity: str) -> None:
    """Log to standard error, from a level on."""
    logging.basicConfig(level=verbosity, format="%(asctime)s - %(name)s - %(levelname)s - %(message)s", force=True)
    logger.setLevel(verbosity)


def prepare_output_paths(output_path: str, prefix: str) -> tuple[str, str]:
    """Make the folder; return the paths of the results and of the instances, without their time."""
    os.makedirs(output_path, exist_ok=True)  # noqa: PTH103 - what tests of programs replace
    base = os.path.join(output_path, prefix)  # noqa: PTH118 - "./" stays
    return f"{base}.json", f"{base}_samples.json"


def configure_unitxt_settings(args: argparse.Namespace) -> Any:
    """Return the context in which the options about caches and trust hold."""
    chosen = {"disable_hf_datasets_cache": args.disable_hf_cache, "allow_unverified_code": args.trust_remote_code}
    if args.cache_dir:
        chosen["hf_cache_dir"] = args.cache_dir
        os.environ["HF_DATASETS_CACHE"] = os.environ["HF_HOME"] = args.cache_dir  # read when their library is loaded
    logger.info(f"Settings: {chosen}")
    return settings.context(**chosen)


def extract_overwrite_args(args: argparse.Namespace) -> dict[str, Any]:
    """Return the fields of recipes that options set."""
    fields: dict[str, Any] = {}
    if args.limit is not None:
        fields[f"max_{args.split}_instances"] = args.limit
    if args.num_fewshots:
        fields |= {
            "num_demos": args.num_fewshots,
            "demos_taken_from": "train",
            "demos_pool_size": -1,
            "demos_removed_from_data": True,
        }
    if args.apply_chat_template:
        fields["format"] = "formats.chat_api"
    return fields


def cli_load_dataset(args: argparse.Namespace) -> Any:
    """Return the rows of all recipes, as those of one benchmark."""
    fields = extract_overwrite_args(args)
    subsets = {task: load_recipe(task, **fields) for task in args.tasks}
    first = next(iter(subsets.values()))
    source = first if len(subsets) == 1 and isinstance(first, Benchmark) else Benchmark(subsets=subsets)
    rows = load_dataset(source, split=args.split)
    logger.info(f"Dataset: {len(rows)} instances")
    return rows


def prepare_kwargs(kwargs: Any) -> dict[str, Any]:
    """Return an option that is a dict; nothing, with a warning, of a text that is none."""
    given = kwargs if isinstance(kwargs, dict) else {}
    if kwargs is not None and not isinstance(kwargs, dict):
        logger.warning(f"{kwargs!r} is neither JSON nor key=value,…, so it counts as empty")
    logger.info(f"Using kwargs: {given}")
    return given


def _required(arguments: dict[str, Any], name: str, model: str) -> Any:
    if name not in arguments:
        raise ValueError(f"'{name}' is required in --model_args for --model {model}")
    return arguments.pop(name)


def initialize_inference_engine(
    args: argparse.Namespace, model_args_dict: dict[str, Any], chat_kwargs_dict: Mapping[str, Any] | None
) -> Any:
    """Return the engine that the options mean; ``args.model`` becomes its name.

    Raises:
        ValueError: The model is not named, or options do not fit it.
    """
    kind = args.model.lower()
    if kind == "hf":
        name = _required(model_args_dict, "pretrained", kind)
        model_args_dict["batch_size"] = args.batch_size
        fields = {"model_name": name, **model_args_dict, "chat_kwargs_dict": chat_kwargs_dict}
        engine: Any = HFAutoModelInferenceEngine(**fields)
        args.model = engine.model_name
        return engine
    if kind != "cross_provider":
        raise ValueError(f"there is no --model {args.model}: use hf or cross_provider")
    name = _required(model_args_dict, "model_name", kind)
    if chat_kwargs_dict:
        raise ValueError("--chat_template_kwargs are for --model hf: a provider fills in the template itself")
    engine = CrossProviderInferenceEngine(model=name, **model_args_dict)
    args.model = engine.get_engine_id()
    return engine


def run_inference(engine: InferenceEngine, dataset: Any) -> list[Any]:
    """Return the predictions of an engine; a wrong number of them is logged."""
    logger.info("Starting inference...")
    try:
        predictions = engine.infer(dataset)
    except Exception:
        logger.exception("an error occurred during inference")
        raise
    if not predictions:
        logger.warning("the engine made no predictions")
        return []
    if len(predictions) != len(dataset):
        logger.error(f"unexpected number of predictions: {len(predictions)} for {len(dataset)} instances")
    return predictions


def run_evaluation(predictions: list[Any], dataset: Any) -> Any:
    """Return the scores of predictions; nothing where there are none.

    Raises:
        RuntimeError: What comes back are not results.
    """
    logger.info("Starting evaluation...")
    if not predictions:
        logger.warning("Skipping evaluation: there are no predictions")
        return []
    try:
        results: Any = evaluate(predictions=predictions, data=dataset)
    except Exception:
        logger.exception("an error occurred during evaluation")
        raise
    wrong = ""
    if not results:
        wrong = "the evaluation returned no results"
    elif not isinstance(results, EvaluationResults):
        wrong = f"the evaluation returned an unexpected type: {type(results).__name__}"
    if wrong:
        logger.error(wrong)
        raise RuntimeError(wrong)
    logger.info("Evaluation completed.")
    return results


def _get_unitxt_commit_hash() -> str | None:
    """Return the commit of the checkout that this package runs from; a repository around an installed one is not it."""
    if not (Path(__file__).parents[4] / ".git").exists():
        return None
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "HEAD"]
    try:
        found = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own words
    except OSError:
        return None
    commit = found.stdout.strip()
    return commit if found.returncode == 0 and len(commit) == _HASH_LENGTH else None


def _get_installed_packages() -> dict[str, str]:
    return {each.name: each.version or "N/A" for each in importlib.metadata.distributions() if each.name}


def _get_unitxt_version() -> str:
    import proctor

    return proctor.__version__


def prepend_timestamp_to_path(original_path: str, timestamp: str) -> str:
    """Return a path whose file's name begins with a time."""
    folder, name = os.path.split(original_path)
    return os.path.join(folder, f"{timestamp}_{name}")  # noqa: PTH118 - as it was given


def _utc_now() -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return f"{datetime.utcnow().isoformat()}Z"  # noqa: DTZ003 - the clock that tests of programs replace


def _environment(args: argparse.Namespace) -> dict[str, Any]:
    plain = (str, int, float, bool, list, dict, type(None))
    given = {name: value if isinstance(value, plain) else repr(value) for name, value in vars(args).items()}
    keep_named(given)  # a key among the model's arguments: files of results are passed on
    return {
        "timestamp_utc": _utc_now(),
        "command_line_invocation": [cleaned(each) for each in sys.argv],
        "parsed_arguments": without_secrets(given),
        "unitxt_version": _get_unitxt_version(),
        "unitxt_commit_hash": _get_unitxt_commit_hash() or "N/A",
        "python_version": platform.python_version(),
        "system": platform.system(),
        "system_version": platform.version(),
        "installed_packages": _get_installed_packages(),
    }


def _save_results_to_disk(
    args: argparse.Namespace, global_scores: Any, all_samples_data: Any, results_path: str, samples_path: str
) -> None:
    environment = _environment(args)
    now = datetime.now().strftime("%Y-%m-%dT%H-%M-%S")  # noqa: DTZ005 - the user's clock, in a file's name
    files = [(results_path, "global results summary", {"results": global_scores})]
    if args.log_samples:
        files.append((samples_path, "detailed samples", {"samples": all_samples_data}))
    for path, what, content in files:
        timed = prepend_timestamp_to_path(path, now)
        logger.info(f"Saving {what} to: {timed}")
        described = jsonable({"environment_info": environment, **content})
        write_for_user(timed, json.dumps(described, indent=4, ensure_ascii=False))


def process_and_save_results(
    args: argparse.Namespace, evaluation_results: Any, results_path: str, samples_path: str
) -> None:
    """Log the scores of all subsets, and write them with their instances."""
    instances: dict[str, list[Any]] = {}
    for row in evaluation_results.instance_scores:
        instances.setdefault(row["subset"][0], []).append(
            {name: value for name, value in row.items() if name != "postprocessors"}
        )
    scores = evaluation_results.subsets_scores
    logger.info(f"\n{scores.summary}")
    _save_results_to_disk(args, scores, instances, results_path, samples_path)


def main() -> None:
    """Run the command; exits with 1 where it fails."""
    args = setup_parser().parse_args()
    setup_logging(args.verbosity)
    logger.info("Starting Unitxt Evaluation CLI")
    try:
        results_path, samples_path = prepare_output_paths(args.output_path, args.output_file_prefix)
        with configure_unitxt_settings(args), known_settings.context(trust_code=args.trust_remote_code):
            dataset = cli_load_dataset(args)
            model_args, gen_kwargs, chat_kwargs = (
                prepare_kwargs(each) for each in (args.model_args, args.gen_kwargs, args.chat_template_kwargs)
            )
            engine = initialize_inference_engine(args, {**model_args, **gen_kwargs}, chat_kwargs)
            predictions = run_inference(engine, dataset)
            results = run_evaluation(predictions, dataset)
            process_and_save_results(args, results, results_path, samples_path)
    except Exception as error:  # noqa: BLE001 - whatever fails ends the command
        logger.exception(f"The evaluation failed: {error}")
        sys.exit(1)
    logger.info("Unitxt Evaluation CLI finished successfully.")


def extract_scores(directory: str) -> Any:
    """Return a data frame with the scores in all results of a folder, oldest first."""
    import pandas as pd

    rows = []
    for path in sorted(Path(directory).glob("*evaluation_results.json")):
        content = json.loads(path.read_text(encoding="utf-8"))
        about, results = content.get("environment_info", {}), content.get("results", {})
        parts = {name: part.get("score", "N/A") for name, part in results.items() if isinstance(part, dict)}
        rows.append(
            {
                "Model": about.get("parsed_arguments", {}).get("model", "N/A"),
                "Timestamp": about.get("timestamp_utc", "N/A"),
                "Average": results.get("score", "N/A"),
                **parts,
            }
        )
    return pd.DataFrame(rows).sort_values(by="Timestamp", ascending=True)


def summarize_cli() -> None:
    """Log a table of the results in a folder, which the command line names."""
    if len(sys.argv) != len(("program", "folder")):
        logger.error("name the folder of the results")
        sys.exit(1)
    logger.info(extract_scores(sys.argv[1]).to_markdown(index=False))
