"""Run folders made by hand."""

import json

from starlette.testclient import TestClient

NASTY = '<script>alert(1)</script> & "quotes" \'\x1b[31m \u202egnp.exe \x00 end'


def client_of(app, host="127.0.0.1:7700"):
    """Return a client that has the token, as a program sends it."""
    return TestClient(app, base_url=f"http://{host}", headers={"authorization": f"Bearer {app.state.access.token}"})


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


def write_run(folder, samples, model="tiny", specifications=None, groups=None, **entries):
    """Write a run folder.

    Args:
        folder: Where.
        samples: The lines of ``samples.jsonl``.
        model: Its name.
        specifications: What ``run.yaml`` says of exams, by name.
        groups: Scores of groups, by exam.
        entries: More results, by name.
    """
    folder.mkdir(parents=True)
    exams = list(dict.fromkeys(each["exam"] for each in samples if "exam" in each))
    described = {name: (specifications or {}).get(name, {}) for name in exams}
    (folder / "run.yaml").write_text(json.dumps({"model": model, "tasks": exams or ["capitals"], "exams": described}))
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
            **({"groups": groups[name]} if groups and name in groups else {}),
        }
    run = {"started": "2026-01-02T03:04:05+00:00", "seconds": 1.5, "engine": {"label": model}, "log": "log.db"}
    (folder / "results.json").write_text(json.dumps({"results": results | entries, "run": run}))
    (folder / "samples.jsonl").write_text("".join(json.dumps(each) + "\n" for each in samples))
    return folder


TIMEOUT = {"kind": "timeout", "message": "no answer came"}


def grid_run(folder):
    """Write a run of one exam under two templates and two numbers of demos, in a suite with another exam."""
    cells = [(template, demos) for template in ("templates.short", "templates.long") for demos in (0, 2)]
    samples = []
    for number in range(40):
        template, demos = cells[number % 4]
        fields = {
            "question": f"What is question {number}?",
            "topic": "rivers" if number < 10 else "hills",
            "metadata": {"template": template, "num_demos": demos},
        }
        samples.append(sample(number, "maps", score=float(number % 4 == 3), input=fields))
    samples += [sample(number, "names") for number in range(5)]
    groups = [
        {
            "by": {"topic": topic},
            "n": n,
            "score": 0.25,
            "score_name": "accuracy",
            "score_ci_low": 0.1,
            "score_ci_high": 0.5,
        }
        for topic, n in (("rivers", 10), ("hills", 30))
    ]
    groups += [
        {"by": {"template": template, "num_demos": demos}, "n": 10, "score": score, "score_name": "accuracy"}
        for (template, demos), score in zip(cells, (0.0, 0.0, 0.0, 1.0), strict=True)
    ]
    recipe = {"recipe": {"card": "cards.maps", "template": ["templates.short", "templates.long"], "num_demos": [0, 2]}}
    suite = {"score": 0.6, "score_name": "subsets_mean", "n": 40, "failures": 0, "members": ["maps"]}
    return write_run(folder, samples, specifications={"maps": recipe}, groups={"maps": groups}, atlas=suite)


def judged(number, verdict="Good"):
    """Return an instance that a judge with a criterion looked at."""
    asked = [{"role": "user", "content": "Is <b>this</b> polite?"}]
    scores = {
        "score": 1.0,
        "politeness": 1.0,
        "politeness_selected_option": verdict,
        "politeness_assessment": "It says please, and <script>alert(2)</script>.",
        "politeness_option_selection_completion": verdict,
        "politeness_prompts": {"assessment": asked, "option_selection": asked},
        "politeness_positional_bias": True,
        "politeness_criteria": json.dumps({"name": "politeness", "description": "Is it friendly?"}),
    }
    return sample(number, "letters", scores=scores)
