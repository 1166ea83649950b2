"""Compares rows with those of upstream's dataset classes, class by class.

Usage: ``python -m conformance.aisbench.rows [--work DIR]``. Needs AISBench's environment (``AISBENCH_PYTHON``), an
unzipped wheel of OpenCompass (``OPENCOMPASS_WHEEL``) and the hub mirror (``PROCTOR_HUB_DIR``). Both sides read one data
folder; the datasets of the mirror are compared a second time with no such folder, from the mirror.
"""
# ruff: noqa: E501 - lists of cases

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from conformance.aisbench.data_folder import Folder, write_made_up, write_real
from conformance.aisbench.more_rows import more
from conformance.aisbench.words_as_tokens import install

from proctor.dialects.aisbench.datasets import dataset_splits, open_dataset
from proctor.dialects.aisbench.values import Reference
from proctor.errors import ProctorError
from proctor.ir import Failure
from proctor.settings import settings

PYTHON = os.environ.get("AISBENCH_PYTHON", "/tmp/aisenv/bin/python")  # noqa: S108 - a throwaway environment
WHEEL = os.environ.get("OPENCOMPASS_WHEEL", "/tmp/aisw/oc")  # noqa: S108
TOPS = {"opencompass": "opencompass.datasets", "aisbench": "ais_bench.benchmark.datasets"}
OC, AIS = "opencompass", "aisbench"


def case(project: str, module: str, kind: str, *, mirror: bool = False, **arguments: Any) -> dict[str, Any]:
    """Return a case: a class with its arguments."""
    return {"project": project, "module": module, "type": kind, "arguments": arguments, "mirror": mirror}


