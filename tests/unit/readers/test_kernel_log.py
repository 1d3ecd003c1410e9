"""Kernel log lines as nodes print them."""

from datetime import UTC, datetime

import pytest

from chaos.model.unknown import Unknown
from chaos.readers.kernel_log import Line, LinkChange, OutOfMemory, Xid, meaning, read_line

XID = "NVRM: Xid (PCI:0000:8b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."


@pytest.mark.parametrize(
    ("raw", "line"),
    [
        (f"4,3974,227996640,-;{XID}", Line(XID, 227.99664, priority=4, facility=0, sequence=3974)),
        (f"12,8,1000000,-;{XID}", Line(XID, 1.0, priority=4, facility=1, sequence=8)),
        (f"<4>[2315424.09] {XID}", Line(XID, 2315424.09, priority=4, facility=0)),
        (f"[155044.078590] {XID}", Line(XID, 155044.07859)),
        (f"[  130.456250] [ T1946] {XID}", Line(XID, 130.45625)),
        (f"[Sun Mar  1 03:12:44 2026] {XID}", Line(XID, moment=datetime(2026, 3, 1, 3, 12, 44))),  # noqa: DTZ001
        (f"2026-02-11T09:14:02+0000 gpu-a01 kernel: {XID}", Line(XID, moment=datetime(2026, 2, 11, 9, 14, 2, tzinfo=UTC))),
        (
            f"kern  :warn  : 2026-01-21T04:41:44,283302+00:00 {XID}",
            Line(XID, moment=datetime(2026, 1, 21, 4, 41, 44, 283302, tzinfo=UTC)),
        ),
        (XID, Line(XID)),
    ],
)
def test_a_line_loses_its_prefix_and_keeps_what_the_prefix_says(raw, line):
    assert read_line(raw + "\n") == line


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (XID, Xid(79, "0000:8b:00", "GPU has fallen off the bus.", None, "<unknown>")),
        (
            "NVRM: Xid (PCI:000F:5E:00): 48, pid=1234, name=python3 -m, a, An uncorrectable double bit error (DBE)",
            Xid(48, "000f:5e:00", "a, An uncorrectable double bit error (DBE)", 1234, "python3 -m"),
        ),
        ("NVRM: Xid (0000:5e:00): 43, Ch 00000008", Xid(43, "0000:5e:00", "Ch 00000008")),
        ("NVRM: Xid (PCI:0000:5e:00 GPU-I:05): 13, Graphics Exception", Xid(13, "0000:5e:00", "Graphics Exception")),
        (
            "Memory cgroup out of memory: Killed process 21770 (python3) total-vm:1kB",
            OutOfMemory(21770, "python3", is_cgroup=True),
        ),
        ("Out of memory: Killed process 1234 (sshd) total-vm:1kB", OutOfMemory(1234, "sshd", is_cgroup=False)),
        ("mlx5_core 0000:12:00.0 ens1np0: Link down", LinkChange("ens1np0", is_up=False)),
        ("mlx5_core 0000:ab:00.0 mlx5_5: Port: 1 Link ACTIVE", LinkChange("mlx5_5", is_up=True)),
    ],
)
def test_a_text_is_understood(text, said):
    assert meaning(Line(text)) == said


@pytest.mark.parametrize(
    "text",
    ["", "NVRM: Xid (PCI:0000): invalid", "NVRM: Xid: 31", "NVRM: Xid (...): 79", "EDAC MC0: Giving out device", "\x00\xff"],
)
def test_what_is_not_understood_is_unknown_with_its_text(text):
    said = meaning(read_line(text))

    assert isinstance(said, Unknown)
    assert said.text == text


def test_init_is_not_up():
    assert isinstance(meaning(Line("mlx5_core 0000:ab:00.0 mlx5_5: Port: 1 Link INIT")), Unknown)


def test_a_line_that_a_fault_of_ours_wrote_is_marked():
    assert read_line(f"4,1,1,-;{XID} [chaos drill-04]").is_injected
    assert not read_line(f"4,1,1,-;{XID}").is_injected


def test_an_impossible_date_stays_part_of_the_text():
    assert read_line("[Sun Foo 41 03:12:44 2026] text") == Line("[Sun Foo 41 03:12:44 2026] text")
