"""The record of a run: what was acknowledged is there, what was altered is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaos.errors import Damaged, LeaseHeld, LedgerError
from chaos.ledger.folder import RunFolder
from chaos.ledger.reading import read_history, read_record
from chaos.ledger.sealing import GENESIS, open_record, seal_record
from chaos.ledger.series import Series, adopt_unsealed
from chaos.ledger.writing import Ledger
from chaos.model.events import Noted, Observed, Stamp
from chaos.model.quantities import Duration
from chaos.protocols.clock import Clock


class StillClock(Clock):
    def now(self) -> float:
        return 1.5

    def stamp(self) -> Stamp:
        return Stamp("2026-01-01T00:00:00+00:00", 1.5, "boot")

    def sleep(self, span: Duration) -> None:
        raise AssertionError(f"nothing here waits, yet asked to sleep {span}")


def notes(folder: RunFolder, *texts: str) -> None:
    with Ledger(folder, StillClock()) as ledger:
        for text in texts:
            ledger.append(Noted("test", text))


@given(st.text(), st.text())
def test_a_record_reads_back_as_what_was_written(subject: str, text: str) -> None:
    event, line = seal_record(1, StillClock().stamp(), Noted(subject, text.encode("utf-8", "replace").decode()), GENESIS)
    assert open_record(line, 1, GENESIS) == event


@given(st.data())
def test_a_record_with_any_byte_changed_is_refused(data: st.DataObject) -> None:
    _, line = seal_record(1, StillClock().stamp(), Noted("subject", "some text"), GENESIS)
    position = data.draw(st.integers(0, len(line) - 2))
    other = data.draw(st.integers(0, 255).filter(lambda byte: byte != line[position]))
    altered = line[:position] + bytes([other]) + line[position + 1 :]
    with pytest.raises((ValueError, KeyError, TypeError)):
        open_record(altered, 1, GENESIS)


def test_a_torn_last_line_is_cut_and_writing_goes_on(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    notes(folder, "one", "two")
    with folder.ledger.open("ab") as file:
        file.write(b'{"sequence":3,"stam')
    notes(folder, "three")
    assert [event.body.text for event in read_record(folder.ledger).events] == ["one", "two", "three"]


@pytest.mark.parametrize(
    ("damage", "line"),
    [
        (lambda lines: lines[1:], 1),
        (lambda lines: [lines[0], lines[2]], 2),
        (lambda lines: [lines[1], lines[0], lines[2]], 1),
        (lambda lines: [lines[0], lines[1].replace(b"two", b"owt"), lines[2]], 2),
        (lambda lines: [lines[0], b"not json\n", lines[2]], 2),
    ],
    ids=["first line gone", "middle line gone", "lines swapped", "text altered", "garbage"],
)
def test_any_other_damage_is_refused_with_file_and_line(tmp_path: Path, damage, line: int) -> None:
    folder = RunFolder(tmp_path / "run")
    notes(folder, "one", "two", "three")
    folder.ledger.write_bytes(b"".join(damage(folder.ledger.read_bytes().splitlines(keepends=True))))
    with pytest.raises(Damaged) as caught:
        read_record(folder.ledger)
    assert f"{folder.ledger}:{line}" in str(caught.value)


def test_a_second_writer_is_refused_and_told_who_writes(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    with Ledger(folder, StillClock()), pytest.raises(LeaseHeld, match=r"process [0-9]+ writes it"):
        Ledger(folder, StillClock())
    notes(folder, "free again")


def test_a_record_that_cannot_be_written_says_so_and_leaves_no_half_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = RunFolder(tmp_path / "run")
    with Ledger(folder, StillClock()) as ledger:
        ledger.append(Noted("test", "one"))
        monkeypatch.setattr("os.write", lambda _file, line: len(line) // 2)
        with pytest.raises(LedgerError, match="No space left"):
            ledger.append(Noted("test", "two"))
        monkeypatch.undo()
        ledger.append(Noted("test", "three"))
    assert [event.body.text for event in read_record(folder.ledger).events] == ["one", "three"]


def row(step: int) -> Observed:
    return Observed("node1", "rank.step", float(step), 0.001, {"rank": 0, "step": step}, "training")


def test_a_sealed_series_is_part_of_the_history(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    with Ledger(folder, StillClock()) as ledger:
        series = Series(folder, "training")
        for step in range(3):
            series.add(row(step))
        ledger.append(series.seal())
        assert series.seal() is None
    history = read_history(folder.path)
    assert [seen.data["step"] for seen in history.observations("rank.step")] == [0, 1, 2]
    assert history.damaged == ()


def test_a_series_that_was_altered_is_damaged_and_not_used(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    with Ledger(folder, StillClock()) as ledger:
        series = Series(folder, "training")
        series.add(row(1))
        attached = ledger.append(series.seal()).body
    file = folder.path / attached.path
    file.write_bytes(file.read_bytes().replace(b'"step":1', b'"step":9'))
    history = read_history(folder.path)
    assert history.damaged == (attached.name,)
    assert history.observations("rank.step") == ()


def test_a_part_left_unsealed_by_a_killed_process_is_adopted_without_its_torn_line(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run").make()
    series = Series(folder, "training")
    series.add(row(1))
    series.close()
    part = next(folder.series.iterdir())
    with part.open("ab") as file:
        file.write(b'{"node":"no')
    (adopted,) = adopt_unsealed(folder, [])
    assert (adopted.rows, adopted.workload) == (1, "training")
    assert json.loads(part.read_text()) is not None
    assert adopt_unsealed(folder, [adopted.name]) == ()
