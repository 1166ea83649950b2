"""What evaluators of exams read out of answers: programs, formulas, options, boxes, values of other languages."""

import pytest

from proctor.errors import ScoringError
from proctor.scoring.evaluators.boxes import smart_size
from proctor.scoring.evaluators.cases import Cases
from proctor.scoring.evaluators.code import _contest_task, contest_programs, mbpp_program_plain, strict_tests
from proctor.scoring.evaluators.contests import _is_expected, first_block, last_assertion
from proctor.scoring.evaluators.exams import gaokao, kaoshi, read_formula
from proctor.scoring.evaluators.foreign_values import java_value, javascript_value
from proctor.scoring.evaluators.judgement_readers import _answer_score, _overall
from proctor.scoring.evaluators.long_texts import _trimmed, judged_word, wanted_word
from proctor.scoring.evaluators.pictures import _mmmu_named, answer_line, boxed_formula, lettered_option
from proctor.scoring.judges.judgements import Contest, contests_of
from proctor.scoring.judges.prompts import words_of
from proctor.scoring.judges.wording import digest_of_words
from proctor.scoring.mathematics.formula_places import _boxed, _bracketed, bare
from proctor.scoring.metrics.hugging_face import squad_with_no_answers
from proctor.scoring.programs.sql import with_columns_of


@pytest.mark.parametrize(
    "text, formula",
    [
        (r"so \boxed{x = 3}", "3"),
        (r"\boxed{3", None),
        ("it is $a = 4$ or $y=5$", "5"),
        ("$a$", "a"),
        ("x = 2 = 7.", "7"),
        ("x = 7\\nthen", "7"),
        ("first 12, then 3.5", "3.5"),
        ("nothing", None),
    ],
)
def test_a_formula_stands_in_a_box_between_dollars_behind_an_equals_sign_or_is_a_number(text, formula):
    assert read_formula(text) == formula


def test_only_opencompass_leaves_a_dollar_sign_before_a_number():
    assert (read_formula("it costs $5"), read_formula("it costs $5", "aisbench")) == ("$5", "5")


@pytest.mark.parametrize(
    "text, block",
    [
        ("```python\na\n```", "a\n"),
        ("```\na\n``` ```b\nc```", "\na\n"),
        ("so ```a", "a"),
        ("a", "a"),
        ("```a```", "a"),
    ],
)
def test_the_first_block_is_without_the_word_behind_its_fence(text, block):
    assert first_block(text) == block


@pytest.mark.parametrize(
    "text, program",
    [
        ("```python\ndef f(): pass\n# Test\nassert f()```", "def f(): pass"),
        ("```\na\n```", "a"),
        ("say ```a\nb", "a\nb"),
        ("Here is it:\na", "a"),
        ("[BEGIN] 'a\n'[DONE] b", "a"),
        ("x #test y", "x"),
    ],
)
def test_a_program_is_the_first_block_without_its_own_tests(text, program):
    assert mbpp_program_plain(text) == program


@pytest.mark.parametrize(
    "text, programs",
    [
        ("```python\na\n``` and ```python\nb```", ["a", "b"]),
        ("```java\na\n``` ```\nb\n``` ```c```", ["a", "b", "c"]),
        ("so ```a", ["a"]),
        ("BEGIN a DONE b", ["a"]),
        ("'```python\\na\\n```'", ["a"]),
        ("a\\b'", ["ab"]),
    ],
)
def test_all_programs_of_an_answer_to_a_contest_are_tried(text, programs):
    assert contest_programs(text) == programs


def test_tests_of_a_contest_call_the_class_where_the_program_has_one():
    tests = "assert f(1) == 2\nassert g(f(1)) == 3"
    plain = _contest_task("def f(x): ...", tests, "")
    own = _contest_task("class Solution: ...", tests, "")
    assert plain.tests == strict_tests(tests) == "assert __same_value(f(1), 2)\nassert __same_value(g(f(1)), 3)"
    assert own.tests == "assert __same_value(Solution().f(1), 2)\nassert __same_value(Solution().g(f(1)), 3)"
    assert own.limits.seconds == 29.0
    assert strict_tests("assert (") == "assert ("
    assert strict_tests("assert a != b\nassert a == b == c") == "assert a != b\nassert a == b == c"


