"""An inventory file becomes a cluster, or every mistake in it is told."""

import hashlib
from textwrap import dedent

import pytest

from chaos.errors import InventoryError
from chaos.inventory.reading import load, parse
from chaos.model.nodes import Accelerator, Bmc, Interface, Role, Severity


def cluster(text: str):
    return parse(dedent(text).encode(), "site.yaml")


def mistakes(text: str) -> str:
    with pytest.raises(InventoryError) as told:
        cluster(text)
    return str(told.value)


def test_the_smallest_inventory_is_a_name_and_hosts():
    site = cluster("{name: small, groups: {all: {hosts: 'n[1-2]'}}}")

    assert [node.name for node in site] == ["n1", "n2"]
    assert (site["n1"].address, site["n1"].role, site["n1"].vendor) == ("n1", Role.COMPUTE, "linux")
    assert (site.contracted_slots, site.is_virtual, site["n1"].severity_allowed) == (2, False, Severity.DISRUPTIVE)


def test_the_nearest_word_wins_key_by_key():
    site = cluster("""
        name: layered
        defaults: {vendor: nvidia, ssh: {user: root, port: 2222}, properties: {site: here}}
        groups:
          gpu: {hosts: "gpu[1-3]", ssh: {user: ops}}
        overrides:
          gpu[2-3]: {properties: {cooling: water}}
          gpu3: {vendor: amd, ssh: {port: 22}}
        """)

    assert [(node.vendor, node.ssh.user, node.ssh.port) for node in site] == [
        ("nvidia", "ops", 2222),
        ("nvidia", "ops", 2222),
        ("amd", "ops", 22),
    ]
    assert [dict(node.properties) for node in site][1:] == [{"site": "here", "cooling": "water"}] * 2


def test_null_takes_back_what_was_said_before():
    site = cluster("""
        name: x
        defaults: {accelerators: {count: 8}, properties: {a: b}}
        groups: {gpu: {hosts: g1}, head: {hosts: h1, role: head, accelerators: null, properties: null}}
        """)

    assert (len(site["g1"].accelerators), site["h1"].accelerators, dict(site["h1"].properties)) == (8, (), {})


def test_ranges_and_placeholders_give_every_node_its_own_values():
    site = cluster(
        """
        name: x
        groups:
          gpu:
            hosts: gpu[008-010]
            address: 10.0.0.[1-3]
            management: {name: eno1}
            training: {count: 2, name: "ib{rail}", address: "10.1{rail}.0.{number}"}
            domains: {rack: "r[1,1-2]", power: "feed{index}"}
        """.replace("r[1,1-2]", "r[5-7]")
    )

    last = site["gpu010"]
    assert (last.address, last.management) == ("10.0.0.3", Interface("eno1", "10.0.0.3"))
    assert last.training == (Interface("ib0", "10.10.0.10", 0), Interface("ib1", "10.11.0.10", 1))
    assert (last.domains.rack, last.domains.power) == ("r7", "feed2")


def test_accelerators_are_counted_or_listed():
    site = cluster("""
        name: x
        groups:
          a: {hosts: a1, accelerators: {count: 2, model: H100, uuid: "GPU-{name}-{device}", pci_address: ["00000000:5E:00.0", "5f:00.0"]}}
          b: {hosts: b1, accelerators: [{uuid: GPU-1, pci_address: "0000:5E:00.0", model: H200}]}
        """)

    assert site["a1"].accelerators == (
        Accelerator(0, "GPU-a1-0", "0000:5e:00.0", "H100"),
        Accelerator(1, "GPU-a1-1", "0000:5f:00.0", "H100"),
    )
    assert site["b1"].accelerators == (Accelerator(0, "GPU-1", "0000:5e:00.0", "H200"),)


