"""Extensions as an installer leaves them: a module and a dist-info in a folder that is put on the path."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from memtui.engine.capture.recipes import registry as capture_recipes
from memtui.engine.recall.recipes import registry as recipes
from tests.conftest import ROOT


def install(
    site: Path, package: str, modules: Mapping[str, str], points: Mapping[str, Mapping[str, str]]
) -> None:
    """Write the package into `site`: its modules by name, its entry points by group and name."""
    info = site / f"{package.replace('-', '_')}-0.1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 0.1\n")
    lines = [
        line
        for group, named in points.items()
        for line in (f"[{group}]", *(f"{name} = {value}" for name, value in named.items()), "")
    ]
    (info / "entry_points.txt").write_text("\n".join(lines))
    for name, text in modules.items():
        (site / f"{name}.py").write_text(text)


@contextmanager
def on_path(site: Path) -> Iterator[None]:
    """`site` at the front of the path; what was imported from it is dropped afterwards."""
    sys.path.insert(0, str(site))
    _forget()
    try:
        yield
    finally:
        sys.path.remove(str(site))
        for name, module in list(sys.modules.items()):
            if str(getattr(module, "__file__", "") or "").startswith(str(site)):
                del sys.modules[name]
        _forget()


def _forget() -> None:
    """What the registries remember of extensions."""
    recipes._of_extension.cache_clear()
    capture_recipes._of_extension.cache_clear()


def documented_example() -> tuple[str, Mapping[str, Mapping[str, str]]]:
    """The module and the entry points of the example in docs/extensions.md, as they stand on the page."""
    import tomllib

    page = (ROOT / "docs" / "extensions.md").read_text()
    module = _block(page, "python", "mempalace_memtui.py")
    project = tomllib.loads(_block(page, "toml", "pyproject.toml"))
    return module, project["project"]["entry-points"]


def _block(page: str, language: str, title: str) -> str:
    found = re.search(rf'```{language} title="{re.escape(title)}"\n(.*?)```', page, re.DOTALL)
    assert found is not None, title
    return found[1]
