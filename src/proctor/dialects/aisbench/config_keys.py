"""Which keys of a config have an effect here, which have none and why, and which cannot be honoured.

Nothing that a config says is dropped in silence: a key is used; or it stands in one of these tables with the reason why
it changes no answer and no score; or the config is refused, with the place of the key and the closest one there is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from proctor.dialects.aisbench.signatures import ELSEWHERE, Signature, project_named, signature_of
from proctor.dialects.aisbench.values import location_of, short_name
from proctor.errors import Diagnostic, Location, did_you_mean
from proctor.slips import slips

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
                hint = did_you_mean(str(key), self.used) or home_of(str(key), path)
                hint = hint or f"it has {', '.join(sorted(self.used))}"
                yield Diagnostic(f"{what} knows no '{key}'", where, f"{path}.{key}", hint=hint)

    def of_class(
        self, values: Mapping[str, Any], what: str, path: str, taken: Signature | None
    ) -> Iterator[Diagnostic]:
        """Yield keys of a class's dictionary that are refused, or that the class does not take.

        Args:
            values: The dictionary.
            what: How messages call the class.
            path: Where it is in the dataset or model.
            taken: What the class takes; ``None`` where that is not known.
        """
        where = location_of(values)
        for key, value in values.items():
            place = f"{path}.{key}"
            if key in self.refused:
                yield Diagnostic(f"'{key}' of {what} cannot be honoured", where, place, self.refused[key], self.hint)
            elif taken is None or taken.is_open or key in taken.names:
                if key not in self.used and key not in self.idle and not _is_default(taken, key, value):
                    yield self._unread(key, what, place, where, taken)
            else:
                yield self._unread(key, what, place, where, taken)

    def _unread(self, key: str, what: str, place: str, where: Location | None, taken: Signature | None) -> Diagnostic:
        if taken is not None and key in taken.names:
            return Diagnostic(
                f"'{key}' of {what} cannot be honoured", where, place, "nothing here does what it asks for", self.hint
            )
        known = sorted(self.used | self.idle.keys() if taken is None or taken.is_open else taken.names)
        return Diagnostic(
            f"{what} knows no '{key}'", where, place, hint=did_you_mean(key, known) or f"it has {', '.join(known)}"
        )

    def idle_of_class(self, values: Mapping[str, Any], path: str, taken: Signature | None) -> dict[str, str]:
        """Return the keys of a class's dictionary that have no effect here, with the reasons."""
        return self.without_effect(values, path) | {
            f"{path}.{key}": _BY_ITSELF
            for key, value in values.items()
            if key not in self.used and key not in self.idle and _is_default(taken, key, value)
        }

    def without_effect(self, values: Mapping[str, Any], path: str) -> dict[str, str]:
        """Return the keys of a dictionary that have no effect here, with the reasons."""
        return {f"{path}.{key}": self.idle[key] for key in values if key in self.idle}


_BY_ITSELF = "it is what upstream has without it"


def _is_default(taken: Signature | None, key: str, value: Any) -> bool:
    """Whether a value is the one that the class has without it: saying it changes nothing."""
    if taken is None or key not in taken.defaults:
        return False
    default = taken.defaults[key]
    return default is not ELSEWHERE and type(value) is type(default) and value == default


def value_problem(
    values: Mapping[str, Any],
    key: str,
    rule: tuple[tuple[type, ...], float | None, float | None, str],
    path: str,
    where: Location | None,
) -> Iterator[Diagnostic]:
    """Yield a value that is of the wrong type, too small or too large; ``None`` is taken for left out.

    Args:
        values: The dictionary.
        key: The key of the value.
        rule: Types, least, most, and what it is in words.
        path: Where the value is.
        where: Where the dictionary was written.
    """
    value = values.get(key)
    if value is None:
        return
    kinds, least, most, what = rule
    fits = isinstance(value, kinds) and not (isinstance(value, bool) and bool not in kinds)
    if not fits or (least is not None and value < least) or (most is not None and value > most):
        yield Diagnostic(f"'{key}' is {what}", where, path, f"it is {value!r}"[:LONGEST_SHOWN])


LONGEST_SHOWN = 120
"""Characters of a value that a message shows."""

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
        frozenset({"type", "max_out_len", "max_seq_len", "stopping_criteria", "gen_field_replace_token", "multiround"}),
        {**_EVERY_INFERENCER, **_UNSAMPLED, "labels": "the model writes, nothing is compared"},
        _FEWEST,
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
    "call": Keys(
        frozenset({"type", "max_out_len", "max_seq_len"}),
        {
            **_EVERY_INFERENCER,
            **_UNSAMPLED,
            "stopping_criteria": "calls end by themselves",
            "gen_field_replace_token": "the questions are messages, without an open field",
            "labels": "nothing is compared",
        },
        _FEWEST,
    ),
}
"""By what an inferencer asks."""

_VOTING = Keys(
    frozenset({"type", "max_out_len", "max_seq_len", "gen_field_replace_token", "sc_size", "generation_kwargs"}),
    {**_EVERY_INFERENCER, "infer_type": _NOWHERE},
)
"""Of ``SCInferencer``, which reads how answers are written where it asks."""
_OF_ROUNDS = "the prompt is a conversation, which is sent whole"

