"""Runs every comparison with the other systems, renews the recordings, and lists the explained differences.

    python -m conformance.run [--environments FOLDER] [--only GLOB]

Or ``make conformance``. The environments of the other systems are made once and kept in FOLDER. A comparison that needs
what is not here (real datasets, a model) is left out, and the end says so. Exits with 1 where one fails.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from conformance import page
from conformance.environments import ENVIRONMENTS, make, unpack_opencompass

ROOT = Path(__file__).resolve().parents[1]
LOGS = Path(tempfile.gettempdir()) / "proctor-conformance" / "logs"
LAST_LINES = 3
"""Lines of a comparison that are shown: they hold its counts."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A program of this folder.

    Attributes:
        module: Below ``conformance``.
        arguments: Names in braces stand for what :func:`places` makes: Pythons, folders of configs, the datasets.
        hub: Whether it needs real datasets.
        missing: What else it needs that is not made here.
    """

    module: str
    arguments: tuple[str, ...] = ()
    hub: bool = False
    missing: str = ""


COMPARISONS = (
    Comparison("unitxt.prompts", ("--python", "{unitxt}")),
    Comparison("unitxt.operators", ("--oracle", "{unitxt}")),
    Comparison("unitxt.tool_metrics", ("--oracle", "{unitxt}", "--catalog", "{unitxt_catalog}")),
    Comparison("unitxt.shuffles", ("--oracle", "{unitxt}")),
    Comparison("unitxt.refiners", ("--oracle", "{unitxt}")),
    Comparison("unitxt.metrics", ("--oracle", "{unitxt}")),
    Comparison("unitxt.catalog", ("--catalog", "{unitxt_catalog}")),
    Comparison("unitxt.cards", ("--oracle", "{unitxt}", "--catalog", "{unitxt_catalog}", "--hub", "{hub}"), hub=True),
    Comparison("unitxt.evaluations", ("--oracle", "{unitxt}"), hub=True),
    Comparison("unitxt.metrics_libraries", ("--hub", "{hub}"), hub=True),
    Comparison("unitxt.metrics_models", missing="a folder with a model of sentence embeddings (--model)"),
    Comparison("unitxt.seed_programs", missing="the document with the programs (--seed)"),
    Comparison("lm_eval.compare", hub=True),
    Comparison("lm_eval.package_functions", ("--lm-python", "{lm_eval}")),
    Comparison("lm_eval.parameters", ("--lm-python", "{lm_eval}")),
    Comparison("lm_eval.load_tasks", ("--lm-python", "{lm_eval}")),
    Comparison("lm_eval.helper_tasks"),
    Comparison("lm_eval.hf_loglikelihoods", ("--lm-python", "{lm_eval}", "--hub", "{hub}"), hub=True),
    Comparison("lm_eval.end_to_end", ("--lm-python", "{lm_eval}", "--hub", "{hub}"), hub=True),
    Comparison("lm_eval.conversions", ("--tasks", "{lm_eval_tasks}", "--hub", "{hub}"), hub=True),
    Comparison("aisbench.prompts", ("--configs",)),
    Comparison("aisbench.retrievers"),
    Comparison("aisbench.scoring"),
    Comparison("aisbench.more_scoring", hub=True),
    Comparison("aisbench.rows"),
    Comparison("aisbench.pictures"),
    Comparison("aisbench.ocrbench", missing="apted, zss and distance in AISBench's environment, WordNet (NLTK_DATA)"),
    Comparison("aisbench.judgements"),
    Comparison("aisbench.breadth_scoring"),
    Comparison("aisbench.subjective_readers"),
    Comparison("aisbench.function_calls", missing="an unzipped wheel of bfcl-eval 2025.6.14 (BFCL_WHEEL)"),
    Comparison("aisbench.instructions", missing="a wheel of OpenCompass (OPENCOMPASS_WHEEL), emoji and syllapy"),
    Comparison("aisbench.latency"),
    Comparison("aisbench.exams", hub=True),
    Comparison(
        "aisbench.configs",
        ("--oracle", "{aisbench}", "--opencompass", "{opencompass_configs}", "--aisbench", "{aisbench_configs}"),
    ),
    Comparison("aisbench.coverage"),
    Comparison("aisbench.signatures", missing="unzipped wheels of both packages (OPENCOMPASS_WHEEL, AISBENCH_WHEEL)"),
    Comparison("aisbench.keys", missing="unzipped wheels of both packages (OPENCOMPASS_WHEEL, AISBENCH_WHEEL)"),
    Comparison("conversions"),
    Comparison("own.options"),
    Comparison("aisbench.processes", missing="an environment with AISBench, where forks may serve (AISBENCH_PYTHON)"),
    *(Comparison(f"recorded.record:{name}", (name, "--python", f"{{{name}}}")) for name in ENVIRONMENTS),
    Comparison("providers.fields", missing="wheels of the providers' packages; it writes a table of the tests"),
    Comparison("providers.prices", missing="wheels of genai-prices; it writes a table of the package"),
    Comparison("vllm.signatures", missing="a wheel of vLLM; it writes a table of the tests"),
)
"""Every program that compares, cheap ones first within each system; the recordings after them."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a comparison."""

    module: str
    state: str
    seconds: float = 0.0
    said: str = ""


