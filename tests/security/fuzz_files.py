"""Result files and settings that nobody would write, for everything that reads those of strangers: only our own errors.

python tests/security/fuzz_files.py --seconds 600             each kind of file for ten minutes
python tests/security/fuzz_files.py --kind inspect --seed 7   one of them, with other draws

Files are honest ones, of rows made up here, in which values were replaced, left out and repeated by a seeded generator.
A kind fails where a reader raises anything else than a :class:`ProctorError`, or takes more than ``SLOWEST`` seconds.
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proctor.errors import ProctorError

SLOWEST = 3.0  # processor seconds for one file of two rows; other work shares the machine
ODD: tuple[Any, ...] = (
    *(None, True, -1, 0, 1.5, 10**400, 1e308, float("nan"), float("inf"), "", "x", "x" * 5000, "\x1b[31m\u202e\x00"),
    *([], {}, [None], [[]], {"a": None}, ["x", 1, {}], {"text": ["x"]}, "../../etc/passwd", "{{ 9**9 }}", "2026-13-45"),
)


def deep(levels: int) -> Any:
    """Return a list in a list in a list."""
    value: Any = []
    for _ in range(levels):
        value = [value]
    return value


@dataclass(frozen=True)
class Kind:
    """A kind of files: honest ones, how they are written, what reads them."""

    files: dict[str, Any]
    read: Callable[[Path], object]


def _lines(rows: list[Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def write(folder: Path, files: dict[str, Any]) -> None:
    """Write each file as its name says."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".jsonl":
            text = _lines(content if isinstance(content, list) else [content])
        elif path.suffix == ".yaml":
            text = json.dumps(content)  # which is YAML
        else:
            text = json.dumps(content)
        path.write_text(text, encoding="utf-8", errors="surrogatepass")


def _observed(name: str) -> Callable[[Path], object]:
    def read(folder: Path) -> object:
        from proctor.exchange.readers import observed

        return observed(str(folder / name))

    return read


def _why(folder: Path) -> object:
    from proctor.exchange.readers import observed
    from proctor.exchange.why import explain

    first, second = observed(str(folder / "a.json"))[0], observed(str(folder / "b.json"))[0]
    return explain(first, second)


def _imported(folder: Path) -> object:
    from proctor.exchange.imported import import_record

    return import_record(folder / "record.json", folder / "out")


def _baseline(folder: Path) -> object:
    from proctor.running.baselines import load_baseline

    return load_baseline(folder / "baseline.json")


def _hub_yaml(folder: Path) -> object:
    from proctor.dialects.hub_yaml.reader import read_tasks

    return read_tasks(folder / "eval.yaml", "org/data")


def _promptfoo(folder: Path) -> object:
    from proctor.dialects.promptfoo.providers import models_in
    from proctor.dialects.resolve import resolve_tasks

    exams = resolve_tasks([str(folder / "promptfoo.yaml")])
    return models_in(folder / "promptfoo.yaml"), [list(each.questions()) for each in exams]


