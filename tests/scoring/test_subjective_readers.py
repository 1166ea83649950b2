"""How judgements of subjective exams are read; 10,140 were compared with OpenCompass (``conformance/aisbench``)."""

from __future__ import annotations

import json

import pytest

from proctor.scoring.evaluators.judgement_readers import REPORTS, labels_of_parts
from proctor.scoring.evaluators.pair_readers import CANDIDATE, OTHER, PAIR_READERS, Judged
from proctor.scoring.evaluators.subjective_readers import SUBJECTIVE_REPORTS


def scores(name, said, golds):
    return SUBJECTIVE_REPORTS[f"{name}_postprocess"](said, [{}] * len(said), golds).scores


def test_alignbench_reads_the_last_dictionary_or_its_lines():
    gold = {"capability": "数学计算"}
    written = "事实正确性: 8\n满足用户需求: 7\n清晰度 6\n完备性: 5\n综合 9"
    said = ["{'事实正确性': 1} 所以 {'事实正确性': 8, '综合得分': 7}", written, "{'怪': 3, '综合得分': 3}", "没有"]
    found = scores("alignbench", said, [gold] * 4)
    assert (found["数学计算"], found["逻辑推理"], found["中文推理总分"], found["总分"]) == (8.0, 0.0, 4.0, 2.0)


def test_followbench_counts_whole_and_single_constraints():
    said = ["YES", "['YES', 'NO']", "```\n['YES', 'True', 'YES']\n```", "['YES', eval('1')]"]
    found = scores("followbench", said, [{"level": level} for level in (1, 2, 3, 2)])
    assert (found["HSR_L1"], found["HSR_L2"], found["HSR_L3"], found["HSR_AVG"]) == (1.0, 0.0, 1.0, 0.4)
    assert (found["SSR_L2"], found["SSR_AVG"]) == (0.5, 0.5)


def test_the_worst_turn_is_the_conversations_in_mtbench101():
    golds = [{"task": "CM", "multi_id": 1}, {"task": "CM", "multi_id": 1}, {"task": "SI", "multi_id": 2}]
    assert scores("mtbench101", ["[[7]]", "[5]", "[9]"], golds) == {"avg": 7.0, "CM": 5.0, "SI": 9.0}


def test_hellobench_weighs_a_checklist():
    points = [{"checklist_id": i, "evaluation_score": 1} for i in range(7)]
    gold = {"num_checklist": 7, "subcategory": "music"}
    found = scores("hellobench", [json.dumps(points), json.dumps(points[:6])], [gold] * 2)
    assert found["overall_score"] == pytest.approx(100.0, abs=0.1)


def test_elbench_reads_what_stands_in_brackets():
    found = scores("elbench_safety", ["[[3]] [[1]]", "评分：0", "?"], [{"task": "安全回答"}] * 3)
    assert found == {"overall": 50.0, "应回答": 50.0}
    assert scores("elbench_highlevel_edu", ["[[8]]", "[[11]]"], [{}] * 2) == {"score": 80.0}


def test_documents_and_requirements():
    rows = [{"document_category": "a b"}, {"document_category": "c"}]
    found = REPORTS["aa_lcr_llmjudge_postprocess"](["CORRECT", "it is incorrect"], rows, ["", ""]).scores
    assert (found["accuracy"], found["accuracy_a_b"], found["incorrect_count"]) == (50.0, 100.0, 1)
    said = ['{"rubrics_check": {"1": "Yes, it is", "2": "No"}, "SATISFIED_ALL_REQUIREMENTS": "NO"}', "nothing"]
    found = REPORTS["advancedif_rubric_postprocess"](said, [{}] * 2, [""] * 2).scores
    assert (found["micro_pass_rate"], found["parse_error_rate"]) == (50.0, 50.0)


def test_compass_arena_counts_wins_and_what_was_judged_by_position():
    reader = PAIR_READERS["compassarena_postprocess"]
    gold = {"capability": "x", "question": "q"}
    judged = [
        Judged("选择：A", OTHER, gold),
        Judged("Choice: A", CANDIDATE, gold),
        Judged("Choice: C", OTHER, {**gold, "question": "r"}),
    ]
    read = [(each, reader.points(each)) for each in judged]
    assert reader.scores(read) == {"x": 33.33, "position_bias": 1}
    assert reader.with_arguments({"summary_type": "half_add", "check_pos_bias": False}).scores(read) == {
        "x": 50.0,
        "position_bias": 0,
    }


@pytest.mark.parametrize(
    "text, labels",
    [
        ('<think>B</think>```json\n[{"label": "A", "explanation": "\\alpha"}]\n```', ["A"]),
        ('{"judgements": [{"label": "A"}, {"label": "B"}]}', ["A", "B"]),
        ('so "label": "A"', ["A"]),
        ("A", [None]),
    ],
)
def test_each_part_of_an_answer_has_a_label(text, labels):
    assert labels_of_parts(text) == labels
