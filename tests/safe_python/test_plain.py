"""Whatever a row holds, templates and expressions get data and handles, and nothing in it acts."""

import io
import sys
from collections import OrderedDict, defaultdict
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum, IntEnum
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

from proctor.data.format_strings import compile_format
from proctor.dialects.lm_eval.jinja import compile_expression as jinja_expression
from proctor.dialects.lm_eval.jinja import compile_text
from proctor.dialects.lm_eval.media import media_of
from proctor.errors import ProctorError
from proctor.safe_python import compile_expression
from proctor.safe_python.budget import RefusalError
from proctor.safe_python.plain import FLAT_IN_TEMPLATES, Handle, held, plain, plain_row
from proctor.safe_python.rows import compile_predicate
from proctor.safe_python.table_functions import safe_function

PIL = pytest.importorskip("PIL.Image")


class Acting:
    """An object all of whose doings are seen."""

    acted: list[str] = []

    def __getattr__(self, name):
        Acting.acted.append(name)
        return self

    def _act(self, *arguments, **named):
        Acting.acted.append("called")
        return "acted"

    __call__ = __str__ = __repr__ = __format__ = __iter__ = __len__ = __bool__ = __getitem__ = _act
    __eq__ = __lt__ = __add__ = __radd__ = __mul__ = __mod__ = __contains__ = __index__ = __hash__ = _act  # type: ignore[assignment]


class Mapped(dict):
    """A dictionary that acts when it is read."""

    __getitem__ = items = keys = values = get = __iter__ = Acting._act  # type: ignore[assignment]


class Tag(str):
    """A text of another kind."""

    __slots__ = ()


class Words(str):
    """A text that acts."""

    __slots__ = ()

    __str__ = upper = strip = __len__ = Acting._act  # type: ignore[assignment]


class Pair(NamedTuple):
    left: int
    right: int


Colour = Enum("Colour", "RED")
Number = IntEnum("Number", "ONE")


@pytest.fixture
def row(tmp_path):
    picture = PIL.new("RGB", (2, 2))
    path = tmp_path / "x.png"
    picture.save(path)
    Acting.acted.clear()
    with PIL.open(path) as opened, path.open("rb") as file:
        yield {
            "image": opened,
            "images": [opened, {"image": opened}],
            "array": np.arange(4),
            "audio": {"array": np.zeros(3), "sampling_rate": 16_000, "path": "a.wav", "bytes": b"RIFF"},
            "file": file,
            "buffer": io.BytesIO(b"x"),
            "path": path,
            "act": Acting(),
            "acts": [Acting()],
            "mapped": Mapped(a=1),
            "words": Words("text"),
            "module": sys,
            "function": print,
            "kind": dict,
            "space": SimpleNamespace(a=1),
            "t": "text",
        }


PATHS = (
    *(
        "image.save('{0}', 'PPM')",
        "image.show()",
        "image.filename",
        "image.fp",
        "image.fp.name",
        "image.load()",
        "image.close()",
    ),
    *(
        "image.im",
        "image.info",
        "image.__class__",
        "image.tobitmap()",
        "images[0].save('{0}')",
        "images[1].image.save('{0}')",
    ),
    *(
        "array.tofile('{0}')",
        "array.dump('{0}')",
        "array.data",
        "array.base",
        "array.ctypes",
        "array.tobytes()",
        "array.T",
    ),
    *("audio.array.tofile('{0}')", "audio['array'].dump('{0}')", "array[0]", "array.tolist()", "image['filename']"),
    *(
        "file.read()",
        "file.name",
        "file.close()",
        "file.raw",
        "buffer.getvalue()",
        "path.write_text('x')",
        "path.unlink()",
    ),
    *(
        "path.read_text()",
        "path.parent",
        "act.x",
        "act()",
        "act.x()",
        "acts[0].x",
        "acts[0]()",
        "act[0]",
        "words.act()",
    ),
    *("module.exit()", "module.modules", "module.path", "function('x')", "kind()", "kind.mro()", "space.a", "space.b"),
)
FILTERS = (
    *(
        "act|list",
        "act|length",
        "act|first",
        "act|sum",
        "act|join",
        "act|sort",
        "act|map('upper')|list",
        "act|attr('x')",
    ),
    *("act|tojson", "act|items|list", "act|round", "act|abs", "act|batch(2)|list", "act|unique|list"),
    *(
        "act|xmlattr",
        "act|dictsort",
        "act|groupby('x')",
        "[act, 1]|sort",
        "[act, act]|max",
        "[act]|sum",
        "image|tojson",
    ),
    *("image|attr('filename')", "[image]|map(attribute='filename')|join", "image|attr('_value')", "image._value"),
    *(
        "image['_value']",
        "[image]|map(attribute='_value')|first",
        "array|list",
        "array|sum",
        "act + act",
        "act * 2",
        "act % 2",
    ),
    *("act < act", "1 in act", "act[1:]", "'%d' % act", "'%d'|format(act)", "audio.bytes|list", "audio.bytes.decode()"),
)
HARMLESS = (
    "{{ act }}",
    "{{ image }}",
    "{{ act == act }}",
    "{{ act is defined }}",
    "{{ act|string }}",
    "{{ 'x' ~ act }}",
)


