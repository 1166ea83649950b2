"""Texts, predictions and results for ``scoring.py``; all drawn from one seeded stream."""
# ruff: noqa: E501, RUF001 - lists of cases, in several scripts

from __future__ import annotations

import random
from typing import Any

OC, AIS = "opencompass", "aisbench"
TEXTS = 10_000
SINGLE = 100
"""Summaries with one metric for each dataset; the others have several."""

_STARTS = (
    "答案是", "答案是：", "答案:", "答案选项应该是", "答案选项为 ", "答案为", "答案选", "选择", "故选", "只有选项", "说法不正确的是", "所以", "因此",
    "显然", "The answer is ", "the answer is: ", "The answer is option ", "The correct answer is ", "The correct option is: \\boxed{",
    "ANSWER: ", "answer :", "Answer:", "So the final answer is ", "The final answer is ", "The final answer is: ", "The answer to the question is ",
    "#### ", "选项", "1. ", "I think ", "", "", "**", "\\boxed{", "$", "\\frac", "\\sqrt", "Question:", "答え", "Antwort: ", "<think>", "</think>",
    "```python\n", "```", "<material>", "所以最终答案是", "## 解题答案", "Neither ", "Both ", "is ", "final answer: ", "{{", "- ",
)  # fmt: skip
_MIDDLES = (
    "A", "B", "C", "D", "E", "(A)", "(b)", "**C**", "A.", "B:", "ABD", "yes", "No.", "True", "false", "3", "-4.5", "1,000", "2,345.67", ".5", "1/2",
    "0.5", "x=3", "\\frac{1}{2}", "\\frac12", "\\sqrt2", "\\text{ cm}", "10\\%", "5 dollars", "the cat", "a dog, an owl", "北京 天气", "很好。", "Ünïcode Ⅳ",
    "\n", "\n\n", "。", "，", ".", ",", " ", "}", "{", "$", "**", "</material>", "```", "word word", "\t", "°", "^{\\circ}", "(3, 4)", "[1, 2]", "''", '"',
)  # fmt: skip
_ENDS = (
    "",
    ".",
    "。",
    "\n",
    " 是正确的",
    "是正确答案",
    "正确",
    "选项",
    "}",
    ")",
    "$",
    "**",
    ".\nQuestion: next 5",
    "</think> B",
    ",",
    " # done",
    "\n\n\nx",
    "!",
)


def texts(stream: random.Random, count: int = TEXTS) -> list[str]:
    """Return texts of the kind that models answer with, and worse."""
    made = ["", " ", "A", "\n", "答案是", "ANSWER:"]
    while len(made) < count:
        parts = []
        for _ in range(stream.randint(1, 3)):
            parts += [
                stream.choice(_STARTS),
                *(stream.choice(_MIDDLES) for _ in range(stream.randint(0, 4))),
                stream.choice(_ENDS),
            ]
            parts.append(stream.choice(["", " ", "\n"]))
        made.append("".join(parts))
    return made


def processor(project: str, module: str, function: str, *, alone: bool = False, **arguments: Any) -> dict[str, Any]:
    """Return a case: a post-processor with its arguments."""
    return {"project": project, "module": module, "function": function, "alone": alone, "arguments": arguments}


