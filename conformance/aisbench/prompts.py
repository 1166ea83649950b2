"""Compares prompts with those of AISBench and OpenCompass, byte for byte.

Usage: ``python -m conformance.aisbench.prompts [--cases N] [--seed N] [--configs] [--work DIR] [--only SYSTEM]``. Needs
an environment with AISBench (``AISBENCH_PYTHON``) and OpenCompass's wheel, unpacked (``OPENCOMPASS_DIR``).

Templates, rows, retrievers and meta templates are generated from a seed; with ``--configs`` they are also taken from
every dataset config of both packages, with rows made up for the columns that the templates name. Differences are
counted by their reason (an id in ``explanations.json``); those without one are printed. The work folder keeps the
other's answers.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from proctor.demos import retrievers_bm25
from proctor.demos.retrievers import field_text
from proctor.dialects.aisbench.prompts import PromptBuilder
from proctor.dialects.aisbench.values import short_name
from proctor.errors import ProctorError
from proctor.formats.meta_template import MetaTemplate, chat_role

PYTHON = os.environ.get("AISBENCH_PYTHON", "/tmp/aisenv/bin/python")  # noqa: S108 - a throwaway environment
OPENCOMPASS = os.environ.get("OPENCOMPASS_DIR", "/tmp/aisw/oc")  # noqa: S108 - an unpacked wheel
SITE = Path(PYTHON).parent.parent / "lib/python3.11/site-packages"
CONFIGS = {
    "aisbench": SITE / "ais_bench/benchmark/configs/datasets",
    "opencompass": Path(OPENCOMPASS) / "opencompass/configs/datasets",
}
Case = dict[str, Any]

PLAIN: Case = {"name": "lm", "kind": "lm", "meta": None}
COMPLETION: Case = {
    "name": "lm-meta",
    "kind": "lm",
    "meta": {
        "begin": "<s>META\n",
        "round": [
            {"role": "HUMAN", "begin": "<|H|>:", "end": "\n"},
            {"role": "BOT", "begin": "<|B|>:", "end": "<eoa>\n", "generate": True},
        ],
        "reserved_roles": [{"role": "SYSTEM", "begin": "<|S|>:", "end": "\n"}],
        "end": "END",
    },
}
NO_SYSTEM: Case = {
    "name": "lm-text",
    "kind": "lm",
    "meta": {
        "round": [
            "[",
            {"role": "HUMAN", "begin": "U:", "end": "]"},
            "|",
            {"role": "BOT", "begin": "A:", "generate": True},
        ],
    },
}
CHAT: Case = {
    "name": "api",
    "kind": "api",
    "meta": {
        "round": [{"role": "HUMAN", "api_role": "HUMAN"}, {"role": "BOT", "api_role": "BOT", "generate": True}],
        "reserved_roles": [{"role": "SYSTEM", "api_role": "SYSTEM"}],
    },
}
CHAT_TWO: Case = {
    "name": "api-two",
    "kind": "api",
    "meta": {
        "round": [
            {"role": "HUMAN", "api_role": "HUMAN", "begin": "Q ", "end": "!"},
            {"role": "BOT", "api_role": "BOT", "generate": True},
        ],
    },
}
PARSERS = [PLAIN, COMPLETION, NO_SYSTEM, CHAT, CHAT_TWO]

# -- generated cases ---------------------------------------------------------------------------------------------

WORDS = [
    "Question: ",
    "Answer: ",
    "\n",
    " ",
    "Let's think.\n",
    "{unknown}",
    "é",
    "{{",
    "}}",
    "\\boxed{}",
    "100%",
    "%s",
    "A. ",
]
COLUMNS = ["question", "answer", "context", "n"]
VALUES: list[Any] = [
    "1+1=?", "two words", "", "{answer}", "{context}", "{question}", "{", "}", "line\nline", "100% {n}", 3, 2.5, None,
    ["a", "b"], {"k": "v"}, "ünïcode", "</E>", "%d", "</S>",
]  # fmt: skip


def text(rng: random.Random, token: str | None = None) -> str:
    """Return a template of words and columns, with the token somewhere in it."""
    pieces = [
        rng.choice(WORDS) if rng.random() < 0.5 else f"{{{rng.choice(COLUMNS)}}}" for _ in range(rng.randint(1, 5))
    ]
    if token:
        pieces.insert(rng.randint(0, len(pieces)), token)
    return "".join(pieces)


def dialogue(rng: random.Random, token: str | None = None) -> dict[str, Any]:
    """Return a dialogue."""
    made: dict[str, Any] = {}
    begin: list[Any] = []
    if rng.random() < 0.6:
        begin.append({"role": "SYSTEM", "fallback_role": "HUMAN", "prompt": text(rng)})
    if rng.random() < 0.15:
        begin.append({"role": "HUMAN", "prompt": text(rng)})
    if token:
        begin.insert(rng.randint(0, len(begin)), token if rng.random() < 0.8 else f"{rng.choice(WORDS)}{token}\n")
    if begin or rng.random() < 0.1:
        made["begin"] = begin[0] if len(begin) == 1 and rng.random() < 0.3 else begin
    rounds: list[Any] = []
    for _ in range(rng.choice([0, 0, 0, 1, 2])):
        rounds += [{"role": "HUMAN", "prompt": rng.choice(WORDS)}, {"role": "BOT", "prompt": rng.choice(WORDS)}]
    if rng.random() < 0.03:
        rounds.append({"role": "SYSTEM", "fallback_role": "HUMAN", "prompt": text(rng)})
    rounds.append({"role": "HUMAN", "prompt": text(rng)})
    if rng.random() < 0.9:
        rounds.append({"role": "BOT", "prompt": rng.choice(["{answer}", "Answer: {answer}", "", text(rng)])})
    made["round"] = rounds
    if rng.random() < 0.03:
        made["end"] = [{"role": "HUMAN", "prompt": text(rng)}]
    return made


def rows(rng: random.Random, count: int) -> list[dict[str, Any]]:
    """Return rows of one set of columns."""
    columns = COLUMNS[:]
    if rng.random() < 0.5:
        rng.shuffle(columns)
    if rng.random() < 0.2:
        columns.remove("n")
    return [
        {name: rng.choice(VALUES) if rng.random() < 0.4 else f"{name} {number}" for name in columns}
        for number in range(count)
    ]


def generated(count: int, seed: int) -> Iterator[Case]:
    """Yield cases that any of both systems may be asked."""
    rng = random.Random(seed)
    for _ in range(count):
        everything = rows(rng, 8)
        if rng.random() < 0.5:
            names = list(everything[0])
            everything[5:] = [{name: f"{name} of {each}" for name in names} for each in range(3)]
        labels = rng.choice([None, None, ["A", "B"]])
        kind = rng.choice(["text", "dialogue"]) if rng.random() < 0.9 else "mixed"
        form = text if kind == "text" or (kind == "mixed" and rng.random() < 0.5) else dialogue
        other = {text: dialogue, dialogue: text}[form] if kind == "mixed" else form
        by_label = bool(labels) and rng.random() < 0.6
        for row in everything:
            if by_label:
                row["answer"] = rng.choice(labels)  # type: ignore[arg-type]
        shots = rng.random() < 0.7
        omitted = shots and rng.random() < 0.2
        token = "</E>" if shots else rng.choice([None, None, "</E>"])

        def template(form: Any, token: str | None, by_label: bool = by_label, labels: Any = labels) -> Case:
            body = {label: form(rng, token) for label in labels} if by_label else form(rng, token)
            return {"type": "PromptTemplate", "template": body, **({"ice_token": token} if token else {})}

        ice = template(form, token) if omitted else template(other, None) if shots else None
        prompt = None if omitted else template(form, token)
        retriever: Case = {"type": "ZeroRetriever"}
        if shots:
            retriever = rng.choice(
                [
                    {"type": "FixKRetriever", "fix_id_list": rng.sample(range(5), rng.randint(0, 3))},
                    {"type": "RandomRetriever", "ice_num": rng.randint(1, 4), "seed": rng.randint(0, 99)},
                    {"type": "ZeroRetriever"},
                    {"type": "SlidingWindowRetriever", "k": rng.randint(1, 3)},
                    {"type": "BM25Retriever", "ice_num": rng.randint(1, 3)},
                ]
            )
            if retriever["type"] != "ZeroRetriever" and rng.random() < 0.2:
                retriever |= {"ice_separator": rng.choice(["\n\n", " "]), "ice_eos_token": rng.choice(["", "\n---\n"])}
        yield {
            "ice": ice,
            "prompt": prompt,
            "retriever": retriever,
            "reader": {
                "input_columns": ["question", "context"],
                "output_column": rng.choice(["answer", "answer", "answer", None]),
            },
            "index": everything[:5],
            "test": everything[5:],
            "parsers": PARSERS,
            "labels": labels,
        }


def of_other_classes(count: int, seed: int, system: str) -> Iterator[Case]:
    """Yield cases of the templates that only one of both systems has, or that are not dialogues."""
    rng = random.Random(seed)
    for number in range(count):
        everything = rows(rng, 6)
        case: Case = {
            "ice": None,
            "retriever": {"type": "ZeroRetriever"},
            "reader": {"input_columns": ["question"], "output_column": "answer"},
            "index": everything[:3],
            "test": everything[3:],
            "parsers": PARSERS,
            "labels": None,
        }
        if system == "opencompass":
            yield case | raw_messages(rng)
        elif number % 2:
            yield case | several_turns(rng)
        else:
            yield case | media(rng)


def raw_messages(rng: random.Random) -> Case:
    """Return a template of chat messages, with or without examples."""
    roles = ["system", "user", "assistant"]
    messages: list[Any] = [{"role": rng.choice(roles), "content": text(rng)} for _ in range(rng.randint(1, 3))]
    template = {"type": "RawPromptTemplate", "messages": messages}
    if rng.random() < 0.5:
        return {"prompt": template, "parsers": [CHAT]}
    said = [{"role": "user", "content": text(rng)}, {"role": "assistant", "content": text(rng)}]
    messages.insert(rng.randint(0, len(messages)), "</E>")
    return {
        "ice": {"type": "RawPromptTemplate", "messages": said},
        "prompt": template,
        "retriever": {"type": "FixKRetriever", "fix_id_list": [2, 0]},
        "parsers": [CHAT],
    }


def several_turns(rng: random.Random) -> Case:
    """Return a template of several turns with rows that have lists."""
    made: list[dict[str, Any]] = []
    for _ in range(3):
        turns = range(rng.randint(1, 4))
        made.append({name: [str(rng.choice(VALUES)) for _ in turns] for name in ("question", "answer")})
    body = {"round": [{"role": "HUMAN", "prompt": f"{text(rng)}{{question}}"}, {"role": "BOT", "prompt": "{answer}"}]}
    if rng.random() < 0.5:
        body["begin"] = [{"role": "SYSTEM", "fallback_role": "HUMAN", "prompt": text(rng)}]
    return {"prompt": {"type": "MultiTurnPromptTemplate", "template": body}, "test": made}


def media(rng: random.Random) -> Case:
    """Return a multimodal template with rows that it may be asked to fill, as far as the document agrees."""
    shape = {
        "text": {"type": "text", "text": f"{rng.choice(WORDS)}{{question}}"},
        "image": {"type": "image_url", "image_url": rng.choice([{"url": "file://{image}"}, "{image}"])},
        "audio": {"type": "audio_url", "audio_url": {"url": "data:audio/wav;base64,{audio}"}},
        "video": {"type": "video_url", "video_url": {"url": "file://{video}"}},
    }
    contents = {
        "TEXT": ["What?", "", "{", "two\nlines"],
        "IMAGE": ["/a/b.png"],
        "AUDIO": ["AAAA", "UklGRg=="],
        "VIDEO": ["/c.mp4"],
    }

    def content() -> str:
        kinds = [rng.choice(list(contents)) for _ in range(rng.randint(1, 4))]
        return "".join(f"<AIS_{kind}_START>{rng.choice(contents[kind])}<AIS_CONTENT_TAG>" for kind in kinds)

    body: Case = {"round": [{"role": "HUMAN", "prompt_mm": shape}]}
    if rng.random() < 0.5:
        body["begin"] = [{"role": "SYSTEM", "fallback_role": "HUMAN", "prompt": "Look."}]
    return {
        "prompt": {"type": "MMPromptTemplate", "template": body},
        "test": [{"content": content(), "question": "?", "answer": "!"} for _ in range(3)],
        "parsers": [CHAT, CHAT_TWO] if "begin" not in body else [CHAT],
    }


# -- cases of configs --------------------------------------------------------------------------------------------

_NAMED = re.compile(r"\{(\w+)\}")


def plain(value: Any) -> Any:
    """Return a value of a config as JSON-like data, types by their short names."""
    if isinstance(value, dict):
        return {str(key): short_name(each) if key == "type" else plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    return value if value is None or isinstance(value, (str, int, float, bool)) else str(value)


def of_configs(system: str) -> Iterator[tuple[str, Case]]:
    """Yield a case for every different prompt of a package's dataset configs, with the file's name."""
    from proctor.dialects.aisbench.reader import datasets_of, read_config

    seen: set[str] = set()
    for path in sorted(CONFIGS[system].rglob("*.py")):
        try:
            datasets = datasets_of(read_config(path))
        except ProctorError:
            continue
        for dataset in datasets:
            made = case_of(plain(dataset), system)
            if made is None:
                continue
            key = json.dumps([made["ice"], made["prompt"], made["retriever"], made["reader"]], sort_keys=True)
            if key not in seen:
                seen.add(key)
                yield path.name, made


def case_of(dataset: Case, system: str) -> Case | None:
    """Return a dataset of a config with made-up rows; ``None`` where its templates are of another kind."""
    inference, reader = dataset.get("infer_cfg"), dataset.get("reader_cfg") or {}
    if not isinstance(inference, dict) or not isinstance(reader, dict):
        return None
    ice, prompt = inference.get("ice_template"), inference.get("prompt_template")
    asking: Case = prompt or ice or {}
    kinds = (
        {"PromptTemplate", "RawPromptTemplate"}
        if system == "opencompass"
        else {"PromptTemplate", "MultiTurnPromptTemplate"}
    )
    if any(each is not None and each.get("type") not in kinds for each in (ice, prompt)) or not (ice or prompt):
        return None
    columns = reader.get("input_columns") or []
    columns = columns.split() if isinstance(columns, str) else columns
    output = reader.get("output_column")
    named = set(_NAMED.findall(json.dumps([ice, prompt])))
    names = sorted({*columns, *named, *([output] if output else [])})
    template = asking.get("template")
    labels = None
    if isinstance(template, dict) and not set(template) <= {"begin", "round", "end"}:
        labels = list(template)
    turns = asking["type"] == "MultiTurnPromptTemplate"
    everything = [{name: value_of(name, number, output, labels, turns) for name in names} for number in range(12)]
    retriever = inference.get("retriever") or {"type": "ZeroRetriever"}
    if retriever["type"] == "FixKRetriever":
        retriever = {**retriever, "fix_id_list": [each % 8 for each in retriever["fix_id_list"]]}
    elif retriever["type"] != "ZeroRetriever":
        retriever = {"type": "FixKRetriever", "fix_id_list": [1, 0]} if ice else {"type": "ZeroRetriever"}
    return {
        "ice": ice, "prompt": prompt, "retriever": retriever, "index": everything[:8], "test": everything[8:10],
        "reader": {"input_columns": columns, "output_column": output}, "parsers": PARSERS, "labels": labels,
    }  # fmt: skip


def value_of(name: str, number: int, output: str | None, labels: Any, turns: bool) -> Any:
    """Return a made-up value of a column."""
    if turns:
        return [f"{name} {number}.{each}" for each in range(3)]
    if name == output and labels:
        return labels[number % len(labels)]
    return f"{name} no. {number}"


# -- comparison --------------------------------------------------------------------------------------------------


def ours(case: Case, theirs: dict[str, Any]) -> dict[str, Any]:
    """Return Proctor's prompts of a case, by the oracle's keys; of equally good examples, the oracle's."""
    made: dict[str, Any] = {}
    for parser in case["parsers"]:
        try:
            builder = PromptBuilder(
                {"ice_template": case["ice"], "prompt_template": case["prompt"], "retriever": case["retriever"]},
                case["reader"],
                case["index"],
                meta_template=MetaTemplate(**parser["meta"]) if parser["meta"] else None,
                as_messages=parser["kind"] == "api",
            )
            places = builder.retrieve(case["test"])
        except ProctorError as error:
            return {"error": str(error)[:300]}
        made["places"] = [list(each) for each in places]
        if "places" in theirs and equally_good(case, theirs["places"], made["places"]):
            places = made["places"] = theirs["places"]
        for number, row in enumerate(case["test"]):
            for label in case["labels"] or [None]:
                key = f"{parser['name']} {number} {label}"
                try:
                    demos = places[number]
                    prompt = builder.generate(row, demos) if label is None else builder.labelled(row, demos, label)
                except ProctorError as error:
                    made[key] = {"error": str(error)[:300]}
                    continue
                made[key] = prompt.payload if isinstance(prompt.payload, str) else list(prompt.payload)
                joined = "".join(span.text for span in prompt.spans)
                if isinstance(prompt.payload, str) and joined != prompt.payload:
                    made[key] = {"error": f"the spans give {joined!r}"}
    return made


