"""Recipes as Hugging Face datasets: ``load_dataset`` and its relatives.

What makes recipes is imported by the functions that need it: programs that import a name from here pay for it when they
call it, and not before.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, TypeGuard

from proctor.errors import TemplateError, UsageError, did_you_mean, extras_named
from proctor.foreign_text import parse_json
from proctor.garbage import collecting_seldom
from proctor.randomness import Course
from proctor.settings import settings

if TYPE_CHECKING:
    from datasets import Dataset, DatasetDict, Features, IterableDataset, IterableDatasetDict

    from proctor.recipes.recipe import Recipe
    from proctor.tasks.task import Task

Row = dict[str, Any]
_CHAT = ('[{"role":', '[{"content":')  # how a source begins that is a chat as JSON, and not a text that is a list
_PAGE = 1000  # rows turned into columns at once: they are in memory twice meanwhile, so not all of them
TEXTS = ("references", "metrics", "groups", "subset", "postprocessors", "data_classification_policy")


def load_recipe(dataset_query: str | Recipe | Mapping[str, Any] | None = None, **overrides: Any) -> Recipe:
    """Return the recipe that a query means, with overrides.

    Args:
        dataset_query: A recipe, a catalog name, ``card=…,template=…``, or nothing where ``overrides`` say it all.
        **overrides: Fields of :class:`DatasetRecipe`.

    Raises:
        UsageError: There is neither a query nor overrides, an override is not a field of a recipe, or the recipe is
            there already and stays as it is.
        ArtifactError: Something in it cannot be found or built.
    """
    from proctor.artifacts import fetch_artifact
    from proctor.recipes.recipe import Recipe
    from proctor.tasks.card import TaskCard

    overrides.pop("disable_cache", None)  # of older programs: there is no cache to disable
    if isinstance(dataset_query, Recipe):
        if overrides:
            raise UsageError(
                f"a recipe that is given as an object is not changed by {', '.join(overrides)}",
                hint="set its fields before, or give its name or query together with what is to be changed",
            )
        return dataset_query
    if dataset_query is None and not overrides:
        raise UsageError("say which dataset", hint='load_dataset("card=cards.wnli") or load_dataset(card="cards.wnli")')
    if dataset_query is None:
        return _recipe_of_fields(overrides)
    recipe = fetch_artifact(dataset_query, overrides)
    if not isinstance(recipe, Recipe):
        raise UsageError(
            f"'{dataset_query}' is a {type(recipe).__name__}, not a recipe or benchmark",
            hint=f"did you mean card={dataset_query}?" if isinstance(recipe, TaskCard) else "",
        )
    return recipe


def _recipe_of_fields(fields: Mapping[str, Any]) -> Recipe:
    from proctor.recipes.recipe import DatasetRecipe

    known = DatasetRecipe.model_fields
    if (unknown := next((name for name in fields if name not in known), None)) is not None:
        hint = did_you_mean(unknown, known) or f"its fields are {', '.join(known)}"
        raise UsageError(f"a recipe has no field '{unknown}'", hint=hint)
    return DatasetRecipe(**fields)


@extras_named()
def load_dataset(
    dataset_query: str | Recipe | None = None,
    split: str | None = None,
    streaming: bool = False,
    use_cache: bool | None = None,
    **overrides: Any,
) -> Dataset | DatasetDict | IterableDataset | IterableDatasetDict:
    """Return the dataset of a recipe: its instances as prompts with references.

    Args:
        dataset_query: A recipe, its name, or ``card=…,template=…``.
        split: Only this split.
        streaming: Return a dataset whose rows are made while they are read.
        use_cache: Accepted for old programs; datasets are cheap to make and always fresh.
        **overrides: Fields of :class:`DatasetRecipe`.

    Returns:
        A ``DatasetDict`` of splits, or the ``Dataset`` of one; with ``streaming`` the iterable kinds.

    Raises:
        ProctorError: The recipe, its data or its templates are not in order; the message says what and where.
    """
    from proctor.data.streams import MultiStream

    del use_cache
    recipe = load_recipe(dataset_query, **overrides)
    streams = recipe()
    chosen = MultiStream({split: streams[split]}) if split is not None else streams
    with collecting_seldom(), Course() if split is None else nullcontext():  # splits are read one after the other
        made: dict[str, Any] = {
            name: _stream(stream) if streaming else rows_to_dataset(stream) for name, stream in chosen.items()
        }
    for dataset in made.values():
        dataset.info.description = json.dumps({"recipe": str(dataset_query or ""), "split": split}, default=str)
    if split is not None:
        return made[split]
    from datasets import DatasetDict, IterableDatasetDict

    return IterableDatasetDict(made) if streaming else DatasetDict(made)


def create_dataset(
    task: str | Task,
    test_set: list[Row],
    train_set: list[Row] | None = None,
    validation_set: list[Row] | None = None,
    split: str | None = None,
    data_classification_policy: list[str] | None = None,
    **overrides: Any,
) -> Dataset | DatasetDict | IterableDataset | IterableDatasetDict:
    """Return the dataset of rows that a program brings, for a task.

    Args:
        task: The task or its catalog name; rows have its fields.
        test_set, train_set, validation_set: The rows of each split.
        split: Only this split.
        data_classification_policy: What kind of data it is; proprietary by default.
        **overrides: Fields of :class:`DatasetRecipe` (``template``, ``format``, ``metrics`` …).

    Raises:
        TemplateError: No template is given and the task has no default.
    """
    from proctor.artifacts import fetch_artifact
    from proctor.data.loaders import LoadFromDictionary
    from proctor.tasks.card import TaskCard
    from proctor.tasks.task import Task

    sets = {"test": test_set, "train": train_set, "validation": validation_set}
    chosen = fetch_artifact(task)
    if not isinstance(chosen, Task):
        raise UsageError(f"'{task}' is a {type(chosen).__name__}, not a task")
    if overrides.get("template") is None and chosen.default_template is None:
        raise TemplateError(
            f"the task {chosen} has no default template", hint="pass template=… (a template or its catalog name)"
        )
    loader = LoadFromDictionary(
        data={name: rows for name, rows in sets.items() if rows is not None},
        data_classification_policy=data_classification_policy,
    )
    return load_dataset(card=TaskCard(loader=loader, task=chosen), split=split, **overrides)


def produce(
    instance_or_instances: Mapping[str, Any] | Sequence[Mapping[str, Any]],
    dataset_query: str | Recipe | None = None,
    *,
    recipe: str | Recipe | None = None,
    **overrides: Any,
) -> Any:
    """Return the prompts of instances that a program brings, by a recipe.

    Args:
        instance_or_instances: Task fields of one instance, or of several.
        dataset_query, recipe: The recipe; two names for the same thing.
        **overrides: Fields of :class:`DatasetRecipe`.

    Returns:
        One row for one instance, else a ``Dataset``.
    """
    made = load_recipe(recipe or dataset_query, **overrides)
    if isinstance(instance_or_instances, Mapping):
        return decode_row(made.produce([instance_or_instances])[0])
    return rows_to_dataset(made.produce(list(instance_or_instances)))


# -- rows as datasets -----------------------------------------------------------------------------------------


def rows_to_dataset(rows: Iterable[Row]) -> Dataset:
    """Return rows of a recipe as a dataset; columns are built page by page."""
    import pyarrow as pa
    from datasets import Dataset

    pages: list[Any] = []
    features: Features | None = None
    digest = blake2b(digest_size=8)
    rows = iter(rows)  # a stream would begin anew for whoever takes the rest of it
    for page in _pages(rows):
        if features is None:
            features = _features(page)
        if any(row["media"]["images"] or row["media"]["audios"] for row in page):
            everything = [*_unpaged(pages), *page, *rows]
            return Dataset.from_list(everything, features=_features(everything)).with_transform(decode_batch)
        digest.update("".join([row["source"] + row["task_data"] for row in page]).encode("utf-8", "surrogatepass"))
        schema = features.arrow_schema
        columns = [_column([row[field.name] for row in page], field.type) for field in schema]
        pages.append(pa.Table.from_arrays(columns, schema=schema))
    if features is None:
        return Dataset.from_dict({})
    # A fingerprint of our own: the default one pickles the whole table.
    return Dataset(pa.concat_tables(pages), fingerprint=digest.hexdigest()).with_transform(decode_batch)


def _column(values: list[Any], kind: Any) -> Any:
    import pyarrow as pa

    first = values[0]
    if not isinstance(first, str) and values.count(first) == len(values):
        return pa.repeat(pa.scalar(first, kind), len(values))
    return pa.array(values, kind)


def _pages(rows: Iterable[Row]) -> Iterator[list[Row]]:
    from itertools import islice

    iterator = iter(rows)
    while page := list(islice(iterator, _PAGE)):
        yield page


def _unpaged(tables: Iterable[Any]) -> Iterator[Row]:
    for table in tables:
        yield from table.to_pylist()


def _features(page: Sequence[Row]) -> Features:
    import datasets
    from datasets import Audio, Features, Image, Value

    List: Any = getattr(datasets, "List", None) or datasets.Sequence  # noqa: N806 - the former since version 4
    text = Value("string")
    images: Any = List(Image()) if any(row["media"]["images"] for row in page) else List(text)
    audios: Any = List(Audio()) if any(row["media"]["audios"] for row in page) else List(text)
    kinds: dict[str, Any] = {"media": {"images": images, "audios": audios}, **dict.fromkeys(TEXTS, List(text))}
    return Features({name: kinds.get(name, text) for name in page[0]})


def _stream(stream: Iterable[Row]) -> IterableDataset:
    from datasets import IterableDataset

    def rows() -> Iterator[Row]:
        yield from map(decode_row, stream)

    return IterableDataset.from_generator(rows)


def _is_chat(source: object) -> TypeGuard[str]:
    return isinstance(source, str) and source.startswith(_CHAT)


def decode_row(row: Row) -> Row:
    """Return a row with a chat ``source`` as messages (and ``task_data`` as a dict, where settings say so)."""
    source = row.get("source")
    if _is_chat(source):
        row = {**row, "source": parse_json(source)}
    if not settings.task_data_as_text and isinstance(row.get("task_data"), str):
        row = {**row, "task_data": parse_json(row["task_data"])}
    return row


def decode_batch(batch: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Return a batch of columns, decoded as :func:`decode_row` does."""
    if any(map(_is_chat, sources := batch.get("source") or ())):
        batch = {**batch, "source": [parse_json(source) if _is_chat(source) else source for source in sources]}
    if not settings.task_data_as_text and batch.get("task_data"):
        batch = {**batch, "task_data": [parse_json(text) for text in batch["task_data"]]}
    return batch
