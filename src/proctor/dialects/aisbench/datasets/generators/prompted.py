"""Rows that carry whole prompts, built from several files and from texts of upstream's package."""
# ruff: noqa: RUF001 - Chinese

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import product
from typing import Any

from proctor.data.fields import Row
from proctor.data.row_files import FileFormat
from proctor.dialects.aisbench.datasets.generators import LINES, Source
from proctor.dialects.aisbench.datasets.prompt_texts import prompt_texts
from proctor.dialects.aisbench.datasets.upstream_texts import constants, package_yaml
from proctor.errors import DataError

ENGLISH_QA = ("lsat-ar", "lsat-lr", "lsat-rc", "logiqa-en", "sat-math", "sat-en", "aqua-rat", "sat-en-without-passage",
              "gaokao-english")  # fmt: skip
CHINESE_QA = ("logiqa-zh", "jec-qa-kd", "jec-qa-ca", "gaokao-chinese", "gaokao-geography", "gaokao-history",
              "gaokao-biology", "gaokao-chemistry", "gaokao-physics", "gaokao-mathqa")  # fmt: skip
ENGLISH_CLOZE = ("math",)
CHINESE_CLOZE = ("gaokao-mathcloze",)
_LETTERS = "ABCDEFG"
_UNKNOWN_COUNT = {"en": 5, "zh": 4}  # options of a question that lists only one


def language_of(name: str) -> str:
    """Return ``en`` or ``zh``; nothing of an exam that AGIEval does not have."""
    if name in (*ENGLISH_QA, *ENGLISH_CLOZE):
        return "en"
    return "zh" if name in (*CHINESE_QA, *CHINESE_CLOZE) else ""


def is_choice(name: str) -> bool:
    """Whether an exam has options."""
    return name in (*ENGLISH_QA, *CHINESE_QA)


def zero_shot(row: Mapping[str, Any], name: str) -> str | None:
    """Return the question of a row, asked for the answer; ``None`` of an exam that AGIEval does not have."""
    language = language_of(name)
    if not language:
        return None
    options = (row["options"] or ()) if is_choice(name) else ()
    count = _UNKNOWN_COUNT[language] if len(options) == 1 else len(options)
    template: str = prompt_texts("agieval")[language]["choice" if is_choice(name) else "cloze"]
    return template.format(
        passage=row["passage"] or "",
        question=row["question"],
        options=" ".join(options),
        last=_LETTERS[count - 1 : count],
    )


_ZERO_SHOT = "zero-shot"


def musr(source: Source) -> list[Row]:
    """MuSR: one row for each question of a story, asked for a chain of thought with a hint (``cot+``)."""
    kinds, name = constants("datasets.musr.musr")["DATASET_CONFIGS"], source.arguments["name"]
    if name not in kinds:
        raise DataError(f"there is no dataset '{name}' of MuSR", hint=f"choose one of {', '.join(kinds)}")
    kind: Mapping[str, Any] = kinds[name]
    stories = _contrasted(source.document(f"{source.arguments['path']}/{kind['file_name']}"), source.arguments)
    size, offset = source.arguments.get("sample_size"), source.arguments.get("offset", 0)
    chosen = stories[offset : offset + min(len(stories), size) if size else None]
    times = source.arguments.get("self_consistency_n", 1)
    return [
        _musr_row(story, question, kind, number, times)
        for story in chosen
        for question in story["questions"]
        for number in range(times)
    ]


def _contrasted(stories: list[Any], arguments: Mapping[str, Any]) -> list[Any]:
    """Return stories without the second ones of a pair, or (reversed) only these, where the config asks for it."""
    if not arguments.get("exclude_contrastive_examples"):
        return stories
    seen: set[Any] = set()
    kept = []
    for story in stories:
        data = story["questions"][0].get("intermediate_data")
        name = data[0].get("story_hash_id") if data else None
        if not name or (name in seen) == bool(arguments.get("reverse_contrastive_sample")):
            kept.append(story)
        if name:
            seen.add(name)
    return kept


def _musr_row(story: Row, question: Row, kind: Mapping[str, Any], number: int, times: int) -> Row:
    choices = "\n".join(f"{i} - {choice}" for i, choice in enumerate(question["choices"], 1))
    first, hint = kind.get("hint_before_question"), kind["hint"]
    asked = f"{hint}\n\n{question['question']}" if first else question["question"]
    said = "You must pick one option. " if first else f"You must pick one option. {hint} "
    prompt = (
        f"{story['context']}\n\n{asked}\n\nPick one of the following choices:\n{choices}\n\n{said}"
        "Explain your reasoning step by step before you answer. Finally, the last thing you generate should be "
        '"ANSWER: (your answer here, including the choice number)"'
    )
    return {
        "context": story["context"],
        "question_text": question["question"],
        "question": question,
        "answer": question["answer"],
        "choices": question["choices"],
        "choices_str": choices,
        "intermediate_trees": question.get("intermediate_trees", []),
        "intermediate_data": question.get("intermediate_data", []),
        "prompt": prompt,
        "system_prompt": kind.get("system_prompt", ""),
        "gold_answer": question["answer"] + kind.get("answer_index_modifier", 1),
        "scidx": number,
        "self_consistency_n": times,
        "ablation_name": "cot+",
    }


