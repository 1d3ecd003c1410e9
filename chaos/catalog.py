"""What this installation knows: a frozen value, found by scanning the packages and entry points.

A fault, vendor, workload, launcher, probe, criterion or power driver is one class in one file; being there is being known. Other
distributions add theirs through entry points of the group that bears the package's name (``chaos.faults`` and so on), each naming a
class or a module.
"""
# mypy: disable-error-code="type-abstract"

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from importlib.metadata import entry_points
from types import MappingProxyType, ModuleType
from typing import Any, Self, TypeVar, get_type_hints

from pydantic import PydanticSchemaGenerationError, TypeAdapter, ValidationError

from chaos.errors import PlanError
from chaos.model.nodes import Cluster, Node, fold
from chaos.model.plans import FaultSpec, WorkloadSpec
from chaos.model.spelling import suggestion
from chaos.protocols.ability import Ability, Platform
from chaos.protocols.criterion import Criterion
from chaos.protocols.fault import Fault
from chaos.protocols.power import PowerDriver
from chaos.protocols.probe import Probe
from chaos.protocols.vendor import Vendor
from chaos.protocols.workload import Launcher, Workload

T = TypeVar("T")
Kinds = Mapping[str, type[T]]

OPERATING_SYSTEM = "linux"
_NOT_FOR_HERE = frozenset({"programs", "__main__"})  # programs run on nodes and import what only nodes have


@dataclass(frozen=True, slots=True)
class Catalog:
    """Classes by their ``kind``. :meth:`installed` finds them; tests hand in their own."""

    faults: Kinds[Fault] = field(default_factory=dict)
    vendors: Kinds[Vendor] = field(default_factory=dict)
    workloads: Kinds[Workload] = field(default_factory=dict)
    launchers: Kinds[Launcher] = field(default_factory=dict)
    probes: Kinds[Probe] = field(default_factory=dict)
    criteria: Kinds[Criterion] = field(default_factory=dict)
    power_drivers: Kinds[PowerDriver] = field(default_factory=dict)

    @classmethod
    def installed(cls) -> Self:
        """Everything in this installation.

        Raises:
            PlanError: two classes claim one kind, a class has none, or another distribution's part cannot be imported.
        """
        return cls(
            faults=found("chaos.faults", Fault),
            vendors=found("chaos.vendors", Vendor),
            workloads=found("chaos.workloads", Workload),
            launchers=found("chaos.launchers", Launcher),
            probes=found("chaos.probes", Probe),
            criteria=found("chaos.criteria", Criterion),
            power_drivers=found("chaos.lab", PowerDriver, group="chaos.power"),
        )

    def platform(self, node: Node) -> Platform:
        """What the node's platform offers: its vendor's abilities, those of the vendors it extends, and the operating system's.

        Raises:
            PlanError: the catalogue has no such vendor.
        """
        return Platform(node, self._abilities(node))

    def _abilities(self, node: Node) -> Iterator[Ability]:
        chain: list[str] = []
        kind = node.vendor
        while kind not in chain:
            vendor = known(self.vendors, kind, "vendor", where=node.name)
            yield from vendor().abilities(node)
            chain.append(kind)
            kind = str(getattr(vendor, "extends", "")) or OPERATING_SYSTEM
        if kind != OPERATING_SYSTEM:
            raise PlanError(
                f"find the platform of vendor {node.vendor!r}", where=node.name, why=f"{' > '.join(chain)} is a circle"
            )

    def fault(self, spec: FaultSpec) -> Fault:
        """The fault with these parameters; durations may be text such as ``30s``.

        Raises:
            PlanError: the kind or a parameter is unknown, or a value does not fit.
        """
        return built(known(self.faults, spec.kind, "fault"), spec.parameters)

    def workload(self, spec: WorkloadSpec) -> Workload:
        """The workload with these parameters.

        Raises:
            PlanError: see :meth:`fault`.
        """
        return built(known(self.workloads, spec.kind, "workload"), spec.parameters)

    def criterion(self, kind: str, parameters: Mapping[str, Any]) -> Criterion:
        """The criterion with these thresholds and options.

        Raises:
            PlanError: see :meth:`fault`.
        """
        return built(known(self.criteria, kind, "criterion"), parameters)

    def launcher(self, kind: str) -> Launcher:
        """The launcher of this kind.

        Raises:
            PlanError: the catalogue has none.
        """
        return known(self.launchers, kind, "launcher")()

    def probe(self, kind: str) -> Probe:
        """The probe of this kind.

        Raises:
            PlanError: the catalogue has none.
        """
        return known(self.probes, kind, "probe")()

    def power(self, node: Node) -> PowerDriver:
        """The driver of the node's BMC.

        Raises:
            PlanError: the node has no BMC, or the catalogue no such driver.
        """
        if node.bmc is None:
            raise PlanError("act on the node's power", where=node.name, why="it has no BMC", todo="add `bmc:` to the inventory")
        return known(self.power_drivers, node.bmc.driver, "power driver", where=node.name)()

    def gaps(self, cluster: Cluster) -> tuple[str, ...]:
        """Kinds that an inventory names and this installation does not know, one sentence for each, nodes folded."""
        unknown: dict[tuple[str, str, Iterable[str]], list[str]] = {}
        for node in cluster:
            driver = node.bmc.driver if node.bmc else ""
            if node.vendor not in self.vendors:
                unknown.setdefault(("vendor", node.vendor, tuple(self.vendors)), []).append(node.name)
            if driver and driver not in self.power_drivers:
                unknown.setdefault(("power driver", driver, tuple(self.power_drivers)), []).append(node.name)
        told = [
            f"{fold(names)}: unknown {what} {kind!r}; {suggestion(kind, them)}" for (what, kind, them), names in unknown.items()
        ]
        if cluster.launcher not in self.launchers:
            told.append(f"unknown launcher {cluster.launcher!r}; {suggestion(cluster.launcher, self.launchers)}")
        return tuple(told)


