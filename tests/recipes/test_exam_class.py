"""The class Exam: what the core does for every dialect."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import pytest

from proctor.engines.engine import Engine
from proctor.errors import DataError, Diagnostic, MissingFieldError, ScoringError, TemplateError
from proctor.ir import Choose, Decoding, Exchange, Failure, Generate, Pair, Prompt, Response, turn
from proctor.ir.question import Answered, Question
from proctor.recipes.answer_seeds import derived_seed
from proctor.recipes.exam import Exam, add_groups, limited, suited
from proctor.recipes.exam_parts import Context
from proctor.recipes.fingerprint import Definition, FingerprintMaker, RowsDigest, instance_digest
from proctor.recipes.honours import Honoured, Refused
from proctor.recipes.options import OPTIONS, ExamOptions, given_options
from proctor.recipes.selection import Opened
from proctor.scoring.grades import Grade
from proctor.scoring.scores import Score


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
        "honours": dict.fromkeys(OPTIONS, Honoured()),
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


def test_a_conversation_needs_an_engine_that_takes_messages():
    class Texts(Scoring):
        takes_chats = False

    talk = exam(asker=Asker(frozenset({"converse"})))
    assert talk.problems(Chatting()) == []
    (problem,) = talk.problems(Texts())
    assert (problem.what, "one string" in problem.why) == ("'scoring' cannot sit 'e'", True)


def test_an_engine_that_writes_nothing_sits_exams_that_only_compare():
    class Mute(Scoring):
        model: str = "mute"
        can_generate = False

    for kinds in ({"choose"}, {"choose", "likelihood", "rolling"}):
        assert exam(asker=Asker(frozenset(kinds))).problems(Mute()) == []
    for kinds in ({"generate"}, {"choose", "generate"}):
        (problem,) = exam(asker=Asker(frozenset(kinds))).problems(Mute())
        assert (problem.what, problem.why) == ("'mute' cannot sit 'e'", "this engine writes no text")


@pytest.mark.parametrize("kind, engine", [("text", Chatting), ("messages", Chatting)])
def test_a_variant_keeps_the_ceiling_and_the_groups(kind, engine):
    made = exam(
        asker=Asker(frozenset({"choose"})), ceiling=3, groups=(Group("a"),), variants={kind: lambda: exam(variant=kind)}
    )
    found = made.suited_to(engine())
    assert (found.variant, found.ceiling, [each.name for each in found.groups]) == (kind, 3, ["a"])
    assert len(texts(found)) == 3


def test_choices_become_text_only_where_there_are_choices_and_no_log_probabilities():
    variants = {"text": lambda: exam(variant="text")}
    assert exam(variants=variants).suited_to(Chatting()).variant == ""
    choosing = exam(asker=Asker(frozenset({"choose"})), variants=variants)
    assert choosing.suited_to(Scoring()).variant == ""
    assert choosing.suited_to(Engine()).variant == "text"
    assert exam(asker=Asker(frozenset({"choose"}))).suited_to(Engine()).variant == ""
    assert exam(variants={"messages": lambda: exam(variant="m")}).suited_to(Engine()).variant == ""


@dataclass
class Seeing(Asker):
    """Shows what it is told of who is asked."""

    decoding: Decoding = field(default_factory=Decoding)

    def compile(self, opened, context):
        def ask(each, row, demos):
            request = Generate(Prompt(f"{row['n']}"), self.decoding)
            seen.append((context, context.gives_seed(request)))
            return Question(each.listed, row, Exchange(()), (request, request))

        return ask


seen: list = []


class Warm(Engine):
    def decoding_defaults(self):
        return {"temperature": 0.5}


@pytest.mark.parametrize(
    "decoding, engine, seed, is_seeded",
    [
        (Decoding(), Engine(), 3, False),
        (Decoding(), Warm(), 3, True),
        (Decoding(), Warm(), 0, True),
        (Decoding(), Warm(), None, False),
        (Decoding(temperature=0.5), Engine(), 3, True),
        (Decoding(temperature=0.5, seed=1), Engine(), 3, False),
        (Decoding(temperature=0.5), Engine(), None, False),
    ],
)
def test_answers_that_are_drawn_have_seeds_of_the_run(decoding, engine, seed, is_seeded):
    seen.clear()
    made = exam(asker=Seeing(decoding=decoding), options=ExamOptions(seed=seed, limit=1)).suited_to(engine)
    (question,) = made.questions()
    ((context, gives_seed),) = seen
    assert context == Context(draws=isinstance(engine, Warm), reseeds=seed is not None)
    assert gives_seed == is_seeded
    wanted = [derived_seed(seed, 0), derived_seed(seed, 1)] if is_seeded else [decoding.seed] * 2
    assert [each.decoding.seed for each in question.requests] == wanted
    assert [each.decoding.temperature for each in question.requests] == [decoding.temperature] * 2


def test_copies_of_a_row_draw_with_seeds_of_their_own():
    class Copied(Rows):
        def open(self, selection):
            return replace(super().open(selection), copies=2)

    made = exam(
        rows=Copied([{"n": 0}, {"n": 0}]), asker=Seeing(decoding=Decoding(temperature=1)), options=ExamOptions(seed=5)
    )
    seeds = [[each.decoding.seed for each in question.requests] for question in made.questions()]
    assert seeds == [[derived_seed(5, 0), derived_seed(5, 1)], [derived_seed(5, 1), derived_seed(5, 2)]]


@pytest.mark.parametrize("given", [{"options": ExamOptions(group_by=("m",))}, {"options": ExamOptions(clusters="m")},
                                   {"clusters": "m"}])  # fmt: skip
def test_fields_that_scores_are_grouped_by_are_looked_for_while_asking(given):
    with pytest.raises(MissingFieldError, match="m"):
        exam(**given).questions()
    assert len(texts(exam(rows=Rows([{"n": 1, "m": 2}]), **given))) == 1
    assert len(texts(exam(clusters="m", options=ExamOptions(clusters="n")))) == 20, "the run says which"


def test_every_question_has_the_digest_of_its_row():
    rows = [{"n": 0}, Failure("row", "torn"), {"n": 2}]
    made = exam(rows=Rows(rows), asker=Asker(broken=frozenset({2})))
    questions = list(made.questions())
    assert [each.digest for each in questions] == [instance_digest(rows[0]), "", instance_digest(rows[2])]
    assert [each.number for each in questions] == [0, 1, 2]
    assert questions[2].instance == {"n": 2}
    maker, digests = FingerprintMaker(), RowsDigest()
    maker.add_all(questions)
    for each in questions:
        digests.add(each.digest)
    found = made.rows_digest()
    assert (found.in_order, found.as_set) == (digests.in_order, digests.as_set)
    assert (maker.made().data, maker.made().rows) == (found.in_order, found.as_set)
    part = replace(made, options=ExamOptions(limit=1)).rows_digest()
    assert part.in_order == exam(rows=Rows([{"n": 0}])).rows_digest().in_order != found.in_order


def test_the_unit_of_the_main_score_is_known_before_answers_where_somebody_knows_it():
    @dataclass
    class Knowing(Grader):
        declared_main: Score = field(default_factory=lambda: Score("acc", 0.0, unit="percent"))

    class Failing(Grader):
        @property
        def declared_main(self):
            raise ScoringError("there is no such metric")

    assert exam(grader=Knowing()).declared_main.unit == "percent"
    assert exam(grader=Knowing(), options=ExamOptions(predict_only=True)).declared_main is None
    assert exam(grader=Failing()).declared_main is None
    assert exam().declared_main is None


def test_what_is_wanted_of_answers_is_part_of_how_they_are_read():
    plain = exam(define=lambda: Definition(extraction=["strip"], metrics=["m"], held={"a": 1}))
    assert plain.definition == Definition(extraction=["strip"], metrics=["m"], held={"a": 1})
    found = {
        name: replace(plain, options=ExamOptions(**options)).definition.extraction
        for name, options in {
            "score": {"truncated": "score"}, "fail": {"truncated": "fail"}, "raw": {"answers": "raw"},
            "both": {"truncated": "fail", "answers": "raw"}, "answer": {"answers": "answer"},
        }.items()
    }  # fmt: skip
    assert found == {
        "score": ["strip"], "answer": ["strip"], "fail": [["strip"], ["truncated"]], "raw": [["strip"], ["answers"]],
        "both": [["strip"], ["truncated", "answers"]],
    }  # fmt: skip
    specified = replace(plain, options=ExamOptions(truncated="fail", answers="raw")).specification()
    assert specified == {"truncated": "fail", "answers": "raw", "artifacts": {"a": 1}}
    assert exam(define=lambda: Definition(extraction=1)).specification() == {}


class Heard(Grader):
    def grade(self, answered):
        return Grade({"texts": [response.texts for each in answered for response in each.responses]})


@pytest.mark.parametrize(
    "looks, options, text",
    [
        (True, {}, "<think>hm</think>yes"),
        (True, {"answers": "answer"}, "yes"),
        (True, {"answers": "raw"}, "yes"),  # which the log has decided
        (False, {}, "yes"),
    ],
)
def test_processors_that_look_for_thoughts_find_them_where_nobody_says_otherwise(looks, options, text):
    source = {"postprocessors": ["processors.regex[pattern=</think>(.*)]"]} if looks else {}
    made = exam(source=source, grader=Heard(), options=ExamOptions(**options))
    given = Response(("yes",), thoughts=("hm",), written=("<think>hm</think>yes",))
    question = Question(0, {}, Exchange(()), (Generate(Prompt("?")),))
    assert made.grade([Answered(question, (given,))]).scores["texts"] == [(text,)]


def test_losses_of_chats_are_asked_of_engines_that_give_them():
    class ScoresChats(Scoring):
        scores_chats = True

    chatting = exam(asker=Asker(frozenset({"rolling_chat"})))
    (problem,) = chatting.problems(Scoring())
    assert "losses of chat messages" in problem.why
    assert chatting.problems(ScoresChats()) == []
    (problem,) = exam(asker=Asker(frozenset({"rolling_chat"}))).problems(Chatting())
    assert "losses of chat messages" in problem.why


def test_options_that_are_refused_and_the_engine_are_said_together():
    problem = Diagnostic("no such metric")
    made = exam(options=ExamOptions(seed=1), honours={}, grader=Grader((problem,)), asker=Asker(frozenset({"choose"})))
    assert [each.what for each in made.problems(Engine())] == [
        "'e' cannot honour --seed", "no such metric", f"'{Engine().label}' cannot sit 'e'",
    ]  # fmt: skip


def test_an_exam_that_suits_itself_twice_stays_the_same():
    made = exam(longest=3).suited_to(Chatting())
    assert made.context.fits is not None
    plain = exam().suited_to(Chatting())
    assert plain.suited_to(Chatting()) is plain
    assert suited([plain], Chatting())[0] is plain


def test_a_pass_that_somebody_looked_into_goes_on_where_he_stopped():
    made = exam()
    looked = made.questions()
    first = next(looked)
    made.resume(iter([first, *looked]))
    assert texts(made) == [f"|{n}" for n in range(20)]


def test_a_good_row_among_the_first_shows_that_the_exam_works_wherever_it_stands():
    for good in (0, 3, 9):
        made = exam(rows=Rows([{"n": n} for n in range(12)]), asker=Asker(broken=frozenset(range(12)) - {good}))
        found = [question.failure is None for question in made.questions()]
        assert found == [number == good for number in range(12)]
    with pytest.raises(TemplateError, match="row 0"):
        exam(rows=Rows([{"n": 0}]), asker=Asker(broken=frozenset({0}))).questions()
