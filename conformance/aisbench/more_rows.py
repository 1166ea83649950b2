"""Rows of classes that the mirror has no data for: made-up files of the layout that each class reads, odd rows included.

:func:`more` writes the files and returns the cases. Nothing of Proctor is used here.
"""
# ruff: noqa: E501, PLR0912, PLR0915, C901, E731, B023, C420, F841, PLW0108, PTH123, RUF001, SIM905 - a list of files

from __future__ import annotations

import base64
import csv
import gzip
import json
import pickle  # what upstream's own files hold
import zipfile
import zlib
from typing import Any

from conformance.aisbench.data_folder import Folder

OC = "opencompass"


class Made:
    """Files below one folder, and the cases that read them."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.base = folder.base / "more"
        self.cases: list[dict[str, Any]] = []
        self.number = 0

    def case(self, module: str, kind: str, **arguments: Any) -> None:
        """Add a case."""
        reader = arguments.pop("reader", None)
        one = {"project": OC, "module": module, "type": kind, "arguments": arguments, "mirror": False, "alone": True}
        self.cases.append(one | ({"reader_cfg": reader, "abbr": "some", "n": 1, "k": 1} if reader else {}))

    def place(self, name: str) -> str:
        """Return a new path for a file, in a folder of its own."""
        self.number += 1
        return self.here(f"{self.number}/{name}")

    def here(self, name: str) -> str:
        """Return a path below the folder; its parents are made."""
        path = self.base / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return str(path)

    def lines(self, name: str, rows: list[Any]) -> str:
        """Write JSON lines."""
        path = self.place(name)
        self.folder.lines(path, rows)
        return path

    def json(self, name: str, value: Any) -> str:
        """Write a JSON document."""
        path = self.place(name)
        self.folder.json(path, value)
        return path

    def table(self, name: str, rows: list[list[str]], delimiter: str = ",") -> str:
        """Write a table."""
        path = self.place(name)
        self.folder.table(path, rows, delimiter)
        return path

    def texts(self, name: str, text: str) -> str:
        """Write a text."""
        path = self.here(name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def hub(self, splits: dict[str, list[Any]] | None = None, **configs: dict[str, list[Any]]) -> str:
        """Write a dataset in the hub's layout: splits, or configurations with splits."""
        self.number += 1
        base = f"{self.number}/dataset{self.number}"  # the library keeps what it read by the folder's name
        listed = []
        for config, parts in (configs or {"default": splits or {}}).items():
            files = []
            for split, rows in parts.items():
                name = f"{config}/{split}.jsonl"
                self.folder.lines(self.here(f"{base}/{name}"), rows)
                files.append(f"    - split: {split}\n      path: {name}")
            listed.append(f"- config_name: {config}\n  data_files:\n" + "\n".join(files))
        return self.texts(f"{base}/README.md", "---\nconfigs:\n" + "\n".join(listed) + "\n---\n").removesuffix(
            "/README.md"
        )


def _dir(path: str) -> str:
    return path.rpartition("/")[0]


def more(folder: Folder) -> list[dict[str, Any]]:
    """Write the files and return the cases."""
    made = Made(folder)
    _knowledge(made)
    _science(made)
    _code(made)
    _long(made)
    _judged(made)
    _needles(made)
    return made.cases