def cases() -> list[dict[str, Any]]:
    """Return all classes that are compared."""
    json_file = {"path": "json", "split": "train"}
    made = [
        case(OC, "arc", "ARCDataset", mirror=True, path="opencompass/ai2_arc-dev", name="ARC-Challenge"),
        case(OC, "arc", "ARCDataset", mirror=True, path="opencompass/ai2_arc-test", name="ARC-Challenge"),
        case(OC, "arc", "ARCDataset", mirror=True, path="opencompass/ai2_arc-easy-dev", name="ARC-Easy"),
        case(AIS, "arc", "ARCDataset", mirror=True, path="ais_bench/datasets/ARC/ARC-c", name="ARC-Challenge"),
        case(AIS, "arc", "ARCDataset", mirror=True, path="ais_bench/datasets/ARC/ARC-e", name="ARC-Easy"),
        case(OC, "circular", "CircularARCDataset", mirror=True, path="opencompass/ai2_arc-dev", name="ARC-Challenge"),
        case(OC, "circular", "CircularMMLUDataset", mirror=True, path="opencompass/mmlu", name="anatomy"),
        case(OC, "circular", "CircularHSWAGDataset", mirror=True, path="opencompass/hellaswag"),
        case(OC, "circular", "CircularOBQADataset", mirror=True, path="opencompass/openbookqa_test"),
        case(OC, "circular", "CircularRaceDataset", path="opencompass/race", name="high"),
        case(OC, "circular", "CircularsiqaDataset", path="opencompass/siqa"),
        case(OC, "circular", "CircularCSQADataset", path="opencompass/commonsense_qa"),
        case(OC, "circular", "CircularCMMLUDataset", path="opencompass/cmmlu", name="law", circular_patterns="all_possible"),
        case(OC, "circular", "CircularCEvalDataset", path="opencompass/ceval-exam", name="law"),
        case(OC, "custom", "CircularCustomDataset", path="data/custom/mcq.jsonl", option_keys=["A", "B", "C"], answer_key="answer"),
        *(case(p, "mmlu", "MMLUDataset", mirror=True, path=path, name=name)
          for p, path in ((OC, "opencompass/mmlu"), (AIS, "ais_bench/datasets/mmlu"))
          for name in ("anatomy", "college_physics", "world_religions")),
        case(OC, "gsm8k", "GSM8KDataset", mirror=True, path="opencompass/gsm8k"),
        case(AIS, "gsm8k", "GSM8KDataset", mirror=True, path="ais_bench/datasets/gsm8k"),
        *(case(p, "hellaswag", f"HellaswagDataset{v}", mirror=True, path=path) for v in ("", "_V2", "_V3")
          for p, path in ((OC, "opencompass/hellaswag"), (AIS, "ais_bench/datasets/hellaswag/hellaswag.jsonl"))),
        case(OC, "hellaswag", "HellaswagDatasetwithICE", mirror=True, path="opencompass/hellaswag_ice"),
        case(AIS, "hellaswag", "HellaswagDatasetwithICE", mirror=True, path="ais_bench/datasets/hellaswag"),
        case(OC, "boolq", "BoolQDataset", mirror=True, data_files="opencompass/boolq", **json_file),
        *(case(p, "boolq", f"BoolQDataset{v}", mirror=True, path=path) for v in ("V2", "V3")
          for p, path in ((OC, "./data/SuperGLUE/BoolQ/val.jsonl"), (AIS, "ais_bench/datasets/SuperGLUE/BoolQ/val.jsonl"))),
        *(case(p, "bbh", "BBHDataset", mirror=True, path=path, name=name)
          for p, path in ((OC, "opencompass/bbh"), (AIS, "ais_bench/datasets/BBH/data"))
          for name in ("snarks", "word_sorting", "date_understanding")),
        case(OC, "humaneval", "HumanevalDataset", mirror=True, path="opencompass/humaneval", num_repeats=2),
        case(AIS, "humaneval", "HumanevalDataset", mirror=True, path="ais_bench/datasets/humaneval/human-eval-v2-20210705.jsonl"),
        case(OC, "obqa", "OBQADataset", mirror=True, path="opencompass/openbookqa_test", name="main"),
        case(OC, "obqa", "OBQADatasetV2", mirror=True, path="opencompass/openbookqa_test"),
        case(OC, "obqa", "OBQADatasetV2", path="opencompass/openbookqa_fact"),
        case(OC, "lambada", "lambadaDataset", mirror=True, path="opencompass/lambada"),
        case(AIS, "lambada", "lambadaDataset", mirror=True, path="ais_bench/datasets/lambada"),
        case(OC, "IFEval.ifeval", "IFEvalDataset", mirror=True, path="opencompass/IFEval") | {"alone": True},
        case(AIS, "ifeval.ifeval", "IFEvalDataset", mirror=True, path="ais_bench/datasets/ifeval/input_data.jsonl"),
        case(AIS, "mtbench", "MTBenchDataset", mirror=True, path="ais_bench/datasets/mtbench/question.jsonl"),
        case(OC, "huggingface", "HFDataset", mirror=True, data_files="./data/SuperGLUE/RTE/val.jsonl", **json_file),
        case(AIS, "huggingface", "HFDataset", path="csv", data_files="data/custom/qa.csv", split="train"),
        case(OC, "jsonl", "JsonlDataset", path="./data/gsm8k/test.jsonl"),
        case(OC, "custom", "CustomDataset", path="data/custom/mcq.jsonl"),
        case(OC, "custom", "CustomDataset", path="data/custom", file_name="qa.csv"),
        case(AIS, "custom", "CustomDataset", path="ais_bench/datasets/custom/mcq.jsonl"),
        case(AIS, "custom", "CustomDataset", path="ais_bench/datasets/custom/qa.csv"),
    ]  # fmt: skip
    return made + _both() + _opencompass_only()


