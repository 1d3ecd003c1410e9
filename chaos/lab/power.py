"""The lab's supervisor as a BMC."""

from __future__ import annotations

from typing import Any, ClassVar

from chaos.errors import Unsupported
from chaos.lab.lifecycle import ask
from chaos.model.acts import Power
from chaos.model.nodes import Node
from chaos.model.quantities import Duration
from chaos.protocols.power import PowerDriver

_NETWORKS = ("management", "training")


class LabPower(PowerDriver):
    """Talks to the supervisor over the socket that the inventory names as ``bmc.address``."""

    kind: ClassVar[str] = "lab"

    def is_on(self, node: Node) -> bool:
        nodes = self._ask(node, "status")["nodes"]
        return any(each["name"] == node.name and each["is_on"] for each in nodes)

    def perform(self, node: Node, act: Power) -> None:
        if act.action in {"crash", "off"}:
            self._ask(node, "crash")
        elif act.action == "on":
            self._ask(node, "boot")
        elif act.action == "cycle":
            self._ask(node, "crash")
            self._ask(node, "boot")
        elif act.action in {"cut_cables", "join_cables"}:
            for network in _NETWORKS:
                self._ask(node, "cable", network=network, plugged=act.action == "join_cables")
        else:
            raise Unsupported(str(act), ability=f"power {act.action}", where=node.name)

    def arm_power_on(self, node: Node, after: Duration) -> None:
        self._ask(node, "arm", after=after.seconds)

    def disarm_power_on(self, node: Node) -> None:
        self._ask(node, "disarm")

    def _ask(self, node: Node, verb: str, **given: Any) -> Any:
        if node.bmc is None:
            raise Unsupported("reach the BMC", ability="PowerControl", where=node.name, todo="add `bmc:` to the inventory")
        return ask(node.bmc.address, {"do": verb, "node": node.name, **given})
