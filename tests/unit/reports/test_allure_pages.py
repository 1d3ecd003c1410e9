"""A report that calls home, or that does not hold every result, is refused, whatever Allure said about it."""

import json
import os
import stat
from pathlib import Path

import pytest

from chaos.errors import ChaosError, Unsupported
from chaos.reports.allure_html import build, check_counts, find_builder, install_builder, settings, strip_analytics
from chaos.reports.allure_results import read_results

CALLS_HOME = (
    '<head><script async src="https://www.googletagmanager.com/gtag/js?id=G-1"></script>\n'
    '<script>window.dataLayer = []; gtag("config", "G-1");</script><script>report()</script></head>'
)


def result(folder: Path, name: str, status: str, *, history: str = "", stop: int = 1) -> None:
    folder.mkdir(exist_ok=True)
    told = {"name": name, "status": status, "stop": stop, "historyId": history or name}
    (folder / f"{name}-{stop}-result.json").write_text(json.dumps(told))


@pytest.fixture
def results(tmp_path):
    result(tmp_path / "results", "one", "passed")
    result(tmp_path / "results", "two", "failed")
    return tmp_path / "results"


@pytest.fixture
def allure(tmp_path, monkeypatch):
    """A stand-in for Allure 3 on PATH: ``writes`` is the shell script that ``generate`` runs in the target folder."""

    def put(writes: str, version: str = "3.18.0") -> None:
        command = tmp_path / "bin" / "allure"
        command.parent.mkdir(exist_ok=True)
        target = tmp_path / "report"
        command.write_text(
            f'#!/bin/sh\n[ "$1" = --version ] && echo {version} && exit\nmkdir -p {target} && cd {target}\n{writes}\n'
        )
        command.chmod(command.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("PATH", f"{command.parent}{os.pathsep}{os.environ['PATH']}")

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return put


def summary(**stats: int) -> str:
    return f"echo '{json.dumps({'stats': {'total': sum(stats.values()), **stats}})}' > summary.json"


def page(text: str) -> str:
    return f"cat > index.html <<'END'\n{text}\nEND"


def test_analytics_are_gone_and_the_rest_stays(tmp_path, results, allure):
    allure(f"{page(CALLS_HOME)}\n{summary(passed=1, failed=1)}")

    index = build(results, tmp_path / "report", name="a run")

    assert "google" not in index.read_text()
    assert "<script>report()</script>" in index.read_text()


def test_a_page_that_still_names_google_is_refused(tmp_path):
    (tmp_path / "index.html").write_text('<script>load("https://www.googletagmanager.com/gtag/js")</script>')

    with pytest.raises(ChaosError, match="still names Google"):
        strip_analytics(tmp_path)


def test_success_without_a_summary_is_a_failure(tmp_path, results, allure):
    allure(page("<html></html>"))

    with pytest.raises(ChaosError, match="failed without saying so"):
        build(results, tmp_path / "report", name="a run")


def test_a_summary_that_lost_a_result_is_refused(tmp_path, results, allure):
    allure(f"{page('<html></html>')}\n{summary(passed=1)}")

    with pytest.raises(ChaosError, match=r"it tells of .*passed.*, the results of .*failed"):
        build(results, tmp_path / "report", name="a run")


def test_counts_that_agree_are_accepted(tmp_path, results):
    (tmp_path / "report").mkdir()
    (tmp_path / "report" / "summary.json").write_text('{"stats": {"total": 2, "passed": 1, "failed": 1, "flaky": 1}}')

    check_counts(tmp_path / "report", read_results(results))


def test_a_result_that_was_repeated_counts_once_by_its_last_word(tmp_path):
    result(tmp_path, "first", "failed", history="same", stop=1)
    result(tmp_path, "second", "passed", history="same", stop=2)

    assert dict(read_results(tmp_path).counts) == {"passed": 1}


def test_another_version_of_allure_is_not_taken(results, tmp_path, allure):
    allure("true", version="2.46.1")

    with pytest.raises(Unsupported, match=r"chaos report RUN --install"):
        find_builder()


def test_without_npm_it_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    with pytest.raises(Unsupported, match=r"install Node.js 20 or newer, then"):
        find_builder()
    with pytest.raises(Unsupported, match=r"install Node.js"):
        install_builder()


def test_failed_is_the_cluster_and_broken_is_us_in_its_categories(tmp_path):
    rules = settings(tmp_path, "a run", single_file=True)["categories"]["rules"]

    named = {rule["name"]: rule["matchers"]["statuses"] for rule in rules}
    assert named["The cluster failed"] == ["failed"]
    assert named["Broken is us: evidence is missing or the test is invalid"] == ["broken"]
