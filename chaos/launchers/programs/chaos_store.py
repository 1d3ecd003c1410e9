"""The rendezvous store, in a process of its own on the head: it outlives every node of the job."""

import ctypes
import signal
import sys
from datetime import timedelta

from torch.distributed import TCPStore

if __name__ == "__main__":
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    store = TCPStore(sys.argv[1], int(sys.argv[2]), is_master=True, wait_for_workers=False, timeout=timedelta(seconds=60))
    signal.pause()