@pytest.mark.parametrize(
    "text, line",
    [
        ("assert f() == 1\nassert f() == 2\nend", "assert f() == 2"),
        ("so\n```python\n1\n```\nend", "1"),
        ("```\n0\n```\n```Python\n1\n2\n```", "1\n2"),
        ("```\n0\n```", "0"),
        ("no fence", ""),
        ("```\nopen", ""),
    ],
)
def test_the_last_assertion_is_what_a_test_expects_else_what_stands_in_a_fence(text, line):
    assert last_assertion(text) == line


@pytest.mark.parametrize(
    "test, output, is_right",
    [
        ("assert f() == [1, 2]", "[1, 2]", True),
        ("assert f() == 'a'", '"a"', True),
        ("# assert f() == 2\nassert f() == 1", "1", True),
        ("1", "1", True),
        ("a", '"a"', False),
        ("assert f() != 1", "1", False),
        ("assert f(", "1", False),
        ("assert f() == 1", "not JSON", False),
    ],
)
def test_an_expected_value_is_right_where_it_equals_the_tests(test, output, is_right):
    assert _is_expected(test, output) is is_right


@pytest.mark.parametrize(
    "text, answer",
    [
        ("so\n Answer: b", "A"),
        ("Answer: B", " B"),
        ("Answer: B\nAnswer: C", "Answer: B\nAnswer: C"),
        ("nothing", "nothing"),
    ],
)
def test_one_line_says_the_answer(text, answer):
    assert answer_line(text) == answer


CHOICES = {"A": "x", "B": "y"}


@pytest.mark.parametrize(
    "said, named",
    [
        ("ANSWER: B", "B"),
        ("the answer: A.", "A"),
        ("ANSWER: C", ""),
        ("it is B or so", "B"),
        ("none", ""),
    ],
)
@pytest.mark.parametrize("choices", [CHOICES, '{"A": "x", "B": "y"}'])
def test_a_choice_is_named_behind_answer_else_by_the_last_capital(said, named, choices):
    assert _mmmu_named(said, {"type": "multiple-choice", "choices": choices}) == named


def test_an_open_answer_stands_behind_its_word_or_is_all_that_is_said():
    assert _mmmu_named("so\nANSWER:  a b \n", {"type": "open"}) == "a b"
    assert _mmmu_named("a b", {}) == "a b"


def test_an_option_and_a_formula_are_read_from_their_lines():
    assert lettered_option("ANSWER: B", CHOICES) == "B"
    assert boxed_formula(r"so \boxed{x}") == boxed_formula("so.\nANSWER: x") == "x"
    assert boxed_formula("hm") == "hm"


@pytest.mark.parametrize(
    "given, gold, kept",
    [
        ("abcdefghij and more", "abcdefghij", "abcdefghij"),
        ("abcdefghijjx", "abcdefghij", "abcdefghij"),
        ("ab", "abcdefghij", "ab"),
    ],
)
def test_an_answer_is_cut_where_the_needle_ends(given, gold, kept):
    assert _trimmed(given, gold) == kept


def test_a_story_is_judged_in_a_word():
    assert [wanted_word(each) for each in ("It is True.", "untrue", "no")] == ["true", "true", ""]
    said = ["(maybe) untrue, but False!", "untrue", "x [FACT: true]", "", "so: true."]
    assert [judged_word(each) for each in said] == ["false", "true", "", "", "true"]


@pytest.mark.parametrize(
    "text, score",
    [
        ('```json\n{"answer_score": 1}\n```', 1),
        ('```\n{"answer_score": "0"}\n```', 0),
        ('```json\n{broken\n``` but {"answer_score": 1}', 1),
        ("```json\n[1]\n```", None),
        ('{"answer_score": 2}', None),
        ("nothing", None),
    ],
)
def test_the_score_of_a_judge_stands_in_its_json(text, score):
    assert _answer_score(text) == score


@pytest.mark.parametrize(
    "text", ['{"Overall Score": 1}', '```json\n{"Overall Score": "1"}\n```', '```{"Overall Score": 1}```']
)
def test_an_overall_score_is_a_number(text):
    assert _overall(text) == 1


