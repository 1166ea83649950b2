"""Functions of rows of exams of knowledge, of science and of instructions."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from proctor.data.fields import Row
from proctor.dialects.aisbench.datasets.prompt_texts import prompt_texts
from proctor.dialects.aisbench.datasets.upstream_texts import package_yaml
from proctor.errors import DataError
from proctor.foreign_text import parse_json

Texts = Mapping[str, Any]
"""Constants of a module of upstream's package, by name."""
Arguments = Mapping[str, Any]
"""Of the config."""
RowFunction = Callable[[Sequence[Row], Arguments], list[Row]]
"""From all rows of a split to other rows."""
SingleRowFunction = Callable[[Row, Arguments, Texts], Row | list[Row]]
"""From a row to another one, several or none."""
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _lettered(options: Sequence[Any]) -> str:
    return "\n".join(f"{_LETTERS[i]}. {option}" for i, option in enumerate(options))


def _optioned(row: Row, question: str, options: list[Any], label: Any, mode: str) -> Row:
    """Return a row of a medical exam: options below the question, and the first and last letter for the judge."""
    asked = {"options": options, "question": f"{question}\n{_lettered(options)}", "label": label, "prompt_mode": mode}
    return {**row, **asked, "start": "A", "end": chr(64 + len(options))}


def _medbullets(row: Row, arguments: Arguments, _texts: Texts) -> Row:
    if arguments["prompt_mode"] != "zero-shot":
        return row
    names = ["opa", "opb", "opc", "opd", *(["ope"] if row.get("ope", "") != "" else [])]
    options = [row.get(name, "") for name in names]
    return _optioned(row, row.get("question", ""), options, row.get("answer_idx"), "zero-shot")


def _nejmai(row: Row, arguments: Arguments, _texts: Texts) -> Row:
    if arguments["prompt_mode"] != "zero-shot":
        return row
    lines = [line.strip() for line in row.get("Choices", "").strip().splitlines() if line.strip()]
    options = [re.sub(r"^[A-Z]\.\s*", "", line) for line in lines]
    return _optioned(row, row["Question"], options, row["Answer"], "zero-shot")


def _supergpqa(row: Row, arguments: Arguments, _texts: Texts) -> Row:
    mode = arguments["prompt_mode"]
    template = package_yaml(f"datasets/supergpqa/supergpqa_dataset_config/prompt/{mode}.yaml")["prompt_format"][0]
    options = "\n".join(f"{_LETTERS[i]}) {option}" for i, option in enumerate(row["options"]))
    return {**row, "infer_prompt": template.format(f"{row['question']}\n{options}"), "prompt_mode": mode}


def _chem_exam(row: Row, _arguments: Arguments, _texts: Texts) -> Row:
    """Questions with their parts numbered, two levels deep."""
    prompt, output, kinds = row["question"], "", []
    for i, part in enumerate(row.get("sub_question", ()), 1):
        prompt += f"\nQ{i}: {part['question']}"
        if "sub_question" not in part:
            output += f"\nA{i}: {part['answer']}"
            kinds.append(str(part["qa_type"]))
        for j, piece in enumerate(part.get("sub_question", ()), 1):
            prompt += f"\nQ{i}.{j}: {piece['question']}"
            output += f"\nA{i}.{j}: {piece['answer']}"
            kinds.append(str(piece["qa_type"]))
    if "sub_question" not in row:
        output, kinds = row["answer"], [str(row["qa_type"])]
    return {"id": row["id"], "prompt": prompt, "output": output, "has_img": row["has_img"], "qa_type": kinds}


def _adversarial_glue(rows: Sequence[Row], arguments: Arguments) -> list[Row]:
    """Attacked sentences, then the originals of those that have one."""
    names = arguments["originals"]
    wanted = [f"original_{name}" for name in names]
    columns: list[str] = list(dict.fromkeys([*rows[0], *wanted])) if rows else []
    attacked: list[Row] = [
        {name: row.get(name) for name in columns} for row in rows if any(row.get(name) for name in wanted)
    ]
    restored = []
    for row in attacked:
        own = {name: row[old] for name, old in zip(names, wanted, strict=True) if row[old]}
        restored.append({**row, **own, "type": "original"})
    return [{**row, "type": row.get("type"), "label_option": chr(65 + row["label"])} for row in (*attacked, *restored)]


def _ten_thousand_of_test(rows: Sequence[Row], arguments: Arguments) -> list[Row]:
    """Of the test split 10,000 rows, drawn as ``shuffle(seed=42)`` draws."""
    if arguments["split"] != "test":
        return list(rows)
    return [rows[i] for i in np.random.default_rng(42).permutation(len(rows))[:10_000]]


_QUESTION = re.compile(
    r"^(?P<stem>.*?)(?:A\.)\s*(?P<A>.*?)\s*B\.\s*(?P<B>.*?)\s*C\.\s*(?P<C>.*?)\s*D\.\s*(?P<D>.*?)Answer:", re.DOTALL
)


def _scieval(row: Row, arguments: Arguments, _texts: Texts) -> Row | list[Row]:
    """Questions of SciEval that have four options in their text."""
    if row.get("type") != "multiple-choice" or arguments["category"] not in (None, row.get("category")):
        return []
    answers, match = row.get("answer") or row.get("answers") or [], _QUESTION.search(row.get("question", ""))
    if not answers or not match:
        return []
    parts = {name: match[name].strip() for name in ("stem", *"ABCD")}
    return {"input": parts.pop("stem"), **parts, "target": answers[0]}


