"""An open run: the site, the record, and the loop that keeps both in step while anything waits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from chaos.catalog import Catalog
from chaos.engine.clocks import Clocks
from chaos.engine.guarding import Leases
from chaos.engine.observing import Observer
from chaos.engine.power import Performer
from chaos.errors import ChaosError, SiteError, StopConditionMet
from chaos.ledger.reading import read_history
from chaos.ledger.writing import Ledger
from chaos.model.events import ClockMeasured, NodeLost, NodeReached, Noted, Observed
from chaos.model.guards import NodeEvent, Watch
from chaos.model.history import History
from chaos.model.nodes import Cluster, Node
from chaos.model.quantities import Duration, milliseconds
from chaos.protocols.ability import Platform
from chaos.protocols.clock import Clock
from chaos.protocols.shell import Fleet, Shell

_TURN = 100 * milliseconds
"""How long the loop waits for an event before it looks at leases and the stop file again."""


@dataclass
class Session:
    """Everything that acts on a run shares this. ``tell`` shows progress to people; it is never read back."""

    cluster: Cluster
    catalog: Catalog
    fleet: Fleet
    ledger: Ledger
    clock: Clock
    tell: Callable[[str], None] = lambda _text: None
    fence: int = 0
    clocks: Clocks = field(default_factory=Clocks)
    leases: Leases = field(default_factory=Leases)
    quarantined: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.observer = Observer(self.ledger, self.clocks, self.clock)
        self.performer = Performer(self.fleet, self.catalog.power)

    def platform(self, node: Node) -> Platform:
        """What the node's platform offers."""
        return self.catalog.platform(node)

    def history(self) -> History:
        """The record so far, as the grading side sees it."""
        return read_history(self.ledger.folder.path)

    def pump(self, span: Duration, until: Callable[[], bool] = lambda: False) -> bool:
        """Lets time pass while events are booked and leases renewed; True as soon as ``until`` holds.

        Raises:
            StopConditionMet: somebody asked this run to stop.
        """
        deadline = self.clock.now() + span.seconds
        while True:
            self.turn()
            if until():
                return True
            if self.clock.now() >= deadline:
                return False

    def turn(self) -> None:
        """One turn of the loop: all events that are there, due leases, and the stop file."""
        event = self.fleet.next_event(_TURN)
        while event is not None:
            self._take(event)
            event = self.fleet.next_event(Duration(0))
        self.observer.flush()
        self.leases.renew_due(self.clock.now())
        stop = self.ledger.folder.path / "stop"
        if stop.exists():
            stop.unlink()
            raise StopConditionMet(
                "go on with the run", why="a stop was asked for with `chaos stop`", todo="run the same command to go on"
            )

    def _take(self, event: NodeEvent) -> Observed | None:
        if event.boot_id and not self.clocks.knows(event.node, event.boot_id) and event.kind in {"channel.restored", "boot"}:
            self.measure_clock(event.node)
        return self.observer.take(event)

    def reach(self, node: Node) -> Shell | ChaosError:
        """Logs in, measures the clock and starts the watches; the outcome is booked either way."""
        return self.book_reached(node, self.fleet.reach([node])[node.name])

    def book_reached(self, node: Node, outcome: Shell | ChaosError) -> Shell | ChaosError:
        """Books whether a node answers, and readies it; one that falls silent meanwhile counts as not reached."""
        if not isinstance(outcome, ChaosError):
            try:
                return self._ready(node, outcome)
            except SiteError as error:
                outcome = error
        self.ledger.append(NodeLost(node.name, self.clock.now(), str(outcome)))
        return outcome

    def _ready(self, node: Node, shell: Shell) -> Shell:
        facts = dict(shell.facts())
        self.ledger.append(NodeReached(node.name, self.clock.now(), str(facts.pop("boot_id", "")), facts))
        self.measure_clock(node.name)
        for watch in watches(node):
            shell.watch(watch)
        return shell

    def measure_clock(self, name: str) -> None:
        """Measures a node's clock against ours and books it; a node that does not answer stays unmeasured."""
        try:
            reading = self.fleet.shell(name).clock()
        except ChaosError as error:
            self.ledger.append(Noted(name, f"clock not measured: {error}"))
            return
        self.clocks.learn(reading)
        self.ledger.append(ClockMeasured(name, reading.offset, reading.error, reading.boot_id))


def watches(node: Node) -> tuple[Watch, ...]:
    """What is looked at on a node all the time."""
    links = tuple(Watch(f"link-{interface.name}", "link", {"interface": interface.name}) for interface in node.training)
    devices = (Watch("accelerators", "nvml"),) if node.accelerators else ()
    return (Watch("kernel-log", "kernel_log", {"path": node.kernel_log}), *links, *devices)
