"""Functions of single rows of exams whose answers a model judges: rows carry the judge's prompt."""
# ruff: noqa: RUF001 - Chinese

from __future__ import annotations

from collections.abc import Iterator, Mapping

from proctor.data.fields import Row
from proctor.dialects.aisbench.datasets.rows_knowledge import Arguments, SingleRowFunction, Texts
from proctor.errors import DataError

_LATER = {name: "{" + name + "}" for name in ("prediction", "prediction2", "prediction_r1", "prediction_r2")} | {
    name: "{" + name + "}" for name in ("prediction1_r1", "prediction1_r2", "answer_1")
}
"""Places of a judge's prompt that stay open until there are answers."""

_RULES = {
    "writing_rule": ("重写", "创作", "自然语言处理"),
    "qa_rule": ("领域知识问答",),
    "reasoning_rule": ("推理", "代码"),
    "align_rule": ("人类对齐", "角色扮演", "日常对话"),
}


def _compass_arena_bench(row: Row, arguments: Arguments, texts: Texts) -> Row:
    """CompassArena: questions of one turn, or conversations, with the prompts of a single and of a comparing judge."""
    kind = next((each for each in ("singleturn", "multiturn") if each in arguments["name"]), "")
    rule = next((name for name, categories in _RULES.items() if row["category"] in categories), None)
    if not kind or rule is None:
        what = f"category '{row['category']}'" if kind else f"'{arguments['name']}'"
        raise DataError(f"there is no {what} of CompassArena", hint="its files are singleturn… and multiturn…")
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


def _wildbench(row: Row, arguments: Arguments, texts: Texts) -> Row:
    """WildBench: conversations of real users, with a checklist for the judge."""
    template = texts["score_prompt" if arguments["eval_mode"] == "single" else "pair_prompt"]
    said, raw = row["turn"], arguments.get("raw", False)
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


def _mtbench101(row: Row, arguments: Arguments, texts: Texts) -> list[Row]:
    """MT-Bench-101: every turn of a conversation as a row of its own, after the turns before it."""
    return list(_turns(row, texts, raw=bool(arguments.get("raw"))))


def _turns(row: Row, texts: Texts, *, raw: bool) -> Iterator[Row]:
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


def _mtbench(row: Row, arguments: Arguments, texts: Texts) -> Row:
    """MT-Bench: two turns, with the prompt of a single or of a comparing judge."""
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


def _writingbench(row: Row, _arguments: Arguments, texts: Texts) -> Row:
    """WritingBench: a prompt of the judge for each criterion."""
    asked = row["query"]
    prompts = [texts["base_prompt"].format(question=asked, criteria=each, **_LATER) for each in row["criteria"]]
    judged = {name: row[name] for name in ("index", "domain1", "domain2", "query")}
    return {"question": asked, "judge": {**judged, "judge_prompt_list": prompts}}


_ASSISTANT = "你是一个智能助手"


def _csimpleqa(row: Row, _arguments: Arguments, texts: Texts) -> Row:
    """Chinese SimpleQA: questions as messages, with the judge's prompt."""
    question, answer = row["question"], row["answer"]
    asked = [{"role": "system", "content": f"{_ASSISTANT}。"}, {"role": "user", "content": question}]
    template = texts["csimpleqa_judge_prompt_new"]
    return {
        "primary_category": row["primary_category"],
        "question": question,
        "gold_ans": answer,
        "messages": asked,
        "system_prompt": f"{_ASSISTANT}，请根据给定问题、标准答案和模型预测的答案来评估模型的回答是否正确。",
        "prompt_template": template.format(question=question, target=answer, predicted_answer="{prediction}"),
        "judge": {"primary_category": row["primary_category"], "question": question, "question_id": row["id"]},
    }


FUNCTIONS: Mapping[str, SingleRowFunction] = {
    "writingbench": _writingbench,
    "csimpleqa": _csimpleqa,
    "compass_arena_bench": _compass_arena_bench,
    "wildbench": _wildbench,
    "mtbench101": _mtbench101,
    "mtbench": _mtbench,
}
