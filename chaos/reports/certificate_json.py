"""The certificate for programs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import TypeAdapter

from chaos.model.history import History
from chaos.model.verdicts import Judgement
from chaos.protocols.report import Report
from chaos.reports.account import Account
from chaos.reports.accounting import account

KIND = "chaos.certificate"


class CertificateJson(Report):
    """``certificate.json``: the account as one document with ``kind`` and ``version``. Numbers that nobody measured are null."""

    kind: ClassVar[str] = "certificate.json"
    title: ClassVar[str] = "Certificate for programs"

    def render(self, judgement: Judgement, history: History, *, language: str = "en") -> Mapping[str, str | bytes]:
        del language  # field names and verdict words are the same everywhere
        told = json.loads(TypeAdapter(Account).dump_json(account(judgement, history)))  # writes infinity and NaN as null
        return {"certificate.json": json.dumps({"kind": KIND, **told}, indent=2, ensure_ascii=False, allow_nan=False) + "\n"}


def schema() -> dict[str, Any]:
    """The JSON schema of the document's fields, ``kind`` apart."""
    written: dict[str, Any] = TypeAdapter(Account).json_schema(mode="serialization")
    return written