_SPLITS, _LANGUAGES = ("CNMO", "CCEE", "AMC", "WLPMC"), ("cn", "en")


def livemathbench(source: Source) -> list[Row]:
    """LiveMathBench: the rows of some splits in some languages, each with its prompt."""
    version = source.arguments.get("version", "202412")
    made = []
    for part, language in product(
        source.arguments.get("dataset_splits", _SPLITS), source.arguments.get("dataset_languages", _LANGUAGES)
    ):
        prompt = constants("datasets.livemathbench.prompts")["PROMPT_EN" if language == "en" else "PROMPT_CN"]
        if not source.arguments.get("cot", True):
            prompt = prompt.replace("，请逐步推理" if language == "cn" else ", please reasoning step by step", "")
        for index, row in enumerate(_livemath_rows(source, version, f"{part}_{language}")):
            named = {"subdivision": f"livemathbench_{version}_{part}_{language}", "idx": str(index)}
            made.append({**row, **named, "prompt": prompt.format(question=row["question"])})
    return made


def _livemath_rows(source: Source, version: str, name: str) -> list[Row]:
    path = source.arguments["path"]
    if path.startswith("opencompass/"):
        return source.load(path=path, name=f"v{version}_{name}", split="test")
    return source.rows("/".join(filter(None, (path, version, f"{name}.jsonl"))), LINES)


def korbench(source: Source) -> list[Row]:
    """KOR-Bench: a rule and a question (with three examples), or several of both (``mixed``)."""
    mode, category = source.arguments["prompt_mode"], source.arguments["category"]
    template = package_yaml(f"datasets/korbench/korbench_dataset_config/prompt/{mode}.yaml")
    if mode == "mixed":
        return _mixed(source, category, template["prompt_format"][0])
    rules = {rule["idx"]: rule for rule in reversed(_korbench_rows(source, f"{category}/rule"))}
    shown: dict[Any, list[str]] = {}
    for row in _korbench_rows(source, f"{category}/three-shot") if mode == "3_shot" else ():
        shown.setdefault(row["rule_id"], []).extend((row["question"], row["answer"]))
    made = []
    for row in _korbench_rows(source, f"{category}/sample"):
        if (rule := rules.get(row["rule_id"])) is None:
            continue  # upstream leaves such a row out, too, with a line in its log
        words = [rule["rule_content"], *shown.get(row["rule_id"], ()), row["question"]]
        made.append(
            {
                "rule_content": rule["rule_content"],
                "question": row["question"],
                "answer": row["answer"],
                "prompt": template[f"{category}_prompt_format"][0].format(*words),
                "rule_id": rule["idx"],
                "prompt_mode": mode,
                "category": category,
            }
        )
    return made


def _korbench_rows(source: Source, name: str) -> list[Row]:
    path = f"{source.arguments['path']}/{name}"
    return source.rows(f"{path}.json" if source.find(f"{path}.json") is not None else f"{path}.jsonl")


def _mixed(source: Source, category: str, template: str) -> list[Row]:
    """Return rows with several rules and questions; ``answers`` is Proctor's own: upstream reads the files again."""
    files: dict[str, dict[Any, Row]] = {}

    def entry(name: str, kind: str) -> Row:
        group, index = name.rsplit("_", 1)
        place = f"{group}/{kind}"
        if place not in files:
            files[place] = {row["idx"]: row for row in reversed(_korbench_rows(source, place))}
        if index not in files[place]:
            raise DataError(f"no entry of {place} has the idx '{index}'")
        return {**files[place][index], "category": group}

    made = []
    for row in _korbench_rows(source, f"mixed/{category}"):
        asked = [entry(name, "sample") for name in row["question_list"]]
        rules = _numbered("Rule", (entry(name, "rule")["rule_content"] for name in row["rule_list"]))
        prompt = template.format(rules, _numbered("Question", (each["question"] for each in asked)))
        base = str(source.arguments["path"])
        kept = {"rule_list": row["rule_list"], "question_list": row["question_list"]}
        answers = [{key: each[key] for key in ("category", "rule_id", "answer")} for each in asked]
        made.append(
            {**kept, "prompt": prompt, "prompt_mode": "mixed", "answer": "", "base_path": base, "answers": answers}
        )
    return made


def _numbered(what: str, texts: Iterable[str]) -> str:
    return "\n".join(f"{what} {i}: {text}" for i, text in enumerate(texts, 1))


