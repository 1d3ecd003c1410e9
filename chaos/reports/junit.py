"""Verdicts as JUnit XML, for build servers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar
from xml.etree import ElementTree as ET

from chaos.model.history import History
from chaos.model.verdicts import Judgement, Outcome, Verdict
from chaos.protocols.report import Report
from chaos.reports.plain_text import fold_numbers, printable

_ELEMENTS = {
    Outcome.FAIL: "failure",
    Outcome.INCONCLUSIVE: "error",
    Outcome.INVALID: "error",
    Outcome.NOT_APPLICABLE: "skipped",
}


class JUnit(Report):
    """``junit.xml``: one test case for each criterion. Failed is the cluster (failure), broken is us (error)."""

    kind: ClassVar[str] = "junit"
    title: ClassVar[str] = "JUnit XML"

    def render(self, judgement: Judgement, history: History, *, language: str = "en") -> Mapping[str, str | bytes]:
        del language
        run = history.opening.run_id if history.opening else ""
        name = f"chaos {judgement.profile}"
        suite = ET.Element("testsuite", {"name": name, "id": "0", "hostname": _cluster(history), **_counts(judgement)})
        if history.events:
            suite.set("timestamp", history.events[0].stamp.utc)
        _properties(suite, {"run": run, "outcome": judgement.outcome.value, "profile_digest": judgement.profile_digest})
        for verdict in judgement.verdicts:
            suite.append(_case(verdict))
        root = ET.Element("testsuites", {"name": name, **_counts(judgement)})
        root.append(suite)
        ET.indent(root)
        return {"junit.xml": ET.tostring(root, encoding="utf-8", xml_declaration=True) + b"\n"}


def _cluster(history: History) -> str:
    return printable(history.opening.cluster) if history.opening else ""


def _counts(judgement: Judgement) -> dict[str, str]:
    outcomes = [_ELEMENTS.get(verdict.outcome) for verdict in judgement.verdicts]
    counts = {"failures": "failure", "errors": "error", "skipped": "skipped"}
    return {"tests": str(len(outcomes)), **{name: str(outcomes.count(element)) for name, element in counts.items()}}


def _properties(parent: ET.Element, values: Mapping[str, str]) -> None:
    listed = ET.SubElement(parent, "properties")
    for name, value in values.items():
        ET.SubElement(listed, "property", {"name": name, "value": printable(value)})


def _case(verdict: Verdict) -> ET.Element:
    case = ET.Element(
        "testcase", {"classname": f"chaos.{verdict.family or 'criteria'}", "name": printable(verdict.title), "time": "0"}
    )
    facts = {
        "criterion": verdict.criterion,
        "measured": str(verdict.measured),
        "threshold": str(verdict.threshold) if verdict.threshold else "",
        "strength": verdict.strength.value,
        "coverage": str(verdict.coverage),
        "evidence": fold_numbers(verdict.evidence),
        "signs": "yes" if verdict.signs else "no",
    }
    _properties(case, facts)
    element = _ELEMENTS.get(verdict.outcome)
    if element:
        told = ET.SubElement(case, element, {"message": printable(verdict.sentence), "type": verdict.outcome.value})
        told.text = printable("\n".join(f"{label}: {text}" for label, text in (*facts.items(), *verdict.details)))
    return case