def processors() -> list[dict[str, Any]]:
    """Return all post-processors that are compared."""
    plain = (
        "general_postprocess", "general_cn_postprocess", "first_capital_postprocess", "last_capital_postprocess",
        "first_capital_postprocess_multi", "first_number_postprocess", "multiple_select_postprocess",
    )  # fmt: skip
    made = []
    for project, module in ((OC, "utils.text_postprocessors"), (AIS, "utils.postprocess.text_postprocessors")):
        made += [processor(project, module, name) for name in plain]
        for options in ("ABCD", "AB", "ABCDE"):
            made.append(processor(project, module, "first_option_postprocess", options=options))
            made.append(processor(project, module, "last_option_postprocess", options=options))
        made.append(processor(project, module, "first_option_postprocess", options="ABCD", cushion=False))
        made.append(processor(project, module, "xml_tag_postprocessor", tag="<material>"))
        made.append(processor(project, module, "match_answer_pattern", answer_pattern=r"(?i)ANSWER\s*:\s*([A-D])"))
    made += [
        processor(OC, "utils.text_postprocessors", "think_pred_postprocess", re_pattern=r"(?s)</think>(.*)"),
        processor(OC, "utils.text_postprocessors", "extract_non_reasoning_content"),
        processor(AIS, "utils.postprocess.text_postprocessors", "first_option_postprocess_v1", options="ABCD"),
        processor(AIS, "utils.postprocess.model_postprocessors", "extract_non_reasoning_content"),
    ]
    both = (("gsm8k", "gsm8k_postprocess"), ("bbh", "bbh_mcq_postprocess"), ("bbh", "bbh_freeform_postprocess"), ("math", "math_postprocess"),
            ("math", "math_postprocess_v2"), ("xsum", "Xsum_postprocess"), ("lcsts", "lcsts_postprocess"),
            ("gpqa", "GPQA_Simple_Eval_postprocess"), ("humaneval", "humaneval_postprocess_v2"), ("humaneval", "humaneval_postprocess_v3"))  # fmt: skip
    for module, function in both:
        made += [processor(project, f"datasets.{module}", function, alone=project == OC) for project in (OC, AIS)]
    alone = (
        ("scibench", "scibench_postprocess", {}), ("OlympiadBench", "olympiadbench_postprocess_v2", {}),
        ("OlympiadBench", "olympiadbench_postprocess_v2", {"is_chinese": True}),
        ("OlympiadBench", "olympiadbench_postprocess_v2", {"is_deepseek": True}), ("record", "ReCoRD_postprocess", {}),
        ("charm", "charm_reason_postprocess", {}), ("mathbench", "mathbench_postprocess", {"name": "cloze_en"}),
        ("mathbench", "mathbench_postprocess", {"name": "cloze_cn"}), ("cmrc", "cmrc_postprocess", {}), ("drcd", "drcd_postprocess", {}),
        ("flores", "flores_postprocess", {}), ("flores", "flores_postprocess_chinese", {}), ("bbeh", "bbeh_freeform_postprocess", {}),
        ("bbeh", "bbeh_mcq_postprocess", {}), ("mgsm", "mgsm_postprocess", {"lang": "en"}), ("mgsm", "mgsm_postprocess", {"lang": "de"}),
        ("mgsm", "mgsm_postprocess", {"lang": "zh"}), ("game24", "game24_postprocess", {}), ("strategyqa", "strategyqa_pred_postprocess", {}),
        ("strategyqa", "strategyqa_dataset_postprocess", {}), ("crowspairs", "crowspairs_postprocess", {}),
        ("leval.leval_gsm100", "gsm100_postprocess", {}), ("leval.leval_gsm100", "gsm100_dataset_postprocess", {}),
        ("infinitebench.utils", "InfiniteBench_first_number_postprocess", {}), ("longbench.longbench_trivia_qa", "triviaqa_postprocess", {}),
        ("TheoremQA.legacy", "TheoremQA_postprocess", {}), ("TheoremQA.legacy", "TheoremQA_postprocess_v2", {}),
        ("SciReasoner.composition_material", "material_postprocessor", {}),
        ("humaneval", "humaneval_internal_v2_postprocess", {}), ("gsm8k", "gsm8k_dataset_postprocess", {}),
    )  # fmt: skip
    return made + [
        processor(OC, f"datasets.{module}", name, alone=True, **arguments) for module, name, arguments in alone
    ]


