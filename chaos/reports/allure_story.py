"""How a verdict and a recovery are told in Allure: labels, steps and attachments. Without Allure's plugin nothing happens."""
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

from collections.abc import Iterable

import allure

from chaos.model.folding.timelines import timelines
from chaos.model.history import History
from chaos.model.timeline import MarkState, Timeline
from chaos.model.verdicts import Verdict
from chaos.reports.evidence import event_slice, node_logs
from chaos.reports.picture import svg
from chaos.reports.templating import environment, seconds_text

_LINES = "application/x-ndjson"
_MARKS = {
    "T0": "fault took effect",
    "T1": "last good step",
    "T2": "detected",
    "T3": "culprit named",
    "T4": "isolated",
    "T5": "replacement bound",
    "T6": "processes up",
    "T7": "communicator ready",
    "T8": "checkpoint loaded",
    "T9": "first new step done",
    "T10": "caught up",
    "T11": "full speed",
}


def tell_test(family: str, name: str) -> None:
    """A test by its name, until more is known: the name is a sentence."""
    function, _, parameters = name.partition("[")
    sentence = function.removeprefix("test_").replace("_", " ").capitalize()
    allure.dynamic.title(f"{sentence} ({parameters.rstrip(']')})" if parameters else sentence)
    if family:
        allure.dynamic.epic(family.capitalize())


def tell_verdict(verdict: Verdict, history: History, *, language: str = "en") -> None:
    """One criterion over a whole run: epic is the family, feature the criterion."""
    allure.dynamic.epic(verdict.family.capitalize() or "Criteria")
    allure.dynamic.feature(verdict.title)
    allure.dynamic.title(verdict.title)
    allure.dynamic.severity(allure.severity_level.BLOCKER if verdict.signs else allure.severity_level.TRIVIAL)
    allure.dynamic.label("layer", "acceptance")
    allure.dynamic.tag(verdict.criterion, verdict.strength.value, "signed" if verdict.signs else "not signed")
    page = environment(language).get_template("allure_verdict.html").render(verdict=verdict)
    allure.dynamic.description_html(page)
    with allure.step(f"Collect the evidence: {verdict.coverage}"):
        attach_events(history, verdict.evidence)
    with allure.step(f"Measure: {verdict.measured}"):
        for timeline in timelines(history):
            if set(timeline.evidence) & set(verdict.evidence):
                attach_picture(timeline, language)
    with allure.step(f"Compare with the limit {verdict.threshold or '(there is none)'}: {verdict.outcome.value}"):
        pass


def tell_recovery(timeline: Timeline, history: History, *, language: str = "en") -> None:
    """One drill: feature is the class of the fault, story the fault, steps are its marks."""
    allure.dynamic.epic("Drills")
    allure.dynamic.feature(timeline.fault_class or "unknown class")
    allure.dynamic.story(timeline.fault)
    allure.dynamic.title(recovery_title(timeline))
    allure.dynamic.severity(allure.severity_level.CRITICAL)
    allure.dynamic.label("layer", "drill")
    allure.dynamic.tag(
        timeline.fault, timeline.fault_class or "unknown class", timeline.fidelity or "unknown fidelity", timeline.node
    )
    attach_picture(timeline, language)
    for step in mark_steps(timeline):
        with allure.step(step):
            pass
    attach_events(history, timeline.evidence)
    for node, text in node_logs(history, timeline).items():
        allure.attach(text, f"kernel log of {node}", allure.attachment_type.TEXT)


def tell_requirement(verdict: Verdict) -> None:
    """What one drill had to meet, as a step; the test that asks says whether it did."""
    with allure.step(f"{verdict.title}: {verdict.outcome.value}: {verdict.measured}, limit {verdict.threshold or 'none'}"):
        pass


def recovery_title(timeline: Timeline) -> str:
    """A sentence with fault, node, time and limit."""
    took = timeline.recovery_seconds
    how = f"recovered in {seconds_text(took)}" if timeline.outcome == "recovered" and took is not None else timeline.outcome
    return f"{timeline.fault} on {timeline.node}: {how}, limit {seconds_text(timeline.limit_seconds)}"


def mark_steps(timeline: Timeline) -> Iterable[str]:
    """Each mark in words, in the order of the marks."""
    for name, mark in timeline.marks.items():
        since = timeline.since_fault(name)
        when = seconds_text(since) if mark.state is MarkState.SEEN else mark.state.value
        where = f" on {mark.node}" if mark.node else ""
        yield f"{name} {_MARKS[name]}: {when}{where}: {mark.cause}".rstrip(": ")


def attach_picture(timeline: Timeline, language: str = "en") -> None:
    """The timeline as a picture."""
    allure.attach(
        str(svg(environment(language), timeline)), f"timeline of {timeline.fault} on {timeline.node}", allure.attachment_type.SVG
    )


def attach_events(history: History, numbers: Iterable[int]) -> None:
    """The events that a verdict cites."""
    lines = event_slice(history, numbers)
    if lines:
        allure.attach(lines, "events of the record", _LINES, "jsonl")
