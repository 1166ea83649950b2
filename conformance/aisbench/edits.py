"""Shipped configs of AISBench with what a user changes in them: retriever, template, range, post-processor, evaluator.

Each pair of a config and an edit is a dataset of its own in one config, so that one process asks many. The edits of a
config are drawn by its name, and the code of an edit is what a user writes below ``read_base``.
"""

# ruff: noqa: E501, S105 - lines of configs, as users write them

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial

_WRITTEN = """
ARC_c.ARC_c_gen_0_shot_chat_prompt:ARC_c ARC_c.ARC_c_gen_25_shot_chat_prompt:ARC_c ARC_c.ARC_c_ppl_0_shot_str:ARC_c
ARC_e.ARC_e_gen_0_shot_chat_prompt:ARC_e ARC_e.ARC_e_ppl_0_shot_str:ARC_e
FewCLUE_bustm.FewCLUE_bustm_ppl_0_shot_chat:bustm:-test FewCLUE_chid.FewCLUE_chid_ppl_0_shot_str:chid:-test
FewCLUE_cluewsc.FewCLUE_cluewsc_ppl_0_shot_chat:cluewsc:-test FewCLUE_csl.FewCLUE_csl_ppl_0_shot_str:csl:_test
FewCLUE_eprstmt.FewCLUE_eprstmt_ppl_0_shot_chat:eprstmt:-test FewCLUE_tnews.FewCLUE_tnews_ppl_0_shot_chat:tnews:-test
SuperGLUE_BoolQ.SuperGLUE_BoolQ_gen_0_shot_cot_str:BoolQ SuperGLUE_BoolQ.SuperGLUE_BoolQ_gen_0_shot_noncot_str:BoolQ
SuperGLUE_BoolQ.SuperGLUE_BoolQ_gen_0_shot_str:BoolQ SuperGLUE_BoolQ.SuperGLUE_BoolQ_gen_5_shot_str:BoolQ
Xsum.Xsum_gen_0_shot_chat:Xsum Xsum.Xsum_gen_0_shot_str:Xsum
agieval.agieval_gen_0_shot_chat_prompt:agieval
aime2024.aime2024_gen_0_shot_chat_prompt:aime2024 aime2024.aime2024_gen_0_shot_str:aime2024
aime2025.aime2025_gen_0_shot_chat_prompt:aime2025 aime2025.aime2025_gen_0_shot_llmjudge:aime2025
bbh.bbh_gen_3_shot_cot_chat:bbh:date_understanding bbh.bbh_gen_3_shot_cot_chat:bbh:word_sorting
ceval.ceval_gen_0_shot_cot_chat_prompt:ceval:-law ceval.ceval_gen_0_shot_noncot_chat_prompt:ceval:-law
ceval.ceval_gen_0_shot_str:ceval:-law ceval.ceval_gen_5_shot_str:ceval:-law ceval.ceval_ppl_0_shot_str:ceval:-law
cmmlu.cmmlu_gen_0_shot_cot_chat_prompt:cmmlu cmmlu.cmmlu_gen_5_shot_cot_chat_prompt:cmmlu
cmmlu.cmmlu_ppl_0_shot_cot_chat_prompt:cmmlu
drop.drop_gen_0_shot_str:drop drop.drop_gen_3_shot_str:drop
gpqa.gpqa_gen_0_shot_cot_chat_prompt:gpqa gpqa.gpqa_gen_0_shot_str:gpqa gpqa.gpqa_ppl_0_shot_str:gpqa
gsm8k.gsm8k_gen_0_shot_cot_chat_prompt:gsm8k gsm8k.gsm8k_gen_0_shot_cot_str:gsm8k
gsm8k.gsm8k_gen_0_shot_noncot_chat_prompt:gsm8k gsm8k.gsm8k_gen_4_shot_cot_chat_prompt:gsm8k
gsm8k.gsm8k_gen_4_shot_cot_str:gsm8k
hellaswag.hellaswag_gen_0_shot_chat_prompt:hellaswag hellaswag.hellaswag_gen_10_shot_chat_prompt:hellaswag
hellaswag.hellaswag_ppl_0_shot_chat_prompt:hellaswag
ifeval.ifeval_0_shot_gen_str:ifeval
lambada.lambada_gen_0_shot_chat:lambada lambada.lambada_gen_0_shot_str:lambada
lcsts.lcsts_gen_0_shot_chat:lcsts lcsts.lcsts_gen_0_shot_str:lcsts
math.math500_gen_0_shot_cot_chat_prompt:math math.math_prm800k_500_0shot_cot_gen:math
math.math_prm800k_500_5shot_cot_gen:math
mgsm.mgsm_gen_0_shot_cot_chat_prompt:mgsm:_en mgsm.mgsm_gen_8_shot_cot_chat_prompt:mgsm:_en
mmlu.mmlu_gen_0_shot_cot_chat_prompt:mmlu:anatomy demo.demo_gsm8k_gen_4_shot_cot_chat_prompt:gsm8k
mmlu.mmlu_gen_5_shot_str:mmlu:anatomy mmlu.mmlu_ppl_0_shot_str:mmlu:anatomy
piqa.piqa_gen_0_shot_chat_prompt:piqa piqa.piqa_gen_0_shot_str:piqa piqa.piqa_ppl_0_shot_str:piqa
race.race_high_gen_5_shot_chat:race race.race_high_gen_5_shot_cot_chat:race
race.race_middle_gen_5_shot_cot_chat:race race.race_ppl_0_shot_chat:race
siqa.siqa_gen_0_shot_chat:siqa siqa.siqa_ppl_0_shot_chat:siqa
triviaqa.triviaqa_gen_5_shot_chat_prompt:triviaqa
winogrande.winogrande_gen_0_shot_chat_prompt:winogrande winogrande.winogrande_gen_5_shot_chat_prompt:winogrande
"""
BASES = _WRITTEN.split()
"""Module, variable (without ``_datasets``), and the end of the name of the dataset that has rows."""

