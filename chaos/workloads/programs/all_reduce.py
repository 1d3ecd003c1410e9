"""An all-reduce sweep: time of every iteration, and every element of every result compared with the known sum.

Rank r holds ``(i % 61) * (r % 7 + 1) + r % 31`` at place i: the sum is known in closed form, is an integer that float32 holds exactly,
and changes when a rank is missing, counted twice, or written at the wrong place.
"""

import json
import os
import time

import rank
from rank import tell

PERIOD = 61


def factor(number):
    """What rank ``number`` multiplies the place with."""
    return number % 7 + 1


def pattern(elements, slope, constant, device):
    """``(i % 61) * slope + constant`` for all places, as float32."""
    import torch

    return ((torch.arange(elements, device=device) % PERIOD) * slope + constant).to(torch.float32)


class HostTimer:
    """Times one collective with the monotonic clock."""

    def __enter__(self):
        self.begun = time.perf_counter_ns()
        return self

    def __exit__(self, *_):
        self.microseconds = (time.perf_counter_ns() - self.begun) / 1000


class DeviceTimer:
    """Times one collective on the device's own stream, so that the cost of starting it is not counted."""

    def __enter__(self):
        import torch

        self.first, self.last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        self.first.record()
        return self

    def __exit__(self, *_):
        self.last.record()
        self.last.synchronize()
        self.microseconds = self.first.elapsed_time(self.last) * 1000


class Sweep:
    """One rank of the sweep."""

    def __init__(self, place, device, parameters):
        self.place, self.device, self.parameters = place, device, parameters
        self.timer = DeviceTimer if device.type == "cuda" else HostTimer

    def size(self, size_bytes):
        """Measures one size: the slowest rank's time of each iteration, and the elements that were wrong on any rank."""
        import torch
        import torch.distributed as dist

        elements = size_bytes // 4
        place, world = self.place, range(self.place.world)
        source = pattern(elements, factor(place.rank), place.rank % 31, self.device)
        expected = pattern(elements, sum(factor(r) for r in world), sum(r % 31 for r in world), self.device)
        gate = torch.zeros(1, device=self.device)
        times, wrong = [], 0
        for iteration in range(-self.parameters["warm_up"], self.parameters["iterations"]):
            buffer = source.clone()
            dist.all_reduce(gate)  # all enter together, so that waiting for a late rank is not counted as transport
            with self.timer() as timer:
                dist.all_reduce(buffer)
            wrong += int((buffer != expected).sum())
            if iteration >= 0:
                times.append(timer.microseconds)
        slowest = torch.tensor(times, dtype=torch.float64, device=self.device)
        dist.all_reduce(slowest, op=dist.ReduceOp.MAX)
        total = torch.tensor([wrong], dtype=torch.int64, device=self.device)
        dist.all_reduce(total)
        return [round(t, 2) for t in slowest.tolist()], int(total)


def work(place):
    """Sweeps as the environment variable ``CHAOS_ALL_REDUCE`` says."""
    import torch
    import torch.distributed as dist

    parameters = json.loads(os.environ["CHAOS_ALL_REDUCE"])
    torch.set_num_threads(1)
    device = rank.device_of(place)
    tell("rank.up", device=str(device), **place.identity())
    timeout = rank.communicator(place, device)
    rank.tighten(timeout)
    sweep = Sweep(place, device, parameters)
    for size_bytes in parameters["sizes"]:
        times, wrong = sweep.size(size_bytes)
        if place.rank == 0:
            backend = dist.get_backend()
            tell("all_reduce.size", size_bytes=size_bytes, ranks=place.world, wrong=wrong, transport=backend, times_us=times)
    tell("rank.finished", rank=place.rank, step=len(parameters["sizes"]))
    dist.destroy_process_group()


def main():
    """The entry for launchers that fork."""
    rank.run(work)


if __name__ == "__main__":
    main()