def evaluators(stream: random.Random, drawn: list[str]) -> list[dict[str, Any]]:
    """Return all cases for evaluators."""
    made = []
    letters = [stream.choice("ABCD") for _ in range(400)]

    def rows(count: int, abbr: str = "set", **columns: list[Any]) -> list[dict[str, Any]]:
        return [
            {"subdivision": abbr, "idx": i, **{name: column[i] for name, column in columns.items()}}
            for i in range(count)
        ]

    def case(project: str, module: str, kind: str, predictions: list[Any], references: list[Any], **more: Any) -> None:
        made.append({"project": project, "module": module, "type": kind, "predictions": predictions, "references": references,
                     "rows": more.get("rows") or rows(len(predictions)), "arguments": more.get("arguments", {}),
                     "k": more.get("k"), "n": more.get("n", 1), "alone": more.get("alone", False)})  # fmt: skip

    hf = "openicl.icl_evaluator.icl_hf_evaluator"
    for project in (OC, AIS):
        of_oc = project == OC
        for size in (1, 7, 100):
            gold = stream.sample(letters, size)
            near = [letter if stream.random() < 0.6 else stream.choice(["", "A", "None", "B"]) for letter in gold]
            case(project, hf, "AccEvaluator", near, gold)
            case(project, hf, "AccwithDetailsEvaluator", near, gold)
            case(project, hf, "MccEvaluator", ["ABCD".find(x) for x in near], ["ABCD".find(x) for x in gold])
            kinds = [
                stream.choice(["clean", "input contamination", "input-and-label contamination", "not labeled"])
                for _ in gold
            ]
            if size == 100:
                case(project, hf, "AccContaminationEvaluator", near, gold, rows=rows(size, is_clean=kinds))
        for _ in range(6):
            given, gold = stream.sample(drawn, 40), stream.sample(drawn, 40)
            gold = [stream.choice([one, text]) for one, text in zip(given, gold, strict=True)]
            case(project, hf, "RougeEvaluator", given, gold)
            case(project, "openicl.icl_evaluator.icl_jieba_rouge_evaluator", "JiebaRougeEvaluator", given, gold)
            case(project, hf, "BleuEvaluator", given, gold)
            case(project, hf, "SquadEvaluator", given, gold)
            case(
                project,
                "datasets.lambada",
                "LambadaEvaluator",
                given,
                [text.split(" ")[0] for text in gold],
                alone=of_oc,
            )
            nested = [[text, other] for text, other in zip(gold, given[::-1], strict=True)]
            case(project, "datasets.triviaqa", "TriviaQAEvaluator", given, nested, alone=of_oc)
            candidates = [
                {"candidates": [["A", text], other], "label": stream.randint(0, 1)}
                for text, other in zip(gold, given[::-1], strict=True)
            ]
            case(project, hf, "EDAccEvaluator", given, candidates)
            numbers = [stream.choice(["3", "-4", "12", "1000"]) for _ in given]
            close = [stream.choice([number, f"{number}.0", f"{number}.5", "NULL", "x"]) for number in numbers]
            case(project, "datasets.gsm8k", "Gsm8kEvaluator", close, numbers, alone=of_oc)
            case(project, "datasets.bbh", "BBHEvaluator", given, gold, alone=of_oc)
            case(project, "datasets.bbh", "BBHEvaluator_mcq", given, gold, alone=of_oc)
            case(
                project,
                "datasets.drop_simple_eval",
                "DropOpenAIEvaluator",
                given,
                [f"{text}|{other}" for text, other in zip(gold, given[::-1], strict=True)],
                alone=of_oc,
            )
            case(project, "datasets.mgsm", "MGSM_Evaluator", given, gold, alone=of_oc)
            case(
                project,
                "datasets.mmlu_pro",
                "MMLUProBaseEvaluator",
                given,
                [f"{stream.choice('ABC')}. {text}\n" for text in gold],
                alone=of_oc,
            )
            case(project, "datasets.gpqa", "GPQAEvaluator", given, gold, alone=of_oc)
            optioned = rows(40, **{key: [stream.choice(drawn) for _ in given] for key in "ABCD"})
            case(
                project,
                "datasets.custom",
                "OptionSimAccEvaluator",
                given,
                stream.sample(letters, 40),
                rows=optioned,
                arguments={"options": list("ABCD")},
                alone=True,
            )
            if of_oc:
                _opencompass(case, stream, given, gold, nested)
            else:
                case(AIS, hf, "LEvalEMEvaluator", given, gold)
        _over_runs(case, stream, project)
    case(AIS, "openicl.icl_evaluator.math_evaluator", "MATHEvaluator", *_verifiable(stream))
    return made