_SHOTS = {
    "zero": 'd["infer_cfg"]["retriever"] = dict(type=ZeroRetriever)',
    "fix_two": 'd["infer_cfg"]["retriever"] = dict(type=FixKRetriever, fix_id_list=[3, 1])',
    "fix_one": 'd["infer_cfg"]["retriever"] = dict(type=FixKRetriever, fix_id_list=[0])',
    "fix_twice": 'd["infer_cfg"]["retriever"] = dict(type=FixKRetriever, fix_id_list=[2, 2, 0])',
    "fix_space": 'd["infer_cfg"]["retriever"] = dict(type=FixKRetriever, fix_id_list=[0, 1], ice_separator="\\n---\\n", '
    'ice_eos_token="\\n##\\n")',
    "random": 'd["infer_cfg"]["retriever"] = dict(type=RandomRetriever, ice_num=2)',
    "random_seed": 'd["infer_cfg"]["retriever"] = dict(type=RandomRetriever, ice_num=3, seed=7)',
}
"""Edits that want a template of demos: one is made of the prompt template where the config has none."""

_PROMPTS = {
    "own_text": 'd["infer_cfg"]["prompt_template"]["template"] = "Task: {COLUMN}\\nReply:"',
    "own_round": 'd["infer_cfg"]["prompt_template"]["template"] = dict(round=[dict(role="HUMAN", prompt="Task: {COLUMN}"), '
    'dict(role="BOT", prompt="")])',
    "own_human": 'd["infer_cfg"]["prompt_template"]["template"] = dict(round=[dict(role="HUMAN", prompt="{COLUMN}\\n?")])',
    "system": 'd["infer_cfg"]["prompt_template"]["template"] = dict(begin=[dict(role="SYSTEM", fallback_role="HUMAN", '
    'prompt="You are careful.")], round=[dict(role="HUMAN", prompt="Task: {COLUMN}")])',
    "system_round": 'd["infer_cfg"]["prompt_template"]["template"] = dict(round=[dict(role="SYSTEM", '
    'prompt="Be brief."), dict(role="HUMAN", prompt="Task: {COLUMN}")])',
    "two_turns": 'd["infer_cfg"]["prompt_template"]["template"] = dict(round=[dict(role="HUMAN", prompt="Hello."), '
    'dict(role="BOT", prompt="Hello, what is it?"), dict(role="HUMAN", prompt="{COLUMN}"), '
    'dict(role="BOT", prompt="Well: ")])',
    "end": 'd["infer_cfg"]["prompt_template"]["template"] = dict(begin="Begin. ", round=[dict(role="HUMAN", '
    'prompt="{COLUMN}")], end="The end.")',
}
_READER = {
    "range_text": 'd["reader_cfg"]["test_range"] = "[1:4]"',
    "range_tail": 'd["reader_cfg"]["test_range"] = "[-3:]"',
    "range_step": 'd["reader_cfg"]["test_range"] = "[0:9:3]"',
    "range_number": 'd["reader_cfg"]["test_range"] = 4',
    "range_share": 'd["reader_cfg"]["test_range"] = 0.003',
    "range_open": 'd["reader_cfg"]["test_range"] = "[:2]"',
    "train_range": 'd["reader_cfg"]["train_range"] = "[1:6]"\n'
    'd["infer_cfg"]["retriever"] = dict(type=FixKRetriever, fix_id_list=[4, 1])',
    "train_number": 'd["reader_cfg"]["train_range"] = 6\n'
    'd["infer_cfg"]["retriever"] = dict(type=RandomRetriever, ice_num=2, seed=3)',
    "test_is_train": 'd["reader_cfg"]["train_split"] = "test"',
    "columns_text": 'd["reader_cfg"]["input_columns"] = ["COLUMN"]',
}
_ASKING = {
    "max_out_len": 'd["infer_cfg"]["inferencer"]["max_out_len"] = 9',
    "stops": 'd["infer_cfg"]["inferencer"]["stopping_criteria"] = ["Q:", "\\n\\n"]',
    "batch": 'd["infer_cfg"]["inferencer"]["batch_size"] = 2',
    "twice": 'd["n"] = 2\nd["k"] = 2',
    "thrice": 'd["n"] = 3\nd["k"] = 1',
}
_READING = {
    "first_option": 'd["eval_cfg"]["pred_postprocessor"] = dict(type=first_option_postprocess, options="ABCDE")',
    "first_option_bare": 'd["eval_cfg"]["pred_postprocessor"] = dict(type=first_option_postprocess, options="AB", '
    "cushion=False)",
    "last_option": 'd["eval_cfg"]["pred_postprocessor"] = dict(type=last_option_postprocess, options="ABCD")',
    "first_capital": 'd["eval_cfg"]["pred_postprocessor"] = dict(type=first_capital_postprocess)',
    "last_capital": 'd["eval_cfg"]["pred_postprocessor"] = dict(type=last_capital_postprocess)',
    "capital_multi": 'd["eval_cfg"]["pred_postprocessor"] = dict(type=first_capital_postprocess_multi)',
    "number": 'd["eval_cfg"]["pred_postprocessor"] = dict(type=first_number_postprocess)',
    "several": 'd["eval_cfg"]["pred_postprocessor"] = dict(type=multiple_select_postprocess)',
    "xml": 'd["eval_cfg"]["pred_postprocessor"] = dict(type=xml_tag_postprocessor, tag="<conclude>")',
    "pattern": 'd["eval_cfg"]["pred_postprocessor"] = dict(type=match_answer_pattern, '
    'answer_pattern=r"(?i)ANSWER\\s*:\\s*([A-D])")',
    "general": 'd["eval_cfg"]["pred_postprocessor"] = dict(type=general_postprocess)',
    "general_cn": 'd["eval_cfg"]["pred_postprocessor"] = dict(type=general_cn_postprocess)',
    "no_thought": 'd["eval_cfg"]["pred_postprocessor"] = dict(type=extract_non_reasoning_content)',
    "no_thought_tokens": 'd["eval_cfg"]["pred_postprocessor"] = dict(type=extract_non_reasoning_content, '
    'think_start_token="<thought>", think_end_token="</thought>")',
    "by_name": 'd["eval_cfg"]["pred_postprocessor"] = dict(type="first-capital")',
    "gsm8k": 'd["eval_cfg"]["pred_postprocessor"] = dict(type=gsm8k_postprocess)',
    "no_reading": 'd["eval_cfg"].pop("pred_postprocessor", None)',
    "gold_general": 'd["eval_cfg"]["dataset_postprocessor"] = dict(type=general_postprocess)',
    "gold_capital": 'd["eval_cfg"]["dataset_postprocessor"] = dict(type="first-capital")',
    "no_gold": 'd["eval_cfg"].pop("dataset_postprocessor", None)',
}
_JUDGING = {
    "acc": 'd["eval_cfg"]["evaluator"] = dict(type=AccEvaluator)',
    "detailed": 'd["eval_cfg"]["evaluator"] = dict(type=AccwithDetailsEvaluator)',
    "rouge": 'd["eval_cfg"]["evaluator"] = dict(type=RougeEvaluator)',
    "bleu": 'd["eval_cfg"]["evaluator"] = dict(type=BleuEvaluator)',
    "jieba": 'd["eval_cfg"]["evaluator"] = dict(type=JiebaRougeEvaluator)',
    "math": 'd["eval_cfg"]["evaluator"] = dict(type=MATHEvaluator)',
    "math_v2": 'd["eval_cfg"]["evaluator"] = dict(type=MATHEvaluator, version="v2")',
    "mcc": 'd["eval_cfg"]["evaluator"] = dict(type=MccEvaluator)',
    "squad": 'd["eval_cfg"]["evaluator"] = dict(type=SquadEvaluator)',
    "similar": 'd["eval_cfg"]["evaluator"] = dict(type=OptionSimAccEvaluator, options=["A", "B"])',
    "gsm8k_evaluator": 'd["eval_cfg"]["evaluator"] = dict(type=Gsm8kEvaluator)',
    "math_numina": 'd["eval_cfg"]["evaluator"] = dict(type=MATHEvaluator)\n'
    'd["eval_cfg"]["pred_postprocessor"] = dict(type=math_postprocess_v2)',
    "trivia": 'd["eval_cfg"]["evaluator"] = dict(type=TriviaQAEvaluator)',
    "role": 'd["eval_cfg"]["pred_role"] = "BOT"',
    "size": 'd["infer_cfg"]["inferencer"]["batch_size"] = 3',
}
GENERATED = {**_SHOTS, **_PROMPTS, **_READER, **_ASKING, **_READING, **_JUDGING}
SCORED = {
    **_SHOTS,
    **_READER,
    "labels": 'd["infer_cfg"]["inferencer"]["labels"] = list(d["infer_cfg"]["prompt_template"]["template"])[:2]',
    "acc": _JUDGING["acc"],
    "detailed": _JUDGING["detailed"],
    "mcc": _JUDGING["mcc"],
    "twice": _ASKING["twice"],
}