def _both() -> list[dict[str, Any]]:
    table = [
        ("cmmlu", "CMMLUDataset", "cmmlu", {"name": "law"}), ("ceval", "CEvalDataset", "ceval/formal_ceval", {"name": "law"}),
        ("race", "RaceDataset", "race", {"name": "middle"}), ("race", "RaceDataset", "race", {"name": "high"}),
        ("winogrande", "WinograndeDataset", "winogrande", {}), ("winogrande", "WinograndeDatasetV2", "winogrande", {}),
        ("winogrande", "WinograndeDatasetV3", "winogrande", {}), ("piqa", "PIQADataset", "piqa", {}),
        ("piqa", "PIQADatasetV2", "piqa", {}), ("piqa", "PIQADatasetV3", "piqa", {}), ("siqa", "siqaDataset_V2", "siqa", {}),
        ("triviaqa", "TriviaQADataset", "triviaqa", {}), ("triviaqa", "TriviaQADatasetV2", "triviaqa", {}),
        ("triviaqa", "TriviaQADatasetV3", "triviaqa/triviaqa-train.jsonl", {}),
        ("gpqa", "GPQADataset", "gpqa", {"name": "gpqa_diamond.csv"}),
        ("gpqa", "GPQASimpleEvalDataset", "gpqa", {"name": "gpqa_diamond.csv"}), ("math", "MATHDataset", "math", {}),
        ("aime2024", "Aime2024Dataset", "aime/aime.jsonl", {}),
        ("drop_simple_eval", "DropOpenAIDataset", "drop_simple_eval/dev.jsonl", {}),
        ("mgsm", "MGSMSDataset", "mgsm/mgsm_en.tsv", {}), ("lcsts", "LCSTSDataset", "LCSTS", {}),
        ("mbpp", "MBPPDataset", "mbpp/mbpp.jsonl", {"local_mode": True}), ("mbpp", "MBPPDatasetV2", "mbpp/mbpp.jsonl", {"num_repeats": 2}),
        ("mbpp", "SanitizedMBPPDataset", "mbpp/sanitized-mbpp.jsonl", {}),
        ("mbpp", "MBPPPlusDataset", "mbpp/mbpp.jsonl", {}),
        ("cluewsc", "CluewscDatasetV2", "FewCLUE/cluewsc/test_public.json", {}),
        ("csl", "CslDatasetV2", "FewCLUE/csl/test_public.json", {}), ("chid", "CHIDDatasetV2", "FewCLUE/chid/test_public.json", {}),
        ("tnews", "TNewsDatasetV2", "FewCLUE/tnews/test_public.json", {}),
        ("eprstmt", "EprstmtDatasetV2", "FewCLUE/eprstmt/test_public.json", {}),
    ]  # fmt: skip
    made = [
        case(project, module, kind, path=top + path, **arguments)
        for module, kind, path, arguments in table
        for project, top in ((OC, "./data/"), (AIS, "ais_bench/datasets/"))
    ]
    for module, kind, folder in (
        ("cluewsc", "CluewscDataset", "cluewsc"), ("csl", "CslDataset", "csl"), ("chid", "CHIDDataset", "chid"),
        ("tnews", "TNewsDataset", "tnews"), ("huggingface", "HFDataset", "eprstmt"),
    ):  # fmt: skip
        for project, top in ((OC, "./data/"), (AIS, "ais_bench/datasets/")):
            files = f"{top}FewCLUE/{folder}/test_public.json"
            made.append(case(project, module, kind, path="json", data_files=files, split="train"))
    made += [
        case(AIS, "xsum", "XsumDataset", path="ais_bench/datasets/Xsum"),
        case(OC, "xsum", "XsumDataset", path="opencompass/xsum"),
        case(AIS, "aime2025", "Aime2025Dataset", path="ais_bench/datasets/aime2025/aime2025.jsonl"),
        case(AIS, "aime2026", "Aime2026Dataset", path="ais_bench/datasets/aime2025/aime2025.jsonl"),
    ]
    for name in ("choice", "cloze"):
        for project, path in ((OC, "opencompass/agieval"), (AIS, "ais_bench/datasets/agieval")):
            made.append(
                case(project, "agieval.agieval", "AGIEvalDataset_v2", path=path, name=name, setting_name="zero-shot")
            )
    return made


