"""The scenarios that ship with the package."""

import json
from pathlib import Path

import pytest
import unruffled
from conftest import Command


def test_the_list_is_that_of_the_command(command: Command) -> None:
    printed = command("scenarios", "--json").stdout
    assert unruffled.scenarios() == json.loads(printed)


def test_every_listed_scenario_has_the_listed_title() -> None:
    listed = unruffled.scenarios()
    assert len(listed) > 10
    for one in listed:
        assert unruffled.scenario(one["name"]).title == one["title"]


def test_a_changed_file_is_replaced_only_by_force(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    assert unruffled.save_scenario("spray", path) == path
    text = path.read_text()
    unruffled.save_scenario("spray", path)
    path.write_text("# changed\n" + text)
    with pytest.raises(unruffled.Error, match="there already"):
        unruffled.save_scenario("spray", path)
    assert path.read_text().startswith("# changed")
    unruffled.save_scenario("spray", path, force=True)
    assert path.read_text() == text


def test_an_error_about_an_unknown_name_suggests_a_similar_one(tmp_path: Path) -> None:
    with pytest.raises(unruffled.Error, match=r"did you mean spray\?"):
        unruffled.save_scenario("spary", tmp_path / "x.toml")
