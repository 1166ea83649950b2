import pytest

from proctor.cli.exams import split_names


@pytest.mark.parametrize(
    "text, names",
    [
        ("a", ["a"]),
        ("a,b", ["a", "b"]),
        (" a , b ,", ["a", "b"]),
        ("a[x=1,y=2],b", ["a[x=1,y=2]", "b"]),
        ("a[x={k=1,l=2}],b", ["a[x={k=1,l=2}]", "b"]),
        ("card=cards.wnli,template=t,num_demos=2", ["card=cards.wnli,template=t,num_demos=2"]),
        (
            "card=cards.wnli,template=t,card=cards.rte,template=t",
            ["card=cards.wnli,template=t", "card=cards.rte,template=t"],
        ),
        ("card=c[a=1,b=2],template=t,samples", ["card=c[a=1,b=2],template=t", "samples"]),
        ("samples,card=c,template=t", ["samples", "card=c,template=t"]),
        ("mmlu::stem@cloze,hellaswag_*", ["mmlu::stem@cloze", "hellaswag_*"]),
        ("", []),
    ],
)
def test_lists_of_tasks(text, names):
    assert split_names(text) == names
