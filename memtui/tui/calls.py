"""Engine calls off the event loop: one running call a slot, stale answers dropped, errors made showable."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from textual.dom import DOMNode
from textual.message import Message

from memtui.engine import Cancelled, CancelToken, MemtuiError
from memtui.tui.messages import FlashKind, RunAdvanced, RunFailed, RunFinished

Report = Callable[[Any], None]
"""Called by the work, on its thread, with whatever should reach the screen as `RunAdvanced`."""

Work = Callable[[CancelToken, Report], Any]
"""An engine call: looks at the token between two steps, reports progress, returns the answer."""


class EngineCalls:
    """Runs engine calls for one node of the screen, one for each slot.

    `call` hands the answer to a function; `start` posts `RunAdvanced`, `RunFinished` and `RunFailed` to the node.
    Either way only the newest call of a slot is heard: an older one is asked to stop and what it still says is dropped.
    """

    def __init__(self, node: DOMNode) -> None:
        self._node = node
        self._generations: dict[str, int] = {}
        self._tokens: dict[str, CancelToken] = {}

    def call(
        self,
        slot: str,
        work: Work,
        then: Callable[[Any], None],
        *,
        failed: Callable[[MemtuiError], None],
        progress: Callable[[Any], None] | None = None,
    ) -> int:
        """Run `work` in a thread; `then`, `failed` and `progress` are called on the event loop.

        The slot is idle when `then` or `failed` is called. Returns the generation number.
        """
        generation, token = self._begin(slot)

        def deliver(value: Any, take: Callable[[Any], None], last: bool) -> None:
            if self._tokens.get(slot) is token:
                if last:
                    del self._tokens[slot]
                take(value)

        def run() -> None:
            try:
                value = work(token, lambda value: post(value, progress, False))
            except Cancelled:
                post(_taken_away(), failed, True)
            except MemtuiError as error:
                post(error, failed, True)
            except Exception as error:
                post(_unexpected(error), failed, True)
            else:
                post(value, then, True)

        def post(value: Any, take: Callable[[Any], None] | None, last: bool) -> None:
            if take is not None and self._tokens.get(slot) is token:
                self._node.call_later(deliver, value, take, last)

        self._node.run_worker(run, thread=True, group=f"run-{slot}", exit_on_error=False)
        return generation

    def _begin(self, slot: str) -> tuple[int, CancelToken]:
        """Ask the running call of this slot to stop, and make room for the next one."""
        self.cancel(slot)
        generation = self._generations[slot] = self._generations.get(slot, 0) + 1
        token = self._tokens[slot] = CancelToken()
        return generation, token

    def start(self, slot: str, work: Work) -> int:
        """Run `work` in a thread and return its generation number."""
        generation, token = self._begin(slot)

        def post(message: Message) -> None:
            if self._generations[slot] == generation and not token.cancelled:
                self._node.post_message(message)

        def run() -> None:
            try:
                value = work(token, lambda value: post(RunAdvanced(slot, generation, value)))
            except Cancelled:
                post(RunFailed(slot, generation, _taken_away()))
            except MemtuiError as error:
                post(RunFailed(slot, generation, error))
            except Exception as error:
                post(RunFailed(slot, generation, _unexpected(error)))
            else:
                post(RunFinished(slot, generation, value))

        self._node.run_worker(run, thread=True, group=f"run-{slot}", exit_on_error=False)
        return generation

    def is_current(self, message: RunAdvanced | RunFinished | RunFailed) -> bool:
        """Whether a message is of the newest call of its slot: an older one may still be in the queue."""
        return self._generations.get(message.slot) == message.generation

    def done(self, message: RunFinished | RunFailed) -> bool:
        """`is_current` for the last message of a call, after which its slot is idle."""
        if not self.is_current(message):
            return False
        self._tokens.pop(message.slot, None)
        return True

    def busy(self, slot: str, generation: int | None = None) -> bool:
        """Whether a call of this slot is running: any, or that of one generation."""
        return slot in self._tokens and generation in (None, self._generations[slot])

    def reading(self, *, moving: bool = False) -> bool:
        """Whether a call is running that a key may be about; `moving`: a key that only moves a cursor.

        The class of the node names those that no key is about (`BESIDE`), and those about the row under the cursor,
        which what moves it does not wait for (`OF_ROW`).
        """
        beside: frozenset[str] = getattr(self._node, "BESIDE", frozenset())
        of_row: frozenset[str] = getattr(self._node, "OF_ROW", frozenset()) if moving else frozenset()
        names = (slot.rpartition(":")[2] for slot in self._tokens)
        return any(name not in beside and name not in of_row for name in names)

    @property
    def idle(self) -> bool:
        """Whether no call is running."""
        return not self._tokens

    def cancel(self, slot: str) -> None:
        """Ask the running call of this slot to stop; nothing of it will arrive any more."""
        token = self._tokens.pop(slot, None)
        if token is not None:
            token.cancel()
            self._generations[slot] += 1  # its answer may be in the queue of messages already

    def cancel_all(self) -> None:
        """Ask every running call to stop."""
        for slot in tuple(self._tokens):
            self.cancel(slot)


class CallsMixin:
    """Runs engine calls for a screen or a part of one; what went wrong is said above the key bar."""

    runner: EngineCalls
    BESIDE: ClassVar[frozenset[str]] = frozenset()
    """Slots whose answers stand beside the list: no key waits for them."""
    OF_ROW: ClassVar[frozenset[str]] = frozenset()
    """Slots whose answers are about the row under the cursor: what is done with it waits, what moves it does not."""

    def flash(self, text: str, kind: FlashKind = "done") -> None:
        """Say one line above the key bar."""
        raise NotImplementedError

    def call(
        self,
        slot: str,
        work: Work,
        then: Callable[[Any], None],
        *,
        progress: Callable[[Any], None] | None = None,
        failed: Callable[[MemtuiError], None] | None = None,
    ) -> None:
        """Run an engine call, as `EngineCalls.call`; without `failed` its error is said above the key bar."""
        self.runner.call(slot, work, then, progress=progress, failed=failed or self.call_failed)

    def call_failed(self, error: MemtuiError) -> None:
        """Say what went wrong above the key bar."""
        self.flash(str(error), "error")


def _unexpected(error: Exception) -> MemtuiError:
    """A failure that the engine did not foresee: named, never hidden."""
    return MemtuiError(
        f"{type(error).__name__}: {' '.join(str(error).split())[:300] or 'no message'}",
        fix="Try again; if it comes back, report it with these words.",
        details=str(error),
    )


def _taken_away() -> MemtuiError:
    """The end of a call that was stopped without its own token: whoever waits for it must hear of it.

    One that was stopped by its token is replaced or unwanted: `post` drops this.
    """
    return MemtuiError("The reading was stopped before its end.", fix="Try again.")


def reads(screen: DOMNode, *, moving: bool = False) -> bool:
    """Whether anything on a screen is still reading what a key may be about."""
    nodes = screen.walk_children(with_self=True)
    runners = (getattr(node, "runner", None) for node in nodes)
    return any(isinstance(runner, EngineCalls) and runner.reading(moving=moving) for runner in runners)
