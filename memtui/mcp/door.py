"""One client of the server: the store it sees, the agent it acts for, what it may read and write."""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from memtui.engine import MemtuiError, UsageError, clean
from memtui.engine.access import DEFAULT_AGENT, ScopePolicy, split_scope
from memtui.engine.clients import (
    UNANSWERED,
    Call,
    CallJournal,
    ClientReach,
    ClientRegister,
    Via,
    asked_of,
    gate_of,
    ids_in,
    masked,
    scores_in,
)
from memtui.mcp.fence import HEAD, fenced

if TYPE_CHECKING:
    from memtui.engine import Engine, ListView, Memory, RecallRequest, Trace
    from memtui.engine.cases import CaseBook
    from memtui.engine.documents import Consulted
    from memtui.mcp.tools.base import Tool

LONGEST = 4_000
"""Characters of one memory in an answer; the whole text is in the store."""

MOST_BYTES = 60_000
"""Of one answer, as UTF-8: 20,000 tokens at the most in any script. Hosts refuse an answer of more than 25,000."""

BESIDE_BYTES = 400
"""Of one memory in an answer, beside its text: the id, the scope, why it came back."""

MOST_TOKENS = 64
"""Confirm tokens that are kept at a time; the oldest goes first."""


MOST_NAMED = 12
"""Scopes that an answer lists where one was named that is not there."""

GLOBAL = "global"
"""The scope of what everybody may read."""


_ID = re.compile(r"[0-9a-f]{6,8}|[0-9a-f]{8}-[0-9a-f-]{0,27}", re.IGNORECASE)
"""A UUID, as the stores that are written to have them, or its beginning: a longer row of digits may be a key."""


class Given(NamedTuple):
    """What a prompt gets: the text, its memories, and why there is nothing."""

    text: str
    ids: tuple[str, ...]
    why: str
    failed: bool = False
    """Whether the search itself failed: nothing is known then of what is stored."""


class ToolError(Exception):
    """What a model can act on: which argument is wrong and what to do next."""


