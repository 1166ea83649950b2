"""A data folder in the layout of OpenCompass and AISBench: real rows where the hub mirror has them, otherwise made up.

Nothing of Proctor is used here, so that what its tables say about the mirror is compared with something else.
"""
# ruff: noqa: E501, C901, PLR0912, PLR0915, E731 - a list of files, one after the other

from __future__ import annotations

import csv
import json
import random
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import datasets

_WORDS = [
    "the",
    "a",
    "cat,",
    "dog's",
    "“quoted”",
    "über",
    "naïve",
    "北京",
    "天气",
    "很好。",
    "3.5",
    "-7",
    "1,000",
    "{brace}",
    "[list]",
    "<tag>",
    "\\frac{1}{2}",
    "$x$",
    "'single'",
    '"double"',
    "tab\there",
    "emoji😀",
    "a_b",
    "N/A",
    "true",
    "A:",
    "B.",
    "question?",
    "yes",
    "no",
]
_ROWS = 24


class Folder:
    """Writes files below a folder; made-up values come from one seeded stream."""

    def __init__(self, base: Path, hub: Path) -> None:
        self.base, self.hub = base, hub
        self.random = random.Random(5)

    def text(self, least: int = 1, most: int = 9) -> str:
        """Return a made-up text."""
        return " ".join(self.random.choice(_WORDS) for _ in range(self.random.randint(least, most)))

    def rows(self, make: Callable[[int], Any], count: int = _ROWS) -> list[Any]:
        """Return made-up rows."""
        return [make(i) for i in range(count)]

    def real(self, dataset: str, config: str | None, split: str) -> list[dict[str, Any]]:
        """Return the rows of the mirror."""
        return [dict(row) for row in datasets.load_dataset(str(self.hub / dataset), config, split=split)]

    def path(self, name: str) -> Path:
        """Return a path below the folder, its parents made."""
        path = self.base / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def lines(self, name: str, rows: Iterable[Any], *, link: Sequence[str] = ()) -> None:
        """Write JSON lines."""
        body = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        for each in (name, *link):
            self.path(each).write_text(body, encoding="utf-8")

    def json(self, name: str, value: Any) -> None:
        """Write one JSON document."""
        self.path(name).write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")

    def texts(self, name: str, rows: Iterable[str]) -> None:
        """Write lines of text."""
        self.path(name).write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")

    def table(self, name: str, rows: Iterable[Sequence[str]], delimiter: str = ",") -> None:
        """Write a table."""
        with self.path(name).open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, delimiter=delimiter).writerows(rows)


def _hellaswag(row: dict[str, Any]) -> dict[str, Any]:
    def clean(text: str) -> str:
        return re.sub(r"\[.*?\]", "", text.strip().replace(" [title]", ". ")).replace("  ", " ")

    context = f"{row['activity_label']}: {row['ctx_a']} {row['ctx_b'].capitalize()}"
    return {"query": clean(context), "choices": [clean(end) for end in row["endings"]], "gold": int(row["label"])}


def _stem(row: dict[str, Any], question: str) -> dict[str, Any]:
    listed = [
        {"text": t, "label": label} for t, label in zip(row["choices"]["text"], row["choices"]["label"], strict=True)
    ]
    return {"id": row["id"], "question": {"stem": question, "choices": listed}, "answerKey": row["answerKey"]}


