"""Collection reads files and contacts nobody; what matches nothing fails, it does not pass by absence."""

import pytest

pytest_plugins = ["pytester"]

FORBIDDEN = """
import os, socket, subprocess

def refuse(*_arguments, **_options):
    raise AssertionError("collection reached out")

socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
subprocess.Popen.__init__ = os.fork = os.posix_spawn = refuse
"""
EACH_NODE = """
import pytest

@pytest.mark.each_node(role="{role}")
def test_node(node):
    assert node.name.startswith("gpu")
"""


def collected(result) -> list[str]:
    return [line for line in result.outlines if "::" in line]


def test_there_is_one_test_for_each_matching_node(suite):
    result = suite(EACH_NODE.format(role="compute"), "--collect-only", "-q")

    assert collected(result) == ["test_suite.py::test_node[gpu001]", "test_suite.py::test_node[gpu002]"]


def test_collection_opens_no_socket_and_starts_no_process(suite, pytester):
    pytester.makeconftest(FORBIDDEN)

    result = suite(EACH_NODE.format(role="compute"), "--collect-only", "-q")

    assert len(collected(result)) == 2


def test_the_drill_suite_of_the_project_collects_without_contact(suite, pytester, pytestconfig):
    pytester.makeconftest(FORBIDDEN)
    text = (pytestconfig.rootpath / "suites" / "drills" / "test_recovery.py").read_text()

    result = suite(text, "--collect-only", "-q")

    first = "test_suite.py::test_training_recovers_from_the_loss_of_a_rank[gpu001-job.rank_killed(local_rank=0)]"
    assert first in collected(result)


def test_an_inventory_without_a_matching_node_fails_at_collection(suite):
    result = suite(EACH_NODE.format(role="spare"))

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stdout.fnmatch_lines(["*no node has role spare*"])


def test_a_suite_without_an_inventory_says_what_to_add(suite):
    result = suite(EACH_NODE.format(role="compute"), with_inventory=False)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stdout.fnmatch_lines(["*add --inventory FILE*"])


def test_an_inventory_that_is_too_small_is_refused(suite):
    result = suite("import pytest\n\n@pytest.mark.needs(nodes=3)\ndef test_many(cluster): ...\n")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*needs 3 compute nodes, the inventory has 2*"])


def test_a_missing_ability_is_skipped_by_its_name(suite):
    text = EACH_NODE.format(role="compute").replace("def test", '@pytest.mark.needs("AcceleratorSignals")\ndef test')

    result = suite(text, "-rs")

    result.assert_outcomes(skipped=2)
    result.stdout.fnmatch_lines(["*gpu001 does not offer AcceleratorSignals*"])


def test_an_ability_that_does_not_exist_is_an_error(suite):
    result = suite(EACH_NODE.format(role="compute").replace("def test", '@pytest.mark.needs("Teleport")\ndef test'))

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stdout.fnmatch_lines(["*there is no such ability*"])


def test_more_severe_than_the_inventory_allows_is_skipped(suite):
    result = suite(EACH_NODE.format(role="compute").replace("def test", '@pytest.mark.severity("destructive")\ndef test'), "-rs")

    result.assert_outcomes(skipped=2)
    result.stdout.fnmatch_lines(["*gpu001 allows disruptive acts, this one is destructive*"])


def test_an_unknown_marker_is_refused(suite):
    result = suite("import pytest\n\n@pytest.mark.dril\ndef test_typo(): ...\n")

    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["*'dril' not found in `markers`*"])


def test_every_criterion_of_the_profile_is_a_test(suite):
    result = suite("def test_criterion(criterion): ...\n", "--collect-only", "-q")

    assert {"test_suite.py::test_criterion[recovery]", "test_suite.py::test_criterion[availability]"} <= set(collected(result))


def test_an_unknown_profile_fails_at_collection(suite):
    result = suite("def test_criterion(criterion): ...\n", "--profile", "no-such")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stdout.fnmatch_lines(["*no-such*"])
