"""One exam in every combination of two prompts and three ways to spell a question, through the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

os.chdir(tempfile.mkdtemp())
Path("prompts.txt").write_text("{question} The answer is\n---\nThink, then answer. {question}\n")
model = ("--model", "scripted", "--model-args", 'rules=[["Think","12"],["","9"]]')
varied = ("--templates", "prompts.txt", "--perturb", "case,typos")
subprocess.run(  # noqa: S603 - the program itself
    [sys.executable, "-m", "proctor", "sweep", "samples.arithmetic", *model, *varied, "--output", "words"], check=True
)
result = json.loads(Path("words/sweep.json").read_text())["result"]
lowest, highest = (result["distribution"]["quantiles"][end]["score"] for end in (0, -1))
print(f"{len(result['cells'])} wordings score {lowest:.2f} to {highest:.2f}; {result['flipping']} questions flip")