class TestTemplates:
    @pytest.mark.parametrize("path", [*PATHS, *FILTERS])
    def test_nothing_in_a_row_acts(self, row, tmp_path, path):
        target = tmp_path / "written"
        with pytest.raises(ProctorError):
            compile_text(f"{{{{ {path.replace('{0}', str(target))} }}}}")(row)
        assert not target.exists()
        assert Acting.acted == []
        assert row["path"].exists()

    @pytest.mark.parametrize("path", PATHS)
    def test_nor_where_the_value_keeps_its_type(self, row, tmp_path, path):
        target = tmp_path / "written"
        evaluate = jinja_expression(f"{{{{ {path.replace('{0}', str(target))} }}}}")
        with pytest.raises(ProctorError):
            evaluate(row)
        assert not target.exists()
        assert Acting.acted == []

    @pytest.mark.parametrize("template", HARMLESS)
    def test_a_handle_is_printed_and_compared(self, row, template):
        assert compile_text(template)(row) in ("<Acting>", "<PngImageFile>", "True", "x<Acting>")
        assert Acting.acted == []

    def test_what_derives_from_data_is_data(self, row):
        assert compile_text("{{ words.upper() }} {{ words|length }} {{ mapped.a }}")(row) == "TEXT 4 1"
        assert Acting.acted == []

    def test_media_are_handed_on(self, row):
        found = jinja_expression("{{ images }}")(row)
        assert isinstance(found[0], Handle)
        assert held(found) == row["images"]
        (picture,) = media_of("image", jinja_expression("{{ image }}")(row))
        assert picture.source.startswith("data:image/png;base64,")


class TestFormatStrings:
    @pytest.mark.parametrize(
        "text",
        [
            "{image.filename}",
            "{image.fp}",
            "{array.data}",
            "{act.x}",
            "{act[0]}",
            "{images[0].fp}",
            "{act:>5}",
            "{path.parent}",
        ],
    )
    def test_nothing_in_a_row_acts(self, row, text):
        with pytest.raises(ProctorError):
            compile_format(text, "a template", "input_format")(row)
        assert Acting.acted == []

    def test_a_handle_is_printed(self, row):
        assert compile_format("{act} {image} {t}", "a template", "input_format")(row) == "<Acting> <PngImageFile> text"