def known(kinds: Kinds[T], kind: str, what: str, *, where: str = "") -> type[T]:
    """The class of this kind.

    Raises:
        PlanError: there is none; the message names the nearest or all that there are.
    """
    try:
        return kinds[kind]
    except KeyError:
        raise PlanError(f"unknown {what} {kind!r}", where=where, todo=suggestion(kind, kinds)) from None


def built(kind: type[T], parameters: Mapping[str, Any]) -> T:
    """An instance with these parameters, each read by the type of its field.

    Raises:
        PlanError: a parameter is unknown or missing, or a value does not fit.
    """
    name = str(getattr(kind, "kind", kind.__name__))
    types = parameter_types(kind)
    values = {}
    for parameter, value in parameters.items():
        if parameter not in types:
            raise PlanError(f"unknown parameter {parameter!r} of {name}", todo=suggestion(parameter, types))
        values[parameter] = _read(types[parameter], value, f"{parameter!r} of {name}")
    try:
        return kind(**values)
    except (TypeError, ValueError) as error:
        raise PlanError(f"build {name}", why=str(error), todo=f"its parameters are: {', '.join(types) or 'none'}") from error


def parameter_types(kind: type) -> Mapping[str, Any]:
    """The types of a class's parameters by name; none for a class without fields."""
    if not is_dataclass(kind):
        return {}
    hints = get_type_hints(kind)
    return {each.name: hints[each.name] for each in fields(kind) if each.init}


def _read(wanted: Any, value: Any, what: str) -> Any:
    try:
        return TypeAdapter(wanted).validate_python(value)
    except ValidationError as error:
        why = "; ".join(str(detail["msg"]).removeprefix("Value error, ") for detail in error.errors(include_url=False))
        raise PlanError(f"{value!r} does not fit the parameter {what}", why=why) from error
    except PydanticSchemaGenerationError:
        return value


def found(package: str, contract: type[T], *, group: str = "") -> Kinds[T]:
    """The concrete classes under a package and in the entry points of its group, by kind.

    Raises:
        PlanError: two classes claim one kind, a class has none, or an entry point cannot be loaded.
    """
    kinds: dict[str, type[T]] = {}
    for candidate in (*_scanned(package, contract), *_plugged_in(group or package, contract)):
        kind = getattr(candidate, "kind", "")
        if not isinstance(kind, str) or not kind:
            raise PlanError(
                f"catalogue {_spot(candidate)}", why="the class has no `kind`", todo='write `kind = "subsystem.event"`'
            )
        other = kinds.setdefault(kind, candidate)
        if other is not candidate:
            why = f"{_spot(other)} and {_spot(candidate)} both claim it"
            raise PlanError(f"catalogue the kind {kind!r}", why=why, todo="rename one of them, or uninstall it")
    return MappingProxyType(dict(sorted(kinds.items())))


def _scanned(package: str, contract: type[T]) -> Iterator[type[T]]:
    for module in _modules(importlib.import_module(package)):
        yield from _concrete(module, contract)


def _modules(package: ModuleType) -> Iterator[ModuleType]:
    yield package
    for entry in pkgutil.iter_modules(package.__path__):
        if entry.name in _NOT_FOR_HERE:
            continue
        module = importlib.import_module(f"{package.__name__}.{entry.name}")
        if entry.ispkg:
            yield from _modules(module)
        else:
            yield module


def _concrete(module: ModuleType, contract: type[T]) -> Iterator[type[T]]:
    for name, member in vars(module).items():
        is_own = inspect.isclass(member) and member.__module__ == module.__name__ and not name.startswith("_")
        if is_own and issubclass(member, contract) and not inspect.isabstract(member):
            yield member


def _plugged_in(group: str, contract: type[T]) -> Iterator[type[T]]:
    for entry in entry_points(group=group):
        source = entry.dist.name if entry.dist else entry.value
        try:
            loaded = entry.load()
        except Exception as error:  # whatever another distribution raises, the message must name it
            todo = f"repair or uninstall {source}"
            raise PlanError(f"load {entry.value} for {group}", where=source, why=str(error), todo=todo) from error
        if isinstance(loaded, ModuleType):
            yield from _concrete(loaded, contract)
        elif inspect.isclass(loaded) and issubclass(loaded, contract):
            yield loaded
        else:
            raise PlanError(f"load {entry.value} for {group}", where=source, why=f"it is not a {contract.__name__}")


def _spot(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"
