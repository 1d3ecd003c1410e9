"""The words of reports, by language. English is in the templates; other languages are gettext catalogues under ``reports/locale``."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.support import NullTranslations, Translations

from chaos.errors import UsageError

DOMAIN = "certificate"


def shapes() -> Path:
    """The folder of templates, styles and catalogues: beside the package in a checkout, within it in a wheel."""
    package = Path(__file__).parents[1]
    places = (package.parent / "reports", package / "shapes")
    return next((place for place in places if (place / "templates").is_dir()), places[0])


def languages() -> tuple[str, ...]:
    """The languages there are."""
    return ("en", *sorted(path.parents[1].name for path in (shapes() / "locale").glob(f"*/LC_MESSAGES/{DOMAIN}.po")))


def translations(language: str) -> NullTranslations:
    """The catalogue of a language, read from its text form. What it does not translate stays English.

    Raises:
        UsageError: there is no such language.
    """
    if language == "en":
        return NullTranslations()
    file = shapes() / "locale" / language / "LC_MESSAGES" / f"{DOMAIN}.po"
    if language not in languages():
        there_are = ", ".join(languages())
        raise UsageError(
            f"write the certificate in {language!r}", why="there is no such catalogue", todo=f"there are: {there_are}"
        )
    with file.open("rb") as source:
        catalogue = read_po(source, locale=language, domain=DOMAIN)
    compiled = BytesIO()
    write_mo(compiled, catalogue)
    compiled.seek(0)
    return Translations(compiled, domain=DOMAIN)
