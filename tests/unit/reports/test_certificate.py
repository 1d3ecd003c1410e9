"""The certificate tells what the judgement and the record say, and nothing that a node wrote can change how it reads."""

import json
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from sample_judgement import GOOD, MIXED, judgement

from chaos.criteria.canaries.quick_run import quick_run
from chaos.model.events import Noted, RunOpened
from chaos.model.history import History
from chaos.model.injections import InjectionIntended
from chaos.model.verdicts import CanaryResult, Outcome
from chaos.reports.certificate_html import CertificateHtml
from chaos.reports.certificate_json import KIND, CertificateJson, schema

HISTORY = quick_run()


class Page(HTMLParser):
    """Tags, and the text that a reader sees."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.words: list[str] = []
        self._hidden = 0
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self._hidden += tag in {"style", "title"}

    def handle_endtag(self, tag):
        self._hidden -= tag in {"style", "title"}

    def handle_data(self, data):
        if not self._hidden:
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def page(verdicts=GOOD, history: History = HISTORY, **changes) -> Page:
    told = replace(judgement(verdicts), **changes)
    return Page(CertificateHtml().render(told, history)["certificate.html"])


def changed(kind: type, **fields) -> History:
    """The history with some fields of all bodies of one kind changed."""
    events = tuple(
        replace(event, body=replace(event.body, **fields)) if isinstance(event.body, kind) else event for event in HISTORY.events
    )
    return History(events, HISTORY.series)


@pytest.mark.parametrize(
    ("verdicts", "word"),
    [(GOOD, "Accepted under the profile quick"), (MIXED, "Not accepted under the profile quick")],
)
def test_the_outcome_stands_on_its_face(verdicts, word):
    assert word in page(verdicts).text


def test_a_virtual_cluster_says_on_its_face_that_it_is_one():
    assert "This certifies a virtual cluster with emulated accelerators." in page().text
    assert "virtual cluster" not in page(history=changed(RunOpened, is_virtual=False)).text


def test_a_number_that_is_not_signed_says_so_and_what_a_proof_would_still_need():
    text = page().text

    assert "informs, not signed" in text
    assert "719 h 58 min of observation" in text


def test_a_number_that_is_not_graded_claims_nothing():
    assert "This profile does not grade it. Nothing is claimed." in page(GOOD[:2]).text


def test_every_verdict_is_there_with_sentence_and_missing_evidence():
    text = page(MIXED).text

    assert [verdict.criterion for verdict in MIXED if verdict.sentence not in text] == []
    assert "missing: drill-11" in text


def test_every_recovery_has_a_picture_and_every_fault_its_fidelity():
    shown = page()

    assert shown.tags.count("svg") == 11
    assert shown.text.count("emulated") >= 4


def test_a_gate_that_does_not_bark_stands_beside_the_outcome():
    silent = CanaryResult("recovery", rejects_bad=False, accepts_good=True, why="passed a job that never came back")

    text = page(canaries=(silent,), outcome=Outcome.INVALID).text

    assert "no verdict of this run counts" in text
    assert "passed a job that never came back" in text


def test_a_run_that_was_never_closed_says_so():
    assert "not closed" in page(history=quick_run(is_closed=False)).text


def test_it_can_be_told_of_a_record_without_a_beginning():
    assert "Inconclusive" in page(history=History(()), outcome=Outcome.INCONCLUSIVE).text


@pytest.mark.parametrize("said", ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "{{ 7 * 7 }}", "</style><b>"])
def test_what_a_node_says_is_text_and_never_markup(said):
    history = changed(InjectionIntended, mechanism=said)
    shown = page(history=changed(RunOpened, cluster=said))

    assert {"script", "img"} & set(shown.tags) == set()
    assert said in shown.text
    assert said in page(history=history).text


def test_hidden_characters_are_shown_instead_of_obeyed():
    text = page(history=changed(RunOpened, cluster="lab\u202eTCEPTA\x1b[2J")).text

    assert "lab\\u202eTCEPTA\\x1b[2J" in text


def test_nothing_in_it_is_fetched_from_anywhere():
    html = CertificateHtml().render(judgement(MIXED), HISTORY)["certificate.html"]

    assert "default-src 'none'" in html
    assert [word for word in ("src=", "href=", "@import", "url(") if word in html] == []


def test_the_document_for_programs_names_its_kind_and_version_and_fits_its_schema():
    document = json.loads(CertificateJson().render(judgement(MIXED), HISTORY)["certificate.json"])

    assert (document["kind"], document["version"]) == (KIND, 1)
    assert set(schema()["required"]) | {"kind"} == set(document)
    assert document["outcome"] == "FAIL"
    assert document["exit_code"] == 1
    assert document["recoveries"][0]["marks"]["T9"]["state"] == "seen"


def test_numbers_that_are_none_are_null_for_programs():
    endless = replace(GOOD[0], measured=replace(GOOD[0].measured, value=float("nan"), high=float("inf")))

    document = json.loads(CertificateJson().render(judgement((endless,)), HISTORY)["certificate.json"])

    assert document["verdicts"][0]["measured"]["value"] is None
    assert document["verdicts"][0]["measured"]["high"] is None


def test_remarks_in_the_record_are_told():
    events = (*HISTORY.events, replace(HISTORY.events[-1], sequence=9_999, body=Noted("node3", "found from before: nft table")))

    assert "node3: found from before: nft table" in page(history=History(events, HISTORY.series)).text
