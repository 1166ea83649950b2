"""Quick methods stand for plain ones until a program overrides one of these."""

from __future__ import annotations

from proctor.artifacts.overriding import definer, still_holds


class Base:
    def quick(self) -> int:
        return 2

    def plain(self) -> int:
        return 1


class Faster(Base):
    def quick(self) -> int:
        return 3


class Other(Base):
    def plain(self) -> int:
        return 4


class Both(Other):
    def quick(self) -> int:
        return 4


def test_a_quick_method_holds_until_a_plain_one_is_overridden_below_it() -> None:
    assert [still_holds(each, "quick", "plain", "absent") for each in (Base, Faster, Other, Both)] == [
        True,
        True,
        False,
        True,
    ]


def test_classes_of_this_package_keep_both_in_step_themselves() -> None:
    ours = type("Ours", (Base,), {"plain": lambda _: 5, "__module__": "proctor.somewhere"})
    assert still_holds(ours, "quick", "plain")
    assert (definer(ours, "plain"), definer(ours, "quick")) == (ours, Base)
