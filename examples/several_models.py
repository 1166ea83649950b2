"""One exam, several models: scores with intervals, and whether two of them differ by more than chance."""

from __future__ import annotations

from tempfile import TemporaryDirectory

from proctor import run_exams
from proctor.dialects import resolve_tasks
from proctor.engines import ScriptedEngine
from proctor.results import compare

models = [
    ScriptedEngine(answer="positive", model="optimist"),
    ScriptedEngine(rules=[(r".*\b(not|never|no)\b", "negative")], answer="positive", model="reader"),
]
columns = []
with TemporaryDirectory() as folder:
    for model in models:
        result = run_exams(resolve_tasks(["samples.sentiment"]), model, log=f"{folder}/log.db")
        scores = result.results["samples.sentiment"]
        print(f"{model.label:12} {scores['score']:.3f} [{scores['score_ci_low']:.3f}, {scores['score_ci_high']:.3f}]")
        columns.append(result.grades["samples.sentiment"].instance_scores["score"])
found = compare(*columns)
print(
    f"difference   {found.difference:+.3f} [{found.low:+.3f}, {found.high:+.3f}], p {found.p_value:.2f} ({found.test})"
)
print(f"differences from {found.detectable:.3f} on would be found four times out of five")
