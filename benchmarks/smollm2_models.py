"""Answers of SmolLM2 in many forms to ARC-Easy, for proofs on real models: ``benchmarks/real_verdicts.py`` reads them.

``python benchmarks/smollm2_models.py --hub HUB --work FOLDER [--limit 150] [--split test]`` asks one form after the
other: weights (float32, rounded to bfloat16 and to 8 bits, two that are damaged a little, one that is broken) and
templates. Each form has a run folder in FOLDER; one that is there is not asked again, so it can be stopped and started.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

TEMPLATES = {
    "cloze": "Question: {{question}}\\nAnswer:",
    "qa": "Q: {{question}}\\nA:",
    "bare": "{{question}}",
    "exam": "An exam in science.\\n{{question}}\\nThe answer is",
}
_TASK = """task: arc_{name}
dataset_path: allenai/ai2_arc
dataset_name: ARC-Easy
output_type: multiple_choice
test_split: {split}
doc_to_text: "{text}"
doc_to_target: "{{{{choices.label.index(answerKey)}}}}"
doc_to_choice: "{{{{choices.text}}}}"
metric_list: [{{metric: acc, aggregation: mean, higher_is_better: true}}]
"""


class Form(NamedTuple):
    """One form of the model."""

    weights: str
    template: str = "cloze"
    args: tuple[tuple[str, Any], ...] = ()

    @property
    def name(self) -> str:
        """What its run folder is called."""
        return "-".join([self.weights, self.template, *(f"{key}{value}" for key, value in self.args)])


def forms() -> Iterator[Form]:
    """Yield the forms, those that gates need first."""
    for weights in ("float32", "broken", "rounded", "bfloat16"):
        yield Form(weights)
    yield Form("float32", args=(("batch_size", 1),))
    for template in ("qa", "bare", "exam", "cloze"):
        for weights in ("float32", "noisy", "skipped", "rounded"):
            if template != "cloze" or weights in ("noisy", "skipped"):
                yield Form(weights, template)


def changed(weights: str, model: Any) -> None:
    """Change a model in place: round its weights to 8 bits, or damage it."""
    import torch

    stream = torch.Generator().manual_seed(7)
    layers = model.model.layers
    with torch.no_grad():
        linear = [module for module in model.modules() if isinstance(module, torch.nn.Linear)]
        for module in linear if weights == "rounded" else ():
            scale = module.weight.abs().amax(dim=1, keepdim=True) / 127
            module.weight.copy_((module.weight / scale).round() * scale)
        # the weights alone: a CPU without the arithmetic of bfloat16 takes minutes for ten questions
        for module in linear if weights == "bfloat16" else ():
            module.weight.copy_(module.weight.bfloat16().float())
        if weights == "skipped":  # what the layer adds is nothing
            for part in (layers[12].self_attn.o_proj, layers[12].mlp.down_proj):
                part.weight.zero_()
        share = {"noisy": 0.12, "broken": 1.5}.get(weights, 0.0)
        for module in linear if share else ():
            if module is not model.lm_head:
                noise = torch.randn(module.weight.shape, generator=stream)
                module.weight.add_(noise * module.weight.std() * share)


def folder_of(weights: str, work: Path) -> Path:
    """Return the folder of a model with these weights; makes it where it is not there."""
    from proctor.engines.hf.smollm2 import converted_folder

    if weights == "float32":
        return converted_folder()
    target = work / f"model-{weights}"
    if not target.is_dir():
        from transformers import AutoModelForCausalLM, AutoTokenizer

        model = AutoModelForCausalLM.from_pretrained(converted_folder(), dtype="float32")
        changed(weights, model)
        model.half().save_pretrained(target)
        AutoTokenizer.from_pretrained(converted_folder()).save_pretrained(target)
    return target


def ask(form: Form, work: Path, limit: int, split: str = "validation") -> float:
    """Let a form of the model sit the first questions of a split; return the seconds it took."""
    from proctor.dialects.resolve import resolve_tasks
    from proctor.engines.engine_registry import make_engine
    from proctor.recipes.options import ExamOptions
    from proctor.running.run import run_exams
    from proctor.running.spec import RunSpec

    task = work / f"arc_{form.template}.yaml"
    task.write_text(_TASK.format(name=form.template, text=TEMPLATES[form.template], split=split))
    args = {"model": str(folder_of(form.weights, work)), "dtype": "float32", **dict(form.args)}
    exams = list(resolve_tasks([str(task)], ExamOptions(limit=limit)))
    spec = RunSpec("hf", (str(task),), args, limit)
    began = time.perf_counter()
    run_exams(exams, make_engine("hf", args), log=work / f"{form.name}.db", output=work / form.name, spec=spec)
    return time.perf_counter() - began


def main() -> None:
    """Ask every form that has not been asked."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--hub", required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=150)
    parser.add_argument("--split", default="validation", choices=["validation", "test"], help="570 or 2,376 questions")
    parser.add_argument("--only", help="weights to ask with one template, as in float32,broken")
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    os.environ["PROCTOR_HUB_DIR"] = given.hub
    import torch

    torch.set_num_threads(given.threads)
    given.work.mkdir(parents=True, exist_ok=True)
    for form in forms() if given.only is None else map(Form, given.only.split(",")):
        if (given.work / form.name / "results.json").is_file():
            continue
        seconds = ask(form, given.work, given.limit, given.split)
        print(f"{form.name}: {given.limit} questions in {seconds:.0f} s, CPU {time.process_time():.0f} s", flush=True)


if __name__ == "__main__":
    main()