_EXPERIMENTS: Mapping[str, Callable[[str], bool]] = {
    "exp_updates": lambda name: "exp_updates" in name and "randomoff" not in name,
    "exp_keys": lambda name: "exp_keys" in name,
    "exp_valuelength": lambda name: "exp_valuelength" in name,
    "exp_sequential": lambda name: "extra_exp_updates_randomoff" in name,
}


def _pi_llm(rows: Sequence[Row], arguments: Arguments) -> list[Row]:
    """PI-LLM: rows of an experiment, their prompts as messages."""
    chosen = _EXPERIMENTS.get(arguments["experiment_filter"] or "")
    kept = [row for row in rows if chosen is None or chosen(row.get("experiment", ""))]
    return [{**row, "prompt": _messages(row.get("prompt"))} for row in kept[: arguments["max_samples"] or None]]


def _messages(prompt: Any) -> Any:
    if not isinstance(prompt, str):
        return prompt
    try:
        return parse_json(prompt)
    except json.JSONDecodeError:
        return [{"role": "user", "content": prompt}]


def _multi_if(row: Row, _arguments: Arguments, _texts: Texts) -> Row:
    """Multi-IF: three turns, each with its instructions; the table leaves shorter conversations out, as upstream."""
    dialogue: list[Any] = []
    reference = {"language": row["language"]}
    for turn in (1, 2, 3):
        message = parse_json(row[f"turn_{turn}_prompt"])
        dialogue += [message, {"role": "assistant", "content": ""}]
        reference[f"turn_{turn}_instruction_id_list"] = parse_json(row[f"turn_{turn}_instruction_id_list"])
        given = parse_json(row[f"turn_{turn}_kwargs"])
        reference[f"turn_{turn}_kwargs"] = [parse_json(each) if isinstance(each, str) else each for each in given]
        reference[f"turn_{turn}_prompt"] = message["content"]
    return {"dialogue": dialogue, "reference": reference}


def _biodata(row: Row, _arguments: Arguments, _texts: Texts) -> Row:
    """Prompts with the form that the answer is to have."""
    return {**row, "prompt": row["prompt"] + _answer_form(row)}


def _answer_form(row: Row) -> str:
    kind = row["meta_data"]["ans_type"]
    if kind == "dict":
        shown = ", ".join(f'"{key}": xx' for key in row["ground_truth"])
        return f"Please put your final answer with \\boxed{{}} in json format, such as {{{shown}}}"
    if kind not in ("cls", "number", "string"):
        raise DataError(f"there is no ans_type '{kind}'")
    words: str = prompt_texts("biodata")[row["meta_data"]["task"] if kind == "string" else kind]
    return f"\n{words}"


def _advanced_if(row: Row, _arguments: Arguments, _texts: Texts) -> Row:
    """AdvancedIF: a conversation, what was said before the last question, and the rubrics of the judge."""
    history = parse_json(row["conversation_history"])
    asked = [i for i, message in enumerate(history) if message.get("role") == "user"]
    before = [message for i, message in enumerate(history) if not asked or i != asked[-1]]
    lines, turn = [], 1
    for message in before:
        lines.append(f"{message.get('role', '')} [{turn}]: {message.get('content', '')}")
        turn += message.get("role", "") == "assistant"
    system = history[0].get("content", "") if history and history[0].get("role") == "system" else ""
    return {
        "conversation_history": history,
        "full_conversation_text": "\n".join(lines),
        "last_user_question": history[asked[-1]].get("content", "") if asked else "",
        "system_prompt": system,
        "rubrics_text": _rubrics(row.get("prompt_metadata", "")),
        "benchmark_name": row.get("benchmark_name", ""),
    }


def _rubrics(metadata: Any) -> Any:
    if isinstance(metadata, str):
        try:
            metadata = parse_json(metadata) if metadata else {}
        except json.JSONDecodeError:
            return ""
    return metadata.get("rubrics", "") if isinstance(metadata, dict) else ""


_BABILONG_PARTS = (("instruction", "use_instruction"), ("examples", "use_examples"), ("post_prompt", "use_post_prompt"))


def _babilong(row: Row, arguments: Arguments, texts: Texts) -> Row:
    """BABILong: a story in a haystack, in the prompt of its task."""
    own = texts["DEFAULT_PROMPTS"][arguments["task"]]
    words = {name: own[name] if arguments[switch] else "" for name, switch in _BABILONG_PARTS}
    text = texts["DEFAULT_TEMPLATE"].format(**words, context=row["input"].strip(), question=row["question"])
    return {"prompt": [text.strip()], "answer": [row["target"]]}


FUNCTIONS: Mapping[str, RowFunction] = {
    "adversarial_glue": _adversarial_glue,
    "ten_thousand_of_test": _ten_thousand_of_test,
    "pi_llm": _pi_llm,
}
SINGLE_ROW_FUNCTIONS: Mapping[str, SingleRowFunction] = {
    "medbullets": _medbullets,
    "nejmai": _nejmai,
    "supergpqa": _supergpqa,
    "chem_exam": _chem_exam,
    "scieval": _scieval,
    "multi_if": _multi_if,
    "biodata": _biodata,
    "advanced_if": _advanced_if,
    "babilong": _babilong,
}