PROMPTFOO = {
    "description": "d",
    "prompts": ["{{a}} {{ b | dump }}", {"label": "l", "raw": '[{"role": "user", "content": "{{a}}"}]'}],
    "providers": ["openai:m", {"id": "dummy", "label": "x", "config": {"temperature": 0.1}}],
    "defaultTest": {"vars": {"b": "c"}, "assert": [{"type": "contains", "value": "{{a}}"}]},
    "tests": [
        {"vars": {"a": ["x", "y"]}, "threshold": 0.5, "metadata": {"k": "v"}, "options": {"prefix": "p"}},
        {"vars": {"a": "{{b}}"}, "assert": [{"type": "assert-set", "threshold": 0.5, "assert": [{"type": "is-json"}]}]},
    ],
    "scenarios": [
        {"config": [{"vars": {"a": "s"}}], "tests": [{"assert": [{"type": "regex", "value": "x", "weight": 2}]}]}
    ],
    "evaluateOptions": {"maxConcurrency": 4},
}
LM_EVAL = [
    {
        "doc_id": number,
        "doc": {"question": f"q{number}", "answer": "4"},
        "target": "4",
        "arguments": {"gen_args_0": {"arg_0": f"Q: q{number}\nA:", "arg_1": {"until": ["\n"], "max_gen_toks": 8}}},
        "resps": [[" 4"]],
        "filtered_resps": ["4"],
        "filter": "none",
        "metrics": ["exact_match"],
        "doc_hash": "ab",
        "exact_match": 1.0,
    }
    for number in range(2)
]
LM_EVAL_RESULTS = {
    "results": {"t": {"alias": "t", "exact_match,none": 1.0, "exact_match_stderr,none": 0.1}},
    "configs": {"t": {"task": "t", "output_type": "generate_until"}},
    "n-samples": {"t": {"original": 2, "effective": 2}},
    "versions": {"t": 1.0},
}
INSPECT = {
    "version": 2,
    "status": "success",
    "eval": {"task": "t", "model": "mock/x", "created": "2026-01-01T00:00:00", "dataset": {"name": "d"}, "config": {}},
    "plan": {"config": {"temperature": 0.0, "max_tokens": 8}},
    "results": {"scores": [{"name": "match", "metrics": {"accuracy": {"name": "accuracy", "value": 1.0}}}]},
    "samples": [
        {
            "id": 1,
            "epoch": 1,
            "input": "q",
            "target": "4",
            "messages": [
                {"role": "user", "content": "q"},
                {"role": "assistant", "content": [{"type": "text", "text": "4"}]},
            ],
            "output": {"choices": [{"message": {"role": "assistant", "content": "4"}, "stop_reason": "stop"}]},
            "scores": {"match": {"value": "C", "answer": "4"}},
            "metadata": {},
        }
    ],
}
OPENCOMPASS = {
    "0": {"origin_prompt": [{"role": "HUMAN", "prompt": "q"}], "prediction": "4", "gold": "4"},
    "1": {"origin_prompt": "q", "prediction": ["4"], "gold": ["4"]},
}
OPENCOMPASS_RESULTS = {"accuracy": 50.0, "details": {"0": {"pred": "4", "answer": "4", "correct": True}}}
AISBENCH = [
    {"id": 0, "data_abbr": "d", "uuid": "u", "success": True, "prediction": "4", "origin_prompt": "q", "gold": "4"}
]
UNITXT = [
    {
        "prediction": "4",
        "processed_prediction": "4",
        "references": ["4"],
        "processed_references": ["4"],
        "source": "q",
        "task_data": '{"question": "q"}',
        "data_classification_policy": ["public"],
        "score": {
            "global": {"score": 1.0, "score_name": "accuracy"},
            "instance": {"score": 1.0, "score_name": "accuracy"},
        },
    }
]
UNITXT_SAVED = {
    "environment_info": {},
    "samples": {
        "s": [
            {
                "question": "q",
                "source": "q",
                "prediction": "4",
                "references": ["4"],
                "processed_prediction": "4",
                "processed_references": ["4"],
                "accuracy": 1.0,
                "score": 1.0,
                "score_name": "accuracy",
            }
        ]
    },
}
UNITXT_SCORES = {"results": {"s": {"score": 1.0, "score_name": "accuracy"}}}
EEE = {
    "schema_version": "0.3.0",
    "evaluation_id": "t/x/1",
    "retrieved_timestamp": "1767225600",
    "source_metadata": {
        "source_type": "evaluation_run",
        "source_organization_name": "o",
        "evaluator_relationship": "first_party",
    },
    "eval_library": {"name": "proctor", "version": "1"},
    "model_info": {"name": "x", "id": "o/x"},
    "evaluation_results": [
        {
            "evaluation_name": "t",
            "source_data": {"dataset_name": "d", "source_type": "hf_dataset", "hf_repo": "o/d"},
            "metric_config": {
                "metric_name": "accuracy",
                "lower_is_better": False,
                "score_type": "continuous",
                "min_score": 0.0,
                "max_score": 1.0,
            },
            "score_details": {
                "score": 0.5,
                "uncertainty": {"confidence_interval": {"lower": 0.1, "upper": 0.9, "confidence_level": 0.95}},
            },
        }
    ],
    "detailed_evaluation_results": {"format": "jsonl", "file_path": "record_samples.jsonl", "total_rows": 1},
}
EEE_LINES = [
    {
        "schema_version": "0.3.0",
        "evaluation_id": "t/x/1",
        "evaluation_name": "t",
        "model_id": "o/x",
        "sample_id": "0",
        "interaction_type": "single_turn",
        "input": {"raw": "q", "reference": ["4"]},
        "output": {"raw": ["4"]},
        "answer_attribution": [
            {
                "turn_idx": 0,
                "source": "output.raw",
                "extracted_value": "4",
                "extraction_method": "m",
                "is_terminal": True,
            }
        ],
        "evaluation": {"score": 1.0, "is_correct": True},
    }
]
BASELINE = {
    "format": "proctor-baseline",
    "version": 1,
    "model": "x",
    "exams": {"t": {"metric": "accuracy", "scores": {"ab": 1.0, "cd": 0.0}, "fingerprint": {"data": "ab"}}},
}
HUB_YAML = {
    "name": "T",
    "evaluation_framework": "inspect-ai",
    "tasks": [
        {
            "id": "t",
            "config": "default",
            "split": "test",
            "epochs": 2,
            "epoch_reducer": "mean",
            "field_spec": {"input": "question", "target": "answer", "choices": ["a", "b"], "metadata": ["x"]},
            "solvers": [{"name": "prompt_template", "args": {"template": "Q: {prompt}"}}, {"name": "generate"}],
            "scorers": [{"name": "match", "args": {"location": "end"}}],
        }
    ],
}
KINDS: dict[str, Kind] = {
    "lm_eval": Kind({"samples_t_2026.jsonl": LM_EVAL, "results_2026.json": LM_EVAL_RESULTS}, _observed("samples_t_2026.jsonl")),
    "inspect": Kind({"log.json": INSPECT}, _observed("log.json")),
    "opencompass": Kind({"predictions/m/t.json": OPENCOMPASS, "results/m/t.json": OPENCOMPASS_RESULTS}, _observed("predictions/m/t.json")),
    "aisbench": Kind({"predictions/m/t.jsonl": AISBENCH, "results/m/t.json": OPENCOMPASS_RESULTS}, _observed("predictions/m/t.jsonl")),
    "unitxt": Kind({"results.json": UNITXT}, _observed("results.json")),
    "unitxt_saved": Kind({"r_samples.json": UNITXT_SAVED, "r.json": UNITXT_SCORES}, _observed("r_samples.json")),
    "every_eval_ever": Kind({"record.json": EEE, "record_samples.jsonl": EEE_LINES}, _observed("record.json")),
    "import": Kind({"record.json": EEE, "record_samples.jsonl": EEE_LINES}, _imported),
    "why": Kind({"a.json": INSPECT, "b.json": OPENCOMPASS}, _why),
    "baseline": Kind({"baseline.json": BASELINE}, _baseline),
    "eval.yaml": Kind({"eval.yaml": HUB_YAML}, _hub_yaml),
    "promptfoo": Kind({"promptfoo.yaml": PROMPTFOO}, _promptfoo),
}  # fmt: skip


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each list or dict inside a value with each of its keys."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from places(value[key])


