"""torch's own elastic agent of one node, with a fork server that has everything imported, telling what it does."""

import ctypes
import importlib
import json
import logging
import multiprocessing
import multiprocessing.util
import os
import signal
import sys
import time

import torch.distributed.elastic.rendezvous.registry as registry
from torch.distributed.elastic.agent.server.api import WorkerSpec, WorkerState
from torch.distributed.elastic.agent.server.local_elastic_agent import LocalElasticAgent
from torch.distributed.elastic.multiprocessing import DefaultLogsSpecs
from torch.distributed.elastic.multiprocessing.api import PContext, SignalException
from torch.distributed.elastic.rendezvous import RendezvousParameters, dynamic_rendezvous
from torch.distributed.elastic.rendezvous.api import RendezvousClosedError, RendezvousGracefulExitError
from torch.multiprocessing.spawn import ProcessContext

GRACE = 2.5
"""Seconds for which a place may stay empty before a spare takes it."""
FIRST_ROUND_WITHIN = 30.0
"""Seconds for which a new spare leaves the first round to the members."""
PRELOADED = ("torch", "torch._dynamo", "torch.distributed", "torch.nn.parallel")


def tell(what, **data):
    """One event, in one write."""
    line = json.dumps({"what": what, "at": time.monotonic(), "data": data}) + "\n"
    with open(os.environ["CHAOS_EVENTS"], "ab", buffering=0) as file:
        file.write(line.encode())


def started(pid):
    """The start time of a process in clock ticks after boot; 0 when it is gone."""
    try:
        with open("/proc/%d/stat" % pid, "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[19])
    except OSError:
        return 0


class TellingAgent(LocalElasticAgent):
    """torch's agent; what it does is its own, that it says so is ours."""

    def _rendezvous(self, worker_group):
        super()._rendezvous(worker_group)
        number = worker_group.spec.rdzv_handler.chaos_round
        with open(os.environ["CHAOS_ROUND_FILE"], "w") as file:
            file.write(str(number))
        world = worker_group.group_world_size * worker_group.spec.local_world_size
        tell("rendezvous.done", round=number, node_rank=worker_group.group_rank, nodes=worker_group.group_world_size, world=world)

    def _start_workers(self, worker_group):
        pids = super()._start_workers(worker_group)
        number = worker_group.spec.rdzv_handler.chaos_round
        workers = [{"local_rank": rank, "pid": pid, "started": started(pid)} for rank, pid in pids.items()]
        tell("workers.started", round=number, workers=workers)
        return pids

    def _monitor_workers(self, worker_group):
        dead = self._dead()
        result = super()._monitor_workers(worker_group)
        if result.state == WorkerState.FAILED:
            dead = dead or {failure.local_rank: failure.exitcode for failure in result.failures.values()}
            for rank, code in dead.items():
                name = signal.Signals(-code).name if code < 0 else ""
                tell("worker.ended", local_rank=rank, exit_status=code if code >= 0 else None, signal=name)
        return result

    def _dead(self):
        """Exit codes of the workers that have failed so far, by local rank.

        torch names only one of them, which can be a victim that ended a moment after the one that was killed.
        """
        group = getattr(self._pcontext, "_pc", None)
        return {rank: process.exitcode for rank, process in enumerate(group.processes) if process.exitcode} if group else {}


def kill_soon():
    """A frozen worker does not take SIGTERM: torch waits 30 s in three places before it kills it, which no setting shortens."""
    PContext.close.__defaults__ = (None, 1)
    LocalElasticAgent._shutdown.__defaults__ = (signal.SIGTERM, 1)
    original = ProcessContext._join_procs_with_timeout
    ProcessContext._join_procs_with_timeout = lambda context, patience: original(context, min(patience, 1.0))


def spares_give_way(nodes, is_spare):
    """A spare steps in only when a place stays empty: members that merely restart are back within this time.

    torch lets a spare take the place of whoever is slowest to come, and the one left over then waits in a way that makes the
    others restart again and again, although there is no room for it. A spare that is new waits for a full round before it queues.
    """
    original = dynamic_rendezvous._RendezvousJoinOp.__call__
    begun, empty_since = time.monotonic(), []
    has_queued = [] if is_spare else [True]

    def must_wait(context):
        state, now = context.state, time.monotonic()
        if context.node in state.redundancy_list or context.node in state.participants:
            has_queued.append(True)
        if state.closed or len(state.participants) >= nodes:
            empty_since.clear()
            return False
        if not has_queued:
            return now - begun < FIRST_ROUND_WITHIN
        if context.node not in state.redundancy_list:
            empty_since.clear()
            return False
        empty_since[:] = empty_since or [now]
        return now - empty_since[0] < GRACE

    def join(operation, context, deadline):
        if not must_wait(context):
            return original(operation, context, deadline)
        action = dynamic_rendezvous._Action
        return action.KEEP_ALIVE if dynamic_rendezvous._should_keep_alive(context) else action.SYNC

    dynamic_rendezvous._RendezvousJoinOp.__call__ = join


def remember_round(handler):
    """The number of the round that was joined: the shared state may already speak of a later one."""
    original = handler._get_store

    def get_store():
        handler.chaos_round = handler._state_holder.state.round
        return original()

    handler._get_store = get_store


def without_room_nobody_waits(handler, nodes):
    """A node that waits for a place is a reason to restart only when there is one."""
    original = handler.num_nodes_waiting

    def waiting():
        count = original()
        return count if len(handler._state_holder.state.participants) < nodes else 0

    handler.num_nodes_waiting = waiting


def ask_often(handler, nodes):
    """A small job asks the store five times a second for news; at 200 nodes it is torch's once a second, for the store's sake."""
    period = min(1.0, max(0.2, nodes / 200))
    pause = dynamic_rendezvous._delay
    dynamic_rendezvous._delay = lambda seconds: pause(seconds if isinstance(seconds, tuple) else min(seconds, period))
    handler._state_holder._cache_duration = period


def nothing():
    """What the fork server is started with: its imports are what takes the time."""


def warm_up(entry):
    """Starts the fork server as a fork of this process, which has everything imported and no thread yet: one import instead of two."""
    for module in (*PRELOADED, entry.partition(":")[0]):
        importlib.import_module(module)
    spawn = multiprocessing.util.spawnv_passfds
    multiprocessing.util.spawnv_passfds = lambda path, words, kept: _fork(path, words, kept, spawn)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["chaos_elastic"])
    process = context.Process(target=nothing)
    process.start()
    process.join()
    multiprocessing.util.spawnv_passfds = spawn