def _opencompass(case: Any, stream: random.Random, given: list[str], gold: list[str], nested: list[Any]) -> None:
    case(OC, "openicl.icl_evaluator.icl_em_evaluator", "EMEvaluator", given, nested)
    case(OC, "datasets.natural_question", "NQEvaluator", given, nested, alone=True)
    for version in ("v1", "v2"):
        case(OC, "datasets.math", "MATHEvaluator", given, gold, arguments={"version": version}, alone=True)
        pairs = [stream.sample(_LATEX, 2) for _ in range(60)]
        case(
            OC,
            "datasets.math",
            "MATHEvaluator",
            [a for a, _ in pairs],
            [b for _, b in pairs],
            arguments={"version": version},
            alone=True,
        )
    chances = [[p := stream.random(), 1 - p] for _ in range(40)]
    case(
        OC,
        "openicl.icl_evaluator.icl_aucroc_evaluator",
        "AUCROCEvaluator",
        chances,
        [stream.randint(0, 1) for _ in chances],
    )
    orders = ["ABCD", "BCDA", "CDAB", "DABC"]
    refs = [f"{i}--{stream.choice('ABCD')}--{order}" for i in range(10) for order in orders]
    case(OC, "openicl.icl_evaluator.icl_circular_evaluator", "CircularEvaluator",
         [stream.choice([ref.split("--")[1], stream.choice("ABCDX")]) for ref in refs], refs)  # fmt: skip
    turned = [(i, list(order), stream.choice("ABCD")) for i in range(10) for order in orders]
    rows = [
        {"qid": i, "circular_pattern": order, "subdivision": "s", "idx": i, **dict.fromkeys("ABCD", "text")}
        for i, order, _ in turned
    ]
    near = [stream.choice([ref, stream.choice("ABCD")]) for _, _, ref in turned]
    for name, module, arguments in (("CircularEvaluator", "datasets.circular", {}),
                                    ("CircularOptionSimAccEvaluator", "datasets.custom", {"options": list("ABCD")})):  # fmt: skip
        case(OC, module, name, near, [ref for _, _, ref in turned], rows=rows, arguments=arguments, alone=True)


_LATEX = [
    "\\frac{1}{2}", "\\frac12", "0.5", "1/2", "\\dfrac{1}{2}", ".5", "x=5", "5", "5.0", "5.00", "\\sqrt2", "\\sqrt{2}", "10\\%", "10", "90^\\circ", "90",
    "(3, 4)", "(3,4)", "\\left(3,4\\right)", "\\text{even}", "even", "5 \\text{ cm}", "5\\text{cm}", "1,000", "1000", "\\$5", "\\infty", "inf", "3j", "3i",
    "\\mbox{no}", "", "2\\cdot 3", "\\frac1{72}", "a/b", "\\text{ a}\\text{ b}", "\\sqrt", "-0", "5.", "x\\in[1,2]", "[1,2]", "k = 3", "3", "\\boxed{3}",
]  # fmt: skip


def _verifiable(stream: random.Random) -> tuple[list[str], list[str]]:
    answers = [
        "\\frac{1}{2}",
        "0.5",
        "5",
        "5.0",
        "\\sqrt{2}",
        "x^2+1",
        "1+x^2",
        "(3,4)",
        "10",
        "-3",
        "2\\pi",
        "1000",
        "[1,2]",
    ]
    pairs = [stream.sample(answers, 2) if stream.random() < 0.5 else [stream.choice(answers)] * 2 for _ in range(60)]
    return [f"so \\boxed{{{a}}}" for a, _ in pairs], [b for _, b in pairs]


def _over_runs(case: Any, stream: random.Random, project: str) -> None:
    module, kind = "openicl.icl_evaluator.icl_hf_evaluator", "AccwithDetailsEvaluator"
    for size, n, k in ((10, 4, [1, 2, 4]), (6, 3, 2), (5, 8, [2, 5, 8]), (4, 2, 1), (12, 5, [3])):
        names = [f"{stream.choice(['algebra', 'geometry'])}_test" for _ in range(size)]
        order = (
            [r for _ in range(n) for r in range(size)] if project == OC else [r for r in range(size) for _ in range(n)]
        )
        gold = [f"g{r}" for r in order]
        near = [text if stream.random() < 0.5 else "wrong" for text in gold]
        rows = [{"subdivision": names[r], "idx": r, "answer": f"g{r}"} for r in order]
        case(project, module, kind, near, gold, rows=rows, k=k, n=n)
        case(project, module, "AccEvaluator", near, gold, rows=rows, k=k, n=n)


