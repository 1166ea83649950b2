"""The same question laid out for different models: formats and system prompts change the prompt, never the exam."""

from __future__ import annotations

from proctor import evaluate, load_dataset
from proctor.engines import ScriptedEngine

model = ScriptedEngine(rules=[(r"<\|start_header_id\|>.*", "positive")], answer="negative")  # it likes one layout
for layout in ("formats.llama3_instruct", "formats.empty"):
    for system_prompt in ("system_prompts.general.be_concise", "system_prompts.empty"):
        exam = load_dataset(
            "samples.sentiment",
            format=layout,
            system_prompt=system_prompt,
            num_demos=1,
            demos_pool_size=10,
            max_test_instances=20,
            split="test",
        )
        score = evaluate(predictions=model(exam), data=exam).global_scores.score
        print(f"{layout:24} {system_prompt:34} {len(exam[0]['source']):4} characters  {score:.2f}")
