"""Inferencers of a config: what each asks of a model, how often, and in what manner."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from proctor.dialects.aisbench.model_keys import generation_problems
from proctor.dialects.aisbench.signatures import project_named, signature_of
from proctor.dialects.aisbench.values import known_name, location_of, short_name, shown
from proctor.errors import Diagnostic, did_you_mean

GENERATE, PPL, LL, CLP, CHAT, TEXT_PPL, CALL = "gen", "ppl", "ll", "clp", "chat", "text_ppl", "call"
ROUNDS = "rounds"
"""What an inferencer asks: an answer; the perplexity of each label's prompt; the likelihood of each label's
continuation; the probabilities of single-token choices; the turns of a conversation; the loss of a text by itself;
calls of functions; the open turns of a prompt, as one answer."""

INFERENCERS: Mapping[str, str] = {
    "GenInferencer": GENERATE,
    "ParallelGenInferencer": GENERATE,
    "SCInferencer": GENERATE,
    "PPLInferencer": PPL,
    "PPLOnlyInferencer": TEXT_PPL,
    "LLInferencer": LL,
    "CLPInferencer": CLP,
    "ChatInferencer": CHAT,
    "ParallelChatInferencer": CHAT,
    "ChatMLInferencer": CHAT,
    "ParallelChatMLInferencer": CHAT,
    "MultiTurnGenInferencer": CHAT,
    "BFCLV3FunctionCallInferencer": CALL,
}
_ELSEWHERE: Mapping[str, str] = {
    "AgentInferencer": "it lets the model call tools and run code",
    "AttackInferencer": "it searches for attacks with the model in the loop",
    "ToTInferencer": "it searches a tree of thoughts with the model in the loop",
    "LMMGenInferencer": "it makes images and films",
    "MinKPercentInferencer": "it looks at single tokens of a text",
    "InferencePPLOnlyInferencer": "it measures single tokens of a response",
    "SWCELossInferencer": "it measures texts in sliding windows",
}
CHAT_MODES = ("last", "every", "every_with_gt")


@dataclass(frozen=True, slots=True)
class Inferencer:
    """An inferencer: the kind of requests, and its arguments.

    Attributes:
        kind: :data:`GENERATE` …
        max_out_len: Most tokens of an answer, where the dataset says so.
        stop: Texts that end an answer.
        labels: Labels to compare, where the dataset says so (``PPL``).
        normalizing: What replaces the context in the normaliser of a perplexity.
        mode: Which turns of a conversation the model takes.
        max_seq_len: Longest prompt; examples are dropped until it fits.
        count: Answers to each prompt, of which the most frequent counts (``SCInferencer``).
        sampling: How they are written (its ``generation_kwargs``).
    """

    kind: str
    max_out_len: int | None = None
    stop: tuple[str, ...] = ()
    labels: tuple[Any, ...] | None = None
    normalizing: str | None = None
    mode: str = "last"
    max_seq_len: int | None = None
    count: int | None = None
    sampling: Mapping[str, Any] = field(default_factory=dict)


def inferencer_problems(inferencer: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """Yield what is wrong with an inferencer that the config alone can tell."""
    where, name = location_of(inferencer), known_name(inferencer["type"])
    path = "$.infer_cfg.inferencer"
    if name in _ELSEWHERE:
        yield Diagnostic(f"{name} cannot be run here", path=path, location=where, why=_ELSEWHERE[name])
    elif name not in INFERENCERS:
        hint = did_you_mean(name, INFERENCERS) or f"there are {', '.join(INFERENCERS)}"
        yield Diagnostic(f"there is no inferencer '{name}'", path=path, location=where, hint=hint)
    mode = inferencer.get("infer_mode", "last")
    if mode not in CHAT_MODES:
        hint = did_you_mean(str(mode), CHAT_MODES) or f"choose one of {', '.join(CHAT_MODES)}"
        yield Diagnostic(f"there is no infer_mode {mode!r}", path=f"{path}.infer_mode", location=where, hint=hint)
    for key in ("max_out_len", "max_seq_len"):
        value = inferencer.get(key)
        if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value <= 0):
            yield Diagnostic(
                f"{key} is a number of tokens", path=f"{path}.{key}", location=where, why=f"it is {value!r}"
            )
    yield from _sampling_problems(inferencer)
    stop, labels = inferencer.get("stopping_criteria"), inferencer.get("labels")
    if stop is not None and not (
        isinstance(stop, str) or (isinstance(stop, list | tuple) and all(isinstance(each, str) for each in stop))
    ):
        why = f"it is {shown(stop)}"
        yield Diagnostic("stopping_criteria is a list of texts", where, f"{path}.stopping_criteria", why)
    if labels is not None and not isinstance(labels, list | tuple):
        yield Diagnostic("labels is a list", where, f"{path}.labels", f"it is {shown(labels)}")


def _sampling_problems(inferencer: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """Yield what is wrong with how often, and in what manner, an inferencer has answers written."""
    where, path = location_of(inferencer), "$.infer_cfg.inferencer"
    count, sampling = inferencer.get("sc_size", 1), inferencer.get("generation_kwargs", {})
    if not isinstance(count, int) or isinstance(count, bool) or count < 1:
        yield Diagnostic("sc_size is a number of answers", where, f"{path}.sc_size", f"it is {count!r}")
    if not isinstance(sampling, Mapping):
        why = f"it is {shown(sampling)}"
        yield Diagnostic("generation_kwargs is a dictionary", where, f"{path}.generation_kwargs", why)
    else:
        yield from generation_problems(sampling, where, f"{path}.generation_kwargs")
    rounds = inferencer.get("multiround", False)
    if not isinstance(rounds, bool):
        yield Diagnostic("multiround is True or False", where, f"{path}.multiround", f"it is {rounds!r}")


def inferencer_of(values: Mapping[str, Any]) -> Inferencer:
    """Return what a checked inferencer asks."""
    stop = values.get("stopping_criteria") or ()
    labels, name = values.get("labels"), short_name(values["type"])
    votes = name == "SCInferencer"
    return Inferencer(
        ROUNDS if values.get("multiround") else INFERENCERS[name],
        values.get("max_out_len"),
        (stop,) if isinstance(stop, str) else tuple(stop),
        tuple(labels) if labels else None,
        None if project_named(values["type"]) == "aisbench" else values.get("normalizing_str"),
        values.get("infer_mode") or _own_mode(values["type"]),
        values.get("max_seq_len"),
        values.get("sc_size", 1) if votes else None,
        _sampling(values.get("generation_kwargs", {})) if votes else {},
    )


def _sampling(generation: Mapping[str, Any]) -> dict[str, Any]:
    """Return how answers are written, without the switch of transformers' that says whether anything is drawn."""
    found = {key: value for key, value in generation.items() if key != "do_sample" and value is not None}
    if generation.get("do_sample") is not False:
        return found
    return {key: value for key, value in found.items() if key not in ("top_p", "top_k")} | {"temperature": 0.0}


def _own_mode(kind: Any) -> str:
    """Return which turns of a conversation a class lets the model take by itself: AISBench's takes every turn."""
    found = signature_of("inferencers", kind)
    own = found.defaults.get("infer_mode") if found is not None else None
    return own if isinstance(own, str) else "last"