class TestExpressions:
    @pytest.mark.parametrize("path", [each for each in PATHS if not each.startswith(("image.im", "function"))])
    def test_nothing_in_a_row_acts(self, row, tmp_path, path):
        target = tmp_path / "written"
        with pytest.raises((ProctorError, TypeError, KeyError, AttributeError)):
            compile_expression(path.replace("{0}", str(target)))(row)
        assert not target.exists()
        assert Acting.acted == []

    @pytest.mark.parametrize(
        "text",
        ["len(act)", "list(act)", "sorted([act, act])", "act + 1", "act * 2", "act < 1", "1 in act", "sum([act])",
         "act[0]", "[x for x in act]", "int(act)", "float(act)", "f'{act:x}'", "'%d' % act", "max(act)", "{**act}", "act % 2",
         "abs(act)", "round(act)", "dict(act)", "len(image)", "array[0]", "list(array)", "array + 1", "-act"],
    )  # fmt: skip
    def test_nor_by_operators_and_functions(self, row, text):
        with pytest.raises((ProctorError, TypeError, ValueError, AttributeError)):
            compile_expression(text)(row)
        assert Acting.acted == []

    def test_objects_are_handed_on(self, row):
        assert compile_expression("image")(row) is row["image"]
        assert compile_expression("[image, {'a': array}]")(row)[1]["a"] is row["array"]
        assert compile_expression("audio['bytes']")(row) == b"RIFF"
        assert compile_expression("images")(row)[1]["image"] is row["image"]
        assert next(compile_expression("(x for x in images)")(row)) is row["image"]
        assert safe_function("list")([row["image"]]) == [row["image"]]
        assert compile_predicate("lambda x: x['t'] == 'text' and x['act'] is not None")(row)
        assert Acting.acted == []


class TestPlain:
    @pytest.mark.parametrize(
        "value, seen",
        [
            (np.float64(0.5), 0.5),
            (np.int32(3), 3),
            (np.bool_(True), True),
            (np.str_("a"), "a"),
            (np.datetime64("2020-01-02"), date(2020, 1, 2)),
            ([np.float32(1)], [1.0]),
            ({"a": np.int64(1)}, {"a": 1}),
            (OrderedDict(a=1), {"a": 1}),
            (defaultdict(list, a=1), {"a": 1}),
            (MappingProxyType({"a": 1}), {"a": 1}),
            (Pair(1, 2), (1, 2)),
            (Number.ONE, 1),
            (Tag("x"), "x"),
            ({np.int64(1): [np.int64(2)]}, {1: [2]}),
        ],
    )
    def test_subclasses_and_numbers_of_numpy_become_pythons(self, value, seen):
        found = plain(value)
        assert found == seen
        assert type(found) is type(seen)

    @pytest.mark.parametrize(
        "value",
        ["x", 1, 0.5, None, True, [1, "a", [2]], {"a": {"b": (1, 2)}}, {1, 2}, date(2020, 1, 1), datetime.now(UTC),
         timedelta(1), [[[[[[[[[[1]]]]]]]]]], {(1, 2): 3}, range(3), Decimal("1.10")],
    )  # fmt: skip
    def test_data_stay_the_very_same(self, value):
        assert plain(value) is value
        assert plain_row(row := {"a": value}) is row

    @pytest.mark.parametrize(
        "value", [Colour.RED, object(), Path(), b"".join, Decimal("1E+999999999"), bytearray(b"x")]
    )
    def test_all_else_is_a_handle(self, value):
        assert isinstance(plain(value), Handle)
        assert held(plain([value]))[0] is value

    def test_moments_of_pandas(self):
        pd = pytest.importorskip("pandas")
        assert type(plain(pd.Timestamp("2020-01-02"))) is datetime
        assert plain(pd.NaT) is None

    def test_bytes_are_media_in_templates_only(self):
        assert plain([b"x"]) == [b"x"]
        assert isinstance(plain([b"x"], FLAT_IN_TEMPLATES)[0], Handle)

    def test_what_holds_itself_or_is_too_deep_is_refused(self):
        itself: list[object] = [object()]
        itself.append(itself)
        deep: list[object] = []
        for _ in range(500):
            deep = [deep]
        for value in (itself, deep):
            with pytest.raises(RefusalError):
                plain(value)
            with pytest.raises(ProctorError):
                compile_text("{{ x|length }}")({"x": value})
            with pytest.raises(ProctorError):
                compile_expression("len(x)")({"x": value})

    def test_what_is_shared_is_seen_once(self):
        value: list[object] = [object()]
        for _ in range(150):
            value = [value, value]
        seen = plain(value)
        assert seen[0] is seen[1]