def places(environments: Path, hub: Path | None) -> dict[str, str]:
    """Return what stands for the names in arguments, after making what is not there."""
    pythons = {name: make(name, environments) for name in ENVIRONMENTS}
    opencompass = unpack_opencompass(pythons["aisbench"], environments)
    site = {name: next((python.parents[1] / "lib").glob("python*/site-packages")) for name, python in pythons.items()}
    return {
        **{name: str(python) for name, python in pythons.items()},
        "unitxt_catalog": str(site["unitxt"] / "unitxt" / "catalog"),
        "lm_eval_tasks": str(site["lm_eval"] / "lm_eval" / "tasks"),
        "opencompass": str(opencompass),
        "opencompass_configs": str(opencompass / "opencompass" / "configs"),
        "aisbench_site": str(site["aisbench"]),
        "aisbench_configs": str(site["aisbench"] / "ais_bench" / "benchmark" / "configs"),
        "hub": "" if hub is None else str(hub),
    }


def variables(known: dict[str, str]) -> dict[str, str]:
    """Return the environment that the programs look for the systems in."""
    found = {
        "LM_EVAL_PYTHON": known["lm_eval"],
        "AISBENCH_PYTHON": known["aisbench"],
        "OPENCOMPASS_WHEEL": known["opencompass"],
        "OPENCOMPASS_DIR": known["opencompass"],
        "AISBENCH_WHEEL": known["aisbench_site"],
        "PROCTOR_CONFIG_DIRS": os.pathsep.join((known["opencompass_configs"], known["aisbench_configs"])),
        "HF_HUB_OFFLINE": "1",
        "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH", "")))),
    }
    hub = dict.fromkeys(("PROCTOR_HUB_DIR", "PROCTOR_TEST_HUB"), known["hub"]) if known["hub"] else {}
    return {**os.environ, **found, **hub}


def compare(comparison: Comparison, known: dict[str, str]) -> Outcome:
    """Run a comparison; what it says goes to a file."""
    if comparison.missing:
        return Outcome(comparison.module, "left out", said=f"needs {comparison.missing}")
    if comparison.hub and not known["hub"]:
        return Outcome(comparison.module, "left out", said="needs real datasets: PROCTOR_TEST_HUB names their folder")
    LOGS.mkdir(parents=True, exist_ok=True)
    log = LOGS / f"{comparison.module.replace(':', '-')}.txt"
    module = comparison.module.partition(":")[0]
    command = [sys.executable, "-m", f"conformance.{module}", *(each.format(**known) for each in comparison.arguments)]
    began = time.monotonic()
    with log.open("w", encoding="utf-8") as file:
        done = subprocess.run(
            command, cwd=ROOT, env=variables(known), stdout=file, stderr=subprocess.STDOUT, check=False
        )
    lines = [line for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
    said = "\n        ".join([*lines[-LAST_LINES:], f"all of it: {log}"])
    return Outcome(comparison.module, "differs" if done.returncode else "equal", time.monotonic() - began, said)


def outcomes(known: dict[str, str], only: str) -> Iterator[Outcome]:
    """Run the chosen comparisons, one after the other."""
    for comparison in COMPARISONS:
        if fnmatchcase(comparison.module, only):
            outcome = compare(comparison, known)
            print(f"{outcome.state:8}  {outcome.module}  {outcome.seconds:.0f} s\n        {outcome.said}", flush=True)
            yield outcome


def hub_folder() -> Path | None:
    """Return the folder of real datasets, ``None`` where there is none."""
    folder = Path(os.environ.get("PROCTOR_TEST_HUB") or ROOT.parent / "shared" / "data" / "hub")
    return folder if folder.is_dir() else None


def main() -> int:
    """Compare everything; return 1 where something differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kept = Path(tempfile.gettempdir()) / "proctor-conformance" / "environments"
    parser.add_argument("--environments", type=Path, default=kept, help="where the other systems are installed")
    parser.add_argument("--only", default="*", help="comparisons to run, as a glob: 'recorded.*' renews the recordings")
    args = parser.parse_args()
    found = list(outcomes(places(args.environments.resolve(), hub_folder()), args.only))
    page.write()
    counts = {state: sum(each.state == state for each in found) for state in ("equal", "differs", "left out")}
    print(", ".join(f"{count} {state}" for state, count in counts.items()))
    return int(counts["differs"] > 0)


if __name__ == "__main__":
    sys.exit(main())
