"""Grades a public fault trace: real history of a real cluster, without drills and without spares."""

from __future__ import annotations

from statistics import mean, median

from chaos.criteria.availability import Availability
from chaos.criteria.ruling import compare
from chaos.grading.canaries import play_canaries
from chaos.model.verdicts import Coverage, Judgement, Measurement, Outcome, Strength, Threshold, Verdict
from chaos.readers.infinitehbd import Period, Trace, brief, down_spans, nodes_at_least, period, windows

WINDOW_DAYS = 30.0
"""The 720 hours of the claim."""

_MINUTES = 1440.0


def judge_trace(trace: Trace, nodes: int, days: float, threshold: Threshold | None = None) -> Judgement:
    """The judgement over a trace: availability of its nodes against the threshold, with everything else it tells beside it.

    Raises:
        UsageError: the number of nodes or days cannot be right.
    """
    limit = threshold or Availability().at_least
    whole = period(trace, nodes, 0.0, days)
    value = whole.availability
    outcome = compare(value, value, limit)
    months = windows(trace, nodes, days, days=WINDOW_DAYS)
    verdict = Verdict(
        criterion="availability",
        title="Nodes were in service",
        outcome=outcome,
        measured=Measurement(value, value, value, "share of node time in service", f"{value:.6f} of node time"),
        threshold=limit,
        strength=Strength.OBSERVED,
        coverage=Coverage(nodes, nodes, "nodes"),
        sentence=_sentence(outcome, whole, months, limit),
        details=_details(trace, whole, months, limit),
        family="availability",
    )
    canaries = play_canaries({"availability": Availability})
    total = outcome if all(canary.barks for canary in canaries) else Outcome.INVALID
    small_print = ("A trace of node faults tells nothing about jobs, recoveries or spares: the unit is A_node.",)
    return Judgement("fault trace", "", total, (verdict,), canaries, small_print)


def _sentence(outcome: Outcome, whole: Period, months: tuple[Period, ...], limit: Threshold) -> str:
    told = f"{whole.down:.4f} node-days out of service over {whole.nodes} nodes and {whole.end - whole.start:g} days"
    best = max((month.availability for month in months), default=None)
    if outcome is Outcome.FAIL and best is not None and best < limit.value:
        return f"{told}; even the best 30 days reach only {best:.6f}."
    return f"{told}."


def _details(trace: Trace, whole: Period, months: tuple[Period, ...], limit: Threshold) -> tuple[tuple[str, str], ...]:
    lengths = [span.length for spans in down_spans(trace).values() for span in spans.clip(whole.start, whole.end)]
    unplanned = period(trace.unplanned(), whole.nodes, whole.start, whole.end)
    good = nodes_at_least(trace, whole.nodes, whole.start, whole.end, limit.value)
    short, empty = brief(trace.faults, at_most_days=5 / _MINUTES), brief(trace.faults, at_most_days=0)
    told = [
        ("unit", "A_node: healthy node time over all node time; no spare ends an outage here"),
        ("nodes", f"{whole.nodes} given, {len(trace.nodes)} occur in the trace"),
        ("faults", f"{len(trace.faults)}; {short} of 5 minutes or less, {empty} of length zero"),
        ("incidents, overlaps merged", f"{whole.incidents}"),
        ("down time counted twice where faults overlap (wrong)", f"{whole.naive_down:.4f} node-days"),
        ("without planned classes", f"{unplanned.availability:.6f}, {len(trace.unplanned().faults)} faults"),
        (f"nodes at {limit.value:.5%} or better", f"{good} of {whole.nodes}"),
    ]
    if lengths:
        told.append(("incident", f"mean {mean(lengths) * 24:.2f} h, median {median(lengths) * _MINUTES:.0f} min"))
    if months:
        best = max(months, key=lambda month: month.availability)
        worst = min(months, key=lambda month: month.availability)
        told += [("best 30 days", _month(best)), ("worst 30 days", _month(worst))]
    return tuple(told)


def _month(month: Period) -> str:
    return (
        f"days {month.start:g}-{month.end:g}: {month.availability:.6f}, {month.faults_begun} faults begin, "
        f"{month.clean_nodes} nodes without down time"
    )
