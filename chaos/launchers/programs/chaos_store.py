"""The rendezvous store, in a process of its own on the head: it outlives every node of the job."""

import ctypes
import signal
import socket
import sys
import threading
from datetime import timedelta


def beacon(address, port):
    """Answers on the training network, so that every node can tell whether it still reaches it."""
    listener = socket.create_server((address, port), backlog=256)
    while True:
        listener.accept()[0].close()


if __name__ == "__main__":
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    if sys.argv[3:]:
        threading.Thread(target=beacon, args=(sys.argv[3], int(sys.argv[4])), daemon=True).start()
    from torch.distributed import TCPStore  # imported late: the beacon answers in the meantime

    store = TCPStore(sys.argv[1], int(sys.argv[2]), is_master=True, wait_for_workers=False, timeout=timedelta(seconds=60))
    signal.pause()