def equally_good(case: Case, theirs: list[list[int]], mine: list[list[int]]) -> bool:
    """Whether examples differ only where their BM25 scores are equal (NumPy's default sort leaves their order open)."""
    if theirs == mine or case["retriever"]["type"] != "BM25Retriever":
        return False
    text = field_text(case["reader"]["input_columns"])
    index = retrievers_bm25.Okapi([text(row).split() for row in case["index"]], str.split)
    for row, left, right in zip(case["test"], theirs, mine, strict=True):
        scores = index.scores(text(row))
        if [scores[each] for each in left] != [scores[each] for each in right]:
            return False
    return True


def has_ties(case: Case) -> bool:
    """Whether BM25 finds several rows of the index equally good for a row that is asked."""
    if case["retriever"]["type"] != "BM25Retriever":
        return False
    text = field_text(case["reader"]["input_columns"])
    index = retrievers_bm25.Okapi([text(row).split() for row in case["index"]], str.split)
    scores = (index.scores(text(row)).tolist() for row in case["test"])
    return any(len(set(each)) < len(each) for each in scores)


def comparable(value: Any, parser: Case) -> Any:
    """Return what the oracle made as Proctor would write it."""
    if parser["kind"] == "api" and isinstance(value, list):
        return [
            {"role": chat_role(each["role"]), "content": each["prompt"] if "prompt" in each else each.get("content")}
            for each in value
        ]
    return [{"role": "user", "content": value}] if parser["kind"] == "api" and isinstance(value, str) else value


