"""Shipped configs of AISBench, whose first dataset is asked as a whole exam: three rows of a data folder each."""

from __future__ import annotations

import base64
import json
import os
import shutil
from pathlib import Path

GENERATED = [
    "ARC_c.ARC_c_gen_25_shot_chat_prompt:ARC_c",
    "ARC_e.ARC_e_gen_0_shot_chat_prompt:ARC_e",
    "SuperGLUE_BoolQ.SuperGLUE_BoolQ_gen_0_shot_cot_str:BoolQ",
    "Xsum.Xsum_gen_0_shot_chat:Xsum",
    "agieval.agieval_gen_0_shot_chat_prompt:agieval",
    "bbh.bbh_gen_3_shot_cot_chat:bbh:date_understanding",
    "ceval.ceval_gen_5_shot_str:ceval:-law",
    "cmmlu.cmmlu_gen_0_shot_cot_chat_prompt:cmmlu",
    "cmmlu.cmmlu_gen_5_shot_cot_chat_prompt:cmmlu",
    "drop.drop_gen_0_shot_str:drop",
    "gpqa.gpqa_gen_0_shot_cot_chat_prompt:gpqa",
    "gsm8k.gsm8k_gen_4_shot_cot_chat_prompt:gsm8k",
    "gsm8k.gsm8k_gen_0_shot_cot_str:gsm8k",
    "gsm8k.gsm8k_gen_0_shot_noncot_chat_prompt:gsm8k",
    "hellaswag.hellaswag_gen_0_shot_chat_prompt:hellaswag",
    "hellaswag.hellaswag_gen_10_shot_chat_prompt:hellaswag",
    "ifeval.ifeval_0_shot_gen_str:ifeval",
    "lambada.lambada_gen_0_shot_chat:lambada",
    "lcsts.lcsts_gen_0_shot_chat:lcsts",
    "math.math500_gen_0_shot_cot_chat_prompt:math",
    "math.math_prm800k_500_5shot_cot_gen:math",
    "mgsm.mgsm_gen_0_shot_cot_chat_prompt:mgsm:_en",
    "mmlu.mmlu_gen_5_shot_str:mmlu:anatomy",
    "mmlu.mmlu_gen_0_shot_cot_chat_prompt:mmlu:anatomy",
    "piqa.piqa_gen_0_shot_chat_prompt:piqa",
    "race.race_middle_gen_5_shot_chat:race",
    "siqa.siqa_gen_0_shot_chat:siqa",
    "triviaqa.triviaqa_gen_5_shot_chat_prompt:triviaqa",
    "winogrande.winogrande_gen_0_shot_chat_prompt:winogrande",
    "winogrande.winogrande_gen_5_shot_chat_prompt:winogrande",
]
"""Of configs whose answers are words: module, variable (without ``_datasets``), and the end of the name of the dataset
that has rows, where it is not the first."""
SCORED = [
    "ARC_c.ARC_c_ppl_0_shot_str:ARC_c",
    "hellaswag.hellaswag_ppl_0_shot_chat_prompt:hellaswag",
    "mmlu.mmlu_ppl_0_shot_str:mmlu:anatomy",
    "piqa.piqa_ppl_0_shot_str:piqa",
    "race.race_ppl_0_shot_chat:race",
    "siqa.siqa_ppl_0_shot_chat:siqa",
]
"""Of configs that compare losses."""
MORE = [
    "ARC_e.ARC_e_gen_25_shot_chat_prompt:ARC_e",
    "SuperGLUE_BoolQ.SuperGLUE_BoolQ_gen_0_shot_str:BoolQ",
    "SuperGLUE_BoolQ.SuperGLUE_BoolQ_gen_0_shot_noncot_str:BoolQ",
    "SuperGLUE_BoolQ.SuperGLUE_BoolQ_gen_5_shot_str:BoolQ",
    "aime2024.aime2024_gen_0_shot_chat_prompt:aime2024",
    "aime2024.aime2024_gen_0_shot_str:aime2024",
    "aime2025.aime2025_gen_0_shot_chat_prompt:aime2025",
    "ceval.ceval_gen_0_shot_cot_chat_prompt:ceval:-law",
    "ceval.ceval_gen_0_shot_noncot_chat_prompt:ceval:-law",
    "ceval.ceval_gen_0_shot_str:ceval:-law",
    "gsm8k.gsm8k_gen_0_shot_cot_chat_prompt:gsm8k",
    "gsm8k.gsm8k_gen_4_shot_cot_str:gsm8k",
    "race.race_high_gen_5_shot_chat:race",
]
"""Of further configs whose answers are words."""
PICTURED = ["ocrbench_v2.ocrbench_v2_gen_0_shot_chat:ocrbench_v2"]
"""Of configs with pictures, whose questions bring their answers along."""
SETS = {"shipped": GENERATED, "shipped_scored": SCORED, "shipped_more": MORE, "shipped_pictures": PICTURED}