_IMPORTS = """
from copy import deepcopy
from mmengine.config import read_base
from ais_bench.benchmark.models import VLLMCustomAPIChat
from ais_bench.benchmark.openicl.icl_retriever import FixKRetriever, ZeroRetriever
from ais_bench.benchmark.openicl.icl_retriever.icl_random_retriever import RandomRetriever
from ais_bench.benchmark.openicl.icl_evaluator import (
    AccEvaluator, AccwithDetailsEvaluator, BleuEvaluator, JiebaRougeEvaluator, MATHEvaluator, MccEvaluator,
    RougeEvaluator, SquadEvaluator
)
from ais_bench.benchmark.openicl.icl_prompt_template import PromptTemplate
from ais_bench.benchmark.utils.postprocess.model_postprocessors import extract_non_reasoning_content
from ais_bench.benchmark.utils.postprocess.text_postprocessors import (
    first_capital_postprocess, first_capital_postprocess_multi, first_number_postprocess, first_option_postprocess,
    general_cn_postprocess, general_postprocess, last_capital_postprocess, last_option_postprocess,
    match_answer_pattern, multiple_select_postprocess, xml_tag_postprocessor
)
from ais_bench.benchmark.datasets import Gsm8kEvaluator, TriviaQAEvaluator, gsm8k_postprocess, math_postprocess_v2
from ais_bench.benchmark.datasets.custom import OptionSimAccEvaluator

with read_base():
"""


