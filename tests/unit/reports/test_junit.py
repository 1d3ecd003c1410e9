"""Build servers read failures of the cluster as failures and everything that is us as errors."""

from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest
from sample_judgement import GOOD, MIXED, judgement

from chaos.criteria.canaries.quick_run import quick_run
from chaos.model.verdicts import Outcome
from chaos.reports.junit import JUnit


def document(verdicts) -> ET.Element:
    return ET.fromstring(JUnit().render(judgement(verdicts), quick_run())["junit.xml"])


@pytest.mark.parametrize(
    ("outcome", "element"),
    [
        (Outcome.FAIL, "failure"),
        (Outcome.INCONCLUSIVE, "error"),
        (Outcome.INVALID, "error"),
        (Outcome.NOT_APPLICABLE, "skipped"),
    ],
)
def test_an_outcome_has_its_element_with_the_sentence(outcome, element):
    (case,) = document((replace(GOOD[0], outcome=outcome),)).iter("testcase")

    (told,) = [child for child in case if child.tag != "properties"]
    assert told.tag == element
    assert told.get("message") == GOOD[0].sentence


def test_a_pass_has_none():
    (case,) = document(GOOD[:1]).iter("testcase")

    assert [child.tag for child in case] == ["properties"]


def test_counts_are_those_of_the_cases():
    root = document(MIXED)

    counted = [len(list(root.iter(tag))) for tag in ("testcase", "failure", "error", "skipped")]
    assert [int(root.get(name)) for name in ("tests", "failures", "errors", "skipped")] == counted == [8, 1, 4, 1]


def test_characters_that_xml_forbids_are_spelled():
    (case,) = document((replace(GOOD[0], outcome=Outcome.FAIL, sentence="bad \x00\x1b[31m\ufffe & <b>"),)).iter("testcase")

    assert case.find("failure").get("message") == "bad \\x00\\x1b[31m\\ufffe & <b>"
