"""Functions over all rows of exams whose answers a model judges: rows carry the judge's prompt."""
# ruff: noqa: RUF001 - Chinese

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from proctor.data.fields import Row
from proctor.dialects.aisbench.datasets.rows_knowledge import RowFunction
from proctor.dialects.aisbench.datasets.upstream_texts import constants
from proctor.errors import DataError

_LATER = {name: "{" + name + "}" for name in ("prediction", "prediction2", "prediction_r1", "prediction_r2")} | {
    name: "{" + name + "}" for name in ("prediction1_r1", "prediction1_r2", "answer_1")
}
"""Places of a judge's prompt that stay open until there are answers."""


def _compassbench(rows: Sequence[Row], arguments: Mapping[str, Any]) -> list[Row]:
    texts = constants(f"datasets.subjective.{arguments['module']}")
    made = []
    for row in rows:
        template = texts["base_prompt_zh" if row["language"] == "zh" else "base_prompt_en"]
        judge = {"lan": row["language"], "level": row["others"]["level"], "category": row["category"]}
        prompt = template.replace("{question}", row["question"])
        made.append(
            {"question": row["question"], "judge_prompt": prompt, "judge": {**judge, "question": row["question"]}}
        )
    return made


_RULES = {
    "writing_rule": ("重写", "创作", "自然语言处理"),
    "qa_rule": ("领域知识问答",),
    "reasoning_rule": ("推理", "代码"),
    "align_rule": ("人类对齐", "角色扮演", "日常对话"),
}


def _compass_arena_bench(rows: Sequence[Row], arguments: Mapping[str, Any]) -> list[Row]:
    """CompassArena: questions of one turn, or conversations, with the prompts of a single and of a comparing judge."""
    texts = constants("datasets.subjective.compass_arena_subjective_bench")
    kind = next((each for each in ("singleturn", "multiturn") if each in arguments["name"]), "")
    if not kind:
        raise DataError(f"there is no '{arguments['name']}' of CompassArena", hint="singleturn… or multiturn…")
    return [_arena_row(row, kind, texts) for row in rows]


def _arena_row(row: Row, kind: str, texts: Mapping[str, Any]) -> Row:
    rule = next((name for name, categories in _RULES.items() if row["category"] in categories), None)
    if rule is None:
        raise DataError(f"there is no category '{row['category']}' of CompassArena")
    question = row["question"]["content"] if kind == "singleturn" else ""
    words = {"rule": texts[rule], "question": question, **_LATER}
    prompts = {
        f"{judge}_judge_prompt": texts[f"{judge}_{kind}_base_prompt"].format(**words)
        for judge in ("pointwise", "pairwise")
    }
    judged = {"category": row["category"], "difficulty": row["difficulty"]}
    if kind == "multiturn":
        return {"dialogue": row["conversation"], **prompts, "judge": judged}
    return {
        "question": question,
        **prompts,
        "judge": {"question": question, "answer": row["answer"]["content"], **judged},
    }


def _wildbench(rows: Sequence[Row], arguments: Mapping[str, Any]) -> list[Row]:
    """WildBench: conversations of real users, with a checklist for the judge."""
    texts = constants("datasets.subjective.wildbench")
    kinds = {"single": "score_prompt", "pair": "pair_prompt"}
    if arguments["eval_mode"] not in kinds:
        raise DataError(f"there is no eval_mode '{arguments['eval_mode']}'", hint="choose single or pair")
    template, raw = texts[kinds[arguments["eval_mode"]]], arguments.get("raw", False)
    return [_wild_row(row, template, raw=raw) for row in rows]


def _wild_row(row: Row, template: str, *, raw: bool) -> Row:
    said = row["turn"]
    names = {"user": "user" if raw else "HUMAN", "assistant": "assistant"}
    shown = {"user": "USER", "assistant": "ASSISTANT"}
    history = "".join(f"{shown[each['role']]}: {each['content']}\n\n" for each in said[:-1] if each["role"] in shown)
    dialogue = [{"role": names.get(each["role"], each["role"]), "content": each["content"]} for each in said]
    if not raw:
        dialogue.append({"role": "assistant", "content": ""})
    prompt = template.replace("{history}", history).replace("{user_query}", said[-1]["content"])
    prompt = prompt.replace("{checklist}", "".join(f"- {item}\n" for item in row["checklist"]))
    judged = {"other": None, "primary_tag": row["primary_tag"], "secondary_tag": row["secondary_tag"]}
    return {
        "dialogue": dialogue,
        "history": history,
        "prompt": prompt,
        "judge": {**judged, "question_id": row["session_id"]},
    }


def _mtbench101(rows: Sequence[Row], arguments: Mapping[str, Any]) -> list[Row]:
    """MT-Bench-101: every turn of a conversation as a row of its own, after the turns before it."""
    texts = constants("datasets.subjective.mtbench101")
    return [made for row in rows for made in _turns(row, texts, raw=bool(arguments.get("raw")))]


