"""Programs in the form of the frameworks that bring models to lm-eval; results are lm-eval 0.4.13's, of the same programs."""

import json

import pytest
import tests_warm

ROWS = [
    {"q": "a b", "a": "c", "c": ["a", "c"]},
    {"q": "hi user a", "a": "hi", "c": ["hi", "b a", "user"]},
    {"q": "c c b", "a": "b", "c": ["b", "user b"]},
]
KEYS = """
dataset_path: json
dataset_kwargs: {data_files: {test: rows.jsonl}}
test_split: test
doc_to_text: "{{q}}"
doc_to_target: "{{a}}"
"""
TASKS = {
    "writes": 'output_type: generate_until\ngeneration_kwargs: {until: ["\\n"], max_gen_toks: 2}\n',
    "chooses": "output_type: multiple_choice\ndoc_to_choice: '{{c}}'\nmetric_list: [{metric: acc}]\n",
    "reads": "output_type: loglikelihood_rolling\ndoc_to_target: '{{q}}'\nmetric_list: [{metric: word_perplexity}]\n",
}
START = """
import json, zlib

import lm_eval
from lm_eval import evaluator, simple_evaluate, tasks
from lm_eval.api.instance import Instance
from lm_eval.api.model import LM, TemplateLM
from lm_eval.api.registry import register_model


def value(*said):
    return -(zlib.crc32(repr(said).encode()) % 1000) / 100 - 0.01


def told(found):
    keys = {"writes": "exact_match,none", "chooses": "acc,none", "reads": "word_perplexity,none"}
    scores = {name: round(row[keys[name.split("-")[0]]], 4) for name, row in found["results"].items()}
    resps = {name: [each["resps"][0][0] for each in rows] for name, rows in found["samples"].items()}
    print(json.dumps([scores, [resps[name] for name in resps if name.startswith("writes")][0]]))


manager = tasks.TaskManager(include_path=".", include_defaults=False)
NAMES = ["writes", "chooses", "reads"]
"""