def _fork(path, words, kept, spawn):
    """What starts the fork server: the same words run in a fork. Anything else is started as ever."""
    if "forkserver" not in words[-1]:
        return spawn(path, words, kept)
    pid = os.fork()
    if pid == 0:
        try:
            ctypes.CDLL(None).prctl(1, signal.SIGKILL)
            exec(words[-1], {})
        finally:
            os._exit(1)
    return pid


def entry_point(words):
    """The function that a rank runs."""
    module, _, function = words.partition(":")
    return getattr(importlib.import_module(module), function)


def work(words, *arguments):
    """Runs a rank in a process that dies with the fork server, and so with the agent."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    entry_point(words)(*arguments)


def main(given):
    """Joins the rendezvous and keeps the workers of this node going until the job is done."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    logging.basicConfig(level=logging.WARNING)
    kill_soon()
    warm_up(given["entry"])
    parameters = RendezvousParameters(
        backend="c10d", endpoint=given["endpoint"], run_id=given["run"], min_nodes=given["nodes"], max_nodes=given["nodes"],
        local_addr=given["address"], is_host=0, last_call_timeout=1, join_timeout=3600, keep_alive_interval=1,
        keep_alive_max_attempt=4, read_timeout=20,
    )  # fmt: skip
    spares_give_way(given["nodes"], given["is_spare"])
    handler = registry.get_rendezvous_handler(parameters)
    without_room_nobody_waits(handler, given["nodes"])
    remember_round(handler)
    ask_often(handler, given["nodes"])
    spec = WorkerSpec(
        role="train", local_world_size=given["ranks"], entrypoint=work, args=(given["entry"], *given["arguments"]),
        rdzv_handler=handler, max_restarts=1_000_000, monitor_interval=0.1, local_addr=given["address"],
    )  # fmt: skip
    tell("elastic.started", pid=os.getpid())
    agent = TellingAgent(
        spec, DefaultLogsSpecs(log_dir=given["logs"]), start_method="forkserver", exit_barrier_timeout=10, shutdown_timeout=1
    )
    try:
        result = agent.run()
    except (RendezvousClosedError, RendezvousGracefulExitError):
        return 0
    except SignalException:
        return 1
    if result is None:  # torch's word for a spare that was never needed: the job is finished
        return 0
    if result.is_failed():
        return 1
    handler.shutdown()
    return 0


if __name__ == "__main__":
    sys.modules["chaos_elastic"] = sys.modules["__main__"]
    sys.exit(main(json.loads(sys.argv[1])))
