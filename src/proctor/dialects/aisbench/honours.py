"""The options of a run that a dataset of a config honours: each has its effect, has none and why, or is refused."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import takewhile
from string import ascii_uppercase
from typing import Final

from proctor.dialects.aisbench.components import build_retriever
from proctor.dialects.aisbench.config import DatasetConfig
from proctor.dialects.aisbench.datasets.reader import columns_of
from proctor.dialects.aisbench.inferencers import CALL, CHAT, CLP, GENERATE, LL, PPL, ROUNDS, TEXT_PPL
from proctor.dialects.aisbench.options import DatasetOptions, changed_inference
from proctor.dialects.aisbench.values import short_name
from proctor.recipes.honours import Honours, declared, reduces
from proctor.recipes.option import Entry, Honoured, Refused, no_effect
from proctor.recipes.options import ExamOptions
from proctor.recipes.row_changes import RowParts, honours_of_changes

_ASKS_BY = {
    GENERATE: "the model writes its answer",
    PPL: "losses of prompts are compared",
    TEXT_PPL: "losses of texts are measured",
    LL: "likelihoods of a text are compared",
    CLP: "probabilities of choices are compared",
    CHAT: "the model takes its turns in a conversation",
    CALL: "the model calls functions",
    ROUNDS: "the model takes the open turns of a conversation",
}
_AS_MESSAGES = (CHAT, CALL)  # what is asked with the messages of the rows, which no template or retriever makes


def honours_of(config: DatasetConfig, options: ExamOptions, changed: DatasetOptions) -> Honours:
    """Return an entry for every option of a run.

    Args:
        config: The dataset.
        options: What the run gives.
        changed: What that means for the dataset.
    """
    return {
        **declared("aisbench"),
        **honours_of_changes(parts_of(config)),
        "num_demos": _num_demos(config, options),
        "seed": _seed(config, changed),
        "apply_chat_template": _chat_template(config),
        "meta_template": _meta_template(config),
        "demos_as_turns": _demos_as_turns(config, options, changed),
        "system_prompt": _system_prompt(config),
        "decoding": _written(config, "replaces what the dataset and the model say"),
        "truncated": _written(config, "for answers that were cut off"),
        "answers": _written(config, "for models that think"),
        "choices_as_text": _choices_as_text(config, options),
        "reduce": Honoured("beside what the dataset says of its runs") if config.count > 1 else reduces(options),
    }


def parts_of(config: DatasetConfig) -> RowParts:
    """Return what the columns of a dataset are, by its ``reader_cfg``: choices are columns A, B … or one of a list."""
    inputs, output = columns_of(config.reader)
    letters = tuple(takewhile(lambda letter: letter in inputs, ascii_uppercase))
    choices = letters if len(letters) > 1 else tuple(each for each in ("choices", "options") if each in inputs)
    shown = tuple(name for name in inputs if name not in {*choices, output})
    return RowParts(shown, choices if output else (), output or "")


def _written(config: DatasetConfig, how: str) -> Entry:
    if _kind(config) in (GENERATE, CHAT, CALL, ROUNDS):
        return Honoured(how)
    return no_effect(f"nothing is written, {_ASKS_BY[_kind(config)]}")


def _kind(config: DatasetConfig) -> str:
    return config.inferencer.kind


def _part(config: DatasetConfig, name: str) -> Mapping[str, object]:
    found = config.inference.get(name)
    return found if isinstance(found, Mapping) else {}


def _has_demos(config: DatasetConfig, changed: DatasetOptions) -> bool:
    retriever = changed_inference(config.inference, changed).get("retriever") or {}
    return _kind(config) not in _AS_MESSAGES and short_name(retriever.get("type", "ZeroRetriever")) != "ZeroRetriever"


def _is_dialogue(template: Mapping[str, object]) -> bool:
    own = template.get("template")
    return "messages" in template or (
        isinstance(own, Mapping) and bool(own) and own.keys() <= {"begin", "round", "end"}
    )


def _num_demos(config: DatasetConfig, options: ExamOptions) -> Entry:
    if _kind(config) in _AS_MESSAGES:
        return Refused("a conversation has no demos")
    if not options.num_demos or _part(config, "ice_template"):
        return Honoured("so many of the examples that the retriever chooses")
    hint = "choose a few-shot config of it"
    if short_name(config.values.get("type", "")) in _TABLES:
        hint = "--input-column and --answer-column name the columns of a table, whose demos are its other rows"
    return Refused("the dataset has no ice_template, which says how demos are written", hint)


_TABLES: Final = frozenset({"CustomDataset", "CircularCustomDataset"})
"""Classes of datasets that are a file of the user's own, which may be asked without a config as well."""


