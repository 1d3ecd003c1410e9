"""``.ci/with-lab`` takes the virtual cluster down whatever becomes of the command, and keeps its exit code."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FAKE = f"""#!{sys.executable}
import signal, sys
try:
    print(*sys.argv[1:], flush=True)
    if sys.argv[1] == "wait":
        signal.pause()
except KeyboardInterrupt:
    print("undone", flush=True)
    sys.exit(130)
sys.exit(int(sys.argv[2]) if sys.argv[1] == "end" else {{fails}}.get(" ".join(sys.argv[1:]), 0))
"""


@pytest.fixture
def place(tmp_path):
    """Lays out the tool beside a stand-in for ``chaos`` whose commands fail as told."""

    def lay(**fails: int) -> list[str]:
        (tmp_path / ".ci").mkdir()
        shutil.copy(ROOT / ".ci" / "with-lab", tmp_path / ".ci")
        program = tmp_path / ".venv" / "bin" / "chaos"
        program.parent.mkdir(parents=True)
        program.write_text(FAKE.format(fails={name.replace("_", " "): code for name, code in fails.items()}))
        program.chmod(0o755)
        return [str(tmp_path / ".ci" / "with-lab"), str(program)]

    return lay


@pytest.mark.parametrize("code", [0, 1, 3])
def test_the_exit_code_is_that_of_the_command(place, code):
    done = subprocess.run([*place(), "end", str(code)], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout.split("\n")[:3]) == (code, ["lab up", f"end {code}", "lab down"])


def test_a_lab_that_does_not_come_up_is_taken_down_and_nothing_runs(place):
    done = subprocess.run([*place(lab_up=4), "end", "0"], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout) == (4, "lab up\nlab down\n")


def test_a_lab_that_does_not_go_down_is_not_a_success(place):
    done = subprocess.run([*place(lab_down=4), "end", "0"], capture_output=True, text=True, check=False)

    assert done.returncode == 4


@pytest.mark.parametrize(("sent", "code", "words"), [(signal.SIGINT, 130, "undone\n"), (signal.SIGTERM, 143, "")])
def test_a_signal_reaches_the_command_first_and_then_the_lab_goes_down(place, sent, code, words):
    with subprocess.Popen([*place(), "wait"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert [process.stdout.readline(), process.stdout.readline()] == ["lab up\n", "wait\n"]
        os.kill(process.pid, sent)
        rest = process.stdout.read()

    assert process.returncode == code
    assert rest == f"{words}lab down\n"
