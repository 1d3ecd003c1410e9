"""Frames survive any tearing of the stream, and garbage is named as such."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chaos.agent.frames import Decoder, Garbled, encode

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner, max_size=3), max_leaves=5
)
documents = st.dictionaries(st.text(max_size=8), values, max_size=4)


@settings(max_examples=60)
@given(st.lists(documents, max_size=6), st.lists(st.integers(1, 40), min_size=1, max_size=20))
def test_documents_come_back_however_the_stream_is_torn(sent, sizes):
    stream, decoder, got = b"".join(map(encode, sent)), Decoder(), []
    while stream:
        size = sizes[len(stream) % len(sizes)]
        got += decoder.feed(stream[:size])
        stream = stream[size:]

    assert got == sent


@given(documents, st.binary(max_size=60))
def test_garbage_after_a_frame_costs_no_frame_before_it(document, garbage):
    decoder = Decoder()
    stream = decoder.feed(encode(document) + garbage)

    assert next(stream) == document
    try:
        rest = list(stream)
    except Garbled:
        return
    assert all(isinstance(each, dict) for each in rest)


@pytest.mark.parametrize(
    ("garbage", "why"),
    [
        (b"Last login: Mon", "no length"),
        (b"no colon in a dozen bytes", "no length"),
        (b"-3:{}\n", "no length"),
        (b"99999999999:{}", "no length"),
        (b"2:{}x", "does not end"),
        (b"2:[]\n", "no object"),
        (b"2:{x\n", "property name"),
        (b"2:\xff\xfe\n", "."),
        (b"200000:" + b"[" * 200_000 + b"\n", "recursion"),
    ],
)
def test_what_is_no_frame_is_said_to_be_none(garbage, why):
    with pytest.raises(Garbled, match=why):
        list(Decoder().feed(garbage))


def test_a_frame_that_has_not_all_come_is_waited_for():
    decoder = Decoder()

    assert list(decoder.feed(b"7:{")) == []
    assert list(decoder.feed(b'"a":1}')) == []
    assert list(decoder.feed(b"\n")) == [{"a": 1}]
