# ruff: noqa: E501 - a case a line
"""What programs and tests call on Unitxt's objects, as Python text: see :mod:`conformance.unitxt.name_cases`.

``raised(E, call)`` says whether a call raises an error of a class, because the words of errors are each system's own.
"""

from __future__ import annotations

_RAISED = """def raised(kind, call):
    try:
        call()
    except kind:
        return kind.__name__
    except Exception:
        return 'another error'
    return 'nothing'"""
_FILES = """import json, os, tempfile, unitxt
unitxt.settings.allow_unverified_code = True
F = tempfile.mkdtemp()
def written(name, text):
    with open(os.path.join(F, name), 'w') as file:
        file.write(text)
    return os.path.join(F, name)
A = written('a.csv', 'x,y\\n1,a\\n2,\\n3,c\\n')
B = written('b.csv', 'x\\n6\\n7\\n')
T = written('t.tsv', 'x\\tz\\n1\\ta;b\\n')
J = written('l.json', '[{"a": 1}, {"a": 2}]')
D = written('d.json', '{"data": {"rows": [{"a": 1}, {"a": 2}]}}')
C = written('c.json', '{"a": [1, 2], "b": ["x", "y"]}')
N = written('n.jsonl', '{"a": 1}\\n{"a": 2}\\n{"a": 3}\\n')
def read(loader):
    return {name: [dict(sorted(row.items())) for row in rows] for name, rows in sorted(loader().items())}
def hf(**fields):
    return read(LoadHF(path='csv', data_files={'train': A}, **fields))"""
_LABELS = """choices = ['dog', 'cat']
def one(labels, text, choices=choices):
    return {'input_fields': {'choices': choices, 'text': text}, 'reference_fields': {'labels': labels}}
pool = [one(['dog'], 'B1'), one(['dog'], 'B2'), one(['cat'], 'C1'), one(['dog'], 'B3'), one(['cow'], 'M1'), one(['duck'], 'Q')]
asked = [{'input_fields': {'question': q}} for q in ('What is your name?', 'Where is Paris?', "What's the time?", 'Your name, please?')]
def texts(found):
    return [each['input_fields'].get('text', each['input_fields'].get('question')) for each in found]"""
_RECIPES = """from unitxt.card import TaskCard
from unitxt.loaders import LoadFromDictionary
from unitxt.standard import DatasetRecipe
from unitxt.task import Task
from unitxt.templates import *
rows = [{'text': f't{i}', 'label': 'ab'[i % 2]} for i in range(30)]
task = Task(input_fields={'text': str}, reference_fields={'label': str}, prediction_type=str, metrics=['metrics.accuracy'])
one = InputOutputTemplate(input_format='{text}', output_format='{label}', instruction='classify')
two = InputOutputTemplate(input_format='2 {text}', output_format='{label}')
def card():
    return TaskCard(loader=LoadFromDictionary(data={'train': rows, 'test': rows[:10], 'validation': rows[:5]}), task=task, templates=TemplatesDict({'t': one}))
def recipe(**fields):
    return DatasetRecipe(card=card(), **{'template': one, **fields})
def sources(**fields):
    return {name: [row['source'] for row in stream] for name, stream in sorted(recipe(**fields)().items())}"""
_METRICS = """from unitxt.test_utils.metrics import apply_metric
def shown(value):
    if isinstance(value, (int, float)):
        return 'nan' if value != value else round(float(value), 7)
    if isinstance(value, dict):
        return {name: shown(part) for name, part in sorted(value.items())}
    return [shown(part) for part in value] if isinstance(value, (list, tuple)) else value
def scored(metric, predictions, references, *more, **named):
    metric.disable_confidence_interval_calculation()
    found = apply_metric(metric, predictions, references, *more, **named)
    return shown(found[0]['score']['global']), [shown(row['score']['instance']) for row in found]
animals = (['cat', 'cat', 'dog', 'dog', 'cat', 'cat'], [['cat'], ['dog'], ['dog'], ['dog'], ['cat'], ['cat']])
several = ([['cat'], ['2'], ['cat', 'dog'], ['dog']], [[['cat', 'dog']], [['dog']], [['dog']], [['dog']]])
tools = {'__tools__': [{'type': 'function', 'function': {'name': 't', 'parameters': {'properties': {'p': {'type': 'string'}, 'n': {'type': 'integer'}}}}}]}
def called(name, **arguments):
    return {'name': name, 'arguments': arguments}"""
