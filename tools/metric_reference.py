"""Write ``docs/reference/metrics.md``: every metric and text function that can be named from every dialect."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

TARGET = Path(__file__).resolve().parent.parent / "docs" / "reference" / "metrics.md"


def sections() -> Iterator[str]:
    """Yield the parts of the page."""
    from proctor.scoring.metric_table import metric_table
    from proctor.scoring.named_table import BY_PREFIX, INSPECT, LM_EVAL, OPENCOMPASS
    from proctor.scoring.text.text_functions import AISBENCH, text_function_table

    yield "# Metrics and text functions by name\n\nHow to name them: [Metrics by name](../metrics.md).\n\n"
    systems = {
        "Metrics of lm-eval": LM_EVAL,
        "Evaluators of OpenCompass and AISBench": OPENCOMPASS,
        "Scorers of inspect": INSPECT,
    }
    for title, system in systems.items():
        yield f"## {title}\n\n| name | unit | better | needs |\n|---|---|---|---|\n"
        for metric in metric_table().of(system).values():
            needs = [package.partition("=")[0] for package in metric.packages] + ["--trust-code"] * metric.runs_code
            better = "more" if metric.higher_is_better else "less"
            listed = ", ".join(f"`{each}`" for each in needs)
            name = metric.key if system in BY_PREFIX else metric.name
            yield f"| `{name}` | {metric.unit} | {better} | {listed} |\n"
        yield "\n"
    titles = {
        LM_EVAL: "Filters of lm-eval",
        OPENCOMPASS: "Post-processors of OpenCompass",
        AISBENCH: "… where AISBench differs",
        "proctor": "Proctor's own, which conversions write",
    }
    for system, title in titles.items():
        yield f"## {title}\n\n| name | sees |\n|---|---|\n"
        for function in text_function_table().of(system).values():
            yield f"| `{function.name}` | {_SEES[function.scope]} |\n"
        yield "\n"


_SEES = {
    "value": "an answer",
    "row": "an answer and its row",
    "repeats": "all answers to a question",
    "column": "all answers to all questions",
}


def page() -> str:
    """Return the whole page."""
    return "".join(sections()).rstrip() + "\n"


if __name__ == "__main__":
    TARGET.write_text(page(), encoding="utf-8")
