"""How a node's login is resolved: the inventory's own words first, then the site's SSH configuration."""

from __future__ import annotations

from pathlib import Path

import pytest

from chaos.errors import UsageError
from chaos.model.nodes import Node, Ssh
from chaos.transport.settings import resolve

CONFIG = """
Host gpu*
  User operator
  Port 2200
  IdentityFile /keys/site
  ProxyJump jump@bastion:2022
Host bastion
  HostName 192.0.2.9
  IdentityFile /keys/bastion
Host plain
  ProxyJump none
"""


@pytest.fixture
def config(tmp_path: Path) -> str:
    path = tmp_path / "config"
    path.write_text(CONFIG)
    return str(path)


def test_the_configuration_fills_what_the_inventory_leaves_open(config: str) -> None:
    login = resolve(Node("gpu001", "gpu001", ssh=Ssh(config=config)))
    assert (login.host, login.user, login.port, login.identity_files) == ("gpu001", "operator", 2200, ("/keys/site",))


def test_the_inventory_has_the_first_word(config: str) -> None:
    login = resolve(Node("gpu001", "gpu001", ssh=Ssh(config=config, user="root", port=22022, identity_files=("/mine",))))
    assert (login.user, login.port, login.identity_files) == ("root", 22022, ("/mine",))


def test_a_bastion_is_a_login_of_its_own_and_the_same_for_all_behind_it(config: str) -> None:
    first = resolve(Node("gpu001", "gpu001", ssh=Ssh(config=config)))
    second = resolve(Node("gpu002", "gpu002", ssh=Ssh(config=config)))
    assert first.via is not None
    assert (first.via.host, first.via.user, first.via.port, first.via.identity_files) == (
        "192.0.2.9",
        "jump",
        2022,
        ("/keys/bastion",),
    )
    assert first.via == second.via


def test_none_is_a_word_and_not_a_host(config: str) -> None:
    assert resolve(Node("plain", "plain", ssh=Ssh(config=config))).via is None


def test_a_configuration_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="absent"):
        resolve(Node("n", "n", ssh=Ssh(config=str(tmp_path / "absent"))))
