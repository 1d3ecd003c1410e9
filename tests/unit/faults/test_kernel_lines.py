"""The lines that faults of accelerators write, in the driver's own shape."""

import re

import pytest
from isolated_node import NODE

from chaos.catalog import Catalog
from chaos.errors import Unsupported
from chaos.faults.gpu.ecc_double_bit import EccDoubleBit
from chaos.faults.gpu.off_the_bus import OffTheBus
from chaos.model.acts import WriteFile
from chaos.protocols.fault import Target

TARGET = Target(NODE, Catalog.installed().platform(NODE), injection="d7")
BEFORE = {"lost": 0, "ecc_corrected": 0, "ecc_uncorrected": 0}
XID = re.compile(
    r"<3>NVRM: Xid \(PCI:[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\): (?P<code>\d+), pid='<unknown>', name=<unknown>, (?P<text>.+)"
)


def lines(fault) -> list[str]:
    return [act.content for act in fault.apply(TARGET, BEFORE).acts if isinstance(act, WriteFile)]


@pytest.mark.parametrize(("fault", "code"), [(EccDoubleBit(gpu=1), "48"), (OffTheBus(gpu=1), "79")])
def test_the_first_line_has_the_shape_of_its_xid(fault, code):
    found = XID.match(lines(fault)[0])

    assert found
    assert found["code"] == code
    assert "(PCI:0000:5e:00)" in lines(fault)[0]


@pytest.mark.parametrize("fault", [EccDoubleBit(), OffTheBus()])
def test_every_line_says_that_it_was_injected_and_fits_into_one_record(fault):
    for line in lines(fault):
        assert line.endswith(" [chaos d7]\n")
        assert len(line) < 976


def test_a_lost_accelerator_has_the_second_line_that_drivers_print():
    assert lines(OffTheBus())[1] == "<3>NVRM: GPU 0000:17:00.0: GPU has fallen off the bus. [chaos d7]\n"


def test_an_accelerator_that_the_inventory_does_not_name_is_refused():
    with pytest.raises(Unsupported, match="names 2 accelerators"):
        EccDoubleBit(gpu=5).before(TARGET)
