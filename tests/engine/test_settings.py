"""memtui's own settings and folders: layers, provenance, errors that name the key."""

from __future__ import annotations

from pathlib import Path

import pytest

from memtui import paths
from memtui.engine.core.errors import ConfigError
from memtui.settings import KEY_VARIABLE, SETTINGS, Settings, load_settings


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config.toml"


def test_defaults_without_a_file(file: Path) -> None:
    settings = load_settings(file, {})
    assert settings.values == Settings().values
    assert (settings.theme, settings.glyphs, settings.store) == ("deep-sea", "auto", "")
    assert settings.origin("theme") == "default"
    assert settings.embedding({}) is None
    assert not file.exists()


def test_each_layer_overrides_the_one_below_and_is_named(file: Path) -> None:
    file.write_text('theme = "a"\nglyphs = "ascii"\nstore = "x"\n[embedding]\nmodel = "m"\ntimeout_s = 3\n')
    environ = {
        "MEMTUI_THEME": "b",
        "MEMTUI_STORE": "y",
        "MEMTUI_EMBEDDING_DIMENSIONS": "64",
        "MEMTUI_KEYS": " ",
    }
    settings = load_settings(file, environ, {"store": "z", "theme": None})
    assert (settings.theme, settings.origin("theme")) == ("b", "MEMTUI_THEME")
    assert (settings.glyphs, settings.origin("glyphs")) == ("ascii", str(file))
    assert (settings.store, settings.origin("store")) == ("z", "--store")
    assert (settings.keys, settings.origin("keys")) == ("default", "default")
    assert settings.values["embedding.dimensions"] == 64
    assert settings.values["embedding.timeout_s"] == 3.0


@pytest.mark.parametrize(
    ("text", "path", "fix"),
    [
        ('thme = "x"', "thme", "Did you mean theme?"),
        ('[embedding]\nmodl = "x"', "embedding.modl", "Did you mean embedding.model?"),
        ("[xyzzy]\nred = 1", "xyzzy", "Known settings: "),
        ("theme = 3", "theme", "Name of a shipped theme"),
        ("embedding = 3", "embedding", "Write [embedding]"),
        ('embedding.dimensions = "3"', "embedding.dimensions", "Vector length"),
        ("embedding.dimensions = true", "embedding.dimensions", "Vector length"),
        ("embedding.dimensions = -1", "embedding.dimensions", "Give a number from 0."),
        ("embedding.timeout_s = nan", "embedding.timeout_s", "Give a number from 0."),
        ('glyphs = "asci"', "glyphs", "Did you mean ascii?"),
        ('[embedding]\napi_key = "sk-x"', "embedding.api_key", "api_key_env"),
    ],
)
def test_a_wrong_key_in_the_file_is_named_with_the_nearest_right_one(
    file: Path, text: str, path: str, fix: str
) -> None:
    file.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_settings(file, {})
    assert caught.value.path == path
    assert fix in caught.value.fix
    assert str(file) in caught.value.message
    assert "sk-x" not in str(caught.value)


@pytest.mark.parametrize("data", [b"theme = ", b"\xff\xfe", b"a = 1\na = 2"])
def test_a_file_that_is_not_toml(file: Path, data: bytes) -> None:
    file.write_bytes(data)
    with pytest.raises(ConfigError, match="config"):
        load_settings(file, {})


@pytest.mark.parametrize(
    ("environ", "flags", "path", "origin"),
    [
        ({"MEMTUI_EMBEDDING_DIMENSIONS": "many"}, {}, "embedding.dimensions", "MEMTUI_EMBEDDING_DIMENSIONS"),
        ({"MEMTUI_EMBEDDING_TIMEOUT_S": "inf"}, {}, "embedding.timeout_s", "MEMTUI_EMBEDDING_TIMEOUT_S"),
        ({"MEMTUI_GLYPHS": "emoji"}, {}, "glyphs", "MEMTUI_GLYPHS"),
        ({}, {"glyphs": "emoji"}, "glyphs", "--glyphs"),
        ({}, {"nope": "x"}, "nope", "--nope"),
    ],
)
def test_a_wrong_value_elsewhere_names_its_origin(
    file: Path, environ: dict[str, str], flags: dict[str, str | None], path: str, origin: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        load_settings(file, environ, flags)
    assert caught.value.path == path
    assert origin in caught.value.message


def test_a_misspelt_variable_is_a_warning(file: Path) -> None:
    settings = load_settings(
        file, {"MEMTUI_THEMES": "x", "MEMTUI_CONFIG_DIR": "/c", "MEMTUI_OTHER_TOOL": "1"}
    )
    assert settings.warnings == ("MEMTUI_THEMES is not read; did you mean MEMTUI_THEME?",)


def test_the_embedding_block_and_its_keys(file: Path, tmp_path: Path) -> None:
    file.write_text(
        '[embedding]\nmodel = "m"\nbase_url = "http://h/v1"\napi_key_env = "K1, K2"\ndimensions = 8\n'
        'task_query = "q"\nprovider = "jina"\ntimeout_s = 2.5\n'
    )
    settings = load_settings(file, {})
    made = settings.embedding({"K1": "one", "K2": "two"})
    assert made is not None
    assert (made.model, made.url, made.api_keys) == ("m", "http://h/v1", ("one", "two"))
    assert (made.dimensions, made.request_dimensions, made.task_query, made.task_passage) == (
        8,
        None,
        "q",
        None,
    )
    assert (made.provider, made.timeout_s) == ("jina", 2.5)
    overridden = settings.embedding({KEY_VARIABLE: "direct"})
    assert overridden is not None
    assert overridden.api_keys == ("direct",)
    with pytest.raises(ConfigError, match="K2") as caught:
        settings.embedding({"K1": "one"})
    assert caught.value.path == "embedding.api_key_env"


def test_a_key_file(file: Path, tmp_path: Path) -> None:
    (tmp_path / "key").write_text(" sk-file \n")
    file.write_text(f'[embedding]\nmodel = "m"\napi_key_file = "{tmp_path / "key"}"\n')
    made = load_settings(file, {}).embedding({})
    assert made is not None
    assert made.api_keys == ("sk-file",)
    (tmp_path / "key").unlink()
    with pytest.raises(ConfigError, match="cannot be read"):
        load_settings(file, {}).embedding({})


def test_every_setting_is_documented_and_named_once() -> None:
    assert len({setting.key for setting in SETTINGS}) == len(SETTINGS)
    for setting in SETTINGS:
        assert setting.doc.endswith(".")
        assert not setting.choices or setting.default in setting.choices


def test_folders_follow_their_variables_and_are_not_made(tmp_path: Path) -> None:
    environ = {f"MEMTUI_{kind}_DIR": str(tmp_path / kind) for kind in ("CONFIG", "STATE", "CACHE")}
    folders = (paths.config_dir, paths.state_dir, paths.cache_dir)
    assert [folder(environ).name for folder in folders] == ["CONFIG", "STATE", "CACHE"]
    assert paths.settings_file(environ) == tmp_path / "CONFIG/config.toml"
    assert paths.themes_dir(environ) == tmp_path / "CONFIG/themes"
    defaults = [folder({}) for folder in folders]
    assert len(set(defaults)) == 3
    assert all("memtui" in str(folder) for folder in defaults)
    assert list(tmp_path.iterdir()) == []
    assert not any(folder.exists() for folder in defaults)