def _knowledge(m: Made) -> None:
    text, draw, rows = m.folder.text, m.folder.random, m.folder.rows
    four = lambda: {letter: text() for letter in "ABCD"}
    path = m.json(
        "questions.json", {"example": rows(lambda i: {"question": text(), "answer": [draw.choice("ABCD")], "index": i})}
    )
    m.case("GaokaoBench", "GaokaoBenchDataset", path=_dir(path), filename="/questions.json", name="x")
    for split in ("dev", "test"):
        m.folder.json(
            m.here(f"chem/{split}/a_benchmark.json"),
            rows(lambda i: {"question": text(), **four(), "answer": draw.choice("ABCD")}),
        )
    m.case("chembench", "ChemBenchDataset", path=str(m.base / "chem"), name="a")
    path = m.hub({"train": rows(lambda i: {"Question": text(), "Options": text(), "Answer": text(), "more": i})})
    m.case("climaqa", "ClimaQADataset", path=_dir(path), task=path.rpartition("/")[2])
    path = m.json("set.json", rows(lambda i: {"question": text(), "final_answer": [text()], "language": "en", "subject": text(), "question_type": "x", "answer_type": "y",
        "is_multiple_answer": False, "unit": None, "error": None, "context": text()}))  # fmt: skip
    m.case("OlympiadBench", "OlympiadBenchDataset", path=_dir(path), name="set")
    path = m.json("matbench_base_fold_0_glass_test.json", rows(lambda i: {"problem": text(), "answer": text(), "z": 1}))
    m.case("matbench.matbench", "MatbenchDataset", path=_dir(path), task="glass")
    path = m.hub(
        {
            "train": rows(
                lambda i: {
                    "question": text(),
                    "options": [text() for _ in range(3)],
                    "discipline": draw.choice("ab"),
                    "field": draw.choice("ab"),
                    "subfield": "c",
                }
            )
        }
    )
    for mode in ("zero-shot", "five-shot"):
        m.case("supergpqa.supergpqa", "SuperGPQADataset", path=path, prompt_mode=mode, discipline="a")
    path = m.hub({"multiple_choice": rows(lambda i: {"question": text(), "answer": "A"})})
    m.case("Earth_Silver", "Earth_Silver_MCQDataset", path=path)
    for split in ("dev", "test"):
        m.folder.table(
            m.here(f"fiq/{split}/a.csv"),
            [["", "Question", "A", "B", "C", "D", "Answer"], *rows(lambda i: [str(i), *(text() for _ in range(6))])],
        )
    m.case("FinanceIQ", "FinanceIQDataset", path=str(m.base / "fiq"), name="a")
    header = ["question", "opa", "opb", "opc", "opd", "ope", "answer_idx", "number"]
    path = m.table(
        "m.csv",
        [header, *rows(lambda i: [text(), text(), text(), text(), text(), draw.choice(["", text()]), "A", str(i)])],
    )
    m.case("Medbullets", "MedbulletsDataset", path=path)
    path = m.table(
        "n.csv",
        [
            ["Question", "Choices", "Answer"],
            *rows(lambda i: [text(), f"A. {text()}\n B.  {text()} \n\nC.{text()}", "A"]),
        ],
    )
    m.case("nejmaibench", "NejmaibenchDataset", path=path)
    path = m.table(
        "s.csv",
        [["metadata", "problem", "answer"], *rows(lambda i: [f"{i} {text()}", f"{i} {text()}", f"{i} {text()}"])],
    )
    m.case("simpleqa", "SimpleQADataset", path=path)
    m.case("simpleqa", "SimpleQADataset", path=path, num_examples=5)
    m.case("simpleqa", "SimpleQADataset", path=path, n_repeats=3)
    path = m.json(
        "livestembench-20241227.json",
        rows(lambda i: {"question": text(), "options": [text()] * (i % 3), "answer": text()}),
    )
    m.case("livestembench", "LiveStemBenchDataset", path=_dir(path), n_repeats=2)
    path = m.json("livereasonbench-20241202.json", rows(lambda i: {"prompt": text(), "ground_truth": text()}))
    m.case("livereasonbench.livereasonbench", "LiveReasonBenchDataset", path=_dir(path), num_examples=7)
    part = lambda: {"question": text(), "answer": text(), "qa_type": draw.choice([1, "b"])}
    kinds = [lambda: part(), lambda: {"question": text(), "sub_question": [part(), part()]},
             lambda: {"question": text(), "sub_question": [part(), {"question": text(), "sub_question": [part(), part()]}]}]  # fmt: skip
    path = m.lines("c.jsonl", rows(lambda i: {"id": i, "has_img": False, **kinds[i % 3]()}))
    m.case("chem_exam", "ChemExamDataset", path=path)
    both = lambda: rows(lambda i: {"Question": text(), **four(), "Answer": "A", "other": text()})
    m.case("mmlu_cf", "MMLUCFDataset", path=m.hub({"Math_dev": both(), "Math_val": both()}), name="Math")
    path = m.hub(Text={"test": rows(lambda i: {"question": text(), "options": [text()] * (2 + i % 5), "label": "A"})})
    m.case("MedXpertQA", "MedXpertQADataset", path=path, prompt_mode="zero-shot")
    path = m.hub(
        {
            "train": rows(
                lambda i: {"id": i, "questions": text(), "final_answers": [text() for _ in range(i % 3)], "z": ""}
            )
        }
    )
    m.case("physics", "PHYSICSDataset", path=_dir(path), name=path.rpartition("/")[2])
    for name, sub, arguments in (
        ("Flores", "flores/test/L", {"lang_fullname": "L"}), ("MGSM", "mgsm/test/en", {"lang": "en"}), ("MHellaswag", "mhellaswag/test/en", {"lang": "en"}),
        ("MIFEval", "mifeval/test/en", {"lang": "en"}), ("MLogiQA", "mlogiqa/test/en", {"lang": "en"}), ("XNLI", "xnli/test/en", {"lang": "en"}),
        ("HumanEvalXL", "humaneval-xl/test/python/en", {"lang": "en", "program_lang": "python"}),
    ):  # fmt: skip
        m.folder.lines(m.here(f"pmm/{sub}.jsonl"), rows(lambda i: {"question": text(), "answer": i, "z": [text()]}))
        m.case(f"PMMEval.{name.lower()}", f"PMMEval{name}Dataset", path=str(m.base / "pmm"), **arguments)
    for level in ("easy", "hard"):
        m.folder.lines(
            m.here(f"pmm/mmmlu/{level}/test/mmlu_EN.jsonl"), rows(lambda i: {"question": text(), "level": level})
        )
    for difficulty in ("easy", "hard", "all"):
        m.case("PMMEval.mmmlu", "PMMEvalMMMLUDataset", path=str(m.base / "pmm"), lang="EN", difficulty=difficulty)
    path = m.hub(
        **{
            "rbench-t_en": {
                "test": rows(lambda i: {"question": text(), **{letter: text() for letter in "ABCDEF"}, "answer": "A"})
            }
        }
    )
    m.case("rbench", "RBenchDataset", path=path)
    path = m.table("t.csv", [["Question", "Answer", "Answer_type"], *rows(lambda i: [text(), str(i), "integer"])])
    m.case("TheoremQA.legacy", "TheoremQADataset", path=path)
    m.case(
        "TheoremQA.main",
        "TheoremQADatasetV3",
        path=m.json(
            "t.json",
            rows(lambda i: {"Question": text(), "Answer": draw.choice([1, 2.5, True, [1, 2]]), "Answer_type": "x"}),
        ),
    )
    sets = {}
    for sub, names in (("sst2", ["sentence"]), ("qqp", ["question1", "question2"]), ("rte", ["sentence1", "sentence2"]), ("qnli", ["question", "sentence"]),
                       ("mnli", ["premise", "hypothesis"]), ("mnli-mm", ["premise", "hypothesis"])):  # fmt: skip
        sets[sub] = rows(
            lambda i, n=names: {
                **{k: text() for k in n},
                "idx": i,
                "label": i % 2,
                **{f"original_{k}": draw.choice(["", text()]) for k in n[: 1 + i % 2]},
                "method": "x",
            }
        )
    path = m.json("adv.json", sets)
    for kind, names in (("Sst2", ["sentence"]), ("Qqp", ["question1", "question2"]), ("Rte", ["sentence1", "sentence2"]), ("Qnli", ["question", "sentence"]),
                        ("Mnli", ["premise", "hypothesis"]), ("MnliMM", ["premise", "hypothesis"])):  # fmt: skip
        m.case(
            "advglue", f"Adv{kind}Dataset", path=path, reader={"input_columns": names, "output_column": "label_option"}
        )
    path = m.json("task/task.json", {"examples": rows(lambda i: {"input": text(), "target": text()})})
    m.case("bbeh", "BBEHDataset", path=_dir(_dir(path)), name="task")
    m.case(
        "charm",
        "CharmDataset",
        path=_dir(m.json("e.json", {"examples": rows(lambda i: {"input": text(), "target": text()})})),
        name="e",
    )
    numbers = ["severe_toxicity", "obscene", "threat", "insult", "identity_attack", "sexual_explicit"]
    comments = lambda count: rows(
        lambda i: {"text": text(), "toxicity": draw.random(), **dict.fromkeys(numbers, 0.5)}, count
    )
    m.case("civilcomments", "CivilCommentsDataset", path=m.hub({"train": comments(5), "test": comments(10_100)}))
    langs = [draw.choice(["es", "fr"]) for _ in range(24)]
    path = m.table("text.csv", rows(lambda i: [str(i), text(), langs[i]]))
    label = m.table("label.csv", rows(lambda i: [str(i), str(i % 2)]))
    m.case("jigsawmultilingual", "JigsawMultilingualDataset", path=path, label=label, lang="fr")
    m.case("kcle", "KCLEDataset", path=m.lines("k.jsonl", rows(lambda i: {"x": 1, "target": text(), "input": text()})))
    path = m.hub(
        AR_XY={
            "test": rows(
                lambda i: {"Unnamed: 0": i, "Question": text(), **four(), "Answer": "A", "Subject": "some_thing_x"}
            )
        }
    )
    m.case("mmmlu", "MMMLUDataset", path=path, name="mmlu_AR-XY")
    path = m.lines("AR/test.jsonl", rows(lambda i: {"question": text()}))
    m.case("mmmlu", "MMMLULiteDataset", path=_dir(_dir(path)), name="openai_mmmlu_lite_AR")
    qa = lambda i: {
        "question": text(),
        "is_impossible": i % 2 == 0,
        "answers": [{"text": f"{i}"}] * 2,
        "plausible_answers": [{"text": f"p{i}"}],
    }
    m.case(
        "squad20",
        "SQuAD20Dataset",
        path=m.json("q.json", {"data": [{"paragraphs": [{"context": text(), "qas": rows(qa, 3)}]} for _ in range(3)]}),
    )
    m.case(
        "BuySideFinBench",
        "BuySideFinBenchDataset",
        path=m.hub(a={"dev": rows(lambda i: {"q": text()}), "test": rows(lambda i: {"q": text()})}),
        name="a",
    )
    m.case(
        "cmphysbench.cmphysbench",
        "CMPhysBenchDataset",
        path=m.hub(
            {"train": rows(lambda i: {"question": text(), "final_answer": [text()] * (i % 3), "topic": text()})}
        ),
    )
    m.case("ClinicBench", "ClinicBenchDataset", path=m.hub({"train": rows(lambda i: {"q": text()})}))
    m.case(
        "MedQA",
        "MedQADataset",
        path=m.hub({"train": rows(lambda i: {"question": text(), "answer_idx": "A", "options": four()})}),
    )
    path = m.lines(
        "mol",
        rows(lambda i: {"id_ddm": i, "dialogs": [{"role": "u", "content": text()}, {"role": "a", "content": text()}]}),
    )
    m.case("mol_instructions_chem", "MolInstructionsDataset", path=_dir(path), name="mol")
    m.case(
        "OpenFinData",
        "OpenFinDataDataset",
        path=_dir(m.json("o.json", rows(lambda i: {"q": text(), "answer": "A"}))),
        name="o",
    )
    path = m.json("PHYBench-fullques_v1.json", rows(lambda i: {"id": i, "content": text(), "answer": text()}))
    m.case("phybench.phybench", "PhyBenchDataset", path=_dir(path))
    context = lambda: {"contexts": [text(), text()], "labels": ["a"]}
    path = m.hub(
        pqa_labeled={
            "train": rows(
                lambda i: {
                    "question": text(),
                    "context": context(),
                    "final_decision": draw.choice(["yes", "no", "maybe"]),
                }
            )
        }
    )
    m.case("PubMedQA", "PubMedQADataset", path=path)
    path = m.lines(
        "q.jsonl",
        rows(
            lambda i: {
                "article": text(),
                "questions": [
                    {
                        "question": text(),
                        "options": [text() for _ in range(4)],
                        "gold_label": 1 + i % 4,
                        "difficult": i % 2,
                    }
                ]
                * 2,
            }
        ),
    )
    m.case("QuALITY", "QuALITYDataset", path=path)
    stem = lambda: f"{text()}\n\nA. {text()}\nB. {text()} C.{text()}\nD. {text()}\n\nAnswer:"
    science = lambda i: {
        "question": draw.choice([stem(), stem(), text()]),
        "type": draw.choice(["multiple-choice", "filling"]),
        "category": draw.choice("ab"),
        "answer": [["A"], []][i % 4 == 0],
    }
    path = m.hub(sci={"test": rows(science, 60)})
    m.case("SciEval", "SciEvalDataset", path=path, name="sci")
    m.case("SciEval", "SciEvalDataset", path=path, name="sci", category="a")
    m.case(
        "ScienceQA",
        "ScienceQADataset",
        path=m.hub(
            {
                "test": rows(
                    lambda i: {
                        "image": [None, "x"][i % 2],
                        "question": text(),
                        "choices": [text(), text(), text()],
                        "answer": i % 3,
                    }
                )
            }
        ),
    )
    table = {str(i): {"question": text(), "choices": draw.choice([None, [text(), text()]]), "answer": text(), "unit": draw.choice([None, "$"]), "table_title": draw.choice([None, text()]),
                      "table": f"{text()}\n{text()}", "solution": f"{text()}\n{text()}"} for i in range(20)}  # fmt: skip
    path = ""
    for split in ("dev", "test", "train"):
        m.folder.json(path := m.here(f"tab/problems_{split}.json"), table)
    m.case("tabmwp", "TabMWPDataset", path=_dir(path))
    xcopa = "et ht it id qu sw zh ta th tr vi".split()
    names = [*xcopa, *(f"translation-{name}" for name in xcopa if name != "qu")]
    m.case(
        "xcopa",
        "XCOPADataset",
        path=m.hub(
            **{name: {"validation": rows(lambda i, n=name: {"premise": text(), "lang": n}, 2)} for name in names}
        ),
    )
    behaviour = lambda: draw.choice([" (A)", " (B)", " Yes", " No", "(H)", " x"])
    path = m.lines(
        "b.jsonl",
        rows(
            lambda i: {
                "question": text(),
                "answer_matching_behavior": behaviour(),
                "answer_not_matching_behavior": " (A)",
            }
        ),
    )
    for kind in ("AiRisk", "Persona", "Sycophancy"):
        m.case("anthropics_evals", f"{kind}Dataset", path=path)
    for name in ("val", "test"):
        m.folder.json(
            path := m.here(f"cmb/{name}.json"),
            rows(
                lambda i: {
                    "question": text(),
                    "option": {"A": text(), "B": text(), "C": ["", "x", text()][i % 3]},
                    **({"answer": "A"} if name == "val" else {}),
                    "id": i,
                }
            ),
        )
    m.case("cmb", "CMBDataset", path=_dir(path))
    m.case(
        "cvalues",
        "CValuesDataset",
        path=m.lines(
            "v.jsonl",
            rows(lambda i: {"prompt": f"{text()}回复1{text()}回复2", "label": draw.choice(["回复1", "回复2"])}),
        ),
    )
    path = m.here("eese/test/EESE.jsonl")
    m.folder.lines(path, rows(lambda i: {"q": text()}))
    m.case("eese.eese", "EESEDataset", path=_dir(_dir(path)))
    m.case(
        "hungarian_math", "HungarianExamMathDataset", path=m.table("h.csv", [["Question"], *rows(lambda i: [text()])])
    )
    path = m.lines("k.jsonl", rows(lambda i: {"question": f" {text()} ", "options": [text(), text()], "answer": "A"}))
    for name in ("single_choice", "essay"):
        m.case("kaoshi", "KaoshiDataset", path=path, name=name)
    m.case(
        "lawbench.lawbench",
        "LawBenchDataset",
        path=_dir(m.json("1-1.json", rows(lambda i: {"instruction": text(), "question": text(), "answer": text()}))),
        index="1-1",
    )
    path = m.table(
        "mm.csv",
        [["", "question", "A", "B", "C", "D", "answer"], *rows(lambda i: [str(i), *(text() for _ in range(6))])],
    )
    m.case("mastermath2024v1", "MastermathDatasetv1", path=_dir(path), name="mm.csv")
    for name in ("dev", "test"):
        m.folder.lines(
            path := m.here(f"nqcn/{name}.jsonl"), rows(lambda i: {"question": text(), "answer": [text(), text()]})
        )
    m.case("natural_question_cn", "NaturalQuestionDatasetCN", path=_dir(path))
    m.case("s3eval", "S3EvalDataset", path=m.hub({"test": rows(lambda i: {"input": text(), "output": text(), "z": 1})}))
    m.case(
        "gaokao_math",
        "GaoKaoMATHDataset",
        path=m.json("g.json", rows(lambda i: {"question": text(), "extract_answer": draw.choice([1, "b", [2]])})),
    )
    m.case(
        "math_intern",
        "MATHInternDataset",
        path=m.json(
            "mi.json",
            {
                str(i): {
                    "problem": text(),
                    "solution": draw.choice([f"so \\boxed{{{text()}}}.", "\\boxed 3$", "none", "\\fbox{2}"]),
                }
                for i in range(20)
            },
        ),
    )
    path = m.hub(
        {
            "train": rows(
                lambda i: {
                    "id": i,
                    "question": text(),
                    "json": json.dumps({"image": ["", "x"][i % 2]}),
                    "Verified_Classes": draw.choice("ab"),
                    "category": draw.choice("cd"),
                }
            )
        }
    )
    m.case("hle", "HLEVerifiedDataset", path=path)
    m.case("hle", "HLEVerifiedDataset", path=path, verified_classes="a", category="c")
    m.case(
        "ProcessBench",
        "ProcessBenchEvalDataset",
        path=m.hub({"gsm8k": rows(lambda i: {"problem": text(), "steps": [text() for _ in range(i % 4)], "label": i})}),
        subset="gsm8k",
    )
    m.case(
        "zebralogic",
        "ZebraLogicDataset",
        path=m.hub(
            mc_mode={
                "test": rows(
                    lambda i: {
                        "puzzle": text(),
                        "choices": (c := [f"{k}{text()}" for k in range(4)]),
                        "answer": draw.choice([*c, "?"]),
                    }
                )
            }
        ),
    )
    path = m.hub(
        core={
            "test": rows(
                lambda i: {
                    "experiment": draw.choice(
                        ["exp_updates", "exp_keys_x", "extra_exp_updates_randomoff", "exp_valuelength"]
                    ),
                    "prompt": json.dumps([{"role": "user", "content": text()}]),
                }
            )
        }
    )
    for name in (None, "exp_updates", "exp_keys", "exp_valuelength", "exp_sequential"):
        m.case("PI_LLM", "PILLMDataset", path=path, experiment_filter=name, max_samples=9)
    turn = lambda: json.dumps({"role": "user", "content": text()})
    header = [
        "key",
        "language",
        *(f"turn_{t}_{part}" for t in (1, 2, 3) for part in ("prompt", "instruction_id_list", "kwargs")),
    ]
    given = lambda: json.dumps([json.dumps({"num": 1}), json.dumps({})])
    path = m.table(
        "mif.csv",
        [
            header,
            *rows(
                lambda i: [
                    str(i),
                    "English",
                    turn(),
                    '["a:b"]',
                    given(),
                    turn(),
                    '["a:b", "c"]',
                    given(),
                    *((turn(), "[]", "[]") if i % 3 else ("", "", "")),
                ]
            ),
        ],
    )
    m.case("MultiIF.multiif", "MultiIFDataset", path=path)
    path = m.hub(
        {
            "test": rows(
                lambda i: {
                    "context": text(),
                    "question": draw.choice([f"Prepend  h{i}x to it", text()]),
                    "answers": [text()],
                }
            )
        }
    )
    m.case("mrcr", "MRCRDataset", path=path, subset="default")
    path = m.json(
        "t.json",
        {
            str(i): {
                "origin_prompt": draw.choice(
                    [json.dumps([{"role": "user", "content": "x"}]), [{"role": "user", "content": text()}]]
                ),
                "ground_truth": {"a": text()},
            }
            for i in range(9)
        },
    )
    m.case("teval.__init__", "TEvalDataset", path=_dir(path), name="t")
    for language in ("en", "cn"):
        m.folder.lines(
            m.here(f"lmb/202412/AMC_{language}.jsonl"), rows(lambda i: {"question": text(), "answer": text()})
        )
    for cot in (True, False):
        m.case(
            "livemathbench.livemathbench",
            "LiveMathBenchDataset",
            path=str(m.base / "lmb"),
            dataset_splits=["AMC"],
            cot=cot,
        )
    for sub in ("cloze_x", "circular_x", "single_choice_x"):
        path = m.lines(
            "w.jsonl",
            rows(
                lambda i: {
                    "question": f" {text()} ",
                    "options": [text() for _ in range(4)],
                    "answer": draw.choice("ABCD"),
                }
            ),
        )
        m.case("wikibench", "WikiBenchDataset", path=_dir(path), filename="/w.jsonl", name=sub)
        m.case("compassbench_obj", "CompassBenchObjectiveV1_3", path=path, name=sub)
    path = m.lines(
        "fa.jsonl",
        rows(lambda i: {"category": "c", "question": text(), "Positive Option": text(), "Negative Option": text()}),
    )
    m.case("fake_alignment.fake_alignment", "FakeAlignmentDataset", path=path)
    story = lambda i: {
        "context": text(),
        "questions": [
            {
                "question": text(),
                "choices": [text(), text()],
                "answer": i % 2,
                "intermediate_trees": [],
                "intermediate_data": [{"story_hash_id": f"h{i // 2}"}],
            }
        ],
    }
    for name in ("murder_mysteries", "object_placements", "team_allocation"):
        m.folder.json(path := m.here(f"musr/{name}.json"), rows(story))
        m.case("musr.musr", "MusrDataset", path=_dir(path), name=name)
        m.case(
            "musr.musr",
            "MusrDataset",
            path=_dir(path),
            name=name,
            exclude_contrastive_examples=True,
            self_consistency_n=2,
            sample_size=7,
            offset=2,
        )
    for category in ("logic", "cipher"):
        m.folder.lines(
            m.here(f"kor/{category}/rule.jsonl"), rows(lambda i: {"idx": str(i), "rule_content": f"{text()} {{x}}"})
        )
        m.folder.json(
            m.here(f"kor/{category}/sample.json"),
            rows(lambda i: {"idx": str(i), "rule_id": str(i % 26), "question": text(), "answer": text()}),
        )
        m.folder.lines(
            m.here(f"kor/{category}/three-shot.jsonl"),
            [{"rule_id": str(i), "question": text(), "answer": text()} for i in range(24) for _ in range(3)],
        )
        for mode in ("0_shot", "3_shot"):
            m.case(
                "korbench.korbench", "korbenchDataset", path=str(m.base / "kor"), prompt_mode=mode, category=category
            )
    m.folder.json(
        m.here("kor/mixed/Multi-Q.json"),
        rows(lambda i: {"rule_list": [f"logic_{i}", "cipher_1"], "question_list": [f"cipher_{i}"]}),
    )
    m.case("korbench.korbench", "korbenchDataset", path=str(m.base / "kor"), prompt_mode="mixed", category="Multi-Q")
    m.case(
        "arc_prize_public_evaluation",
        "ARCPrizeDataset",
        path=_dir(
            m.json(
                "2072aba6.json",
                {"train": [{"input": [[1]], "output": [[2]]}], "test": [{"input": [[3]], "output": [[4]]}]},
            )
        ),
        version="arc_agi_1",
    )
    talk = lambda i: [
        {"role": "system", "content": text()},
        {"role": "user", "content": text()},
        {"role": "assistant", "content": text()},
        {"role": "user", "content": text()},
    ][i % 2 : 2 + i % 3]
    path = m.hub(
        {
            "train": rows(
                lambda i: {
                    "benchmark_name": draw.choice("ab"),
                    "conversation_history": json.dumps(talk(i)),
                    "prompt_metadata": draw.choice(["", json.dumps({"rubrics": text()}), "{"]),
                }
            )
        }
    )
    for name in (None, "a"):
        m.case("advancedIF", "AdvancedIFDataset", path=path, name=name)
    path = m.hub(
        {
            "train": rows(
                lambda i: {
                    "instruction_types": draw.choice("ab"),
                    "prompt": text(),
                    "response_reference": text(),
                    "language": draw.choice(["en", "zh"]),
                    "judge_prompt_template": "t",
                    "judge_system_prompt": "s",
                }
            )
        }
    )
    m.case("inverse_ifeval", "InverseIFEvalDataset", path=path, language="en", max_samples=4)
    m.case("inverse_ifeval", "InverseIFEvalDataset", path=path, instruction_type=["a"])
    rubrics = lambda i: [[{"rubric_criteria": f" {text()} "}, {"rubric_criteria": ""}], []][i % 2]
    m.case(
        "clbench",
        "CLBenchDataset",
        path=m.hub(
            {
                "train": rows(
                    lambda i: {
                        "messages": [text()],
                        "rubrics": rubrics(i),
                        "metadata": {"task_id": f"t{i}", "context_category": "c"},
                    }
                )
            }
        ),
    )
    path = m.lines(
        "pg.jsonl",
        rows(
            lambda i: {
                "a_prompt": text(),
                "reference_need_sets": {"x": ["1"], "y": ["2"]},
                "roles": ["x", "y"],
                "distractor_id": "d",
                "fragments": [{"id": 1, "text": text()}],
            }
        ),
    )
    m.case("perspectivegap", "PerspectiveGapDataset", path=path, name="a")
    for kind in ("eng", "zh"):
        m.folder.json(m.here(f"role/profiles-{kind}/desc.json"), {"x": text(), "y": text()})
    for part in ("rolebench-eng/instruction-generalization", "rolebench-eng/role-generalization", "rolebench-zh"):
        for kind in ("general", "role_specific"):
            for split in ("train", "test"):
                m.folder.lines(
                    m.here(f"role/{part}/{kind}/{split}.jsonl"),
                    rows(lambda i: {"role": draw.choice("xy"), "question": text(), "generated": [text(), text()]}),
                )
    for kind in ("InstructionGeneralizationEnglish", "InstructionGeneralizationChinese", "RoleGeneralizationEnglish"):
        m.case("rolebench", f"{kind}Dataset", path=str(m.base / "role"))
    clean = lambda names: {name: [draw.choice(["clean", "input contamination"]), 1] for name in names}
    path = m.here("clean/ARC-Challenge-Test.jsonl")
    m.folder.lines(
        path,
        rows(
            lambda i: {
                "id": f"q{i}",
                "question": {
                    "stem": text(),
                    "choices": [{"text": text(), "label": "ABCD"[k]} for k in range(3 + (i % 5 > 0))],
                },
                "answerKey": "B",
            }
        ),
    )
    m.folder.json(m.here("clean/ARC_c_test_contamination_annotations.json"), clean(f"q{i}" for i in range(15)))
    m.case("arc", "ARCDatasetClean", path=path, name="ARC-Challenge")
    m.folder.lines(
        path := m.here("clean/hellaswag.jsonl"),
        rows(lambda i: {"query": f"a: b: {text()}", "choices": [text() for _ in range(4)], "gold": 1}),
    )
    m.folder.json(m.here("clean/hellaswag_val_contamination_annotations.json"), clean(str(i) for i in range(15)))
    m.case("hellaswag", "HellaswagDatasetClean", path=path)
    for split in ("dev", "val", "test"):
        m.folder.table(m.here(f"clean/{split}/law_{split}.csv"), rows(lambda i: [text() for _ in range(6)]))
        m.folder.table(
            m.here(f"cclean/{split}/law_{split}.csv"),
            [
                ["id", "question", "A", "B", "C", "D", *(["answer"] if split != "test" else [])],
                *rows(lambda i: [text() for _ in range(7 if split != "test" else 6)]),
            ],
        )
    m.folder.json(m.here("clean/test/MMLU_test_contamination_annotations.json"), clean(f"law {i}" for i in range(15)))
    m.folder.json(m.here("cclean/val/ceval_contamination_annotations.json"), clean(f"law-{i}" for i in range(15)))
    m.case("mmlu", "MMLUDatasetClean", path=str(m.base / "clean"), name="law")
    m.case("ceval", "CEvalDatasetClean", path=str(m.base / "cclean"), name="law")


