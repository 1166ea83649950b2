"""Compares rows and scores of exams with pictures, films and sounds with those of AISBench's own classes.

Usage: ``python -m conformance.aisbench.pictures``. Needs AISBench's environment (``AISBENCH_PYTHON``). Tables, pictures,
answers and references are made up; what a picture is (upstream writes it anew into a file) is not compared.
"""

# ruff: noqa: E501, RUF001 - rows and replies are easier to compare on a line

from __future__ import annotations

import base64
import io
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from conformance.aisbench.pictures_oracle import plain
from conformance.aisbench.rows import same

from proctor.dialects.aisbench.datasets import dataset_splits
from proctor.dialects.aisbench.evaluation import evaluated
from proctor.dialects.aisbench.postprocessors import postprocessor
from proctor.dialects.aisbench.values import Reference
from proctor.errors import ProctorError
from proctor.scoring.evaluators.cases import Cases

PYTHON = os.environ.get("AISBENCH_PYTHON", "/tmp/aisenv/bin/python")  # noqa: S108 - a throwaway environment
_TOP = "ais_bench.benchmark.datasets"
_EVALUATORS = "ais_bench.benchmark.openicl.icl_evaluator"
Case = dict[str, Any]


def picture(seed: int) -> bytes:
    """Return a small PNG."""
    from PIL import Image

    target = io.BytesIO()
    Image.new("RGB", (40 + seed, 30 + seed), (seed * 20 % 255, 90, 60)).save(target, "PNG")
    return target.getvalue()


def rows_case(module: str, name: str, **arguments: Any) -> Case:
    """Return a case of a dataset class."""
    return {"kind": "rows", "module": f"{_TOP}.{module}", "name": name, "arguments": arguments}


def made_files(folder: Path) -> list[Case]:
    """Write the files of all dataset classes, and return the cases."""
    import pandas as pd

    packed = [base64.b64encode(picture(number)).decode() for number in range(6)]
    table = pd.DataFrame(
        {
            "index": [str(number) for number in range(6)],
            "image": [packed[0], str([packed[1], packed[2]]), packed[3], packed[3], packed[4], packed[5]],
            "question": ["What <image 1>?", "Two: <image 1> and <image 2>.", "Is it?", "Which one", "A\nline", "Ünï"],
            "hint": [None, "look", None, None, "twice", None],
            "A": ["red", "1", "yes", "x", "a", "α"], "B": ["blue", "2", "no", "y", "b", "β"],
            "C": ["green", "3", None, None, "c", None], "answer": list("ABABCB"),
            "category": ["c1", "c2", "c1", "c2", "c1", "c3"], "l2-category": ["d", "e", "d", "e", "d", "f"],
            "split": ["val"] * 6,
        }
    )  # fmt: skip
    table.to_csv(folder / "table.tsv", sep="\t", index=False)
    documents = table.assign(answer=["['red']", "['1', 'one']", "['yes']", "['x']", "['c c']", "['β']"])
    documents.to_csv(folder / "documents.tsv", sep="\t", index=False)
    plain_table = table.assign(question=[text.replace("<image ", "<picture ") for text in table["question"]])
    plain_table.to_csv(folder / "plain.tsv", sep="\t", index=False)
    cases = [
        rows_case("mmstar", "MMStarDataset", path=str(folder / "plain.tsv")),
        rows_case("docvqa", "DocVQADataset", path=str(folder / "documents.tsv")),
        rows_case("infovqa", "InfoVQADataset", path=str(folder / "documents.tsv")),
        *(
            rows_case("mmmu_pro", name, path=str(folder / "table.tsv"), is_cot=cot)
            for name in ("MMMUProOptions10Dataset", "MMMUProVisionDataset")
            for cot in (False, True)
        ),
    ]
    return cases + _folders(folder)