@pytest.mark.parametrize(
    "value, kind, inner, found",
    [
        ("5L", "long", None, 5),
        ("1.5f", "float", None, 1.5),
        ('new ArrayList<>(Arrays.asList("a", "b"))', "ArrayList", "String", ["a", "b"]),
        ("new ArrayList<>(Arrays.asList(1, 2L))", "ArrayList", None, [1, 2]),
        ("words", "ArrayList", None, "words"),
        ("words", "HashMap", None, "words"),
        ("words", "Array", None, "words"),
    ],
)
def test_values_of_java(value, kind, inner, found):
    assert java_value(value, kind, inner) == found


@pytest.mark.parametrize(
    "value, kind, inner, found",
    [
        ("[1, 'a', true]", "array", None, [1, "a", True]),
        ("['1', '2']", "array", "String", ["1", "2"]),
        ("[]", "array", None, []),
        ("words", "array", None, "words"),
        ("{}", "dict", None, {}),
        ("words", "dict", None, "words"),
        ("{'a': 1, 'b': 'x'}", "dict", None, {"a": 1, "b": "x"}),
    ],
)
def test_values_of_javascript(value, kind, inner, found):
    assert javascript_value(value, kind, inner) == found


def test_types_that_nobody_reads_are_refused():
    for read in (java_value, javascript_value):
        with pytest.raises(ValueError, match="values of the type 'Void' cannot be read"):
            read("x", "Void", None)


def test_sides_of_a_picture_become_multiples_within_the_limits():
    assert smart_size(100, 200) == (96, 192)
    assert smart_size(1, 1, factor=4, min_pixels=64, max_pixels=256) == (8, 8)
    assert smart_size(30, 60, factor=4, min_pixels=64, max_pixels=256) == (8, 20)
    assert smart_size(8, 8, factor=4, min_pixels=64, max_pixels=64) == (8, 8)
    with pytest.raises(ValueError, match="the sides of the picture differ"):
        smart_size(1, 201)


def test_contests_of_systems_are_told_once_each():
    scores = {
        "system_0_response_name": "a",
        "system_0_compared_to": ["b", "c"],
        "system_0_selections": ["a", "c"],
        "system_0_other_order_selection": ["b"],
        "system_1_response_name": "b",
        "system_1_compared_to": ["a", "c"],
        "system_1_selections": ["a"],
        "system_2_response_name": "c",
    }
    assert [each[:3] for each in contests_of(scores)] == [("a", "b", "a"), ("a", "c", "c"), ("b", "c", None)]
    assert all(isinstance(each, Contest) for each in contests_of(scores))


def test_a_prompt_is_shown_as_text_with_who_speaks_where_several_do():
    messages = [{"role": each, "content": each[0]} for each in ("system", "user", "assistant")]
    assert (words_of("x"), words_of(messages[:2])) == ("x", "s\nu")
    assert words_of(messages) == "system: s\nuser: u\nassistant: a"


def test_questions_without_an_answer_count_in_squad():
    wanted = [
        {"id": str(place), "answers": {"text": texts}} for place, texts in enumerate([["x y", "x"], [], [], ["c"]])
    ]
    said = [("the x", 0.1), ("", 0.0), ("x", 0.9), ("d", 0.5)]
    given = [
        {"id": str(n), "prediction_text": text, "no_answer_probability": doubt} for n, (text, doubt) in enumerate(said)
    ]
    found = squad_with_no_answers(given, wanted, no_answer_threshold=0.5)
    assert {name: value for name, value in found.items() if "f1" not in name} == {
        "exact": 75.0,
        "total": 4,
        "HasAns_exact": 50.0,
        "HasAns_total": 2,
        "NoAns_exact": 100.0,
        "NoAns_total": 2,
        "best_exact": 75.0,
        "best_exact_thresh": 0.1,
    }
    assert (found["f1"], found["HasAns_f1"], found["NoAns_f1"], found["best_f1_thresh"]) == (75.0, 50.0, 100.0, 0.1)
    with pytest.raises(ScoringError, match="1 questions have no prediction"):
        squad_with_no_answers(given[:3], wanted)


