"""What may stand in an inventory file, for validation and for editors.

Unknown keys are refused and nothing is converted silently: a number where text is meant is an error that says to quote it.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag

Text = Annotated[str, Field(max_length=4096)]
SeverityName = Literal["safe", "disruptive", "destructive"]
COUNT, LIST = "as-count", "as-list"
RoleName = Literal["compute", "spare", "head"]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, use_attribute_docstrings=True, frozen=True)


class InterfaceShape(_Strict):
    """A network interface."""

    name: Text
    """Its name on the node, such as `eth0`; may hold placeholders."""
    address: Text = ""
    """IPv4 or IPv6 address, a range as long as the group, or a pattern such as `10.78.0.{number}`."""
    rail: int | None = Field(default=None, ge=0)
    """Number of the rail that a training port is on; by default its place in the list."""


class InterfaceCount(_Strict):
    """Several training ports that differ only in their number: `{rail}` counts from 0."""

    count: int = Field(ge=1, le=64)
    """How many ports each node has."""
    name: Text
    """Such as `ib{rail}`."""
    address: Text = ""
    """Such as `10.1{rail}.0.{number}`."""


class AcceleratorShape(_Strict):
    """One accelerator as the contract names it."""

    uuid: Text = ""
    """The device's UUID; checked against the device before a run."""
    pci_address: Text = ""
    """Such as `0000:5e:00.0`; 8-digit domains and upper case are understood."""
    model: Text = ""
    """Such as `NVIDIA H100 80GB HBM3`."""


class AcceleratorCount(_Strict):
    """Several accelerators that differ only in their number: `{device}` counts from 0."""

    count: int = Field(ge=0, le=1024)
    """How many accelerators each node has."""
    model: Text = ""
    """Such as `NVIDIA H100 80GB HBM3`."""
    uuid: Text = ""
    """A pattern; must tell the devices of all nodes apart."""
    pci_address: Text | list[Text] = ""
    """A pattern, or one address for each device, the same on every node."""


def _form(value: Any) -> str:
    """Lists stand one by one, everything else is judged as a count."""
    return LIST if isinstance(value, list) else COUNT


_BY_FORM = Discriminator(_form)
Accelerators = Annotated[
    Annotated[AcceleratorCount, Tag(COUNT)] | Annotated[list[AcceleratorShape], Tag(LIST)],
    _BY_FORM,
]
Training = Annotated[
    Annotated[InterfaceCount, Tag(COUNT)] | Annotated[list[InterfaceShape], Tag(LIST)],
    _BY_FORM,
]


class DomainsShape(_Strict):
    """What fails together."""

    rack: Text | None = None
    """Rack, such as `r{number}` or a range as long as the group."""
    rail_group: Text | None = None
    """Group of nodes on one set of leaf switches."""
    power: Text | None = None
    """Power feed."""


class SshShape(_Strict):
    """How to log in. Keys live in files or in an agent; there is no place for a secret."""

    user: Text | None = None
    """Login name; by default what the OpenSSH configuration says."""
    port: int | None = Field(default=None, ge=1, le=65535)
    """TCP port, 22 by default."""
    identity_files: list[Text] | None = None
    """Private key files on the controller; paths start at `~`, `/` or the folder of the inventory."""
    known_hosts: Text | None = None
    """File with the host keys that are accepted."""
    config: Text | None = None
    """An OpenSSH client configuration file."""
    proxy_jump: Text | None = None
    """Bastion to go through, as `user@host:port`."""


class BmcShape(_Strict):
    """The way to a node's power that does not pass through the node. Its login is looked up at run time, never stored here."""

    driver: Text | None = None
    """Kind of a power driver."""
    address: Text | None = None
    """Address of the BMC; a range or a pattern as for the node's address."""


class Settings(_Strict):
    """What can be said of a node, in `defaults`, of a group, or in `overrides`; the nearest word wins, key by key."""

    role: RoleName | None = None
    """`compute` runs the job, `spare` takes a failed node's place, `head` holds the rendezvous and is never struck."""
    address: Text | None = None
    """Where SSH goes: IPv4, IPv6 or a name; by default the node's name."""
    vendor: Text | None = None
    """Kind of a vendor in the catalogue: `chaos faults list --node` shows what its platform can do."""
    accelerators: Accelerators | None = None
    """The accelerators, as a count with patterns or one by one."""
    management: InterfaceShape | None = None
    """The interface that SSH comes through."""
    training: Training | None = None
    """The ports that carry the job's traffic, by rail."""
    domains: DomainsShape | None = None
    """Rack, rail group and power feed."""
    severity_allowed: SeverityName | None = None
    """The most severe fault that may be injected here. `destructive` also needs a `bmc`."""
    ssh: SshShape | None = None
    """How to log in."""
    bmc: BmcShape | None = None
    """How to reach the node's power."""
    python: Text | None = None
    """The interpreter on the node that starts workloads (with torch)."""
    kernel_log: Text | None = None
    """Where the node's kernel log is read."""
    shared_storage: Text | None = None
    """A folder that all nodes see under the same path, for checkpoints."""
    properties: dict[str, Text] | None = None
    """Free words that a vendor may read."""


class Group(Settings):
    """Nodes that have their settings in common."""

    hosts: Text
    """Names as a range: `gpu[001-128]`, `rack[1-4]n[01-16]`, `login1,login2`."""


class Inventory(_Strict):
    """A cluster as its contract describes it."""

    model_config = ConfigDict(title="chaos inventory")

    name: Annotated[str, Field(min_length=1, max_length=64)]
    """Name of the cluster."""
    description: Text = ""
    """One line for the certificate."""
    is_virtual: bool = False
    """True when the accelerators are simulated; reports print it on their face."""
    contracted_slots: int | None = Field(default=None, ge=1)
    """Node places that the seller keeps in service; by default one for each compute node."""
    launcher: Text = "elastic"
    """Kind of the launcher that starts loads."""
    defaults: Settings = Settings()
    """What holds for every node unless a group or an override says otherwise."""
    groups: Annotated[dict[str, Group], Field(min_length=1)]
    """The nodes, in groups by name."""
    overrides: dict[str, Settings] = Field(default_factory=dict)
    """What differs for single nodes; keys are names or ranges of names."""


def json_schema() -> dict[str, Any]:
    """The JSON schema of an inventory, for editors."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **Inventory.model_json_schema()}


if __name__ == "__main__":
    import json
    import sys

    json.dump(json_schema(), sys.stdout, indent=2)
    sys.stdout.write("\n")