def _folders(folder: Path) -> list[Case]:
    import pandas as pd

    (folder / "vqa").mkdir()
    (folder / "vqa" / "cat.jpg").write_bytes(picture(1))
    questions = [
        {"question_id": n, "question": f"what {n}?", "image": str(folder / "vqa" / "cat.jpg")} for n in range(3)
    ]
    (folder / "vqa" / "q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in questions))
    answers = [{"question_id": n, "answers": [{"answer": "a", "answer_id": 1}]} for n in range(3)]
    (folder / "vqa" / "q_annotations.json").write_text(json.dumps({"annotations": answers}))
    image = {"bytes": picture(2), "path": "x.png"}
    (folder / "real").mkdir()
    real = pd.DataFrame({"question": ["how {many}?", "why"], "answer": ["3", "No"], "image": [image, image]})
    real.to_parquet(folder / "real" / "test-0.parquet")
    (folder / "coco").mkdir()
    boxed = {"question_id": ["7", "8"], "image": [image, image], "file_name": ["a.jpg", "b.jpg"],
             "bbox": [[1.0, 2.0, 10.0, 5.5], [0.0, 0.0, 20.0, 20.0]], "answer": [["left", "the cat"], ["dog"]]}  # fmt: skip
    pd.DataFrame(boxed).to_parquet(folder / "coco" / "val-0.parquet")
    pd.DataFrame(
        {"question": ["Q1", "Q2"], "image": ["", "data:image/png;base64,AAAA"], "answer": ["1", "x"]}
    ).to_parquet(folder / "hle.parquet")
    (folder / "mmmu" / "Art").mkdir(parents=True)
    mmmu = {"question": ["<image 1> is?", "open one"], "options": ["['red', 'blue']", "[]"], "answer": ["B", "42"],
            "question_type": ["multiple-choice", "open"], "image_1": [image, image], "image_2": [None, None],
            "subfield": ["Drawing", "Theory"]}  # fmt: skip
    pd.DataFrame(mmmu).to_parquet(folder / "mmmu" / "Art" / "validation-0.parquet")
    vision = {"id": ["1", "2", "3"], "question": ["<image1> x?", "y?", "z?"], "options": [["1", "2"], [], ["p", "q"]],
              "answer": ["B", "7", "p"], "level": [1, 2, 3], "subject": ["algebra", "geometry", "algebra"],
              "decoded_image": [image] * 3, "solution": [None, "s", None]}  # fmt: skip
    (folder / "vision").mkdir()
    pd.DataFrame(vision).to_parquet(folder / "vision" / "test-0.parquet")
    (folder / "sounds").mkdir()
    for name in ("f_1_cough.wav", "f_2_sniff.wav"):
        (folder / "sounds" / name).write_bytes(b"RIFF")
    films = {"videoID": ["v1"], "question": ["What?"], "options": [["A. a", "B. b"]], "duration": ["short"],
             "domain": ["d"], "sub_category": ["s"], "task_type": ["t"], "answer": ["A"]}  # fmt: skip
    pd.DataFrame(films).to_parquet(folder / "films.parquet")
    (folder / "bench" / "answer").mkdir(parents=True)
    (folder / "bench" / "answer" / "ANSWER.json").write_text(
        json.dumps({"Set": {"k1": {"answer": "B"}, "k2": {"answer": "A"}}})
    )
    asked = {
        "k1": {
            "vid_path": "./v/Set/1.mp4",
            "video_id": 1,
            "question": "q",
            "choices": dict.fromkeys("ABC", "o") | {"D": None},
        },
        "k2": {"vid_path": "./v/Set/2.mp4", "video_id": 2, "question": "r", "choices": dict.fromkeys("ABCDEF", "o")},
    }
    (folder / "bench" / "Set_new.json").write_text(json.dumps(asked))
    (folder / "dapo").mkdir()
    dapo = {"data_source": ["math_dapo"], "prompt": [[{"role": "user", "content": "1+1"}]], "ability": ["MATH"],
            "reward_model": [{"ground_truth": "2", "style": "rule"}], "extra_info": [{"index": "1"}]}  # fmt: skip
    pd.DataFrame(dapo).to_parquet(folder / "dapo" / "dapo-math-17k.parquet")
    prompts = {"mult_choice_prompt": "{question}\n{choices}\nOne of {letters}: {{x}}", "open_prompt": "Q {question}"}
    templates = {"open_prompt_template": "Q {question}", "single_answer_cot_template": "{question}|{choices}|{letters}"}
    return [
        *(rows_case("textvqa", "TEXTVQADataset", path=str(folder / "vqa" / "q.jsonl"), image_type=how)
          for how in ("image_path", "image_base64")),
        *(rows_case("realworldqa", "RealworldQADataset", path=str(folder / "real" / "x"), image_type=how)
          for how in ("image_path", "image_base64")),
        *(rows_case(f"refcoco.{module}", name, path=str(folder / "coco"), split="val", image_type=how)
          for module, name in (("refcoco", "RefCOCODataset"), ("refcoco_plus", "RefCOCOPlusDataset"), ("refcoco_g", "RefCOCOgDataset"))
          for how in ("path", "base64")),
        rows_case("hle", "HLEDataset", path=str(folder / "hle.parquet")),
        rows_case("mmmu", "MMMUDataset", path=str(folder / "mmmu"), **prompts),
        rows_case("mathvision", "MathVisionDataset", path=str(folder / "vision"), **templates),
        rows_case("mathvision", "MathVisionDataset", path=str(folder / "vision"), subset_list=["level 2", "level 3"]),
        rows_case("vocalsound", "VocalSoundDataset", path=str(folder / "sounds"), audio_type="audio_path"),
        rows_case("videomme", "VideoMMEDataset", path=str(folder / "films.parquet"), video_path=str(folder)),
        rows_case("videobench", "VideoBenchDataset", path=str(folder / "bench"), video_type="video_path"),
        rows_case("dapo_math", "DAPOMathDataset", path=str(folder / "dapo")),
    ]  # fmt: skip


def scored(module: str, name: str, predictions: list[Any], references: list[Any], **arguments: Any) -> Case:
    """Return a case of an evaluator."""
    return {"kind": "scores", "module": module if module.startswith("ais") else f"{_TOP}.{module}", "name": name,
            "arguments": arguments, "predictions": predictions, "references": references}  # fmt: skip


_OPTIONS = {"A": "red", "B": "Blue sky", "C": 12}
_SAID = (
    "A", "The answer is B.", "(C)", "I think it is the blue sky", "A is red and B is blue sky, so", "Z", "", "answer: b",
    "Sorry, I can't help with images of people yet.", "Answer: B", "Answer: B\nAnswer: C", "So\nAnswer: C.", "ANSWER: B",
    "ANSWER: B.\nmore", "ANSWER: 42", "x\nANSWER:  Blue ", "12", "red red", "the best answer is C", "Failed to obtain answer via API",
    "A B C of the long story about something that has many words in it and says nothing", "B<|im_end|>", "Option: D",
    "\\boxed{\\frac{1}{2}}", "final answer is 0.5", "answer: \\frac{1}{2}", "A car is red", "ANSWER: B, C", "E", "F) sniff",
)  # fmt: skip


def evaluator_cases() -> list[Case]:
    """Return answers of all kinds with every evaluator."""
    draw = random.Random(5)
    said = [
        *_SAID,
        *(" ".join(draw.choices(["A", "B", "C", "red", "is", "the", "12", "answer", "sky."], k=5)) for _ in range(40)),
    ]
    count, letters = len(said), [draw.choice("ABC") for _ in said]
    starred = [
        {"choices": json.dumps(_OPTIONS), "answer": each, "category": f"c{n % 3}"} for n, each in enumerate(letters)
    ]
    pro = [json.dumps([_OPTIONS, each, f"c{n % 3}"]) for n, each in enumerate(letters)]
    mixed = [
        {"type": "multiple-choice", "choices": json.dumps(_OPTIONS), "answer": each, "split": ("validation", "dev")[n % 2],
         "subject": f"s{n % 3}", "category": f"s{n % 3}", "l2-category": None, "subfield": f"f{n % 2}"}
        if n % 4 else {"type": "open", "answer": "42", "split": "validation", "category": "s1", "l2-category": "f1"}
        for n, each in enumerate(letters)
    ]  # fmt: skip
    vision = [
        {"type": "mcq", "choices": json.dumps(_OPTIONS), "answer": each, "level": n % 3, "subject": "algebra"}
        if n % 2 else {"type": "open", "answer": "\\frac{1}{2}", "level": None, "subject": None}
        for n, each in enumerate(letters)
    ]  # fmt: skip
    films = [{"duration": ("short", "long")[n % 2], "domain": f"d{n % 2}", "sub_category": "s", "task_type": f"t{n % 3}", "answer": each}
             for n, each in enumerate(letters)]  # fmt: skip
    words = [
        "red",
        "a red, car",
        "two",
        "don't know",
        "1,000",
        "the U.S.A.",
        "dont",
        "ten-fold; x",
        "3.5",
        "x/y",
        "blue ☜",
        "",
    ]
    people = [[{"answer": draw.choice(["red", "red car", "2", "do not know", "1000", "3.5", "x y"]), "answer_id": n} for n in range(10)]
              for _ in words]  # fmt: skip
    same = [[{"answer": word, "answer_id": n} for n in range(10)] for word in ["red", "red car", "2"]]
    boxes = [[float(draw.randint(0, 1000)) for _ in range(4)] for _ in range(30)] + [
        [0, 0, 0, 0],
        [1, 2],
        [100, 100, 900, 900],
    ]
    golds = [json.dumps({"bbox": [10, 10, 300, 200], "image_width": 320, "image_height": 240}) for _ in boxes]
    code = ["The final output is [1, 2]", "it prints 'a b'", "3.0", "[ [1] [2] ]", ""]
    judged = [
        json.dumps({"correct": draw.choice(["yes", "no"]), "confidence": draw.randint(0, 100)}) for _ in range(250)
    ] + ["no json"]
    return [
        scored("mmstar", "MMStarEvaluator", said, starred),
        scored("mmmu_pro", "MMMUProEvaluator", said, pro),
        scored("mmmu_pro", "MMMUProCotEvaluator", said, pro),
        scored("mmmu", "MMMUEvaluator", said, mixed),
        scored("mathvision", "MathVisionEvaluator", said, vision),
        scored("videomme", "VideoMMEEvaluator", said, films),
        scored("videobench", "VideoBenchEvaluator", said, [{"answer": each} for each in letters]),
        scored("videobench", "VideoBenchEvaluatorForVita", said, [{"answer": each} for each in letters]),
        scored("vocalsound", "VocalSoundEvaluator", said, ["laughter", "sniff"] * (count // 2)),
        scored("realworldqa", "RealworldQAEvaluator", said, ["Blue", "42"] * (count // 2)),
        scored("docvqa", "DocVQAEvaluator", [*said, "Blue", "blue sky"], ["['blue sky', 'A']"] * (count + 2)),
        scored("infovqa", "InfoVQAEvaluator", said, [["Answer: B"]] * count),
        scored("textvqa", "TEXTEvaluator", words, people),
        scored("textvqa", "TEXTEvaluator", ["red", "a Red car", "two"], same),
        scored("textvqa", "TEXTEvaluatorForGlm4v", [f"x <|begin_of_box|>{word}<|end_of_box|>" for word in words], people),
        scored("textvqa", "TEXTEvaluatorForVita", [f"! ☞ {word}<unk>" for word in words], people),
        scored(_EVALUATORS, "BBoxIoUEvaluator", boxes, golds),
        scored(_EVALUATORS, "BBoxIoUEvaluator", boxes, golds, iou_threshold=0.3, smart_resize_cfg={"factor": 28}, clip_to_image=False),
        scored(_EVALUATORS, "CodeUEvaluator", code, ["[1,2]", "a b", "3", "[[1][2]]", "x"]),
        scored(_EVALUATORS, "SciFiEvaluator", ["True [fact: False]", "(false)", "", "Maybe true.", "[fact: true]"], ["TRUE", "False", "true", "None", "true"]),
        scored("dapo_math", "DAPOMathEvaluator", ["1", "\\frac{1}{2}", "x"], ["x=1", "\\frac12", "y"]),
        scored("dapo_math", "DAPOMathEvaluatorV2", ["1", "2"], ["1", "3"]),
        scored("hle", "HLEJudgeEvaluator", judged[:40], ["x"] * 40),
        scored("hle", "HLEJudgeEvaluator", judged, ["x"] * len(judged)),
        *_texts(),
    ]  # fmt: skip


def _texts() -> list[Case]:
    solutions = ["Answer: 5", "so\nanswer:  $x = 1,000$ \nAnswer: \\frac12", "none", "Answer: 3 cm", "a \\boxed{7} b", "\\boxed{" + "x" * 120,
                 "\\boxed{\\text{a b}} and \\boxed{2}", "Answer: \\sqrt2 + \\text{ m}", "Answer: $a$ and $b$"]  # fmt: skip
    boxes = ["[1, 2, 3, 4]", '[{"bbox_2d": [10, 20.5, 30, 40]}]', "no", "[-1,2,3,4] [5,6,7,8]"]
    named = (("dapo_math", "dapo_math_postprocess", solutions), ("dapo_math", "dapo_math_postprocess_v2", solutions),
             ("refcoco", "refcoco_bbox_postprocess", boxes))  # fmt: skip
    return [
        {"kind": "text", "module": f"{_TOP}.{module}", "name": name, "texts": texts} for module, name, texts in named
    ]


def ours(case: Case) -> Any:
    """Return what Proctor answers to a case."""
    kind = Reference(f"{case['module']}.{case['name']}")
    try:
        if case["kind"] == "rows":
            splits = dataset_splits({"type": kind, **case["arguments"]})
            return plain([dict(row) for row in splits["test" if "test" in splits else ""]()])
        if case["kind"] == "text":
            function = postprocessor({"type": kind}, "aisbench")
            return [function(text, {}) for text in case["texts"]]
        cases = Cases(case["predictions"], case["references"], [{}] * len(case["references"]), project="aisbench")
        return evaluated({"evaluator": {"type": kind, **case["arguments"]}}, cases).scores
    except ProctorError as error:
        return {"failed": str(error)}


def difference(case: Case, found: Any, wanted: Any) -> str:
    """Return in what two answers differ, or nothing."""
    if isinstance(wanted, dict) and "failed" in wanted:
        return "" if isinstance(found, dict) and "failed" in found else f"upstream fails: {wanted['failed'][-300:]}"
    if case["kind"] == "scores":
        found = {key: value for key, value in found.items() if not key.endswith(("_count", "sample_num"))}
        wanted = {key: _number(value) for key, value in wanted.items() if key != "sample_num"}
        names = wanted.keys() if set(wanted) <= set(found) else wanted.keys() | found.keys()
        odd = [key for key in names if found.get(key, -1) != wanted.get(key, -2)]
        return f"{[(key, found.get(key), wanted.get(key)) for key in odd]}" if odd else ""
    found = json.loads(json.dumps(found))
    if case["name"] in _IN_ANY_ORDER:
        found, wanted = (sorted(rows, key=json.dumps) for rows in (found, wanted))
    if len(found) == len(wanted) and all(same(one, other) for one, other in zip(found, wanted, strict=True)):
        return ""
    for one, other in zip(found, wanted, strict=False):
        if not same(one, other):
            return f"{json.dumps(one)[:700]}\n    / {json.dumps(other)[:700]}"
    return f"{len(found)} / {len(wanted)}" if isinstance(found, list) else f"{found}"


_IN_ANY_ORDER = ("VocalSoundDataset", "VideoBenchDataset")
"""Upstream takes files in the order of the folder; here by their names."""


def _number(value: Any) -> float:
    return float(value.partition("%")[0]) if isinstance(value, str) else float(value)


def main() -> int:
    """Print each difference and the counts; the exit status says whether all are equal."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cases = [*made_files(folder), *evaluator_cases()]
        (folder / "cases.json").write_text(json.dumps(cases))
        oracle = str(Path(__file__).with_name("pictures_oracle.py"))
        command = [PYTHON, oracle, str(folder / "cases.json"), str(folder / "answers.json")]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)
        wanted = json.loads((folder / "answers.json").read_text())
        told = [(case, difference(case, ours(case), answer)) for case, answer in zip(cases, wanted, strict=True)]
    for case, text in told:
        if text:
            print(f"DIFFERENT {case['kind']} {case['name']} {case.get('arguments', '')}\n    {text}")
    equal = sum(not text for _, text in told)
    classes = len({case["name"] for case, _ in told})
    failed = sum(isinstance(answer, dict) and "failed" in answer for answer in wanted)
    print(f"{equal} of {len(told)} equal ({classes} classes and functions; both refuse {failed})")
    return 0 if equal == len(told) else 1


if __name__ == "__main__":
    sys.exit(main())
