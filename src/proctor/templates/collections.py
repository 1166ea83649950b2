"""Several templates under one name."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, KeysView, ValuesView

from pydantic import Field

from proctor.artifacts import Artifact
from proctor.templates.template import Template


class TemplatesList(Artifact):
    """Templates in order; the first is the default."""

    items: list[Template]

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, index: int) -> Template:
        return self.items[index]

    def __iter__(self) -> Iterator[Template]:  # type: ignore[override]
        return iter(self.items)


class TemplatesDict(Artifact):
    """Templates by name; the first is the default."""

    items: dict[str, Template] = Field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, name: str) -> Template:
        return self.items[name]

    def __iter__(self) -> Iterator[str]:  # type: ignore[override]
        return iter(self.items)

    def keys(self) -> KeysView[str]:
        """The names."""
        return self.items.keys()

    def values(self) -> ValuesView[Template]:
        """The templates."""
        return self.items.values()

    def entries(self) -> ItemsView[str, Template]:
        """Names with templates."""
        return self.items.items()
