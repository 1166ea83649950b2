"""Checks the keys of a config: honoured, without effect (with the reason), or refused.

Nothing that a config says is dropped in silence: a key is used; or it stands in one of these tables with the reason why
it changes no answer and no score; or the config is refused, with the place of the key and the closest one there is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from proctor.dialects.aisbench.datasets import type_choices
from proctor.dialects.aisbench.key_tables import Keys, home_of, homes_of, is_default
from proctor.dialects.aisbench.signatures import Signature, project_named, signature_of
from proctor.dialects.aisbench.values import location_of, short_name
from proctor.errors import Diagnostic, did_you_mean
from proctor.slips import slips


def inferencer_keys(kind: str, inferencer: Mapping[str, Any]) -> Keys:
    """Return what may stand in an inferencer.

    Args:
        kind: What it asks.
    """
    if short_name(inferencer.get("type", "")) == "SCInferencer":
        return Keys.of("vote")
    known = Keys.of("gen" if kind == "rounds" else kind)
    if inferencer.get("multiround") is True:
        return Keys(
            known.used - {"max_seq_len"},
            {**known.idle, "max_seq_len": "the prompt is a conversation, which is sent whole"},
            known.refused,
        )
    if project_named(inferencer.get("type")) != "aisbench":
        return known
    idle = {key: why for key, why in Keys.of("inferencer of AISBench").idle.items() if key in known.used}
    return Keys(known.used - idle.keys(), {**known.idle, **idle}, known.refused)


DATASET_PARTS = Keys.of("dataset").used
"""Keys of a dataset that are not arguments of its type."""
DATASET_IDLE = Keys.of("dataset").idle
"""Arguments that configs give to dataset types whose rows do not depend on them."""
_SAME_ROWS = "the dataset type takes it, and its rows are the same whatever it is"
_OF_PAIRS = ("mode", "base_models", "given_pred", "infer_order", "summarizer")


def dataset_key_problems(values: Mapping[str, Any], arguments: Collection[str] | None) -> Iterator[Diagnostic]:
    """Yield keys of a dataset that are refused or unknown, and arguments of its type that are missing.

    Args:
        values: The dataset.
        arguments: What its type reads here; ``None`` where that is not known.
    """
    where, kind = location_of(values), values.get("type")
    taken = signature_of("datasets", kind)
    compared = _OF_PAIRS if _compares(values) else ()
    for key, value in values.items():
        if key in DATASET_PARTS or key in compared or (arguments is not None and key in arguments):
            continue
        if owner := _owner(key, arguments, taken):
            hint = f"{owner}=dict({key}=…)"
            yield Diagnostic(f"'{key}' is a key of {owner}, not of the dataset", where, f"$.{key}", hint=hint)
        elif arguments is not None and _is_lost(key, value, taken):
            why = "the class reads it, and the rows here are made without it"
            yield Diagnostic(f"'{key}' of {short_name(kind)} cannot be honoured", where, f"$.{key}", why, "take it out")
        elif taken is not None and taken.is_open and arguments is None and (near := slips(str(key), _LOADING)):
            hint = did_you_mean(str(key), near)
            yield Diagnostic(f"the dataset type knows no '{key}'", where, f"$.{key}", hint=hint)
        elif not _is_argument(key, arguments, taken):
            known = [*sorted({*(arguments or ()), *(taken.names if taken is not None else ())}), *sorted(DATASET_PARTS)]
            hint = did_you_mean(str(key), known) or home_of(str(key), "$") or f"it has {', '.join(known)}"
            yield Diagnostic(f"the dataset type knows no '{key}'", where, f"$.{key}", hint=hint)
    yield from _word_problems(values)
    if taken is not None and arguments is not None and where is not None:  # a program may bring the rows itself
        for key in taken.needed:
            if key not in values and key in arguments:
                yield Diagnostic(f"{short_name(kind)} needs '{key}'", where, "$", hint=f"{key}=…")


def _word_problems(values: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """Yield arguments of a dataset type that are none of the words that it takes."""
    for key, words in type_choices(values.get("type")).items():
        if key in values and values[key] not in words:
            hint = did_you_mean(str(values[key]), words) or f"choose one of {', '.join(words)}"
            yield Diagnostic(f"there is no {key} {values[key]!r}", location_of(values), f"$.{key}", hint=hint)


_LOADING = frozenset(("abbr", "path", "name", "split", "data_files", "data_dir", "revision", *DATASET_PARTS))
"""What datasets have whose class hands everything on to ``datasets.load_dataset``."""


def _owner(key: str, arguments: Collection[str] | None, taken: Signature | None) -> str:
    """Return the part of a config that a key belongs to, where a class would take anything; else nothing."""
    if taken is None or not taken.is_open or key in (*taken.names, *(arguments or ()), *DATASET_IDLE):
        return ""
    return next(iter(homes_of(key, "owners")), "")


def _compares(values: Mapping[str, Any]) -> bool:
    """Whether a dataset is scored by a judge of pairs, who reads some of its keys whatever its type is."""
    evaluation = values.get("eval_cfg")
    judge = evaluation.get("evaluator") if isinstance(evaluation, Mapping) else None
    return isinstance(judge, Mapping) and short_name(judge.get("type", "")) == "LMEvaluator"


def _is_lost(key: str, value: Any, taken: Signature | None) -> bool:
    """Whether the class of a type reads an argument that nothing here reads, and it is not its default."""
    if taken is None or key in DATASET_IDLE:
        return False
    return key in taken.names and not is_default(taken, key, value)


def _is_argument(key: str, arguments: Collection[str] | None, taken: Signature | None) -> bool:
    """Whether a dataset type takes an argument: what is read here, what its class takes, what does not matter."""
    if arguments is None and (taken is None or taken.is_open):
        return True
    if key in (arguments or ()) or (taken is not None and key in taken.names):
        return True
    return key in DATASET_IDLE and (taken is None or taken.is_open)


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
        unread = [key for key in values if key not in arguments and key not in DATASET_PARTS]
        found |= {f"$.{key}": DATASET_IDLE.get(key, _SAME_ROWS) for key in unread}
    for keys, part, _, path in _parts(values, kind):
        found |= keys.without_effect(part, path)
    retriever = values["infer_cfg"].get("retriever") or {}
    return found | Keys.of("retriever").without_effect(retriever, "$.infer_cfg.retriever")


def _parts(values: Mapping[str, Any], kind: str) -> Iterator[tuple[Keys, Mapping[str, Any], str, str]]:
    inference = values["infer_cfg"]
    listed: list[tuple[Keys, Any, str, str]] = [
        (Keys.of("reader_cfg"), values["reader_cfg"], "reader_cfg", "$.reader_cfg"),
        (Keys.of("infer_cfg"), inference, "infer_cfg", "$.infer_cfg"),
        (Keys.of("eval_cfg"), values.get("eval_cfg"), "eval_cfg", "$.eval_cfg"),
    ]
    if kind:
        inferencer = inference.get("inferencer") or {}
        listed.append((inferencer_keys(kind, inferencer), inferencer, "the inferencer", "$.infer_cfg.inferencer"))
    return (each for each in listed if isinstance(each[1], Mapping))
