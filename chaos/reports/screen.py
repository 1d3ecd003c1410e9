"""The verdict on one screen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from io import StringIO
from typing import ClassVar

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from chaos.model.history import History
from chaos.model.verdicts import Judgement, Outcome, Verdict
from chaos.protocols.report import Report
from chaos.reports.account import Account
from chaos.reports.accounting import account
from chaos.reports.plain_text import printable
from chaos.reports.templating import limit_text, seconds_text

_STYLES = {
    Outcome.PASS: "green",
    Outcome.FAIL: "bold white on red",
    Outcome.INCONCLUSIVE: "yellow",
    Outcome.INVALID: "magenta",
    Outcome.NOT_APPLICABLE: "dim",
}
_WIDE = 132


class Screen(Report):
    """``summary.txt``: what a terminal shows at the end of a run."""

    kind: ClassVar[str] = "screen"
    title: ClassVar[str] = "Summary on one screen"

    def render(self, judgement: Judgement, history: History, *, language: str = "en") -> Mapping[str, str | bytes]:
        del language
        target = StringIO()
        show(judgement, history, Console(file=target, width=_WIDE, color_system=None))
        return {"summary.txt": "\n".join(line.rstrip() for line in target.getvalue().splitlines()) + "\n"}


def show(judgement: Judgement, history: History, console: Console) -> None:
    """Prints the verdict, one line for each criterion, and the recoveries. Honours the console's width and NO_COLOR."""
    told = account(judgement, history)
    for part in _parts(judgement, told):
        console.print(part, highlight=False, soft_wrap=False)


def _parts(judgement: Judgement, told: Account) -> Iterable[RenderableType]:
    yield _headline(judgement, told)
    yield _verdicts(told.signing, "signed by this profile")
    yield from _reasons(told.signing)
    if told.informing:
        yield _verdicts(told.informing, "printed beside, not signed")
        yield from _reasons(told.informing)
    if told.recoveries:
        yield _recoveries(told)
    for canary in judgement.canaries:
        if not canary.barks:
            yield Text(f"gate does not bark: {canary.criterion}: {canary.why}", style="bold red")
    for sentence in judgement.does_not_show:
        yield Text(f"does not show: {printable(sentence)}", style="dim")


def _headline(judgement: Judgement, told: Account) -> Text:
    line = Text()
    line.append(f" {judgement.outcome} ", style=_STYLES[judgement.outcome] + " bold reverse")
    kind = "a virtual cluster with emulated accelerators" if told.run.is_virtual else "a cluster"
    line.append(f"  {printable(told.run.cluster)}, {kind}, under profile {judgement.profile}, run {printable(told.run.run_id)}")
    return line


def _verdicts(verdicts: Iterable[Verdict], title: str) -> Table:
    table = Table(
        title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, padding=(0, 2, 0, 0), expand=False
    )
    for column in ("verdict", "criterion", "measured", "limit", "coverage"):
        table.add_column(column, no_wrap=column == "verdict", overflow="fold")
    for verdict in verdicts:
        limit = limit_text(verdict.threshold) if verdict.threshold else "none"
        cells = (verdict.title, str(verdict.measured), limit, str(verdict.coverage))
        table.add_row(Text(verdict.outcome, style=_STYLES[verdict.outcome]), *(Text(printable(cell)) for cell in cells))
    return table


def _reasons(verdicts: Iterable[Verdict]) -> Iterable[Text]:
    """Why what did not pass did not; one reason that several criteria have is told once."""
    reasons: dict[tuple[Outcome, str], list[str]] = {}
    for verdict in verdicts:
        if verdict.outcome is not Outcome.PASS:
            reasons.setdefault((verdict.outcome, verdict.sentence), []).append(verdict.criterion)
    for (outcome, sentence), criteria in reasons.items():
        yield Text(printable(f"  {', '.join(criteria)}: {sentence}"), style=_STYLES[outcome])


def _recoveries(told: Account) -> Table:
    table = Table(title="recoveries", title_justify="left", title_style="bold", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in ("fault", "node", "fidelity", "how", "detected", "named", "first new step", "lost steps"):
        table.add_column(column, overflow="fold")
    for line in told.recoveries:
        how = line.path if line.outcome == "recovered" else line.outcome
        marks = [seconds_text(line.since_fault(name)) for name in ("T2", "T3", "T9")]
        lost = "?" if line.lost_steps is None else str(line.lost_steps)
        table.add_row(*(Text(printable(cell)) for cell in (line.fault, line.node, line.fidelity, how, *marks, lost)))
    return table
