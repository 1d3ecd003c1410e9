"""Acts are data: they survive JSON, and nothing in them is ever a shell word."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaos.model.acts import (
    Act,
    Consult,
    CopyFile,
    Power,
    RemovePath,
    Run,
    Script,
    SignalProcess,
    Spawn,
    StopSpawned,
    TruncateFile,
    WriteFile,
    decode,
    encode,
)
from chaos.model.quantities import milliseconds

words = st.text(max_size=20)
acts = st.one_of(
    st.builds(
        Run,
        argv=st.lists(words, min_size=1, max_size=4).map(tuple),
        stdin=words,
        environment=st.dictionaries(words, words, max_size=2),
        timeout=st.integers(1, 10**6).map(lambda number: number * milliseconds),
        accepts=st.lists(st.integers(0, 255), max_size=3).map(tuple),
    ),
    st.builds(WriteFile, path=words, content=words, mode=st.integers(0, 0o777), append=st.booleans()),
    st.builds(RemovePath, path=words),
    st.builds(CopyFile, source=words, target=words),
    st.builds(TruncateFile, path=words, size=st.integers(0)),
    st.builds(SignalProcess, pid=st.integers(1), started=st.integers(0), signal=words, gone_is_done=st.booleans()),
    st.builds(
        Spawn, name=words, argv=st.lists(words, min_size=1).map(tuple), environment=st.dictionaries(words, words, max_size=2)
    ),
    st.builds(StopSpawned, name=words, grace=st.integers(0, 10**6).map(lambda number: number * milliseconds)),
    st.builds(Consult, subject=words, arguments=st.dictionaries(words, st.integers() | words, max_size=2)),
    st.builds(Power, action=words),
)


@given(acts)
def test_an_act_survives_json(act: Act) -> None:
    assert decode(json.loads(json.dumps(encode(act)))) == act


@given(st.lists(acts, max_size=4), st.booleans())
def test_a_script_survives_json(parts: list[Act], keep_going: bool) -> None:
    script = Script(tuple(parts), keep_going)
    assert Script.decode(json.loads(json.dumps(script.encode()))) == script


@pytest.mark.parametrize("document", [{}, {"act": "format"}, {"act": "run"}, {"act": "run", "argv": ["a"], "shell": True}])
def test_what_is_no_act_is_refused(document: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="not an act"):
        decode(document)
