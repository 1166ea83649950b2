"""Files of tagged words, as CoNLL has them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from proctor.data.fields import Row
from proctor.data.loaders import LazyLoader
from proctor.effects import Effect, reading
from proctor.errors import DataError, Location, needed

if TYPE_CHECKING:
    pass
from proctor.data.files import located, opened


class LoadIOB(LazyLoader):
    """Sentences of IOB (CoNLL-U style) files: tokens with tags of named entities.

    Rows have ``idx``, ``text``, ``tokens``, ``ner_tags`` and ``annotator``.

    Attributes:
        files: A path or URL for each split.
        column_names: Names of the columns; ``token`` and ``tag`` must be among them.
        fix_tags: Make ``O`` of tags that contain ``OTH`` and of ``B-O``.
    """

    _default_policy = ["proprietary"]
    files: dict[str, str]
    column_names: list[str] | tuple[str, ...] = ("id", "token", "tag", "misc", "annotator")
    fix_tags: bool = True
    encoding: str = "utf-8"

    @override
    def get_splits(self) -> list[str]:
        return list(self.files)

    @override
    def split_generator(self, split: str) -> Iterator[Row]:
        with needed("conllu", "loaders", "LoadIOB"):
            import conllu
        self.act()
        path = located(self.files[split])
        with opened(path, "r", self.encoding) as file:
            try:
                for number, sentence in enumerate(conllu.parse_incr(file, fields=tuple(self.column_names))):
                    yield self._row(sentence, number)
            except conllu.exceptions.ParseException as error:
                raise DataError("the file is not valid IOB", location=Location(path), why=str(error)) from None

    @override
    def effects(self) -> Iterable[Effect]:
        places = (located(path) for path in self.files.values())
        return [effect for place in places for effect in reading(place, self.author, self.type_name())]

    def _row(self, sentence: Any, number: int) -> Row:
        tokens = [token["token"] for token in sentence]
        tags = [token["tag"] for token in sentence]
        if self.fix_tags:
            tags = ["O" if "OTH" in tag or tag == "B-O" else tag for tag in tags]
        annotators = [token.get("annotator") for token in sentence]
        return {
            "idx": str(sentence.metadata.get("sent_id", number)),
            "text": sentence.metadata.get("text", " ".join(tokens)),
            "tokens": tokens,
            "ner_tags": tags,
            "annotator": ["" if name is None else name for name in annotators],
        }
