"""A program for lm-eval, as users write them: calls ``simple_evaluate`` and ``evaluate``, argument by argument.

It runs twice, unchanged: in lm-eval's environment, and by ``python -m proctor.compat``.

Usage: ``parameters_oracle.py CASES.json OUT.json FOLDER``, where FOLDER has the tasks.
"""

import json
import os
import sys
import zlib
from pathlib import Path

from lm_eval import evaluate, simple_evaluate
from lm_eval.api.model import LM, TemplateLM
from lm_eval.api.registry import register_model
from lm_eval.tasks import TaskManager, get_task_dict

TEXTS = ("4", "the answer is 2", "B", " yes\nno", "A.", "")


def number(*words):
    """Return a number between 0 and 1 that is the same wherever the words are."""
    return zlib.crc32("|".join(map(str, words)).encode()) % 1000 / 1000


@register_model("recorder")
class Recorder(LM):
    """A model that remembers what it was asked, and answers by it."""

    def __init__(self, bonus=0, batch_size=1, max_batch_size=None, device=None, pretrained="none"):
        super().__init__()
        self.asked = []
        self.made_of = [bonus, str(batch_size), max_batch_size, device, pretrained]
        made.append(self)

    def _keep(self, kind, requests):
        self.asked += [[kind, *json.loads(json.dumps(each.args))] for each in requests]

    def loglikelihood(self, requests):
        """Answer."""
        self._keep("loglikelihood", requests)
        return [(-5 * number(*each.args), number(*each.args) > 0.5) for each in requests]

    def loglikelihood_rolling(self, requests):
        """Answer."""
        self._keep("loglikelihood_rolling", requests)
        return [-20 * number(each.args[0]) for each in requests]

    def generate_until(self, requests):
        """Answer."""
        self._keep("generate_until", requests)
        return [TEXTS[int(number(each.args[0]) * len(TEXTS))] for each in requests]

    def apply_chat_template(self, chat_history, add_generation_prompt=True):
        """Return messages as a text."""
        return json.dumps([chat_history, add_generation_prompt])

    def chat_template(self, chat_template=False):
        """Return the template."""
        return f"template {chat_template}"

    @property
    def tokenizer_name(self):
        """The name."""
        return "recorder"


class Tokens(TemplateLM):
    """A model that scores tokens, which are letters."""

    def __init__(self):
        super().__init__()
        self.asked, self.made_of = [], []
        made.append(self)

    @property
    def eot_token_id(self):
        """The last token."""
        return 0

    def tok_encode(self, string, add_special_tokens=None, **kwargs):  # noqa: ARG002 - lm-eval's signature
        """Return letters."""
        return [ord(each) for each in string]

    def _loglikelihood_tokens(self, requests, disable_tqdm=False, **kwargs):  # noqa: ARG002 - as above
        self.asked += [["tokens", list(start), list(end)] for _, start, end in requests]
        return [(-number(start, end), False) for _, start, end in requests]

    def loglikelihood_rolling(self, requests, disable_tqdm=False):  # noqa: ARG002 - as above
        """Answer."""
        self.asked += [["rolling", *each.args] for each in requests]
        return [-number(each.args[0]) for each in requests]

    def generate_until(self, requests, disable_tqdm=False):  # noqa: ARG002 - as above
        """Answer."""
        self.asked += [["generate_until", *json.loads(json.dumps(each.args))] for each in requests]
        return ["4"] * len(requests)


made = []


def answer(case, folder):
    """Return what came of a case: results, samples and requests, or the kind of error."""
    made.clear()
    manager = TaskManager(include_path=str(folder), include_defaults=False)
    given = dict(case.get("arguments", {}))
    metadata = given.pop("metadata", None)
    given["task_manager"] = TaskManager(include_path=str(folder), include_defaults=False, metadata=metadata)
    if "use_cache" in given:
        given["use_cache"] = str(Path(os.environ["CASE_FOLDER"]) / given["use_cache"])
    named = case["model"].removeprefix("name:")
    model = {"recorder": Recorder, "tokens": Tokens}.get(case["model"], lambda: named)()
    rounds = []
    for _ in range(case.get("times", 1)):
        try:
            if case.get("function") == "evaluate":
                loaded = get_task_dict(case["tasks"], manager) if case.get("nested") else manager.load(case["tasks"])
                given.pop("task_manager", None)
                found = evaluate(model, loaded, **given)
            else:
                found = simple_evaluate(model, tasks=case["tasks"], **given)
        except Exception as error:  # noqa: BLE001 - its kind is what is compared
            rounds.append({"error": [each.__name__ for each in type(error).__mro__], "said": str(error)[:300]})
            continue
        rounds.append(found)
    return {
        "rounds": json.loads(json.dumps(rounds, default=str)),
        "asked": made[0].asked if made else None,
        "made": made[0].made_of if made else None,
    }


def main():
    """Answer every case."""
    cases, out, folder = Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])
    found = {name: answer(case, folder) for name, case in json.loads(cases.read_text()).items()}
    out.write_text(json.dumps(found, default=str))


main()