def write_real(folder: Folder) -> None:
    """Write the files whose rows the mirror has."""
    for config, place in (("ARC-Challenge", "ARC-c"), ("ARC-Easy", "ARC-e")):
        for split, name in (("validation", "Dev"), ("test", "Test")):
            rows = [_stem(row, row["question"]) for row in folder.real("allenai/ai2_arc", config, split)]
            file = f"ARC/{place}/{config}-{name}.jsonl"
            folder.lines(f"data/{file}", rows, link=[f"ais_bench/datasets/{file}"])
    for subject in ("anatomy", "college_physics", "world_religions"):
        for split in ("dev", "test"):
            rows = folder.real("cais/mmlu", subject, split)
            for top in ("data", "ais_bench/datasets"):
                table = [[row["question"], *row["choices"], "ABCD"[row["answer"]]] for row in rows]
                folder.table(f"{top}/mmlu/{split}/{subject}_{split}.csv", table)
    for split in ("train", "test"):
        rows = folder.real("openai/gsm8k", "main", split)
        folder.lines(f"data/gsm8k/{split}.jsonl", rows, link=[f"ais_bench/datasets/gsm8k/{split}.jsonl"])
    for split, name, limit in (("validation", "hellaswag", None), ("train", "hellaswag_train_sampled25", 25)):
        rows = [_hellaswag(row) for row in folder.real("Rowan/hellaswag", None, split)[:limit]]
        folder.lines(f"data/hellaswag/{name}.jsonl", rows, link=[f"ais_bench/datasets/hellaswag/{name}.jsonl"])
    rows = [
        {**row, "label": "true" if row["label"] else "false"}
        for row in folder.real("aps/super_glue", "boolq", "validation")
    ]
    order = ("question", "passage", "idx", "label")
    folder.lines("data/SuperGLUE/BoolQ/val.jsonl", [{key: row[key] for key in order} for row in rows],
                 link=["ais_bench/datasets/SuperGLUE/BoolQ/val.jsonl"])  # fmt: skip
    for task in ("snarks", "word_sorting", "date_understanding"):
        rows = folder.real("lukaemon/bbh", task, "test")
        for top in ("data", "ais_bench/datasets"):
            folder.json(f"{top}/BBH/data/{task}.json", {"examples": rows})
    name = "humaneval/human-eval-v2-20210705.jsonl"
    folder.lines(
        f"data/{name}", folder.real("openai/openai_humaneval", None, "test"), link=[f"ais_bench/datasets/{name}"]
    )
    rows = [_stem(row, row["question_stem"]) for row in folder.real("allenai/openbookqa", "main", "test")]
    folder.lines("data/openbookqa/Main/test.jsonl", rows)
    rows = [row["text"].rsplit(" ", 1) for row in folder.real("EleutherAI/lambada_openai", None, "test")]
    rows = [{"prompt": prompt, "label": label} for prompt, label in rows]
    folder.lines("data/lambada/test.jsonl", rows, link=["ais_bench/datasets/lambada/test.jsonl"])
    rows = folder.real("google/IFEval", None, "train")
    rows = [
        {**row, "kwargs": [{k: v for k, v in each.items() if v is not None} for each in row["kwargs"]]} for row in rows
    ]
    folder.lines("data/ifeval/input_data.jsonl", rows, link=["ais_bench/datasets/ifeval/input_data.jsonl"])
    rows = folder.real("nyu-mll/glue", "rte", "validation")
    kinds = ("entailment", "not_entailment")
    rows = [
        {"premise": r["sentence1"], "hypothesis": r["sentence2"], "label": kinds[r["label"]], "idx": r["idx"]}
        for r in rows
    ]
    folder.lines("data/SuperGLUE/RTE/val.jsonl", rows)
    rows = folder.real("lighteval/mt-bench", None, "train")
    rows = [
        {"question_id": r["question_id"], "category": r["category"], "prompt": r["turns"], "reference": r["reference"]}
        for r in rows
    ]
    folder.lines("ais_bench/datasets/mtbench/question.jsonl", rows)


