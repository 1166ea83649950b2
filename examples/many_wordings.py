"""The same exam in several wordings: how much of a score is the model, and how much the template?"""

from __future__ import annotations

from proctor import InputOutputTemplate, TemplatesDict, evaluate, load_dataset
from proctor.engines import ScriptedEngine

wordings = TemplatesDict(
    {
        "plain": InputOutputTemplate(input_format="{question}\nAnswer:", output_format="{answer}"),
        "polite": InputOutputTemplate(input_format="Please solve this: {question}\nAnswer:", output_format="{answer}"),
    }
)
exam = load_dataset(
    card="samples.cards.arithmetic",
    template=wordings,
    split="test",
    group_by=["template"],
    postprocessors=["processors.extract_last_number"],
)
model = ScriptedEngine(rules=[("Please.*", "I would rather not say.")], answer="12")
results = evaluate(predictions=model.infer(exam), data=exam)
print(results.groups_scores.summary)
