"""The version of a dataset's prompt in tables: the start of a digest of its ``infer_cfg``, as upstream computes it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from proctor.dialects.aisbench.signatures import project_named
from proctor.dialects.aisbench.values import dotted_name, short_name

NO_VERSION = "/"
_SHOWN = 6  # hexadecimal digits, as upstream shows them in its tables
_ICL = "ais_bench.benchmark.openicl"
_DEFINED: Mapping[str, str] = {
    **{
        name: f"{_ICL}.icl_prompt_template.icl_prompt_template{file}.{name}"
        for name, file in (
            ("PromptTemplate", ""),
            ("MultiTurnPromptTemplate", "_multiturn"),
            ("MMPromptTemplate", "_mm"),
        )
    },
    **{
        f"{name}Retriever": f"{_ICL}.icl_retriever.icl_{file}_retriever.{name}Retriever"
        for name, file in (("Zero", "zero"), ("FixK", "fix_k"), ("Random", "random"))
    },
    **{
        name: f"{_ICL}.icl_inferencer.{file}.{name}"
        for name, file in (
            ("GenInferencer", "icl_gen_inferencer"),
            ("MultiTurnGenInferencer", "icl_multiturn_inferencer"),
            ("LMMGenInferencer", "icl_lmm_gen_inferencer"),
            ("BFCLV3FunctionCallInferencer", "icl_bfcl_v3_inferencer"),
            ("PPLInferencer", "ppl_inferencer"),
        )
    },
}
"""Where AISBench's classes are defined, whatever module a config takes them from: it writes its configs so."""


def prompt_version(dataset: Mapping[str, Any]) -> str:
    """Return the version of a dataset config: six hexadecimal digits, or ``/`` where it has no ``infer_cfg``.

    The ids of fixed examples count as part of the inferencer, so that versions stay what they once were.
    """
    return prompt_digest(dataset)[:_SHOWN]


def table_version(dataset: Mapping[str, Any]) -> str:
    """Return the version that tables show.

    ``ais_bench`` writes a config anew before it runs it: classes by the modules that define them, and the retriever
    with a copy of the templates. Its digests are of that.
    """
    infer = dataset.get("infer_cfg")
    if project_named(dataset.get("type")) != "aisbench" or not isinstance(infer, Mapping):
        return prompt_version(dataset)
    retriever = infer.get("retriever")
    if isinstance(retriever, Mapping):
        copies = {name: infer[name] for name in ("prompt_template", "ice_template") if name in infer}
        infer = {**infer, "retriever": {**retriever, **copies}}
    return prompt_version({**dataset, "infer_cfg": _defined(infer)})


def _defined(value: Any) -> Any:
    """Return a part of a config with AISBench's classes named by the modules that define them."""
    if isinstance(value, Mapping):
        return {key: _class(each) if key == "type" else _defined(each) for key, each in value.items()}
    return [_defined(each) for each in value] if isinstance(value, list | tuple) else value


def _class(kind: Any) -> Any:
    name = dotted_name(kind)
    return _DEFINED.get(name.rpartition(".")[2], kind) if name.startswith("ais_bench.") else kind


def prompt_digest(dataset: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> str:
    """Return the whole digest behind :func:`prompt_version`; of several that of all, ``/`` without a prompt."""
    if not isinstance(dataset, Mapping):
        if len(dataset) == 1:
            return prompt_digest(dataset[0])
        return hashlib.sha256(",".join(map(prompt_digest, dataset)).encode()).hexdigest()
    if not dataset.get("infer_cfg"):
        return NO_VERSION
    infer = {name: dict(part) if isinstance(part, Mapping) else part for name, part in dataset["infer_cfg"].items()}
    if "reader_cfg" in infer:
        infer = _old_style(infer, dataset.get("reader_cfg") or {})
    retriever, inferencer = infer.get("retriever"), infer.get("inferencer")
    if isinstance(retriever, dict) and "fix_id_list" in retriever and isinstance(inferencer, dict):
        inferencer["fix_id_list"] = retriever.pop("fix_id_list")
    text = json.dumps(_plain(infer), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _old_style(infer: dict[str, Any], reader: Mapping[str, Any]) -> dict[str, Any]:
    """Return an ``infer_cfg`` that holds its own ``reader_cfg`` as upstream rewrites it."""
    infer["reader"] = {
        "type": "DatasetReader",
        "input_columns": reader.get("input_columns"),
        "output_column": reader.get("output_column"),
    }
    own = infer["reader_cfg"] if isinstance(infer["reader_cfg"], Mapping) else {}
    for split, name in (("train_split", "index_split"), ("test_split", "test_split")):
        if split in own and isinstance(infer.get("retriever"), dict):
            infer["retriever"][name] = own[split]
    return {
        name: {**part, "type": short_name(part["type"])} if isinstance(part, dict) and "type" in part else part
        for name, part in infer.items()
    }


def _plain(value: Any) -> Any:
    """Return a value of a config as JSON has it; imported names as their dotted names."""
    if isinstance(value, Mapping):
        if len({type(key) for key in value}) > 1:  # JSON's keys are text; sorting needs keys of one type
            return {str(key): _plain(each) for key, each in value.items()}
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return dotted_name(value)


_MODES = (("GenInferencer", "gen"), ("PPLInferencer", "ppl"), ("PPLOnlyInferencer", "ppl"), ("LLInferencer", "ll"))


def mode_of(dataset: Mapping[str, Any]) -> str:
    """Return how a dataset is asked, as tables show it: ``gen``, ``ppl``, ``ll`` or ``unknown``."""
    inferencer = (dataset.get("infer_cfg") or {}).get("inferencer") or {}
    name = short_name(inferencer.get("type", ""))
    return next((mode for part, mode in _MODES if part in name), "unknown")