def chosen(base: str, count: int, seed: int = 0) -> dict[str, str]:
    """Return the edits that are made in a config, by name: so many, drawn by the config's name."""
    known = SCORED if "_ppl_" in base else GENERATED
    if "llmjudge" in base:  # AISBench judges nothing where one dataset could not be asked
        known = _READING | _ASKING
    draw = random.Random(f"{base}:{seed}")
    return {name: known[name] for name in draw.sample(sorted(known), count)}


def edited_text(bases: list[str], port: int, count: int = 4, seed: int = 0) -> str:
    """Return the text of a config with every base as it is (three rows), and ``count`` edits of each."""
    imports, body = [], ["datasets = []"]
    for place, base in enumerate(bases):
        module, variable, end = (*base.split(":"), "")[:3]
        home = f"ais_bench.benchmark.configs.datasets.{module}"
        imports.append(f"    from {home} import {variable}_datasets as set_{place}\n")
        body.append(f"base_{place} = [each for each in set_{place} if each['abbr'].endswith({end!r})][0]")
        stem = f"{module.split('.')[1]}{end.replace(':', '')}"
        for name, code in [("as_it_is", ""), *chosen(base, count, seed).items()]:
            body.append(f"d = deepcopy(base_{place})\nd['abbr'] = '{stem}__{name}'")
            body.append('d["reader_cfg"]["test_range"] = "[0:3]"')
            if name in _SHOTS or name.startswith("train_"):
                body.append(_ICE)
            columns = 'd["reader_cfg"]["input_columns"]'
            if "llmjudge" in base:
                body.append('d["judge_infer_cfg"]["judge_model"]["host_port"] = PORT')
            if name in _PROMPTS:
                body.append(_NO_TOKEN)
            body.append(f"column = {columns} if isinstance({columns}, str) else {columns}[0]")
            body.append(
                code.replace('"Task: {COLUMN}', '"Task: {" + column + "}')
                .replace('"{COLUMN}', '"{" + column + "}')
                .replace('"COLUMN"', "column")
            )
            body.append("datasets.append(d)")
    return (_IMPORTS + "".join(imports) + "\n" + "\n".join(body) + _MODELS).replace("PORT", str(port))