def summaries(stream: random.Random) -> list[dict[str, Any]]:
    """Return all cases for summarizers."""
    made: list[dict[str, Any]] = []
    for number in range(120):
        project = (OC, AIS)[number % 2]
        names = [f"set-{i}" for i in range(stream.randint(1, 6))]
        several = number >= SINGLE  # upstream takes a group's metrics from a set: several come in any order
        kinds = [("accuracy",), ("score",), ("accuracy", "bp"), ("mine",)]
        kinds += [("rouge1", "rouge2"), ("accuracy", "f1")] if several else []
        metric = {name: stream.choice(kinds) for name in names}
        results = {
            model: {name: _scores(stream, metric[name]) for name in names if stream.random() < 0.9}
            for model in ("model-a", "model-b")[: stream.randint(1, 2)]
        }
        datasets = [_dataset(stream, project, name) for name in names]
        groups = _groups(stream, names, metric)
        drawn = stream.choice(
            [
                None,
                [*names, "absent", *(group["name"] for group in groups)],
                [[names[0], metric[names[0]][0]], "", names[-1]],
            ]
        )
        wanted = None if several else drawn
        summarizer = {"summary_groups": groups, **({"dataset_abbrs": wanted} if wanted else {})}
        made.append(
            {
                "name": f"case-{number}",
                "project": project,
                "results": results,
                "datasets": datasets,
                "summarizer": summarizer,
            }
        )
    return made


def _scores(stream: random.Random, metrics: tuple[str, ...]) -> dict[str, Any]:
    if stream.random() < 0.05:
        return {"error": "no predictions"}
    return {metric: stream.choice([round(100 * stream.random(), 4), stream.randint(0, 100)]) for metric in metrics} | {
        "details": {}
    }


def _dataset(stream: random.Random, project: str, name: str) -> dict[str, Any]:
    top = "opencompass" if project == OC else "ais_bench.benchmark"
    kind = stream.choice(
        ["GenInferencer", "PPLInferencer", "LLInferencer" if project == OC else "GenInferencer", "OtherThing"]
    )
    retriever = stream.choice(
        [
            {"type": f"{top}.openicl.icl_retriever.ZeroRetriever"},
            {"type": f"{top}.x.FixKRetriever", "fix_id_list": [0, 2]},
        ]
    )
    return {
        "abbr": name, "type": "X", "path": name, "reader_cfg": {"input_columns": ["q"], "output_column": "a"},
        "infer_cfg": {
            "prompt_template": {"type": f"{top}.openicl.icl_prompt_template.PromptTemplate", "template": {"round": [{"role": "HUMAN", "prompt": f"é {stream.random()}"}]}},
            "retriever": retriever, "inferencer": {"type": f"{top}.openicl.icl_inferencer.{kind}"},
        },
    }  # fmt: skip


def _groups(stream: random.Random, names: list[str], metric: dict[str, tuple[str, ...]]) -> list[dict[str, Any]]:
    groups: list[dict[str, Any]] = []
    for number in range(stream.randint(0, 4)):
        subsets: list[Any] = stream.sample(names, stream.randint(1, len(names)))
        how = stream.choice(["plain", "weights", "std", "sum", "harmonic_mean", "metric", "pairs", "nested"])
        group: dict[str, Any] = {"name": f"group-{number}", "subsets": subsets}
        if how == "weights":
            group["weights"] = {name: stream.randint(0, 5) + (i == 0) for i, name in enumerate(subsets)}
        elif how == "metric":
            group["metric"] = "mine"
        elif how == "pairs":
            group["subsets"] = [[name, metric[name][0]] for name in subsets]
        elif how == "nested" and groups:
            group["subsets"] = [*subsets, groups[-1]["name"]]
        elif how in ("std", "sum", "harmonic_mean"):
            group[how] = True
        groups.append(group)
    return groups