def _opencompass_only() -> list[dict[str, Any]]:
    glue = "./data/SuperGLUE"
    table = [
        ("siqa", "siqaDataset", "opencompass/siqa", {}), ("siqa", "SiqaDatasetV3", "opencompass/siqa", {}),
        ("commonsenseqa", "commonsenseqaDataset", "opencompass/commonsense_qa", {}),
        ("commonsenseqa_cn", "CommonsenseQADataset_CN", "./data/commonsenseqa_cn/validation.jsonl", {}),
        ("storycloze", "StoryClozeDataset", "opencompass/xstory_cloze", {"lang": "en"}),
        ("storycloze", "StoryClozeDatasetV2", "opencompass/xstory_cloze", {"lang": "en"}),
        ("strategyqa", "StrategyQADataset", "opencompass/strategy_qa", {}),
        ("natural_question", "NaturalQuestionDataset", "opencompass/natural_question", {}),
        ("natural_question", "NQOpenDataset", "opencompass/nq_open", {}),
        ("drop", "dropDataset", "{folder}/data/drop/dev.json", {}),
        ("drop", "dropDataset", "{folder}/data/drop/dev.json", {"only_number": False}),
        ("mathbench", "MathBenchDataset", "data/mathbench", {"name": "single_choice_en"}),
        ("mathbench", "MathBenchDataset", "data/mathbench", {"name": "single_choice_en", "with_circular": False}),
        ("mathbench", "MathBenchDataset", "data/mathbench", {"name": "cloze_en"}),
        ("svamp", "SVAMPDataset", "opencompass/SVAMP", {}), ("gsm_hard", "GSMHardDataset", "./data/gsm-hard/test.jsonl", {}),
        ("flores", "FloresFirst100Dataset", "opencompass/flores", {"name": "eng-zho_simpl"}),
        ("wic", "WiCDatasetV2", f"{glue}/WiC/val.jsonl", {}), ("copa", "COPADatasetV2", f"{glue}/COPA/val.jsonl", {}),
        ("cb", "CBDatasetV2", f"{glue}/CB/val.jsonl", {}), ("ax", "AXDatasetV2", f"{glue}/AX-b/AX-b.jsonl", {}),
        ("wsc", "WSCDatasetV2", f"{glue}/WSC/val.jsonl", {}), ("wsc", "WSCDatasetV3", f"{glue}/WSC/val.jsonl", {}),
        ("multirc", "MultiRCDataset", f"{glue}/MultiRC/val.jsonl", {}),
        ("multirc", "MultiRCDatasetV2", f"{glue}/MultiRC/val.jsonl", {}),
        ("record", "ReCoRDDataset", f"{glue}/ReCoRD/val.jsonl", {}), ("record", "ReCoRDDatasetV2", f"{glue}/ReCoRD/val.jsonl", {}),
        ("summedits", "SummeditsDataset_V2", "opencompass/summedits", {}),
        ("tydiqa", "TydiQADataset", "opencompass/tydiqa", {"lang": "english"}),
        ("afqmcd", "AFQMCDatasetV2", "opencompass/afqmc-dev", {}), ("cmnli", "CMNLIDataset", "opencompass/cmnli-dev", {}),
        ("cmnli", "CMNLIDatasetV2", "opencompass/cmnli-dev", {}), ("cmrc", "CMRCDataset", "opencompass/cmrc_dev", {}),
        ("drcd", "DRCDDataset", "./data/CLUE/CMRC/dev.json", {}),
        ("crowspairs_cn", "CrowspairsDatasetCN", "./data/crowspairs_cn/test.jsonl", {}),
        ("xiezhi", "XiezhiDataset", "./data/xiezhi", {"name": "xiezhi_inter_chn"}),
        ("xiezhi", "XiezhiDataset", "./data/xiezhi", {"name": "xiezhi_inter_eng"}),
        ("MMLUArabic", "MMLUArabicDataset", "./data/mmlu_arabic", {"name": "law"}),
        ("cmo_fib", "CMOFibDataset", "opencompass/cmo_fib", {}),
        ("scibench", "ScibenchDataset", "./data/scibench", {"name": "atkins"}),
    ]  # fmt: skip
    made = [case(OC, module, kind, path=path, **arguments) for module, kind, path, arguments in table]
    here = [("anli", "AnliDataset", "data/anli/test.jsonl"), ("bustum", "bustumDataset_V2", "data/FewCLUE/bustm/test_public.json"),
            ("c3", "C3Dataset", "data/CLUE/C3/dev_0.json"), ("c3", "C3Dataset_V2", "data/CLUE/C3/dev_0.json")]  # fmt: skip
    made += [case(OC, module, kind, path="{folder}/" + path) for module, kind, path in here]
    for module, kind, path in (("wic", "WiCDataset", "WiC"), ("wsc", "WSCDataset", "WSC")):
        made.append(case(OC, module, kind, path="json", data_files=f"{glue}/{path}/val.jsonl", split="train"))
    for kind in ("Coursera", "FinancialQA", "Quality", "SciFi", "CodeU", "NewsSumm"):
        module = {
            "Coursera": "coursera",
            "FinancialQA": "financial_qa",
            "Quality": "quality",
            "SciFi": "sci_fi",
            "CodeU": "code_u",
        }
        name = module.get(kind, "news_summ")
        made.append(
            case(
                AIS,
                f"datasets.leval.{name}".removeprefix("datasets."),
                f"LEval{kind}Dataset",
                path="ais_bench/datasets/LEval/set.jsonl",
            )
        )
    made.append(case(OC, "wnli", "wnliDataset", path="{hub}/nyu-mll/glue", name="wnli"))
    return made


