"""Builds the fake NVML library, and puts it and the tools that go with it into a node."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from importlib import resources
from pathlib import Path

from chaos.errors import CommandFailed, Unsupported
from chaos.lab import device_state

LIBRARY = "libnvidia-ml.so.1"


def build(folder: Path) -> Path:
    """The compiled library in this folder; compiled again only when its source changed.

    Raises:
        Unsupported: there is no C compiler.
        CommandFailed: it did not compile.
    """
    source = _program("nvml.c")
    header = device_state.c_header()
    digest = hashlib.sha256((source + header).encode()).hexdigest()[:16]
    library = folder / f"nvml-{digest}.so"
    if library.exists():
        return library
    compiler = next((found for name in ("cc", "gcc", "clang") if (found := shutil.which(name))), None)
    if compiler is None:
        raise Unsupported("build the fake NVML library", ability="a C compiler", todo="apt-get install gcc libc6-dev")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "nvml.c").write_text(source, encoding="utf-8")
    (folder / "device_state.h").write_text(header, encoding="utf-8")
    draft = folder / f"nvml-{digest}.so.{os.getpid()}"
    words = [compiler, "-shared", "-fPIC", "-O2", "-Wall", f"-Wl,-soname,{LIBRARY}", "-o", str(draft), str(folder / "nvml.c")]
    ended = subprocess.run(words, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise CommandFailed("compile the fake NVML library", exit_status=ended.returncode, tail=ended.stderr[-800:])
    draft.replace(library)
    return library


def _program(name: str) -> str:
    return resources.files("chaos.lab").joinpath("programs", name).read_text(encoding="utf-8")


def library_folder() -> str:
    """Where the dynamic linker looks on this machine."""
    machine = os.uname().machine
    place = f"/usr/lib/{machine}-linux-gnu"
    return place if Path(place).is_dir() else "/usr/lib"


def cache() -> Path:
    """Where compiled libraries are kept between labs."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "chaos" / "lab"


def install(node: str, gpus: int, library: bytes) -> None:
    """Run inside a node: its devices, the library and the tools."""
    Path("/opt/lab").mkdir(parents=True, exist_ok=True)
    _tool("/opt/lab/python", f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    if not gpus:
        return
    Path(device_state.PATH).write_bytes(device_state.fresh(node, gpus))
    Path(f"{library_folder()}/{LIBRARY}").write_bytes(library)
    for index in range(gpus):
        os.mknod(f"/dev/nvidia{index}", 0o20666, os.makedev(1, 3))
    layout = json.dumps(device_state.layout())
    simulator = _program("simulator.py").replace("LAYOUT = {}", f"LAYOUT = {layout}")
    _tool("/usr/local/bin/chaos-simulator", f"#!/usr/bin/env -S python3 -S -E\n{simulator}")
    _tool("/usr/local/bin/nvidia-smi", f"#!/usr/bin/env -S python3 -S -E\n{_program('nvidia_smi.py')}")
    _tool("/usr/local/bin/dmesg", '#!/bin/sh\n[ "$1" = -w ] && exec tail -n +1 -F /run/lab/kmsg\nexec cat /run/lab/kmsg\n')


def _tool(path: str, text: str) -> None:
    place = Path(path)
    place.unlink(missing_ok=True)
    place.write_text(text, encoding="utf-8")
    place.chmod(0o755)
