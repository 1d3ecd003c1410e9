"""Reads and sets the simulated accelerators of this node. Installed by the lab as ``chaos-simulator``; stands alone."""

import argparse
import json
import mmap
import os
import sys

LAYOUT = {}  # filled in when the lab installs this program
PATH = os.environ.get("FAKE_NVML_STATE", "/run/lab/nvml.state")


class Devices:
    """The state file, mapped: a reader sees a change at once."""

    def __init__(self) -> None:
        with open(PATH, "r+b") as file:
            self.map = mmap.mmap(file.fileno(), 0)
        self.state = {name: (offset, size, kind) for name, offset, size, kind in LAYOUT["State"]}
        self.device = {name: (offset, size, kind) for name, offset, size, kind in LAYOUT["Device"]}
        self.size = self.state["devices"][1] // 16

    @property
    def count(self):
        """How many devices there are."""
        offset, size, _ = self.state["count"]
        return int.from_bytes(self.map[offset : offset + size], "little")

    def read(self, index):
        """All fields of a device."""
        return {name: self._read(index, name) for name in self.device}

    def _place(self, index, name):
        if not 0 <= index < self.count:
            raise SystemExit("no device %d: there are %d" % (index, self.count))
        if name not in self.device:
            raise SystemExit("no field %r: there are %s" % (name, ", ".join(self.device)))
        offset, size, kind = self.device[name]
        return self.state["devices"][0] + index * self.size + offset, size, kind

    def _read(self, index, name):
        offset, size, kind = self._place(index, name)
        data = self.map[offset : offset + size]
        return data.split(b"\0")[0].decode() if kind == "text" else int.from_bytes(data, "little")

    def write(self, index, name, value):
        """One field of a device."""
        offset, size, kind = self._place(index, name)
        data = str(value).encode()[: size - 1].ljust(size, b"\0") if kind == "text" else int(value).to_bytes(size, "little")
        self.map[offset : offset + size] = data


def main():
    """``show``, ``set`` and ``restore``."""
    parser = argparse.ArgumentParser(prog="chaos-simulator", description=__doc__)
    parts = parser.add_subparsers(dest="part", required=True)
    show = parts.add_parser("show", help="all devices")
    show.add_argument("--json", action="store_true")
    change = parts.add_parser("set", help="fields of a device")
    change.add_argument("--gpu", type=int, required=True)
    change.add_argument("fields", nargs="+", metavar="field=value")
    restore = parts.add_parser("restore", help="fields of a device from JSON")
    restore.add_argument("--gpu", type=int, required=True)
    restore.add_argument("document")
    given = parser.parse_args()
    devices = Devices()
    if given.part == "show":
        print(json.dumps({"devices": [dict(devices.read(index), index=index) for index in range(devices.count)]}))
        return 0
    fields = json.loads(given.document) if given.part == "restore" else dict(field.split("=", 1) for field in given.fields)
    for name, value in fields.items():
        if name != "index":
            devices.write(given.gpu, name, value)
    return 0


if __name__ == "__main__":
    sys.exit(main())
