"""One way of writing exams, as a value: :class:`Dialect`.

A dialect is a folder whose ``__init__`` holds a :class:`Dialect`, and a line in :mod:`proctor.dialects.registry`; a
package brings one under the entry point ``proctor.dialects``. What does the work is named as ``module:function`` and
imported when it is used, so that asking whose file it is imports no dialect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proctor.foreign_text import read_source

if TYPE_CHECKING:
    from proctor.dialects.foreign_flags import Flag
    from proctor.errors import Diagnostic
    from proctor.recipes.exam import Exam
    from proctor.recipes.options import ExamOptions


@dataclass(frozen=True, slots=True)
class Entry:
    """Something that has a name.

    Attributes:
        name: What to type.
        kind: ``exam``, ``benchmark``, ``card``, ``task``, ``template``, ``format``, ``metric``, ``link`` …
        description: One line on what it is; may be empty.
        source: Where it was found: the title of a catalog, or a file.
        tags: As saved with the artifact.
    """

    name: str
    kind: str
    description: str
    source: str
    tags: dict[str, Any] = field(default_factory=dict)


Named = Callable[[str], object] | None
"""Whether a name in lower case is wanted; ``None`` where all are. Asked first: there are tens of thousands."""

if TYPE_CHECKING:
    Exams = list[Exam] | None
    Checked = tuple[list[Path], list[Diagnostic]]
    Resolve = str | Callable[[str, ExamOptions], Exams]
    Listing = str | Callable[[tuple[str, ...], Named], Iterator[Entry]]
    Validate = str | Callable[[Path], Checked]
    Words = str | Callable[[str], Flag | None]


@dataclass(frozen=True, slots=True)
class Conversion:
    """How exams leave a dialect, and how they enter it. All functions are given by reference.

    Attributes:
        form: What ``proctor convert --to`` takes for this dialect; empty where nothing is written in it.
        ending: Of files in that form.
        read: ``read(exam, first question) -> Graded``: what grades an exam of this dialect, in names of all.
        write: ``write(written exam) -> text``: any exam in this form.
        again: ``again(exam, name) -> ConvertedExam``: an exam of this dialect as the file that it came from.
        rewrite: ``rewrite(name, to, options) -> ConvertedExam | None``: a file of this dialect in its
            own words; ``None`` where the name is not one, or the form is for :attr:`write`.
        rewritten: Forms that only ``rewrite`` gives, with their endings.
    """

    form: str = ""
    ending: str = ".yaml"
    read: str = ""
    write: str = ""
    again: str = ""
    rewrite: str = ""
    rewritten: Mapping[str, str] = field(default_factory=dict)

    @property
    def forms(self) -> dict[str, str]:
        """What ``--to`` takes, each with the ending of its files."""
        return {**({self.form: self.ending} if self.form else {}), **self.rewritten}


@dataclass(frozen=True, slots=True)
class Dialect:
    """One way of writing exams. A function is given as it is, or as ``module:function``.

    Attributes:
        name: The name of the dialect, and of its folder.
        recognises: Whether a text could name an exam of this dialect: by its ending, its first bytes, its shape.
        resolve: From a name and the options of a run to exams; ``None`` where the dialect does not know the name.
        claims: Names that it is asked about before all others.
        list: From further folders, and a test of names in lower case, to what there is.
        validate: From a file or a folder to the files of this dialect, and their problems.
        convert: How exams leave it and enter it.
        words: From an option of its own system's command line to what that is here.
        knows: From a name and further folders to whether the dialect lists it, whatever lies in the working folder.
        models: From what follows ``--model`` to the models of a file of this dialect, by the text that means each.
        lists_models: From a file to the models that sit its exams where nobody names another: of each its name, what
            ``--model`` takes, and its arguments.
    """

    name: str
    recognises: Callable[[str], bool]
    resolve: Resolve
    claims: Callable[[str], bool] = lambda _name: False
    list: Listing | None = None
    validate: Validate | None = None
    convert: Conversion = Conversion()
    words: Words | None = None
    knows: str | None = None
    models: str | None = None
    lists_models: str | None = None

    def exams(self, name: str, options: ExamOptions) -> Exams:
        """Return the exams that a name means, ``None`` where it is not one of this dialect.

        Raises:
            ProctorError: It is one, and cannot be built.
        """
        return loaded(self.resolve)(name, options) if self.recognises(name) else None

    def entries(self, include_paths: tuple[str, ...], named: Named) -> Iterator[Entry]:
        """Yield what there is: exams, and all else that has a name."""
        if self.list is not None:
            yield from loaded(self.list)(include_paths, named)

    def checked(self, path: Path) -> Checked:
        """Return the files of this dialect that a path is or has in it, and their problems; nothing is run."""
        return ([], []) if self.validate is None else loaded(self.validate)(path)

    def flag(self, option: str) -> Flag | None:
        """Return what an option of its own system's command line is here; ``None`` where that has none of the name."""
        return None if self.words is None else loaded(self.words)(option)


def loaded(reference: str | Callable[..., Any]) -> Callable[..., Any]:
    """Return the function that a reference ``module:function`` means, imported now."""
    if not isinstance(reference, str):
        return reference
    module, _, name = reference.partition(":")
    found: Callable[..., Any] = getattr(import_module(module), name)
    return found


def names_file(name: str, *endings: str) -> bool:
    """Whether a name is the path of a file with one of some endings, whatever stands behind ``::`` or in brackets."""
    path = name.partition("::")[0].partition("[")[0]
    return path.lower().endswith(endings) and Path(path).is_file()


def config_file(name: str, usual: str, endings: tuple[str, ...], is_one: Callable[[bytes], bool]) -> Path | None:
    """Return the file that a name is the path of: a folder with the usual file in it, or a file, with ``::PART``.

    ``is_one`` says whether a text is one; a ``run.yaml``, which may hold one, never is.
    """
    place = name.partition("::")[0]
    inside = Path(place, usual)
    file = inside if place and inside.is_file() else Path(place)
    return file if "=" not in place and is_config_file(file, endings, is_one) else None


def is_config_file(file: Path, endings: tuple[str, ...], is_one: Callable[[bytes], bool]) -> bool:
    """Whether a file is one that :func:`config_file` finds."""
    if file.suffix not in endings or not file.is_file():
        return False
    try:
        text = read_source(file)
    except OSError:
        return False
    if not is_one(text):
        return False
    from proctor.running.run_files import is_run_file

    return not is_run_file(file)
