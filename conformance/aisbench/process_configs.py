"""Configs for whole processes: every kind of dataset, model and judge that AISBench can run against a small server."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

_IMPORTS = """
from ais_bench.benchmark.models import (
    MindieStreamApi, TGICustomAPI, TritonCustomAPI, VLLMCustomAPI, VLLMCustomAPIChat
)
from ais_bench.benchmark.openicl.icl_prompt_template import PromptTemplate
from ais_bench.benchmark.openicl.icl_prompt_template.icl_prompt_template_multiturn import MultiTurnPromptTemplate
from ais_bench.benchmark.openicl.icl_prompt_template.icl_prompt_template_mm import MMPromptTemplate
from ais_bench.benchmark.openicl.icl_retriever import FixKRetriever, ZeroRetriever
from ais_bench.benchmark.openicl.icl_inferencer import GenInferencer, MultiTurnGenInferencer, PPLInferencer
from ais_bench.benchmark.openicl.icl_evaluator import (
    AccEvaluator, BleuEvaluator, EDAccEvaluator, MATHEvaluator, RougeEvaluator
)
from ais_bench.benchmark.datasets import Aime2025Dataset, Aime2025JDGDataset
from ais_bench.benchmark.datasets.utils.llm_judge import LLMJudgeCorrectEvaluator, get_a_or_b
from ais_bench.benchmark.utils.postprocess.model_postprocessors import extract_non_reasoning_content
from ais_bench.benchmark.utils.postprocess.text_postprocessors import (
    first_capital_postprocess, first_option_postprocess, general_postprocess, last_option_postprocess
)
from ais_bench.benchmark.datasets.custom import CustomDataset, OptionSimAccEvaluator
"""

_HEAD = """
SUMS = "{folder}/sums.jsonl"
CHOICES = "{folder}/choices.jsonl"
TALKS = "{folder}/talks.jsonl"
LIMITS = "{folder}/limits.jsonl"
MEDIA = "{folder}/media.jsonl"
FILMS = "{folder}/films.jsonl"
DEEP = "{folder}/deep.jsonl"
summarizer = dict(attr="accuracy")


def made(abbr, path, template, columns=("question",), output="answer", inferencer=None, ice=None, retriever=None,
         evaluator=None, reader=None, **more):
    infer = dict(
        prompt_template=template if "type" in template else dict(type=PromptTemplate, **template),
        retriever=retriever or dict(type=ZeroRetriever),
        inferencer=inferencer or dict(type=GenInferencer),
    )
    if ice:
        infer["ice_template"] = dict(type=PromptTemplate, **ice)
    return dict(
        abbr=abbr,
        type=Aime2025Dataset,
        path=path,
        reader_cfg=dict(input_columns=list(columns), output_column=output, **(reader or dict())),
        infer_cfg=infer,
        eval_cfg=dict(evaluator=evaluator or dict(type=AccEvaluator), **more.pop("eval", dict())),
        **more,
    )


ROUND = dict(round=[dict(role="HUMAN", prompt="Solve: {question}")])
ANSWERED = dict(round=[dict(role="HUMAN", prompt="Q: {question}"), dict(role="BOT", prompt="A: {answer}")])
OPENED = dict(
    begin=[dict(role="SYSTEM", fallback_role="HUMAN", prompt="You add numbers."), "</E>"],
    round=[dict(role="HUMAN", prompt="Q: {question}"), dict(role="BOT", prompt="A: {answer}")],
)
OPTIONS = "{question}\\nA. {A}\\nB. {B}\\nC. {C}\\nD. {D}\\n"
FEW = dict(type=FixKRetriever, fix_id_list=[0, 2])
LABELS = {{each: dict(round=[dict(role="HUMAN", prompt=OPTIONS), dict(role="BOT", prompt="Answer: " + each)])
           for each in "ABCD"}}
TEXT_LABELS = {{each: OPTIONS + "Answer: " + each for each in "ABCD"}}
CHOICE_COLUMNS = ("question", "A", "B", "C", "D")
JUDGED = dict(
    judge_reader_cfg=dict(input_columns=["question", "answer", "model_answer"], output_column="model_pred_uuid"),
    judge_model=dict(
        attr="service", type=VLLMCustomAPIChat, abbr="judge", path="", model="", stream=False, request_rate=0,
        retry=2, api_key="", host_ip="localhost", host_port={port}, url="", max_out_len=33, batch_size=2,
        generation_kwargs=dict(temperature=0.01, ignore_eos=False, seed=3),
        pred_postprocessor=dict(type=extract_non_reasoning_content),
    ),
    judge_dataset_type=Aime2025JDGDataset,
    prompt_template=dict(
        type=PromptTemplate,
        template=dict(
            begin=[dict(role="SYSTEM", fallback_role="HUMAN", prompt="You judge.")],
            round=[dict(role="HUMAN", prompt="{question}\\n<Gold Target Begin>: \\n{answer}\\n<Gold Target End>\\n"
                        "<Predicted Answer Begin>: \\n{model_answer}\\n<Predicted End>")],
        ),
    ),
    retriever=dict(type=ZeroRetriever),
    inferencer=dict(type=GenInferencer),
)
JUDGE_EVAL = dict(evaluator=dict(type=LLMJudgeCorrectEvaluator), eval=dict(pred_postprocessor=dict(type=get_a_or_b)))


