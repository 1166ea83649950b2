"""Criteria: what a judge is to look at, and what it may decide."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from proctor.artifacts import Artifact, fetch_artifact
from proctor.data.operator import FieldOperator
from proctor.errors import ScoringError, ValidationError, did_you_mean
from proctor.foreign_text import parse_json


class CriteriaOption(Artifact):
    """Something a judge may decide."""

    name: str
    description: str = ""


class Criteria(Artifact):
    """What a judge is to look at.

    Attributes:
        name: A short name; the score is named after it.
        description: The question to the judge.
        prediction_field: Field of the task with what is judged, where no predictions are given.
        context_fields: Fields of the task to show the judge.
    """

    name: str
    description: str
    prediction_field: str | None = None
    context_fields: str | list[str] | dict[str, str] | None = None

    @classmethod
    def from_obj(cls, criteria_dict: Mapping[str, Any]) -> Self:
        """Build criteria from a dict of fields."""
        fields = {name: value for name, value in criteria_dict.items() if not name.startswith("__")}
        return cls(**fields)

    @classmethod
    def from_jsons(cls, s: str) -> Self:
        """Build criteria from JSON text."""
        return cls.from_obj(parse_json(s))


class CriteriaWithOptions(Criteria):
    """Criteria with what a judge may decide.

    Attributes:
        options: The options, in the order in which the judge sees them.
        option_map: Option → score.
    """

    options: list[CriteriaOption]
    option_map: dict[str, float] | None = None

    def verify(self) -> None:
        """Check that every option has a score."""
        super().verify()
        if self.option_map is None:
            return
        for option in self.options:
            if option.name not in self.option_map:
                raise ValidationError(
                    f"the option '{option.name}' of the criteria '{self.name}' has no score",
                    hint=did_you_mean(option.name, self.option_map) or "add it to option_map",
                )

    def score_of(self, option: str) -> float:
        """Return the score of an option; 1 where there is no map."""
        return 1.0 if self.option_map is None else self.option_map[option]

    def reversed(self) -> CriteriaWithOptions:
        """Return the same criteria with its options the other way round."""
        return self.model_copy(update={"options": list(reversed(self.options))})


def fetch_criteria(source: Any, kind: type[Criteria], by: Artifact | None = None) -> Criteria:
    """Return criteria of a kind, from criteria, a catalog name, JSON text or a dict.

    Args:
        source: What names them.
        kind: Their class.
        by: What asks for them: on behalf of its author they are read.

    Raises:
        ScoringError: It is something else.
    """
    found = (
        kind.from_obj(source)
        if isinstance(source, Mapping) and "__type__" not in source
        else (fetch_artifact if by is None else by.fetched)(source)
    )
    if not isinstance(found, kind):
        raise ScoringError(f"the judge needs {kind.__name__}, got {type(found).__name__}")
    return found


# -- operators on fields that hold criteria ---------------------------------------------------------------------


class LoadCriteria(FieldOperator):
    """Criteria by catalog name."""

    def process_value(self, value: Any) -> Any:
        """Return the criteria."""
        return fetch_criteria(value, Criteria, self)


class LoadCriteriaWithOptions(FieldOperator):
    """Criteria with options by catalog name."""

    def process_value(self, value: Any) -> Any:
        """Return the criteria."""
        return fetch_criteria(value, CriteriaWithOptions, self)


class CreateCriteriaFromDict(FieldOperator):
    """Criteria from a dict."""

    def process_value(self, value: Any) -> Any:
        """Return the criteria."""
        return Criteria.from_obj(value)


class CreateCriteriaFromJson(FieldOperator):
    """Criteria from JSON text."""

    def process_value(self, value: Any) -> Any:
        """Return the criteria."""
        return Criteria.from_jsons(value)


class CreateCriteriaFromString(FieldOperator):
    """Criteria from the question to the judge."""

    def process_value(self, value: Any) -> Any:
        """Return the criteria."""
        return Criteria(name="", description=value)


class CreateCriteriaWithOptionsFromDict(FieldOperator):
    """Criteria with options from a dict."""

    def process_value(self, value: Any) -> Any:
        """Return the criteria."""
        return CriteriaWithOptions.from_obj(value)


class CreateCriteriaWithOptionsFromJson(FieldOperator):
    """Criteria with options from JSON text."""

    def process_value(self, value: Any) -> Any:
        """Return the criteria."""
        return CriteriaWithOptions.from_jsons(value)


class CreateYesNoCriteriaFromString(FieldOperator):
    """A question to the judge that it answers with Yes (1) or No (0)."""

    def process_value(self, value: Any) -> Any:
        """Return the criteria."""
        return _graded(value, {"Yes": 1.0, "No": 0.0})


class CreateYesNoPartiallyCriteriaFromString(FieldOperator):
    """A question to the judge that it answers with Yes (1), Partially (0.5) or No (0)."""

    def process_value(self, value: Any) -> Any:
        """Return the criteria."""
        return _graded(value, {"Yes": 1.0, "Partially": 0.5, "No": 0.0})


def _graded(question: str, scores: dict[str, float]) -> CriteriaWithOptions:
    options = [CriteriaOption(name=name) for name in scores]
    return CriteriaWithOptions(name="", description=question, options=options, option_map=scores)