def reader_cases() -> list[dict[str, Any]]:
    """Return cases with a ``reader_cfg``: splits, ranges, several runs."""
    made = []
    columns = {"input_columns": ["question"], "output_column": "answer"}
    ranges = [None, 7, 0.1, 100000, -1, "[0:10]", "[5:50][::3]", "[-4:]", "[::-200]", "[10:10]"]
    for project, path in ((OC, "opencompass/gsm8k"), (AIS, "ais_bench/datasets/gsm8k")):
        for n, size in [(1, size) for size in ranges] + [(3, 7), (2, "[0:4]"), (4, None)]:
            reader = {**columns, **({"test_range": size} if size is not None else {}), "train_range": 5}
            one = case(project, "gsm8k", "GSM8KDataset", path=path)
            made.append({**one, "reader_cfg": reader, "abbr": "some_set", "n": n, "k": n})
    hellaswag = {
        "input_columns": ["ctx"],
        "output_column": "label",
        "train_split": "test",
        "test_split": "train",
        "test_range": 3,
    }
    one = case(OC, "hellaswag", "HellaswagDataset", path="opencompass/hellaswag")
    made.append({**one, "reader_cfg": hellaswag, "abbr": "h", "n": 2, "k": 1})
    crossed = {**columns, "train_split": "test", "test_split": "train", "train_range": 9, "test_range": "[0:6]"}
    one = case(AIS, "gsm8k", "GSM8KDataset", path="ais_bench/datasets/gsm8k")
    return [*made, {**one, "reader_cfg": crossed, "abbr": "x", "n": 1, "k": 1}]


def ours(one: dict[str, Any]) -> Any:
    """Return our rows of a case, as upstream's side gives them."""
    config = {"type": Reference(f"{TOPS[one['project']]}.{one['module']}.{one['type']}"), **one["arguments"]}
    try:
        if "reader_cfg" in one:
            found = open_dataset({**config, **{key: one[key] for key in ("reader_cfg", "abbr", "n", "k")}})
            return {"splits": {"train": list(found.index), "test": list(found.test)}}
        return {"splits": {name: list(read()) for name, read in dataset_splits(config).items()}}
    except ProctorError as error:
        return {"error": str(error)}


def same(first: Any, second: Any) -> bool:
    """Whether two values are equal; NaN equals itself, and absent parts of nested values are ``None``."""
    if isinstance(first, float) and isinstance(second, float) and math.isnan(first) and math.isnan(second):
        return True
    if isinstance(first, dict) and isinstance(second, dict):
        return all(same(first.get(key), second.get(key)) for key in {*first, *second})
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(same(a, b) for a, b in zip(first, second, strict=True))
    return type(first) is type(second) and first == second


_ADDED = ("answers",)
"""Columns of Proctor's own: what upstream reads from files again when it evaluates."""


def difference(found: Any, wanted: Any) -> str:
    """Return the first difference between two sides, or ``""``."""
    if "error" in wanted:
        alone = "error" in found or fails_alone(found, wanted["error"])
        return "" if alone else f"upstream fails: {wanted['error'][:200]}"
    if "error" in found:
        return f"ours fails: {found['error'][:300]}"
    mine, theirs = found["splits"], wanted["splits"]
    if set(mine) != set(theirs):
        return f"splits {sorted(mine)} / {sorted(theirs)}"
    for name in mine:
        if len(mine[name]) != len(theirs[name]):
            return f"split '{name}': {len(mine[name])} rows / {len(theirs[name])}"
        for i, (row, other) in enumerate(zip(mine[name], theirs[name], strict=True)):
            one = {key: value for key, value in row.items() if key not in _ADDED or key in other}
            if list(one) != list(other) or not same(one, other):
                return f"split '{name}', row {i}: {json.dumps(one, default=str)[:400]} / {json.dumps(other)[:400]}"
    return ""