def changed(files: dict[str, Any], draw: random.Random) -> dict[str, Any]:
    """Return files of which some values are others."""
    made = copy.deepcopy(files)
    for _ in range(draw.choice([1, 1, 2, 4])):
        found = list(places(made))
        if not found:
            break
        holder, key = draw.choice(found)
        match draw.randrange(5):
            case 0 if holder is not made:
                del holder[key]
            case 1:
                holder[key] = copy.deepcopy(draw.choice(found)[0]) if holder is not made else holder[key]
            case 2 if isinstance(holder, dict) and holder is not made:
                holder[draw.choice(["x", "", "0", "score", "a" * 300])] = holder.pop(key)
            case 3:
                holder[key] = deep(150)
            case _:
                holder[key] = copy.deepcopy(draw.choice(ODD))
    return made


def attack(name: str, seed: int, seconds: float, most: int | None = None) -> tuple[int, list[str]]:
    """Try a kind of files; return how many were read, and what went wrong."""
    kind, draw = KINDS[name], random.Random(seed)
    wrong: list[str] = []
    count, end = 0, time.monotonic() + seconds
    while time.monotonic() < end and count != most:
        files = kind.files if not count else changed(kind.files, draw)
        count += 1
        with tempfile.TemporaryDirectory() as folder:
            write(Path(folder), files)
            began = time.process_time()
            try:
                kind.read(Path(folder))
            except ProctorError as error:
                if files is kind.files:
                    wrong.append(f"the honest one: {error}")
            except BaseException as error:
                wrong.append(f"{type(error).__name__}: {error!s:.90} for {json.dumps(files)[:1500]}")
            if (took := time.process_time() - began) > SLOWEST:
                wrong.append(f"{took:.1f} s for {json.dumps(files)[:300]}")
    return count, wrong


def main() -> int:
    """Try kinds of files; return 1 where something went wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--kind", choices=list(KINDS))
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    failed = 0
    for name in [args.kind] if args.kind else KINDS:
        count, wrong = attack(name, args.seed, args.seconds)
        failed += len(wrong)
        print(f"{name}: {count} files, {len(wrong)} wrong", *wrong[:20], sep="\n  ", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