def _science(m: Made) -> None:
    text, draw, rows = m.folder.text, m.folder.random, m.folder.rows
    both = lambda: {
        split: rows(lambda i: {"task": draw.choice("ab"), "input": text(), "output": text()})
        for split in ("train", "validation", "test")
    }
    m.case("smolinstruct", "SmolInstructDataset", path=m.hub(both()), name="a")
    m.case("smolinstruct", "SmolInstructDataset", path=m.hub(both()), name="b", mini_set=True)
    record = lambda i: {
        "input": text(),
        "output": f"{{gap : {i}}} {text()}" if i % 3 else text(),
        "meta_data": {"label": draw.choice(["yes", "no"])},
        "instruction": text(),
    }
    for task in ("t", "bulk_modulus_material", "conditional_generation/composition_material"):
        for split, count in (("dev", 20), ("test", 200)):
            m.folder.json(m.here(f"sci/{task}/{split}/data.json"), rows(record, count))
    base = str(m.base / "sci")
    for module, kind in (("Mol_Instructions.molecule", "Mol_Instructions_Dataset"), ("Mol_Instructions.biotext", "Mol_Instructions_Dataset_BioText"),
                         ("Mol_Instructions.protein", "Mol_Instructions_Dataset_Protein_Design"), ("PEER", "PEER_Dataset"), ("LLM4Chem.evaluator", "LLM4ChemDataset"),
                         ("opi.evaluator", "OpiDataset")):  # fmt: skip
        for more in ({}, {"mini_set": True}, *([{"max_cut": 7}] if kind != "OpiDataset" else [])):
            m.case(f"SciReasoner.{module}", kind, path=base, task="t", **more)
    for mini in (False, True):
        m.case("SciReasoner.GUE", "GUE_Dataset", path=base, task="t", mini_set=mini)
        m.case("SciReasoner.bio_instruction", "Bioinstruction_Dataset", path=base, task="t", mini_set=mini)
        m.case("SciReasoner.bulk_modulus_material", "Bulk_modulus_material_Dataset", path=base, mini_set=mini)
        m.case("SciReasoner.composition_material", "Composition_material_Dataset", path=base, mini_set=mini)
        m.case(
            "SciReasoner.LLM4Mat",
            "LLM4MatDataset",
            path=base,
            property="gap",
            train_path="t/dev/data.json",
            test_path="t/test/data.json",
            mini_set=mini,
        )
    m.case("SciReasoner.uncond_material", "Uncond_material_Dataset", num=3, prompt="p")
    m.case("SciReasoner.uncond_RNA", "Uncond_RNA_Dataset", num=3, prompt="p")
    m.case("SciReasoner.unconditional_protein_generation.UPG", "UPGDataset", tag_bool=False, max_cut=7)
    m.case("SciReasoner.unconditional_protein_generation.UPG", "UPGDataset")
    m.case("SciReasoner.unconditional_molecule_generation.UMG", "UMG_Dataset")
    kinds = [
        ("dict", "x"),
        ("cls", "x"),
        ("number", "x"),
        ("string", "Function EC"),
        ("string", "Modification Prediction"),
    ]
    bio = lambda i: {
        "prompt": text(),
        "ground_truth": {"a": 1, "b": 2},
        "meta_data": {"ans_type": kinds[i % 5][0], "task": kinds[i % 5][1]},
    }
    path = m.lines("t.jsonl", rows(bio, 40))
    m.case("biodata", "BiodataTaskDataset", path=_dir(path), task="t")
    m.case("biodata", "BiodataTaskDataset", path=_dir(path), task="t", mini_set=True)
    path = m.lines(
        "q.jsonl",
        rows(
            lambda i: {
                "uid": f"{i}",
                "question": text(),
                "target": draw.choice([{"a": 1}, {}]),
                "constraints": {"a": 2},
            }
        ),
    )
    m.case("moleculariq.moleculariq", "MoleculariqDataset", path=_dir(path), name="q")
    m.case(
        "mp20.mp20",
        "MP20Dataset",
        path=m.lines(
            "q.jsonl",
            rows(
                lambda i: {"id_ddm": i, "system_prompt": text(), "user_input": text(), "ground_truth": text(), "z": 1}
            ),
        ),
    )
    path = m.lines(
        "a/x.y.jsonl", rows(lambda i: {"id_ddm": i, "dialogs": [{"content": text()}], "ground_truth": [1.5]})
    )
    m.case("OpenSWI", "OpenSWIDataset", path=_dir(_dir(path)), name="a")