def _seed(config: DatasetConfig, changed: DatasetOptions) -> Entry:
    retriever = changed_inference(config.inference, changed).get("retriever")
    name = short_name((retriever or {}).get("type", "ZeroRetriever"))
    if not _has_demos(config, changed):
        return Honoured("no effect here: no demos are drawn")
    if not build_retriever(retriever).is_random:
        return Honoured(f"no effect here: {name} draws nothing at random")
    return Honoured(f"{name} draws from it; rows that a test_range draws stay those of the config")


def own_seed(config: DatasetConfig, changed: DatasetOptions) -> int | None:
    """Return the seed of the config's own draws, ``None`` where it draws nothing."""
    if not _has_demos(config, changed):
        return None
    retriever = build_retriever(changed_inference(config.inference, changed).get("retriever"))
    return int(retriever.seed) if retriever.is_random and hasattr(retriever, "seed") else None


def _chat_template(config: DatasetConfig) -> Entry:
    if _kind(config) in (PPL, LL, TEXT_PPL):
        return Refused(
            f"{_ASKS_BY[_kind(config)]}, and those are of texts, not of chat messages",
            "choose the config that lets the model write (…_gen)",
        )
    return Honoured("no effect here: a conversation is chat messages already" if _kind(config) in _AS_MESSAGES else "")


def _meta_template(config: DatasetConfig) -> Entry:
    if _kind(config) == CALL:
        return Honoured("no effect here: the questions are messages already")
    templates = [each for name in ("prompt_template", "ice_template") if (each := _part(config, name))]
    if any(_is_dialogue(each) or _maps_labels_to_dialogues(each) for each in templates):
        return Honoured("lays the dialogues of prompts out")
    return Honoured("no effect here: the prompts are texts, not dialogues")


def _maps_labels_to_dialogues(template: Mapping[str, object]) -> bool:
    own = template.get("template")
    return isinstance(own, Mapping) and any(isinstance(each, Mapping) for each in own.values())


def _demos_as_turns(config: DatasetConfig, options: ExamOptions, changed: DatasetOptions) -> Entry:
    if not _has_demos(config, changed):
        return Honoured("no effect here: no demos are shown")
    if not changed.as_messages:
        return Honoured("no effect here: prompts are texts without --apply-chat-template")
    is_dialogue = _is_dialogue(_part(config, "ice_template"))
    if is_dialogue is (options.demos_as_turns is not False):
        return Honoured(
            "no effect here: the demos are turns already" if is_dialogue else "no effect here: they are not"
        )
    if is_dialogue:
        return Refused("the ice_template writes each demo as turns", "choose a config whose ice_template is a text")
    return Refused("the ice_template writes each demo as a text", "choose a config whose ice_template is a dialogue")


def _system_prompt(config: DatasetConfig) -> Entry:
    if _kind(config) == CALL:
        return Refused("the system prompt says how functions are called")
    if _kind(config) == CHAT and not _is_dialogue(_part(config, "prompt_template")):
        return Refused("the conversation stands in the rows, and no template opens it")
    return Honoured("opens every prompt")


def _choices_as_text(config: DatasetConfig, options: ExamOptions) -> Entry:
    if _kind(config) in (GENERATE, CHAT, CALL, ROUNDS) or options.choices_as_text is False:
        return Honoured(f"no effect here: {_ASKS_BY[_kind(config)]}")
    return Refused(f"{_ASKS_BY[_kind(config)]}", "choose the config that lets the model write (…_gen)")
