"""English is in the templates; every other catalogue translates what it names, and stays a translation of what is there."""

from pathlib import Path

import pytest
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po
from sample_judgement import MIXED, judgement

from chaos.criteria.canaries.quick_run import quick_run
from chaos.errors import UsageError
from chaos.reports.certificate_html import CertificateHtml
from chaos.reports.texts import languages, shapes

OTHERS = [language for language in languages() if language != "en"]


def sentences() -> set[str]:
    """Everything in the templates that can be translated."""
    folder = shapes() / "templates"
    found = extract_from_dir(folder, [("**.html", "jinja2"), ("**.svg", "jinja2")], {"**": {"silent": "false"}})
    return {message if isinstance(message, str) else message[0] for _, _, message, *_ in found}


def catalogue(language: str) -> dict[str, str]:
    with (Path(shapes()) / "locale" / language / "LC_MESSAGES" / "certificate.po").open("rb") as file:
        return {entry.id: entry.string for entry in read_po(file, locale=language) if entry.id}


def test_there_is_more_than_one_language():
    assert OTHERS


@pytest.mark.parametrize("language", OTHERS)
def test_a_catalogue_translates_every_sentence_and_no_other(language):
    translated = catalogue(language)

    assert sentences() - translated.keys() == set()
    assert translated.keys() - sentences() == set()
    assert [sentence for sentence, words in translated.items() if not words] == []


@pytest.mark.parametrize("language", OTHERS)
def test_placeholders_survive_translation(language):
    for sentence, words in catalogue(language).items():
        assert {part.split(")")[0] for part in sentence.split("%(")[1:]} == {part.split(")")[0] for part in words.split("%(")[1:]}


@pytest.mark.parametrize("language", OTHERS)
def test_the_certificate_speaks_the_language(language):
    html = CertificateHtml().render(judgement(MIXED), quick_run(), language=language)["certificate.html"]

    assert f'lang="{language.replace("_", "-")}"' in html
    assert "Cluster acceptance certificate" not in html


def test_an_unknown_language_is_refused_with_those_that_there_are():
    with pytest.raises(UsageError, match="there are: en"):
        CertificateHtml().render(judgement(MIXED), quick_run(), language="xx")


def test_a_language_is_a_name_and_not_a_path():
    with pytest.raises(UsageError):
        CertificateHtml().render(judgement(MIXED), quick_run(), language="../../etc")
