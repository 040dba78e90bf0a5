"""The runner: newest call of a slot only, stale answers dropped, every failure a sentence."""

from __future__ import annotations

import asyncio
import threading

from textual.app import App

from memtui.engine import Cancelled, MemtuiError, UsageError
from memtui.tui.calls import EngineCalls
from memtui.tui.messages import RunAdvanced, RunFailed, RunFinished
from tests.tui.driving import until


class Listener(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.runner = EngineCalls(self)
        self.heard: list[object] = []

    def on_run_advanced(self, message: RunAdvanced) -> None:
        if self.runner.is_current(message):
            self.heard.append(("advanced", message.value))

    def on_run_finished(self, message: RunFinished) -> None:
        if self.runner.done(message):
            self.heard.append(("finished", message.value))

    def on_run_failed(self, message: RunFailed) -> None:
        if self.runner.done(message):
            self.heard.append(("failed", message.error))


async def finish(app: Listener, pilot) -> None:
    await app.workers.wait_for_complete(list(app.workers))
    await pilot.pause()


async def test_progress_and_answer_arrive_in_order():
    app = Listener()
    async with app.run_test() as pilot:

        def work(token, report):
            report(1)
            report(2)
            return 3

        app.runner.start("x", work)
        assert app.runner.busy("x")
        await finish(app, pilot)
        assert app.heard == [("advanced", 1), ("advanced", 2), ("finished", 3)]
        assert not app.runner.busy("x")


async def test_a_newer_call_cancels_the_older_and_its_answer_is_dropped():
    app, release = Listener(), threading.Event()
    seen = []
    async with app.run_test() as pilot:

        def old(token, report):
            release.wait(120)
            seen.append(token.cancelled)
            report("late")
            return "old"

        app.runner.start("x", old)
        app.runner.start("x", lambda token, report: "new")
        release.set()
        await finish(app, pilot)
        assert seen == [True]
        assert app.heard == [("finished", "new")]


async def test_nothing_is_heard_of_a_call_whose_answer_waits_while_it_is_cancelled():
    app, held = Listener(), threading.Event()

    def work(token, report):
        report(1)
        return 2

    async def hold() -> None:
        """The app is busy with this while the call ends: what the call says waits in the queue."""
        app.runner.start("x", work)
        (worker,) = app.workers
        while not worker.is_finished:
            await asyncio.sleep(0)
        app.runner.cancel("x")
        held.set()

    async with app.run_test() as pilot:
        app.call_later(hold)
        await until(pilot, held.is_set)
        await finish(app, pilot)
        assert app.heard == []
        assert not app.runner.busy("x")
        app.runner.start("x", lambda token, report: "next")
        await finish(app, pilot)
        assert app.heard == [("finished", "next")]


async def test_slots_do_not_disturb_each_other():
    app = Listener()
    async with app.run_test() as pilot:
        app.runner.start("a", lambda token, report: "a")
        app.runner.start("b", lambda token, report: "b")
        await finish(app, pilot)
        assert sorted(app.heard) == [("finished", "a"), ("finished", "b")]


async def test_failures_become_sentences_and_a_call_stopped_by_another_says_so():
    app = Listener()
    async with app.run_test() as pilot:

        def raising(error):
            def work(token, report):
                raise error

            return work

        app.runner.start("known", raising(UsageError("no such field", fix="write tier:")))
        app.runner.start("unknown", raising(ZeroDivisionError("division by zero")))
        app.runner.start("stopped", raising(Cancelled()))
        await finish(app, pilot)
        errors = [error for kind, error in app.heard if kind == "failed"]
        assert len(app.heard) == 3
        assert {error.message for error in errors} == {
            "no such field",
            "ZeroDivisionError: division by zero",
            "The reading was stopped before its end.",
        }
        assert app.runner.idle, "a slot waits for a call that has ended"
        assert all(isinstance(error, MemtuiError) and error.fix for error in errors)
