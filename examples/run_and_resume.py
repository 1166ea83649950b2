"""A run in a program: every answer is durable, and running again asks only what is missing."""

from __future__ import annotations

from tempfile import TemporaryDirectory

from proctor import make_engine, run_exams
from proctor.dialects import resolve_tasks
from proctor.testing import FaultServer

with TemporaryDirectory() as folder, FaultServer() as server:
    engine = make_engine("openai", {"model": "m", "base_url": server.url})
    for limit in (5, 20, 20):
        result = run_exams(resolve_tasks(["samples.arithmetic"]), engine, limit=limit, log=f"{folder}/answers.db")
        scores = result.results["samples.arithmetic"]
        asked = result.run["requests"]["asked"]
        print(f"{scores['n']} scored, {asked} asked, accuracy {scores['score']:.2f}")