def model(kind, abbr, **more):
    values = dict(attr="service", type=kind, abbr=abbr, path="", stream=False, request_rate=0, retry=2,
                  host_ip="localhost", host_port={port}, url="", max_out_len=64, batch_size=4,
                  generation_kwargs=dict(temperature=0.01, ignore_eos=False))
    values.update(more)
    return values
"""

_GENERATED = """
datasets = [
    made("text", SUMS, dict(template="Question: {question}\\nAnswer:")),
    made("text_answer", SUMS, dict(template="Question: {question}\\nAnswer: {answer}")),
    made("round", SUMS, dict(template=ROUND)),
    made("answered", SUMS, dict(template=ANSWERED)),
    made("opened", SUMS, dict(template=OPENED, ice_token="</E>")),
    made("few_text", SUMS, dict(template="Add.\\n</E>{question}=", ice_token="</E>"),
         ice=dict(template="{question}={answer}"), retriever=FEW),
    made("few_dialogue", SUMS, dict(template=OPENED, ice_token="</E>"), ice=dict(template=ANSWERED), retriever=FEW),
    made("ice_alone", SUMS, dict(template="</E>{question}={answer}", ice_token="</E>"),
         ice=dict(template="{question}={answer}"), retriever=FEW),
    made("range", SUMS, dict(template=ROUND), reader=dict(test_range="[1:4]")),
    made("drawn", SUMS, dict(template=ROUND), reader=dict(test_range=3)),
    made("stopping", SUMS, dict(template=ROUND), inferencer=dict(type=GenInferencer, stopping_criteria=["Question:"])),
    made("limited", SUMS, dict(template=ROUND), inferencer=dict(type=GenInferencer, max_out_len=7)),
    made("row_limits", LIMITS, dict(template=ROUND), columns=("question", "max_out_len")),
    made("columns_text", SUMS, dict(template=ROUND), columns="question"),
    made("option", CHOICES, dict(template=dict(round=[dict(role="HUMAN", prompt=OPTIONS + "Answer:")])),
         columns=CHOICE_COLUMNS, eval=dict(pred_postprocessor=dict(type=first_option_postprocess, options="ABCD"))),
    made("last_option", CHOICES, dict(template=OPTIONS), columns=CHOICE_COLUMNS,
         eval=dict(pred_postprocessor=dict(type=last_option_postprocess, options="ABCD"))),
    made("capital", CHOICES, dict(template=OPTIONS), columns=CHOICE_COLUMNS,
         eval=dict(pred_postprocessor=dict(type=first_capital_postprocess))),
    made("math", SUMS, dict(template=ROUND), evaluator=dict(type=MATHEvaluator)),
    made("rouge", SUMS, dict(template=ROUND), evaluator=dict(type=RougeEvaluator)),
    made("runs", SUMS, dict(template=ROUND), n=2, k=2),
    made("judged", SUMS, dict(template=ROUND), judge_infer_cfg=JUDGED, **JUDGE_EVAL),
    made("judged_math", SUMS, dict(template=ROUND), judge_infer_cfg=JUDGED, evaluator=dict(type=AccEvaluator)),
]
"""

_CHATTED = """
datasets += [
    made("talk_every", TALKS, dict(type=MultiTurnPromptTemplate, template=ANSWERED_TURNS),
         inferencer=dict(type=MultiTurnGenInferencer)),
    made("talk_gt", TALKS, dict(type=MultiTurnPromptTemplate, template=ANSWERED_TURNS),
         inferencer=dict(type=MultiTurnGenInferencer, infer_mode="every_with_gt")),
    made("talk_last", TALKS, dict(type=MultiTurnPromptTemplate, template=ANSWERED_TURNS),
         inferencer=dict(type=MultiTurnGenInferencer, infer_mode="last")),
    made("media", MEDIA, dict(type=MMPromptTemplate, template=dict(round=[dict(role="HUMAN", prompt_mm=dict(
        text=dict(type="text", text="{question}"),
        image=dict(type="image_url", image_url=dict(url="data:image/png;base64,{image}")),
    ))])), columns=("question", "image")),
]
""".replace(
    "ANSWERED_TURNS", 'dict(round=[dict(role="HUMAN", prompt="{question}"), dict(role="BOT", prompt="{answer}")])'
)

_SCORED = """
datasets = [
    made("ppl_text", CHOICES, dict(template=TEXT_LABELS), columns=CHOICE_COLUMNS, inferencer=dict(type=PPLInferencer)),
    made("ppl_dialogue", CHOICES, dict(template=LABELS), columns=CHOICE_COLUMNS, inferencer=dict(type=PPLInferencer)),
    made("ppl_few", CHOICES, dict(template={{key: "</E>" + text for key, text in TEXT_LABELS.items()}},
         ice_token="</E>"), ice=dict(template=OPTIONS + "Answer: {answer}"), columns=CHOICE_COLUMNS, retriever=FEW,
         inferencer=dict(type=PPLInferencer)),
    made("ppl_some", CHOICES, dict(template=TEXT_LABELS), columns=CHOICE_COLUMNS,
         inferencer=dict(type=PPLInferencer, labels=["A", "B"])),
]
"""

_META = (
    'dict(round=[dict(role="HUMAN", begin="<|user|>", end="\\n"), '
    'dict(role="BOT", begin="<|bot|>", end="\\n", generate=True)], '
    'reserved_roles=[dict(role="SYSTEM", begin="<|sys|>", end="\\n")])'
)

_WIDER = """
datasets = [
    made("half", SUMS, dict(template=ROUND), reader=dict(test_range=0.5)),
    made("tail", SUMS, dict(template=ROUND), reader=dict(test_range="[-2:]")),
    made("steps", SUMS, dict(template=ROUND), reader=dict(test_range="[1:6:2]")),
    made("deep", DEEP, dict(template=ROUND), eval=dict(pred_postprocessor=dict(type=general_postprocess))),
    made("edit", CHOICES, dict(template=OPTIONS), columns=CHOICE_COLUMNS, evaluator=dict(type=EDAccEvaluator)),
    made("bleu", SUMS, dict(template=ROUND), evaluator=dict(type=BleuEvaluator)),
    made("labels", SUMS, dict(template=dict(begin="Add. ", round=[dict(role="HUMAN", prompt="{question}"),
         dict(role="BOT", prompt="")]))),
    made("twice", SUMS, dict(template=dict(round=[dict(role="HUMAN", prompt="One."), dict(role="HUMAN",
         prompt="{question}"), dict(role="BOT", prompt="{answer}"), dict(role="HUMAN", prompt="Again {question}")]))),
    made("few_begin", SUMS, dict(template=dict(begin=[dict(role="HUMAN", prompt="Look:"), "</E>", "Now."],
         round=[dict(role="HUMAN", prompt="{question}"), dict(role="BOT", prompt="{answer}")]), ice_token="</E>"),
         ice=dict(template=ANSWERED), retriever=dict(type=FixKRetriever, fix_id_list=[1, 3, 5])),
    made("system", SUMS, dict(template=dict(begin=[dict(role="SYSTEM", prompt="You add."), dict(role="HUMAN",
         prompt="Hi."), dict(role="BOT", prompt="Hello.")], round=[dict(role="HUMAN", prompt="{question}")]))),
    made("braces", SUMS, dict(template="{question} {nothing} [{answer}]")),
    made("think", SUMS, dict(template="Think first: {question}")),
    made("best", SUMS, dict(template=ROUND), n=3, k=[1, 3]),
    made("judged_option", CHOICES, dict(template=OPTIONS), columns=CHOICE_COLUMNS, judge_infer_cfg=JUDGED,
         **JUDGE_EVAL),
]
"""

_OWN = """
datasets = [
    dict(abbr=abbr, type=CustomDataset, path="{folder}/" + abbr + ".jsonl",
         reader_cfg=dict(input_columns=["question", "max_out_len"], output_column="answer"),
         infer_cfg=dict(prompt_template=dict(type=PromptTemplate, template=template),
                        retriever=dict(type=ZeroRetriever), inferencer=dict(type=GenInferencer)),
         eval_cfg=dict(evaluator=evaluator, pred_role="BOT"), meta_path=None)
    for abbr, template, evaluator in (
        ("own_qa", "Question: {question}\\nAnswer: {answer}", dict(type=AccEvaluator)),
        ("own_mcq", "Question: {question}\\nA. {A}\\nB. {B}\\nAnswer: {answer}",
         dict(type=OptionSimAccEvaluator, options=["A", "B"])),
        ("own_sampled", "Question: {question}\\nAnswer: {answer}", dict(type=AccEvaluator)),
        ("own_shared", "Question: {question}\\nAnswer: {answer}", dict(type=AccEvaluator)),
    )
]
"""

_TALKED = """
TURNS = dict(begin=[dict(role="SYSTEM", prompt="You add.")],
             round=[dict(role="HUMAN", prompt="{question}"), dict(role="BOT", prompt="{answer}")])
