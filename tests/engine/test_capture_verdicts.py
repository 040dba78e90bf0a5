"""One text, one verdict: the trace, why-not, the list on the screen and the inbox say the same of the three words."""

from __future__ import annotations

from pathlib import Path

import pytest

from memtui.engine.capture.inbox import Inbox
from memtui.engine.capture.lost_text import why_not
from memtui.engine.capture.pipeline import capture
from memtui.engine.capture.recipes.base import CaptureRequest
from memtui.engine.capture.recipes.registry import capture_recipes
from memtui.engine.capture.trace import VERDICTS, Message
from memtui.engine.store.create import create_empty
from memtui.tui.screens.capture.view import verdict_of
from tests.engine.test_capture_own import again

TALK = (
    "I always prefer dark roast coffee in the morning.",
    "I always prefer dark roast coffee in the morning.",
    "Remember: the staging database listens on port 5432.",
    "We decided to use Postgres for the new service.",
    "Actually the staging database listens on port 5433 now, not on 5432.",
    "ok thanks",
    "Maybe I like green tea, I am not sure.",
    "password: hunter2hunter2",
    "Imagine I lived in Rome.",
    "What is the weather like today?",
)


@pytest.mark.parametrize("recipe", list(capture_recipes()))
def test_every_place_gives_a_text_the_same_verdict(tmp_path: Path, recipe: str) -> None:
    create_empty(tmp_path / "store", 256)
    engine = again(tmp_path)
    request = CaptureRequest([Message("user", each) for each in TALK], recipe)
    trace = capture(request, engine.capture_context())
    seen = set()
    for place, text in enumerate(trace.texts):
        made = [each for each in trace.candidates if place in each.texts]
        on_screen = verdict_of(text, made)[1]
        of_why_not = why_not(place, trace, request, engine.capture_context)
        assert text.verdict in VERDICTS
        assert text.as_json()["verdict"] == text.verdict == of_why_not.verdict, text
        assert on_screen == text.verdict or on_screen.startswith(
            (f"{text.verdict},", f"{text.verdict}:", f"{text.verdict} ")
        ), text
        assert (text.verdict == "kept") == any(each.writes for each in made), text
        assert of_why_not.kept == (text.verdict == "kept")
        seen.add(text.verdict)
    assert "rejected" in seen
    if recipe == "memtui":
        assert seen == set(VERDICTS)
        Inbox(engine).take(trace)
        items = Inbox(engine).items()
        assert items
        review = {text.text for text in trace.texts if text.verdict == "needs review"}
        assert {each.said for each in items if each.verdict == "needs review"} <= review
        assert all(each.verdict in VERDICTS for each in items)
