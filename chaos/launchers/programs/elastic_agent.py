"""One node's torch elastic agent: torch's own, with events, a patient spare, and no half-minute waits.

What is changed in torch, and why:

* a node that waits as a spare takes a place only when a member is lost, not in the moment in which members re-join after a rank died;
* the rendezvous is polled five times a second instead of once;
* ranks that outlive a failed one are ended at once when they are stopped, and after a short grace otherwise: torch waits 30 s;
* a failing agent never closes the rendezvous for all the others.
"""

import json
import multiprocessing
import os
import signal
import time

import elastic_events
import elastic_worker
from elastic_events import tell

_GRACE = 1.0  # seconds between TERM and KILL for ranks that outlive a failed one


def warm_up(entry):
    """Starts the fork server and waits until it has loaded torch, so that ranks of all nodes start at the same moment."""
    preload = ["torch", "torch.distributed", "torch._dynamo", "elastic_worker"]
    if entry:
        preload.append(entry.partition(":")[0])
    multiprocessing.set_forkserver_preload(preload)
    probe = multiprocessing.get_context("forkserver").Process(target=elastic_worker.nothing)
    probe.start()
    return probe


def ranks(context):
    """Local rank, pid and exit code (None: it runs) of every rank that an agent's process context holds."""
    group = getattr(context, "_pc", None)
    if group is not None:
        return [(number, process.pid, process.exitcode) for number, process in enumerate(group.processes)]
    handlers = getattr(context, "subprocess_handlers", None) or {}
    return [(number, handler.proc.pid, handler.proc.poll()) for number, handler in handlers.items()]


def end_all(context, grace):
    """Ends all ranks: TERM, and KILL for those that are stopped or still there after ``grace`` seconds."""
    for _, pid, code in ranks(context):
        if code is None:
            _send(pid, signal.SIGTERM)
    end = time.monotonic() + grace
    while True:
        alive = [pid for _, pid, code in ranks(context) if code is None]
        late = time.monotonic() >= end
        for pid in alive:
            if late or elastic_events.stat(pid)[0] in "Tt":
                _send(pid, signal.SIGKILL)
        if not alive or late:
            return
        time.sleep(0.02)


