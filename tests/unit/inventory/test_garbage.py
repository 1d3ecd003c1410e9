"""Whatever bytes somebody hands in, the answer is a cluster or an InventoryError."""

from contextlib import suppress

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from chaos.errors import InventoryError
from chaos.inventory.reading import parse
from chaos.inventory.shape import Group, Inventory, Settings, SshShape

KEYS = sorted(
    {*Inventory.model_fields, *Group.model_fields, *Settings.model_fields, *SshShape.model_fields, "count", "uuid", "rail", "a"}
)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(
        ["n[1-3]", "10.0.0.[1-3]", "{name}", "{number+1}", "{rail}", "compute", "head", "destructive", "5e:00.0", "[fd00::1]"]
    ),
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5), max_leaves=12
)


@given(st.binary(max_size=200))
def test_bytes(content):
    with suppress(InventoryError):
        parse(content, "f")


@given(st.text(alphabet="abn:[]{}-,&*!#|>'\"% \n\t01?@`~.", max_size=120))
def test_text_that_looks_like_yaml(text):
    with suppress(InventoryError):
        parse(text.encode(), "f")


@given(values)
@settings(max_examples=200)
def test_documents_of_known_words(value):
    with suppress(InventoryError):
        parse(yaml.safe_dump(value).encode(), "f")


@given(
    st.dictionaries(st.sampled_from(sorted(Settings.model_fields)), values, max_size=3), st.sampled_from(["n[1-3]", "a,b", "x"])
)
@settings(max_examples=200)
def test_settings_of_known_words_in_a_group(content, hosts):
    document = {"name": "x", "groups": {"a": {**content, "hosts": hosts}}}
    with suppress(InventoryError):
        assert len(parse(yaml.safe_dump(document).encode(), "f")) > 0
