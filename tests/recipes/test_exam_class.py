"""The class Exam: what the core does for every dialect."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import pytest

from proctor.engines.engine import Engine
from proctor.errors import DataError, Diagnostic, TemplateError
from proctor.ir import Choose, Exchange, Failure, Generate, Pair, Prompt, turn
from proctor.ir.question import Question
from proctor.recipes.exam import Exam, add_groups, limited, suited
from proctor.recipes.honours import Honoured, Refused, all_honoured
from proctor.recipes.options import OPTIONS, ExamOptions, given_options
from proctor.recipes.selection import Opened
from proctor.scoring.grade import Grade


@dataclass
class Rows:
    rows: list = field(default_factory=lambda: [{"n": n} for n in range(20)])
    opened: int = 0

    def open(self, selection):
        self.opened += 1
        return Opened(self.rows, lambda: len(self.rows), pool=[{"n": 100 + n} for n in range(5)])

    def stages(self):
        return iter(())


@dataclass
class Asker:
    kinds: frozenset = frozenset({"generate"})
    broken: frozenset = frozenset()

    def compile(self, opened, context):
        def ask(each, row, demos):
            if row["n"] in self.broken:
                raise TemplateError(f"row {row['n']} has no field 'x'")
            shown = "".join(str(opened.pool[place]["n"]) for place in demos)
            prompt = Prompt(f"{shown}|{row['n']}" + ("" if context.fits is None else f"|{context.fits(Prompt('xyz'))}"))
            request = Generate(prompt) if "generate" in self.kinds else Choose((Pair(prompt, "a"), Pair(prompt, "b")))
            return Question(each.listed, row, Exchange((turn("user", prompt.text),)), (request,))

        return ask


class Draw:
    def bind(self, opened, seed):
        return lambda each, row: ((seed or 0) + each.place,)


@dataclass
class Grader:
    problems: tuple = ()

    def check(self) -> Iterator[Diagnostic]:
        return iter(self.problems)

    def grade(self, answered):
        return Grade({"n": len(list(answered))})


def exam(**given) -> Exam:
    values = {
        "name": "e",
        "description": "",
        "dialect": "test",
        "source": {},
        "rows": Rows(),
        "asker": Asker(),
        "grader": Grader(),
        "honours": all_honoured(OPTIONS),
    }
    return Exam(**{**values, **given})


def texts(made: Exam) -> list[str]:
    return [question.exchange.source for question in made.questions()]


class Chatting(Engine):
    model: str = "chatting"

    @property
    def only_chats(self):
        return True

    def count_tokens(self, prompt):
        return len(prompt.text)


class Scoring(Engine):
    model: str = "scoring"
    can_score = True


def test_questions_are_lazy_equal_each_time_and_rows_are_opened_once():
    rows = Rows()
    made = exam(rows=rows)
    assert texts(made) == texts(made) == [f"|{n}" for n in range(20)]
    assert rows.opened == 1


def test_the_draw_sees_the_seed_and_the_place():
    made = exam(draw=Draw(), options=ExamOptions(limit=2))
    assert texts(made) == ["100|0", "101|1"]
    assert texts(replace(made, options=ExamOptions(limit=2, seed=3))) == ["103|0", "104|1"]


def test_samples_are_those_of_the_exam_and_of_its_templates():
    options = ExamOptions(samples={"e": [3, 1]})
    assert texts(exam(options=options)) == ["|1", "|3"]
    assert texts(exam(name="e@cloze", options=options)) == ["|1", "|3"]
    assert len(texts(exam(name="other", options=options))) == 20


def test_a_limit_of_the_caller_never_raises_the_exams_own():
    assert len(texts(limited(exam(ceiling=4), 9))) == 4
    assert len(texts(limited(exam(ceiling=4), 2))) == 2
    assert len(texts(limited(exam(options=ExamOptions(limit=3)), 9))) == 3
    same = exam()
    assert limited(same, None) is same


def test_a_row_that_cannot_be_used_is_a_failed_question_with_its_place():
    questions = list(exam(asker=Asker(broken=frozenset({0, 15}))).questions())
    assert len(questions) == 20
    failed = [question for question in questions if question.failure is not None]
    assert [question.number for question in failed] == [0, 15]
    assert all(question.requests == () for question in failed)
    assert failed[1].failure.kind == "row"
    assert "e[15]" in failed[1].failure.message
    assert "has no field 'x'" in failed[1].failure.message


def test_a_failure_among_the_rows_is_kept_as_it_is():
    rows = [{"n": 0}, Failure("row", "torn"), {"n": 2}]
    questions = list(exam(rows=Rows(rows)).questions())
    assert [question.failure for question in questions] == [None, Failure("row", "torn"), None]


@pytest.mark.parametrize("broken", [frozenset(range(10)), frozenset(range(20))])
def test_an_exam_of_which_none_of_the_first_rows_can_be_used_is_refused(broken):
    with pytest.raises(TemplateError, match="row 0 has no field 'x'"):
        exam(asker=Asker(broken=broken)).questions()


def test_nine_unusable_rows_are_failures_the_tenth_good_one_shows_the_exam_works():
    questions = list(exam(asker=Asker(broken=frozenset(range(9)))).questions())
    assert [question.failure is None for question in questions] == [False] * 9 + [True] * 11


def test_an_empty_exam_is_an_error():
    with pytest.raises(DataError, match="the exam 'e' has no instance"):
        exam(rows=Rows([])).questions()


def test_options_are_honoured_or_refused_by_name():
    options = ExamOptions(seed=3, template="x", demos_as_turns=False)
    honours = {"seed": Honoured(), "template": Refused("it has one only", "leave it out")}
    assert given_options(options) == {"seed": 3, "template": "x", "demos_as_turns": False}
    found = exam(options=options, honours=honours).refused()
    assert [each.what for each in found] == ["'e' cannot honour --demos-as-turns", "'e' cannot honour --template"]
    assert (found[1].why, found[1].hint) == ("it has one only", "leave it out")
    assert exam(options=ExamOptions(include_paths=("x",)), honours={}).refused() == []


def test_what_the_engine_lacks_is_known_before_any_row():
    rows = Rows()
    choosing = exam(rows=rows, asker=Asker(frozenset({"choose"})))
    (problem,) = choosing.problems(Chatting())
    assert problem.what == "'chatting' cannot sit 'e'"
    assert choosing.problems(Scoring()) == []
    assert choosing.problems() == []
    assert rows.opened == 0


def test_problems_of_grading_are_known_before_anybody_is_asked():
    problem = Diagnostic("there is no metric 'acurracy'")
    assert exam(grader=Grader((problem,))).problems() == [problem]


def test_an_exam_suits_itself_to_an_engine():
    as_text = exam(name="e", variant="as text")
    choosing = exam(asker=Asker(frozenset({"choose"})), variants={"text": lambda: as_text})
    assert choosing.suited_to(Scoring()) is choosing
    assert choosing.suited_to(Chatting()).variant == "as text"
    messages = exam(variants={"messages": lambda: exam(variant="as messages")})
    assert messages.suited_to(Scoring()) is messages
    assert suited([messages], Chatting())[0].variant == "as messages"


def test_prompts_with_a_longest_length_are_counted_by_the_engine():
    assert texts(exam(longest=3, options=ExamOptions(limit=1)).suited_to(Chatting())) == ["|0|True"]
    assert texts(exam(longest=2, options=ExamOptions(limit=1)).suited_to(Chatting())) == ["|0|False"]
    assert texts(exam(longest=2, options=ExamOptions(limit=1)).suited_to(Scoring())) == ["|0|True"]  # it cannot count


@dataclass(frozen=True)
class Group:
    name: str

    def score(self, scores):
        return {}


def test_groups_are_added_once_each_and_kept_by_variants():
    made = add_groups(exam(), [Group("a"), Group("b")])
    assert [group.name for group in made.groups] == ["a", "b"]
    assert add_groups(made, [Group("b")]) is made
    twin = replace(made, variants={"messages": exam}).suited_to(Chatting())
    assert [group.name for group in twin.groups] == ["a", "b"]


def test_a_pass_that_has_begun_is_gone_on_with_once():
    rows = Counted([{"n": n} for n in range(5)])
    made = exam(rows=Rows(rows))
    made.begin()
    assert rows.read == 1
    assert len(list(made.afresh())) == 5
    assert rows.read == 6
    assert texts(made) == [f"|{n}" for n in range(5)]
    assert rows.read == 10  # the first was not read again
    assert texts(made) == [f"|{n}" for n in range(5)]
    assert rows.read == 15


def test_to_begin_an_exam_that_cannot_be_asked_is_an_error():
    with pytest.raises(DataError, match="has no instance"):
        exam(rows=Rows([])).begin()


class Counted(list):
    read = 0

    def __iter__(self):
        for each in super().__iter__():
            self.read += 1
            yield each


def test_the_seed_of_a_run_wins_over_the_exams_own_and_is_in_what_describes_it():
    source = {"file": "e.yaml"}
    own = exam(source=source, own_seed=7)
    said = own.specification()
    assert list(said.pop("artifacts")) == [__name__]  # code of nobody's dialect is held by digest
    assert (own.seed, said) == (7, {"file": "e.yaml", "seed": 7})
    given = replace(own, options=ExamOptions(seed=0))
    assert (given.seed, given.specification()["seed"]) == (0, 0)
    without = exam(source=source)
    assert without.seed is None
    assert without.specification().items() >= source.items()
    assert "seed" not in without.specification()
    assert without.specification() is not source


def test_an_engine_that_writes_nothing_sits_exams_that_only_compare():
    class Mute(Scoring):
        model: str = "mute"
        can_generate = False

    for kinds in ({"choose"}, {"choose", "likelihood", "rolling"}):
        assert exam(asker=Asker(frozenset(kinds))).problems(Mute()) == []
    for kinds in ({"generate"}, {"choose", "generate"}):
        (problem,) = exam(asker=Asker(frozenset(kinds))).problems(Mute())
        assert (problem.what, problem.why) == ("'mute' cannot sit 'e'", "this engine writes no text")