_BASES_OF_A_RUN = 15
"""So many configs, each with its edits, in one process: a fifth of all."""
EDITED: dict[str, Callable[[int], str]] = {
    f"edits_{place}{'_again' * seed}": partial(
        edited_text, BASES[place * _BASES_OF_A_RUN : (place + 1) * _BASES_OF_A_RUN], seed=seed
    )
    for seed in range(2)
    for place in range(-(-len(BASES) // _BASES_OF_A_RUN))
}
"""By the name of a run: what makes its text for a port."""
_AVERAGED = "repeated"
"""A model whose answers are averaged: AISBench's table takes models with the same metrics only."""
_NOT_OF_TEXTS = (_AVERAGED, "logs", "meta", "meta_begin", "meta_words", "thinks")
EDITED["models_chat"] = lambda port: models_text(
    [name for name in MODEL_EDITS if name != _AVERAGED], "VLLMCustomAPIChat", port
)
EDITED["models_repeated"] = lambda port: models_text([_AVERAGED], "VLLMCustomAPIChat", port)
EDITED["models_text"] = lambda port: models_text(
    [name for name in MODEL_EDITS if name not in _NOT_OF_TEXTS], "VLLMCustomAPI", port
)

_ICE = """
if "ice_template" not in d["infer_cfg"]:
    d["infer_cfg"]["ice_template"] = deepcopy(d["infer_cfg"]["prompt_template"])
    d["infer_cfg"]["prompt_template"]["ice_token"] = "</E>"
    shown = d["infer_cfg"]["prompt_template"]["template"]
    if isinstance(shown, str):
        d["infer_cfg"]["prompt_template"]["template"] = "</E>" + shown
    elif "round" in shown:
        shown["begin"] = "</E>"
    else:
        for label in shown:
            if isinstance(shown[label], str):
                shown[label] = "</E>" + shown[label]
            else:
                shown[label]["begin"] = "</E>"
"""
_NO_TOKEN = """
if "prompt_template" not in d["infer_cfg"]:
    d["infer_cfg"]["prompt_template"] = dict(type=PromptTemplate)
d["infer_cfg"]["prompt_template"].pop("ice_token", None)
d["infer_cfg"]["retriever"] = dict(type=ZeroRetriever)
"""
MODEL_EDITS = {
    "plain": {},
    "short": {"max_out_len": 5, "batch_size": 1, "retry": 1},
    "named": {"model": "other-name"},
    "address": {"url": "http://localhost:PORT/", "host_port": 1},
    "key": {"api_key": "a-key", "verbose": True, "trust_remote_code": True},
    "many": {"generation_kwargs": {"temperature": 0.3, "top_p": 0.9, "top_k": 5, "seed": 11, "n": 1, "min_p": 0.1}},
    "lengths": {"generation_kwargs": {"max_tokens": 3, "min_tokens": 2, "max_completion_tokens": 9}},
    "stops": {"generation_kwargs": {"stop": ["X", "Y"], "stop_token_ids": [1, 2], "ignore_eos": True}},
    "stop": {"generation_kwargs": {"stop": "Z", "include_stop_str_in_output": True}},
    "penalties": {"generation_kwargs": {"presence_penalty": 1, "frequency_penalty": -1, "repetition_penalty": 1.2}},
    "thinks": {"generation_kwargs": {"chat_template_kwargs": {"enable_thinking": False}, "reasoning_effort": "low"}},
    "logs": {"generation_kwargs": {"logprobs": True, "top_logprobs": 2, "logit_bias": {"5": 1}}},
    "form": {"generation_kwargs": {"response_format": {"type": "json_object"}, "user": "me", "service_tier": "x"}},
    "guided": {
        "generation_kwargs": {"guided_choice": ["A", "B"], "extra": {"a": [1, 2]}, "add_generation_prompt": True}
    },
    "nothing": {"generation_kwargs": {}},
    "greedy": {"generation_kwargs": {"temperature": 0, "do_sample": False, "num_beams": 1}},
    "reads": {"pred_postprocessor": "dict(type=extract_non_reasoning_content)"},
    "reads_two": {"pred_postprocessor": "dict(type=first_option_postprocess, options='ABCD')"},
    "meta": {
        "meta_template": {
            "round": [{"role": "HUMAN", "api_role": "HUMAN"}, {"role": "BOT", "api_role": "BOT", "generate": True}],
            "reserved_roles": [{"role": "SYSTEM", "api_role": "HUMAN"}],
        }
    },
    "meta_begin": {
        "meta_template": {
            "begin": {"role": "SYSTEM", "prompt": "Be good."},
            "round": [{"role": "HUMAN", "api_role": "HUMAN"}, {"role": "BOT", "api_role": "BOT", "generate": True}],
        }
    },
    "meta_words": {
        "meta_template": {
            "round": [
                {"role": "HUMAN", "api_role": "HUMAN", "begin": "<h>", "end": "</h>"},
                {"role": "BOT", "api_role": "BOT", "generate": True},
            ]
        }
    },
    "streamed": {"stream": True, "generation_kwargs": {"top_p": 0.5}},
    "rated": {"request_rate": 50, "traffic_cfg": {"burstiness": 0.5}},
    "repeated": {"generation_kwargs": {"num_return_sequences": 2, "temperature": 0.5}},
}
"""By name of a model: what is changed in it."""
MODEL_BASES = [
    "gsm8k.gsm8k_gen_0_shot_cot_chat_prompt:gsm8k",
    "gsm8k.gsm8k_gen_4_shot_cot_str:gsm8k",
    "race.race_high_gen_5_shot_chat:race",
    "piqa.piqa_ppl_0_shot_str:piqa",
]


def models_text(names: list[str], kind: str, port: int) -> str:
    """Return the text of a config with models of a kind, edited, and a few datasets without edits."""
    text = edited_text(MODEL_BASES, port, count=0)
    text = text[: text.index("models = [dict(")].replace("VLLMCustomAPIChat", kind)
    given = {
        "path": "",
        "stream": False,
        "request_rate": 0,
        "retry": 2,
        "host_ip": "localhost",
        "host_port": port,
        "url": "",
        "max_out_len": 64,
        "batch_size": 4,
        "generation_kwargs": {"temperature": 0.01},
    }
    listed = []
    for name in names:
        values = given | MODEL_EDITS[name]
        shown = ", ".join(
            f"{key}={each if key == 'pred_postprocessor' else repr(each)}" for key, each in values.items()
        )
        listed.append(f"    dict(attr='service', type={kind}, abbr='{name}', {shown}),\n")
    models = "models = [\n" + "".join(listed) + "]\nsummarizer = dict(attr='accuracy')\n"
    return text + models.replace("PORT", str(port))


_MODELS = """
models = [dict(attr="service", type=VLLMCustomAPIChat, abbr="edited", path="", model="", stream=False, request_rate=0,
               retry=2, host_ip="localhost", host_port=PORT, url="", max_out_len=64, batch_size=4,
               generation_kwargs=dict(temperature=0.01, ignore_eos=False))]
summarizer = dict(attr="accuracy")
"""
