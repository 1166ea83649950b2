"""``unitxt.api.select``: which option a model finds likeliest."""

from __future__ import annotations

from typing import Any

from proctor.artifacts import fetch_artifact
from proctor.errors import UsageError
from proctor.recipes import produce


def select(
    instance_or_instances: Any,
    engine: Any,
    dataset_query: str | None = None,
    return_data: bool = False,
    previous_messages: list[list[dict[str, str]]] | None = None,
    **kwargs: Any,
) -> Any:
    """Return for each instance the option that an engine finds likeliest.

    Args:
        instance_or_instances: What is asked about.
        engine: An engine that selects, or its name.
        dataset_query: The recipe, as text; or its parts by name.
        return_data: Return the rows, each with its ``prediction``.
        previous_messages: What was said before, for each instance.
        kwargs: Parts of the recipe.

    Raises:
        UsageError: There are other numbers of messages than instances.
    """
    dataset = produce(instance_or_instances, dataset_query, **kwargs)
    if previous_messages is not None:
        if len(previous_messages) != len(dataset):
            raise UsageError(f"there are {len(previous_messages)} earlier chats for {len(dataset)} instances")
        said = iter(previous_messages)
        dataset = dataset.map(lambda row: {**row, "source": [*next(said), *row["source"]]})
    selecting: Any = fetch_artifact(engine)
    predictions = selecting.select(dataset)
    return dataset.add_column("prediction", predictions) if return_data else predictions
