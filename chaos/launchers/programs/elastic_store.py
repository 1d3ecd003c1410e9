"""The rendezvous store: a process of its own on a machine that no fault strikes, so that it outlives every node."""

import datetime
import json
import os
import time

from elastic_events import tell


def main():
    """Serves until the job has told that it is finished, and some seconds longer for those who still ask."""
    import torch.distributed as dist

    config = json.loads(os.environ["CHAOS_ELASTIC"])
    address, port = config["store_address"], config["store_port"]
    store = dist.TCPStore(address, port, is_master=True, wait_for_workers=False, timeout=datetime.timedelta(seconds=20))
    tell("store.up", address=address, port=port)
    while not store.check(["chaos.finished"]):
        time.sleep(0.5)
    time.sleep(10)
    tell("store.ended", exit_status=0)


if __name__ == "__main__":
    main()
