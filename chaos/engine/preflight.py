"""Before anything is stressed: every node answers, nothing is left from before, clocks are measured, devices are as the contract says."""

from __future__ import annotations

from collections.abc import Iterable

from chaos.engine.session import Session
from chaos.errors import ChaosError, SiteError
from chaos.model.events import Noted, Observed, Quarantined
from chaos.model.nodes import Node, Role, fold
from chaos.protocols.probe import Finding, Health


def preflight(session: Session) -> None:
    """Readies the site.

    Raises:
        SiteError: a node that the job needs does not answer, is dirty, or is not what the inventory says.
    """
    nodes = session.cluster.nodes
    session.tell(f"  reaching {fold(node.name for node in nodes)}")
    reached_now = session.fleet.reach(nodes)
    outcomes = {node.name: session.book_reached(node, reached_now[node.name]) for node in nodes}
    missing = {name: outcome for name, outcome in outcomes.items() if isinstance(outcome, ChaosError)}
    reached = [node for node in nodes if node.name not in missing]
    sweep(session, reached)
    findings = check(session, reached)
    _refuse_unfit(session, missing, findings)


def sweep(session: Session, nodes: Iterable[Node]) -> None:
    """Undoes and removes what any run left on these nodes; a node that stays dirty is quarantined."""
    for node in nodes:
        try:
            found = session.fleet.shell(node.name).sweep(remove=False)
            left = session.fleet.shell(node.name).sweep(remove=True) if found else ()
        except SiteError as error:
            left, found = (str(error),), ("unknown",)
        if found:
            session.ledger.append(Noted(node.name, f"found from before: {', '.join(found)}"))
        if left:
            session.quarantined.add(node.name)
            session.ledger.append(Quarantined(node.name, f"could not be cleaned: {', '.join(left)}"))


def check(session: Session, nodes: Iterable[Node]) -> tuple[Finding, ...]:
    """Asks every probe that a node's platform can answer, and books what was found."""
    findings: list[Finding] = []
    for probe in session.catalog.probes.values():
        for node in nodes:
            platform = session.platform(node)
            if platform.lacks(probe.needs):
                continue
            try:
                finding = probe().judge(node, session.performer.ask(node, probe().question(node, platform)))
            except SiteError as error:
                finding = Finding(probe.kind, node.name, Health.UNKNOWN, str(error))
            findings.append(finding)
            data = {"probe": finding.probe, "health": finding.health.value, "sentence": finding.sentence}
            session.ledger.append(Observed(node.name, "probe", session.clock.now(), 0.0, data))
    return tuple(findings)


def _refuse_unfit(session: Session, missing: dict[str, ChaosError], findings: Iterable[Finding]) -> None:
    unfit = [finding for finding in findings if finding.health is not Health.HEALTHY]
    reasons = [f"{name}: {error.why or error.attempted}" for name, error in missing.items()]
    reasons += [f"{finding.node}: {finding.sentence} ({finding.health})" for finding in unfit]
    reasons += [f"{name}: could not be cleaned" for name in sorted(session.quarantined)]
    needed = {node.name for node in session.cluster if node.role is not Role.SPARE}
    names = {*missing, *(finding.node for finding in unfit), *session.quarantined}
    if names & needed:
        raise SiteError(
            "begin the run",
            where=fold(names),
            why="; ".join(reasons),
            todo="mend or take out these nodes, then run the same command",
        )
    for reason in reasons:
        session.ledger.append(Noted("preflight", reason))