def _code(m: Made) -> None:
    text, draw, rows = m.folder.text, m.folder.random, m.folder.rows
    path = m.lines(
        "lc.jsonl",
        rows(lambda i: {"Contest id": i, "Difficulty": draw.choice(["EASY", "HARD"]), "test_list": [text(), text()]}),
    )
    m.case("LCBench", "LCDataset", path=path)
    m.case("LCBench", "LCDataset", path=path, difficulty="EASY", num_repeats=2)
    with gzip.open(m.here("hx/humanevalx_cpp.jsonl.gz"), "wt", encoding="utf-8") as file:
        file.writelines(json.dumps({"task_id": i, "prompt": text()}) + "\n\n" for i in range(9))
    m.case("humanevalx", "HumanevalXDataset", path=str(m.base / "hx"), language="cpp")
    path = m.hub(
        {"test": rows(lambda i: {"code": f"def f():\n    return {i}", "input": "f()", "output": str(i), "z": text()})}
    )
    for cot in (True, False):
        m.case("livecodebench.livecodebench", "LCBCodeExecutionDataset", path=path, cot=cot)
    test = lambda: json.dumps([{"input": "1\n[2]", "output": "3"}])
    path = m.hub(
        {
            "test": rows(
                lambda i: {
                    "question_content": text(),
                    "starter_code": "class A:\n    def f(self, a, b):\n        pass",
                    "test": test(),
                }
            )
        }
    )
    m.case("livecodebench.livecodebench", "LCBTestOutputPredictionDataset", path=path)
    tests = lambda: json.dumps([{"input": text(), "output": text(), "testtype": "stdin"}])
    packed = lambda: base64.b64encode(zlib.compress(pickle.dumps(tests()))).decode()
    lcb = lambda i: {"question_content": text(), "starter_code": ["", "class A: pass"][i % 2], "public_test_cases": tests(), "private_test_cases": [tests, packed][i % 3 == 0](),
                     "metadata": json.dumps([{}, {"func_name": "f"}][i % 2]), "contest_date": f"20240{1 + i % 9}11"}  # fmt: skip
    path = m.lines("test.jsonl", rows(lcb))
    m.case("livecodebench.livecodebench", "LCBCodeGenerationDataset", path=_dir(path), release_version=None)
    m.case(
        "livecodebench.livecodebench",
        "LCBCodeGenerationDataset",
        path=_dir(path),
        release_version=None,
        start_date="2024-03-01",
        end_date="2024-06-11",
    )
    starts = lambda i: {
        "question": text(),
        "starter_code": ["", "def f():"][i % 2],
        "input_output": ["", "{}", json.dumps({"fn_name": "f", "inputs": []}), json.dumps({"inputs": [text()]})][i % 4],
        "difficulty": draw.choice(["EASY", "HARD"]),
    }
    m.case("apps", "APPSDataset", path=m.hub({"train": rows(starts), "test": rows(starts)}), num_repeats=2)
    for name in ("q10", "q2"):
        m.texts(
            f"ds/Numpy/Insertion/{name}/.cfg",
            "[library]\nlib = numpy\n[test]\ntest_type = 1\ntest_case_cnt = 2\n[perturbation]\nperturbation_type = Origin\nperturbation_origin_id = 1\n",
        )
        for part in ("reference_code.txt", "test_code.py", "code_context.txt", "test_generate_pickle.py", "prompt.txt"):
            m.texts(f"ds/Numpy/Insertion/{name}/{part}", f"{text()}\n{text()}\n")
    m.case("ds1000", "DS1000Dataset", path=str(m.base / "ds"), libs="Numpy")
    path = m.json("SciCode_datasets.json", rows(lambda i: {"prompt": text(), "id": str(i)}))
    m.case("scicode", "SciCodeDataset", path=_dir(path), with_bg=False)
    m.case(
        "humaneval_pro",
        "HumanevalevalProDataset",
        path=m.json("hp.json", rows(lambda i: {"id": i, "raw_problem": text()})),
    )
    m.case("mbpp_pro", "MBPPProDataset", path=m.lines("mp.jsonl", rows(lambda i: {"id": i, "raw_problem": text()})))
    path = m.lines("humaneval-cpp.jsonl", rows(lambda i: {"name": text(), "prompt": text()}))
    m.case("multipl_e", "MultiplEDataset", path=_dir(path), language="cpp")
    m.case(
        "livecodebench_pro.livecodebench_pro",
        "LCBProDataset",
        path=m.lines("p.jsonl", rows(lambda i: {"id_ddm": i, "dialogs": [{"content": text()}]})),
    )
    m.case("ojbench", "OJBenchDataset", path=m.lines("oj.jsonl", rows(lambda i: {"id": i, "prompt": text(), "z": 1})))
    path = m.json(
        "mm.json", rows(lambda i: {"idx": f"maxmin-{i}", "nl_tokens": [text(), text()], "pl_tokens": [text()]})
    )
    answers = m.texts(
        "mm_answers.txt", "".join(f"maxmin-{i}<CODESPLIT>{draw.choice(['max', 'min'])}\n" for i in range(24))
    )
    m.case("clozeTest_maxmin", "MaxminDataset", test_path=path, answer_path=answers)
    m.case("clozeTest_maxmin", "MaxminDataset", test_path=path)
    code = lambda i: json.dumps(
        {
            "id": i,
            "input": f"<s> import a <EOL> x = <NUM_LIT:{i}> + <NUM_LIT> <EOL>  y = <STR_LIT:abc> <STR_LIT>",
            "gt": "z",
        }
    )
    m.case("py150", "Py150Dataset", path=m.texts("py.json", "".join(f"{code(i)}\n" for i in range(9))))
    path = m.lines("s.jsonl", rows(lambda i: {"prompt": text(), "ground_truth": {"a": [i]}}))
    m.case("internsandbox", "InternSandboxDataset", path=_dir(path), sandbox="s")


