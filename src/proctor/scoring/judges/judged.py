"""The wording in which the judges of an exam asked, for its definition and its results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial, reduce
from typing import TYPE_CHECKING, Any, Final, cast

from proctor.ir import KnownAnswerer
from proctor.logs import say_once
from proctor.packages import package_folder
from proctor.scoring.flat_scores import CRITERIA
from proctor.scoring.judges.judge_client import who_judges

if TYPE_CHECKING:
    from proctor.artifacts import Artifact

JUDGED: Final = "judged"
"""Under which name results of an exam say what its judges were asked with."""


def judged_by(scorers: Iterable[object]) -> list[dict[str, Any]]:
    """Return what the judges among scorers are asked with (:func:`~proctor.scoring.judges.wording.asked_with`).

    Args:
        scorers: Metrics, what holds one under the name ``metric``, and whatever says itself what it asks with. Other
            metrics' engines are there where the user put another in their place (``settings.engine_map``).
    """
    from proctor.artifacts import Artifact
    from proctor.artifacts.effects_of import parts_of

    scorers = list(scorers)
    own = [each for each in scorers if hasattr(each, "asked_with") and not isinstance(each, Artifact)]
    found: list[dict[str, Any]] = []
    for part in [*own, *parts_of([getattr(each, "metric", each) for each in scorers])]:
        asked_with = getattr(part, "asked_with", partial(_stand_in, part))
        if (asked := asked_with()) and asked not in found:
            found.append(asked)
    return found


def criteria_of(scorers: Iterable[object]) -> dict[str, dict[str, str]]:
    """Return what assertions that a model judges say, by the names of their scores, where these do not say it.

    Args:
        scorers: As of :func:`judged_by`.
    """
    metrics: list[Any] = [getattr(each, "metric", each) for each in scorers]
    found = {each.main_score: each.assertion for each in metrics if hasattr(each, "assertion") and each.asked_with()}
    told = {name: assertion for name, assertion in found.items() if name != assertion}
    return {CRITERIA: told} if told else {}


def judges_of(scorers: Iterable[object]) -> list[KnownAnswerer]:
    """Return who answers for the judges among scorers, each once.

    Args:
        scorers: As of :func:`judged_by`.

    Raises:
        ProctorError: One cannot be made.
    """
    from proctor.artifacts.effects_of import parts_of

    scorers = list(scorers)
    named = [judge for each in scorers if hasattr(each, "judges") for judge in each.judges()]
    parts = [*named, *parts_of([getattr(each, "metric", each) for each in scorers])]
    found = [part.answering() for part in parts if hasattr(part, "answering")]
    return list({who_judges(cast("Artifact", each)): each for each in found}.values())


def _stand_in(part: object) -> dict[str, Any] | None:
    answering = getattr(part, "answering", None)
    if answering is None or (who := answering()) is part:
        return None
    return {"judge": str(getattr(part, "label", "")), "models": [who_judges(who)]}


def by_row(scorers: Iterable[object]) -> Callable[[Mapping[str, Any]], Mapping[str, Any]] | None:
    """Return what opens the catalog names of criteria in a row: what they mean belongs to the row's content.

    Args:
        scorers: As of :func:`judged_by`.

    Returns:
        ``None`` where no judge reads its criteria from rows.
    """
    judges: list[Any] = [getattr(each, "metric", each) for each in scorers]
    opening = [each.opened for each in judges if getattr(each, "criteria_field", None)]
    return (lambda row: reduce(lambda found, opened: opened(found), opening, row)) if opening else None


_heard: ContextVar[list[dict[str, Any]] | None] = ContextVar("proctor_judged", default=None)


@contextmanager
def judges_heard() -> Iterator[list[dict[str, Any]]]:
    """Yield a list that is filled with what the judges are asked with that score within the block."""
    found: list[dict[str, Any]] = []
    token = _heard.set(found)
    try:
        yield found
    finally:
        _heard.reset(token)


def tell(asked: Mapping[str, Any]) -> None:
    """Say before a judge is asked that the words are not those which its name promises; once in a process."""
    heard = _heard.get()
    if heard is not None and asked not in heard:
        heard.append(dict(asked))
    if note := note_of(asked):
        say_once(note)


def notes_of(judged: object) -> list[str]:
    """Return a sentence on each judge whose Unitxt names mean our words, of what an exam's results say of judges."""
    return [note for each in judged if (note := note_of(each))] if isinstance(judged, (list, tuple)) else []


_ASKED: Final = {"words": "asked in the words of", "prompt": "asked with the prompt", "models": "the model"}


def judges_that_differ(first: object, second: object) -> str:
    """Return how the judges of two scores were asked where that is not the same; nothing where it is, or is not known.

    Args:
        first, second: What the results say of judges.
    """
    if not isinstance(first, list) or not isinstance(second, list):
        return ""
    for key, what in _ASKED.items():
        one, two = (sorted({str(each[key]) for each in judged if key in each}) for judged in (first, second))
        if one and two and one != two:
            return f"the judge was {what} {', '.join(one)} in one run and {', '.join(two)} in the other"
    return ""


def note_of(asked: Mapping[str, Any]) -> str:
    """Return a sentence on a judge of :func:`asked_with` where Unitxt's names mean our words; else nothing."""
    if note := asked.get("note"):
        return str(note)
    names = asked.get("instead") or ()
    if not names:
        return ""
    way = "proctor get unitxt gets those" if package_folder("unitxt") is None else "the Unitxt here does not have them"
    return (
        f"the judge {asked.get('judge')} is asked in Proctor's words, not in Unitxt's ({', '.join(names)}): {way}; "
        "write proctor.NAME, or words='proctor' of a class, where ours are meant"
    )
