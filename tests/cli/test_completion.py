"""`memtui completion`: what a real shell is offered, and that asking for it writes nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from memtui.cli.completion import SHELLS
from tests.conftest import tree_hash
from tests.engine.pro_store import row, write_store

ASK = """
export PATH="{bin}:$PATH"
eval "$(memtui completion bash)"
COMP_LINE={line}; COMP_POINT=${{#COMP_LINE}}; COMP_TYPE=9; COMPREPLY=()
_python_argcomplete memtui
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.fixture
def store(tmp_path: Path) -> Path:
    rows = [
        row("aa11", "The gateway port is 8080", (1, 0), scope="project:atlas"),
        row("ab22", "The gateway port is 8443", (0, 1), scope="agent:main"),
    ]
    return write_store(tmp_path / "home" / "store", rows, dims=2)


def offered(line: str, home: Path) -> list[str]:
    around = {"HOME": str(home), "PATH": os.environ["PATH"], "MEMTUI_STATE_DIR": str(home / "state")}
    quoted = "'" + line + "'"
    done = subprocess.run(
        ["bash", "-c", ASK.format(bin=Path(sys.executable).parent, line=quoted)],
        env=around, cwd=home, capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    return [each.strip() for each in done.stdout.splitlines() if each.strip()]


def test_bash_completes_commands_options_scopes_and_ids_and_nothing_is_written(store: Path) -> None:
    home, before = store.parent, tree_hash(store)
    assert offered("memtui why", home) == ["why-not"]
    assert "--sort" in offered("memtui ls --so", home)
    assert offered("memtui help why", home) == ["why-not"]
    assert offered(f"memtui show --store {store} ", home) == ["aa11", "ab22"]
    assert offered(f"memtui --store {store} show ab", home) == ["ab22"]
    assert offered(f"memtui recall --store {store} --scope pro", home) == ["project:atlas"]
    assert "pro/agent" in offered(f"memtui recall --store {store} --recipe pro/", home)
    assert "store" in " ".join(offered("memtui sto", home))
    assert tree_hash(store) == before
    assert not (home / "state").exists()


def test_what_cannot_be_opened_completes_nothing_and_says_nothing(tmp_path: Path) -> None:
    assert offered("memtui show --store /nowhere/at/all ", tmp_path) == []
    assert offered("memtui show --store s3://bucket/store ", tmp_path) == []
    assert (
        offered("memtui show --store demo ", tmp_path) == []
    )  # nobody built the demo store for a completion
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("shell", SHELLS)
def test_each_shell_has_a_script(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    from memtui.cli.main import run

    assert run(["completion", shell]) == 0
    assert "memtui" in capsys.readouterr().out
