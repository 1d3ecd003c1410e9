"""What every rank does first, on the node: say that it is up, join the others, prove that all are there.

Runs with Python 3.8 and torch alone; nothing of the controller is imported. Events are JSON lines appended in one write to the file
that ``CHAOS_EVENTS`` names.
"""

import datetime
import json
import os
import time


def tell(what, **data):
    """Appends one event; a write of one line to a file opened for appending is never mixed with another's."""
    line = json.dumps({"what": what, "at": time.monotonic(), "data": data}) + "\n"
    descriptor = os.open(os.environ["CHAOS_EVENTS"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(descriptor, line.encode())
    finally:
        os.close(descriptor)


def start_ticks():
    """The start time of this process in clock ticks after boot: with the pid it names the process for good."""
    with open("/proc/self/stat") as file:
        return int(file.read().rpartition(")")[2].split()[19])


class Place:
    """Where this process stands: its rank, its device, its round."""

    def __init__(self):
        self.rank = int(os.environ["RANK"])
        self.local_rank = int(os.environ["LOCAL_RANK"])
        self.world = int(os.environ["WORLD_SIZE"])
        self.round = int(os.environ.get("CHAOS_ROUND", "0"))

    def identity(self):
        """The body of ``rank.up``."""
        return {
            "rank": self.rank,
            "local_rank": self.local_rank,
            "world": self.world,
            "round": self.round,
            "pid": os.getpid(),
            "started": start_ticks(),
        }


def device_of(place):
    """The device of this rank: its accelerator when torch sees one, else the CPU."""
    import torch

    if torch.cuda.is_available():
        torch.cuda.set_device(place.local_rank % torch.cuda.device_count())
        return torch.device("cuda", torch.cuda.current_device())
    return torch.device("cpu")


def communicator(place, device):
    """Joins all ranks and proves it: each adds a one at its own place, so the sum has a one for every rank and nothing else.

    Setting up may wait longer for the others than a later collective may: their processes start at different moments.
    """
    import torch
    import torch.distributed as dist

    seconds = float(os.environ.get("CHAOS_COLLECTIVE_TIMEOUT", "10"))
    starting = datetime.timedelta(seconds=max(seconds, float(os.environ.get("CHAOS_START_TIMEOUT", "15"))))
    dist.init_process_group("nccl" if device.type == "cuda" else "gloo", timeout=starting)
    seen = torch.zeros(place.world, dtype=torch.int64, device=device)
    seen[place.rank] = 1
    dist.all_reduce(seen)
    proven = int((seen == 1).sum())
    if proven != place.world:
        raise RuntimeError("the first all-reduce saw {} of {} ranks: {}".format(proven, place.world, seen.tolist()))
    tell("rank.communicator", rank=place.rank, world=place.world, round=place.round, proven=proven)
    return datetime.timedelta(seconds=seconds)


def tighten(timeout):
    """From now on a collective may take no longer than ``timeout``; without that ability of torch the longer limit stays."""
    import torch.distributed.distributed_c10d as c10d

    try:
        c10d._set_pg_timeout(timeout)
    except (AttributeError, RuntimeError, TypeError) as error:
        print("the collective timeout could not be shortened: {}".format(error))


def run(work):
    """Runs ``work(place)``. An error is told and ends the process at once: tearing down a broken communicator can hang."""
    place = Place()
    try:
        work(place)
    except BaseException as error:
        tell("rank.failed", rank=place.rank, error=type(error).__name__, text=str(error)[:2000])
        os._exit(1)
