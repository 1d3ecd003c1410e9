"""What one needs to log in to a lab and to test it: keys, known hosts, an SSH configuration and an inventory."""

from __future__ import annotations

import subprocess
from pathlib import Path

from chaos.lab.plan import LabPlan


def write_ssh_files(lab: LabPlan) -> None:
    """Makes one key to log in, one host key per node, and the files that name them."""
    place = Path(lab.state)
    _make_key(place / "id_ed25519", f"lab {lab.name}")
    for node in lab.nodes:
        _make_key(place / "keys" / node.name, node.name)
    hosts = [(node.name, node.management, (place / "keys" / f"{node.name}.pub").read_text()) for node in lab.nodes]
    (place / "known_hosts").write_text("".join(f"{name},{address} {' '.join(key.split()[:2])}\n" for name, address, key in hosts))
    (place / "ssh_config").write_text("".join(_host(place, name, address) for name, address, _ in hosts))
    (place / "inventory.yaml").write_text(inventory(lab), encoding="utf-8")


def _make_key(path: Path, comment: str) -> None:
    if not path.exists():
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", comment, "-f", str(path)]
        subprocess.run(words, check=True, stdin=subprocess.DEVNULL)


def _host(place: Path, name: str, address: str) -> str:
    return (
        f"Host {name} {address}\n  HostName {address}\n  User root\n  IdentityFile {place}/id_ed25519\n  IdentitiesOnly yes\n"
        f"  UserKnownHostsFile {place}/known_hosts\n  StrictHostKeyChecking yes\n  LogLevel ERROR\n"
    )


def inventory(lab: LabPlan) -> str:
    """An inventory of exactly this lab, for sizes and names other than the one that the project ships."""
    lines = [
        f"name: {lab.name}",
        "description: virtual cluster on one Linux machine, accelerators simulated",
        "is_virtual: true",
        f"contracted_slots: {sum(node.role == 'compute' for node in lab.nodes)}",
        "defaults:",
        "  management: {name: eth0}",
        "  severity_allowed: destructive",
        f"  ssh: {{user: root, known_hosts: {lab.state}/known_hosts, identity_files: [{lab.state}/id_ed25519]}}",
        f"  bmc: {{driver: lab, address: {lab.state}/supervisor.sock}}",
        "  python: /opt/lab/python",
        "  kernel_log: /run/lab/kmsg",
        "  shared_storage: /shared",
        "groups:",
    ]
    for node in lab.nodes:
        lines += [
            f"  {node.name}:",
            f"    hosts: {node.name}",
            f"    role: {node.role}",
            f"    address: {node.management}",
            f"    training: [{{name: rdma0, address: {node.training}}}]",
        ]
        lines += _devices(node.gpus) if node.gpus else ["    vendor: linux"]
    return "\n".join(lines) + "\n"


def _devices(count: int) -> list[str]:
    addresses = ", ".join(f'"{"0000:17:00.0" if index == 0 else f"0000:{0x5E + index - 1:02x}:00.0"}"' for index in range(count))
    return [
        "    vendor: nvidia-simulated",
        "    properties: {simulator_state: /run/lab/nvml.state}",
        f'    accelerators: {{count: {count}, model: Simulated H100, uuid: "GPU-{{name}}-{{device}}", pci_address: [{addresses}]}}',
    ]
