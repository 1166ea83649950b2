"""Which keys of a config have an effect here, which have none and why, and which cannot be honoured.

Nothing that a config says is dropped in silence: a key is used; or it stands in one of these tables with the reason why
it changes no answer and no score; or the config is refused, with the place of the key and the closest one there is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from proctor.dialects.aisbench.values import location_of
from proctor.errors import Diagnostic, did_you_mean

Reasons = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Keys:
    """What may stand in one dictionary of a config.

    Attributes:
        used: Keys that have an effect.
        idle: Keys without effect here, each with the reason.
        refused: Keys that cannot be honoured, each with the reason.
        hint: What to do about refused ones.
    """

    used: frozenset[str]
    idle: Reasons = field(default_factory=dict)
    refused: Reasons = field(default_factory=dict)
    hint: str = "take it out"

    def problems(self, values: Mapping[str, Any], what: str, path: str) -> Iterator[Diagnostic]:
        """Yield keys that are refused or unknown.

        Args:
            values: The dictionary.
            what: How messages call it.
            path: Where it is in the dataset or model.
        """
        where = location_of(values)
        for key in values:
            if key in self.refused:
                yield Diagnostic(
                    f"'{key}' of {what} cannot be honoured", where, f"{path}.{key}", self.refused[key], self.hint
                )
            elif key not in self.used and key not in self.idle:
                hint = did_you_mean(str(key), self.used) or f"it has {', '.join(sorted(self.used))}"
                yield Diagnostic(f"{what} knows no '{key}'", where, f"{path}.{key}", hint=hint)

    def without_effect(self, values: Mapping[str, Any], path: str) -> dict[str, str]:
        """Return the keys of a dictionary that have no effect here, with the reasons."""
        return {f"{path}.{key}": self.idle[key] for key in values if key in self.idle}


_RECORDED = "every answer is kept in the response log"
_BATCHES = "engines choose their batches themselves"
_NOWHERE = "upstream reads it nowhere"

READER = Keys(
    frozenset({"input_columns", "output_column", "train_split", "train_range", "test_split", "test_range"}),
    dict.fromkeys(("input_template", "output_template"), "prompts are made by the templates of infer_cfg"),
)

INFERENCE = Keys(
    frozenset({"ice_template", "prompt_template", "retriever", "inferencer"}),
    {
        "max_out_len": "the inferencer's max_out_len counts, as upstream",
        "reader_cfg": "the dataset's reader_cfg counts, as upstream",
    },
)

EVALUATION = Keys(
    frozenset({"evaluator", "pred_postprocessor", "dataset_postprocessor", "sc_size"}),
    {
        "pred_role": "upstream's condition for it never holds",
        "model_postprocessor": "it adds scores of answers that another model reads; evaluators score what was answered",
        "analyze_contamination": "it only splits the summary by lists of rows that models have seen",
        "num_gpus": "engines take what the machine has",
        "ds_column": "references are of the output_column",
        "ds_split": "references are of the rows that are asked about",
        "k": "k and n are keys of the dataset",
        "n": "k and n are keys of the dataset",
    },
)

_SPLITS = "reader_cfg says which splits there are"
RETRIEVER_IDLE: Reasons = dict.fromkeys(("index_split", "test_split", "index_range"), _SPLITS)

_EVERY_INFERENCER = {
    "batch_size": _BATCHES,
    "save_every": _RECORDED,
    "output_json_filepath": _RECORDED,
    "output_json_filename": _RECORDED,
    "mode": "this is how AISBench measures speed",
    "pressure_time": "this is how AISBench measures speed",
}
_NOT_WRITTEN = dict.fromkeys(("max_out_len", "stopping_criteria", "min_out_len"), "nothing is written")
_UNSAMPLED = {
    name: f"{_NOWHERE}; --decoding {name}=… sets it" for name in ("temperature", "top_p", "top_k", "do_sample", "seed")
}
_FEWEST = {"min_out_len": "engines here have no least number of tokens"}
_CONVERSATION = {"max_seq_len": "conversations are sent whole", "labels": "nothing is compared"}

INFERENCERS: Mapping[str, Keys] = {
    "gen": Keys(
        frozenset({"type", "max_out_len", "max_seq_len", "stopping_criteria", "gen_field_replace_token"}),
        {**_EVERY_INFERENCER, **_UNSAMPLED, "labels": "the model writes, nothing is compared"},
        {
            **_FEWEST,
            "multiround": "it makes a conversation of each row; ChatInferencer with infer_mode='every' does so",
        },
    ),
    "ppl": Keys(
        frozenset({"type", "max_seq_len", "labels", "normalizing_str"}),
        {**_EVERY_INFERENCER, **_NOT_WRITTEN, **_UNSAMPLED},
    ),
    "ll": Keys(frozenset({"type", "max_seq_len", "labels"}), {**_EVERY_INFERENCER, **_NOT_WRITTEN, **_UNSAMPLED}),
    "text_ppl": Keys(frozenset({"type", "max_seq_len"}), {**_EVERY_INFERENCER, **_NOT_WRITTEN, **_UNSAMPLED}),
    "clp": Keys(
        frozenset({"type", "max_seq_len"}),
        {**_EVERY_INFERENCER, **_NOT_WRITTEN, "single_token": "choices of one token are compared in any case"},
    ),
    "chat": Keys(
        frozenset({"type", "max_out_len", "infer_mode", "stopping_criteria"}),
        {**_EVERY_INFERENCER, **_UNSAMPLED, **_CONVERSATION, "gen_field_replace_token": "the model's turns are open"},
        _FEWEST,
    ),
}
"""By what an inferencer asks."""

DATASET_PARTS = frozenset({"type", "abbr", "reader_cfg", "infer_cfg", "eval_cfg", "k", "n"})
"""Keys of a dataset that are not arguments of its type."""

_PAIRS = "OpenCompass' comparisons of several models read it; an evaluator of single answers does not"
_SAME_ROWS = "the dataset type takes it, and its rows are the same whatever it is"
DATASET_IDLE: Reasons = {
    **dict.fromkeys(("mode", "base_models", "given_pred", "infer_order", "summarizer"), _PAIRS),
    **dict.fromkeys(("name", "setting_name", "local_mode", "prompt_mode", "cate"), _SAME_ROWS),
}
"""Arguments that configs give to dataset types whose rows do not depend on them."""

DATASET_REFUSED: Reasons = {
    "judge_infer_cfg": "another model judges the answers, in a task of AISBench's own; a GenericLLMEvaluator in "
    "eval_cfg does so here",
}


def dataset_key_problems(values: Mapping[str, Any], arguments: Collection[str] | None) -> Iterator[Diagnostic]:
    """Yield keys of a dataset that are refused or unknown.

    Args:
        values: The dataset.
        arguments: What its type reads; ``None`` where that is not known, so that everything is taken.
    """
    where = location_of(values)
    for key in values:
        if key in DATASET_REFUSED:
            yield Diagnostic(f"'{key}' cannot be honoured", where, f"$.{key}", DATASET_REFUSED[key])
        elif arguments is not None and key not in (*DATASET_PARTS, *arguments, *DATASET_IDLE):
            known = [*sorted(arguments), *sorted(DATASET_PARTS)]
            hint = did_you_mean(str(key), known) or f"it has {', '.join(known)}"
            yield Diagnostic(f"the dataset type knows no '{key}'", where, f"$.{key}", hint=hint)


def part_problems(values: Mapping[str, Any], kind: str) -> Iterator[Diagnostic]:
    """Yield keys of ``reader_cfg``, ``infer_cfg``, inferencer and ``eval_cfg`` that are refused or unknown.

    Args:
        values: The dataset.
        kind: What its inferencer asks; empty where that is not known.
    """
    for keys, part, name, path in _parts(values, kind):
        yield from keys.problems(part, name, path)


def without_effect(values: Mapping[str, Any], kind: str, arguments: Collection[str] | None) -> dict[str, str]:
    """Return the keys of a dataset that have no effect here, each with the reason.

    Args:
        values: The dataset.
        kind: What its inferencer asks.
        arguments: What its type reads; ``None`` where that is not known.
    """
    found: dict[str, str] = {}
    if arguments is not None:
        found |= {f"$.{key}": DATASET_IDLE[key] for key in values if key in DATASET_IDLE and key not in arguments}
    for keys, part, _, path in _parts(values, kind):
        found |= keys.without_effect(part, path)
    retriever = values["infer_cfg"].get("retriever") or {}
    path = "$.infer_cfg.retriever"
    return found | {f"{path}.{key}": RETRIEVER_IDLE[key] for key in retriever if key in RETRIEVER_IDLE}


def _parts(values: Mapping[str, Any], kind: str) -> Iterator[tuple[Keys, Mapping[str, Any], str, str]]:
    inference = values["infer_cfg"]
    listed: list[tuple[Keys, Any, str, str]] = [
        (READER, values["reader_cfg"], "reader_cfg", "$.reader_cfg"),
        (INFERENCE, inference, "infer_cfg", "$.infer_cfg"),
        (EVALUATION, values.get("eval_cfg"), "eval_cfg", "$.eval_cfg"),
    ]
    if kind:
        listed.append((INFERENCERS[kind], inference.get("inferencer"), "the inferencer", "$.infer_cfg.inferencer"))
    return (each for each in listed if isinstance(each[1], Mapping))


# -- models -------------------------------------------------------------------------------------------------------

_RETRIES = "engines try again by themselves"
_ENGINES = "it belongs to the engine that upstream runs the model with"
_LENGTH = "prompts that are too long lose demos, and are said to be too long where that does not help"
_FASTCHAT = "FastChat's templates are not here; write the same as a meta_template"

_MODEL_USED = """type abbr path model batch_size max_out_len max_seq_len model_kwargs gen_config generation_kwargs
        tokenizer_path peft_path meta_template stop_words end_str pred_postprocessor key api_key query_per_second
        openai_api_base base_url url host_ip host_port enable_ssl extra_body openai_extra_kwargs claude_extra_kwargs
        temperature top_p top_k seed max_completion_tokens"""

MODEL_KEYS = Keys(
    frozenset(_MODEL_USED.split()),
    {
        **dict.fromkeys(("retry", "timeout", "status_code_mappings", "http_client_cfg"), _RETRIES),
        **dict.fromkeys(("engine_config", "backend", "tokenizer_kwargs", "peft_kwargs", "num_extra_tokens"), _ENGINES),
        **dict.fromkeys(("mode", "drop_middle"), _LENGTH),
        **dict.fromkeys(("run_cfg", "sync_rank", "max_workers", "concurrency"), "engines take what the machine has"),
        **dict.fromkeys(("request_rate", "use_timestamp", "traffic_cfg"), "this is how AISBench measures speed"),
        **dict.fromkeys(("hf_cache_dir", "ms_cache_dir"), "models are looked for where settings say"),
        **dict.fromkeys(("rpm_verbose", "verbose", "attr"), "it changes what upstream prints or reports"),
        **dict.fromkeys(("stream", "stream_chunk_size", "finish_reason_confirm"), "answers are the same in pieces"),
        "batch_padding": "answers do not depend on the batch",
        "pad_token_id": "answers do not depend on the batch",
        "tokenizer_only": "nothing but the tokenizer is loaded where nobody is asked",
        "trust_remote_code": "code of a model runs only for users who say so themselves",
        "extract_pred_after_decode": "answers never begin with their prompt here",
        "think_tag": "thoughts are kept apart from answers",
        "logprobs": "log-probabilities are asked for where an exam needs them",
        "top_logprobs": "log-probabilities are asked for where an exam needs them",
        "returns_tool_calls": "no tools are called",
    },
    {
        "fastchat_template": _FASTCHAT,
        "use_fastchat_template": _FASTCHAT,
        "lora_path": "the weights beside the model would be left out",
        "min_out_len": "engines here have no least number of tokens",
        "thinking": "Claude's own thoughts are asked for with --model-args",
        "chat_template_kwargs": "the chat template would be another one; extra_body of a server takes them",
        "org": "the key says whose account it is",
        "openai_proxy_url": "proxies are set for the whole machine (HTTPS_PROXY)",
        "extra_headers": "headers are set with --model-args",
        "image_format": "images are sent as they are",
        "image_min_edge": "images are sent as they are",
    },
    "take it out, or choose the engine yourself: --model NAME --model-args K=V",
)

GENERATION_REFUSED: Reasons = {
    "num_return_sequences": "several answers to one row are asked for by n=… of the dataset",
    "n": "several answers to one row are asked for by n=… of the dataset",
    "num_beams": "engines here do not search with beams",
    "ignore_eos": "answers would not end where the model ends them",
}
"""Arguments of generation that would change the answers and that engines are not told; harmless where they are off."""

_OFF = (None, False, 0, 1)  # 1 is "off" for beams and numbers of answers, 0 and False for the rest


def model_key_problems(values: Mapping[str, Any], generation: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """Yield keys of a model that are refused or unknown; what is switched off is taken.

    Args:
        values: The model.
        generation: How it generates: ``gen_config`` and its like.
    """
    on = {key: value for key, value in values.items() if key not in MODEL_KEYS.refused or not _is_off(value)}
    where = location_of(values)
    for problem in MODEL_KEYS.problems(on, "the model", "$"):
        yield problem.at(where, "$")
    for key, why in GENERATION_REFUSED.items():
        if key in generation and not _is_off(generation[key]):
            yield Diagnostic(f"'{key}' of the model cannot be honoured", where, f"$.generation_kwargs.{key}", why)


def _is_off(value: Any) -> bool:
    return value in _OFF or value in ("", "auto", {}, [])
