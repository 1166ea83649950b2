"""What of the wall stands where the kernel refuses a part of it, and what is said of it."""

from proctor.wall import raising, rules
from proctor.wall.raising import Wall


def refuse(*_given, **_named):
    raise OSError("not allowed here")


def test_what_the_kernel_does_not_hold_is_told_with_the_reason(monkeypatch):
    monkeypatch.setattr(raising.kernel, "prctl", refuse)
    found = raising._with_ports_and_programs(Wall(files=True), ())
    assert found == Wall(files=True, why_not="not allowed here")
    assert str(found) == "the kernel holds files; a watch over Python (not allowed here)"
    told = raising._with_ports_and_programs(Wall(why_not="an old kernel"), ())
    assert told.why_not == "an old kernel; not allowed here"


def test_a_wall_of_which_nothing_stands_is_a_watch():
    assert str(Wall()) == "a watch over Python"
    assert str(Wall(ports=True, programs=True)) == "the kernel holds ports, programs; a watch over Python"


def test_folders_that_may_be_written_are_made_with_those_above_them(tmp_path):
    (tmp_path / "file").touch()
    wanted = [tmp_path / "a" / "b", tmp_path / "file" / "c"]
    assert list(rules._made(map(str, wanted))) == wanted
    assert wanted[0].is_dir()
