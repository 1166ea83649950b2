"""NeedleBench's ancestral trace: a shuffled story of who is whose relative, and a question about it."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from proctor.data.fields import Row
from proctor.dialects.aisbench.datasets.generators import Source
from proctor.dialects.aisbench.datasets.prompt_texts import prompt_texts
from proctor.dialects.aisbench.datasets.row_functions import with_circular_options
from proctor.dialects.aisbench.datasets.upstream_texts import constants
from proctor.errors import DataError
from proctor.randomness import random_stream

_ENDS = {"Chinese": "zh_CN", "English": "en"}


def told(
    names: Sequence[str], templates: Sequence[str], terms: Sequence[str], stream: random.Random
) -> tuple[list[str], list[str]]:
    """Return sentences that chain people together, oldest first, and the relationship that each one names."""
    sentences, named = [], []
    for older, younger in pairwise(names):
        template, term = stream.choice(templates), stream.choice(terms)
        sentences.append(template.format(A=older, B=younger, relationship=term))
        named.append(term)
    return sentences, named


def all_names(source: Source, path: str) -> list[str]:
    """Return the people of a language, whom a JSON document lists in one text."""
    people: list[str] = source.document(path)[source.arguments["language"]].split(",")
    return people


def _people(source: Source) -> list[str]:
    return all_names(source, f"{source.arguments['path']}/{source.arguments['file_name']}")


def _shuffled(sentences: list[str], stream: random.Random, *, with_empty: bool) -> str:
    """Return sentences in another order; upstream sometimes shuffles an empty one with them."""
    parts = [*sentences, *([""] if with_empty else [])]
    stream.shuffle(parts)
    return "".join(parts)


def _old_story(source: Source, people: Sequence[str], stream: random.Random) -> tuple[list[str], str]:
    language, words = source.arguments["language"], prompt_texts("ancestors")
    names = stream.sample(people, source.arguments["num_needles"])
    sentences, _ = told(names, words["templates"][language], words["terms"][language], stream)
    asked = words["questions"][language].format(last=names[-1])
    return names, f"{_shuffled(sentences, stream, with_empty=True)} {asked}"


def old(source: Source) -> list[Row]:
    """Open questions; upstream draws without a seed, here the draws follow from the settings' seed and the path."""
    people, stream = _people(source), random_stream(str(source.arguments["path"]))
    made = []
    for _ in range(source.arguments["repeats"]):
        names, asked = _old_story(source, people, stream)
        prompt = asked + prompt_texts("ancestors")["examples"][source.arguments["language"]]
        made.append({"prompt": prompt, "answer": f"{names[0]}*{names[0]}"})
    return made


def choice(source: Source) -> list[Row]:
    """Questions with four options, each asked with the options in four orders."""
    people = _people(source)
    made: list[Row] = []
    for number in range(source.arguments["repeats"]):
        stream = random.Random(number)
        names, question = _old_story(source, people, stream)
        if len(names) < 4:  # noqa: PLR2004 - four options
            names += stream.sample([name for name in people if name not in names], 4 - len(names))
        made += with_circular_options({"question": question, "options": names[:4], "answer": "A"}, number)
    return made


def eldest(source: Source) -> list[Row]:
    """Questions for the eldest relative, answered in a box."""
    texts, end = constants("datasets.needlebench_v2.atc_elder_only"), _ENDS[source.arguments["language"]]
    people = _people(source)
    made = []
    for seed in range(source.arguments["repeats"]):
        stream = random.Random(seed)
        names = stream.sample(people, source.arguments["num_needles"])
        sentences, _ = told(names, *_words(texts, end), stream)
        story = _shuffled(sentences, stream, with_empty=True)
        prompt = texts[f"shuffled_story_with_prompt_{end}"].format(shuffled_story=story, last_person=names[-1])
        made.append({"prompt": prompt, "answer": names[0]})
    return made


def _words(texts: Mapping[str, Any], end: str) -> tuple[list[str], list[str]]:
    return texts[f"relationship_templates_{end}"], texts[f"relationship_terms_{end}"]


_Asked = Callable[[Sequence[str], int], tuple[dict[str, Any], str]]
_KINDS: Mapping[str, tuple[int, str, _Asked]] = {
    "ELDEST_ANCESTOR": (0, "shuffled_story_with_prompt", lambda names, _: ({"last_person": names[-1]}, names[0])),
    "NTH_ANCESTOR": (1, "nth_ancestor_prompt", lambda names, n: ({"person": names[-1], "n": n}, names[0])),
    "NTH_DESCENDANT": (2, "nth_descendant_prompt", lambda names, n: ({"person": names[0], "n": n}, names[-1])),
    "RELATIONSHIP_DISTANCE": (
        3,
        "relationship_distance_prompt",
        lambda names, n: ({"person_a": names[0], "person_b": names[-1]}, str(n)),
    ),
}
"""Kinds of questions: the number that upstream's seeds have, the prompt, what fills it and the answer."""


def kinds(source: Source) -> list[Row]:
    """Questions of several kinds: the eldest, the n-th ancestor or descendant, how far two are apart."""
    texts, end = constants("datasets.needlebench_v2.atc"), _ENDS[source.arguments["language"]]
    generations = texts[f"relationship_generation_map_{end.partition('_')[0]}"]
    people, templates, terms = _people(source), *_words(texts, end)
    made = []
    for kind in _asked_kinds(source):
        value, prompt, fill = _KINDS[kind]
        for run in range(source.arguments["repeats"]):
            stream = random.Random(run + 1 + 10000 * value)
            names = stream.sample(people, source.arguments["num_needles"] + 1)
            sentences, named = told(names, templates, terms, stream)
            story = _shuffled(sentences, stream, with_empty=False)
            filled, answer = fill(names, sum(generations.get(term, 1) for term in named))
            asked = texts[f"{prompt}_{end}"].format(shuffled_story=story, **filled)
            made.append({"prompt": asked, "answer": answer, "question_type": kind})
    return made


def _asked_kinds(source: Source) -> list[str]:
    given = source.arguments.get("question_types", list(_KINDS))
    names = [str(getattr(each, "name", each)).rpartition(".")[2] for each in given]
    if not names or any(name not in _KINDS for name in names):
        raise DataError(f"question_types are {given!r}", hint=f"choose among {', '.join(_KINDS)}")
    return names