_STATES = """from unitxt.settings_utils import Settings, get_settings
settings = Settings()
def assigned(name, *values):
    for value in values:
        setattr(settings, name, value)
    return getattr(settings, name)"""
_ENGINES = "import unitxt\nunitxt.settings.mock_inference_mode = True\nfrom unitxt.inference import *"
_STREAMS = "from unitxt.stream import *\ndef count(n):\n    return ({'i': i} for i in range(n))"
_FUSED = """from unitxt.operators import IterableSource
def parts():
    return {'o1': IterableSource({'test': [{'x': 'x1'}, {'x': 'x2'}]}), 'o2': IterableSource({'test': [{'x': 'y1'}], 'train': [{'x': 'z'}]})}
def fused(kind, **fields):
    return {name: list(rows) for name, rows in kind(subsets=parts(), **fields)().items()}"""


def _raises(*calls: str, kind: str = "ValueError") -> tuple[str, ...]:
    return tuple(f"raised({kind}, lambda: {call})" for call in calls)


GROUPS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("from unitxt.loaders import *", f"{_RAISED}\n{_FILES}", (
        *(f"read(LoadCSV(files={{'train': A, 'test': B}}{more}))" for more in ("", ", loader_limit=2", ", chunksize=2", ", streaming=True", ", data_classification_policy=['public']", ", num_proc=1")),
        "read(LoadCSV(files={'test': T}, sep='\\t'))",
        *(f"read(LoadJsonFile(files={{'test': {file}}}{more}))" for file, more in (("J", ""), ("D", ", data_field='data/rows'"), ("N", ", lines=True"), ("N", ", lines=True, loader_limit=2"), ("C", ""), ("J", ", loader_limit=1"), ("J", ", data_classification_policy=['public']"))),
        "read(LoadFromDictionary(data={'train': [{'i': 1}], 'test': [{'i': 2}]}))", "read(LoadFromDictionary(data={'train': [{'i': 1}]}, data_classification_policy=['public']))",
        *_raises("LoadFromDictionary(data={'train': 'x'})", "LoadFromDictionary(data={'train': [1]})", "LoadFromDictionary(data={'train': []})", "LoadFromDictionary(data={'train': [{'a': 1}, {'b': 2}]})", "LoadFromDictionary(data=[1])"),
        *_raises("read(LoadCSV(files={'test': F + '/none.csv'}))", "read(LoadJsonFile(files={'test': N}))", "read(LoadJsonFile(files={'test': D}, data_field='none'))", "read(LoadFromSklearn(dataset_name='none', splits=['train']))", "read(LoadHF(path='no/such'))", kind="Exception"),
        *(f"read(MultipleSourceLoader(sources=[LoadFromDictionary(data={{'train': [{{'a': 1}}, {{'a': 2}}]}}), LoadFromDictionary(data={{'test': [{{'a': 2}}], 'train': [{{'a': 3}}]}})]{more}))" for more in ("", ", data_classification_policy=['public']")),
        "read(MultipleSourceLoader(sources=[LoadCSV(files={'train': A}), LoadCSV(files={'test': B})]))",
        "hf()", "hf(split='train', loader_limit=2)", "hf(filtering_lambda=\"lambda row: row['x'] > 1\")", "hf(streaming=True, data_classification_policy=['public'])", "hf(num_proc=1)",
        "read(LoadHF(path='json', data_files={'test': N}, splits=['test']))", "read(LoadHF(path='csv', data_files=[B]))", "read(LoadHF(path='csv', data_files=B))", "read(LoadHF(path='csv', data_dir=F, data_files={'train': 'a.csv'}))",
    )),
    ("from unitxt.splitters import *", f"{_RAISED}\n{_LABELS}", (
        "DiverseLabelsSampler().exemplar_repr(exemplar=one(['cat'], ''))",
        *_raises("DiverseLabelsSampler().exemplar_repr(exemplar=one(['x'], '', {'not': 'good'}))", "DiverseLabelsSampler().exemplar_repr(exemplar={'input_fields': {'choices': ['a']}})", "DiverseLabelsSampler().filter_source_by_instance(pool, {'a': 1})", "CloseTextSampler(field='none').sample(2, asked, asked[0])", "FixedIndicesSampler(indices=[2, 99]).sample(2, asked, asked[1])"),
        "len(DiverseLabelsSampler().filter_source_by_instance(pool, pool[0]))", *(f"texts(DiverseLabelsSampler({more}).sample(3, pool, pool[0]))" for more in ("", "include_empty_label=False")),
        "texts(CloseTextSampler(field='question').sample(2, asked, {'input_fields': {'question': \"What's your name?\"}}))", "texts(FixedIndicesSampler(indices=[2, 0]).sample(2, asked, asked[1]))", *(f"texts(RandomSampler().sample(2, asked, asked[1]{more}))" for more in ("", ", sampling_seed=5")),
    )),
    ("", f"{_RAISED}\n{_RECIPES}", (
        *(f"sources({more})" for more in ("", "demos_pool_size=5, num_demos=1", "demos_pool_size=5, num_demos=[0, 1, 2], demos_removed_from_data=False", "template=[one, two]", "demos_pool_size=5, num_demos=1, max_train_instances=7, max_test_instances=5", "loader_limit=4")),
        "next(iter(recipe(group_by=['label', ['label', 'text']])()['test']))['groups']", "[next(iter(recipe(metrics=['metrics.f1_micro'], postprocessors=['processors.lower_case'])()['test']))[key] for key in ('metrics', 'postprocessors')]",
        "recipe().produce([{'text': 'x', 'label': 'a'}])", "(recipe().has_card_templates, recipe().has_no_templates)",
        *_raises(*(f"recipe({more})" for more in ("loader_limit=9, max_test_instances=10", "loader_limit=9, max_train_instances=10", "loader_limit=9, num_demos=3, demos_pool_size=10", "template=None, template_card_index='none'"))),
        *_raises("recipe(template_card_index=100)", "recipe(template_card_index='i')", kind="AssertionError"), *_raises("recipe(no_field=1)", kind="TypeError"),
        *_raises("recipe(num_demos=3, demos_pool_size=0)", "recipe(num_demos=30, demos_pool_size=10)", "DatasetRecipe(template=one)", kind="Exception"),
        "KeyValTemplate().process_dict({'a': 'b', 'l': ['c']}, key_val_sep=': ', pairs_sep=', ', use_keys=True)", "len(TemplatesDict())",
        *(f"YesNoTemplate(input_format='Is {{text}} of {{class}}?', class_field='class', label_field='labels').{call}" for call in ("input_fields_to_source({'text': 'a', 'class': 'news'})", "reference_fields_to_target_and_references({'labels': ['news'], 'class': 'news'})", "reference_fields_to_target_and_references({'labels': ['x'], 'class': 'news'})")),
        *_raises("one.process({'input_fields': {'no': 1}, 'reference_fields': {'label': 'a'}})", "two.process({'input_fields': {'text': 1}, 'reference_fields': {'no': 'a'}})", kind="Exception"),
        "Task(input_fields={'a': 'str'}, reference_fields={'l': 'str'}, prediction_type='str', metrics=['metrics.accuracy', 'metrics.string_containment']).check_metrics_type()",
        *_raises("Task(input_fields={'a': 'str'}, reference_fields={'l': 'str'}, prediction_type='float', metrics=['metrics.string_containment']).check_metrics_type()", kind="Exception"),
        *_raises("Task(input_fields={'a': 'str'}, reference_fields={'l': 'str'}, prediction_type='str', metrics=['metrics.accuracy'], defaults={'z': 'x'})", "Task(input_fields={'a': 'str'}, reference_fields={'l': 'str'}, prediction_type='str', metrics=['metrics.accuracy'], defaults={'a': 1})", kind="AssertionError"),
    )),
    ("from unitxt.metrics import *", f"{_RAISED}\n{_METRICS}", (
        *(f"scored({metric}(), *animals)" for metric in ("Accuracy", "MaxAccuracy", "F1Micro", "F1Macro", "F1Weighted", "StringContainment", "TokenOverlap", "ExactMatchMM", "CharEditDistance")),
        *(f"scored({metric}(), *several)" for metric in ("F1MacroMultiLabel", "F1MicroMultiLabel", "PrecisionMacroMultiLabel", "RecallMicroMultiLabel")),
        *(f"scored({metric}(), [0.3, 0.9, 0.7, 0.8], [[1], [0], [0], [1]])" for metric in ("BinaryMaxF1", "BinaryMaxAccuracy", "BinaryAccuracy", "F1Binary")),
        "scored(KeyValueExtraction(metric='metrics.accuracy'), [{'a': 'b', 'w': 'z'}], [[{'a': 'b', 'c': 'd'}]])", "scored(KeyValueExtraction(metric='metrics.token_overlap', score_prefix='t_'), [{'a': 'I C', 'z': '3'}], [[{'a': 'I', 'z': '3'}]])",
        *(f"scored(ToolCallingMetric(), [called({said})], [[{wanted}]], [tools])" for said, wanted in (("'t', p='v'", "called('t', p='v')"), ("'o', p='v'", "called('t', p='v')"), ("'t', p='v', w='w'", "called('t', p='v', n=4)"), ("'t'", "called('t', p='v')"), ("'t', p='v', n='no'", ""))),
        *_raises("scored(F1Micro(), [None], [['cat']])", "scored(F1Micro(), ['cat'], [['cat', 'dog']])", "scored(F1Micro(), [['cat']], [['dog']])", "scored(F1MicroMultiLabel(), [['A']], [['A B']])", "scored(F1MicroMultiLabel(), [[13]], [[['A']]])", "scored(F1Binary(), ['0.8'], [['1']])"),
    )),
    ("", f"{_RAISED}\n{_STATES}", (
        "Settings() is settings, get_settings() is settings", "assigned('my_own', 'x')",
        *_raises("settings.nothing_of_this_name", kind="AttributeError"),
    )),
    (_ENGINES, _RAISED, (
        *(f"{made}.get_engine_id()" for made in (
            "MockInferenceEngine(model_name='a/B-c.d')", "HFPipelineBasedInferenceEngine(model_name='google/flan-t5-small', max_new_tokens=2, lazy_load=True)", "HFAutoModelInferenceEngine(model_name='google/flan-t5-small', max_new_tokens=2, lazy_load=True)",
            "OllamaInferenceEngine(model='llama3.1:8b')", "OpenAiInferenceEngine(model_name='gpt-4')", "LiteLLMInferenceEngine(model='openai/x')", "WMLInferenceEngineGeneration(model_name='google/flan-ul2')", "CrossProviderInferenceEngine(model='llama-3-8b-instruct', provider='watsonx')", "RITSInferenceEngine(model_name='meta/x')", "TogetherAiInferenceEngine(model_name='a/b')")),
        "MockInferenceEngine(model_name='m').get_model_details()", "MockInferenceEngine(model_name='m').get_pretty_print_name()", "MockInferenceEngine(model_name='m').infer([{'source': 'x'}])[0]",
        *_raises("HFPipelineBasedInferenceEngine(model_name='google/flan-t5-small', max_new_tokens=2, lazy_load=True, data_classification_policy=['public']).infer([{'source': '', 'data_classification_policy': ['pii']}])", kind="Exception"),
    )),
    (_STREAMS, _RAISED, (
        "list(ListStream(instances_list=[{'a': 1}]))", "GeneratorStream(generator=count, gen_kwargs={'n': 3}).peek()", "[list(DynamicStream(generator=count, gen_kwargs={'n': 2})) for _ in range(2)]", "list(MultiStream.from_iterables({'a': [{'x': 1}, {'x': 2}]})['a'].take(1))",
        "len(MultiStream({'a': GeneratorStream(generator=count, gen_kwargs={'n': 4})}).to_dataset(disable_cache=False)['a'])",
    )),
    ("from unitxt.fusion import *", f"{_RAISED}\n{_FUSED}", (
        "fused(FixedFusion)", "fused(FixedFusion, max_instances_per_subset=1)", "fused(WeightedFusion, weights={'o1': 1, 'o2': 2}, max_total_samples=2)", "fused(WeightedFusion, weights={'o1': 2, 'o2': 1})",
    )),
    ("from unitxt.operators import *\nfrom unitxt.augmentors import *\nfrom unitxt.stream import MultiStream", _RAISED, (
        "Apply('a', function=str.upper, to_field='b').process({'a': 'x'})", "Apply('a', function='tuple', to_field='b').process({'a': [1, 2]})",
        "AddConstant(field_to_field={'a': 'b'}, add=5).process({'a': 1})", "DivideAllFieldsBy(divisor=2.0).process({'a': 10.0, 'b': [2.0], 'c': 5})", "ApplyOperatorsField(operators_field='d', default_operators='processors.to_string').process({'prediction': 1, 'references': [2]})['prediction']",
        *_raises("FilterByCondition(values={'a': 1}, condition='gte')", "Intersect(field='l', allowed_values=3)", "RemoveValues(field='l', unallowed_values=3)"),
        *_raises("AddConstant(field_to_field={'a': 'b', 'b': 'a'}, add=1).process({'a': 1, 'b': 1})", "AddConstant(field_to_field={'a': 'c', 'b': 'c'}, add=1).process({'a': 1, 'b': 1})", "Perturb(field='t', percentage_to_perturb=200)", "AugmentPrefixSuffix(prefixes=[10, 'O'], suffixes=None)", "ExtractMostCommonFieldValues(stream_name='s', field='a', to_field='b', overall_top_frequency_percent=120)", "ExtractMostCommonFieldValues(stream_name='s', field='a', to_field='b', overall_top_frequency_percent=90, min_frequency_percent=25)", kind="AssertionError"),
        *_raises("list(FilterByCondition(values={'b': ['w']}, condition='in')(MultiStream.from_iterables({'t': [{'b': 1}]}))['t'])", "list(FilterByExpression(expression='b == 9')(MultiStream.from_iterables({'t': [{'b': 1}]}))['t'])", kind="RuntimeError"),
    )),
    ("from unitxt.formats import SystemFormat\nfrom unitxt.artifact import Artifact", f"{_RAISED}\ninstance = {{'source': '1+1', 'target': '2', 'instruction': 'solve', 'demos': [{{'source': '1+2', 'target': '3', 'instruction': 'solve'}}]}}\nlaid = SystemFormat(demo_format='U:{{source}} A:{{target}}\\n', model_input_format='{{instruction}}\\n{{demos}}U:{{source}}').process(instance)", (
        "laid", "instance['source']", "'instruction' in instance", "Artifact().__id__", *_raises("Artifact(__id__='x')", kind="TypeError"),
    )),
)  # fmt: skip