_UNREAD = {
    "max_out_len": "AISBench's inferencers read none; max_out_len of the model counts where it says one",
    "max_seq_len": "AISBench's inferencers read none; max_seq_len of the model counts",
    "normalizing_str": "AISBench's inferencers read none",
    "stopping_criteria": "AISBench sends none; stop in the model's generation_kwargs is sent",
}
"""What inferencers of AISBench take and drop."""


def inferencer_keys(kind: str, inferencer: Mapping[str, Any]) -> Keys:
    """Return what may stand in an inferencer.

    Args:
        kind: What it asks.
        inferencer: It.
    """
    if short_name(inferencer.get("type", "")) == "SCInferencer":
        return _VOTING
    known = INFERENCERS["gen" if kind == "rounds" else kind]
    if inferencer.get("multiround") is True:
        return Keys(known.used - {"max_seq_len"}, {**known.idle, "max_seq_len": _OF_ROUNDS}, known.refused)
    if project_named(inferencer.get("type")) != "aisbench":
        return known
    idle = {key: why for key, why in _UNREAD.items() if key in known.used}
    return Keys(known.used - idle.keys(), {**known.idle, **idle}, known.refused)


DATASET_PARTS = frozenset(
    {"type", "abbr", "reader_cfg", "infer_cfg", "judge_infer_cfg", "eval_cfg", "k", "n", "clusters"}
)
"""Keys of a dataset that are not arguments of its type."""

_PAIRS = "OpenCompass' comparisons of several models read it; an evaluator of single answers does not"
_SAME_ROWS = "the dataset type takes it, and its rows are the same whatever it is"
_OF_PAIRS = ("mode", "base_models", "given_pred", "infer_order", "summarizer")
DATASET_IDLE: Reasons = {
    **dict.fromkeys(_OF_PAIRS, _PAIRS),
    **dict.fromkeys(("name", "setting_name", "local_mode", "prompt_mode", "cate"), _SAME_ROWS),
}
"""Arguments that configs give to dataset types whose rows do not depend on them."""


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
    if taken is not None and arguments is not None and where is not None:  # a program may bring the rows itself
        for key in taken.needed:
            if key not in values and key in arguments:
                yield Diagnostic(f"{short_name(kind)} needs '{key}'", where, "$", hint=f"{key}=…")


_LOADING = frozenset(("abbr", "path", "name", "split", "data_files", "data_dir", "revision", *DATASET_PARTS))
"""What datasets have whose class hands everything on to ``datasets.load_dataset``."""


def home_of(key: str, path: str) -> str:
    """Return a hint that names the part of a config where a key belongs; empty where it belongs here, or nowhere."""
    for part, keys in _homes().items():
        if key in keys and part != path.removeprefix("$.") and key not in _EVERYWHERE:
            return f"{key} is a key of {part}"
    return ""


_EVERYWHERE = ("type", "abbr", "path")


def _homes() -> dict[str, frozenset[str]]:
    return {
        "reader_cfg": READER.used,
        "infer_cfg": INFERENCE.used,
        "eval_cfg": EVALUATION.used,
        "infer_cfg.inferencer": INFERENCERS["gen"].used | INFERENCERS["chat"].used,
        "infer_cfg.retriever": frozenset({"fix_id_list", "ice_num", "ice_separator", "ice_eos_token"}),
        "infer_cfg.prompt_template": frozenset({"template", "ice_token", "sep_token"}),
        "the dataset": DATASET_PARTS,
        "a model": _OF_MODELS,
        "a model's generation_kwargs": frozenset(_UNSAMPLED) | {"num_return_sequences", "repetition_penalty", "stop"},
    }


_OF_MODELS = frozenset(
    ("generation_kwargs", "stream", "request_rate", "retry", "batch_size", "meta_template", "host_ip", "host_port")
)


def _owner(key: str, arguments: Collection[str] | None, taken: Signature | None) -> str:
    """Return the part of a config that a key belongs to, where a class would take anything; else nothing."""
    if taken is None or not taken.is_open or key in (*taken.names, *(arguments or ()), *DATASET_IDLE):
        return ""
    owned = {
        "reader_cfg": READER.used,
        "infer_cfg": INFERENCE.used,
        "infer_cfg.inferencer": INFERENCERS["gen"].used | _UNSAMPLED.keys() | {"stopping_criteria", "infer_mode"},
        "eval_cfg": EVALUATION.used | {"pred_role"},
        "models.generation_kwargs": {"num_return_sequences"},
    }
    return next((owner for owner, keys in owned.items() if key in keys), "")


def _compares(values: Mapping[str, Any]) -> bool:
    """Whether a dataset is scored by a judge of pairs, who reads some of its keys whatever its type is."""
    evaluation = values.get("eval_cfg")
    judge = evaluation.get("evaluator") if isinstance(evaluation, Mapping) else None
    return isinstance(judge, Mapping) and short_name(judge.get("type", "")) == "LMEvaluator"


def _is_lost(key: str, value: Any, taken: Signature | None) -> bool:
    """Whether the class of a type reads an argument that nothing here reads, and it is not its default."""
    if taken is None or key in DATASET_IDLE:
        return False
    return key in taken.names and not _is_default(taken, key, value)


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
        inferencer = inference.get("inferencer") or {}
        listed.append((inferencer_keys(kind, inferencer), inferencer, "the inferencer", "$.infer_cfg.inferencer"))
    return (each for each in listed if isinstance(each[1], Mapping))
