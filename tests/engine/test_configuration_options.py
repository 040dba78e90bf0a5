"""Every option of the plugin has a form: its range, its default, what it means."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from memtui.engine.configuration.options import OPTIONS, ConfigOption, option
from memtui.engine.configuration.plans import PLANS
from memtui.engine.configuration.rules import options_in, options_of, problems_of
from memtui.engine.core.errors import UsageError
from tests.engine.test_configuration import PRO, again, home, pro

NOT_OF_THE_SCHEMA = ("recallPrefix.categoryField",)


def named_in(text: str, heading: str) -> list[str]:
    """The settings that a table of a document names: `a.b / c`, `a.{b 1, c 2}`, `a, b`."""
    table = text.split(heading, 1)[1]
    table = re.split(r"\n\n(?=\S)", table.split("| key |", 1)[1], maxsplit=1)[0]
    out: list[str] = []
    for line in table.splitlines():
        cell = line.strip("|").split(" | ")[0].strip() if line.startswith("| ") else ""
        if not cell or cell.startswith(("(", "environment", "document")):
            continue
        cell = re.sub(r"\([^)]*\)", "", cell)
        for block, inside in re.findall(r"([\w.]+)\.\{([^}]*)\}", cell):
            out += [f"{block}.{each.split()[0]}" for each in inside.split(",")]
        cell = re.sub(r"[\w.]+\.\{[^}]*\}", "", cell)
        lead = ""
        for part in re.split(r"[,/]", cell):
            words = part.split()
            if not words or not re.fullmatch(r"\.?[a-z]\w*(?:\.\w+)*", words[0]):
                continue
            name = words[0]
            if name.startswith("."):
                name = lead + name[1:]
            elif "." in name:
                lead = name.rpartition(".")[0] + "."
            elif lead and option(name) is None:
                name = _below(lead, name)
            out.append(name)
    return out


def _below(lead: str, name: str) -> str:
    """A name of a row that goes on where the one before stands: `autoRecallMaxChars / PerItemMaxChars`."""
    if option(lead + name) is not None or lead != "":
        return lead + name
    return name


def test_every_setting_of_the_documents_has_a_form(shared: Path) -> None:
    retrieval = named_in((shared / "spec" / "retrieval.md").read_text(), "## 14. Configuration")
    capture = named_in((shared / "spec" / "capture.md").read_text(), "## 1. Configuration of the write side")
    named = set(retrieval) | set(capture)
    assert len(named) > 90
    known = {each.path for each in OPTIONS}
    blocks = {path.rpartition(".")[0] for path in known} | {path.partition(".")[0] for path in known}
    suffixes = {path.rpartition(".")[2].lower() for path in known}
    missing = {
        each
        for each in named
        if each not in known
        and each not in blocks
        and each not in NOT_OF_THE_SCHEMA
        and not any(each.rpartition(".")[2].lower() in suffix for suffix in suffixes)
    }
    assert missing == set()


@pytest.mark.parametrize("each", OPTIONS, ids=lambda each: each.path)
def test_each_form_says_range_default_and_meaning(each: ConfigOption) -> None:
    assert each.meaning
    assert each.range
    if each.default is not None:
        text = ", ".join(each.default) if isinstance(each.default, list) else str(each.default)
        text = text.lower() if each.kind == "yes-no" else text
        assert each.read(text) == each.default
    if each.high is not None or each.choices:
        with pytest.raises(UsageError, match=r"takes|is no value"):
            each.read(str((each.high or 0) + 1) if each.high is not None else "something else")


def test_no_form_stands_twice_and_what_agents_never_read_says_so() -> None:
    assert len({each.path for each in OPTIONS}) == len(OPTIONS)
    never = {each.path for each in OPTIONS if "agents never read it" in each.note}
    assert never == {
        "retrieval.recencyHalfLifeDays",
        "retrieval.recencyWeight",
        "retrieval.timeDecayHalfLifeDays",
        "retrieval.reinforcementFactor",
        "retrieval.maxHalfLifeMultiplier",
    }
    tops = {each.path.partition(".")[0] for each in OPTIONS}
    assert len(tops - {"dimensions"}) == 46  # as many as the schema has at its top


def test_what_a_plan_sets_has_a_form() -> None:
    for plan in PLANS.values():
        for path in plan.settings:
            assert option(path) is not None, path


SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "embedding": {
            "type": "object",
            "additionalProperties": False,
            "properties": {
                "apiKey": {"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
                "model": {"type": "string", "default": "another-default"},
            },
        },
        "retrieval": {
            "type": "object",
            "properties": {
                "minScore": {"type": "number", "minimum": 0.1, "maximum": 0.9, "default": 0.2},
                "newThing": {"type": "integer", "minimum": 3, "maximum": 7, "default": 5, "description": "its words"},
            },
        },
        "telemetry": {"type": "object", "properties": {"persist": {"type": "boolean", "default": False}}},
    },
}  # fmt: skip


def test_the_installed_plugins_own_schema_wins(tmp_path: Path) -> None:
    extension = tmp_path / ".openclaw" / "extensions" / PRO
    extension.mkdir(parents=True)
    (extension / "openclaw.plugin.json").write_text(json.dumps({"id": PRO, "configSchema": SCHEMA}))
    inner = "embedding: { apiKey: 'x' }, retrieval: { minScore: 0.05, newThing: 9 }, autoRecall: true"
    config = home(tmp_path, pro(inner))
    found = {each.path: each for each in options_of(config)}
    assert set(found) == {
        "embedding.apiKey",
        "embedding.model",
        "retrieval.minScore",
        "retrieval.newThing",
        "telemetry.persist",
    }
    assert found["embedding.apiKey"].kind == "key"
    assert found["embedding.model"].default == "another-default"
    assert (found["retrieval.minScore"].low, found["retrieval.minScore"].high) == (0.1, 0.9)
    assert found["retrieval.minScore"].meaning == "lowest score before the other stages"
    assert (found["retrieval.newThing"].range, found["retrieval.newThing"].meaning) == ("3 to 7", "its words")
    assert found["telemetry.persist"].read("true") is True
    wrong = {each.path.rpartition(".")[2] for each in problems_of(again(tmp_path)) if each.rule == "range"}
    assert wrong == {"minScore", "newThing"}
    assert "autoRecall" in {
        each.path.rpartition(".")[2] for each in problems_of(again(tmp_path)) if each.rule == "unknown"
    }


def test_a_schema_that_says_little_is_read_as_it_is() -> None:
    found = options_in({"properties": {"odd": {}, "list": {"type": "array"}, "no": 3}})
    assert [(each.path, each.kind) for each in found] == [("odd", "object"), ("list", "texts")]


@pytest.mark.parametrize(
    "inner",
    [
        "memoryReflection: { recall: {} }",
        "locking: { redis: { urls: 'x' } }",
        "dreaming: { phases: { lite: {} } }",
    ],
)
def test_a_name_that_the_plugin_refuses_is_found_in_every_block(inner: str, tmp_path: Path) -> None:
    found = problems_of(home(tmp_path, pro(f"embedding: {{ apiKey: 'x' }}, {inner}")))
    assert [each for each in found if each.rule == "unknown"] or "locking" in inner
