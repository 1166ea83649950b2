"""Parsed ``eval.yaml`` files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from proctor.errors import Location

SOLVERS = (
    *("prompt_template", "system_message", "user_message", "chain_of_thought", "use_tools", "generate"),
    *("self_critique", "multiple_choice"),
)
"""What puts a sample in words and asks the model, by name."""

SCORERS = (
    *("includes", "match", "pattern", "answer", "exact", "f1", "model_graded_qa", "model_graded_fact", "choice"),
    "math",
)
"""What scores an answer, by name; metrics of catalogs and of other systems are named as everywhere."""


@dataclass(frozen=True, slots=True)
class Step:
    """A solver or a scorer with its arguments.

    Attributes:
        name: One of :data:`SOLVERS` or :data:`SCORERS`, or of a metric.
        args: Its arguments.
        location: Where it stands.
    """

    name: str
    args: Mapping[str, Any] = field(default_factory=dict)
    location: Location | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class FieldSpec:
    """The columns that a sample is made of.

    Attributes:
        input: The question: a text, or chat messages.
        target: The right answer; ``literal:A`` is the answer itself.
        choices: A column of lists, or a column for each choice.
        metadata: Columns that templates may use.
        input_image: A column with an image, shown beside the question.
    """

    input: str = "input"
    target: str = "target"
    choices: str | tuple[str, ...] | None = None
    metadata: tuple[str, ...] = ()
    input_image: str | None = None


@dataclass(frozen=True, slots=True)
class HubTask:
    """One task of an ``eval.yaml``.

    Attributes:
        dataset: Hub id or folder of the dataset that the file lies in.
        id: Its name in the file; may be empty where it is the only one.
        fields: Which columns a sample is made of.
        solvers, scorers: In order.
        config, split: Which rows.
        revision: Of the dataset; ``None`` for the newest.
        shuffle_choices: Whether choices are put in a drawn order.
        epochs: How often each sample is asked.
        reducer: What makes one score of the epochs' scores.
        clusters: The column that says which samples belong together; inspect has no such key.
        location: Where it stands.
    """

    dataset: str
    id: str
    fields: FieldSpec
    solvers: tuple[Step, ...]
    scorers: tuple[Step, ...]
    config: str = "default"
    split: str = "test"
    revision: str | None = None
    shuffle_choices: bool = False
    epochs: int = 1
    reducer: str = "mean"
    clusters: str | None = None
    location: Location | None = field(default=None, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the task as JSON-like data."""
        fields = {name: getattr(self.fields, name) for name in FieldSpec.__slots__}
        return {
            "dataset": self.dataset,
            "revision": self.revision,
            "id": self.id,
            "config": self.config,
            "split": self.split,
            "field_spec": {
                name: list(value) if isinstance(value, tuple) else value for name, value in fields.items() if value
            },
            "shuffle_choices": self.shuffle_choices,
            "epochs": self.epochs,
            "epoch_reducer": self.reducer,
            **({} if self.clusters is None else {"clusters": self.clusters}),
            "solvers": [{"name": each.name, "args": dict(each.args)} for each in self.solvers],
            "scorers": [{"name": each.name, "args": dict(each.args)} for each in self.scorers],
        }