datasets += [
    made("talk_system", TALKS, dict(type=MultiTurnPromptTemplate, template=TURNS),
         inferencer=dict(type=MultiTurnGenInferencer, infer_mode="every")),
    made("talk_system_last", TALKS, dict(type=MultiTurnPromptTemplate, template=TURNS),
         inferencer=dict(type=MultiTurnGenInferencer, infer_mode="last")),
    made("media_system", MEDIA, dict(type=MMPromptTemplate, template=dict(
        begin=[dict(role="SYSTEM", prompt="You look.")],
        round=[dict(role="HUMAN", prompt_mm=dict(text=dict(type="text", text="{question}"),
               image=dict(type="image_url", image_url=dict(url="data:image/png;base64,{image}"))))])),
        columns=("question", "image")),
    made("films", FILMS, dict(type=MMPromptTemplate, template=dict(round=[dict(role="HUMAN", prompt_mm=dict(
        text=dict(type="text", text="{question}"),
        video=dict(type="video_url", video_url=dict(url="data:video/mp4;base64,{video}")),
        audio=dict(type="audio_url", audio_url=dict(url="data:audio/wav;base64,{audio}")),
    ))])), columns=("question", "video", "audio")),
]
"""

_GROUPED = """
summarizer = dict(
    attr="accuracy",
    dataset_abbrs=["sums_all", "sums_weighted", ["half", "accuracy"], "tail", "steps", "sums_spread", "nowhere",
                   "judged_option-judge", "judged_all"],
    summary_groups=[
        dict(name="sums_all", subsets=["half", "tail", "steps"]),
        dict(name="sums_weighted", subsets=["half", "tail", "steps"], weights=dict(half=3, tail=1, steps=2)),
        dict(name="sums_spread", subsets=["half", "tail", "steps"], std=True),
        dict(name="sums_total", subsets=["half", "tail"], sum=True),
        dict(name="judged_all", subsets=["judged_option-judge", "deep"]),
    ],
)
"""

RUNS: dict[str, str] = {
    "chat": _GENERATED + _CHATTED + 'models = [model(VLLMCustomAPIChat, "chat")]\n',
    "few": _GENERATED
    + _CHATTED
    + 'datasets = [each for each in datasets if each["abbr"] in ("opened", "few_dialogue", '
    '"stopping", "limited", "row_limits", "talk_every", "media", "judged")]\n'
    'models = [model(VLLMCustomAPIChat, "few", generation_kwargs=dict(top_p=0.9))]\n',
    "stream": _GENERATED
    + _CHATTED
    + 'models = [model(VLLMCustomAPIChat, "stream", stream=True, generation_kwargs=dict(top_p=0.9, seed=5))]\n',
    "completions": _GENERATED + f'models = [model(VLLMCustomAPI, "text", model="named", meta_template={_META}, '
    'generation_kwargs=dict(stop="END", top_k=3, repetition_penalty=1.1))]\n',
    "others": _GENERATED.replace("datasets = [", "datasets = [", 1)
    + 'datasets = datasets[:2]\nmodels = [model(TGICustomAPI, "tgi"), model(TGICustomAPI, "tgi_stream", stream=True), '
    'model(TritonCustomAPI, "triton", model_name="net"), model(MindieStreamApi, "mindie", stream=True)]\n',
    "repeats": _GENERATED + "datasets = datasets[:3] + [datasets[17], datasets[20]]\n"
    'models = [model(VLLMCustomAPIChat, "repeats", generation_kwargs=dict(temperature=0.7, num_return_sequences=3))]\n',
    "scored": _SCORED
    + 'models = [model(VLLMCustomAPI, "ppl_text_model"), model(VLLMCustomAPIChat, "ppl_chat_model")]\n',
    "wider": _WIDER
    + _TALKED
    + _GROUPED
    + 'models = [model(VLLMCustomAPIChat, "wide", model="m", generation_kwargs=dict('
    "temperature=0, top_p=0.5, top_k=7, seed=1, presence_penalty=0.1, frequency_penalty=0.2, min_p=0.1)), "
    'model(VLLMCustomAPIChat, "thinking", generation_kwargs=dict(chat_template_kwargs=dict(enable_thinking=True)), '
    "pred_postprocessor=dict(type=extract_non_reasoning_content))]\n",
    "own": _OWN + 'models = [model(VLLMCustomAPIChat, "own"), model(VLLMCustomAPI, "own_text", stream=True)]\n',
    "text_stream": _WIDER + 'datasets = datasets[:11]\nmodels = [model(VLLMCustomAPI, "text_stream", stream=True, '
    'traffic_cfg=dict(burstiness=0.5), generation_kwargs=dict(stop=["END", "FIN"]))]\n',
}
"""By name: datasets and models of a config, after what all share."""


FAILS = {
    "twice": "a turn of BOT without words behind the round's: MODEL-DATA-002",
    "system": "a BOT in the opening of a dialogue without one in its round: a TypeError",
    "talk_last": "infer_mode='last' adds a plain list to a PromptList: a RecursionError",
    "talk_system_last": "infer_mode='last' adds a plain list to a PromptList: a RecursionError",
}
"""Datasets that AISBench 3.1 itself stops at, with its reason; they are asked here, and not compared."""


def write_rows(folder: Path) -> None:
    """Write the rows that the configs read."""
    sums = [{"question": f"{i}+{i + 2}", "answer": str(2 * i + 2)} for i in range(6)]
    letters = "ABCD"
    choices = [
        {"question": f"Which is {i}+{i}?", **{each: str(2 * i + j) for j, each in enumerate(letters)}, "answer": "A"}
        for i in range(5)
    ]
    talks = [{"question": [f"{i}+1", f"{i}+2"], "answer": [str(i + 1), str(i + 2)]} for i in range(3)]
    limits = [{**row, "max_out_len": 5 + i} for i, row in enumerate(sums)]
    picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABh6FO1AAAAABJRU5ErkJggg=="
    content = f"<AIS_TEXT_START>What is this?<AIS_CONTENT_TAG><AIS_IMAGE_START>{picture}<AIS_CONTENT_TAG>"
    media = [{"question": "What is this?", "image": picture, "content": content, "answer": "x"}]
    film = {"video": "AAAAIGZ0eXA=", "audio": "UklGRg=="}
    told = "<AIS_TEXT_START>What now?<AIS_CONTENT_TAG><AIS_VIDEO_START>{video}<AIS_CONTENT_TAG><AIS_AUDIO_START>{audio}"
    films = [{"question": "What now?", **film, "content": told.format(**film) + "<AIS_CONTENT_TAG>", "answer": "x"}]
    deep = [{**row, "question": f"Think: {row['question']}"} for row in sums]
    limited = [{**row, "max_tokens": 11 + i} for i, row in enumerate(sums)]
    pairs = [{"question": f"Which is {i}+1?", "A": str(i + 1), "B": str(i), "answer": "AB"[i % 2]} for i in range(4)]
    kept: dict[str, list[dict[str, Any]]] = {
        "sums": sums,
        "choices": choices,
        "talks": talks,
        "limits": limits,
        "media": media,
        "films": films,
        "deep": deep,
        "own_qa": limited,
        "own_mcq": pairs,
        "own_sampled": limited,
        "own_shared": sums,
    }
    metas: dict[str, dict[str, Any]] = {
        "own_sampled": {"request_count": "8", "sampling_mode": "default"},
        "own_shared": {
            "request_count": 5,
            "sampling_mode": "default",
            "output_config": {"method": "percentage", "params": {"percentage_distribute": [[21, 0.5], [22, 0.5]]}},
        },
    }
    for name, meta in metas.items():
        (folder / f"{name}.jsonl.meta.json").write_text(json.dumps(meta), encoding="utf-8")
    for name, rows in kept.items():
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")


class Name(str):
    """A name of their package, written without quotation marks."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def config(name: str, folder: Path, port: int) -> str:
    """Return the text of a config: literals only, since AISBench writes it down and reads it again."""
    whole = (_HEAD + RUNS[name]).replace("{folder}", str(folder)).replace("{port}", str(port))
    text = whole.replace("{{", "{")
    known = re.findall(r"\b[A-Za-z_]\w*\b", re.sub(r"^from \S+ import", "", _IMPORTS, flags=re.MULTILINE))
    names: dict[str, Any] = {each: Name(each) for each in known}
    exec(text.replace("}}", "}"), names)  # noqa: S102 - the text of this module
    names["datasets"] = [each for each in names["datasets"] if each["abbr"] not in FAILS]
    made = (f"{each} = {names[each]!r}\n" for each in ("datasets", "models", "summarizer"))
    return _IMPORTS + "".join(made)
