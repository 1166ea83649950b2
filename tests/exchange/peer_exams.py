"""A quiz in the words of four systems, and differences to plant in it; read by tests and, in the peers' environments, by
``conformance/why/record.py``, so it imports nothing but Python."""

import re
from zlib import crc32

ROWS = [{"n": n, "question": f"What is {n} plus {n}?", "answer": f"sum {2 * n}"} for n in range(1, 7)]
EDITED = {
    "reversed": ROWS[::-1],
    "a row less": ROWS[1:],
    "answer": [*ROWS[:3], {**ROWS[3], "answer": "sum 9"}, *ROWS[4:]],
    "question": [*ROWS[:2], {**ROWS[2], "question": "How much is 3 plus 3?"}, *ROWS[3:]],
    "a row more": [*ROWS, {"n": 7, "question": "What is 7 plus 7?", "answer": "sum 14"}],
    "a row twice": [*ROWS, ROWS[0]],
}
EDITS = {f"rows: {name}": ("rows", {"rows": rows}) for name, rows in EDITED.items()}


def says(text, model="base"):
    """Answer the last question of a text: mostly right, one in other letters, one wrong, one with a full stop."""
    n = int(re.findall(r"(\d+) plus", text)[-1])
    said = {2: "SUM 4", 5: "sum 11", 6: "sum 12."}.get(n, f"sum {2 * n}")
    if model == "other":
        return {"sum 6": "six", "SUM 4": "sum 4"}.get(said, said)
    return "I would say 4" if model == "refusing" and n == 1 else said


def likelihood(context, continuation, model="base"):
    """Return a log-likelihood that only the words decide."""
    value = -1.0 - crc32(f"{context}\0{continuation}".encode()) % 997 / 100
    return value * 1.01 if model == "other" else value


LM_EVAL = {
    "task": "quiz",
    "dataset_path": "json",
    "test_split": "test",
    "fewshot_split": "test",
    "num_fewshot": 1,
    "output_type": "generate_until",
    "doc_to_text": "{{question}}",
    "doc_to_target": "{{answer}}",
    "generation_kwargs": {"until": ["\n"], "max_gen_toks": 16, "do_sample": False},
    "filter_list": [{"name": "none", "filter": [{"function": "take_first"}]}],
    "metric_list": [{"metric": "exact_match", "ignore_case": False}],
}
CHOICES = {
    "task": "quiz",
    "dataset_path": "json",
    "test_split": "test",
    "output_type": "multiple_choice",
    "doc_to_text": "{{question}}",
    "doc_to_target": 1,
    "doc_to_choice": ["less", "{{answer}}", "more"],
    "metric_list": [{"metric": "acc"}],
}


def _kwargs(**changed):
    return {"task": {"generation_kwargs": {**LM_EVAL["generation_kwargs"], **changed}}}


def _filter(**step):
    return {"task": {"filter_list": [{"name": "none", "filter": [step, {"function": "take_first"}]}]}}


def _metric(**options):
    return {"task": {"metric_list": [{"metric": "exact_match", **options}]}}


LM_EVAL_VARIANTS = {
    "a space in the template": ("prompt", {"task": {"doc_to_text": "{{question}} "}}),
    "a line break in the template": ("prompt", {"task": {"doc_to_text": "{{question}}\n"}}),
    "a word in the template": ("prompt", {"task": {"doc_to_text": "Q: {{question}}"}}),
    "two demos": ("prompt", {"task": {"num_fewshot": 2}}),
    "no demos": ("prompt", {"task": {"num_fewshot": 0}}),
    "a description": ("prompt", {"task": {"description": "Add.\n"}}),
    "another delimiter of targets": ("prompt", {"task": {"target_delimiter": ": "}}),
    "another delimiter of demos": ("prompt", {"task": {"fewshot_delimiter": "\n"}}),
    "a system prompt": ("prompt", {"system": "Be brief."}),
    "the first rows as demos": ("prompt", {"task": {"fewshot_config": {"sampler": "first_n"}}}),
    "a stop string": ("decoding", _kwargs(until=["."])),
    "fewer tokens": ("decoding", _kwargs(max_gen_toks=3)),
    "a temperature": ("decoding", _kwargs(do_sample=True, temperature=0.7)),
    "another model": ("answer", {"model": "other"}),
    "a model that refuses once": ("answer", {"model": "refusing"}),
    "a filter": ("extraction", _filter(function="regex", regex_pattern="(sum [0-9])")),
    "a filter that lowers": ("extraction", _filter(function="lowercase")),
    "case does not count": ("metric", _metric(ignore_case=True)),
    "punctuation does not count": ("metric", _metric(ignore_punctuation=True)),
    "numbers do not count": ("metric", _metric(ignore_numbers=True)),
    **{name: (layer, {**change, "base": "bare"}) for name, (layer, change) in EDITS.items()},
    "choices: a space in the template": ("prompt", {"base": "choices", "task": {"doc_to_text": "{{question}} "}}),
    "choices: another choice": (
        "prompt",
        {"base": "choices", "task": {"doc_to_choice": ["fewer", "{{answer}}", "more"]}},
    ),
    "choices: another model": ("answer", {"base": "choices", "model": "other"}),
}
LM_EVAL_BASES = {"demos": LM_EVAL, "bare": {**LM_EVAL, "num_fewshot": 0}, "choices": CHOICES}