def _long(m: Made) -> None:
    text, draw, rows = m.folder.text, m.folder.random, m.folder.rows
    four = lambda: [f"{k} {text()}" for k in range(4)]
    path = m.lines(
        "i.jsonl",
        rows(lambda i: {"context": text(9, 30), "input": text(), "options": (o := four()), "answer": [o[i % 4]]}),
    )
    for name in (
        "codedebug",
        "enmc",
        "endia",
        "enqa",
        "ensum",
        "mathcalc",
        "retrievekv",
        "retrievenumber",
        "retrievepasskey",
        "zhqa",
    ):
        m.case(f"infinitebench.infinitebench_{name}", f"InfiniteBench{name}Dataset", path=path)
    path = m.lines(
        "i.jsonl", rows(lambda i: {"context": text(), "input": f"what is func_{i}(-{i}) and func_1(2)", "answer": [i]})
    )
    m.case("infinitebench.infinitebench_coderun", "InfiniteBenchcoderunDataset", path=path)
    path = m.lines(
        "i.jsonl",
        rows(
            lambda i: {"context": text(), "input": f"Find. The Second Largest of the list of {text()}", "answer": [i]}
        ),
    )
    m.case("infinitebench.infinitebench_mathfind", "InfiniteBenchmathfindDataset", path=path)
    path = m.hub(
        {
            "test": rows(
                lambda i: {
                    "input": text(),
                    "context": text(),
                    "answers": [text()],
                    "length": i,
                    "confusing_facts": [text()],
                    "answer_keywords": text(),
                }
            )
        }
    )
    for name, file in (("cmrc", "cmrc_mixup"), ("dureader", "dureader_mixup"), ("factrecallen", "factrecall_en"), ("factrecallzh", "factrecall_zh"), ("hotpotwikiqa", "hotpotwikiqa_mixup"),
                       ("lic", "lic_mixup"), ("looglecr", "loogle_CR_mixup"), ("looglemir", "loogle_MIR_mixup"), ("looglesd", "loogle_SD_mixup"),
                       ("multifieldqaen", "multifieldqa_en_mixup"), ("multifieldqazh", "multifieldqa_zh_mixup")):  # fmt: skip
        m.case(f"lveval.lveval_{file}", f"LVEval{name}Dataset", path=path)
    clue = lambda: text(3, 6)
    article = lambda i: {"full_text": [{"section_name": draw.choice([None, text()]), "paragraphs": (p := [clue(), clue()])}],
                         "qas": [{"question": text(), "answers": [{"answer": {"extractive_spans": [text()] * (k % 2), "evidence": draw.choice([[p[1]], [], ["absent"]])}}]} for k in range(3)]}  # fmt: skip
    path = m.json("qasper-dev-v0.3.json", {str(i): article(i) for i in range(12)})
    m.case("qasper", "QASPERDataset", path=_dir(path))
    m.case("qaspercut", "QASPERCUTDataset", path=_dir(path))
    for split in ("train", "valid", "test"):
        m.texts(f"gov/gov-report/split_ids/crs_{split}.ids", "R1\nR2\n")
    for name in ("R1", "R2"):
        section = lambda: {"section_title": draw.choice([None, text()]), "paragraphs": [text(), text()]}
        m.folder.json(
            m.here(f"gov/gov-report/crs/{name}.json"),
            {"title": text(), "reports": {"subsections": [section(), section()]}, "summary": [text(), text()]},
        )
    m.case("govrepcrs", "GovRepcrsDataset", path=str(m.base / "gov"))
    m.folder.table(
        m.here("nar/qaps.csv"),
        [
            ["document_id", "set", "question", "answer1", "answer2"],
            *rows(lambda i: [f"d{i % 3}", draw.choice(["train", "valid", "test"]), text(), text(), text()], 40),
        ],
    )
    for i in range(2):
        m.texts(f"nar/tmp/d{i}.content", text(9, 20) * 40)
    m.case("narrativeqa", "NarrativeQADataset", path=str(m.base / "nar"))
    for name, key in (("web", "SearchResults"), ("wikipedia", "EntityPages")):
        m.texts(f"tri/evidence/{name}/x.txt", text(5, 30))
        one = lambda i, k=key: {
            "Answer": {"Aliases": [text()], "HumanAnswers": [text()]},
            "Question": text(),
            k: [{"Filename": "x.txt"}] * (i % 2),
        }
        m.folder.json(m.here(f"tri/qa/verified-{name}-dev.json"), {"Data": rows(one)})
    m.case("triviaqarc", "TriviaQArcDataset", path=str(m.base / "tri"))
    for kind in ("fd", "tms"):
        m.folder.json(
            m.here(f"sum/SummScreen_raw/{kind}/x.json"), {"Recap": [text(), text()], "Transcript": [text(), text()]}
        )
    m.case("summscreen", "SummScreenDataset", path=str(m.base / "sum"))
    m.folder.json(
        m.here("babi/qa3/4k.json"), rows(lambda i: {"input": f" {text(9, 30)} ", "question": text(), "target": text()})
    )
    for switches in ({}, {"use_instruction": False}, {"use_examples": False, "use_post_prompt": False}):
        m.case(
            "babilong.babilong", "BabiLongDataset", path=str(m.base / "babi"), task="qa3", split_name="4k", **switches
        )
    with zipfile.ZipFile(m.here("lcr/docs.zip"), "w") as archive:
        archive.writestr("lcr/Reports/s1/a.txt", text(9, 20))
        archive.writestr("lcr/Reports/s1/bé.txt", text(9, 20))
    with open(m.here("lcr/q.csv"), "w", encoding="utf-8", newline="") as file:
        written = csv.writer(file)
        written.writerow(
            [
                "",
                "document_category",
                "document_set_id",
                "question_id",
                "question",
                "answer",
                "data_source_filenames",
                "data_source_urls",
                "input_tokens",
            ]
        )
        written.writerow(["0", "Reports", "s1", "1", text(), "x; y;", "a.txt; bé.txt", "u;v", "12"])
    m.case("aa_lcr", "AALCRDataset", path=str(m.base / "lcr"), csv_filename="q.csv", zip_filename="docs.zip")


