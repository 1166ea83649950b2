"""The parts of a recipe, resolved: what a pipeline is compiled from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from proctor.artifacts import Artifact
from proctor.demos import Sampler
from proctor.formats import Format, SystemPrompt
from proctor.tasks.card import TaskCard
from proctor.tasks.task import Task
from proctor.templates import Template

Instance = dict[str, Any]

ALL = -1
"""A pool of everything there is."""
WHOLE_STREAM = 2**63 - 1
"""The size that rows tell of such a pool: ``sys.maxsize``, which Unitxt writes."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The parts of a recipe; nothing here is a name that has yet to be fetched."""

    card: TaskCard | None
    task: Task
    templates: tuple[Template, ...]
    format: Format
    system_prompt: SystemPrompt
    num_demos: int | tuple[int, ...] = 0
    pool_size: int | None = None
    pool: Sequence[Instance] | None = None
    demos_taken_from: str = "train"
    demos_removed_from_data: bool = True
    sampler: Sampler | None = None
    sampling_seed: int | None = None
    skip_demoed_instances: bool = False
    loader_limit: int | None = None
    limits: Mapping[str, int] = field(default_factory=dict)
    refiners: Mapping[str, Any] = field(default_factory=dict)
    augmentors: tuple[Any, ...] = ()

    @property
    def most_demos(self) -> int:
        """The largest number of demos in a prompt."""
        return self.num_demos if isinstance(self.num_demos, int) else max(self.num_demos)


def called(artifact: Artifact) -> str:
    """Return an artifact's name in messages."""
    return artifact.artifact_id or type(artifact).__name__
