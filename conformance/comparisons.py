"""The programs that compare Proctor with the other systems, with what each needs and how long it may take."""

from __future__ import annotations

from dataclasses import dataclass

from conformance.environments import RECORDED


@dataclass(frozen=True, slots=True)
class Comparison:
    """A program of this folder.

    Attributes:
        module: Below ``conformance``; what follows a colon tells runs of one program apart.
        arguments: Names in braces stand for what :func:`conformance.places.places` makes: Pythons, folders, datasets.
        needs: Names of the places that have to be there, apart from those in the arguments.
        part: Which part of all that the program can compare this is, where the whole takes longer than it should.
        table: A file of the repository that it writes: what it says has to be what stands there.
        minutes: After which it is ended.
    """

    module: str
    arguments: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    part: str = ""
    table: str = ""
    minutes: int = 15


_HUB = ("hub",)
_UNITXT = ("--oracle", "{unitxt}")
_CATALOG = ("--catalog", "{unitxt_catalog}")
_LM_EVAL = ("--lm-python", "{lm_eval}")
_WITH_HUB = ("--hub", "{hub}")
_PROCESSES = (
    *("chat", "few", "stream", "completions", "others", "repeats", "scored", "wider", "own", "text_stream"),
    *("shipped", "edits_0", "edits_1", "models_chat", "models_text"),
)
"""Of the configs of ``aisbench.processes``: the real process takes one to three minutes for each, so that the others
(further shipped and edited configs) are left to who calls the program itself."""

COMPARISONS = (
    Comparison("unitxt.prompts", ("--python", "{unitxt}")),
    Comparison("unitxt.operators", _UNITXT),
    Comparison("unitxt.tool_metrics", (*_UNITXT, *_CATALOG)),
    Comparison("unitxt.overrides", _UNITXT, table="src/proctor/guests/unitxt/overrides.json"),
    Comparison("unitxt.shuffles", _UNITXT),
    Comparison("unitxt.refiners", _UNITXT),
    Comparison(
        "unitxt.metrics",
        (*_UNITXT, "--cases", "150"),
        part="150 cases of each metric; 1,000 take Unitxt half an hour",
        minutes=30,
    ),
    Comparison("unitxt.catalog", _CATALOG),
    Comparison("unitxt.cards", (*_UNITXT, *_CATALOG, *_WITH_HUB)),
    Comparison("unitxt.evaluations", _UNITXT, needs=_HUB),
    Comparison("unitxt.metrics_libraries", ("--cases", "200", *_WITH_HUB), part="200 cases of each metric"),
    Comparison(
        "unitxt.metrics_models",
        (
            *("--oracle", "{embeddings}", "--model", "{embedding_model}", "--path", "{beside_embeddings}"),
            *("--cases", "60"),
        ),
        part="60 cases of each metric",
    ),
    Comparison("unitxt.seed_programs", ("--seed", "{unitxt_programs}", *_WITH_HUB, "--made-up")),
    Comparison("lm_eval.compare", needs=_HUB),
    Comparison("lm_eval.package_functions", _LM_EVAL),
    Comparison("lm_eval.parameters", _LM_EVAL),
    Comparison("lm_eval.load_tasks", _LM_EVAL),
    Comparison("lm_eval.helper_tasks"),
    Comparison("lm_eval.hf_loglikelihoods", (*_LM_EVAL, *_WITH_HUB, "--limit", "10"), part="10 documents of each task"),
    Comparison("lm_eval.end_to_end", (*_LM_EVAL, *_WITH_HUB, "--limit", "10"), part="10 documents of each task"),
    Comparison("lm_eval.conversions", ("--tasks", "{lm_eval_tasks}", *_WITH_HUB)),
    Comparison("aisbench.prompts", ("--configs",)),
    Comparison("aisbench.retrievers"),
    Comparison("aisbench.scoring"),
    Comparison("aisbench.more_scoring", needs=_HUB),
    Comparison("aisbench.rows"),
    Comparison("aisbench.pictures"),
    Comparison("aisbench.ocrbench"),
    Comparison("aisbench.judgements"),
    Comparison("aisbench.breadth_scoring"),
    Comparison("aisbench.subjective_readers"),
    Comparison("aisbench.function_calls", needs=("bfcl",)),
    Comparison("aisbench.instructions", needs=("beside",)),
    Comparison("aisbench.latency"),
    Comparison("aisbench.exams", needs=_HUB, minutes=60),  # prompts of whole splits, made one by one by AISBench
    Comparison(
        "aisbench.configs",
        ("--oracle", "{aisbench}", "--opencompass", "{opencompass_configs}", "--aisbench", "{aisbench_configs}"),
    ),
    Comparison("aisbench.coverage"),
    Comparison("aisbench.signatures"),
    Comparison("aisbench.keys", ("--step", "20"), part="each 20th file of the shipped configs"),
    *(Comparison(f"aisbench.processes:{name}", (name,)) for name in _PROCESSES),
    Comparison("conversions"),
    Comparison("own.options"),
    *(Comparison(f"recorded.record:{name}", (name, "--python", f"{{{name}}}"), minutes=60) for name in RECORDED),
    Comparison("providers.fields", ("{provider_wheels}",), table="tests/engines/http/provider_fields.json"),
    Comparison("providers.prices", ("2026-11-22", "{price_wheels}"), table="src/proctor/running/prices.json"),
    Comparison("vllm.signatures", ("{vllm_wheel}",), table="tests/engines/vllm/vllm_signatures.json"),
)
"""Every program that compares, cheap ones first within each system; the recordings after them."""
