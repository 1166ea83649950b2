"""The effect of a run's options on a recipe: a changed recipe, or a refusal with its reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from proctor.dialects.unitxt.repeats import takes_repeats
from proctor.formats import Format
from proctor.formats.chat import ChatAPIFormat
from proctor.ir import Decoding
from proctor.recipes.honours import Honours, declared, reduces
from proctor.recipes.option import Entry, Honoured, Refused, no_effect
from proctor.recipes.options import ExamOptions
from proctor.recipes.recipe import DatasetRecipe, default_format
from proctor.recipes.row_changes import RowParts, honours_of_changes

if TYPE_CHECKING:
    from proctor.dialects.aisbench.models import ModelConfig

SMALLEST_POOL = 100
"""Rows that demos are drawn from where a run asks for demos and the recipe names no pool: Unitxt's usual size."""

_WRITES_NOTHING = "it compares choices and writes nothing"


def honours_of(recipe: DatasetRecipe, changed: DatasetRecipe, options: ExamOptions) -> Honours:
    """Return which options a recipe honours; options that exclude each other are refused, too.

    Args:
        recipe: The recipe.
        changed: The recipe as the options change it.
        options: What the run changes.
    """
    compares = changed.request == "choose"
    return {
        **declared("unitxt"),
        "apply_chat_template": _unless(
            options.meta_template is not None, "a meta template lays its prompts out", "give one of the two"
        ),
        "chat_template_model": _unless(
            not options.apply_chat_template, "no chat template is applied", "add --apply-chat-template"
        ),
        "demos_as_turns": _turns(_format_of(changed)),
        "decoding": no_effect(_WRITES_NOTHING) if compares else Honoured(),
        "truncated": no_effect(_WRITES_NOTHING) if compares else Honoured("for answers that were cut off"),
        "answers": no_effect(_WRITES_NOTHING) if compares else Honoured("for models that think"),
        "choices_as_text": Honoured() if recipe.request == "choose" else no_effect("it compares no choices"),
        "repeats": _repeats(changed),
        **honours_of_changes(parts_of(changed)),
        "reduce": _reduce(changed, options),
    }


def parts_of(recipe: DatasetRecipe) -> RowParts:
    """Return what the fields of a recipe's rows are: what its task calls them, and its templates name as choices."""
    task = recipe.task
    if task is None:
        return RowParts()
    asked = [name for name in task.input_types if name in task.augmentable_inputs] or list(task.input_types)
    for template in recipe.chosen_templates():
        choices, target = getattr(template, "choices_field", ""), getattr(template, "target_field", "")
        if choices in task.input_types and target in task.reference_types:
            copy = f"reference_fields/{choices}" if choices in task.reference_types else ""
            inputs = tuple(f"input_fields/{name}" for name in asked if name != choices)
            return RowParts(inputs, (f"input_fields/{choices}",), f"reference_fields/{target}", copy=copy)
    return RowParts(tuple(f"input_fields/{name}" for name in asked))


def _unless(refused: bool, why: str, hint: str = "leave the option out for this exam") -> Entry:
    return Refused(why, hint) if refused else Honoured()


def _repeats(recipe: DatasetRecipe) -> Entry:
    if recipe.request == "choose":
        return no_effect("it compares log-probabilities, which do not vary")
    if takes_repeats(recipe):
        return Honoured("all answers go to the processor or metric that takes several")
    return Honoured("each repeat is graded by itself, and --reduce makes one score of them")


def _reduce(recipe: DatasetRecipe, options: ExamOptions) -> Entry:
    if recipe.request == "choose":
        return no_effect("it compares log-probabilities, which do not vary")
    if takes_repeats(recipe):
        return Refused("a processor or metric of the recipe makes one answer of several already")
    return reduces(options)


def _turns(form: Format) -> Entry:
    if isinstance(form, ChatAPIFormat):
        return Honoured()
    if form.has_own_turns:
        return Refused("its meta template says how demos are laid out")
    return Refused("its format lays prompts out as one text", "add --apply-chat-template")


def _format_of(recipe: DatasetRecipe) -> Format:
    return recipe.format or default_format()


def with_options(recipe: DatasetRecipe, options: ExamOptions) -> DatasetRecipe:
    """Return a recipe as a run changes it; the recipe itself stays as it is.

    Raises:
        ProctorError: The changed recipe cannot work.
    """
    changes = {**_demos(recipe, options), **_layout(recipe, options)}
    if options.system_prompt is not None:
        changes["system_prompt"] = {"__type__": "textual_system_prompt", "text": options.system_prompt}
    if options.template is not None:
        changes |= {"template": options.template, "template_card_index": None}
    if options.choices_as_text:
        changes["request"] = "generate"
    if options.group_by:
        changes["group_by"] = [*recipe.group_by, *(each for each in options.group_by if each not in recipe.group_by)]
    if not changes:
        return recipe
    twin = recipe.model_copy()
    for name, value in changes.items():
        setattr(twin, name, value)
    twin.verify()
    return twin


def _demos(recipe: DatasetRecipe, options: ExamOptions) -> dict[str, Any]:
    if options.num_demos is None:
        return {}
    changes: dict[str, Any] = {"num_demos": options.num_demos}
    if options.num_demos and recipe.demos_pool_size is None and not recipe.demos_pool:
        changes["demos_pool_size"] = max(SMALLEST_POOL, options.num_demos + 1)
    return changes


def _layout(recipe: DatasetRecipe, options: ExamOptions) -> dict[str, Any]:
    """Return the format that a run asks for."""
    form: Any = None
    if options.meta_template is not None:
        form = {"__type__": "meta_template", **options.meta_template}
    elif options.apply_chat_template and options.chat_template_model:
        form = {"__type__": "hf_system_format", "model_name": options.chat_template_model}
    elif options.apply_chat_template:
        form = {"__type__": "chat_api_format"}
    if options.demos_as_turns is not None and options.meta_template is None:
        if form is not None:
            form["demos_as_turns"] = options.demos_as_turns
        elif isinstance(own := _format_of(recipe), ChatAPIFormat):
            form = own.model_copy()
            form.demos_as_turns = options.demos_as_turns
    return {} if form is None else {"format": form}


def decoding_of(recipe: DatasetRecipe, options: ExamOptions) -> Decoding:
    """Return how the model writes: as the recipe says, within the limits of its own config, as the run says."""
    model = _model(options)
    stop, most = tuple(recipe.stop or ()), recipe.max_tokens
    if model is not None:
        stop = tuple(dict.fromkeys((*stop, *model.stop)))
        most = model.max_out_len if most is None else most
    return options.decode(Decoding(max_tokens=most, temperature=recipe.temperature, stop=stop))


def longest_of(options: ExamOptions) -> int | None:
    """Return the most tokens of a prompt, where the model's config says so."""
    model = _model(options)
    return None if model is None else model.max_seq_len


def _model(options: ExamOptions) -> ModelConfig | None:
    if options.model_config is None:
        return None
    from proctor.dialects.aisbench.options import model_of  # configs are read by their own dialect

    return model_of(options.model_config)
