"""Which solved instances a prompt shows: drawn for each question, the closest ones, or always the same."""

from __future__ import annotations

from proctor import load_dataset
from proctor.demos import CloseTextSampler, FixedIndicesSampler, RandomSampler

for sampler in (RandomSampler(), CloseTextSampler(field="text"), FixedIndicesSampler(indices=[0, 1])):
    exam = load_dataset(
        "samples.sentiment", sampler=sampler, num_demos=2, demos_pool_size=20, max_test_instances=3, split="test"
    )
    print(type(sampler).__name__)
    for prompt in exam["source"]:
        print("  " + " | ".join(line for line in prompt.splitlines() if line.strip())[-150:])