@dataclass
class Door:
    """An opened store as one client meets it. Tools run on threads; writes one after another.

    `agent` is who the client acts for: it reads `global` and the agent's own scope and writes its own, as far as the
    store's access rules allow that. Empty: a person's own client, which reads everything.
    """

    open_engine: Callable[[], Engine]
    agent: str = ""
    writable: bool = False
    client: str = "mcp"
    config: Mapping[str, Any] | None = None
    """The plugin's own block: `retrieval`, `decay`, `scopes`."""
    cases: Callable[[Engine], CaseBook] | None = None
    reads: tuple[str, ...] | None = None
    """The scopes that a person granted to read, instead of the agent's own."""
    writes: str | None = None
    """The scope that a person granted to write to, instead of the agent's own."""
    register: ClientRegister | None = None
    """Where a person may have paused this client."""
    allowed: tuple[str, ...] = ()
    """What the owner lets this client do without asking a person: `update`, `forget`."""
    tools: tuple[Tool, ...] | None = None
    """The tools of this server, those that write among them; None: memtui's own."""
    keep_texts: bool = False
    """Whether the journal of calls holds what was asked, too."""
    via: Via = "stdio"
    lock: threading.RLock = field(default_factory=threading.RLock)
    _engine: Engine | None = None
    _tokens: dict[str, str] = field(default_factory=dict)
    _call: threading.local = field(default_factory=threading.local)

    @property
    def engine(self) -> Engine:
        """The engine, opened at the first call and brought up to the newest version at each."""
        with self.lock:
            if self._engine is None:
                self._engine = self.open_engine()
            elif not getattr(self._call, "looked", False) and self._engine.newer() is not None:
                self._engine.refresh()
            self._call.looked = getattr(self._call, "under_way", False)
            self._engine.write_state.client = self.client  # doors may share an engine; writes hold the lock
            return self._engine

    @contextmanager
    def call(self) -> Iterator[None]:
        """One call on this thread: whether another program has written is looked at once, at its beginning."""
        self._call.under_way, self._call.looked, self._call.key = True, False, ""
        try:
            yield
        finally:
            self._call.under_way = self._call.looked = False

    def fresh(self) -> Door:
        """Put the door back to before its first call and return it: nothing opened, no token given."""
        self._engine, self._tokens, self._call = None, {}, threading.local()
        return self

    def begin(self, tool: str, arguments: Mapping[str, Any]) -> None:
        """Note a call that may write before it does: cut off, it stands in the journal of calls without an answer."""
        self._call.key = secrets.token_hex(6)
        named = str(next((arguments[name] for name in ("id", "memoryId") if name in arguments), ""))
        # Whatever else a model sends is no id, and may be a secret.
        known = named if _ID.fullmatch(named) else ""
        self.record(tool, arguments, {"action": UNANSWERED, "id": known}, monotonic())

    def record(
        self, tool: str, arguments: Mapping[str, Any], answer: Any, began: float, why: str = ""
    ) -> None:
        """Write a call into the journal of calls. A store that cannot be opened has none."""
        engine = self._engine
        if engine is None or engine.state_place is None:
            return
        kept = {name: value for name, value in arguments.items() if name != "confirm"}
        data = answer if isinstance(answer, Mapping) else {}
        outcome, gate = data.get("action"), data.get("gate")
        refused = why or (str(data.get("reason") or "") if outcome == "refused" else "")
        CallJournal(engine.state_place).add(
            Call(
                engine.now_ms,
                self.client,
                self.agent,
                tool,
                "refused" if why else outcome if isinstance(outcome, str) else "ok",
                ids_in(answer),
                round((monotonic() - began) * 1000, 1),
                asked_of(kept),
                masked(kept) if self.keep_texts else None,
                refused[:200] if self.keep_texts else "",
                self.via,
                gate_of(refused) if refused else gate if isinstance(gate, str) else "",
                scores_in(answer),
                key=getattr(self._call, "key", ""),
            )
        )
        if outcome != UNANSWERED:
            self._call.key = ""

    @property
    def offered(self) -> Mapping[str, Tool]:
        """The tools that this client has, by name: without those that write where it may only read."""
        tools = self.tools
        if tools is None:
            from memtui.mcp.tools.registry import all_tools

            tools = all_tools()
        return {tool.name: tool for tool in tools if self.writable or not tool.writes}

    @property
    def can_store(self) -> bool:
        """Whether memory_store is among the tools of this client; loads none of memtui's own."""
        return self.writable if self.tools is None else "memory_store" in self.offered

    def named_tools(self, *names: str) -> str:
        """Those of the tools that this client has, to be named in a sentence; empty where it has none of them."""
        return " or ".join(name for name in names if name in self.offered)

    @property
    def paused(self) -> bool:
        """Whether a person paused this client."""
        known = self.register.named(self.client) if self.register is not None else None
        return known is not None and known.paused

    def close(self) -> None:
        """Close the store; the next call opens it again."""
        with self.lock:
            if self._engine is not None:
                self._engine.close()
                self._engine = None

    # ------------------------------------------------------------------ scopes

    @property
    def reach(self) -> ClientReach:
        """What the client may read and write here: never more than the store's own rules give its agent."""
        engine = (
            self._engine or self.engine
        )  # rules and columns hold for every version: no look for a newer one
        access = engine.access
        block = (self.config or {}).get("scopes")
        if isinstance(block, Mapping) and isinstance(access, ScopePolicy):
            access = ScopePolicy.from_config(block, engine.environ)
        return ClientReach(engine.store.dialect, access, self.agent, self.reads, self.writes)

    def scope_of(self, memory: Memory) -> str | None:
        """A memory's scope as the client is told."""
        return self.reach.scope_of(memory)

    def listed(self, filter: str = "") -> ListView:
        """The memories that a filter keeps, of those that the client may read: nothing else is counted."""
        from memtui.engine import ListQuery

        reach = self.reach
        scopes = reach.stored_scopes
        if (
            reach.limited
            and scopes is None
            and not reach.dialect.owned
            and GLOBAL not in (reach.scopes or ())
        ):
            scopes = ()  # one pool, which it may not read
        owners = reach.owners if reach.limited and reach.dialect.owned else None
        return self.engine.view(ListQuery(filter=filter, scopes=scopes, owners=owners, veiled=reach.limited))

    def readable(self, ids: Iterable[str | None]) -> set[str]:
        """Those of the ids that the client may read."""
        wanted = sorted({id for id in ids if id})
        found = self.engine.memories(wanted) if wanted else {}
        return {id for id, memory in found.items() if self.reach.may_read(memory)}

    def check_scope(self, scope: str | None) -> tuple[str, ...] | None:
        """The scopes to search for a given one. ToolError for one that the client may not read."""
        if scope is None:
            return self.reach.scopes
        self.check_named(scope, "scope")
        return (scope,)

    def check_named(self, scope: str, argument: str) -> None:
        """ToolError for a scope that the client may not read, and for one that is not there where it reads all."""
        reach = self.reach
        if not reach.may_name(scope):
            mine = ", ".join(reach.scopes or ()) or "none"
            raise ToolError(
                f"{argument}: {scope!r} is not one of yours. Leave it out, or use one of: {mine}."
            )
        if reach.scopes is None and reach.dialect.columns.scope is not None and not reach.dialect.owned:
            from memtui.engine import ListQuery

            known = [each for each, _ in self.engine.view(ListQuery()).facets.scopes if each]
            if scope not in (GLOBAL, *known):
                some = ", ".join(known[:MOST_NAMED]) + (", ..." if len(known) > MOST_NAMED else "")
                raise ToolError(
                    f"{argument}: no memory is in a scope {scope!r}. Leave it out, or use one of: {some or GLOBAL}."
                )

    def write_scope(self, scope: str | None) -> str:
        """The scope that a new memory goes to. ToolError for another than the client's own."""
        self.need_writable()
        reach = self.reach
        if refused := reach.refusal():
            raise ToolError(f"scope: {refused}. A person can grant it in the store's access rules.")
        if scope is None or scope == reach.home:
            return reach.home
        if reach.agent or reach.writes is not None:
            raise ToolError(f"scope: you write to {reach.home} only. Leave scope out.")
        return scope

    # ------------------------------------------------------------------ memories

    def memory(self, id: str, argument: str = "id") -> Memory:
        """The memory of a whole id. ToolError for one that is not there or that the client may not read: both alike."""
        engine = self.engine
        found = engine.memories([id]).get(id) if id else None
        if found is None or not self.reach.may_read(found):
            source = self.named_tools("memory_search", "memory_recall", "memory_list")
            raise ToolError(f"{argument}: there is no memory {id[:64]!r}. Take a whole id from {source}.")
        return found

    def own(self, memory: Memory) -> Memory:
        """The memory, if the client may change it. ToolError else."""
        self.need_writable()
        reach = self.reach
        if not reach.may_write(memory):
            raise ToolError(
                f"id: {memory.id} is in {reach.scope_of(memory)}, which you may read and not change. "
                "Store a memory of your own with memory_store."
            )
        return memory

    def need_writable(self) -> None:
        """ToolError where this client may only read."""
        if not self.writable:
            raise ToolError(f"This {self.why_read_only}.")

    @property
    def why_read_only(self) -> str:
        """Whose rights keep a client from writing, and how a person changes that."""
        if self.writes == "":  # the server may write, and its owner lets this client read alone
            name = self.client.removeprefix("mcp:")
            return (
                "client may only read. A person can revoke it and add it again with the right to write: "
                f"memtui clients revoke {name}, memtui clients add {name}"
            )
        return "server is read-only. A person can start it with --rw"

    def block(self, question: str, session: str = "", *, count: bool = False) -> Given:
        """What would be put before a prompt for this client.

        With a `session` what its last prompts got is held back, and this turn is noted; with `count` the use of each
        memory is counted in the store, too.
        """
        from memtui.engine import explain
        from memtui.engine.capture import note_block, session_block

        if count:
            self.need_writable()
        trace, key = self.recall(question, None, None, None, hook=True), f"{self.client}:{session}"
        turn = session_block(self.engine, trace, key) if session else None
        made, reach = explain.injected(trace) if turn is None else turn.block, self.reach
        parts = [part for part in made.parts if part.line]
        mine = [part for part in parts if reach.may_read(trace.memories[part.id])]
        text, why = made.block, made.why_nothing
        if len(mine) < len(parts):
            text = untrusted([shown(trace.memories[each.id]) for each in mine]) if mine else ""
            why = "" if mine else "nothing that you may read"
        ids = tuple(each.id for each in mine)
        if turn is not None:
            with self.lock:
                note_block(self.engine, turn, self.agent, key, ids=ids, count=count)
        documents = self.documents(trace)
        if documents is not None and documents.block:
            text = f"{text}\n{documents.block}" if text else documents.block
        return Given(text, ids, why, failed=trace.failure is not None)

    def documents(self, trace: Trace, scope: str | None = None) -> Consulted | None:
        """What the store's documents say where the memories of this client are few.

        They are shared: a client that may not read `global` gets none.
        """
        from memtui.engine.documents import consult

        reach = self.reach
        if reach.scopes is not None and GLOBAL not in reach.scopes:
            return None
        home = reach.home if reach.limited else ""
        return consult(
            self.engine, trace, scope=scope or "", home=home, config=self.config, veiled=reach.limited
        )

    def recall(
        self, query: str, limit: int | None, scope: str | None, category: str | None, *, hook: bool = False
    ) -> Trace:
        """The store's own recall for this client; by words where its recall asks by meaning only and cannot.

        `hook` asks as the program's own hook before a prompt does. `limit` None leaves it to the recipe.
        """
        from memtui.engine.recall import recipe_named

        if not query.strip():
            raise ToolError("query: describe in a few words what you look for.")
        engine = self.engine
        recipe, request = recipe_named(engine.default_recipe), self.request(query, limit, scope, category)
        owners = request.owners
        if recipe.own_rows and len(owners) > 1:  # it asks for one agent alone, and several were granted
            return engine.recall(replace(request, recipe="memtui", config=None))
        if hook:
            request = replace(request, before_prompt=True, source=recipe.hook or request.source)
        try:
            return engine.recall(request)
        except MemtuiError as error:
            if not recipe.by_meaning:
                raise
            trace = engine.recall(replace(request, recipe="memtui", config=None))
            return replace(trace, warnings=(f"{error.message} Found by keyword search instead.",))

    def request(
        self, query: str, limit: int | None = None, scope: str | None = None, category: str | None = None
    ) -> RecallRequest:
        """A question by the store's own recipe, to what this client may read."""
        from memtui.engine import RecallRequest
        from memtui.engine.recall import recipe_named

        engine = self.engine
        recipe = recipe_named(engine.default_recipe)
        scopes = self.check_scope(scope)
        dialect, reach = engine.store.dialect, self.reach
        if dialect.columns.scope is None or (dialect.owned and scope in (None, *(reach.scopes or ()))):
            scopes = None  # the recipe itself asks as the agent
        owners = reach.owners if reach.limited else ()
        if scope is not None and (named := split_scope(scope)) and named[0] == "agent" and named[1] in owners:
            owners = (named[1],)
        return RecallRequest(
            query,
            recipe=recipe.name,
            config=self.config,
            scopes=scopes,
            category=category,
            limit=limit,
            agent=self.agent or (owners[0] if owners else DEFAULT_AGENT if recipe.of_agent else ""),
            owners=owners,
            own_words=reach.limited,
        )

    def untold(self, trace: Trace) -> bool:
        """Whether the scores of a recall count words of rows that the client may not read: they are not told then.

        A large table's words are counted by the library, over all that the table holds.
        """
        return self.reach.limited and trace.outside is not None and trace.outside.words_of_others

    def case_book(self) -> CaseBook:
        """The saved cases of this store. ToolError where the server keeps none."""
        if self.cases is None:
            raise ToolError("This server keeps no cases.")
        return self.cases(self.engine)

    # ------------------------------------------------------------------ confirming

    def token(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """A new token that confirms this very call, once."""
        with self.lock:
            token = secrets.token_urlsafe(12)
            self._tokens[token] = _key(tool, arguments)
            while len(self._tokens) > MOST_TOKENS:
                del self._tokens[next(iter(self._tokens))]
            return token

    def spend(self, token: str) -> None:
        """Make a token worthless: the person said no."""
        with self.lock:
            self._tokens.pop(token, None)

    def take_token(self, token: str, tool: str, arguments: Mapping[str, Any]) -> None:
        """Use a token up. ToolError for one that is unknown, used, or for other arguments: it is spent then, too."""
        with self.lock:
            if self._tokens.pop(token, None) != _key(tool, arguments):
                raise ToolError(
                    "confirm: this token is not for these arguments, or it was used. "
                    f"Call {tool} without confirm, look at the preview, and repeat with its token."
                )


def _key(tool: str, arguments: Mapping[str, Any]) -> str:
    """A digest: what is waiting to be confirmed is not kept in words."""
    told = {name: value for name, value in arguments.items() if name != "confirm" and value is not None}
    text = json.dumps([tool, told], sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def shown(memory: Memory) -> str:
    """A memory's text as it goes out: no control characters, bounded."""
    return outgoing(memory.raw_text)


def outgoing(stored: str) -> str:
    """A stored text as it goes out: no control characters, bounded."""
    text = clean(stored)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def fitting(sizes: Iterable[int]) -> int:
    """How many of the first things one answer has room for, by their sizes in bytes: one at the least."""
    left, count = MOST_BYTES, 0
    for size in sizes:
        left -= size
        if left < 0 and count:
            break
        count += 1
    return count


def shared_out(texts: Sequence[str]) -> list[str]:
    """Texts for one answer: where all of them are too long for it, the longest are cut to one length."""
    sizes = [len(text.encode()) for text in texts]
    left, waiting = MOST_BYTES - BESIDE_BYTES * len(texts), len(texts)
    for size in sorted(sizes):
        if size > left // waiting:
            return [cut_to(text, left // waiting) for text in texts]
        left, waiting = left - size, waiting - 1
    return list(texts)


def cut_to(text: str, size: int) -> str:
    """The text, or as much of it as has room in so many bytes of UTF-8."""
    held = text.encode()
    return text if len(held) <= size else held[: size - 3].decode(errors="ignore") + "…"


def untrusted(lines: Sequence[str], note: str = "") -> str:
    """Texts of memories for a model, marked as data: what stands in them orders nothing."""
    if not lines:
        return note or "untrusted memories: none"
    return f"{HEAD}\n{fenced(chr(10).join(lines))}" + (f"\n{note}" if note else "")


def allowed_by(right: str) -> str:
    """How the journal names the right of an owner by which a client did something without a question."""
    return f"--allow {right}"


def usage(error: Exception) -> ToolError:
    """An engine's error as something that a model can act on."""
    fix = getattr(error, "fix", "")
    message = getattr(error, "message", str(error))
    return ToolError(f"{message} {fix}".strip())


__all__ = ["Door", "ToolError", "UsageError", "shown", "untrusted", "usage"]
