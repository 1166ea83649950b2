"""A written-out exam as a recipe of Unitxt."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from proctor.artifacts import Artifact, fetch_artifact
from proctor.dialects.conversion.converted import Loss
from proctor.dialects.conversion.gradings import Graded, Named, Reading, only_or_all
from proctor.dialects.conversion.sharing import name_strange, own_metric, plain, put_positions
from proctor.dialects.conversion.written import CHOICES, Written
from proctor.errors import ProctorError
from proctor.ir import Failure
from proctor.ir.question import Question
from proctor.recipes.exam import Exam
from proctor.recipes.recipe import DatasetRecipe
from proctor.scoring.columns import Columns
from proctor.scoring.metric_table import fetch_metric, metric_table
from proctor.scoring.named_metric import RegisteredMetric
from proctor.scoring.named_table import LM_EVAL, UNITXT, named
from proctor.scoring.text.processor_steps import process
from proctor.scoring.text.processors import PostProcess, RegisteredProcessor, fetch_processor
from proctor.scoring.text.text_functions import text_function_table


def to_unitxt(written: Written) -> str:
    """Return a Unitxt recipe; a benchmark of several, where answers are read in several ways."""
    if len(written.graded.readings) == 1:
        return _json(_recipe(written, written.graded.readings[0]))
    subsets = {each.name: _recipe(written, each) for each in written.graded.readings}
    return _json({"__type__": "benchmark", "subsets": subsets})


def _json(value: Any) -> str:
    return json.dumps(plain(value), indent=4, ensure_ascii=False)


def _recipe(written: Written, reading: Reading) -> dict[str, Any]:
    recipe: dict[str, Any] = {
        "__type__": "dataset_recipe",
        "card": {
            "__type__": "task_card",
            "loader": {"__type__": "load_json_file", "files": {"test": written.file}, "lines": True},
            "task": _task(written),
            "templates": [],
        },
        "template": _template(written, reading),
        "format": {"__type__": "system_format", "model_input_format": "{source}"},
    }
    recipe |= {"request": "choose"} if written.compares else _decoding(written)
    if written.repeats > 1:
        written.losses.add("requests", f"repeats: a recipe asks once; --repeats {written.repeats} asks as often")
        written.losses.add("scores", "repeats: scores are of one answer")
    return recipe


def _task(written: Written) -> dict[str, Any]:
    inputs = {written.prompt: "str"}
    references = {written.target: "Any" if written.compares else "List[str]"}
    if written.compares:
        inputs[CHOICES] = references[CHOICES] = "List[str]"
    return {
        "__type__": "task",
        "input_fields": inputs | dict.fromkeys(written.columns, "Any"),
        "reference_fields": references,
        "prediction_type": "Any",
        "metrics": [_registered(written, each) for each in written.graded.metrics],
    }


def _template(written: Written, reading: Reading) -> dict[str, Any]:
    processors = [_processor(written, each) for each in _steps(written, reading)]
    if written.compares:
        put_positions(written)
        _check_gaps(written)
        _check_positions(written)
        return {
            "__type__": "multiple_choice_template",
            "input_format": f"{{{written.prompt}}}",
            "choices_field": CHOICES,
            "target_field": written.target,
            "source_choice_format": "{choice_text}",
            "target_choice_format": "{choice_text}",
            "postprocessors": processors,
        }
    for row in written.rows:
        row[written.target] = _texts(written, row[written.target])
    return {
        "__type__": "multi_reference_template",
        "input_format": f"{{{written.prompt}}}",
        "output_format": "",
        "references_field": written.target,
        "postprocessors": processors,
    }


def _steps(written: Written, reading: Reading) -> list[Named]:
    """Return the steps that a recipe can have; those that see the answers to all questions at once are named."""
    table = text_function_table()
    found = []
    for each in reading.steps:
        entry = table.find(each.name, UNITXT)
        if each.name == f"{LM_EVAL}:take_first":
            continue  # a recipe reads one answer at a time; with this step it would refuse --repeats and --reduce
        if entry is not None and entry.scope == "column":
            written.losses.add("scores", f"{each.name}: it sees all answers at once, a processor sees one")
        else:
            found.append(each)
    return found


def _texts(written: Written, target: Any) -> list[str]:
    values = target if isinstance(target, list) else [target]
    if not all(isinstance(each, str) for each in values):
        written.losses.add("scores", "references: a template shows texts, and these are numbers, lists or nothing")
    return [each if isinstance(each, str) else json.dumps(each, ensure_ascii=False, default=str) for each in values]


def _check_gaps(written: Written) -> None:
    """Name prompts after which a template would put a space, or none, where there is none or one."""
    ends = {bool(row[written.prompt]) and not row[written.prompt][-1].isspace() for row in written.rows}
    if ends != {written.delimiter == " "}:
        written.losses.add(
            "requests", "the space before a choice: a recipe puts one after words, and none after a space"
        )


def _check_positions(written: Written) -> None:
    for each in written.graded.metrics:
        if each.name in _OF_POSITIONS:
            written.losses.add("scores", f"{each.name}: a task gives it positions of choices, a recipe their texts")
    for row in written.rows:
        right = row[written.target]
        if isinstance(right, list):
            written.losses.add("scores", "references: several choices are right, and a template has one")
        places = [each for each in (right if isinstance(right, list) else [right]) if each < len(row[CHOICES])]
        row[written.target] = places[0] if places else 0


_OF_POSITIONS = ("lm_eval:f1", "lm_eval:mcc")  # they count positions of choices, while a card's predictions are texts


def _decoding(written: Written) -> dict[str, Any]:
    decoding = written.decoding
    for key in ("top_p", "top_k", "seed"):
        if getattr(decoding, key) is not None:
            written.losses.add("requests", f"{key}: a recipe does not say it; --gen-kwargs does")
    if decoding.count > 1:
        written.losses.add("requests", f"{decoding.count} answers to one request")
    for key in decoding.extra:
        written.losses.add("requests", f"{key}: a recipe does not say it; --gen-kwargs does")
    found = {"max_tokens": decoding.max_tokens, "stop": list(decoding.stop), "temperature": decoding.temperature}
    return {key: value for key, value in found.items() if value not in (None, [], 0.0)}


def _registered(written: Written, each: Named) -> Any:
    each = own_metric(written, UNITXT, each)
    name_strange(written, UNITXT, each)
    if not each.arguments:
        return each.name
    if not each.system:
        return {"__type__": each.name, **each.arguments}
    arguments = dict(each.arguments)
    how = arguments.pop("aggregation", None)
    made = {"__type__": "registered_metric", "metric": each.name, "arguments": arguments}
    return made if how is None else {**made, "aggregation": how}


def _processor(written: Written, each: Named) -> Any:
    name_strange(written, UNITXT, each)
    if not each.system:
        operator: Any = each.name if not each.arguments else {"__type__": each.name, **each.arguments}
        if not each.arguments and isinstance(found := fetch_artifact(each.name), PostProcess):
            operator = found.operator.to_dict()  # a post-processor of the catalog holds one, and is none
        return {"__type__": "post_process", "operator": operator, "process_references": False}
    operator = {"__type__": "registered_processor", "function": each.name, "arguments": dict(each.arguments)}
    return {"__type__": "post_process", "operator": operator, "process_references": False}


# -- what grades an exam ----------------------------------------------------------------------------------------------


def graded(exam: Exam, first: Question) -> Graded | None:
    """Return what grades an exam of this dialect; its first question's processors stand for all."""
    recipe = exam.own
    if not isinstance(recipe, DatasetRecipe):
        return None
    made = Graded()
    metrics = recipe.metrics if recipe.metrics is not None else recipe.used_task.metric_names
    for each in metrics:
        if isinstance(each, str):
            made.metrics.append(Named(_whole_metric(each)))
        elif (known := _of_table(each)) is not None:
            made.metrics.append(known)
        else:
            made.lost.append(Loss("scores", f"metric {_shown(each)}: it has no name that a catalog knows"))
    steps = recipe.postprocessors if recipe.postprocessors is not None else list(first.processors)
    found = list(_processors(made, steps))
    if first.exchange.answer_prefix and recipe.request != "choose":
        found.insert(0, Named(f"{LM_EVAL}:regex", {"regex_pattern": _without(first.exchange.answer_prefix)}))
    made.readings = [Reading("", found)]
    made.target = _target_of_recipe(made, steps, varies=recipe.postprocessors is None)
    made.keeps_apart = _keeps_apart(steps)
    if recipe.group_by:
        made.lost.append(Loss("scores", "group_by: scores of parts; --group-by gives them again"))
    return made