def reason(case: Case, parser: Case, theirs: Any, mine: Any) -> str:
    """Return the id of why a prompt differs, ``""`` where that is not known."""
    dialogues = parts(case)
    said = [item for part in dialogues for item in part.get("round", ()) if isinstance(item, dict)]
    failed, refused = error_of(theirs), error_of(mine)
    template = case["prompt"] or case["ice"]
    zero_shot = case["retriever"]["type"] == "ZeroRetriever"
    found = {
        "end": bool(parser["meta"]) and any("end" in part for part in dialogues),
        "system-in-round": any(item.get("role") == "SYSTEM" for item in said),
        "no-output-column": failed == "KeyError: None",
        "zero-shot-without-token": case["prompt"] is None and zero_shot and bool(failed),
        "absent-role": "without 'prompt'" in failed or has_empty(theirs),
        "messages-to-text": parser["kind"] == "lm" and bool(failed) and template["type"] == "RawPromptTemplate",
        "lost-examples": "ice token" in refused,
        "text-to-chat": "has no place for" in refused or "of one kind" in refused,
    }
    return next((f"aisbench/{name}" for name, holds in found.items() if holds), "")


def error_of(value: Any) -> str:
    """Return why a prompt could not be made; empty where it could."""
    return str(value["error"]) if is_error(value) else ""


