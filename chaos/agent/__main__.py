"""The agent's entry: relay, daemon, guard, keep, guards, sweep."""

import sys
from typing import List


def main(words: List[str]) -> int:
    """Runs one part. Imports are late, because every session pays for them."""
    from chaos_agent.homes import Home, all_homes

    part, rest = (words[0] if words else ""), words[1:]
    if part == "relay":
        from chaos_agent.relay import relay

        return int(relay(Home(rest[rest.index("--home") + 1])))
    if part == "daemon":
        from chaos_agent.daemon import Daemon

        Daemon(Home(rest[0])).serve()
        return 0
    if part == "guard":
        from chaos_agent import guards

        guards.wait(Home(rest[0]), rest[1])
        return 0
    if part == "keep":
        from chaos_agent import jobs

        jobs.keep(rest[0])
        return 0
    if part == "guards":
        from chaos_agent import guards

        for home in all_homes():
            for state in guards.states(home):
                print(home.path, state["id"], state["state"], state["why"])
        return 0
    if part == "sweep":
        from chaos_agent.sweeping import sweep

        left = sweep(Home("/nonexistent"), "--remove" in rest)
        print("\n".join(left) or "clean")
        return 1 if left else 0
    sys.stderr.write("usage: agent.pyz relay --home DIR | guards | sweep [--remove]\n")
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