def fake_alignment(source: Source) -> list[Row]:
    """Each question asked openly, and as a choice in both orders."""
    template = constants("datasets.fake_alignment.fake_alignment")["OFFICIAL_CHOICE_PROMPT"]
    made = []
    for index, row in enumerate(source.rows(source.arguments["path"], FileFormat(lines=True, encoding="utf-8-sig"))):
        good, bad, question = row["Positive Option"], row["Negative Option"], row["question"]
        common = {"id": row.get("id", index), "original_idx": index, "category": row["category"], "question": question}
        common |= {"Positive Option": good, "Negative Option": bad}
        asked = {
            "open_generation": question,
            "choice_forward": template.format(question, good, bad),
            "choice_reverse": template.format(question, bad, good),
        }
        made += [{**common, "call_type": kind, "prompt": prompt} for kind, prompt in asked.items()]
    return made


def arc_prize(source: Source) -> list[Row]:
    """ARC-AGI's public tasks of a version, sorted by their names; upstream takes them in the folder's own order."""
    path = source.arguments["path"]
    names = set(
        constants("datasets.arc_prize_public_evaluation")["ARCPrizeDataset.task_file_names"][
            source.arguments["version"]
        ]
    )
    made = []
    for name in source.names(path):
        if name in names:
            task = source.document(f"{path}/{name}")
            test = task["test"][0]
            made.append(
                {"training_data": task["train"], "input_test_data": test["input"], "output_test_data": test["output"]}
            )
    return made


_FIRST_FILE = "test.jsonl"
_VERSIONS = 6  # files of ``livecodebench/code_generation_lite``: each half year of problems adds one


def livecodebench_release(source: Source) -> list[Row]:
    """LiveCodeBench in AISBench: the files that a release has, as the dataset's own script chooses them."""
    folder, release = source.arguments["path"], str(source.arguments.get("release_version", "release_v1"))
    return [row for name in _release_files(release) for row in source.rows(f"{folder}/{name}", LINES)]


def _release_files(release: str) -> list[str]:
    names = [_FIRST_FILE, *(f"test{number}.jsonl" for number in range(2, _VERSIONS + 1))]
    if release == "release_latest":
        return names
    match = re.fullmatch(r"release_v(?P<last>\d)|v(?P<first>\d)(?:_v(?P<end>\d))?", release)
    if match is not None:
        first = int(match["first"] or 1)
        last = int(match["last"] or match["end"] or first)
        if 0 < first <= last <= _VERSIONS:
            return names[first - 1 : last]
    raise DataError(
        f"LiveCodeBench has no release '{release}'", hint="release_v1 to release_v6, release_latest, v4, v4_v6 …"
    )


def dapo(source: Source) -> list[Row]:
    """DAPO's problems of mathematics: the user's words of each prompt, and the answer behind them."""
    path, name = str(source.arguments["path"]), source.arguments.get("file_name")
    if not path.endswith(".parquet"):
        there = [each for each in source.names(path) if each.endswith(".parquet")]
        if not name and not there:
            raise DataError(f"there is no parquet file in {path}", location=source.place)
        path = f"{path}/{name or ('dapo-math-17k.parquet' if 'dapo-math-17k.parquet' in there else there[0])}"
    return [_dapo_row(row) for row in source.rows(path)]


def _dapo_row(row: Row) -> Row:
    turns, gold = row.get("prompt"), row.get("reward_model")
    if not isinstance(turns, list) or not turns or not isinstance(gold, dict) or "ground_truth" not in gold:
        raise DataError("a row has no prompt or no answer", why=f"it has {', '.join(row)}")
    first = turns[0].get("content", "") if isinstance(turns[0], dict) else str(turns[0])
    asked = next(
        (each.get("content", "") for each in turns if isinstance(each, dict) and each.get("role") == "user"), first
    )
    return {
        "prompt": asked,
        "answer": str(gold["ground_truth"]),
        "data_source": row.get("data_source", "math_dapo"),
        "ability": row.get("ability", "MATH"),
        "extra_info": row.get("extra_info", {}),
    }


def agieval(source: Source) -> list[Row]:
    """AGIEval as its authors ask it (``zero-shot``): the prompt, and the label or, where there is none, the answer.

    Raises:
        DataError: Another setting is asked for, or AGIEval has no such exam.
    """
    name, setting = source.arguments["name"], source.arguments.get("setting_name", _ZERO_SHOT)
    if setting != _ZERO_SHOT or not language_of(name):
        raise DataError(f"AGIEval has no exam '{name}' with setting_name '{setting}'", why="only zero-shot is asked")
    rows = source.rows(f"{source.arguments['path']}/{name}.jsonl", LINES)
    return [
        {"id": place, "problem_input": zero_shot(row, name), "label": row["label"] or row["answer"]}
        for place, row in enumerate(rows)
    ]
