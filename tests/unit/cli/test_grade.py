"""``chaos grade`` reads what has happened and says so in words, JSON and an exit code."""

import json
from pathlib import Path

import pytest
from typer import Typer
from typer.testing import CliRunner

from chaos.cli.grade import grade
from chaos.errors import UsageError

FILE = Path(__file__).parents[4] / "shared" / "data" / "infinitehbd-trace" / "fault_trace.json"
application = Typer()
application.command()(grade)


def run(*words):
    return CliRunner().invoke(application, [str(word) for word in words])


@pytest.fixture
def trace(tmp_path):
    file = tmp_path / "fault_trace.json"
    kind = {"Level": "Hardware Failure", "Class": "GPU", "Desc": "GPU Lost"}
    events = [(1.0, "fault_start"), (2.0, "fault_end"), (40.0, "fault_start"), (40.5, "fault_end")]
    file.write_text(
        json.dumps([{"node_id": "n1", "event_time": at, "event_type": what, "fault_type": kind} for at, what in events])
    )
    return file


def test_a_trace_is_graded_over_the_nodes_that_are_given(trace):
    result = run(trace, "--nodes", 10)

    assert result.exit_code == 1
    assert "FAIL" in result.stdout
    assert "1.0000 node-days out of service over 10 nodes and 40 days" in result.stdout


def test_without_the_number_of_nodes_a_trace_is_refused(trace):
    result = run(trace)

    assert isinstance(result.exception, UsageError)
    assert "--nodes" in str(result.exception)


def test_json_holds_the_same(trace):
    result = run(trace, "--nodes", 10, "--json")
    document = json.loads(result.stdout)

    assert (document["kind"], document["outcome"], document["exit_code"]) == ("chaos.judgement", "FAIL", 1)
    assert document["verdicts"][0]["measured"]["value"] == 1 - 1 / 400


@pytest.mark.parametrize("content", ["", "{}", "hello", "\x00"])
def test_any_other_file_is_refused(tmp_path, content):
    file = tmp_path / "file.json"
    file.write_text(content)

    assert isinstance(run(file).exception, UsageError)


def test_a_folder_without_a_record_and_a_missing_file_are_refused(tmp_path):
    assert isinstance(run(tmp_path).exception, UsageError)
    assert isinstance(run(tmp_path / "nothing.json").exception, UsageError)


@pytest.mark.skipif(not FILE.exists(), reason=f"the public trace is not at {FILE}")
def test_the_public_trace_fails_against_99_995_percent():
    result = run(FILE, "--nodes", 400, "--days", 348)

    assert result.exit_code == 1
    assert "0.976801" in result.stdout
    assert "0.99995" in result.stdout
    assert "best 30 days: days 314-344: 0.992344" in result.stdout
    assert result.stdout.endswith("fault trace: FAIL\n")