def write_made_up(folder: Folder) -> None:
    """Write files that the mirror has no rows for."""
    text, draw, rows = folder.text, folder.random, folder.rows
    both = ("data", "ais_bench/datasets")

    def stemmed(i: int, count: int) -> dict[str, Any]:
        choices = [{"text": text(), "label": "ABCDE"[k]} for k in range(count)]
        return {
            "id": str(i),
            "question": {"stem": text(), "choices": choices},
            "answerKey": draw.choice("ABCDE"[:count]),
        }

    folder.lines("data/openbookqa/Additional/test_complete.jsonl", rows(lambda i: stemmed(i, 4) | {"fact1": text()}))
    for split in ("train", "dev"):
        folder.lines(f"data/commonsenseqa/{split}_rand_split.jsonl", rows(lambda i: stemmed(i, 5)))
    for top in both:
        for split in ("validation", "test"):
            for level in ("middle", "high"):
                folder.lines(f"{top}/race/{split}/{level}.jsonl", rows(lambda i: {
                    "example_id": f"{i}.txt", "article": text(9, 40), "answer": draw.choice("ABCD"),
                    "question": text(), "options": [text() for _ in range(4)]}))  # fmt: skip
        for split in ("train_xs", "dev"):
            folder.lines(f"{top}/winogrande/{split}.jsonl", rows(lambda i: {
                "qID": str(i), "sentence": f"{text().replace('_', ' ')} _ {text().replace('_', ' ')}", "option1": text(1, 1),
                "option2": text(1, 1), "answer": draw.choice(["1", "2", ""])}))  # fmt: skip
        for split in ("train", "dev"):
            folder.lines(f"{top}/piqa/{split}.jsonl", rows(lambda i: {
                "id": str(i), "goal": draw.choice(["where is it?", "Do it.", "to do"]), "sol1": text(), "sol2": text()}))  # fmt: skip
            folder.texts(f"{top}/piqa/{split}-labels.lst", rows(lambda i: draw.choice(["0", "1", "-1"])))
            folder.lines(f"{top}/siqa/{split}.jsonl", rows(lambda i: {
                "context": text(), "question": text(), "answerA": text(), "answerB": text(), "answerC": text()}))  # fmt: skip
            folder.texts(f"{top}/siqa/{split}-labels.lst", rows(lambda i: draw.choice("123")))
            folder.table(f"{top}/triviaqa/trivia-{'dev' if split == 'dev' else 'test'}.qa.csv",
                         rows(lambda i: [text().replace("\t", " "), repr([text(), "it's", 'a "b"'])]), "\t")  # fmt: skip
            folder.table(f"{top}/nq/nq-{'dev' if split == 'dev' else 'test'}.qa.csv",
                         rows(lambda i: [text().replace("\t", " "), repr([text(), text()])]), "\t")  # fmt: skip
        for split in ("validation", "train"):
            folder.lines(
                f"{top}/triviaqa/triviaqa-{split}.jsonl", rows(lambda i: {"question": text(), "answer": [text()]})
            )
            folder.lines(
                f"{top}/nq-open/nq-open-{split}.jsonl", rows(lambda i: {"question": text(), "answer": [text(), text()]})
            )
        for split in ("dev", "val", "test"):
            header = [
                "id",
                "question",
                "A",
                "B",
                "C",
                "D",
                *([] if split == "test" else ["answer"]),
                *(["explanation"] if split == "dev" else []),
            ]
            folder.table(
                f"{top}/ceval/formal_ceval/{split}/law_{split}.csv",
                [header, *rows(lambda i, h=header: [text() for _ in h])],
            )
        for split in ("dev", "test"):
            folder.table(
                f"{top}/cmmlu/{split}/law.csv",
                [
                    ["", "Question", "A", "B", "C", "D", "Answer"],
                    *rows(lambda i: [str(i), *(text() for _ in range(6))]),
                ],
            )
        folder.table(f"{top}/gpqa/gpqa_diamond.csv", [[*("x" * 7), "Question", "Correct Answer", *("Incorrect Answer " + n for n in "123"), "y"],
                     *rows(lambda i: [*("x" * 7), text(), *(f"{text()} {k}" for k in range(4)), "y"])])  # fmt: skip
        folder.json(
            f"{top}/math/math.json",
            {
                str(i): {
                    "problem": text(),
                    "solution": draw.choice(
                        [
                            f"so \\boxed{{{text()}}}.",
                            "\\boxed{\\frac{1}{2}}",
                            *(["\\fbox{3}", "none"] if top == "data" else []),
                        ]
                    ),
                }
                for i in range(_ROWS)
            },
        )
        folder.lines(
            f"{top}/aime/aime.jsonl",
            rows(lambda i: {"origin_prompt": text(), "gold_answer": str(i)}),
            link=["data/aime.jsonl"],
        )
        folder.lines(f"{top}/aime2025/aime2025.jsonl", rows(lambda i: {"question": text(), "answer": str(i)}))
        folder.lines(f"{top}/drop_simple_eval/dev.jsonl", rows(lambda i: {"context": text(), "ref_text": "a|b"}))
        for kind in ("choice", "cloze"):
            folder.lines(f"{top}/agieval/{kind}.jsonl" if top != "data" else f"data/AGIEval/data/v1/{kind}.jsonl", rows(lambda i, k=kind: {
                "passage": draw.choice([None, text()]), "question": text(), "options": [text() for _ in range(4)] if k == "choice" else None,
                "label": draw.choice([None, "A", ["A", "B"]]), "answer": text()}))  # fmt: skip
        folder.texts(f"{top}/mgsm/mgsm_en.tsv", rows(lambda i: f"{text().replace(chr(9), ' ')}\t{i}"))
        folder.lines(
            f"{top}/Xsum/dev.jsonl",
            rows(lambda i: {"dialogue": text(), "summary": draw.choice([text(), float("nan")])}, 1100),
        )
        folder.texts(f"{top}/LCSTS/test.src.txt", rows(lambda i: f" {text()} "))
        folder.texts(f"{top}/LCSTS/test.tgt.txt", rows(lambda i: text()))
        folder.lines(
            f"{top}/mbpp/mbpp.jsonl",
            rows(
                lambda i: {
                    "text": text(),
                    "code": text(),
                    "task_id": i,
                    "test_setup_code": "",
                    "test_list": [text(), text()],
                    "challenge_test_list": [],
                },
                530,
            ),
        )
        folder.lines(
            f"{top}/mbpp/sanitized-mbpp.jsonl",
            rows(
                lambda i: {
                    "source_file": "x",
                    "task_id": i,
                    "prompt": text(),
                    "code": text(),
                    "test_imports": [],
                    "test_list": [text(), text()],
                },
                280,
            ),
        )
        folder.lines(
            f"{top}/custom/mcq.jsonl",
            rows(
                lambda i: (
                    {"question": text(), "A": text(), "B": text(), "C": text(), "answer": draw.choice("ABC")}
                    | ({"max_tokens": i} if i % 2 == 0 else {})
                )
            ),
        )
        folder.table(f"{top}/custom/qa.csv", [["question", "answer"], *rows(lambda i: [text(), text()])])
        few = f"{top}/FewCLUE"
        span = lambda i: {
            "text": "我们 去 了 北京 他们 也 去",
            "target": {"span1_text": "北京", "span1_index": 3, "span2_text": "他们", "span2_index": 4},
            "label": draw.choice(["true", "false"]),
        }
        folder.lines(f"{few}/cluewsc/test_public.json", rows(span))
        folder.lines(
            f"{few}/csl/test_public.json",
            rows(lambda i: {"abst": text(), "keyword": [text(1, 1), text(1, 1)], "label": draw.choice("01")}),
        )
        folder.lines(
            f"{few}/chid/test_public.json",
            rows(lambda i: {"content": "他#idiom#了", "candidates": [text(1, 1) for _ in range(7)], "answer": i % 7}),
        )
        folder.lines(
            f"{few}/tnews/test_public.json",
            rows(lambda i: {"sentence": text(), "label_desc": draw.choice(["news_story", "news_car"]), "label": "1"}),
        )
        folder.lines(
            f"{few}/eprstmt/test_public.json",
            rows(lambda i: {"sentence": text(), "label": draw.choice(["Positive", "Negative"])}),
        )
        folder.lines(
            f"{few}/bustm/test_public.json",
            rows(lambda i: {"sentence1": text(), "sentence2": text(), "label": draw.choice("01")}),
        )
    folder.lines("data/svamp/SVAMP.jsonl", rows(lambda i: {"Body": text(), "Question": text(), "Answer": float(i)}))
    folder.lines("data/gsm-hard/test.jsonl", rows(lambda i: {"input": text(), "target": i * 1.5}))
    folder.json(
        "data/strategyqa/strategyQA_train.json",
        rows(lambda i: {"qid": str(i), "question": text(), "answer": i % 2 == 0}),
    )
    folder.json("data/drop/dev.json", {str(i): {"passage": text(), "qa_pairs": [{"question": text(), "validated_answers": [
        {"number": draw.choice(["", str(i)]), "date": {"day": draw.choice(["", "3"]), "month": "", "year": ""}, "spans": [text()]}]}]} for i in range(_ROWS)})  # fmt: skip
    for name in ("single_choice_en", "cloze_en"):
        folder.lines(
            f"data/mathbench/{name}.jsonl",
            rows(
                lambda i: {
                    "question": f" {text()} ",
                    "options": [text() for _ in range(4)],
                    "answer": draw.choice("ABCD"),
                }
            ),
        )
    for lang in ("train", "eval"):
        folder.lines(
            f"data/xstory_cloze/en_{lang}.jsonl",
            rows(lambda i: {f"input_sentence_{k}": text() for k in range(1, 5)} | {"answer_right_ending": 1 + i % 2}),
        )
    for split in ("dev", "devtest"):
        for lang in ("eng", "zho_simpl"):
            folder.texts(f"data/flores_first100/{split}/{lang}.{split}", rows(lambda i: text()))
    glue = "data/SuperGLUE"
    folder.lines(
        f"{glue}/WiC/val.jsonl",
        rows(lambda i: {"word": text(1, 1), "sentence1": text(), "label": draw.choice(["true", "false"])}),
    )
    folder.lines(f"{glue}/COPA/val.jsonl", rows(lambda i: {"premise": text(), "label": i % 2}))
    folder.lines(
        f"{glue}/CB/val.jsonl",
        rows(lambda i: {"premise": text(), "label": draw.choice(["contradiction", "entailment", "neutral"])}),
    )
    folder.lines(
        f"{glue}/AX-b/AX-b.jsonl",
        rows(lambda i: {"sentence1": text(), "label": draw.choice(["entailment", "not_entailment"])}),
    )
    wsc = lambda i: {
        "text": "Mark told Pete many lies about himself today",
        "target": {
            "span1_text": draw.choice(["Mark", "many lies"]),
            "span1_index": 0,
            "span2_text": "himself",
            "span2_index": 6,
        },
        "label": draw.choice(["true", "false"]),
    }
    folder.lines(f"{glue}/WSC/val.jsonl", rows(wsc))
    folder.lines(
        f"{glue}/MultiRC/val.jsonl",
        rows(
            lambda i: {
                "passage": {
                    "text": text(),
                    "questions": [
                        {"question": text(), "answers": [{"text": text(), "label": k % 2} for k in range(3)]}
                        for _ in range(2)
                    ],
                }
            }
        ),
    )
    folder.lines(
        f"{glue}/ReCoRD/val.jsonl",
        rows(
            lambda i: {
                "passage": {"text": f"{text()}\n\n@highlight\n{text()}"},
                "qas": [{"query": f"{text()} @placeholder", "answers": [{"text": text()}]}],
            }
        ),
    )
    qa = lambda i: {"instructions": [text(), text()], "outputs": [text(), text()], "input": text(9, 30)}
    folder.lines("ais_bench/datasets/LEval/set.jsonl", rows(qa))
    folder.lines("data/cmo.jsonl", rows(lambda i: {"origin_prompt": text(), "gold_answer": str(i)}))
    folder.json("data/scibench/atkins.json", rows(lambda i: {"problem_text": f" {text()} ", "answer_number": f" {i}"}))
    folder.lines(
        "data/protein/evaluation.jsonl",
        rows(
            lambda i: {
                "question": text(),
                "options": [f"option {k}: {text()}" for k in range(1, 5)],
                "answer": f"option {1 + i % 4}",
            }
        ),
    )
    for split in ("dev", "test"):
        folder.table(f"data/mmlu_arabic/{split}/law_{split}.csv", rows(lambda i: [text() for _ in range(6)]))
    folder.lines("data/anli/test.jsonl", rows(lambda i: {"context": text(), "label": draw.choice("cen")}))
    folder.lines("data/summedits/summedits.jsonl", rows(lambda i: {"doc": text(), "label": i % 2}))
    folder.lines(
        "data/tydiqa/dev/english-dev.jsonl", rows(lambda i: {"question": text(), "answers": [{"text": f"{i}"}]})
    )
    folder.lines("data/CLUE/AFQMC/dev.json", rows(lambda i: {"sentence1": text(), "label": str(i % 2)}))
    folder.lines(
        "data/CLUE/cmnli/cmnli_public/dev.json",
        rows(lambda i: {"sentence1": text(), "label": draw.choice(["-", "neutral", "entailment", "contradiction"])}),
    )
    folder.json(
        "data/CLUE/CMRC/dev.json",
        {
            "data": [
                {
                    "paragraphs": [
                        {
                            "context": text(),
                            "qas": [{"question": text(), "answers": [{"text": f"{i}"}, {"text": f"{i}"}]}],
                        }
                    ]
                }
                for i in range(_ROWS)
            ]
        },
    )
    folder.json(
        "data/CLUE/C3/dev_0.json",
        rows(
            lambda i: [
                [[text()], [text(), text()]],
                [{"question": text(), "choice": (c := [f"{k}{text()}" for k in range(2 + i % 3)]), "answer": c[0]}],
            ]
        ),
    )
    folder.lines("data/crowspairs_cn/test.jsonl", rows(lambda i: {"sent_more": text(), "sent_less": text()}))
    folder.lines(
        "data/commonsenseqa_cn/validation.jsonl",
        rows(
            lambda i: {
                "id": str(i),
                "question": text(),
                "question_concept": text(),
                "choices": {"text": [text() for _ in range(5)]},
                "answerKey": "A",
            }
        ),
    )
    for name in ("xiezhi_train_chn", "xiezhi_inter_chn", "xiezhi_train_eng", "xiezhi_inter_eng"):
        folder.lines(
            f"data/xiezhi/{name}/xiezhi.v1.json",
            rows(
                lambda i: {
                    "question": text(),
                    "options": "\n".join(o := [f"{k}{text()}" for k in range(4 if i % 5 else 3)])
                    + ('"\n' if i % 2 else ""),
                    "answer": o[0],
                    "labels": [text(), "a"],
                    "label": ["b", text()],
                }
            ),
        )
