"""Many SSH servers in one process, one for each loopback address, that answer plain commands and play the agent.

Prints where they are as one line of JSON and ends when its standard input does.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Any

import asyncssh

BOOT_ID = "00000000-0000-4000-8000-000000000000"


def frame(document: dict[str, Any]) -> bytes:
    payload = json.dumps(document, separators=(",", ":")).encode()
    return b"%d:%b\n" % (len(payload), payload)


async def serve(process: asyncssh.SSHServerProcess[bytes]) -> None:
    if " relay --home " in (process.command or ""):
        await play_agent(process)
    else:
        process.stdout.write(f"{BOOT_ID}\n".encode())
    process.exit(0)


async def play_agent(process: asyncssh.SSHServerProcess[bytes]) -> None:
    hello = {"version": 1, "boot_id": BOOT_ID, "pid": 1, "facts": {}, "spool_from": 1}
    process.stdout.write(b"HAVE\nCHAOS-AGENT 1\n" + frame({"hello": hello}))
    answer = {"exit_status": 0, "stdout": json.dumps({"boot_id": BOOT_ID}), "is_done": True, "took": 0.0}
    try:
        while True:
            size = int((await process.stdin.readuntil(b":"))[:-1])
            request = json.loads(await process.stdin.readexactly(size + 1))
            if "id" in request:
                body = {"monotonic": time.monotonic()} if request["do"] == "clock" else answer
                process.stdout.write(frame({"id": request["id"], "ok": body}))
    except (asyncio.IncompleteReadError, asyncssh.BreakReceived, ConnectionError):
        return


async def main(count: int, folder: Path) -> None:
    host_key, user_key = asyncssh.generate_private_key("ssh-ed25519"), asyncssh.generate_private_key("ssh-ed25519")
    user_key.write_private_key(folder / "id_ed25519")
    user_key.write_public_key(folder / "id_ed25519.pub")
    hosts = [f"127.99.{number // 250}.{number % 250 + 1}" for number in range(count)]
    public = host_key.export_public_key().decode().split()
    (folder / "known_hosts").write_text("".join(f"[{host}]:2222 {public[0]} {public[1]}\n" for host in hosts))
    for host in hosts:
        await asyncssh.create_server(
            asyncssh.SSHServer,
            host,
            2222,
            server_host_keys=[host_key],
            authorized_client_keys=str(folder / "id_ed25519.pub"),
            process_factory=serve,
            encoding=None,
            login_timeout=600,
        )
    place = {"hosts": hosts, "port": 2222, "identity": str(folder / "id_ed25519"), "known_hosts": str(folder / "known_hosts")}
    print(json.dumps(place), flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    import resource

    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    asyncio.run(main(int(sys.argv[1]), Path(sys.argv[2])))
