"""Data classification: which components may see which data.

Loaders tag rows with classes such as ``public`` or ``proprietary`` under ``data_classification_policy``; a component
with a policy of its own sees a row only if one of the row's classes is in it. The environment overrides the policy of
a named artifact: ``PROCTOR_DATA_CLASSIFICATION_POLICY='{"metrics.judge": ["public"]}'``. A check runs before anything
of the row leaves the component.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from proctor.artifacts import Artifact
from proctor.errors import PolicyError, SettingsError
from proctor.foreign_text import parse_json
from proctor.logs import get_logger
from proctor.settings import settings

POLICY_FIELD = "data_classification_policy"
_UNITXT_VARIABLE = "UNITXT_DATA_CLASSIFICATION_POLICY"


def policies_of_environment() -> Mapping[str, Sequence[str]]:
    """Return the policies that the environment gives to named artifacts.

    Raises:
        SettingsError: The variable is not a JSON object of lists of strings.
    """
    text = settings.data_classification_policy or os.environ.get(_UNITXT_VARIABLE)
    if not text:
        return {}
    try:
        policies = parse_json(text)
    except json.JSONDecodeError as error:
        raise SettingsError("PROCTOR_DATA_CLASSIFICATION_POLICY is not valid JSON", why=str(error)) from None
    if not isinstance(policies, dict) or not all(map(_is_policy, policies.values())):
        raise SettingsError(
            "PROCTOR_DATA_CLASSIFICATION_POLICY has the wrong form",
            hint='write it as {"artifact name": ["class", …], …}',
        )
    return policies


def _is_policy(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def policy_of(artifact: Artifact, name: str | None = None) -> list[str] | None:
    """Return the classes that an artifact may see, ``None`` where it may see all."""
    known = name or artifact.artifact_id or type(artifact).__name__
    named = policies_of_environment().get(known)
    own = named or getattr(artifact, POLICY_FIELD, None)
    return list(own) if own else None


def classes_of(row: Mapping[str, Any]) -> list[str]:
    """Return the classes of a row, which has them itself or among its metadata; none where nobody says."""
    metadata = row.get("metadata")
    own = row.get(POLICY_FIELD) or (metadata.get(POLICY_FIELD) if isinstance(metadata, Mapping) else None)
    return list(own or ())


def check_policy(policy: Sequence[str] | None, row: Mapping[str, Any], name: str) -> None:
    """Refuse a row that a component may not see.

    Args:
        policy: The component's policy; ``None`` allows everything.
        row: The row; its classes are under ``data_classification_policy``. A row without any passes with a warning.
        name: What messages call the component.

    Raises:
        PolicyError: None of the row's classes is in the policy.
    """
    if not policy:
        return
    classes = row.get(POLICY_FIELD)
    if not classes:
        get_logger().warning("'%s' may only see %s data, and the data does not say what it is", name, ", ".join(policy))
        return
    if not any(each in policy for each in classes):
        raise PolicyError(
            f"'{name}' may not see this data",
            why=f"the data is {', '.join(map(str, classes))}; '{name}' is allowed {', '.join(policy)}",
            hint="change data_classification_policy of the component, or set PROCTOR_DATA_CLASSIFICATION_POLICY",
        )


def check_policies(policy: Sequence[str] | None, rows: Iterable[Mapping[str, Any]], name: str) -> None:
    """Refuse rows that a component may not see; one warning for all that do not say what they are.

    Raises:
        PolicyError: As in :func:`check_policy`, of the first row that is refused.
    """
    has_warned = False
    for row in rows:
        if row.get(POLICY_FIELD) or not has_warned:
            check_policy(policy, row, name)
            has_warned = has_warned or not row.get(POLICY_FIELD)
