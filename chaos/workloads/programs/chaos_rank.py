"""What every rank needs: telling its progress, proving its communicator, and watching its accelerator."""

import ctypes
import json
import os
import time
from datetime import timedelta

import torch
import torch.distributed as dist

LOST = {15: "lost", 16: "in need of a reset"}
"""NVML_ERROR_GPU_IS_LOST and NVML_ERROR_RESET_REQUIRED."""
NOT_SUPPORTED = 3
START_WITHIN = timedelta(seconds=60)


def started(pid):
    """The start time of a process in clock ticks after boot: with its pid it names the process for good."""
    with open("/proc/%d/stat" % pid, "rb") as file:
        return int(file.read().rpartition(b")")[2].split()[19])


class Voice:
    """Appends events to the file that the launcher names, each in one write."""

    def __init__(self):
        path = os.environ.get("CHAOS_EVENTS", "/dev/null")
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)

    def tell(self, what, **data):
        """One event of now, on the monotonic clock."""
        line = json.dumps({"what": what, "at": time.monotonic(), "data": data}) + "\n"
        os.write(self._file, line.encode())


def physical(index):
    """The number by which the management library knows a rank's device: it does not see what CUDA_VISIBLE_DEVICES hides."""
    visible = [word.strip() for word in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if word.strip()]
    return int(visible[index]) if index < len(visible) and visible[index].isdigit() else index


class Sentinel:
    """Looks at this rank's accelerator between steps and fails at once when it is lost or has a new uncorrectable error.

    A CUDA context would report the same at its next call; where NVML cannot be loaded there is nothing to look at.
    """

    def __init__(self, index):
        self._library = None
        self._index = physical(index)
        try:
            library = ctypes.CDLL("libnvidia-ml.so.1")
        except OSError:
            return
        if library.nvmlInit_v2() == 0:
            self._library = library
            self._before = self._uncorrectable()

    @property
    def is_there(self):
        """Whether anything is looked at."""
        return self._library is not None

    def _uncorrectable(self):
        handle, count, warmth = ctypes.c_void_p(), ctypes.c_ulonglong(), ctypes.c_uint()
        code = self._library.nvmlDeviceGetHandleByIndex_v2(self._index, ctypes.byref(handle))
        if code == 0:
            code = self._library.nvmlDeviceGetTotalEccErrors(handle, 1, 0, ctypes.byref(count))
        if code == NOT_SUPPORTED:  # without ECC another call still tells whether the device is there
            code = self._library.nvmlDeviceGetTemperature(handle, 0, ctypes.byref(warmth))
        if code in LOST:
            raise RuntimeError("CUDA error: no CUDA-capable device is detected (GPU %d is %s)" % (self._index, LOST[code]))
        return count.value

    def check(self):
        """Raises RuntimeError, in the words of the driver, when the device is no longer fit."""
        if self._library is not None and self._uncorrectable() > self._before:
            raise RuntimeError("CUDA error: uncorrectable ECC error encountered (GPU %d)" % self._index)


class Rank:
    """This process as a member of its group."""

    def __init__(self):
        self.rank = int(os.environ["RANK"])
        self.local_rank = int(os.environ["LOCAL_RANK"])
        self.world = int(os.environ["WORLD_SIZE"])
        self.round = self._round()
        self.voice = Voice()
        self.sentinel = None
        torch.set_num_threads(1)

    @staticmethod
    def _round():
        """The number of the rendezvous, as the launcher's agent wrote it down; the same on every node."""
        try:
            with open(os.environ["CHAOS_ROUND_FILE"]) as file:
                return int(file.read())
        except (KeyError, OSError, ValueError):
            return int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0"))

    def join(self, patience):
        """Joins the group and proves with exact integers that every rank is in it. ``patience``: seconds a collective may take."""
        pid = os.getpid()
        self.sentinel = Sentinel(self.local_rank)
        self.tell("rank.up", local_rank=self.local_rank, pid=pid, started=started(pid), sentinel=self.sentinel.is_there)
        backend = "nccl" if torch.cuda.is_available() else "gloo"
        if backend == "nccl":
            torch.cuda.set_device(self.local_rank)
        dist.init_process_group(backend, timeout=START_WITHIN)
        dist.distributed_c10d._set_pg_timeout(timedelta(seconds=patience), dist.group.WORLD)
        proof = torch.tensor([1, self.rank], dtype=torch.int64, device=self.device)
        dist.all_reduce(proof)
        count, total = proof.tolist()
        proven = count if total == self.world * (self.world - 1) // 2 else 0
        transport = os.environ.get("GLOO_SOCKET_IFNAME", "") if backend == "gloo" else "nccl"
        self.tell("rank.communicator", proven=proven, backend=backend, transport=transport)

    @property
    def device(self):
        """Where this rank's tensors live."""
        return torch.device("cuda", self.local_rank) if torch.cuda.is_available() else torch.device("cpu")

    def tell(self, what, **data):
        """An event of this rank."""
        self.voice.tell(what, rank=self.rank, world=self.world, round=self.round, **data)


def run(work, parameters):
    """Runs a rank's work; what it dies of is told before it dies."""
    rank = Rank()
    try:
        rank.join(float(parameters.get("patience", 5.0)))
        work(rank, parameters)
        dist.barrier()
        rank.tell("rank.finished", step=int(parameters.get("steps", 0)))
    except BaseException as error:
        rank.tell("rank.failed", error=type(error).__name__, text=str(error)[:500])
        raise
    dist.destroy_process_group()
