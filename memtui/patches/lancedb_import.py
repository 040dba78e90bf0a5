"""Most of the time that `import lancedb` takes goes into REST models that a local table never uses, and into checks of
its own methods.

While lancedb is imported, its methods are not checked, and the models' package is stood in for by one whose classes
load the real ones when they are first used: called, asked for an attribute, or tested with `isinstance`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

PACKAGE = "lance_namespace_urllib3_client"

MODELS = f"{PACKAGE}.models"

LANCEDB = "0.40."
"""The releases in which nothing needs a model while lancedb is imported."""


@contextmanager
def models_on_demand() -> Iterator[None]:
    """Import lancedb inside; nothing changes where its release is another one or the models are loaded."""
    if not _fits():
        yield
        return
    finder = _Finder()
    sys.meta_path.insert(0, finder)
    try:
        with _overrides_unchecked():
            yield
    finally:
        sys.meta_path.remove(finder)
        for name in [name for name, module in sys.modules.items() if isinstance(module, _StandIn)]:
            del sys.modules[name]


@contextmanager
def _overrides_unchecked() -> Iterator[None]:
    """Take lancedb's word that its methods override others: looking at each signature takes a third of the import."""
    try:
        import overrides
    except ImportError:  # from Python 3.12 on lancedb takes the language's own, which looks at nothing
        yield
        return

    def override(method: Any = None, **how: Any) -> Any:
        if method is None:
            return override
        with suppress(AttributeError):  # as the real one does for what takes no attribute
            method.__override__ = True
        return method

    real = overrides.override
    overrides.override = override
    try:
        yield
    finally:
        overrides.override = real


def _fits() -> bool:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("lancedb").startswith(LANCEDB) and PACKAGE not in sys.modules
    except PackageNotFoundError:
        return False


class _Late(type):
    """The class of a class that is not loaded yet."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        return _real(cls.__name__)(*args, **kwargs)

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(_real(cls.__name__), name)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, _real(cls.__name__))


def _real(name: str) -> Any:
    return getattr(import_module(MODELS), name)


class _StandIn(ModuleType):
    """A module in which every public name is a class that loads itself when it is used."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        models = sys.modules[MODELS]
        known: Any = vars(models).get(name) or _Late(name, (), {"__module__": MODELS})
        setattr(models, name, known)
        return known


class _Finder(MetaPathFinder, Loader):
    """Finds the models' package, and all modules in it, as stand-ins."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != PACKAGE and not fullname.startswith(f"{PACKAGE}."):
            return None
        return ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _StandIn(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        if module.__name__ != MODELS:
            import_module(MODELS)