def _judged(m: Made) -> None:
    text, draw, rows = m.folder.text, m.folder.random, m.folder.rows
    others = lambda i: {"reference": [text(), text()], "subcategory": draw.choice("ab"), "language": "en", "level": i}
    problem = lambda i: {"question": text(), "capability": draw.choice(["math", "writing"]), "others": others(i)}
    path = m.json("s.json", rows(problem))
    for module, kind in (
        ("subjective_cmp", "SubjectiveCmpDataset"),
        ("alpacaeval", "AlpacaEvalDataset"),
        ("alignbench", "AlignmentBenchDataset"),
    ):
        m.case(f"subjective.{module}", kind, path=_dir(path), name="s")
    ask = lambda i: {
        "question": text(),
        "capability": "c",
        "others": draw.choice([{"reference": text()}, {"reference": None}]),
    }
    m.case("subjective.compass_arena", "CompassArenaDataset", path=_dir(m.json("s.json", rows(ask))), name="s")
    m.folder.json(
        m.here("align/conf.json"),
        {
            "Paths": {
                "dimension_set_filepath": "set.json",
                "dimension_def_filepath": "def.json",
                "subcategory_mapping": "map.json",
            }
        },
    )
    m.folder.json(m.here("align/set.json"), {"T": ["事实", "创造"]})
    m.folder.json(m.here("align/def.json"), {"事实": text(), "创造": text()})
    m.folder.json(m.here("align/map.json"), {"a": "T", "b": "T"})
    m.case(
        "subjective.alignbench",
        "AlignmentBenchDataset",
        path=_dir(path),
        name="s",
        alignment_bench_config_path=str(m.base / "align"),
        alignment_bench_config_name="conf",
    )
    m.texts("flames/f_config.txt", f"{text()}\n{text()}\n")
    m.folder.json(m.here("flames/f.json"), rows(lambda i: {"dimension": "d", "subcomponent": "s", "prompt": text()}))
    m.case("subjective.flames", "FlamesDataset", path=str(m.base / "flames"), name="f")
    fofo = {name: "x" for name in ("domain", "sub_domain", "format", "format_type")}
    for name in ("fofo", "fofo_cn"):
        m.case(
            "subjective.fofo",
            "FofoDataset",
            path=_dir(m.json(f"{name}.json", rows(lambda i: {"instruction": text(), "id": i, **fofo}))),
            name=name,
        )
    m.case(
        "subjective.arena_hard",
        "ArenaHardDataset",
        path=_dir(
            m.lines(
                "a.jsonl", rows(lambda i: {"question_id": str(i), "cluster": text(), "turns": [{"content": text()}]})
            )
        ),
        name="a",
    )
    m.case(
        "subjective.followbench",
        "FollowBenchDataset",
        path=_dir(m.json("f.json", rows(lambda i: {"instruction": text(), "judge_prompt": text(), "level": i}))),
        name="f",
        cate="llm",
    )
    check = lambda i: {"instruction": text(), "checklist": [text()] * (i % 3), "category": "c", "lan": "en", "id": i}
    m.case(
        "subjective.compassbench_checklist",
        "CompassBenchCheklistDataset",
        path=_dir(m.json("c.json", rows(check))),
        name="c",
    )
    path = m.json(
        "c.json",
        rows(
            lambda i: {
                "question": text(),
                "language": draw.choice(["zh", "en"]),
                "others": {"level": i},
                "category": "x",
            }
        ),
    )
    m.case("subjective.compassbench", "CompassBenchDataset", path=_dir(path), name="c")
    m.case(
        "subjective.compassbench_control_length_bias", "CompassBenchControlLengthBiasDataset", path=_dir(path), name="c"
    )
    kinds = ["重写", "领域知识问答", "代码", "角色扮演", "日常对话", "推理"]
    single = lambda i: {
        "category": kinds[i % 6],
        "difficulty": "d",
        "question": {"content": text()},
        "answer": {"content": text()},
    }
    several = lambda i: {
        "category": kinds[i % 6],
        "difficulty": "d",
        "conversation": [{"role": "user", "content": text()}, {"role": "assistant", "content": ""}],
    }
    for name, make in (("singleturn", single), ("multiturn", several)):
        m.case(
            "subjective.compass_arena_subjective_bench",
            "CompassArenaSubjectiveBench",
            path=_dir(m.json(f"{name}.json", rows(make))),
            name=name,
        )
    m.case(
        "subjective.hellobench",
        "HelloBenchDataset",
        path=_dir(m.lines("h.jsonl", rows(lambda i: {"category": "c", "num_checklist": 3, "instruction": text()}))),
        category_name="h",
    )
    said = lambda: {"role": "user", "content": text()}
    wild = lambda i: {
        "turn": [said(), {"role": "assistant", "content": text()}, said()][i % 3 // 2 * 2 :],
        "checklist": [text(), text()],
        "primary_tag": "p",
        "secondary_tag": ["s"],
        "session_id": f"{i}",
    }
    path = m.lines("w.jsonl", rows(wild))
    for mode in ("single", "pair"):
        m.case("subjective.wildbench", "WildBenchDataset", path=path, eval_mode=mode)
        m.case("subjective.wildbench", "WildBenchWithRawPromptDataset", path=path, eval_mode=mode)
    turns = lambda i: {
        "id": i,
        "task": ["CM", "GR", "AR", "MR"][i % 4],
        "history": [
            {"user": text(), "bot": text()},
            {"user": text(), "bot": ["", text()][i % 2]},
            {"user": text(), "bot": text()},
        ],
    }
    path = m.lines("m.jsonl", rows(turns))
    for kind in ("MTBench101Dataset", "MTBench101WithRawPromptDataset"):
        m.case("subjective.mtbench101", kind, path=_dir(path), name="m")
    mt = lambda i: {
        "dialogue": [said(), {"role": "assistant", "content": ""}, said(), {"role": "assistant", "content": ""}],
        "capability": ["math", "writing"][i % 2],
        "others": {"reference": [text(), text()]},
    }
    path = m.json("mt.json", rows(mt))
    for judge in ("single", "pair"):
        for turn in (True, False):
            m.case(
                "subjective.mtbench", "MTBenchDataset", path=_dir(path), name="mt", judge_type=judge, multi_turn=turn
            )
    m.case(
        "subjective.writingbench",
        "WritingBenchDataset",
        path=_dir(
            m.lines(
                "w.jsonl",
                rows(
                    lambda i: {
                        "index": i,
                        "domain1": "a",
                        "domain2": "b",
                        "query": text(),
                        "criteria": [{"name": text()}, {"name": text()}],
                    }
                ),
            )
        ),
        name="w",
    )
    pair = lambda i: {
        "prompt": text(),
        "chosen": text(),
        "rejected": text(),
        "chosen_model": "m",
        "rejected_model": "n",
        "winner": "AB"[i % 2],
        "subset": "s",
    }
    for module in ("judgebench", "rewardbench"):
        m.case(
            f"judge.{module}",
            {"judgebench": "JudgeBenchDataset", "rewardbench": "RewardBenchDataset"}[module],
            path=_dir(m.json("j.json", rows(pair))),
            name="j.json",
        )
    m.case(
        "chinese_simpleqa",
        "CsimpleqaDataset",
        path=_dir(
            m.lines(
                "c.jsonl", rows(lambda i: {"id": f"{i}", "primary_category": "p", "question": text(), "answer": text()})
            )
        ),
        name="c",
    )
    for kind, row in (("Safety", lambda i: {"question": text(), "category": "c"}), ("HighLevelOmni", lambda i: {"question": text(), "answer": draw.choice(["B, a", "none J", ""])}),
                      ("HighLevelEdu", lambda i: {"Question": text(), "Subject": "s", "Score": i, "Scoring Details": text()}), ("General", lambda i: {"input": [{"content": text()}], "target": i})):  # fmt: skip
        m.folder.lines(f"data/elbench/sub/{kind}.jsonl", rows(row))
        m.case("subjective.elbench", f"ELBench{kind}Dataset", path="sub", name=kind)


def _needles(m: Made) -> None:
    text, draw, rows = m.folder.text, m.folder.random, m.folder.rows
    base = str(m.base / "needles")
    for name in ("PaulGrahamEssays", "zh_tech", "en_un_asr", "zh_finance"):
        m.folder.lines(m.here(f"needles/{name}.jsonl"), rows(lambda i: {"text": text(20, 60)}))
    m.folder.json(
        m.here("needles/names.json"),
        {"English": ",".join(f"Name{i} Last{i}" for i in range(60)), "Chinese": ",".join(f"名{i}" for i in range(60))},
    )
    one = lambda i: {"language": ["English", "Chinese"][i % 2], "needle": text(), "arg1": f"p{i}", "arg2": f"k{i}",
                     "retrieval_question": [f"What is it{i}? Please answer in the format 'It is ______.'", f"它{i}是什么？请按照'它是________。'的格式回答。"][i % 2]}  # fmt: skip
    m.folder.lines(m.here("needles/needles.jsonl"), rows(one))
    m.folder.lines(m.here("needles/few.jsonl"), [one(0), one(1)])  # as many as there are places: no draw is left
    m.folder.json(
        m.here("needles/multi.json"),
        rows(
            lambda i: {
                "derivation_count": 3,
                "derivations": [text(), text(), text()],
                "answer": text(),
                "question": f"{text()}?",
            }
        ),
    )
    common = {"path": base, "tokenizer_model": "gpt-4", "num_repeats_per_file": 3, "length_buffer": 40}
    for language, files in (
        ("English", ["PaulGrahamEssays.jsonl"]),
        ("Chinese", ["zh_tech.jsonl", "zh_finance.jsonl"]),
    ):
        for position in ("End", "Start"):
            for length, depth in ((200, 0), (500, 47), (300, 100), (50, 50)):
                shared = {**common, "file_list": files, "language": language, "length": length}
                for guide in (True, False):
                    old = {**shared, "position": position, "guide": guide}
                    m.case(
                        "needlebench.origin",
                        "NeedleBenchOriginDataset",
                        **old,
                        depth=depth,
                        needle_file_name="needles.jsonl",
                    )
                    m.case(
                        "needlebench.parallel",
                        "NeedleBenchParallelDataset",
                        **old,
                        depths=[depth],
                        needle_file_name="few.jsonl",
                    )
                    m.case(
                        "needlebench.multi",
                        "NeedleBenchMultiDataset",
                        **old,
                        depth=depth,
                        needle_file_name="multi.json",
                        num_needles=3,
                        diff=10,
                    )
                new = {**shared, "quesiton_position": position}
                m.case(
                    "needlebench_v2.origin",
                    "NeedleBenchOriginDataset",
                    **new,
                    depth=depth,
                    needle_file_name="needles.jsonl",
                )
                m.case(
                    "needlebench_v2.parallel",
                    "NeedleBenchParallelDataset",
                    **new,
                    depths=[depth],
                    needle_file_name="few.jsonl",
                )
        names = {"path": base, "file_name": "names.json", "language": language, "repeats": 5}
        for count in (2, 5, 19):
            m.case("needlebench.atc_choice", "NeedleBenchATCDataset", **names, num_needles=count)
            m.case("needlebench_v2.atc_elder_only", "NeedleBenchATCDataset", **names, num_needles=count)
            m.case("needlebench_v2.atc", "NeedleBenchATCDataset", **names, num_needles=count)
    ruler = {"num_samples": 3, "tokenizer_model": "gpt-4"}
    squad = {
        "data": [
            {
                "paragraphs": [
                    {
                        "context": text(20, 50),
                        "qas": [
                            {"question": text(), "is_impossible": k == 2, "answers": [{"text": text()}]}
                            for k in range(3)
                        ],
                    }
                    for _ in range(4)
                ]
            }
            for _ in range(9)
        ]
    }
    m.folder.json(m.here("ruler/squad.json"), squad)
    m.folder.json(
        m.here("ruler/hotpot.json"),
        rows(
            lambda i: {
                "question": text(),
                "answer": text(),
                "context": [[f"t{k}", [text(9, 20), text()]] for k in range(3)],
            }
        ),
    )
    m.folder.lines(
        m.here("ruler/essay.jsonl"), [{"text": ". ".join(text(5, 15) for _ in range(90))} for _ in range(30)]
    )
    for length in (1000, 4200):
        for more in ({}, {"remove_newline_tab": "yes", "random_seed": 7}):
            shared = {**ruler, "max_seq_length": length, **more}
            m.case("ruler.ruler_cwe", "RulerCweDataset", **shared)
            m.case("ruler.ruler_fwe", "RulerFweDataset", **shared)
            m.case("ruler.ruler_vt", "RulerVtDataset", **shared, num_chains=1 + length // 4096)
            for dataset in ("squad", "hotpot"):
                m.case(
                    "ruler.ruler_qa",
                    "RulerQaDataset",
                    **shared,
                    path=f"{m.base}/ruler/{dataset}.json",
                    dataset="hotpotqa" if dataset == "hotpot" else dataset,
                )
            for kinds in (
                {"type_haystack": "repeat"},
                {"type_haystack": "needle", "type_needle_k": "uuids", "type_needle_v": "uuids"},
                {"num_needle_k": 4, "num_needle_q": 2, "num_needle_v": 2},
            ):
                m.case(
                    "ruler.ruler_niah",
                    "RulerNiahDataset",
                    **shared,
                    base_path=str(m.base),
                    file_path="ruler/essay.jsonl",
                    **kinds,
                )
