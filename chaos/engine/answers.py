"""Reading what an agent answered to a question that the engine itself asks."""

from __future__ import annotations

import json
from typing import Any

from chaos.model.acts import Answer


def json_of(answer: Answer) -> dict[str, Any]:
    """The JSON object in an answer; empty when there is none, so that every key is missing rather than guessed."""
    try:
        document = json.loads(answer.stdout)
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}
