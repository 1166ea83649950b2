"""lm-eval's files of chats: the prompt is JSON of messages."""

import json

from proctor.exchange.readers import observed


def test_prompts_that_are_chats_are_read(tmp_path):
    chat = json.dumps([{"role": "system", "content": "be brief"}, {"role": "user", "content": "2+2?"}])
    line = {
        "doc_id": 0,
        "doc": {"q": "2+2?"},
        "target": "4",
        "arguments": {f"gen_args_{n}": {"arg_0": chat, "arg_1": {"until": ["\n"]}} for n in range(2)},
        "resps": [["4"]],
        "filtered_resps": ["4"],
        "filter": "none",
        "metrics": ["exact_match"],
        "exact_match": 1.0,
    }
    path = tmp_path / "samples_t_2026-01-01T00-00-00.jsonl"
    path.write_text(json.dumps(line) + "\n")
    (exam,) = observed(str(path))
    assert exam.instances[0].prompt == "⟨system⟩be brief\n⟨user⟩2+2?"
    assert exam.instances[0].decoding == {"stop": ["\n"]}