def _of_table(source: object) -> Named | None:
    """Return a metric of the table that a recipe holds with its arguments; ``None`` where it is another artifact."""
    try:
        found = fetch_metric(source)
    except ProctorError:
        return None  # what cannot be made is named as what has no name
    if not isinstance(found, RegisteredMetric) or not found.to_dict().keys() <= _TOLD:
        return None
    how = {} if found.aggregation is None else {"aggregation": found.aggregation}
    return Named(found.entry.key, {**found.arguments, **how})


_TOLD = frozenset({"__type__", "metric", "arguments", "aggregation"})
"""What another form can say of a metric; one with a prefix, or with another number of resamples, has no name there."""


def _without(prefix: str) -> str:
    """Return a pattern that finds an answer without the prefix that it may repeat."""
    return rf"(?s)\A(?:\s*{re.escape(prefix.strip())})?(.*)\Z"


def _whole_metric(name: str) -> str:
    entry = metric_table().find(named(name)[0], "unitxt")
    return name if entry is None or ":" in name or name.startswith("metrics.") else f"{entry.system}:{name}"


def _processors(made: Graded, sources: Sequence[Any]) -> Iterator[Named]:
    for each in sources:
        try:
            found = fetch_processor(each)
        except ProctorError as error:
            made.lost.append(Loss("scores", f"processor {_shown_source(each)}: {error.diagnostics[0].what}"))
            continue
        if isinstance(found, PostProcess) and isinstance(found.operator, RegisteredProcessor):
            if found.process_prediction:
                yield Named(found.operator.function, dict(found.operator.arguments))
            continue
        if not isinstance(each, str):
            made.lost.append(Loss("scores", f"processor {_shown(each)}: it has no name that a catalog knows"))
            continue
        if not isinstance(found, PostProcess) or found.process_prediction:
            yield Named(each)


