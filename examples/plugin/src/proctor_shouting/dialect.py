"""A dialect in one file: from names to exams. Here files of lines ``question = answer``, called ``*.quiz``."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from proctor.data import MultiStream
from proctor.dialects import Dialect, Entry
from proctor.errors import DataError, Diagnostic, Location
from proctor.ir import Answered, Ask, Decoding, Exchange, Failure, Generate, Prompt, Question, turn
from proctor.recipes import Context, Demos, Exam, ExamOptions, Honoured, Honours, Kind, Opened, Refused, Row, Selection
from proctor.scoring import ExamGrader, Grading, MetricNames, MetricScorers, Reading


def resolve_name(name: str, options: ExamOptions) -> list[Exam] | None:
    """Return the exams that a name means; ``None`` where there is no such file."""
    return [quiz(Path(name), options)] if Path(name).is_file() else None


def list_quizzes(include_paths: tuple[str, ...], named: Callable[[str], object] | None) -> Iterator[Entry]:
    """Yield the quizzes in the folders of ``--include-path`` whose names are wanted."""
    for file in (each for folder in include_paths for each in sorted(Path(folder).glob("*.quiz"))):
        if named is None or named(str(file).lower()):
            yield Entry(str(file), "exam", "a quiz", str(file.parent))


def validate(path: Path) -> tuple[list[Path], list[Diagnostic]]:
    """Return the quizzes that a path is or has in it, and their lines that cannot be used."""
    files = sorted(path.rglob("*.quiz")) if path.is_dir() else [path] if path.suffix == ".quiz" else []
    rows = [row for file in files for row in QuizRows(file).open(Selection()).rows]
    return files, [Diagnostic(row.message) for row in rows if isinstance(row, Failure)]


QUIZ = Dialect(
    "quiz",
    recognises=lambda name: name.endswith(".quiz"),
    resolve=resolve_name,
    list=list_quizzes,
    validate=validate,
)
"""What the entry point names. A larger dialect gives ``module:function`` instead, which is imported on first use."""


def quiz(path: Path, options: ExamOptions) -> Exam:
    """Return a quiz as an exam: rows, how they are asked, how answers are graded, what a run may change."""
    grader = ExamGrader([Grading("", read_answer, (), MetricScorers(["metrics.accuracy"]))], MetricNames())
    return Exam(
        name=path.stem,
        description=f"questions of {path.name}",
        dialect="quiz",
        source={"file": str(path), "text": path.read_text(encoding="utf-8")},
        rows=QuizRows(path),
        asker=QuizAsker(options.decode(Decoding(max_tokens=16, stop=("\n",)))),
        grader=grader.without_scorers() if options.predict_only else grader,
        options=options,
        honours=HONOURS,
    )


HONOURS: Honours = {
    **dict.fromkeys(("limit", "samples", "predict_only", "decoding"), Honoured()),
    "num_demos": Refused("a quiz has no solved questions to show"),
}
"""What a run may change. An option without an entry is refused by name, too; nothing is dropped in silence."""


@dataclass(frozen=True)
class QuizRows:
    """The lines of a file. The core selects; a line that cannot be used is a failed instance, not the end."""

    path: Path

    def open(self, selection: Selection) -> Opened:
        """Return the rows."""
        rows = list(self._rows())
        return Opened(rows, lambda: len(rows))

    def _rows(self) -> Iterator[Row | Failure]:
        for number, line in enumerate(self.path.read_text(encoding="utf-8").splitlines(), 1):
            question, equals, answer = line.partition("=")
            row = {"question": question.strip(), "answer": answer.strip()}
            yield row if equals else Failure("row", f"{Location(str(self.path), number)}: there is no '='")

    def stages(self) -> Iterator[tuple[str, MultiStream]]:
        """Yield what ``proctor show --steps`` shows."""
        rows = [dict(row) for row in self._rows() if not isinstance(row, Failure)]
        yield "read the lines", MultiStream.from_iterables({"test": rows})


@dataclass(frozen=True)
class QuizAsker:
    """Puts a row in words."""

    decoding: Decoding
    kinds: frozenset[Kind] = frozenset({"generate"})

    def compile(self, opened: Opened, context: Context) -> Callable[[Ask, Row, Demos], Question]:
        """Return a function from a row to a question; it is called once for each."""

        def ask(place: Ask, row: Row, demos: Demos) -> Question:
            if not row["question"]:
                raise DataError("the question is empty")
            exchange = Exchange((turn("user", row["question"]),), references=(row["answer"],))
            return Question(place.listed, row, exchange, (Generate(Prompt(f"{row['question']}\n"), self.decoding),))

        return ask


def read_answer(answered: Answered) -> tuple[Reading]:
    """Return what is graded of an answer."""
    text = answered.responses[0].text.strip()
    return (Reading(text, answered.question.exchange.references, answered.question.instance),)
