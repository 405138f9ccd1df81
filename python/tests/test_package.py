"""The examples in docstrings, and the list of senders."""

from __future__ import annotations

import doctest

import pytest
import unruffled
from unruffled import _compare, _detector, _sweep


@pytest.mark.parametrize("module", [unruffled, _compare, _detector, _sweep])
def test_examples_in_docstrings_are_correct(module, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    failed, tried = doctest.testmod(module)
    assert tried > 0
    assert failed == 0


def test_senders_are_listed():
    all_of_them = unruffled.variants()
    assert len(all_of_them) > 20
    assert {"name", "about", "source", "parts", "parameters"} == set(all_of_them[0])
    assert unruffled.variants("rr-ta+cubic")[0]["name"] == "rr-ta+cubic"
    with pytest.raises(unruffled.Error, match="bbr3: no such variant"):
        unruffled.variants("bbr3")
