"""The pictures in screenshots/ are what the app looks like: made anew, the narrow ones of a screen are the same."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from memtui.cli.shot import RECORDING, make, make_recording
from memtui.tui.screenshots import NARROW, SHOTS, file_name
from tests.conftest import ROOT

FOLDER = ROOT / "screenshots"
ELSEWHERE = (
    *("recall", "lifecycle-review", "what-if", "health-doctor", "health-indexes", "health-versions"),
    "agents",
)
"""Recall's own picture is on the way to that of why-not; the others have goldens of this size. What if also scrolls
by the flip points that were found until a key came, which its golden waits for and a picture does not. Health tells
when versions and indexes were written, Agents how long a call took: both by the real clock."""
STALE = "the screen has changed: `memtui shot` makes the pictures anew; look at them before you commit them"


def words(picture: str) -> list[str]:
    """The rows of text in a picture."""
    return [re.sub(r"&#160;", " ", row) for row in re.findall(r">([^<>]+)</text>", picture)]


def test_every_picture_is_there_and_no_other() -> None:
    wanted = {file_name(shot, size) for shot in SHOTS for size in shot.sizes}
    assert {path.name for path in FOLDER.glob("*.svg")} == {*wanted, f"{RECORDING}.svg"}, STALE


@pytest.mark.slow
def test_the_narrow_pictures_are_what_is_seen_today(tmp_path: Path) -> None:
    narrow = [shot.name for shot in SHOTS if NARROW in shot.sizes and shot.name not in ELSEWHERE]
    made = make(tmp_path, names=narrow, size=NARROW)
    assert len(made) == len(narrow) >= 4
    for path in made:
        now, kept = path.read_text("utf-8"), (FOLDER / path.name).read_text("utf-8")
        assert words(now) == words(kept), f"{path.name}: {STALE}"
        assert now == kept, f"{path.name}: {STALE}"


def screens(cast: Path) -> list[str]:
    """The text of each screen of a cast, without colours."""
    events = [json.loads(line) for line in cast.read_text("utf-8").splitlines()[1:-1]]
    return [re.sub(r"\x1b\[[0-9;]*[mH]", "", shown) for _, _, shown in events]


def test_the_recorded_demo_shows_the_wrong_port_and_the_right_one() -> None:
    shown = screens(FOLDER / f"{RECORDING}.cast")
    assert len(shown) > 8
    assert "2222" in shown[-5].split("Why #1")[1]
    assert "48022" in shown[-1].split("Why #1")[1]
    picture = (FOLDER / f"{RECORDING}.svg").read_text("utf-8")
    assert picture.count("@keyframes") == len(shown)
    assert "@font-face" not in picture, "a picture loads nothing from the network"


@pytest.mark.slow
def test_the_recorded_demo_is_what_is_seen_today(tmp_path: Path) -> None:
    _, cast = make_recording(tmp_path)
    assert screens(cast) == screens(FOLDER / cast.name), "memtui shot --recording makes the demo anew"