def fails_alone(found: Any, error: str) -> bool:
    """Whether what ends upstream is what one of our rows, and not the whole dataset, says of itself."""
    rows = (row for rows in found.get("splits", {}).values() for row in rows)
    return any(isinstance(row, Failure) and error in row.message for row in rows)


def borrow(work: Path) -> None:
    """Let Proctor find what it needs and upstream's environment has: texts of OpenCompass, RULER's words."""
    place = work / "borrowed"
    place.mkdir(exist_ok=True)
    for site in Path(PYTHON).parents[1].glob("lib/python*/site-packages"):
        for each in site.glob("wonderwords*"):
            (place / each.name).unlink(missing_ok=True)
            (place / each.name).symlink_to(each)
    sys.path += [str(place), WHEEL]


def _filled(one: dict[str, Any], folder: Path, hub: Path) -> dict[str, Any]:
    def fill(value: Any) -> Any:
        return value.replace("{folder}", str(folder)).replace("{hub}", str(hub)) if isinstance(value, str) else value

    return {**one, "arguments": {key: fill(value) for key, value in one["arguments"].items()}}


def main() -> int:
    """Print equal and different counts; the exit status says whether all are equal."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "proctor_aisbench_datasets")
    work = parser.parse_args().work
    hub = Path(settings.hub_dir or "").resolve()
    folder = work / "folder"
    if not (folder / "written").is_file():
        made = Folder(folder, hub)
        write_real(made)
        write_made_up(made)
        (folder / "more.json").write_text(json.dumps(more(Folder(folder, hub))))
        (folder / "written").touch()
    made_up = json.loads((folder / "more.json").read_text())
    listed = [_filled(one, folder, hub) for one in [*cases(), *reader_cases(), *made_up]]
    install()
    borrow(work)
    asked = json.dumps(listed)
    environment = {
        **os.environ, "COMPASS_DATA_CACHE": str(folder), "AIS_BENCH_DATASETS_CACHE": str(folder), "HF_HUB_OFFLINE": "1",
        "HF_HOME": str(work / "hf"),
    }  # fmt: skip
    oracle = [
        PYTHON,
        str(Path(__file__).with_name("rows_oracle.py")),
        str(work / "cases.json"),
        str(work / "answers.json"),
        WHEEL,
    ]
    kept = work / "cases.json"
    if not (work / "answers.json").is_file() or not kept.is_file() or kept.read_text() != asked:
        kept.write_text(asked)
        subprocess.run(oracle, check=True, env=environment, cwd=work)
    wanted = json.loads((work / "answers.json").read_text())
    different = 0
    os.environ.update({name: str(folder) for name in ("COMPASS_DATA_CACHE", "AIS_BENCH_DATASETS_CACHE")})
    different += report("files", listed, wanted)
    for name in ("COMPASS_DATA_CACHE", "AIS_BENCH_DATASETS_CACHE"):
        del os.environ[name]
    mirrored = [(one, answer) for one, answer in zip(listed, wanted, strict=True) if one["mirror"]]
    different += report("mirror", [one for one, _ in mirrored], [answer for _, answer in mirrored])
    return 1 if different else 0


def report(source: str, listed: list[dict[str, Any]], wanted: list[Any]) -> int:
    """Print each difference and the counts; return how many there are."""
    found = [(one, difference(ours(one), answer)) for one, answer in zip(listed, wanted, strict=True)]
    rows = sum(len(rows) for answer in wanted for rows in answer.get("splits", {}).values())
    wrong = [(one, text) for one, text in found if text]
    for one, text in wrong:
        print(f"DIFFERENT {one['project']} {one['type']} {one['arguments']} {one.get('reader_cfg', '')}\n    {text}")
    refused = [
        (one["type"], answer["error"][:80]) for one, answer in zip(listed, wanted, strict=True) if "error" in answer
    ]
    equal = len(found) - len(wrong) - len(refused) + sum("upstream fails" in text for _, text in wrong)
    print(f"{source}: {equal} of {len(found)} equal ({len({one['type'] for one in listed})} classes, {rows} rows)")
    for kind, error in refused:
        print(f"    both refuse {kind}, or a row of it: {error}")
    return len(wrong)


if __name__ == "__main__":
    sys.exit(main())
