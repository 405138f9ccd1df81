"""Every public name has a docstring, and the stubs agree with the extension module."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import unruffled
from unruffled import _core

STUB = Path(unruffled.__file__).parent / "_core.pyi"


def public() -> Iterator[tuple[str, object]]:
    """Yield all modules, their public names, and the public members of their classes."""
    modules = [unruffled]
    for found in pkgutil.iter_modules(unruffled.__path__, "unruffled."):
        modules.append(importlib.import_module(found.name))
    for module in modules:
        yield module.__name__, module
        for name, value in vars(module).items():
            ours = getattr(value, "__module__", "").split(".")[0] == "unruffled"
            if name.startswith("_") or not ours or not callable(value):
                continue
            yield f"{module.__name__}.{name}", value
            if inspect.isclass(value):
                for member, of_class in vars(value).items():
                    if not member.startswith("_") and is_member(of_class):
                        yield f"{module.__name__}.{name}.{member}", of_class


def is_member(value: object) -> bool:
    return callable(value) or isinstance(value, property) or inspect.isdatadescriptor(value)


PUBLIC = dict(public())


def test_all_public_names_are_found():
    for name in ("unruffled._core", "unruffled.compare", "unruffled.Table.to_pandas"):
        assert name in PUBLIC
    assert "unruffled.View.srtt_s" in PUBLIC
    assert len(PUBLIC) > 150


@pytest.mark.parametrize("name", PUBLIC)
def test_every_docstring_begins_with_a_sentence(name):
    words = PUBLIC[name].__doc__
    assert words, "no docstring"
    first = inspect.cleandoc(words).splitlines()[0]
    assert first[0].isupper() or first.startswith("``"), first
    assert first.rstrip().endswith((".", ":")), first
    assert len(first.split()) >= 3, first


def test_the_exported_names_are_the_public_ones():
    ours = {name.split(".")[1] for name in PUBLIC if name.count(".") == 1}
    ours = {name for name in ours if not name.startswith("_")}
    assert ours | {"MODEL", "__version__"} == set(unruffled.__all__)
    for name in unruffled.__all__:
        value = getattr(unruffled, name)
        if callable(value):
            assert value.__module__.split(".")[0] == "unruffled"


def described(tree: ast.Module) -> Iterator[tuple[str, str | None]]:
    """Yield the docstrings of a stub's classes, members and functions."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield node.name, ast.get_docstring(node)
            for member in node.body:
                if isinstance(member, ast.FunctionDef) and not member.name.startswith("_"):
                    yield f"{node.name}.{member.name}", ast.get_docstring(member)
        if isinstance(node, ast.FunctionDef):
            yield node.name, ast.get_docstring(node)


def test_stubs_have_the_docstrings_of_the_module():
    stub = dict(described(ast.parse(STUB.read_text(encoding="utf-8"))))
    for name, words in stub.items():
        value: object = _core
        for part in name.split("."):
            value = inspect.getattr_static(value, part)
        runs = value.__doc__
        assert words == inspect.cleandoc(runs or ""), name
    names = {name.removeprefix("unruffled._core.") for name in PUBLIC if "._core." in name}
    assert names <= set(stub), "every public name is in the stub"


def test_stubs_have_the_signatures_of_the_module(tmp_path):
    pytest.importorskip("mypy")
    settings = tmp_path / "mypy.ini"
    settings.write_text("[mypy]\nignore_missing_imports = True\n")
    checked = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "unruffled", "--mypy-config-file", str(settings)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.parametrize(
    "name", [name for name in unruffled.__all__ if inspect.isfunction(getattr(unruffled, name))]
)
def test_help_names_every_argument(name):
    function = getattr(unruffled, name)
    words = inspect.getdoc(function)
    for argument in inspect.signature(function).parameters:
        assert f"\n{argument}" in words or f", {argument}" in words, argument


def test_the_help_of_the_package_lists_its_functions():
    for name in unruffled.__all__:
        value = getattr(unruffled, name)
        if inspect.isfunction(value):
            assert f"\n{name}\n" in unruffled.__doc__
