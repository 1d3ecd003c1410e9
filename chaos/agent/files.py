"""Writing files so that a reader sees the old one or the new one."""

import os
import time


def replace(path: str, content: bytes, mode: int = 0o644) -> None:
    """Writes a whole file atomically and syncs it."""
    draft = "%s.chaos-%d-%d" % (path, os.getpid(), time.monotonic_ns())
    try:
        with open(draft, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(draft, mode)
        os.replace(draft, path)
    except OSError:
        if os.path.exists(draft):
            os.unlink(draft)
        raise
