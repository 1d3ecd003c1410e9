"""The summary fits a terminal, leads with the outcome, and says for everything that did not pass why."""

from io import StringIO

from rich.console import Console
from sample_judgement import GOOD, MIXED, judgement

from chaos.criteria.canaries.quick_run import quick_run
from chaos.reports.screen import Screen, show


def summary(verdicts) -> str:
    text = Screen().render(judgement(verdicts), quick_run())["summary.txt"]
    assert isinstance(text, str)
    return text


def test_it_leads_with_the_outcome_the_cluster_and_the_profile():
    first = " ".join(summary(GOOD).splitlines()[0].split())

    cluster = "canary, a virtual cluster with emulated accelerators"
    assert first == f"PASS {cluster}, under profile quick, run 20260301-080000-canary"


def test_what_did_not_pass_says_why():
    text = " ".join(summary(MIXED).split())

    assert "lost 17 steps" in text
    assert "event stream was cut off" in text


def test_it_is_plain_text_and_no_wider_than_a_screen():
    lines = summary(MIXED).splitlines()

    assert max(map(len, lines)) <= 132
    assert "\x1b" not in "".join(lines)


def test_a_narrow_terminal_gets_everything_too():
    target = StringIO()
    show(judgement(MIXED), quick_run(), Console(file=target, width=80, color_system=None))

    assert max(map(len, target.getvalue().splitlines())) <= 80
    assert "truncated" in "".join(target.getvalue().split())
