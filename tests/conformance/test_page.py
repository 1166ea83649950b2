"""The page of differences says what the recordings hold."""

import logging
from importlib import import_module

import pytest
from conformance import page
from conformance.comparisons import COMPARISONS
from conformance.explained import EXPLANATIONS
from conformance.places import ROOT
from conformance.recorded import recording


def test_the_page_is_of_these_recordings():
    written = page.PAGE.read_text(encoding="utf-8")
    section = page.text({system: recording.read(system) for system in page.TITLES})
    assert page.renewed(written, section) == written, "python -m conformance.page writes it"


def test_every_explanation_is_on_the_page():
    written = page.PAGE.read_text(encoding="utf-8")
    assert [name for name, said in EXPLANATIONS.items() if said.replace("|", "\\|") not in written] == []


def test_what_stands_around_the_section_stays():
    assert page.renewed(f"before\n{page.BEGIN}\nold\n{page.END}\nafter", "new") == "before\nnew\nafter"
    with pytest.raises(ValueError, match="no section"):
        page.renewed("no markers", "new")


def test_every_comparison_is_run():
    listed = {each.module.partition(":")[0] for each in COMPARISONS}
    places = [ROOT / "conformance" / name.replace(".", "/") for name in listed]
    assert all(each.with_suffix(".py").is_file() or (each / "__main__.py").is_file() for each in places)
    programs = {
        f"{path.parent.name}.{path.stem}"
        for path in (ROOT / "conformance").glob("*/*.py")
        if "argparse" in path.read_text(encoding="utf-8") and path.parent.name != "own"
    }
    assert programs <= listed


@pytest.mark.parametrize("module", sorted({each.module.partition(":")[0] for each in COMPARISONS}))
def test_programs_find_what_they_compare(module):
    silent = logging.root.manager.disable
    try:
        import_module(f"conformance.{module}")
    finally:
        logging.disable(silent)  # some programs silence the other system while they run
