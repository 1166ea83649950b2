"""Runs inside an environment with Unitxt: reads cases as JSON lines on standard input, answers in the same way.

A case is ``{"kind": "template", "template": id, "instance": …}``, ``{"kind": "format", "format": id, "instance": …}`` or
``{"kind": "recipe", "query": …, "loader": {"path": …, "name": …}, "splits": {split: rows}}``.
"""

import json
import sys
import warnings

warnings.simplefilter("ignore")


def main() -> None:
    """Answer every case; an error is an answer as well."""
    from unitxt.artifact import fetch_artifact
    from unitxt.logging_utils import get_logger

    get_logger().setLevel("ERROR")
    for line in sys.stdin:
        case = json.loads(line)
        try:
            answer = {"value": ANSWERS[case["kind"]](case, fetch_artifact)}
        except Exception as error:  # noqa: BLE001 - what Unitxt refuses is part of the comparison
            answer = {"error": f"{type(error).__name__}: {error}"[:300]}
        print(json.dumps(answer, default=str), flush=True)


def _part(case, fetch):
    """Return a template or a format: the one that is given, else the one of this name."""
    from unitxt.artifact import Artifact

    return Artifact.from_dict(case["body"]) if "body" in case else fetch(case[case["kind"]])[0]


def _template(case, fetch):
    template = _part(case, fetch)
    done = template.process(case["instance"], "test")
    return {
        key: done.get(key) for key in ("source", "instruction", "target_prefix", "target", "references", "input_fields")
    }


def _format(case, fetch):
    return _part(case, fetch).process(case["instance"])["source"]


def _recipe(case, fetch):
    from itertools import islice

    from unitxt.api import load_recipe
    from unitxt.loaders import LoadHF

    recipe = _built(case, fetch, LoadHF, load_recipe)
    streams = recipe()
    keys = ("source", "target", "references", "task_data", "metrics", "postprocessors", "groups")
    return {
        split: [{key: row.get(key) for key in keys} for row in islice(streams[split], count)]
        for split, count in case["splits"].items()
        if split in streams
    }


def _built(case, fetch, loader_class, load_recipe):
    arguments = dict(case["arguments"])
    if "loader" in case:
        card, _ = fetch(arguments["card"])
        card.loader = loader_class(**case["loader"])
        arguments["card"] = card
    return load_recipe(**arguments)


def _made(case, fetch):
    from unitxt.artifact import Artifact

    del fetch
    streams = Artifact.from_dict(case["recipe"])()
    keys = ("source", "target", "references", "task_data", "metrics", "postprocessors", "groups")
    return {
        split: [{key: row.get(key) for key in keys} for row in streams[split]]
        for split in case.get("splits", ("train", "test"))
        if split in streams
    }


def _processor(case, fetch):
    from unitxt.stream import MultiStream

    processor, _ = fetch(case["processor"])
    found = []
    for text in case["texts"]:
        rows = [{"prediction": text, "references": [text]}]
        try:
            (row,) = processor(MultiStream.from_iterables({"test": rows}, copying=True))["test"]
            found.append(repr([row["prediction"], row["references"]]))
        except Exception as error:  # noqa: BLE001 - what Unitxt refuses is part of the comparison
            found.append({"error": type(error).__name__})
    return found


def _metric(case, fetch):
    from metrics_oracle import scores

    found = scores(fetch(case["metric"])[0], case["batch"])
    if "error" in found:
        raise RuntimeError(found["error"])
    return {"global": found["global"], "instances": found["instances"]}


def _evaluated(case, fetch):
    from evaluations import predictions
    from metrics_oracle import plain
    from unitxt import evaluate, load_dataset
    from unitxt.artifact import Artifact

    del fetch
    data = load_dataset(Artifact.from_dict(case["recipe"]), split="test")
    found = evaluate(predictions=predictions(list(data["target"])), data=data)
    return [plain(row["score"]) for row in found]


ANSWERS = {
    "template": _template,
    "format": _format,
    "recipe": _recipe,
    "made": _made,
    "processor": _processor,
    "metric": _metric,
    "evaluated": _evaluated,
}

if __name__ == "__main__":
    main()
