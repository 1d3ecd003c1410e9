"""Judgements made by hand over the hand-made run, one for each outcome that a reader may meet."""

from __future__ import annotations

from dataclasses import replace

from chaos.model.verdicts import (
    CanaryResult,
    Coverage,
    Demonstration,
    Judgement,
    Measurement,
    Outcome,
    Strength,
    Threshold,
    Verdict,
    worst,
)

RECOVERY = Verdict(
    criterion="recovery",
    title="Training recovers within the limit",
    outcome=Outcome.PASS,
    measured=Measurement(4.8, 4.7, 4.9, "s", "11 of 11 drills, slowest 4.80 s"),
    threshold=Threshold(60, "s", "<=", "profile quick: what minutes can show", 1, 3600),
    strength=Strength.OBSERVED,
    coverage=Coverage(11, 11, "drills"),
    sentence="All 11 drills recovered; the slowest, nic.partition on node2, took 4.80 s of 60 s.",
    evidence=(201, 202, 203, 260, 261, 300),
    demonstrated=Demonstration(0.9, 0.811, "share", "81.1 % of recoveries at 90 % confidence", "11 more clean drills for 90 %"),
    details=(("slowest of class link", "4.70 s"), ("slowest of class node loss", "3.20 s")),
    family="recovery",
)
AVAILABILITY = Verdict(
    criterion="availability",
    title="Contracted capacity is in service",
    outcome=Outcome.INCONCLUSIVE,
    measured=Measurement(0.98, 0.97, 1.0, "share", "97.0 % to 100 %"),
    threshold=Threshold(0.99995, "share", ">=", "five-star: 99.995 % of 720 h", 0.5, 1),
    strength=Strength.OBSERVED,
    coverage=Coverage(2592000, 138, "seconds of 720 h"),
    sentence="138 s were observed of the 720 h that the claim is about.",
    demonstrated=Demonstration(0.9, None, "share", "nothing: too short", "719 h 58 min of observation"),
    details=(("node time", "97.0 % to 100 %"), ("job time", "71.2 %")),
    signs=False,
    family="availability",
)
CONTINUOUS = replace(
    AVAILABILITY,
    criterion="continuous_run",
    title="One task runs for 720 hours, resilient reading",
    measured=Measurement(138.0, 138.0, 138.0, "s", "138 s without an unrecovered interruption"),
    threshold=Threshold(2592000, "s", ">=", "five-star: 720 h", 3600, 31536000),
    sentence="The task was watched for 138 s, not for 720 h.",
    details=(),
    demonstrated=None,
    family="continuity",
)
RESUME = replace(
    RECOVERY,
    criterion="resume_error",
    title="Training resumes where it was",
    measured=Measurement(0.0, 0.0, 0.0, "relative error", "0 (bit for bit)"),
    threshold=Threshold(1e-5, "relative error", "<=", "seed number of the five-star profile", 0, 1),
    coverage=Coverage(240, 240, "steps compared"),
    sentence="All 240 steps have the loss of the uninterrupted reference.",
    demonstrated=None,
    details=(),
    family="correctness",
)
LOST_WORK = replace(
    RESUME,
    criterion="lost_work",
    title="No more work is lost than one checkpoint interval",
    outcome=Outcome.FAIL,
    measured=Measurement(17, 17, 17, "steps"),
    threshold=Threshold(10, "steps", "<=", "checkpoint interval of the job", 1, 100000),
    sentence="drill-10 storage.checkpoint_truncated on node4 lost 17 steps, the checkpoint interval is 10.",
    coverage=Coverage(11, 11, "drills"),
    family="recovery",
)
LOCALISATION = replace(
    RESUME,
    criterion="localisation",
    title="The culprit is named",
    outcome=Outcome.INCONCLUSIVE,
    measured=Measurement(None, None, None, "share"),
    threshold=Threshold(1.0, "share", ">=", "operators act on the name", 0.5, 1),
    sentence="No alarm of node3 came in: its event stream was cut off.",
    coverage=Coverage(11, 10, "drills", ("drill-11",)),
    family="recovery",
)
BANDWIDTH = replace(
    RESUME,
    criterion="all_reduce_correct",
    title="All-reduce gives the exact sum",
    outcome=Outcome.INVALID,
    measured=Measurement(None, None, None, "elements", "one rank took part"),
    threshold=Threshold(0, "wrong elements", "==", "arithmetic", 0, 1),
    sentence="One rank of 8 took part: an all-reduce of one rank proves nothing.",
    coverage=Coverage(8, 1, "ranks"),
    family="correctness",
)
POWER = replace(
    RESUME,
    criterion="node_take_over",
    title="A spare takes over a dead node",
    outcome=Outcome.NOT_APPLICABLE,
    measured=Measurement(None, None, None, ""),
    threshold=None,
    sentence="No node offers PowerControl.",
    coverage=Coverage(0, 0, "drills"),
    family="recovery",
)
GOOD = (RECOVERY, RESUME, CONTINUOUS, AVAILABILITY)
MIXED = (RECOVERY, LOST_WORK, LOCALISATION, BANDWIDTH, POWER, RESUME, CONTINUOUS, AVAILABILITY)


def judgement(verdicts: tuple[Verdict, ...] = GOOD) -> Judgement:
    """These verdicts as one judgement; every gate was tried and barks."""
    return Judgement(
        profile="quick",
        profile_digest="3" * 64,
        outcome=worst(verdict.outcome for verdict in verdicts if verdict.signs),
        verdicts=verdicts,
        canaries=tuple(CanaryResult(verdict.criterion, rejects_bad=True, accepts_good=True) for verdict in verdicts),
        does_not_show=(
            "720 hours of continuous running: 2 minutes 18 seconds were observed.",
            "99.995 % availability: that takes 129.6 s or less of downtime in 720 hours.",
            "Any failure rate: injected faults say how the cluster recovers, not how often it fails.",
            "The behaviour of real accelerators, their drivers and RDMA.",
        ),
    )
