"""Everything that can go wrong, named.

::

    ChaosError
    ├── UsageError                 the request cannot be carried out as written
    │   ├── InventoryError         file, line, column and key
    │   ├── ProfileError           a threshold that cannot fail, cannot pass or has no source
    │   ├── PlanError              unknown kind, no target meets the needs
    │   ├── PlanChanged            the run was started with another plan, inventory or code
    │   └── NotPermitted           more severe than the inventory allows for that node
    ├── SiteError                  the site is not fit for the test
    │   ├── Unreachable            no login within the deadline
    │   ├── HostKeyMismatch        the host key is unknown or another one
    │   ├── ConnectionLost         the channel ended before the answer came
    │   ├── CommandFailed          exit status, signal and the tail of the output
    │   ├── CommandTimeout         says whether the process still runs
    │   └── Unsupported            the ability that the node's platform lacks
    ├── InjectionError
    │   ├── NoEffect               applied, but nothing changed: the drill is invalid
    │   ├── StillPresent           undone, but still there: the node is quarantined
    │   └── StopConditionMet
    ├── LedgerError
    │   ├── Damaged                the record was altered, and not only at its torn end
    │   ├── LeaseHeld              another process writes this run
    │   └── LeaseLost
    └── Inconclusive               the evidence does not decide

    CriterionNotMet(AssertionError)    the cluster failed

*Failed is the cluster, broken is us*: only :class:`CriterionNotMet` says something about the cluster.
"""

from __future__ import annotations


class ChaosError(Exception):
    """What was attempted, where, why it could not be done, and what to do next."""

    def __init__(self, attempted: str, *, where: str = "", why: str = "", todo: str = "") -> None:
        super().__init__(attempted, where, why, todo)
        self.attempted = attempted
        self.where = where
        self.why = why
        self.todo = todo

    def __str__(self) -> str:
        head = f"{self.where}: {self.attempted}" if self.where else self.attempted
        return "".join([head, f": {self.why}" if self.why else "", f"\n  next: {self.todo}" if self.todo else ""])


class UsageError(ChaosError):
    """The request cannot be carried out as written."""


class InventoryError(UsageError):
    """The inventory is wrong at a place that is named."""

    def __init__(
        self, attempted: str, *, file: str, line: int = 0, column: int = 0, key: str = "", why: str = "", todo: str = ""
    ) -> None:
        place = file + (f":{line}" if line else "") + (f":{column}" if column else "") + (f" [{key}]" if key else "")
        super().__init__(attempted, where=place, why=why, todo=todo)
        self.file, self.line, self.column, self.key = file, line, column, key


class ProfileError(UsageError):
    """A profile holds a threshold that cannot decide anything."""


class PlanError(UsageError):
    """The plan cannot be built: an unknown kind, or no target meets the needs."""


class PlanChanged(UsageError):
    """The run was started with another plan, inventory or code."""


class NotPermitted(UsageError):
    """The inventory does not allow this severity on this node."""


class SiteError(ChaosError):
    """The site is not fit for the test."""


class Unreachable(SiteError):
    """No login within the deadline."""


class HostKeyMismatch(SiteError):
    """The host key is unknown or differs from the recorded one."""


class ConnectionLost(SiteError):
    """The channel ended before the answer came: whether the act took place is unknown."""


class CommandFailed(SiteError):
    """A command ended with a status that was not expected."""

    def __init__(
        self, attempted: str, *, where: str = "", exit_status: int | None = None, tail: str = "", todo: str = ""
    ) -> None:
        status = "no exit status" if exit_status is None else f"exit status {exit_status}"
        super().__init__(attempted, where=where, why=f"{status}{': ' + tail if tail else ''}", todo=todo)
        self.exit_status = exit_status
        self.tail = tail


class CommandTimeout(SiteError):
    """A deadline passed. ``is_still_running`` is None when nobody could tell."""

    def __init__(
        self, attempted: str, *, where: str = "", why: str = "", is_still_running: bool | None = None, todo: str = ""
    ) -> None:
        running = {True: "it still runs", False: "it was killed", None: "whether it still runs is unknown"}
        super().__init__(attempted, where=where, why=f"{why or 'deadline passed'}; {running[is_still_running]}", todo=todo)
        self.is_still_running = is_still_running


class Unsupported(SiteError):
    """The node's platform lacks an ability."""

    def __init__(self, attempted: str, *, ability: str, where: str = "", why: str = "", todo: str = "") -> None:
        super().__init__(attempted, where=where, why=why or f"the platform does not offer {ability}", todo=todo)
        self.ability = ability


class InjectionError(ChaosError):
    """An injection did not go as its contract says."""


class NoEffect(InjectionError):
    """The fault was applied, but nothing changed: the drill is invalid, not passed."""


class StillPresent(InjectionError):
    """The fault was undone, but is still there: the node is quarantined."""


class StopConditionMet(InjectionError):
    """A condition under which no further fault may be injected."""


class LedgerError(ChaosError):
    """The record of a run cannot be used."""


class Damaged(LedgerError):
    """The record was altered, and not only at its torn end."""


class LeaseHeld(LedgerError):
    """Another process writes this run."""


class LeaseLost(LedgerError):
    """This process no longer holds the run."""


class Inconclusive(ChaosError):
    """The evidence does not decide."""


class CriterionNotMet(AssertionError):
    """The cluster did not meet a criterion."""
