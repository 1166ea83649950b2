"""Run folders made by hand."""

import json

NASTY = '<script>alert(1)</script> & "quotes" \'\x1b[31m \u202egnp.exe \x00 end'


def sample(number, exam="capitals", score=1.0, **more):
    record = {
        "exam": exam,
        "doc_id": number,
        "input": {"question": f"What is question {number}?"},
        "kind": "generate",
        "prompt": f"Question: What is question {number}?\nAnswer:",
        "continuations": None,
        "output": f"answer {number}",
        "references": [f"reference {number}"],
        "gold": None,
        "usage": {"prompt_tokens": 7, "completion_tokens": 2},
        "timing": {"started": 1.0, "seconds": 0.5},
        "failure": None,
        "prediction": f"answer {number}",
        "processed_prediction": f"answer {number}",
        "processed_references": [f"reference {number}"],
        "scores": {"score": score},
    }
    return {**record, **more}


def write_run(folder, samples, model="tiny", **entries):
    folder.mkdir(parents=True)
    exams = list(dict.fromkeys(each["exam"] for each in samples if "exam" in each))
    (folder / "run.yaml").write_text(
        json.dumps({"model": model, "tasks": exams or ["capitals"], "exams": {name: {} for name in exams}})
    )
    results = {}
    for name in exams:
        scores = [each["scores"]["score"] for each in samples if each.get("exam") == name and each["failure"] is None]
        failed = sum(each["failure"] is not None for each in samples if each.get("exam") == name)
        mean = sum(scores) / len(scores) if scores else None
        results[name] = {
            "score": mean,
            "score_name": "accuracy",
            "score_ci_low": 0.25,
            "score_ci_high": 0.75,
            "n": len(scores) + failed,
            "failures": failed,
            **({"failure_kinds": {"timeout": failed}} if failed else {}),
        }
    run = {"started": "2026-01-02T03:04:05+00:00", "seconds": 1.5, "engine": {"label": model}, "log": "log.db"}
    (folder / "results.json").write_text(json.dumps({"results": results | entries, "run": run}))
    (folder / "samples.jsonl").write_text("".join(json.dumps(each) + "\n" for each in samples))
    return folder


TIMEOUT = {"kind": "timeout", "message": "no answer came"}