UNITXT_TEMPLATE = {
    "__type__": "input_output_template",
    "input_format": "{question}",
    "output_format": "{answer}",
    "postprocessors": ["processors.to_string_stripped"],
}
UNITXT_TASK = {
    "__type__": "task",
    "input_fields": {"question": "str"},
    "reference_fields": {"answer": "str"},
    "prediction_type": "str",
    "metrics": ["metrics.accuracy"],
}


def unitxt_card(change):
    """Return a card of the quiz with a change: ``rows``, ``template``, ``task``."""
    rows = change.get("rows", ROWS)
    return {
        "__type__": "task_card",
        "loader": {"__type__": "load_from_dictionary", "data": {"train": ROWS, "test": rows}},
        "task": {**UNITXT_TASK, **change.get("task", {})},
        "templates": {"simple": {**UNITXT_TEMPLATE, **change.get("template", {})}},
    }


def unitxt_query(change):
    """Return the recipe of the quiz with a change: ``recipe``."""
    return {
        "card": "cards.quiz",
        "template": "templates.quiz",
        "num_demos": 1,
        "demos_pool_size": 4,
        **change.get("recipe", {}),
    }


UNITXT_VARIANTS = {
    "a space in the template": ("prompt", {"template": {"input_format": "{question} "}}),
    "a sign in the template": ("prompt", {"template": {"input_format": "{question} ="}}),
    "a word in the template": ("prompt", {"template": {"input_format": "Q: {question}"}}),
    "an instruction": ("prompt", {"template": {"instruction": "Add."}}),
    "a prefix of the answer": ("prompt", {"template": {"target_prefix": "Answer: "}}),
    "two demos": ("prompt", {"recipe": {"num_demos": 2}}),
    "no demos": ("prompt", {"recipe": {"num_demos": 0, "demos_pool_size": 0}}),
    "a format": ("prompt", {"recipe": {"format": "formats.human_assistant"}}),
    "another model": ("answer", {"model": "other"}),
    "a model that refuses once": ("answer", {"model": "refusing"}),
    "a processor that lowers": ("extraction", {"template": {"postprocessors": ["processors.lower_case"]}}),
    "a processor that takes a letter": ("extraction", {"template": {"postprocessors": ["processors.first_character"]}}),
    "another metric": ("metric", {"task": {"metrics": ["metrics.char_edit_dist_accuracy"]}}),
    **{
        name: (layer, {**change, "recipe": {"num_demos": 0, "demos_pool_size": 0}, "base": "bare"})
        for name, (layer, change) in EDITS.items()
    },
}
UNITXT_BASES = {"demos": {}, "bare": {"recipe": {"num_demos": 0, "demos_pool_size": 0}}}

GENERATE = {"name": "generate", "args": {"max_tokens": 16, "stop_seqs": ["\n"]}}
INSPECT = {
    "id": "quiz",
    "split": "test",
    "config": "default",
    "field_spec": {"input": "question", "target": "answer"},
    "solvers": [GENERATE],
    "scorers": [{"name": "match", "args": {"location": "exact"}}],
}


def _solved(*solvers):
    return {"task": {"solvers": [*solvers, GENERATE]}}


def _scored(name, **options):
    return {"task": {"scorers": [{"name": name, **({"args": options} if options else {})}]}}


def _written(**options):
    return {"task": {"solvers": [{"name": "generate", "args": {**GENERATE["args"], **options}}]}}


INSPECT_VARIANTS = {
    "a space in the template": ("prompt", _solved({"name": "prompt_template", "args": {"template": "{prompt} "}})),
    "a line break in the template": (
        "prompt",
        _solved({"name": "prompt_template", "args": {"template": "{prompt}\n"}}),
    ),
    "a word in the template": ("prompt", _solved({"name": "prompt_template", "args": {"template": "Q: {prompt}"}})),
    "a system message": ("prompt", _solved({"name": "system_message", "args": {"template": "Be brief."}})),
    "another system message": ("prompt", _solved({"name": "system_message", "args": {"template": "Be very brief."}})),
    "a message of the user": ("prompt", _solved({"name": "user_message", "args": {"template": "Say: 1 plus 1"}})),
    "another model": ("answer", {"model": "other"}),
    "a model that refuses once": ("answer", {"model": "refusing"}),
    "a stop string": ("decoding", _written(stop_seqs=["."])),
    "fewer tokens": ("decoding", _written(max_tokens=3)),
    "case counts": ("metric", _scored("match", location="exact", ignore_case=False)),
    "anywhere is enough": ("extraction", _scored("includes")),
    "a pattern": ("extraction", _scored("pattern", pattern="(sum [0-9])")),
    **EDITS,
    "rows: question": ("prompt", {"rows": EDITED["question"]}),  # a log holds what was asked, not the row
}
INSPECT_BASES = {"plain": {}}