_TEXT = """
from mmengine.config import read_base
from ais_bench.benchmark.models import VLLMCustomAPIChat

with read_base():
{imports}

datasets = {listed}
abbrs = {abbrs}
for i in range(len(datasets)):
    datasets[i]["abbr"] = abbrs[i]
    datasets[i]["reader_cfg"]["test_range"] = {rows!r}
models = [dict(attr="service", type=VLLMCustomAPIChat, abbr="shipped", path="", model="", stream=False, request_rate=0,
               retry=2, host_ip="localhost", host_port={port}, url="", max_out_len=64, batch_size=4,
               generation_kwargs=dict(temperature=0.01, ignore_eos=False))]
summarizer = dict(attr="accuracy")
"""


def shipped_text(name: str, port: int) -> str:
    """Return the text of a config with the first dataset of each shipped one."""
    found = [(*each.split(":"), "")[:3] for each in SETS[name]]
    home = "ais_bench.benchmark.configs.datasets"
    imports = "\n".join(
        f"    from {home}.{module} import {variable}_datasets as set_{i}"
        for i, (module, variable, _) in enumerate(found)
    )
    picked = [f"[each for each in set_{i} if each['abbr'].endswith({end!r})][0]" for i, (*_, end) in enumerate(found)]
    listed = "[" + ", ".join(picked) + "]"
    return _TEXT.format(
        imports=imports,
        listed=listed,
        abbrs=[module.split(".")[1] for module, *_ in found],
        port=port,
        rows="[0:500]" if SETS[name] is PICTURED else "[0:3]",
    )


def write_data(folder: Path) -> Path:
    """Return a data folder with rows for these configs, made where it is not there."""
    if not folder.is_dir():
        from conformance.aisbench.data_folder import Folder, write_made_up, write_real

        made = Folder(folder, Path(os.environ.get("PROCTOR_HUB_DIR", "/work/shared/data/hub")))
        write_real(made)
        write_made_up(made)
        _also(folder / "ais_bench" / "datasets")
        _pictures(folder / "ais_bench" / "datasets" / "ocrbench_v2")
    return folder


def _also(folder: Path) -> None:
    """Give files the names that these configs ask for."""
    shutil.copy(folder / "agieval" / "choice.jsonl", folder / "agieval" / "gaokao-chinese.jsonl")
    for split in ("dev", "test"):
        shutil.copy(folder / "cmmlu" / split / "law.csv", folder / "cmmlu" / split / "agronomy.csv")
    shutil.copytree(folder / "piqa", folder / "physicaliqa-train-dev")
    shutil.copy(folder / "math" / "math.json", folder / "math" / "test_prm800k_500.json")
    rows = json.loads((folder / "math" / "math.json").read_text(encoding="utf-8")).values()
    lines = (json.dumps({**row, "answer": str(i)}) + "\n" for i, row in enumerate(rows))
    (folder / "math" / "test_prm800k_500.jsonl").write_text("".join(lines), encoding="utf-8")


_QUESTIONS_OF_A_TYPE = 12
_STOPS = "{[1]: 2}"
"""An answer that AISBench's whole evaluation stops at; here it is words without fields."""


def _pictures(folder: Path) -> None:
    """Write the table of OCRBench v2, with rows that AISBench can score and the answers of a model in them."""
    import pandas as pd
    from conformance.aisbench.ocrbench import made_cases, ours
    from conformance.aisbench.pictures import picture

    cases = [case for case in made_cases(_QUESTIONS_OF_A_TYPE) if case["said"].strip() and ours(case) is not None]
    cases = [case for case in cases if not isinstance(ours(case), dict) and case["said"] != _STOPS]
    packed = base64.b64encode(picture(1) + bytes(80)).decode()
    rows = [
        {
            "index": str(place),
            "image": packed,
            "question": f"{case['reference']['question']}\nSay exactly:\n{case['said']}",
            **{name: case["reference"][name] for name in ("answer", "category", "bbox_raw", "content")},
            "eval": case["reference"]["evals"],
        }
        for place, case in enumerate(cases)
    ]
    folder.mkdir(parents=True)
    pd.DataFrame(rows).to_csv(folder / "OCRBench_v2.tsv", sep="\t", index=False)