def test_paths_on_the_controller_start_at_home_or_at_the_inventory(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", "/home/ops")
    file = tmp_path / "site.yaml"
    file.write_text("{name: x, groups: {a: {hosts: a, ssh: {known_hosts: keys/known, identity_files: [~/.ssh/id, /k/id]}}}}")

    ssh = load(file)["a"].ssh

    assert ssh.known_hosts == str(tmp_path / "keys/known")
    assert ssh.identity_files == ("/home/ops/.ssh/id", "/k/id")


def test_the_digest_is_that_of_the_file(tmp_path):
    file = tmp_path / "site.yaml"
    file.write_bytes(b"# comment\nname: x\ngroups: {a: {hosts: a}}\n")

    assert load(file).digest == hashlib.sha256(file.read_bytes()).hexdigest()


def test_a_destructive_permission_comes_with_a_bmc():
    words = "{name: x, groups: {a: {hosts: a, severity_allowed: destructive%s}}}"

    assert cluster(words % ", bmc: {driver: lab, address: 'b-{name}'}")["a"].bmc == Bmc("lab", "b-a")
    assert "need a BMC" in mistakes(words % "")


def test_every_mistake_is_told_at_once_with_line_column_and_key():
    told = mistakes("""\
        name: x
        launchr: slurm
        defaults: {vendor: 2.10, ssh: {prot: 22}}
        groups:
          gpu: {hosts: "g[1-2]", role: computer}
          ssh: {hots: a}
        """)

    assert "the inventory has 6 mistakes" in told
    for words in (
        "site.yaml:2:1 [launchr]: unknown key 'launchr'\n  next: did you mean 'launcher'?",
        "site.yaml:3:20 [defaults.vendor]: text is expected: without quotes YAML reads 2.1\n  next: put it in quotes",
        "site.yaml:3:32 [defaults.ssh.prot]: unknown key 'prot'\n  next: did you mean 'port'?",
        "site.yaml:5:32 [groups.gpu.role]: 'computer' is not possible here\n  next: did you mean 'compute'?",
        "site.yaml:6:9 [groups.ssh.hots]: unknown key 'hots'\n  next: did you mean 'hosts'?",
        "[groups.ssh.hosts]: the key 'hosts' is missing",
    ):
        assert words in told


def test_many_mistakes_stay_apart_for_a_program_to_read():
    with pytest.raises(InventoryError) as told:
        cluster("{name: x, groups: {a: {hosts: a, one: 1, two: 2}}}")

    cause = told.value.__cause__
    assert isinstance(cause, ExceptionGroup)
    assert [error.key for error in cause.exceptions] == ["groups.a.one", "groups.a.two"]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("hosts: 'g[1-4]', address: '10.0.0.[1-3]'", "3 values for 4 hosts"),
        ("hosts: g1, address: 10.0.0.300", "neither an IPv4"),
        ("hosts: g1, training: [{name: eth0, address: 'fd00::x'}]", r"\[groups.a.training.0.address\]"),
        ("hosts: g1, training: [{name: eth0}, {name: eth0}]", "the port on g1 eth0 belongs to two entries of g1"),
        ("hosts: g1, accelerators: {count: 2, pci_address: ['5e:00.0']}", "1 values for 2 devices"),
        ("hosts: g1, accelerators: {count: 2, pci_address: '5e:00.0'}", "the PCI address on g1 0000:5e:00.0"),
        ("hosts: 'g[1-2]', accelerators: {count: 1, uuid: same}", "the device UUID same belongs to g1 and g2"),
        ("hosts: 'g[1-2]', address: 10.0.0.1", "belongs to g1 and g2"),
        ("hosts: g1, domains: {rack: '{rak}'}", "cannot be filled here"),
        ("hosts: g1, bmc: {driver: lab}", "a bmc needs 'address' too"),
        ("hosts: g1, ssh: {port: 70000}", r"\[groups.a.ssh.port\]"),
        ("hosts: g1, properties: {driver: 535.10}", "put it in quotes"),
        ("hosts: g1, role: spare", "no node has the role compute"),
        ("hosts: g1, is_virtual: true", "unknown key 'is_virtual'"),
        ("hosts: ''", "not a host range"),
        ("hosts: '-x'", "neither"),
    ],
)
def test_a_wrong_value_is_refused(words, why):
    with pytest.raises(InventoryError, match=why):
        cluster(f"{{name: x, groups: {{a: {{{words}}}}}}}")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("{name: x, groups: {a: {hosts: a}, b: {hosts: a}}}", "a is already in group 'a'"),
        (
            "{name: x, groups: {a: {hosts: gpu1}}, overrides: {gpu2: {}}}",
            "no group has a host 'gpu2'\n  next: did you mean 'gpu1'",
        ),
        ("{name: x, groups: {a: {hosts: a}}, contracted_slots: 2}", "2 slots are contracted, but only 1"),
        ("{name: x, groups: {a: {hosts: a}}, is_virtual: yes}", "true or false is expected: found 'yes'"),
        ("{name: x, groups: {}}", r"\[groups\]"),
        ("[1, 2]", "is a mapping"),
    ],
)
def test_a_wrong_whole_is_refused(words, why):
    with pytest.raises(InventoryError, match=why):
        cluster(words)


@pytest.mark.parametrize(
    "words",
    [
        "ssh: {password: hunter2}",
        "ssh: {Passphrase: hunter2}",
        "bmc: {driver: x, address: y, token: hunter2}",
        "properties: {bmc_password: hunter2}",
        "properties: {api-key: hunter2}",
        "bmc: {driver: redfish, address: 'https://root:hunter2@bmc1'}",
        "properties: {key: '-----BEGIN OPENSSH PRIVATE KEY----- hunter2'}",
    ],
)
def test_a_secret_is_refused_and_never_repeated(words):
    told = mistakes(f"{{name: x, groups: {{a: {{hosts: a, {words}}}}}}}")

    assert "holds no secrets" in told
    assert "hunter2" not in told


def test_a_group_may_bear_a_name_that_looks_like_a_secret():
    assert len(cluster("{name: x, groups: {token: {hosts: a}}}")) == 1


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"\x00", b"name: [", b"- 1", b"name: x", b"groups: {a: {hosts: 5}}"])
def test_garbage_is_an_inventory_error(content):
    with pytest.raises(InventoryError, match=r"site\.yaml"):
        parse(content, "site.yaml")


def test_a_missing_file_and_a_folder_are_inventory_errors(tmp_path):
    for path in (tmp_path / "absent.yaml", tmp_path, "nul\0byte"):
        with pytest.raises(InventoryError, match="read the inventory"):
            load(path)


def test_a_thousand_nodes_with_one_mistake_in_the_defaults_tell_it_once():
    told = mistakes("{name: x, defaults: {management: {name: '{nme}'}}, groups: {a: {hosts: 'n[1-1000]'}}}")

    assert told.count("nme") == 1
