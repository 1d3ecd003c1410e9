"""The operating system of every node."""

from __future__ import annotations

from typing import ClassVar

from chaos.model.nodes import Node
from chaos.protocols.ability import Ability
from chaos.protocols.vendor import Vendor
from chaos.vendors.on_linux.files import LinuxFiles
from chaos.vendors.on_linux.kernel_log import KernelMessages
from chaos.vendors.on_linux.links import LinuxLinks
from chaos.vendors.on_linux.memory import Cgroups
from chaos.vendors.on_linux.packets import NetfilterTables
from chaos.vendors.on_linux.power import BmcPower
from chaos.vendors.on_linux.processes import LinuxProcesses


class Linux(Vendor):
    """What the kernel offers whatever accelerators a node has, and power where the inventory names a BMC."""

    kind: ClassVar[str] = "linux"
    title: ClassVar[str] = "Linux without accelerators"

    def abilities(self, node: Node) -> tuple[Ability, ...]:
        power = (BmcPower(),) if node.bmc is not None else ()
        system = (LinuxLinks(), NetfilterTables(), LinuxProcesses(), Cgroups(), KernelMessages(node.kernel_log), LinuxFiles())
        return (*system, *power)
