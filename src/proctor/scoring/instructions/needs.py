"""Packages and data that checks of instructions need, by the instructions of a row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

_EXTRA = "pip install 'proctor[instructions]'"
_NLTK = f"nltk={_EXTRA}"
_LANGUAGES = (f"langdetect={_EXTRA}",)
_SENTENCES = (_NLTK, "nltk:tokenizers/punkt_tab=python -m nltk.downloader punkt_tab")
_NEEDED: Mapping[str, tuple[str, ...]] = {
    "language:response_language": _LANGUAGES,
    "change_case:english_capital": _LANGUAGES,
    "change_case:english_lowercase": _LANGUAGES,
    "change_case:capital_word_frequency": (_NLTK,),
    "length_constraints:number_sentences": _SENTENCES,
    "format:emoji": (f"emoji={_EXTRA}",),
    "format:title_case": _SENTENCES,
    "ratio:stop_words": (_NLTK, "nltk:corpora/stopwords=python -m nltk.downloader stopwords"),
    "words:odd_even_syllables": (f"syllapy={_EXTRA}",),
    "words:start_verb": (
        *_SENTENCES,
        "nltk:taggers/averaged_perceptron_tagger_eng=python -m nltk.downloader averaged_perceptron_tagger_eng",
    ),
    "words:keywords_specific_position": _SENTENCES,
    "words:words_position": _SENTENCES,
}
"""By instruction, of those that need any."""
_LIST = "instruction_id_list"


def packages_of(reference: object) -> Iterator[str]:
    """Yield what checking the answers to a row needs.

    Args:
        reference: The row's instructions: ``instruction_id_list``, or those of several turns
            (``turn_1_instruction_id_list``).
    """
    for key, names in reference.items() if isinstance(reference, Mapping) else ():
        if str(key).endswith(_LIST) and isinstance(names, list | tuple):
            for name in names:
                yield from _NEEDED.get(str(name), ())
