"""The first code in a rank. Also loaded into the fork server, which makes that die with the elastic agent."""

import importlib
import os

import elastic_events

elastic_events.die_with_parent()


def nothing():
    """Returns: when it has run, the fork server has loaded everything."""


def run(entry, number):
    """Runs ``module:function`` as one rank of round ``number``."""
    elastic_events.die_with_parent()
    os.environ["CHAOS_ROUND"] = str(number)
    module, _, function = entry.partition(":")
    getattr(importlib.import_module(module), function)()
