"""What the text functions of published exams read of answers."""

import pytest

from proctor.scoring.text.postprocessors import code, families, texts

FENCED = "Look:\n```python\nx = 1\n```\nbetter:\n```python\n  y = 2\n```\n"
READ = [
    (texts.first_line_stripped, "\n A cat sat. \nIt ran.", "A cat sat."),
    (texts.first_written_line, "\n\n A cat \nsat", " A cat "),
    (texts.after_chinese_answer, "所以答案是北京", "北京"),
    (texts.after_chinese_answer, "北京", "北京"),
    (texts.bbeh_choice, "So: The final answer is: (B)\nas I said", "b)"),
    (texts.bbeh_choice, "The answer is (C)", "c"),
    (texts.bbeh_choice, "D", "d"),
    (texts.bbeh_freeform, r"The answer is 1. The answer is: \boxed{\text{Two Apples}}", "two apples"),
    (texts.bbeh_freeform, "**Seven**\nand more", "seven"),
    (texts.scibench, r"The answer is \boxed{4.2} m", "4.2"),
    (texts.scibench, "first 3, then the answer is 1,250 or 1,300", "1300"),
    (texts.scibench, "it is unknown", "it is unknown"),
    (texts.gsm100_reference, "1,250,000", "1250000"),
    (texts.gsm100, "2 and 3. The answer is about $1,250. Not 7", "1250"),
    (texts.gsm100, "1250", ""),
    (texts.first_unsigned_number, "about -3.5 or 4", "3.5"),
    (texts.first_unsigned_number, "none", None),
    (texts.game24, "Steps:\nAnswer: (1 + 3) * 6 = 24", "(1 + 3) * 6 "),
    (texts.yes_if_true, True, "yes"),
    (texts.yes_if_true, "False", "no"),
    (texts.theoremqa, "the answer is 3.5. Surely the answer is 4", "3.5"),
    (texts.theoremqa, "3.5", "3.5"),
    (texts.theoremqa_last_line, "so\nthe value is about 3.5.", "about 3.5"),
    (texts.theoremqa_last_line, "Answer: it must be 7", "7"),
    (texts.selected_letters, "C and A, then C", "A, C"),
    (texts.selection, "I take selection 3 of 4", "Selection 3"),
    (texts.selection, "number 2", "Selection 2"),
    (texts.selection, "the fifth", "the fifth"),
    (texts.selection, None, ""),
    (texts.first_of_four, "it is b, not C", "B"),
    (texts.first_of_four, "none", "none"),
    (texts.boolean_tag, "no, or yes?", "<BOOLEAN> Yes </BOOLEAN>"),
    (texts.boolean_tag, "NO", "<BOOLEAN> No </BOOLEAN>"),
    (texts.boolean_tag, "maybe", None),
    (texts.plain_name, r"\text{Anna  Maria}", "Anna Maria"),
    (texts.plain_name, "\\[ \"Anna\"~'Maria' \\]", "Anna Maria"),
    (texts.plain_name, "", "None"),
    (families.answer_line, "Answer: 3\nAnswer: 1,250", "1250"),
    (families.bbh_freeform, "so the answer is: **red, blue**.\nbye", "red blue"),
    (families.bbh_freeform, "The answer is yes, of course", "Yes"),
    (families.bbh_freeform, "TRUE", "True"),
    (code.last_code_block, FENCED, "y = 2\n"),
    (code.last_code_block_whole, FENCED, "  y = 2\n"),
    (code.last_code_block, "z = 3", "z = 3"),
    (code.indented_start, "   a = 1\n    return a\nprint(2)", "    a = 1\n    return a"),
    (code.indented_start, "    return 1\n```\n    more", "    return 1"),
    (code.cruxeval_value, "\n[1, 2]\nbecause # done", "[1, 2]"),
]


@pytest.mark.parametrize("function, said, read", READ, ids=[f"{each[0].__name__}-{n}" for n, each in enumerate(READ)])
def test_an_answer_is_read_as_its_exam_reads_it(function, said, read):
    assert function(said) == read


def test_an_answer_is_handed_on_with_its_language():
    assert texts.with_language("ja", "de") == ("ja", "de")