def has_empty(value: Any) -> bool:
    """Whether a chat has a message without words."""
    return any(isinstance(each, dict) and each.get("content") == "" for each in listed(value))


def listed(value: Any) -> list[Any]:
    """Return a value where it is a list."""
    return value if isinstance(value, list) else []


def parts(case: Case) -> list[dict[str, Any]]:
    """Return the dialogues of a case."""
    found = []
    for template in (case["ice"], case["prompt"]):
        body = (template or {}).get("template")
        if isinstance(body, dict):
            found += [body, *[each for each in body.values() if isinstance(each, dict)]]
    return found


def is_error(value: Any) -> bool:
    """Whether a prompt could not be made."""
    return isinstance(value, dict) and "error" in value


def ask(system: str, cases: list[Case], work: Path, name: str) -> list[dict[str, Any]]:
    """Return the oracle's answers."""
    given, found = work / f"{name}.cases.json", work / f"{name}.answers.json"
    if given.exists() and found.exists() and given.read_text() == json.dumps(cases):
        answered: list[dict[str, Any]] = json.loads(found.read_text())
        return answered
    given.write_text(json.dumps(cases))
    environment = {**os.environ, "OPENCOMPASS_DIR": OPENCOMPASS, "HF_HUB_OFFLINE": "1"}
    script = Path(__file__).with_name("prompts_oracle.py")
    subprocess.run(
        [PYTHON, str(script), system, str(given), str(found)],
        check=True,
        env=environment,
        stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    answers: list[dict[str, Any]] = json.loads(found.read_text())
    return answers


def compare(system: str, named: list[tuple[str, Case]], work: Path, name: str, show: int) -> int:
    """Compare cases; print counts and unexplained differences, and return how many there are."""
    cases = [case for _, case in named]
    answers = ask(system, cases, work, name)
    counts: Counter[str] = Counter()
    shown, latest = 0, None
    for (origin, case), theirs in zip(named, answers, strict=True):
        mine = json.loads(json.dumps(ours(case, theirs)))
        for key, parser in keys_of(case):
            left, right = theirs if is_error(theirs) else theirs[key], mine if is_error(mine) else mine[key]
            left = comparable(left, parser)
            if left == right:
                counts["equal"] += 1
                continue
            if is_error(left) and is_error(right):
                counts["both refuse"] += 1
                continue
            why = reason(case, parser, left, right)
            counts[why or "UNEXPLAINED"] += 1
            if not why and shown < show and case is not latest:
                shown, latest = shown + 1, case
                shortened = case | {"parsers": [], "index": case["index"][:2]}
                print(f"--- {origin} {key}\n{json.dumps(shortened, ensure_ascii=False)[:1500]}")
                print(f"theirs {json.dumps(left, ensure_ascii=False)[:600]}")
                print(f"ours   {json.dumps(right, ensure_ascii=False)[:600]}")
        if not is_error(theirs) and not is_error(mine) and theirs["places"] != mine["places"]:
            counts["OTHER EXAMPLES"] += 1
    print(f"{system} {name}: {len(cases)} cases, {dict(counts.most_common())}", flush=True)
    return counts["UNEXPLAINED"] + counts["OTHER EXAMPLES"]


def keys_of(case: Case) -> Iterator[tuple[str, Case]]:
    """Yield the keys of a case's prompts with their parser."""
    for parser in case["parsers"]:
        for number in range(len(case["test"])):
            for label in case["labels"] or [None]:
                yield f"{parser['name']} {number} {label}", parser


def main() -> int:
    """Compare everything that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--configs", action="store_true")
    parser.add_argument("--only", choices=["aisbench", "opencompass"])
    parser.add_argument("--work", type=Path, default=Path("/tmp/aisbench_prompts"))  # noqa: S108 - kept for looking
    parser.add_argument("--show", type=int, default=5)
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    retrievers_bm25.word_tokenizer = lambda: str.split  # type: ignore[assignment] # as in the oracle
    wrong = 0
    for system in [args.only] if args.only else ["aisbench", "opencompass"]:
        cases = [("generated", case) for case in generated(args.cases, args.seed)]
        if system == "aisbench":
            cases = [
                each
                for each in cases
                if each[1]["retriever"]["type"] not in ("SlidingWindowRetriever", "BM25Retriever")
            ]
        wrong += compare(system, cases, args.work, f"{system}-generated", args.show)
        others = [("generated", case) for case in of_other_classes(args.cases // 5, args.seed, system)]
        wrong += compare(system, others, args.work, f"{system}-other-classes", args.show)
        if args.configs:
            wrong += compare(system, list(of_configs(system)), args.work, f"{system}-configs", args.show)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
