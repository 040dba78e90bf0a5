"""The register of clients that a store goes by: the demo's own, else this user's, as far as it is for that store."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from memtui.demo_store import DEMO, is_demo
from memtui.engine.clients import ClientRegister
from memtui.paths import cache_dir, clients_file


def register_for(
    store: str | None, environ: Mapping[str, str] = os.environ, *, resolved: bool = False
) -> ClientRegister:
    """The register of the store that `store` names as the command line does, None: the one that would be opened.

    Which place that is is looked up when it is first needed; with `resolved` it is `store` itself.
    """
    if is_demo(store, environ):
        from memtui.engine.demo import demo_folder, demo_home

        own = demo_home(demo_folder(cache_dir(environ))) / clients_file(environ).name
        return ClientRegister(own)
    return ClientRegister(clients_file(environ), store=place_of(store, environ, resolved=resolved))


def place_of(store: str | None, environ: Mapping[str, str], *, resolved: bool = False) -> Callable[[], str]:
    """Return what looks up the folder or address of a store once; empty where none can be found."""
    kept: list[str] = []

    def place() -> str:
        if not kept:
            kept.append(_normal(store) if resolved and store else _resolved(store, environ))
        return kept[0]

    return place


def only_store(store: str | None) -> str:
    """The place of the store that --store names; empty where none is named, and for the demo, whose register is its."""
    if store is None or is_demo(store):
        return ""
    if not (place := place_of(store, os.environ)()):
        from memtui.engine.discovery import resolve_target

        return resolve_target(store, None, os.environ, Path.cwd()).uri  # says why there is none
    return place


def _resolved(store: str | None, environ: Mapping[str, str]) -> str:
    from memtui.engine import MemtuiError
    from memtui.engine.discovery import resolve_target
    from memtui.paths import settings_file
    from memtui.settings import load_settings

    if store == DEMO:
        return ""
    try:
        settings = load_settings(settings_file(environ), environ)
        return _normal(resolve_target(store, settings, environ, Path.cwd()).uri)
    except MemtuiError:  # what opens the store says so; until then only who is let in everywhere gets in
        return ""


def _normal(uri: str) -> str:
    return uri if "://" in uri else os.path.realpath(uri)
