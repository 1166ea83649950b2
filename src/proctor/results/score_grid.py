"""Scores by template and number of demos: how much of a score is the wording, and how much the shots.

A cell is an exam that has one template and one number of demos, or a group of instances where an exam has several of
them. Exams belong to one grid where they differ in nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from proctor.data.fields import get_field
from proctor.scoring.flat_scores import main_of

VARIED = ("template", "num_demos")
_OF_THE_VARIANT = frozenset(
    {*VARIED, "template_card_index", "demos_pool_size", "sampler", "group_by", "__description__", "__id__", "__tags__"}
)
"""Fields of a recipe that change with the template and the demos, or that change no prompt."""
# Tasks that agree in these ask about the same instances, so their scores may stand in one grid.
_DATA_OF_TASK = ("dataset_path", "dataset_name", "dataset_kwargs", "custom_dataset", "test_split", "validation_split")
_FEWEST_CELLS = 2  # one score has nothing to be compared with


@dataclass(frozen=True, slots=True)
class GridCell:
    """One score of a grid.

    Attributes:
        value: The score, ``None`` where there is none.
        low, high: Bounds of its 95% interval, or ``None``.
        n: Instances.
        exam: The exam that it belongs to.
        group: The group of its instances, as :func:`group_label` names it; empty for all of them.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    exam: str
    group: str = ""


@dataclass(slots=True)
class ScoreGrid:
    """Scores by template (down) and number of demos (across).

    Attributes:
        title: What the exams have in common.
        metric: The score.
        templates, demos: The rows and columns, in order.
        cells: Scores by template and demos; a pair that nobody tried is not there.
    """

    title: str
    metric: str
    templates: list[str] = field(default_factory=list)
    demos: list[int] = field(default_factory=list)
    cells: dict[tuple[str, int], GridCell] = field(default_factory=dict)

    def range(self) -> tuple[float, float]:
        """Return the smallest and the largest score; 0 and 1 where there is none."""
        values = [cell.value for cell in self.cells.values() if cell.value is not None]
        return (min(values), max(values)) if values else (0.0, 1.0)


def score_grids(
    results: Mapping[str, Mapping[str, Any]], specifications: Mapping[str, Mapping[str, Any]]
) -> list[ScoreGrid]:
    """Return the grids of a run that have at least two cells.

    Args:
        results: What ``results.json`` has under ``results``.
        specifications: What ``run.yaml`` has under ``exams``.
    """
    grids: dict[str, ScoreGrid] = {}
    for exam, entry in results.items():
        for family, title, template, demos, cell in _cells(exam, entry, _mapping(specifications.get(exam))):
            metric = str(entry.get("score_name") or "score")
            grid = grids.setdefault(_key([family, metric]), ScoreGrid(title, metric))
            grid.cells.setdefault((template, demos), cell)
    found = [grid for grid in grids.values() if len(grid.cells) >= _FEWEST_CELLS]
    for grid in found:
        grid.templates = sorted({template for template, _ in grid.cells})
        grid.demos = sorted({demos for _, demos in grid.cells})
    return found


def group_label(by: Mapping[str, Any]) -> str:
    """Return a group's label: ``num_demos=2, template=templates.a``.

    >>> group_label({"label": "yes", "num_demos": 2})
    'label=yes, num_demos=2'
    """
    return ", ".join(f"{name}={_plain(value)}" for name, value in sorted(by.items()))


def label_of_instance(fields: Mapping[str, Any], names: Iterable[str]) -> str:
    """Return the label of the group that an instance belongs to by some of its fields; its metadata wins."""
    metadata = fields.get("metadata")
    known = {**fields, **(metadata if isinstance(metadata, Mapping) else {})}
    return group_label({name: get_field(known, name, None) for name in names})


def groups_of(entry: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the groups that ``results.json`` has of an exam, each with ``by``."""
    groups = entry.get("groups")
    found = groups if isinstance(groups, list) else []
    return [each for each in found if isinstance(each, Mapping) and isinstance(each.get("by"), Mapping) and each["by"]]


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _key(value: Any) -> str:
    """Return a text that is equal for equal values; keys of mappings may be of any kind, as in YAML."""
    if isinstance(value, Mapping):
        return f"{{{','.join(sorted(f'{name!r}:{_key(each)}' for name, each in value.items()))}}}"
    return f"[{','.join(map(_key, value))}]" if isinstance(value, list | tuple) else repr(value)


_Placed = tuple[Any, str, str, int, GridCell]


def _cells(exam: str, entry: Mapping[str, Any], specification: Mapping[str, Any]) -> Iterator[_Placed]:
    recipe, task = specification.get("recipe"), specification.get("task")
    if isinstance(recipe, Mapping):
        yield from _recipe_cells(exam, entry, recipe, specification)
    elif isinstance(task, Mapping):
        options = _mapping(specification.get("options"))
        data = {name: task.get(name) for name in _DATA_OF_TASK if task.get(name) is not None}
        demos = options.get("num_fewshot", 0)
        if data and isinstance(demos, int):
            title = "/".join(str(data[name]) for name in ("dataset_path", "dataset_name") if name in data)
            template = str(options.get("template") or task.get("task") or exam)
            yield data, title or exam, template, demos, _cell(exam, entry, "")


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _recipe_cells(
    exam: str, entry: Mapping[str, Any], recipe: Mapping[str, Any], specification: Mapping[str, Any]
) -> Iterator[_Placed]:
    same = {name: value for name, value in recipe.items() if name not in _OF_THE_VARIANT}
    family = [same, specification.get("split")]
    title = _title(recipe, exam)
    template, demos = _template_name(recipe), recipe.get("num_demos", 0)
    for group in groups_of(entry):
        by = group["by"]
        if set(by) <= set(VARIED) and _completes(by, template, demos):
            shown = _plain(by.get("template", template))
            yield family, title, shown, int(by.get("num_demos", demos)), _cell(exam, group, group_label(by))
    if template and isinstance(demos, int):
        yield family, title, template, demos, _cell(exam, entry, "")


def _completes(by: Mapping[str, Any], template: str, demos: Any) -> bool:
    """Whether a group and what all instances share say both template and number of demos."""
    known_demos = isinstance(by.get("num_demos", demos), int)
    return known_demos and ("template" in by or bool(template))


def _title(recipe: Mapping[str, Any], exam: str) -> str:
    card = recipe.get("card") or recipe.get("task")
    return card if isinstance(card, str) else exam


def _template_name(recipe: Mapping[str, Any]) -> str:
    """Return the name of a recipe's only template, ``""`` where it has several."""
    template = recipe.get("template")
    if isinstance(template, list):
        return ""
    if template is None:
        return f"the card's {recipe.get('template_card_index') or 'own'}"
    return template if isinstance(template, str) else _plain(template)


def _cell(exam: str, entry: Mapping[str, Any], group: str) -> GridCell:
    main = main_of(entry)
    n = int(entry.get("n") or 0)
    return GridCell(_number(main.value), _number(main.low), _number(main.high), n, exam, group)


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