def _target_of_recipe(made: Graded, steps: Sequence[Any], *, varies: bool) -> Callable[[Question], Any]:
    def target(question: Question) -> Any:
        own = list(question.processors) if varies else list(steps)
        if own != list(steps) and _VARIED not in made.lost:
            made.lost.append(_VARIED)
        columns = Columns([""], [question.exchange.references], [question.instance])
        references = process(columns, own).references[0]
        if isinstance(references, Failure):
            return only_or_all(question)
        is_one = len(references) == 1 and not isinstance(references[0], list)  # a list alone would be several answers
        return references[0] if is_one else list(references)

    return target


_VARIED = Loss("scores", "processors: templates differ in them; those of the first row are kept")


def _keeps_apart(steps: Sequence[Any]) -> Callable[[Question, Sequence[str]], bool]:
    def check(question: Question, choices: Sequence[str]) -> bool:
        some = Columns(list(choices), [[each] for each in choices], [question.instance] * len(choices))
        done = process(some, steps)
        pairs = [(str(one), str(gold[0])) for one, gold in zip(done.predictions, done.references, strict=True)]
        return len(set(pairs)) == len(set(choices)) and all(one == gold for one, gold in pairs)

    return check


def _shown_source(source: object) -> str:
    return source if isinstance(source, str) else _shown(source)


def _shown(value: object) -> str:
    kind = value.get("__type__", "dict") if isinstance(value, Mapping) else type(value).__name__
    return value.artifact_id or kind if isinstance(value, Artifact) else str(kind)
