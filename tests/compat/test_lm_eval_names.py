"""Names that programs and tests import from lm_eval, where it is not installed; each does what lm-eval's does.

The values are those of lm-eval 0.4.13 (``conformance/lm_eval/package_functions.py`` compares many more with it).
"""

import tests_warm

PROGRAM = """
import lm_eval
from lm_eval.api.group import ConfigurableGroup, Group
from lm_eval.api.instance import Instance
from lm_eval.api.model import LM, CacheHook, TemplateLM
from lm_eval.api.registry import get_model
from lm_eval.api.samplers import SAMPLER_REGISTRY, get_sampler
from lm_eval.api.utils import Message, maybe_delimit
from lm_eval.config import GroupConfig, TaskConfig
from lm_eval.evaluator_utils import get_sample_size
from lm_eval.models.dummy import DummyLM
from lm_eval.models.huggingface import HFLM
from lm_eval.models.openai_completions import LocalCompletionsAPI
from lm_eval.models.utils import Collator, chunks, handle_stop_sequences, normalize_gen_kwargs
from lm_eval.tasks import TaskManager, get_task_name_from_config
from lm_eval.tasks.manager import TaskManager as Same
from lm_eval.utils import get_rolling_token_windows, make_disjoint_window

assert Same is TaskManager and lm_eval.__version__.startswith("0.4.")
assert get_model("hf") is HFLM and get_model("dummy").create_from_arg_string("")
assert list(chunks(range(5), 2)) == [[0, 1], [2, 3], [4]]
assert handle_stop_sequences("a", "b") == ["a", "b"]
assert normalize_gen_kwargs({"max_new_tokens": 5, "until": "x"})["max_gen_toks"] == 5
assert maybe_delimit("a", "b") == "a b" and maybe_delimit("a ", "b") == "a b"
assert get_task_name_from_config({"dataset_path": "x", "dataset_name": "y"}) == "x_y"
assert get_sample_size(type("T", (), {"eval_docs": range(7)}), 0.5) == 4
group = Group.from_config({"group": "g", "aggregate_metric_list": [{"metric": "acc"}]})
group.add(type("T", (), {"task_name": "t"})())
assert group.child_names == ["t"]
assert ConfigurableGroup({"group": "g"}) == ConfigurableGroup({"group": "g", "task": "a"})
assert get_sampler("first_n") is SAMPLER_REGISTRY["first_n"]

answers = DummyLM().generate_until([Instance("generate_until", {}, ("x", {"until": []}), 0)])
assert len(answers) == 1
model = LocalCompletionsAPI(base_url="http://127.0.0.1:9/v1/completions", model="m", num_concurrent=2)
assert model.engine.max_concurrency == 2


class Mine(LM):  # says each answer as it has it, as lm-eval's own models do
    def loglikelihood(self, requests):
        self.cache_hook.add_partial("loglikelihood", requests[0].args, (0.0, True))
        return [(0.0, True)]

    def loglikelihood_rolling(self, requests):
        return []

    def generate_until(self, requests):
        return []


assert Mine().loglikelihood([Instance("loglikelihood", {}, ("a", "b"), 0)]) == [(0.0, True)]
CacheHook().add_partial("generate_until", ("a", {}), "answer")
print("all of it")
"""


def test_what_programs_import_is_there_and_does_the_same(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    done = tests_warm.python("-m", "proctor.compat", "program.py", cwd=tmp_path)
    assert done.stdout.strip() == "all of it", done.stderr


IMPORTED = """
from lm_eval.__main__ import HarnessCLI, cli_evaluate, setup_logging
from lm_eval.api.registry import DEFAULT_METRIC_REGISTRY
from lm_eval.api.task import mean, weighted_perplexity
from lm_eval.config import EvaluatorConfig, TaskConfig
from lm_eval.evaluator import TaskManager, print_writeout, request_caching_arg_to_dict
from lm_eval.models.huggingface import Collator, TemplateLM, register_model
from lm_eval.models.litellm_llms import LiteLLMChatCompletion
from lm_eval.models.mistral3 import Mistral3LM
import lm_eval.tasks

assert TaskManager is lm_eval.tasks.TaskManager and request_caching_arg_to_dict("delete")["delete_requests_cache"]
assert mean([1, 2]) == 1.5
assert DEFAULT_METRIC_REGISTRY["multiple_choice"] == ["acc", "acc_norm"]

try:
    LiteLLMChatCompletion()
except Exception as error:
    assert "LiteLLM proxy" in str(error), error
else:
    raise SystemExit("it was not refused")
try:
    from lm_eval.evaluator import no_such_name
except ImportError as error:
    assert "no_such_name" in str(error)
else:
    raise SystemExit("it was found")
"""


def test_names_are_found_wherever_modules_of_lm_eval_import_them(tmp_path):
    (tmp_path / "program.py").write_text(IMPORTED)
    made = tests_warm.python("-m", "proctor.compat", "program.py", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
