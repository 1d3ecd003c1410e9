"""Ranges, placeholders and addresses."""

import pytest

from chaos.inventory import notation


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("gpu[8-10]", ("gpu8", "gpu9", "gpu10")),
        ("gpu[08-10]", ("gpu08", "gpu09", "gpu10")),
        ("rack[1-2]n[01-02]", ("rack1n01", "rack1n02", "rack2n01", "rack2n02")),
        ("b1,a1", ("b1", "a1")),
        ("x[0-10/5,11,12-12]", ("x0", "x5", "x10", "x11", "x12")),
        ("gpu[1-2,7],login1", ("gpu1", "gpu2", "gpu7", "login1")),
        ("fd00::[1-2]", ("fd00::1", "fd00::2")),
        ("10.0.[0-1].[1-2]", ("10.0.0.1", "10.0.0.2", "10.0.1.1", "10.0.1.2")),
    ],
)
def test_a_range_is_expanded_in_the_order_written(text, names):
    assert notation.hosts(text) == names


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("gpu[3,1-2]", "ascend"),
        ("gpu[1-2,2]", "ascend"),
        ("a,a", "twice"),
        ("gpu[1-99999999999]", "more than"),
        ("r[1-999]n[1-999]", "more than"),
        ("@all", "not a host range"),
        ("gpu*", "not a host range"),
        ("a b", "not a host range"),
        ("$(reboot)", "not a host range"),
        ("gpu[1-", "not a host range"),
        (",", "nobody"),
        ("", "not a host range"),
    ],
)
def test_an_unclear_range_is_refused(text, why):
    with pytest.raises(ValueError, match=why):
        notation.hosts(text)


def test_two_ranges_may_be_large_together_as_long_as_their_sum_is_not():
    assert len(notation.hosts("a[1-4000],b[1-4000]")) == 8000


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("{name}-bmc", "gpu007-bmc"),
        ("10.0.0.{number}", "10.0.0.7"),
        ("10.0.0.{number+10}", "10.0.0.17"),
        ("r{index-1}", "r1"),
        ("n{number:03}", "n007"),
        ("n{number+1:03}", "n008"),
        ("plain", "plain"),
    ],
)
def test_placeholders_are_filled(text, filled):
    assert notation.fill(text, {"name": "gpu007", "number": 7, "index": 2}) == filled


@pytest.mark.parametrize("text", ["{nam}", "{}", "{name+1}", "{number*2}", "{number.__class__}", "{number:>99999999}", "{0}"])
def test_a_placeholder_that_is_not_understood_is_refused(text):
    with pytest.raises(ValueError, match=r"\{"):
        notation.fill(text, {"name": "gpu007", "number": 7})


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("10.0.0.1", "10.0.0.1"),
        ("2001:DB8:0::1", "2001:db8::1"),
        ("[fd00::1]", "fd00::1"),
        ("fe80::1%eth0", "fe80::1%eth0"),
        ("gpu1.example.org", "gpu1.example.org"),
        ("node_1", "node_1"),
    ],
)
def test_addresses_are_canonical(text, canonical):
    assert notation.address(text) == canonical


@pytest.mark.parametrize(
    "text", ["10.0.0.300", "1.2.3", "-oProxyCommand=x", "a b", "a..b", "", "fd00::g", "x;y", "http://x", "a" * 300]
)
def test_what_is_no_address_is_refused(text):
    with pytest.raises(ValueError, match="neither"):
        notation.address(text)


@pytest.mark.parametrize("text", ["0000:5e:00.0", "00000000:5E:00.0", "5e:00.0", "0000:5E:00.0"])
def test_pci_addresses_are_written_as_sysfs_does(text):
    assert notation.pci_address(text) == "0000:5e:00.0"


def test_a_wide_pci_domain_is_kept():
    assert notation.pci_address("00010000:01:00.0") == "10000:01:00.0"


@pytest.mark.parametrize("text", ["", "5e", "0000:5e:00.8", "0000:5e:00", "xx:00.0", "GPU-0"])
def test_what_is_no_pci_address_is_refused(text):
    with pytest.raises(ValueError, match="not a PCI address"):
        notation.pci_address(text)


@pytest.mark.parametrize("text", ["", "-x", "eth0; reboot", "../x", "sixteen-letters0"])
def test_an_interface_name_that_linux_would_not_take_is_refused(text):
    with pytest.raises(ValueError, match="not an interface name"):
        notation.interface(text)
