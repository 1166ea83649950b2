"""Records the files that a peer writes for the quiz of ``tests/exchange/peer_exams.py``, and for every change of it.

    PEER_PYTHON conformance/why/record.py lm_eval|unitxt|inspect OUTPUT.zip

Runs in the peer's environment (``conformance/environments.py``) with a model that is a function; nothing is downloaded.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "exchange"))

import peer_exams as quiz


def lm_eval(folder: Path, base: dict[str, Any], change: dict[str, Any]) -> None:
    """Run a task of YAML, and save results and samples as ``lm_eval --log_samples`` does."""
    import lm_eval as peer
    import yaml
    from lm_eval.api.model import LM
    from lm_eval.loggers import EvaluationTracker
    from lm_eval.tasks import TaskManager

    model = change.get("model", "base")

    class Model(LM):
        def generate_until(self, requests: Any) -> list[str]:
            return [quiz.says(each.args[0], model) for each in requests]

        def loglikelihood(self, requests: Any) -> list[tuple[float, bool]]:
            return [(quiz.likelihood(*each.args, model), False) for each in requests]

        def loglikelihood_rolling(self, requests: Any) -> list[float]:
            raise NotImplementedError

    work = Path(tempfile.mkdtemp())
    data = work / "rows.jsonl"
    data.write_text("".join(f"{json.dumps(row)}\n" for row in change.get("rows", quiz.ROWS)))
    task = {**base, **change.get("task", {}), "dataset_kwargs": {"data_files": {"test": str(data)}}}
    (work / "quiz.yaml").write_text(yaml.safe_dump(task))
    found = peer.simple_evaluate(
        model=Model(),
        tasks=["quiz"],
        task_manager=TaskManager(include_path=str(work), include_defaults=False),
        log_samples=True,
        bootstrap_iters=0,
        system_instruction=change.get("system"),
    )
    samples = found.pop("samples")
    tracker = EvaluationTracker(output_path=str(folder))
    tracker.save_results_aggregated(results=found, samples=samples)
    tracker.save_results_samples(task_name="quiz", samples=samples["quiz"])


def unitxt(folder: Path, base: dict[str, Any], change: dict[str, Any]) -> None:
    """Run a recipe, and save what ``unitxt-evaluate --log_samples`` saves."""
    from unitxt import evaluate, register_local_catalog
    from unitxt.evaluate_cli import cli_load_dataset, process_and_save_results, setup_parser

    catalog = Path(tempfile.mkdtemp())
    change = {**base, **change}
    card = quiz.unitxt_card(change)
    for name, value in (("cards/quiz", card), ("templates/quiz", card["templates"]["simple"])):
        (catalog / name).parent.mkdir(parents=True, exist_ok=True)
        (catalog / f"{name}.json").write_text(json.dumps(value))
    register_local_catalog(str(catalog))
    recipe = ",".join(f"{name}={value}" for name, value in quiz.unitxt_query(change).items())
    words = ["--tasks", recipe, "--model", "cross_provider", "--split", "test", "--log_samples"]
    arguments = setup_parser().parse_args(words)
    arguments.tasks = [recipe]  # commas part tasks on the command line
    data = cli_load_dataset(arguments)
    model = change.get("model", "base")
    predictions = [quiz.says(str(each["source"]), model) for each in data]
    results = evaluate(predictions=predictions, data=data)
    process_and_save_results(arguments, results, str(folder / "quiz.json"), str(folder / "quiz_samples.json"))


def inspect(folder: Path, base: dict[str, Any], change: dict[str, Any]) -> None:
    """Run a task of eval.yaml, and keep its log as an archive."""
    os.environ["INSPECT_DISPLAY"] = "none"
    import huggingface_hub
    import yaml
    from inspect_ai import eval as run
    from inspect_ai._eval.task import hf
    from inspect_ai.dataset import MemoryDataset
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    work = Path(tempfile.mkdtemp())
    (work / "eval.yaml").write_text(yaml.safe_dump({"tasks": [{**quiz.INSPECT, **base, **change.get("task", {})}]}))
    rows = change.get("rows", quiz.ROWS)
    hf.hf_dataset = lambda sample_fields, **_: MemoryDataset([sample_fields(row) for row in rows])
    huggingface_hub.hf_hub_download = lambda **_: str(work / "eval.yaml")
    (task,) = hf.task_create_from_hf("hf/org/data")

    def outputs(messages: Any, *_: Any) -> ModelOutput:
        output = ModelOutput.from_content("mock", quiz.says(messages[-1].text, change.get("model", "base")))
        output.usage = ModelUsage()
        return output

    model = get_model("mockllm/model", custom_outputs=outputs, memoize=False)
    run(task, model=model, max_samples=1, log_dir=str(folder), log_format="eval")


PEERS: dict[str, tuple[Callable[..., None], dict[str, Any], dict[str, Any]]] = {
    "lm_eval": (lm_eval, quiz.LM_EVAL_BASES, quiz.LM_EVAL_VARIANTS),
    "unitxt": (unitxt, quiz.UNITXT_BASES, quiz.UNITXT_VARIANTS),
    "inspect": (inspect, quiz.INSPECT_BASES, quiz.INSPECT_VARIANTS),
}


def main() -> int:
    """Record all; 1 where one could not be."""
    peer, target = sys.argv[1], Path(sys.argv[2])
    run, bases, variants = PEERS[peer]
    first = next(iter(bases))
    wanted: dict[str, Any] = {f"base {name}": (base, {}) for name, base in bases.items()}
    wanted |= {name: (bases[change.get("base", first)], change) for name, (_, change) in variants.items()}
    failed = 0
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, (base, change) in wanted.items():
            folder = Path(tempfile.mkdtemp())
            try:
                run(folder, base, change)
            except Exception as error:  # noqa: BLE001 - all that cannot be recorded is listed
                failed += 1
                print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr)
                continue
            for file in sorted(each for each in folder.rglob("*") if each.is_file()):
                archive.write(file, f"{name}/{file.name}")
    print(f"{peer}: {len(wanted) - failed} recorded, {failed} not")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
