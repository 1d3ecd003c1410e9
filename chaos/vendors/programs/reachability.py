"""Says as JSON whether a netfilter table stands and which peers answer an echo request. Runs on a node; stands alone.

Arguments: its own name, family, table, peers. An answer is looked for over one second, with three requests to each peer.
"""

import json
import os
import select
import socket
import struct
import subprocess
import sys
import time

TRIES = 3
WAIT = 0.33
ECHO = {socket.AF_INET: (8, 0, socket.IPPROTO_ICMP), socket.AF_INET6: (128, 129, socket.IPPROTO_ICMPV6)}


def has_table(family, table):
    """Whether the table stands, or None when nobody can tell."""
    try:
        ended = subprocess.run(["nft", "list", "tables"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=5, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    if ended.returncode:
        return None
    return ["table", family, table] in [line.split()[:3] for line in ended.stdout.decode().splitlines()]


def checksum(data):
    """The checksum of ICMP; the kernel computes that of ICMPv6 itself."""
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    total = (total >> 16) + (total & 0xFFFF)
    return ~(total + (total >> 16)) & 0xFFFF


def answering(family, peers):
    """Those of these peers that answer."""
    request, reply, protocol = ECHO[family]
    mark = os.getpid() & 0xFFFF
    found = set()
    with socket.socket(family, socket.SOCK_RAW, protocol) as raw:
        for number in range(TRIES):
            for peer in set(peers) - found:
                head = struct.pack("!BBHHH", request, 0, 0, mark, number)
                head = struct.pack("!BBHHH", request, 0, checksum(head), mark, number)
                try:
                    raw.sendto(head, (peer, 0))
                except OSError:
                    continue
            end = time.monotonic() + WAIT
            while set(peers) - found and select.select([raw], [], [], max(0.0, end - time.monotonic()))[0]:
                data, sender = raw.recvfrom(1500)
                body = data[(data[0] & 15) * 4 :] if family == socket.AF_INET else data
                if len(body) >= 8 and body[0] == reply and struct.unpack("!H", body[4:6])[0] == mark:
                    found.add(sender[0])
    return found & set(peers)


def main():
    """The table, then the peers."""
    _, family, table, *peers = sys.argv[1:]
    answers = dict.fromkeys(peers, False)
    for kind in (socket.AF_INET, socket.AF_INET6):
        ours = [peer for peer in peers if (":" in peer) == (kind == socket.AF_INET6)]
        if ours:
            answers.update(dict.fromkeys(answering(kind, ours), True))
    print(json.dumps({"table": has_table(family, table), "answers": answers}))


main()
