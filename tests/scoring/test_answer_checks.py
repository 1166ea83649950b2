"""Checks of inspect's scorers: what of a completion is compared with its targets."""

import pytest

from proctor.scoring.answer_checks import RIGHT, WRONG, answer, exact, f1, includes, match, pattern

ENDS, BEGINS, HOLDS, IS = match(), match("begin"), match("any"), match("exact")
NUMBER = {place: match(place, numeric=True) for place in ("begin", "end", "any", "exact")}


@pytest.mark.parametrize(
    "check, said, targets, value, found",
    [
        (includes(), "It is PARIS.", ["paris"], RIGHT, "it is paris."),
        (includes(ignore_case=False), "It is PARIS.", ["Paris"], WRONG, "It is PARIS."),
        (ENDS, "It is Paris. ", ["paris"], RIGHT, "It is Paris."),
        (ENDS, "Paris it is", ["Rome", "Paris"], WRONG, "Paris it is"),
        (BEGINS, "(Paris) it is", ["paris"], RIGHT, "(Paris) it is"),
        (HOLDS, "I say Paris, sir", ["Paris"], RIGHT, "I say Paris, sir"),
        (IS, "'Paris!'", ["paris"], RIGHT, "'Paris!'"),
        (IS, "It is Paris", ["paris"], WRONG, "It is Paris"),
        (NUMBER["end"], "of 3, it is $1,250.00.", ["1250"], RIGHT, "1250"),
        (NUMBER["end"], "1250 or 3", ["1250"], WRONG, "3"),
        (NUMBER["begin"], "**1250** or 3", ["1,250"], RIGHT, "1250"),
        (NUMBER["begin"], "none", ["5"], WRONG, ""),
        (NUMBER["any"], "of 3, 5 and 7", ["5"], RIGHT, "5"),
        (NUMBER["any"], "of 3 and 7", ["5"], WRONG, "of 3 and 7"),
        (NUMBER["any"], "<42", ["42"], WRONG, "<42"),
        (NUMBER["any"], "(42)?", ["42"], RIGHT, "42"),
        (NUMBER["exact"], "123456.4", ["123460"], RIGHT, "1.2346e+05"),
        (NUMBER["exact"], "it is 5", ["5"], WRONG, "it is 5"),
        (NUMBER["end"], "it is paris", ["Paris"], RIGHT, "it is paris"),
        (pattern("it is ([a-z]+)"), "It is Paris", ["paris"], RIGHT, "Paris"),
        (pattern("it is ([a-z]+)", ignore_case=False), "It is Paris, it is so", ["so"], RIGHT, "so"),
        (pattern("nothing"), "It is Paris", ["paris"], WRONG, None),
        (pattern(r"(\w+) and (\w+)"), "a and b", ["b"], RIGHT, "b"),
        (pattern(r"(\w+) and (\w+)"), "a and b", ["c"], WRONG, None),
        (pattern(r"(\w+) and (\w+)", match_all=True), "a and b", ["a", "b"], RIGHT, "ab"),
        (pattern(r"(\w+) and (\w+)", match_all=True), "a and c", ["a", "b"], WRONG, None),
        (pattern("[a-z]+"), "paris", ["paris"], RIGHT, "paris"),
        (pattern("x*"), "paris", [""], WRONG, ""),
        (answer("letter"), "ANSWER: A\nANSWER: b", ["B"], RIGHT, "b"),
        (answer("word"), "ANSWER: Paris.", ["paris"], RIGHT, "Paris"),
        (answer("line"), "ANSWER: New York", ["new york"], RIGHT, "New York"),
        (exact, "The 5.0 apples!", ["5 apples"], RIGHT, "The 5.0 apples!"),
        (exact, "", [""], WRONG, ""),
        (f1(), "the quick fox", ["a quick brown fox"], 0.8, "the quick fox"),
        (f1(["brown"]), "quick fox", ["quick brown fox", "cat"], 1.0, "quick fox"),
        (f1(), "cat", ["dog"], 0.0, "cat"),
        (f1(), "", ["dog"], 0.0, ""),
    ],
)
def test_what_is_compared_and_what_is_read_out(check, said, targets, value, found):
    assert check(said, targets) == (value, found)
