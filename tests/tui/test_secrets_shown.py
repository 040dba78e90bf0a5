"""No screen shows a secret unasked: every place is walked over a store with one of each kind in it."""

from __future__ import annotations

import random
import string
from collections.abc import Sequence
from pathlib import Path

import pytest

from memtui.engine import Engine
from memtui.engine.core import secrets
from memtui.tui.app import MemtuiApp
from memtui.tui.screens.browse.detail import MemoryDetail
from tests.conftest import NOW_MS
from tests.engine.transfer_stores import memory, opened, pro_store
from tests.tui.driving import SIZES, press, running, screen_text, type_text

UPPER = string.ascii_uppercase + string.digits
WORD = string.ascii_letters + string.digits

FORMS = {
    "API key": ("sk-proj-", 40, WORD),
    "AWS key": ("AKIA", 16, UPPER),
    "GitHub token": ("ghp_", 36, WORD),
    "JSON web token": ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx.", 40, WORD),
    "PIN": ("PIN: ", 8, string.digits),
    "Slack token": ("xoxb-", 30, WORD),
    "access token": ("nfp_", 36, WORD),
    "age key": ("AGE-SECRET-KEY-1", 58, UPPER),
    "authorization header": ("Authorization: Bearer ", 30, WORD),
    "bearer token": ("Bearer ", 30, WORD),
    "bot token": ("123456789:", 35, WORD),
    "password": ("password: 7", 14, WORD),
    "password in an address": ("postgres://app:", 16, WORD),
    "payment key": ("sk_live_", 24, WORD),
    "private key": ("-----BEGIN PRIVATE KEY-----\n", 120, WORD),
    "storage key": ("AccountKey=", 86, WORD),
    "vault token": ("hvs.", 28, WORD),
    "webhook address": ("https://hooks.slack.com/services/", 40, WORD),
}

GIVEN = {
    "IBAN": ("IBAN ", "DE89370400440532013000"),
    "payment card": ("card ", "4111111111111111"),
    "seed phrase": (
        "seed phrase: ",
        "legal winner thank year wave sausage worth useful legal winner thank yellow",
    ),
    "social security number": ("SSN: ", "078-05-1120"),
}
"""Kinds with a checksum or a list of words: the published examples of each."""


def planted() -> dict[str, tuple[str, str]]:
    """By kind: the whole form, and the part of it that nobody may see."""
    dice = random.Random(7)
    found = {}
    for kind in secrets.kinds():
        if kind in GIVEN:
            found[kind] = ("".join(GIVEN[kind]), GIVEN[kind][1])
            continue
        lead, length, alphabet = FORMS[kind]
        token = "".join(dice.choices(alphabet, k=length))
        found[kind] = (f"{lead}{token}{'@db' if kind.endswith('an address') else ''}", token)
    return found


PLANTED = planted()


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    rows = [
        memory(
            at,
            f"The gateway of {kind} takes {form} for its port",
            timestamp=float(NOW_MS - at * 3_600_000),
            metadata={
                "l0_abstract": f"gateway: {form}",
                "l1_overview": f"- {form}",
                "l2_content": f"whole {form} text",
                "source_reason": form,
                "deep": {"er": [form]},
                "fact_key": f"gateway:{at // 2}",
            },
        )
        for at, (kind, (form, _)) in enumerate(PLANTED.items(), start=1)
    ]
    rows += [  # the last again: duplicates and versions have their own lists
        memory(80 + at, f"{row['text']}, again", timestamp=float(NOW_MS - at * 60_000))
        for at, row in enumerate(rows[:4])
    ]
    found = opened(pro_store(tmp_path / "store", rows), tmp_path / "state")
    found.load_catalog()
    found.load_metadata()
    return found


def leaks(app: MemtuiApp, where: str) -> list[str]:
    """The lines of the screen with a run of seven characters of a secret, each with the place."""
    shown = screen_text(app)
    runs = {token[at : at + 7] for _, token in PLANTED.values() for at in range(len(token) - 6)}
    if not any(run in shown for run in runs):
        return []
    return [f"{where}: {line.strip()}" for line in shown.splitlines() if any(run in line for run in runs)]


WALKS: tuple[Sequence[str], ...] = (
    ("1",),
    ("2", "j", "l", "z", "z", "h", "K", "escape", "y"),
    ("escape", "2", "m", "]", "]", "]", "]"),
    ("escape", "2", "space", "j", "space", "D"),
    ("escape", "escape", "2", "c"),
    ("escape", "escape", "2", "x"),
    ("escape", "4", "enter", "escape"),
    ("5",),
    ("6",),
    ("7",),
    ("8",),
    ("9",),
    ("0",),
)


RECALL = (
    *("enter", "j", "enter", "escape", "w", "escape", "p", "escape", "W", "enter", "escape", "escape"),
    *("equals_sign", "2", "escape", "m", "escape", "V", "v", "v"),
)


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
async def test_every_place_masks_every_kind(engine: Engine, size: tuple[int, int]) -> None:
    async with running(engine, size) as (app, pilot):
        found = leaks(app, "the first screen")
        for walk in WALKS:
            for at, key in enumerate(walk):
                await press(pilot, key)
                found += leaks(app, " ".join(walk[: at + 1]))
        assert found == []


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
async def test_every_account_of_a_recall_masks_every_kind(engine: Engine, size: tuple[int, int]) -> None:
    async with running(engine, size) as (app, pilot):
        await press(pilot, "3")
        await type_text(pilot, "which port does the gateway take")
        found = []
        for key in [
            "enter",
            "j",
            "enter",
            "escape",
            "w",
            "escape",
            "p",
            "escape",
            "W",
            "enter",
            "escape",
            "escape",
            "equals_sign",
            "escape",
            "m",
            "escape",
            "V",
            "v",
            "v",
        ]:
            await press(pilot, key)
            found += leaks(app, f"Recall, at {key}")
        await press(pilot, "ctrl+p")
        await type_text(pilot, "gateway")
        assert found + leaks(app, "the palette") == []


async def test_the_detail_shows_a_secret_by_its_key_until_one_moves_on(engine: Engine) -> None:
    async with running(engine, (120, 36)) as (app, pilot):
        await press(pilot, "2", "G", "l")
        assert "V shows what is masked" in screen_text(app)
        assert leaks(app, "the detail") == []
        await press(pilot, "V")
        lines = app.screen.query_one(MemoryDetail).lines
        revealed = "".join("".join(line.plain for line in lines).split())
        assert any(token in revealed for _, token in PLANTED.values())
        await press(pilot, "h", "k")
        assert leaks(app, "the memory before") == []


def test_there_is_a_form_of_every_kind() -> None:
    for kind, (form, token) in PLANTED.items():
        (found, *_) = secrets.find_secrets(f"It is {form} there")
        assert token in f"It is {form} there"[found.start : found.end], kind
