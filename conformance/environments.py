"""Makes the environments of the other systems, with the commands that worked."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

OPENCOMPASS = "opencompass==0.5.4"
"""Its wheel is unpacked and read: running it as installed needs old pins."""


@dataclass(frozen=True, slots=True)
class Environment:
    """What an environment is made of.

    Attributes:
        packages: What pip installs.
        alone: What pip installs before, without what it asks for: its pins are older than what it works with.
    """

    packages: tuple[str, ...]
    alone: tuple[str, ...] = field(default=())


ENVIRONMENTS = {
    "unitxt": Environment(
        (
            *("unitxt==1.26.10", "datasets==4.1.1", "huggingface_hub<1", "pandas<3", "numpy<2.4", "transformers<5"),
            *(
                "tabulate",
                "scikit-learn",
                "scipy",
                "regex",
                "nltk",
                "rouge-score",
                "sacrebleu",
                "jiwer",
                "editdistance",
            ),
            *("fuzzywuzzy", "evaluate", "Pillow", "jsonschema-rs", "sqlglot", "sqlparse", "func_timeout"),
        )
    ),
    "lm_eval": Environment(
        (
            *("torch==2.13.0", "lm-eval[hf]==0.4.13", "tenacity", "aiohttp", "sacrebleu", "scikit-learn"),
            *("click", "msgspec", "pydantic", "rich"),  # Proctor loads tasks there, too: load_tasks.py
        ),
    ),
    "aisbench": Environment(
        (
            *(
                "mmengine-lite",
                "datasets",
                "tqdm",
                "jieba",
                "rouge_score",
                "nltk",
                "rank_bm25",
                "scipy",
                "rouge_chinese",
            ),
            *("evaluate", "janus", "torch==2.13.0", "Pillow", "transformers", "orjson", "tabulate", "psutil", "plotly"),
            *(
                "tiktoken",
                "jsonlines",
                "opencv-python-headless",
                "fuzzywuzzy",
                "scikit-learn",
                "sacrebleu",
                "rapidfuzz",
            ),
            *("math_verify", "latex2sympy2_extended", "rouge", "Levenshtein", "langdetect", "wonderwords", "rdkit"),
            *("apted", "zss", "distance"),  # OCRBench v2
            "timeout_decorator",  # without it SuperGPQA scores 0.0 there
        ),
        ("ais-bench-benchmark==3.1.20260630",),
    ),
    "hub_yaml": Environment(
        ("inspect_ai==0.3.285", "datasets", "openai", "latex2sympy2-extended==1.11.0", "antlr4-python3-runtime==4.13.2")
    ),
}


def make(name: str, folder: Path) -> Path:
    """Return the Python of an environment, made in a folder unless it is there already."""
    home, wanted = folder / name, ENVIRONMENTS[name]
    python, stamp = home / "bin" / "python", home / ".made"
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == repr(wanted):
        return python
    print(f"making the environment of {name} in {home}", flush=True)
    subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    if wanted.alone:
        subprocess.run([*pip, "--no-deps", *wanted.alone], check=True)
    subprocess.run([*pip, *wanted.packages], check=True)
    stamp.write_text(repr(wanted), encoding="utf-8")
    return python


def unpack_opencompass(python: Path, folder: Path) -> Path:
    """Return the folder of OpenCompass' unpacked wheel."""
    home = folder / "opencompass"
    if not (home / "opencompass").is_dir():
        home.mkdir(parents=True, exist_ok=True)
        download = [str(python), "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(home), OPENCOMPASS]
        subprocess.run(download, check=True)
        with zipfile.ZipFile(next(home.glob("opencompass-*.whl"))) as wheel:
            wheel.extractall(home)
    return home
