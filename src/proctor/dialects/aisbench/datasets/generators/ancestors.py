"""NeedleBench's ancestral trace: a shuffled story of who is whose relative, and a question about it."""
# ruff: noqa: E501, RUF001 - prompts as upstream words them

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from proctor.data.fields import Row
from proctor.dialects.aisbench.datasets.generators import Source
from proctor.dialects.aisbench.datasets.row_functions import with_circular_options
from proctor.dialects.aisbench.datasets.upstream_texts import constants
from proctor.errors import DataError
from proctor.randomness import random_stream

_ENDS = {"Chinese": "zh_CN", "English": "en"}
_OLD_TERMS = {
    "Chinese": ["父亲", "母亲", "爸爸", "妈妈", "爷爷", "奶奶", "姥姥", "姥爷", "外公", "外婆"],
    "English": [
        "father",
        "mother",
        "dad",
        "mom",
        "grandfather",
        "grandmother",
        "maternal grandmother",
        "maternal grandfather",
        "paternal grandfather",
        "paternal grandmother",
    ],
}
_OLD_TEMPLATES = {
    "Chinese": [
        "{A}是{B}的{relationship}。",
        "{B}的{relationship}是{A}。",
        "{A}作为{B}的{relationship}，对{B}的成长有重要影响。",
        "{A}不仅是{B}的{relationship}，还是{B}的榜样。",
        "{B}是{A}所生的孩子。",
        "{A}对{B}来说，不只是一个{relationship}，还是一个朋友。",
        "{A}在{B}的生命中扮演着{relationship}的角色。",
        "{B}把{A}视为其{relationship}。",
    ],
    "English": [
        "{A} is {B}'s {relationship}.",
        "{B}'s {relationship} is {A}.",
        "{A}, as {B}'s {relationship}, has a significant impact on {B}'s upbringing.",
        "{A} is not only {B}'s {relationship} but also {B}'s role model.",
        "{B} is the child of {A}.",
        "For {B}, {A} is not just a {relationship}, but also a friend.",
        "{A} plays the role of {B}'s {relationship} in {B}'s life.",
        "{B} considers {A} as their {relationship}.",
    ],
}
_OLD_QUESTIONS = {
    "Chinese": "\n在上面提供的打乱的家族关系文本中，'{last}'的能够向上追溯到的最年长的亲人是谁？",
    "English": "\nGiven the scrambled family relationships described above, who is the eldest relative that '{last}' can "
    "trace back to in the context?",
}
_OLD_EXAMPLES = {
    "Chinese": "\n例如：\n例子1.如果张强的父亲是马克，除此以外提供的文本中没有更多关于亲属关系的信息，那么在提供的文本中张强能够向上追溯到的最年长的亲人就是马克。"
    "\n例子2.如果李明的姥姥是张红，而张红的父亲是张强，除此以外提供的文本中没有更多关于亲属关系的信息，那么在提供的文本中李明能够向上追溯到的最年长的亲人就是张强。"
    "\n例子3.如果小明是张红的曾孙女，张红的祖母是王华，王华的父亲是王刚，除此以外提供的文本中没有更多关于亲属关系的信息，那么小明能够向上追溯到的最年长的亲人就是王刚。\n",
    "English": "\nFor example:\nExample 1: If Zhang Qiang's father is Mark, and no further information about familial "
    "relationships is provided in the text, then the oldest relative Zhang Qiang can trace back to in the provided text "
    "is Mark.\nExample 2: If Li Ming's grandmother is Zhang Hong, and Zhang Hong's father is Zhang Qiang, and no further "
    "information about familial relationships is provided in the text, then the oldest relative Li Ming can trace back "
    "to in the provided text is Zhang Qiang.\nExample 3: If Xiao Ming is Zhang Hong's great-granddaughter, Zhang Hong's "
    "grandmother is Wang Hua, and Wang Hua's father is Wang Gang, and no further information about familial "
    "relationships is provided in the text, then the oldest relative Xiao Ming can trace back to in the provided text is "
    "Wang Gang.",
}


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
    """Return the people of a language, whom a JSON document lists in one text.

    Raises:
        DataError: There is no such language.
    """
    language = source.arguments["language"]
    if language not in _ENDS:
        raise DataError(f"there is no language '{language}'", hint="choose Chinese or English")
    people: list[str] = source.document(path)[language].split(",")
    return people


def _people(source: Source) -> list[str]:
    return all_names(source, f"{source.arguments['path']}/{source.arguments['file_name']}")


def _shuffled(sentences: list[str], stream: random.Random, *, with_empty: bool) -> str:
    """Return sentences in another order; upstream sometimes shuffles an empty one with them."""
    parts = [*sentences, *([""] if with_empty else [])]
    stream.shuffle(parts)
    return "".join(parts)


def _old_story(source: Source, people: Sequence[str], stream: random.Random) -> tuple[list[str], str]:
    language = source.arguments["language"]
    names = stream.sample(people, source.arguments["num_needles"])
    sentences, _ = told(names, _OLD_TEMPLATES[language], _OLD_TERMS[language], stream)
    asked = _OLD_QUESTIONS[language].format(last=names[-1])
    return names, f"{_shuffled(sentences, stream, with_empty=True)} {asked}"


def old(source: Source) -> list[Row]:
    """Open questions; upstream draws without a seed, here the draws follow from the settings' seed and the path."""
    people, stream = _people(source), random_stream(str(source.arguments["path"]))
    made = []
    for _ in range(source.arguments["repeats"]):
        names, asked = _old_story(source, people, stream)
        prompt = asked + _OLD_EXAMPLES[source.arguments["language"]]
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