def _send(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def reporting_agent(base):
    """The agent class: ``base`` with events."""

    class Agent(base):
        """Reports rendezvous, start and end of ranks."""

        has_succeeded = False

        def __init__(self, spec, *arguments, **keywords):
            super().__init__(spec, *arguments, **keywords)
            close = spec.rdzv_handler.shutdown
            spec.rdzv_handler.shutdown = lambda: close() if self.has_succeeded else False
            self._entry = spec.args[0] if spec.args and callable(spec.entrypoint) else ""

        def _round(self):
            return self._worker_group.spec.rdzv_handler._state_holder.state.round

        def _rendezvous(self, worker_group):
            super()._rendezvous(worker_group)
            tell(
                "rendezvous.done",
                round=self._round(),
                node_rank=worker_group.group_rank,
                nodes=worker_group.group_world_size,
                world=worker_group.workers[0].world_size,
            )

        def _start_workers(self, worker_group):
            os.environ["CHAOS_ROUND"] = str(self._round())
            if self._entry:
                worker_group.spec.args = (self._entry, self._round())
            pids = super()._start_workers(worker_group)
            workers = [
                {"local_rank": number, "pid": pid, "started": elastic_events.stat(pid)[1]} for number, pid in sorted(pids.items())
            ]
            tell("workers.started", round=self._round(), workers=workers)
            return pids

        def _monitor_workers(self, worker_group):
            self._end_survivors()
            result = super()._monitor_workers(worker_group)
            self.has_succeeded = result.state.name == "SUCCEEDED"
            return result

        def _end_survivors(self):
            dead = [(number, code) for number, _, code in ranks(self._pcontext) if code]
            for number, code in dead:
                tell("worker.ended", local_rank=number, **elastic_events.ending(code))
            if dead:
                end_all(self._pcontext, _GRACE)

        def _shutdown(self, death_sig=signal.SIGTERM, timeout=30):
            if self._pcontext is not None:
                end_all(self._pcontext, _GRACE)
            super()._shutdown(death_sig)

        def run(self, *arguments, **keywords):
            try:
                return super().run(*arguments, **keywords)
            except BaseException as error:
                if type(error).__name__ == "SignalException":
                    leave(self._worker_group.spec.rdzv_handler)
                raise

    return Agent


def left_key(node):
    """Where a node that leaves on purpose says so."""
    return "chaos.left.{}".format(node)


def leave(handler):
    """Gives up this node's place at once, so that a spare need not wait until the heartbeat is missed."""
    from torch.distributed.elastic.rendezvous import dynamic_rendezvous as torch_rendezvous

    try:
        handler._stop_heartbeats()
        handler._store.set(left_key(handler._this_node), "1")
        handler._op_executor.run(torch_rendezvous._RendezvousExitOp(), time.monotonic() + 1)
    except Exception as error:
        print("could not say that this node leaves: {}".format(error), flush=True)


def patient_join(base, actions, should_keep_alive, store_of, config):
    """The join operation: ``base``, but a benched node takes a place only when a member is lost or has been away for long."""
    silent_after = config["keep_alive"] * (config["keep_alive_attempts"] - 1)

    class PatientJoin(base):
        """Benched: on the redundancy list, or a spare that has never taken part."""

        has_taken_part = False

        def __init__(self):
            self._members = {}
            self._room_since = None

        def __call__(self, ctx, deadline):
            if not ctx.state.closed and self._is_benched(ctx) and self._must_wait(ctx):
                return actions.KEEP_ALIVE if should_keep_alive(ctx) else actions.SYNC
            action = super().__call__(ctx, deadline)
            PatientJoin.has_taken_part |= action == actions.FINISH
            return action

        def _is_benched(self, ctx):
            state = ctx.state
            if ctx.node in state.redundancy_list:
                return True
            if not config["is_spare"] or PatientJoin.has_taken_part:
                return False
            return ctx.node not in state.participants and ctx.node not in state.wait_list

        def _must_wait(self, ctx):
            now, state = time.monotonic(), ctx.state
            if state.complete and len(state.participants) == ctx.settings.max_nodes:
                self._remember(state, now)
                self._room_since = None
                return False
            self._room_since = self._room_since or now
            if any(self._is_lost(node, state, now) for node in self._members):
                return False
            return now - self._room_since < (config["patience"] if self._members else config["start_patience"])

        def _remember(self, state, now):
            known, self._members = self._members, {}
            for node in state.participants:
                beat = state.last_heartbeats.get(node)
                before = known.get(node)
                self._members[node] = before if before and before[0] == beat else (beat, now)

        def _is_lost(self, node, state, now):
            if node in state.participants or node in state.wait_list:
                return False
            return now - self._members[node][1] >= silent_after or store_of().check([left_key(node)])

    return PatientJoin


def adapt_rendezvous(config):
    """Puts the patient join and the quicker polls into torch's dynamic rendezvous."""
    from torch.distributed.elastic.rendezvous import dynamic_rendezvous as torch_rendezvous

    handlers = []
    build = torch_rendezvous.DynamicRendezvousHandler.__init__

    def remember(self, *arguments, **keywords):
        build(self, *arguments, **keywords)
        self._state_holder._cache_duration = config["poll"]
        handlers.append(self)

    torch_rendezvous.DynamicRendezvousHandler.__init__ = remember
    pause = torch_rendezvous._delay
    torch_rendezvous._delay = lambda seconds: pause(seconds if isinstance(seconds, tuple) else min(seconds, config["poll"]))
    torch_rendezvous._RendezvousJoinOp = patient_join(
        torch_rendezvous._RendezvousJoinOp,
        torch_rendezvous._Action,
        torch_rendezvous._should_keep_alive,
        lambda: handlers[0]._store,
        config,
    )
    return handlers


def launch(config):
    """Takes part until the job is finished. A spare that was never needed ends well when the others have finished."""
    from torch.distributed.elastic.rendezvous import RendezvousClosedError
    from torch.distributed.launcher import api

    handlers = adapt_rendezvous(config)
    api.LocalElasticAgent = reporting_agent(api.LocalElasticAgent)
    settings = api.LaunchConfig(
        min_nodes=config["nodes"],
        max_nodes=config["nodes"],
        nproc_per_node=config["ranks_per_node"],
        run_id=config["rendezvous"],
        rdzv_backend="c10d",
        rdzv_endpoint="{}:{}".format(config["store_address"], config["store_port"]),
        rdzv_configs={
            "is_host": False,
            "join_timeout": 600,
            "last_call_timeout": 1,
            "read_timeout": 20,
            "keep_alive_interval": config["keep_alive"],
            "keep_alive_max_attempt": config["keep_alive_attempts"],
        },
        max_restarts=1_000_000,
        monitor_interval=0.1,
        start_method="forkserver",
        local_addr=config["address"],
    )
    try:
        if config["entry"]:
            api.elastic_launch(settings, elastic_worker.run)(config["entry"], 0)
        else:
            argv = json.loads(os.environ["CHAOS_ARGV"])
            api.elastic_launch(settings, argv[0])(*argv[1:])
    except RendezvousClosedError:
        pass
    handlers[0]._store.set("chaos.finished", "1")


def main():
    """The program of the agent's process."""
    runner = os.environ.get("CHAOS_RUNNER")
    elastic_events.die_with_parent(int(runner) if runner else None)
    config = json.loads(os.environ["CHAOS_ELASTIC"])
    probe = warm_up(config["entry"])
    import torch  # noqa: F401 - in the time in which the fork server loads it too

    probe.join()
    launch(config)