def _turns(row: Row, texts: Mapping[str, Any], *, raw: bool) -> Iterator[Row]:
    task, said, history = row["task"], list[Row](), ""
    system = texts["judge"] + texts["unique_prompt"][task] + texts["score_format"]
    for place, turn in enumerate(row["history"]):
        spoken = [{"role": "user", "content": turn["user"]}]
        spoken += [{"role": "assistant", "content": turn["bot"]}] if turn["bot"] else []
        said = said + spoken
        history += f"\n\n Human: {turn['user']}\n\nAssistant: "
        if place or task not in texts["skip_first_tasks"]:
            named = {"task": task, "multi_id": row["id"], "turn_id": str(place + 1)}
            shown = said[:-1] if raw and said[-1]["role"] == "assistant" else said
            prompt = f"The dialogue need to be judged is: \n *** \n {history} {{prediction}} \n ***"
            if task in texts["need_ref_tasks"]:
                prompt += f"\n\n                    The reference solution is: \n ### \n {said} \n ###\n\n"
            words = {"system_prompt": system, "prompt_template": prompt}
            yield {"dialogue": [dict(each) for each in shown], **named, **words, "judge": named}
        history += turn["bot"]


def _mtbench(rows: Sequence[Row], arguments: Mapping[str, Any]) -> list[Row]:
    """MT-Bench: two turns, with the prompt of a single or of a comparing judge."""
    texts = constants("datasets.subjective.mtbench")
    return [_mtbench_row(row, texts, arguments) for row in rows]


def _mtbench_row(row: Row, texts: Mapping[str, Any], arguments: Mapping[str, Any]) -> Row:
    asked, several = row["dialogue"], arguments["multi_turn"]
    with_reference = row["capability"] in texts["NEED_REF_CATS"]
    kind = arguments["judge_type"]
    name = f"{kind}_math_v1" if with_reference else "pair_v2" if kind == "pair" else "single_v1"
    prompt = texts[name + ("_multi_turn" if several else "")]
    references = row["others"]["reference"] if with_reference else ["", ""]
    words = {
        "question": asked[0]["content"],
        "question_1": asked[0]["content"],
        "ref_answer_1": references[0],
        **_LATER,
    }
    if several:
        words |= {"question_2": asked[2]["content"], "ref_answer_2": references[1]}
    spoken = [each["content"] for each in asked if each["role"] == "user"]
    others = {**row["others"], "round": len(asked) // 2, "question": " ".join(spoken)}
    return {
        "dialogue": asked,
        "capability": row["capability"],
        "system_prompt": prompt["system_prompt"],
        "prompt_template": prompt["prompt_template"].format(**words),
        "others": others,
        "judge": {"capability": row["capability"], "others": others},
    }


def _writingbench(rows: Sequence[Row], arguments: Mapping[str, Any]) -> list[Row]:
    """WritingBench: a prompt of the judge for each criterion."""
    del arguments
    template = constants("datasets.subjective.writingbench")["base_prompt"]
    made = []
    for row in rows:
        prompts = [template.format(question=row["query"], criteria=each, **_LATER) for each in row["criteria"]]
        judged = {"index": row["index"], "domain1": row["domain1"], "domain2": row["domain2"], "query": row["query"]}
        made.append({"question": row["query"], "judge": {**judged, "judge_prompt_list": prompts}})
    return made


_ASSISTANT = "你是一个智能助手"


def _csimpleqa(rows: Sequence[Row], arguments: Mapping[str, Any]) -> list[Row]:
    """Chinese SimpleQA: questions as messages, with the judge's prompt."""
    del arguments
    template = constants("datasets.chinese_simpleqa")["csimpleqa_judge_prompt_new"]
    made = []
    for row in rows:
        asked = [{"role": "system", "content": f"{_ASSISTANT}。"}, {"role": "user", "content": row["question"]}]
        prompt = template.format(question=row["question"], target=row["answer"], predicted_answer="{prediction}")
        named = {"primary_category": row["primary_category"], "question": row["question"], "question_id": row["id"]}
        made.append(
            {
                "primary_category": row["primary_category"],
                "question": row["question"],
                "gold_ans": row["answer"],
                "messages": asked,
                "system_prompt": f"{_ASSISTANT}，请根据给定问题、标准答案和模型预测的答案来评估模型的回答是否正确。",
                "prompt_template": prompt,
                "judge": named,
            }
        )
    return made


_GUIDANCE = ("Score", "Scoring Details", "Personalized Feedback")


def _elbench_edu(rows: Sequence[Row], arguments: Mapping[str, Any]) -> list[Row]:
    del arguments
    made = []
    for row in rows:
        question = row.get("question") or row.get("Question", "")
        reference = json.dumps({name: row[name] for name in _GUIDANCE if name in row}, ensure_ascii=False)
        judged = {"task": "highlevel_edu", "subject": row.get("Subject", ""), "reference": reference}
        made.append({"question": question, "judge": {**judged, "question": question}})
    return made


def _elbench_general(rows: Sequence[Row], arguments: Mapping[str, Any]) -> list[Row]:
    del arguments
    made = []
    for row in rows:
        said = row.get("input") or []
        question = said[0].get("content", "") if isinstance(said, list) and said else str(said)
        made.append({"question": question, "target": str(row.get("target", ""))})
    return made


FUNCTIONS: Mapping[str, RowFunction] = {
    "compassbench": _compassbench,
    "compass_arena_bench": _compass_arena_bench,
    "wildbench": _wildbench,
    "mtbench101": _mtbench101,
    "mtbench": _mtbench,
    "writingbench": _writingbench,
    "csimpleqa": _csimpleqa,
    "elbench_edu": _elbench_edu,
    "elbench_general": _elbench_general,
}
