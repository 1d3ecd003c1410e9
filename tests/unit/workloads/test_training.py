"""The training load: what it sends to nodes, how it reads them, and checkpoints that are whole or not there."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import pytest

import chaos.workloads
from chaos.errors import PlanError
from chaos.model.nodes import Node
from chaos.model.quantities import milliseconds
from chaos.workloads.training import Training

NODE = Node("node1", "10.0.0.1", shared_storage="/shared")


def test_a_node_is_told_all_that_the_losses_depend_on():
    program = Training(steps=50, checkpoint_interval=5, pace=20 * milliseconds).program(NODE, "training")

    given = json.loads(program.argv[0])
    assert (given["steps"], given["checkpoint_every"], given["pace"]) == (50, 5, 0.02)
    assert given["folder"] == "/shared/{run}/training/checkpoints"


def test_a_node_without_shared_storage_is_refused_since_a_spare_could_not_go_on():
    with pytest.raises(PlanError, match="no shared storage"):
        Training().program(Node("node1", "10.0.0.1"), "training")


@pytest.mark.parametrize("parameters", [{"steps": 0}, {"checkpoint_interval": 0}, {"layers": 0}, {"width": 30}])
def test_what_could_not_run_is_refused(parameters):
    with pytest.raises(PlanError):
        Training(**parameters)


def test_an_event_is_read_with_its_time():
    reading = Training().read('{"what": "rank.step", "at": 3.5, "data": {"rank": 0, "step": 7}}')

    assert (reading.what, reading.at, reading.data["step"]) == ("rank.step", 3.5, 7)


@pytest.mark.parametrize(
    "line", ["", "{", "[]", "null", "7", '{"what": 1, "data": {}}', '{"what": "rank.step", "data": []}', "Traceback"]
)
def test_a_line_that_is_no_event_says_nothing(line):
    assert Training().read(line) is None


@pytest.fixture(scope="module")
def programs():
    """The program of a rank, loaded as on a node."""
    folder = Path(chaos.workloads.__file__).parent / "programs"
    sys.path.insert(0, str(folder))
    spec = importlib.util.spec_from_file_location("chaos_training", folder / "chaos_training.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    sys.path.remove(str(folder))


STATE = {"step": 10}


@pytest.mark.torch
class TestCheckpoints:
    """A folder of checkpoints, as a rank uses it."""

    @pytest.fixture
    def folder(self, programs, tmp_path):
        return programs.Checkpoints(str(tmp_path))

    def test_what_was_saved_is_loaded_with_its_hash(self, folder):
        path, digest, _ = folder.save(10, STATE)

        assert folder.load(10) == (path, digest, STATE)

    def test_only_the_newest_three_are_kept(self, folder):
        for step in (10, 20, 30, 40):
            folder.save(step, STATE)

        assert folder.committed() == [40, 30, 20]
        assert len(list(Path(folder.folder).iterdir())) == 6

    @pytest.mark.parametrize("damage", [lambda content: content[:100], lambda content: b"", lambda content: content[:-1] + b"!"])
    def test_a_damaged_file_is_not_loaded(self, folder, damage):
        path = Path(folder.save(10, STATE)[0])
        path.write_bytes(damage(path.read_bytes()))

        assert folder.load(10)[2] is None

    @pytest.mark.parametrize("manifest", ["", "{}", "[]", "null", '{"sha256": 5}'])
    def test_a_damaged_manifest_names_nothing(self, folder, manifest):
        path = Path(folder.save(10, STATE)[0])
        path.with_suffix(".json").write_text(manifest)

        assert folder.load(10)[2] is None

    def test_a_missing_file_is_not_loaded(self, folder):
        Path(folder.save(10, STATE)[0]).unlink()

        assert folder.load(10)[2] is None


@pytest.mark.torch
def test_the_data_of_a_step_depend_on_step_and_rank_alone(programs):
    one, again, other_rank, other_step = (programs.batch(*place, "cpu")[0].tolist() for place in ((3, 1), (3, 1), (3, 0), (4, 1)))

    assert one == again
    assert one not in (other_rank, other_step)
