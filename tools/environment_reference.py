"""Write ``docs/environment.md``: every environment variable that is read, and what it does."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

TARGET = Path(__file__).resolve().parent.parent / "docs" / "environment.md"

OTHERS: Final[Mapping[str, Mapping[str, str]]] = {
    "Terminal": {
        "`NO_COLOR`": "No colours, whatever the terminal can show",
        "`FORCE_COLOR`": "Colours, where the output is a file or a pipe, too",
        "`PROCTOR_LANG`, `LC_ALL`, `LC_MESSAGES`, `LANG`": "The first that is set decides: `zh…` has the commonest "
        "messages in Chinese; everything else is English",
        "`COLUMNS`, `TERM`": "Width and kind of the terminal, as everywhere",
    },
    "Folders": {
        "`XDG_CACHE_HOME`": "Where the cache is, unless `PROCTOR_CACHE_DIR` says it: `~/.cache` by default",
        "`XDG_DATA_HOME`": "Where the response log, fetched packages, permissions and catalogs of the user are kept: "
        "`~/.local/share` by default",
        "`HF_HOME`, `HF_HUB_CACHE`, `HUGGINGFACE_HUB_CACHE`, `HF_DATASETS_CACHE`, `HF_CACHE_HOME`": "Caches of "
        "Hugging Face's libraries: models and datasets that are there are not loaded again",
        "`COMPASS_DATA_CACHE`, `AIS_BENCH_DATASETS_CACHE`": "Folders with data of OpenCompass and AISBench, asked for "
        "what a config names",
        "`LMUData`": "The same for configs that read it",
        "`PROCTOR_DATASET_MAP`": "A JSON file that says where datasets of configs lie",
        "`UNITXT_CACHE_LOCATION`": "Where Unitxt's loaders of SQLite databases keep them",
        "`UNITXT_CATALOGS`, `UNITXT_ARTIFACTORIES`": "As `PROCTOR_CATALOGS`, for programs of Unitxt",
        "`UNITXT_HF_OFFLINE_DATASETS_PATH`, `UNITXT_HF_OFFLINE_MODELS_PATH`": "As `PROCTOR_HUB_DIR` and "
        "`PROCTOR_MODELS_DIR`",
    },
    "Network": {
        "`HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY`": "The proxy of requests, in small letters, too",
        "`HF_HUB_OFFLINE`": "As `PROCTOR_OFFLINE`: no hub is contacted",
        "`SSL_CERT_FILE`, `SSL_CERT_DIR`, `REQUESTS_CA_BUNDLE`, `CURL_CA_BUNDLE`": "Certificates that libraries read; "
        "readable behind the wall",
        "`SLURM_ARRAY_TASK_ID`, `SLURM_ARRAY_TASK_MIN`, `SLURM_ARRAY_TASK_MAX`, `SLURM_ARRAY_TASK_COUNT`, "
        "`SLURM_PROCID`, `SLURM_NTASKS`, `JOB_COMPLETION_INDEX`": "Which shard `--shard auto` is, and of how many",
        "`CUDA_CACHE_PATH`, `TRITON_CACHE_DIR`, `TORCHINDUCTOR_CACHE_DIR`, `TORCH_HOME`, `VLLM_CACHE_ROOT`": "Where "
        "engines keep what they compile; writable behind the wall where there is a GPU",
        "`HF_TOKEN_PATH`, `HF_ENDPOINT`": "The file of the token, and the address of the hub, where they are other "
        "ones",
        "`HF_TOKEN`, `HUGGING_FACE_HUB_TOKEN`": "The key for datasets and models of the hub that want one; it is sent "
        "to the hub alone",
        "`SQL_API_KEY`": "The key of a database behind a server (`SQLDatabase` of Unitxt)",
        "`AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`, `AWS_PROFILE`, "
        "`AWS_SHARED_CREDENTIALS_FILE`": "Keys for Bedrock and S3, as Amazon's own programs read them",
        "`FIREWORKS_ACCOUNT_ID`": "The account of Fireworks in whose data sets batches lie, where `batch_account` does "
        "not say it",
    },
    "Trackers": {
        "`MLFLOW_TRACKING_URI`, `MLFLOW_EXPERIMENT_NAME`": "Where MLflow keeps runs, and which experiment they are of",
        "`WANDB_PROJECT`, `WANDB_MODE`, `WANDB_DIR`": "A project of Weights & Biases; `offline` keeps runs in a folder",
    },
    "Configs of OpenCompass and AISBench": {
        "`PROCTOR_CONFIG_ENV`": "Names of variables, with commas between them, that configs may read beside those here",
        "`OC_JUDGE_MODEL`, `OC_JUDGE_API_KEY`, `OC_JUDGE_API_BASE`": "The judge of configs that name none",
        "`DATASET_SOURCE`": "Where configs take data from; here it only matters where they ask it",
        "`TOKENIZER_MODEL`, `MMBENCH_SAMPLE_LIMIT`, `MMMU_PRO_SAMPLE_LIMIT`": "Read by configs that ask for them",
    },
    "Users of lm-eval": {
        "`LMEVAL_LOG_LEVEL`": "As `PROCTOR_DEFAULT_VERBOSITY`, where that is not set",
        "`AZURE_OPENAI_DEPLOYMENT_NAME`": "The model of `--model azure-openai-chat-completions`, where no "
        "argument says it",
    },
    "Programs of Unitxt": {
        "`UNITXT_INFERENCE_ENGINE`, `PROCTOR_INFERENCE_ENGINE`": "The engine of `GenericInferenceEngine`",
        "`UNITXT_REMOTE_METRICS`, `UNITXT_REMOTE_METRICS_ENDPOINT`": "Metrics, as a JSON list of names, that "
        "`unitxt.eval_utils.evaluate` has a service compute, and the service's address",
        "`UNITXT_DEFAULT_PROVIDER`": "As `PROCTOR_DEFAULT_PROVIDER`",
        "`UNITXT_DATA_CLASSIFICATION_POLICY`": "As `PROCTOR_DATA_CLASSIFICATION_POLICY`",
    },
    "Shell completion": {
        "`_PROCTOR_COMPLETE`": "Set by the script that `proctor completion` prints; nothing to set by hand",
        "`COMP_LINE`, `COMP_WORDBREAKS`": "What bash says of the line that is completed",
    },
}
"""What is read beside settings and providers; tests hold the table against the code."""


def page() -> str:
    """Return the whole page."""
    return "".join(_parts()).rstrip() + "\n"


def _parts() -> Iterator[str]:
    yield "# Environment variables\n\nEvery variable that Proctor reads, and what it does.\n\n"
    yield "What a command line or a program says wins over the environment. Secrets are never written to a file.\n\n"
    yield "## Settings\n\nEach is an attribute of `proctor.settings`, too: `settings.context(seed=1)` changes it for "
    yield "a block of code. Where it is not set, `UNITXT_…` of the same name is read. Switches are `1` or `0`.\n\n"
    yield from _table("default", _settings())
    for title, rows in OTHERS.items():
        yield f"## {title}\n\n"
        yield from _table("", ((name, "", what) for name, what in rows.items()))
    yield "## Providers\n\nKeys and addresses of the providers that `--model` knows by name. A key goes to its "
    yield "provider's own hosts and nowhere else ([Security](security.md)).\n\n"
    yield "| `--model` | key | address | more |\n|---|---|---|---|\n"
    yield from _providers()


def _settings() -> Iterator[tuple[str, str, str]]:
    from proctor.settings import Settings, settings

    known = Settings.defaults()
    for name, what in settings.describe().items():
        default = known[name]
        shown = "" if default in (None, "") else f"`{int(default) if isinstance(default, bool) else default}`"
        yield f"`PROCTOR_{name.upper()}`", shown, what[:1].upper() + what[1:]


def _table(second: str, rows: Iterator[tuple[str, str, str]]) -> Iterator[str]:
    yield f"| variable | {second} | |\n|---|---|---|\n" if second else "| variable | |\n|---|---|\n"
    for name, default, what in rows:
        yield f"| {name} | {default} | {what} |\n" if second else f"| {name} | {what} |\n"
    yield "\n"


def _providers() -> Iterator[str]:
    from proctor.engines.http.providers import providers

    for name, each in providers().items():
        keys = [*each.key_variables, *each.token_variables]
        more = [*(known for part in each.variables.values() for known in part.names), *_names(each.fields)]
        if name == "aws":
            more += ["AWS_REGION_NAME", "AWS_REGION", "AWS_DEFAULT_REGION"]
        cells = [keys, each.url_variables, [one for one in dict.fromkeys(more) if one not in each.url_variables]]
        if any(cells):
            yield f"| `{name}` | {' | '.join(', '.join(f'`{one}`' for one in cell) for cell in cells)} |\n"


def _names(fields: object) -> list[str]:
    """Return the names of variables in a table of them, however deep they stand in it."""
    if isinstance(fields, str):
        return [fields] if fields.isupper() else []
    inner = fields.values() if isinstance(fields, Mapping) else fields if isinstance(fields, (list, tuple)) else ()
    inner = [getattr(fields, "names", ())] if hasattr(fields, "names") else inner
    return [name for each in inner for name in _names(each)]


def main() -> int:
    """Write the page; with ``--check`` only say whether it is as it should be."""
    made = page()
    if "--check" in sys.argv[1:]:
        if TARGET.read_text(encoding="utf-8") == made:
            return 0
        print(f"{TARGET} is out of date: python tools/environment_reference.py")
        return 1
    TARGET.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