def test_a_query_takes_the_columns_of_another():
    pytest.importorskip("sqlglot")
    assert (
        with_columns_of("SELECT a, b FROM t", "SELECT c FROM u WHERE d = 1", None) == "SELECT a, b FROM u WHERE d = 1"
    )
    with pytest.raises(ScoringError, match="have to be SELECT"):
        with_columns_of("SELECT a FROM t", "DROP TABLE t", "sqlite")
    with pytest.raises(ScoringError, match="cannot be parsed"):
        with_columns_of("SELECT FROM (", "SELECT a FROM t", None)


@pytest.mark.parametrize(
    "kind, given, gold, score",
    [
        ("single_choice", "A, no: B", ["B"], 100.0),
        ("single_choice", "none", ["Z"], 100.0),
        ("multi_choice", "【答案】 A C, as it is said here", ["AC"], 0.0),
        ("multi_choice", "x【答案】 A C, as it is said here", ["AC"], 100.0),
        ("multi_choice", "so 【答案】 A C", ["AC"], 100.0),
        ("multi_choice", "so 【答案】 A", ["AC"], 50.0),
        ("multi_choice", "so 【答案】 AB", ["AC"], 0.0),
        ("multi_choice", "D and then it is AC", ["AC"], 100.0),
        ("multi_question_choice", "【答案】A 【答案】: B", ["A", "C"], 50.0),
        ("multi_question_choice", "A then C then D", ["A", "C"], 100.0),
        ("multi_question_choice", "A", ["A", "C"], 0.0),
        ("five_out_of_seven", "ABCDEFG", list("ABCDG"), 80.0),
        ("cloze", "so 【答案】x y", "x", 100.0),
        ("judgment", "so 【答案】x y", "y", 0.0),
        ("judgment", "nothing", "x", 0.0),
    ],
)
def test_points_of_chinese_exams(kind, given, gold, score):
    verdict = kaoshi(Cases([given], [gold]), kind)
    assert (verdict.scores, verdict.correct) == ({"score": score}, [score == 100])
    if kind not in ("cloze", "judgment"):
        assert gaokao(Cases([given], [gold]), kind).scores == {"score": score}


def test_points_of_chinese_exams_are_those_of_all_questions_together():
    cases = Cases(["【答案】A 【答案】B 【答案】C", "A"], [["A", "B", "D"], ["A"]])
    verdict = gaokao(cases, "multi_question_choice")
    assert verdict.scores == {"score": 75.0}
    assert verdict.instances["score"] == [pytest.approx(200 / 3), 100.0]
    assert gaokao(cases, "subjective").scores == {"score": 0}
    with pytest.raises(ScoringError, match="no question_type 'subjective'"):
        kaoshi(cases, "subjective")
    with pytest.raises(ScoringError, match="the references have no questions"):
        gaokao(Cases(["A"], [[]]), "single_choice")


def test_what_a_judge_is_asked_with_has_a_short_digest_of_its_own():
    digest = digest_of_words(["a", {"b": 1, "a": 2}])
    assert len(digest) == 12
    assert digest == digest_of_words(["a", {"a": 2, "b": 1}]) != digest_of_words(["a", {"a": 2, "b": 2}])


@pytest.mark.parametrize(
    "text, formulas",
    [
        (r"\(a\) and \[b\]", ["b"]),
        (r"\[b\] and \(a\)", ["a"]),
        ("$a$ or $b$ or $c", ["b"]),
        (r"$a$ then \(b\)", ["b"]),
        (r"costs \$5", []),
        (r"\) a \(", []),
        ("a", []),
    ],
)
def test_the_last_formula_in_dollars_or_brackets_counts(text, formulas):
    assert _bracketed(text) == formulas


def test_boxes_may_be_nested_and_those_that_never_end_hold_nothing():
    assert _boxed(r"\boxed{a{b}} \boxed{c") == ["a{b}"]
    assert _boxed(r"\boxed{" + "{" * 300 + "}" * 301) == []
    assert [bare("**a**"), bare("$a$ or $b$"), bare(r"\(a\)"), bare("a,")] == ["a", "$a$ or $b$", "a", "a"]