AISBENCH_HEAD = """
from ais_bench.benchmark.models import VLLMCustomAPIChat
from ais_bench.benchmark.openicl.icl_prompt_template import PromptTemplate
from ais_bench.benchmark.openicl.icl_retriever import FixKRetriever, ZeroRetriever
from ais_bench.benchmark.openicl.icl_inferencer import GenInferencer
from ais_bench.benchmark.openicl.icl_evaluator import AccEvaluator, MATHEvaluator
from ais_bench.benchmark.datasets import Aime2025Dataset
from ais_bench.benchmark.utils.postprocess.text_postprocessors import (
    first_capital_postprocess, last_option_postprocess
)


def made(abbr, rows, template, ids=(), evaluator=AccEvaluator, **more):
    answered = dict(round=[dict(role="HUMAN", prompt="{question}"), dict(role="BOT", prompt="{answer}")])
    infer = dict(
        prompt_template=dict(type=PromptTemplate, template=template, ice_token="</E>"),
        retriever=dict(type=FixKRetriever, fix_id_list=list(ids)) if ids else dict(type=ZeroRetriever),
        inferencer=dict(type=GenInferencer),
    )
    if ids:
        infer["ice_template"] = dict(type=PromptTemplate, template=answered)
    return dict(
        abbr=abbr, type=Aime2025Dataset, path=f"FOLDER/{rows}.jsonl",
        reader_cfg=dict(input_columns=["question"], output_column="answer"), infer_cfg=infer,
        eval_cfg=dict(evaluator=dict(type=evaluator), **more),
    )


def said(prompt, begin=None):
    return dict(begin=list(begin or []) + ["</E>"], round=[dict(role="HUMAN", prompt=prompt)])


BASE = said("{question}")
SYSTEM = [dict(role="SYSTEM", fallback_role="HUMAN", prompt="Be brief.")]
summarizer = dict(attr="accuracy")
"""
AISBENCH_VARIANTS = {
    "base": ("", 'made("base", "rows", BASE)'),
    "a space in the template": ("prompt", 'made("space", "rows", said("{question} "))'),
    "a line break in the template": ("prompt", 'made("line", "rows", said("{question}\\n"))'),
    "a word in the template": ("prompt", 'made("word", "rows", said("Q: {question}"))'),
    "a system prompt": ("prompt", 'made("system", "rows", said("{question}", SYSTEM))'),
    "a demo": ("prompt", 'made("demo", "rows", BASE, ids=[0])'),
    "two demos": ("prompt", 'made("demos", "rows", BASE, ids=[0, 2])'),
    "a capital": (
        "extraction",
        'made("capital", "rows", BASE, pred_postprocessor=dict(type=first_capital_postprocess))',
    ),
    "a letter": (
        "extraction",
        'made("letter", "rows", BASE, pred_postprocessor=dict(type=last_option_postprocess, options="ABCD"))',
    ),
    "another evaluator": ("metric", 'made("evaluator", "rows", BASE, evaluator=MATHEvaluator)'),
    "rows: reversed": ("rows", 'made("reversed", "reversed", BASE)'),
    "rows: a row less": ("rows", 'made("less", "a_row_less", BASE)'),
    "rows: answer": ("rows", 'made("answer", "answer", BASE)'),
    "rows: question": ("prompt", 'made("question", "question", BASE)'),  # predictions hold no rows
    "rows: a row more": ("rows", 'made("more", "a_row_more", BASE)'),
    "rows: a row twice": ("rows", 'made("twice", "a_row_twice", BASE)'),
    "another model": ("answer", "other"),
    "a model that refuses once": ("answer", "refusing"),
}


def aisbench_config(folder, models):
    """Return a config with all datasets; ``folder`` holds their rows, ``models`` is source of a list."""
    made = [source for _, source in AISBENCH_VARIANTS.values() if source.startswith("made(")]
    listed = ",\n    ".join(made)
    return f"{AISBENCH_HEAD.replace('FOLDER', str(folder))}\ndatasets = [\n    {listed},\n]\nmodels = {models}\ndel made, said\n"


def aisbench_name(variant):
    """Return the dataset and the model behind a variant."""
    source = AISBENCH_VARIANTS[variant][1]
    return (source.split('"')[1], "base") if source.startswith("made(") else ("base", source)
