"""YAML means what an editor shows: few conversions, no duplicates, and a place for everything."""

import pytest

from chaos.errors import InventoryError
from chaos.inventory.yaml_text import read


@pytest.mark.parametrize(
    "text", ["on", "off", "yes", "no", "y", "N", "5:00", "720:00:00", "012", "0o14", "0x1F", "1_000", "2026-12-01", ".5"]
)
def test_words_that_yaml_1_1_would_convert_stay_text(text):
    assert read(f"key: {text}", "f").content == {"key": text}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("False", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("12", 12),
        ("-3", -3),
        ("2.10", 2.1),
        ('"12"', "12"),
    ],
)
def test_only_plain_words_and_decimal_numbers_are_converted(text, value):
    assert read(f"key: {text}", "f").content == {"key": value}


def test_a_key_is_always_text():
    assert read("{on: 1, 007: 2, 5:00: 3}", "f").content == {"on": 1, "007": 2, "5:00": 3}


def test_a_duplicate_key_is_refused_and_both_places_are_named():
    with pytest.raises(InventoryError, match=r"f:3:1 \[a\].*twice.*first on line 1"):
        read("a: 1\nb: 2\na: 3\n", "f")


@pytest.mark.parametrize("text", ["a: &x 1\nb: *x", "&x [*x]", "a: !!python/object:os.system {}", "a: !secret x", "!!set {a}"])
def test_anchors_aliases_and_tags_are_refused(text):
    with pytest.raises(InventoryError, match="refused"):
        read(text, "f")


@pytest.mark.parametrize(
    "text", ["a: [", "a: b: c", "\t- x", "a: 'x", "--- 1\n--- 2", "? [a]\n: b", "", "# nothing\n", "[" * 5000]
)
def test_what_is_not_one_yaml_document_is_an_error_with_the_file_named(text):
    with pytest.raises(InventoryError, match=r"^f"):
        read(text, "f")


def test_values_and_keys_keep_their_places():
    document = read("a:\n  b: [1, two]\n", "f")

    assert (document.keys["a", "b"], document.values["a", "b", 1]) == ((2, 3), (2, 10))


def test_a_mistake_about_something_absent_points_at_what_would_hold_it():
    mistake = read("a:\n  b: {c: 1}\n", "f").mistake(("a", "b", "d"), "missing")

    assert (mistake.line, mistake.column, mistake.key) == (2, 6, "a.b.d")
