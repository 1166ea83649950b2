"""Loaders, operators, splitters and streams; names are imported when they are first used."""

from __future__ import annotations

from proctor.lazy import lazily

_HOMES = {
    "augmentors": (
        "AugmentPrefixSuffix AugmentWhitespace Augmentor NullAugmentor TaskInputsAugmentor TextAugmentor "
        "TypeDependentAugmentor"
    ),
    "collection_operators": (
        "Chunk DictToTuplesList Dictify DuplicateByList DuplicateBySubLists Explode ExplodeSubLists Filter Flatten "
        "Get GetLength Pop Slice Wrap Zip ZipLongest"
    ),
    "computed_fields": "Apply ExecuteExpression ExpressionMixin FormatText",
    "dialog_operators": "IobExtractor SerializeDialog SerializeOpenAiFormatDialog ToDialog paired_turns",
    "field_operators": (
        "AddConstant AddID ApplyOperatorsField BytesToString Cast CastFields Copy CopyFields Fillna GetItemByIndex "
        "Intersect IntersectCorrespondingFields JoinStr MapValues Move Perturb ReadFile RecursiveCopy RemoveValues "
        "Rename RenameFields ShuffleFieldValues WikipediaFetcher"
    ),
    "fields": "MISSING delete_field deleter finder get_field getter set_field setter",
    "files": "FileLoader LoadCSV LoadJsonFile",
    "filters": (
        "Balance Deduplicate DeterministicBalancer FilterByCondition FilterByConditionBasedOnFields "
        "FilterByExpression LengthBalancer MinimumOneExamplePerLabelRefiner RowFilter SignatureRefiner StreamRefiner"
    ),
    "fusion": "BaseFusion FixedFusion WeightedFusion",
    "image_operators": (
        "DecodeImage EncodeImageToString GrayScale GridLines HashImage ImageAugmentor ImageFieldOperator Oldify "
        "PixelNoise ToImage ToRGB"
    ),
    "images": "data_url_to_image image_to_data_url open_image",
    "instance_operators": (
        "AddFields DivideAllFieldsBy EncodeLabels FlattenInstances IndexOf InterleaveListsToDialogOperator "
        "ListFieldValues MapInstanceValues RecursiveReplace RemoveFields SelectFields Set TakeByField ZipFieldValues"
    ),
    "json_operators": (
        "DumpJson FixJsonSchemaOfParameterTypes JsonStrToDict LoadJson MultipleToolCallPostProcessor "
        "PythonCallProcessor ToolCallPostProcessor"
    ),
    "loaders": "LazyLoader LoadFromDictionary Loader MultipleSourceLoader",
    "operator": (
        "FieldOperator InstanceFieldOperator InstanceOperator MultiStreamOperator Operator PagedStreamOperator "
        "SequentialOperator SideEffectOperator SingleStreamOperator SourceOperator SourceSequentialOperator "
        "StreamOperator StreamingOperator"
    ),
    "policy": "check_policy policy_of",
    "hub_loaders": "LoadHF LoadFromHFSpace TURLColumnTypeAnnotationLoader",
    "iob_files": "LoadIOB",
    "remote": "LoadFromAPI LoadFromIBMCloud LoadFromKaggle LoadFromSklearn",
    "splitters": (
        "RenameSplits SeparateSplit SliceSplit SplitRandomMix Splitter parse_random_mix_string parse_slices_string"
    ),
    "side_effects": "DownloadOperator ExtractZipFile",
    "stream_operators": (
        "AddIncrementalId ApplyStreamOperatorsField CollateInstances CollateInstancesByField DeleteSplits "
        "DuplicateInstances DuplicateSplit ExtractFieldValues ExtractMostCommonFieldValues FeatureGroupedShuffle "
        "IterableSource JoinStreams MergeStreams Shuffle SplitByNestedGroup"
    ),
    "streams": "DynamicStream GeneratorStream INFERENCE_STREAM INSTANCE_STREAM ListStream MultiStream Stream",
    "table_operators": (
        "ConstructTableFromRowsCols ConvertTableColNamesToSequential DuplicateTableColumns DuplicateTableRows "
        "GetNumOfTableCells InsertEmptyTableRows ListToKeyValPairs MapHTMLTableToJSON MapTableListsToStdTableJSON "
        "MaskColumnsNames ParseCSV SerializeKeyValPairs SerializeTableRowAsList SerializeTableRowAsText "
        "SerializeTriples ShuffleColumnsNames ShuffleTableColumns ShuffleTableRows TableAugmentor TransposeTable "
        "TruncateTableCells TruncateTableRows shuffle_columns shuffle_rows truncated_cell"
    ),
    "text_operators": (
        "Join MapReplace RegexReplace RegexSplit Replace Split Strip TokenizerOperator TokensSlice TokensSplit compiled"
    ),
    "databases": "connect",
}
__getattr__, __dir__ = lazily(__name__, {home: names.split() for home, names in _HOMES.items()})
__all__ = [name for names in _HOMES.values() for name in names.split()]
