"""Print the reference of the Python package as Markdown, from its sources alone.

    scripts/python-reference.py python/unruffled

Each public name has its signature and its documentation, as ``help`` shows it.
"""

from __future__ import annotations

import ast
import inspect
import sys
from pathlib import Path


def definitions(folder: Path) -> dict[str, ast.AST]:
    """Return the functions and classes of the package by name; stubs stand for Rust."""
    found: dict[str, ast.AST] = {}
    for file in sorted(folder.glob("_*.py*")):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                found.setdefault(node.name, node)
    return found


def public_names(folder: Path) -> list[str]:
    """Return ``__all__`` of the package."""
    for node in ast.parse((folder / "__init__.py").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return list(ast.literal_eval(node.value))
    sys.exit(f"{folder}/__init__.py: expected a list __all__")


def signature(name: str, node: ast.FunctionDef) -> str:
    """Return a function's head, on several lines where one is too long."""
    arguments = ast.unparse(node.args)
    result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    line = f"{name}({arguments}){result}"
    if len(line) <= 80:
        return line
    parts = ast.unparse(node.args).split(", ")
    joined: list[str] = []
    for part in parts:
        # A comma within brackets parts no arguments.
        if joined and joined[-1].count("[") > joined[-1].count("]"):
            joined[-1] += f", {part}"
        else:
            joined.append(part)
    return f"{name}(\n" + "".join(f"    {part},\n" for part in joined) + f"){result}"


def block(language: str, text: str) -> str:
    """Return a block of code."""
    return f"```{language}\n{text}\n```\n"


def describe(name: str, node: ast.AST) -> str:
    """Return the section of a function or a class."""
    text = f"## {name}\n\n"
    if isinstance(node, ast.FunctionDef):
        text += block("python", signature(name, node)) + "\n"
    assert isinstance(node, ast.FunctionDef | ast.ClassDef)
    text += block("text", inspect.cleandoc(ast.get_docstring(node) or ""))
    if isinstance(node, ast.ClassDef):
        members = []
        for member in node.body:
            if isinstance(member, ast.FunctionDef) and not member.name.startswith("_"):
                about = (ast.get_docstring(member) or "").split("\n")[0]
                is_property = any(ast.unparse(d) == "property" for d in member.decorator_list)
                shown = member.name if is_property else f"{member.name}()"
                line = f"| `{shown}` | {about} |".replace("``", "`")
                if line not in members:
                    members.append(line)
            elif isinstance(member, ast.AnnAssign) and "__" not in ast.unparse(member.target):
                kind = ast.unparse(member.annotation).replace("|", "\\|")
                members.append(f"| `{ast.unparse(member.target)}` | `{kind}` |")
        if members:
            text += "\n| member | what it is |\n|---|---|\n" + "\n".join(members) + "\n"
    return text


def main() -> None:
    """Print all public functions, then all public classes."""
    folder = Path(sys.argv[1])
    known = definitions(folder)
    named = [(name, known[name]) for name in public_names(folder) if name in known]
    named.sort(key=lambda pair: (isinstance(pair[1], ast.ClassDef), pair[0]))
    print("# The Python package\n")
    print("Each name with its documentation, as `help(unruffled.NAME)` shows it.")
    print("[The guide](../guide/python.md) has examples.\n")
    print("\n".join(describe(name, node) for name, node in named), end="")


if __name__ == "__main__":
    main()