MLX_LM = """
def chat_template_fn(**extra):
    def apply_chat_template(self, chat_history, add_generation_prompt=True):
        return self.tokenizer(chat_history, add_generation_prompt, **extra)

    return apply_chat_template


@register_model("mlxlm")
class MLXLM(LM):
    tokenizer_name = "tok"
    apply_chat_template = chat_template_fn(open="<a>")

    def __init__(self, use_chat_template):
        super().__init__()
        self.use_chat_template = use_chat_template
        self.tokenizer = lambda turns, ends, open: "".join(f"<{m['role']}>{m['content']}" for m in turns) + open * ends

    def loglikelihood(self, requests):
        return [(value(*each.args), False) for each in requests]

    def loglikelihood_rolling(self, requests):
        return [value(each.args[0]) for each in requests]

    def generate_until(self, requests):
        contexts, options = zip(*[each.args for each in requests])
        return [f"{text}|{json.dumps(how, sort_keys=True)}" for text, how in zip(contexts, options)]


for chats in (False, True):
    lm = MLXLM(chats)
    told(simple_evaluate(
        model=lm, tasks=NAMES, fewshot_as_multiturn=chats, apply_chat_template=lm.use_chat_template, num_fewshot=0,
        limit=2, random_seed=1, numpy_random_seed=1, torch_random_seed=1, fewshot_random_seed=1,
        system_instruction="S" if chats else None, task_manager=manager,
    ))
"""
LINGUA = """
class MockAccelerator:
    def gather(self, tensor):
        return [tensor]

    def wait_for_everyone(self):
        pass


class EvalHarnessLM(LM):
    def __init__(self, generator):
        super().__init__()
        self.generator, self.accelerator = generator, MockAccelerator()
        self._rank, self._world_size, self.device = 0, 1, "cpu"

    def generate_until(self, requests):
        prompts, arguments = zip(*[each.args for each in requests])
        assert all(each == arguments[0] for each in arguments)
        return [text.replace(arguments[0].get("until", [])[0], "") for text in self.generator(prompts)]

    def loglikelihood(self, requests):
        return [(value("".join(each.args)), True) for each in requests]

    def loglikelihood_rolling(self, requests):
        return [value(each.args[0]) for each in requests]


told(simple_evaluate(
    EvalHarnessLM(lambda prompts: [f"{each.split()[-1]}\\n!" for each in prompts]), tasks=NAMES, task_manager=manager,
    num_fewshot=None, device=None, use_cache=None, check_integrity=False, write_out=False, log_samples=True,
    system_instruction=None, apply_chat_template=False, fewshot_as_multiturn=False, gen_kwargs=None, verbosity="INFO",
    predict_only=False, random_seed=0, numpy_random_seed=1234, torch_random_seed=1234, fewshot_random_seed=1234,
))
"""
LEVANTER = """
class LevanterHarnessLM(TemplateLM):
    eot_token_id = property(lambda self: 0)

    def tok_encode(self, string, add_special_tokens=None, **more):
        return [zlib.crc32(each.encode()) % 50 for each in string.split()]

    def _loglikelihood_tokens(self, requests, **more):
        return [(value(context, continuation), False) for _, context, continuation in requests]

    def loglikelihood_rolling(self, requests, disable_tqdm=False):
        return [value(self.tok_encode(each.args[0])) for each in requests]

    def generate_until(self, requests, disable_tqdm=False):
        return [each.args[0].split()[-1] for each in requests]


found = {}
for name in NAMES:
    task = tasks.get_task_dict([name], manager).popitem()[1]
    task.config.task = f"{name}-own"
    if task.get_config("num_fewshot") is None and task.OUTPUT_TYPE != "generate_until":
        task.set_config(key="num_fewshot", value=0)
    task.set_fewshot_seed(seed=7)
    found[f"{name}-own"] = task
told(evaluator.evaluate(
    LevanterHarnessLM(), found, limit=3, bootstrap_iters=0, confirm_run_unsafe_code=True, apply_chat_template=False
))
"""
HOW = '|{"max_gen_toks": 2, "until": ["\\n"]}'
TOLD = {
    "mlx-lm": (
        MLX_LM,
        [
            [{"writes": 0.0, "chooses": 0.0, "reads": 6.3091}, [f"a b{HOW}", f"hi user a{HOW}"]],
            [
                {"writes": 0.0, "chooses": 0.5, "reads": 6.3091},
                [f"<system>S<user>a b<a>{HOW}", f"<system>S<user>hi user a<a>{HOW}"],
            ],
        ],
    ),
    "lingua": (LINGUA, [[{"writes": 0.0, "chooses": 0.3333, "reads": 7.8166}, ["b!", "a!", "b!"]]]),
    "levanter": (
        LEVANTER,
        [[{"writes-own": 0.3333, "chooses-own": 0.3333, "reads-own": 7.1528}, ["b", "a", "b"]]],
    ),
}


def _run(folder, program):
    (folder / "rows.jsonl").write_text("".join(json.dumps(each) + "\n" for each in ROWS))
    for name, more in TASKS.items():
        keys = KEYS.replace('doc_to_target: "{{a}}"\n', "") if name == "reads" else KEYS
        (folder / f"{name}.yaml").write_text(f"task: {name}\n{keys}{more}")
    (folder / "program.py").write_text(START + program)
    done = tests_warm.python("-m", "proctor.compat", "program.py", cwd=folder)
    assert done.returncode == 0, done.stderr[-3000:]
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]


@pytest.mark.parametrize("framework", TOLD)
def test_a_framework_has_the_results_that_it_has_with_lm_eval(tmp_path, framework):
    program, told = TOLD[framework]
    assert _run(tmp_path, program) == told


def test_a_task_that_there_is_may_be_named_with_other_keys(tmp_path):
    _run(tmp_path, """
task = tasks.get_task_dict([{"task": "chooses", "num_fewshot": 0, "description": "D "}], manager)["chooses"]
assert task.config.description == "D " and task.config.doc_to_choice == "{{c}}"
found = simple_evaluate(model="dummy", tasks=[{"task": "writes", "doc_to_text": "X {{q}}"}], task_manager=manager)
assert [each["arguments"][0][0] for each in found["samples"]["writes"]] == ["X a b", "X hi user a", "X c c b"]
""")  # fmt: skip
