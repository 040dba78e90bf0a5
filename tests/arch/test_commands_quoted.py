"""A command that is suggested can be pasted: paths and names in it are quoted, by one helper."""

from __future__ import annotations

import ast
import re
import shlex

from memtui.cli.main import run
from tests.conftest import ROOT

COMMAND = re.compile(r"\b(?:memtui|openclaw) (?:[a-z]|--)")

BEFORE = re.compile(r"--(?:store|to|from|into|config|model|agent|home|folder|file) $|\b(?:capture|import) $")
"""What stands before a path or a name."""


def unquoted(tree: ast.AST) -> list[int]:
    """Lines whose f-string suggests a command with a path or name as it is."""
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.JoinedStr):
            continue
        said = ""
        for part in node.values:
            if isinstance(part, ast.Constant):
                said += str(part.value)
            elif isinstance(part, ast.FormattedValue):
                bare = not re.match(r"quoted\(|named\b|shlex\.", ast.unparse(part.value))
                if bare and COMMAND.search(said) and BEFORE.search(said):
                    found.append(node.lineno)
                said += "X"
    return found


def test_a_bare_path_is_found() -> None:
    source = (
        'f"memtui add X --store {place}"\nf"memtui add X --store {quoted(place)}"\nf"memtui undo {entry}"'
    )
    assert unquoted(ast.parse(source)) == [1]


def test_every_suggested_command_quotes_its_paths() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in sorted((ROOT / "memtui").rglob("*.py"))
        for line in unquoted(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert found == [], "use quoted()"


def test_the_commands_for_a_new_store_name_it_whatever_it_is_called(tmp_path, capsys) -> None:
    place = tmp_path / "Ana's new store" / "memories.lance"
    assert run(["new", str(place)]) == 0
    said = capsys.readouterr().out
    commands = re.findall(r"memtui (?:add|import) [^\n]*?(?=, or |\n)", said)
    assert len(commands) == 2
    for command in commands:
        words = shlex.split(command)
        assert words[words.index("--store") + 1] == str(place)
