"""The certificate that people sign."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from chaos.model.history import History
from chaos.model.verdicts import Judgement
from chaos.protocols.report import Report
from chaos.reports.accounting import account
from chaos.reports.picture import span, svg
from chaos.reports.templating import environment


class CertificateHtml(Report):
    """``certificate.html``: one page, complete in itself, that opens offline and prints on A4; signed on its first sheet."""

    kind: ClassVar[str] = "certificate.html"
    title: ClassVar[str] = "Certificate"

    def render(self, judgement: Judgement, history: History, *, language: str = "en") -> Mapping[str, str | bytes]:
        templates = environment(language)
        told = account(judgement, history)
        seconds = span(told.recoveries)
        pictures = [(timeline, svg(templates, timeline, seconds)) for timeline in told.recoveries]
        page = templates.get_template("certificate.html").render(account=told, pictures=pictures, language=language)
        return {"certificate.html": page}
