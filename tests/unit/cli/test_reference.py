"""The reference is written from what is installed, so it cannot be out of date."""

from chaos.catalog import Catalog
from chaos.cli.reference import FAMILIES, main, pages


class Sample:
    """One sentence."""

    kind = "sample"
    title = "A sample | with a bar"


def test_each_family_has_a_page_with_its_entries():
    written = pages(Catalog(probes={"sample": Sample}))

    assert {f"{family}.md" for family in FAMILIES} < set(written)
    assert "## `sample`\n\n**A sample | with a bar**\n\nOne sentence." in written["probes.md"]


def test_every_key_of_an_inventory_is_described():
    page = pages(Catalog())["inventory.md"]

    assert "| `contracted_slots` | Node places that the seller keeps in service" in page
    assert "|  |  |" not in page


def test_the_pages_are_written_for_this_installation(tmp_path):
    main(tmp_path / "reference")

    assert "[Faults](faults.md)" in (tmp_path / "reference" / "README.md").read_text()
