"""All-reduce over a sweep of sizes: time of every iteration, and every element checked against its exact sum."""

import json
import time

import torch
import torch.distributed as dist
from chaos_rank import run

_MODULUS = 1021
"""Elements are below this prime: sums of thousands of ranks stay exact in 32 bits."""


def pattern(rank, count, device):
    """The numbers that one rank brings: different for every rank and, within its period, for every place."""
    return (torch.arange(count, dtype=torch.int32, device=device) + 31 * rank) % _MODULUS


def expected(world, count, device):
    """The exact sum over all ranks."""
    total = torch.zeros(count, dtype=torch.int32, device=device)
    for rank in range(world):
        total += pattern(rank, count, device)
    return total


def sweep(rank, parameters):
    """All sizes; each result is told by rank 0 with the slowest rank's time of every iteration."""
    for size in parameters["sizes"]:
        count = int(size) // 4
        mine, right = pattern(rank.rank, count, rank.device), expected(rank.world, count, rank.device)
        times, wrong = [], 0
        for iteration in range(int(parameters["warmup"]) + int(parameters["iterations"])):
            data = mine.clone()
            dist.barrier()
            begun = time.monotonic()
            dist.all_reduce(data)
            if rank.device.type == "cuda":
                torch.cuda.synchronize()
            took = torch.tensor([time.monotonic() - begun], dtype=torch.float64, device=rank.device)
            wrong += int((data != right).sum().item())
            dist.all_reduce(took, op=dist.ReduceOp.MAX)
            if iteration >= int(parameters["warmup"]):
                times.append(took.item())
        errors = torch.tensor([wrong], dtype=torch.int64, device=rank.device)
        dist.all_reduce(errors)
        if rank.rank == 0:
            rank.tell("collective.result", size_bytes=4 * count, times=times, wrong=int(errors.item()), ranks=rank.world)


def main(parameters):
    """Entry of a rank."""
    run(sweep, json.loads(parameters))
