"""Programs that go through ``datasets`` and ``evaluate`` by Unitxt's names on the hub get Proctor's answers."""

from __future__ import annotations

import datasets

from proctor.compat import install

install()  # `python -m proctor.compat program.py` does this for programs that may not change
import evaluate  # noqa: E402 - it may only exist once the names are installed

exam = datasets.load_dataset("unitxt/data", "card=samples.cards.science,template_card_index=0,max_test_instances=5")
metric = evaluate.load("unitxt/metric")
predictions = [references[0] for references in exam["test"]["references"]]
results = metric.compute(predictions=predictions, references=exam["test"])
print(f"{results.global_scores.score_name}: {results.global_scores.score}")
