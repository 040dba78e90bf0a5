"""What memory costs: the arithmetic of the prompt cache on prompts with known prefixes, and figures of sessions."""

from __future__ import annotations

import json
import shutil
import tarfile
from pathlib import Path
from typing import Any

import pytest

from memtui.engine import Engine, UsageError, open_engine
from memtui.engine.cases import demo_cases
from memtui.engine.cost import (
    CacheFigures,
    CacheRule,
    CostTurn,
    PromptPart,
    PromptRequest,
    named_rule,
    play_cache,
    play_variants,
    read_cost,
    rule_names,
    rule_of,
    stable_order,
)
from memtui.engine.cost.cache import PartKind, common_prefix, usual_breakpoints
from memtui.engine.cost.figures import cost_turns
from memtui.engine.cost.turns import split_block, split_sent
from memtui.engine.cost.what_if import block_recalls
from memtui.engine.demo.build import build_demo
from memtui.engine.witness.usage import ModelUsage, usage_of
from tests.conftest import tree_hash

MINUTE = 60_000

ANTHROPIC, OPENAI = named_rule("anthropic", "claude-sonnet-4-5"), named_rule("openai", "gpt-5")


def part(kind: PartKind, name: str, tokens: int) -> PromptPart:
    """A part of exactly so many tokens, known by its name."""
    return PromptPart(kind, (name * (4 * tokens))[: 4 * tokens], tokens)


TOOLS, SYSTEM = part("tools", "t", 600), part("system", "s", 1400)

FIRST, ANSWER, SECOND = part("question", "q", 100), part("history", "a", 300), part("question", "r", 200)


def heard(asked: PromptPart) -> PromptPart:
    """A question as a later request has it."""
    return PromptPart("history", asked.text, asked.tokens)


def play(rule: CacheRule, *requests: tuple[int, list[PromptPart]]) -> list[CacheFigures]:
    return play_cache([PromptRequest(at * MINUTE, tuple(parts)) for at, parts in requests], rule)


# Anthropic: written at breakpoints, found by looking back from them


def test_the_first_request_is_written_and_the_next_one_reads_what_both_begin_with() -> None:
    turns = play(
        ANTHROPIC,
        (0, [TOOLS, SYSTEM, FIRST]),
        (4, [TOOLS, SYSTEM, heard(FIRST), ANSWER, SECOND]),
    )
    assert turns == [CacheFigures(0, 2100, 0), CacheFigures(2100, 500, 0)]
    assert turns[0].weighed(ANTHROPIC) == pytest.approx(2100 * 1.25)
    assert turns[1].weighed(ANTHROPIC) == pytest.approx(2100 * 0.1 + 500 * 1.25)


def test_an_entry_dies_after_five_minutes_and_a_read_makes_it_young_again() -> None:
    parts = [TOOLS, SYSTEM, FIRST]
    assert [turn.read for turn in play(ANTHROPIC, (0, parts), (5, parts))] == [0, 0]
    assert [turn.read for turn in play(ANTHROPIC, (0, parts), (4, parts), (8, parts))] == [0, 2100, 2100]
    hour = named_rule("anthropic", "claude-sonnet-4-5", "1h")
    assert [turn.read for turn in play(hour, (0, parts), (59, parts), (118, parts), (178, parts))] == [
        0,
        2100,
        2100,
        0,
    ]
    assert CacheFigures(0, 100, 0).weighed(hour) == 200


def test_below_the_minimum_nothing_is_cached_and_a_longer_prefix_of_the_same_request_is() -> None:
    short = [part("system", "s", 900), part("question", "q", 123)]
    assert play(ANTHROPIC, (0, short), (1, short)) == [CacheFigures(0, 0, 1023)] * 2
    enough = [part("system", "s", 900), part("question", "q", 124)]
    assert play(ANTHROPIC, (0, enough), (1, enough)) == [CacheFigures(0, 1024, 0), CacheFigures(1024, 0, 0)]
    # the system prompt alone is too short to be found again, so another question behind it reads nothing
    other = [part("system", "s", 900), part("question", "z", 124)]
    assert play(ANTHROPIC, (0, enough), (1, other))[1] == CacheFigures(0, 1024, 0)


def test_each_model_has_the_minimum_that_the_page_names() -> None:
    minimums = {
        "claude-sonnet-4-5-20250929": 1024,
        "claude-opus-4.6": 4096,
        "claude-opus-4-7": 2048,
        "claude-haiku-4-5": 4096,
        "claude-3-5-haiku-latest": 2048,
        "claude-fable-5": 512,
        "claude-opus-4-8": 1024,
    }
    for model, minimum in minimums.items():
        rule = rule_of("anthropic", model)
        assert rule is not None
        assert rule.minimum == minimum, model
        assert rule.source.startswith("https://")
        assert len(rule.read) == 10
    assert rule_of("fake", "claude-opus-4-6") is None
    assert rule_names() == ("anthropic", "openai")
    with pytest.raises(UsageError, match="No rule is named"):
        named_rule("acme")
    with pytest.raises(UsageError, match="publishes no lifetime of 2h"):
        named_rule("anthropic", "", "2h")


def test_another_list_of_tools_loses_everything_behind_it() -> None:
    turns = play(
        ANTHROPIC,
        (0, [TOOLS, SYSTEM, FIRST]),
        (1, [part("tools", "u", 600), SYSTEM, heard(FIRST), ANSWER, SECOND]),
    )
    assert turns[1] == CacheFigures(0, 2600, 0)


def test_a_block_that_changes_in_front_loses_the_history_and_at_the_end_only_itself() -> None:
    def block(name: str, kind: PartKind) -> PromptPart:
        return PromptPart(kind, name * 200, 50, memory=True)

    said = [heard(FIRST), ANSWER]
    front = play(
        ANTHROPIC,
        (0, [TOOLS, SYSTEM, block("m", "system"), *said, FIRST]),
        (1, [TOOLS, SYSTEM, block("n", "system"), *said, SECOND]),
    )
    end = play(
        ANTHROPIC,
        (0, [TOOLS, SYSTEM, *said, block("m", "question"), FIRST]),
        (1, [TOOLS, SYSTEM, *said, block("n", "question"), SECOND]),
    )
    assert front[1] == CacheFigures(0, 2650, 0)  # the tools alone are shorter than the minimum
    assert end[1] == CacheFigures(2400, 250, 0)


def test_only_prefixes_that_a_breakpoint_ended_are_found_and_twenty_places_back_at_most() -> None:
    def grown(more: int) -> tuple[PromptPart, ...]:
        return (SYSTEM, *(part("history", chr(0x4E00 + place), 10) for place in range(more)))

    def marked(at: int, parts: tuple[PromptPart, ...], *places: int) -> PromptRequest:
        return PromptRequest(at, parts, places)

    near = play_cache([marked(0, grown(0), 0), marked(1, grown(19), 19)], ANTHROPIC)
    far = play_cache([marked(0, grown(0), 0), marked(1, grown(20), 20)], ANTHROPIC)
    both = play_cache([marked(0, grown(0), 0), marked(1, grown(20), 0, 20)], ANTHROPIC)
    assert [turns[1].read for turns in (near, far, both)] == [1400, 0, 1400]
    # the entry ends with a question that the next request does not have: nothing before it was ever written
    unmarked = play_cache(
        [marked(0, (TOOLS, SYSTEM, FIRST), 2), marked(1, (TOOLS, SYSTEM, SECOND), 2)], ANTHROPIC
    )
    assert unmarked[1].read == 0
    # a fifth breakpoint does not count: the first of them goes
    five = marked(0, grown(5), 0, 1, 2, 3, 4)
    assert play_cache([five, marked(1, grown(0), 0)], ANTHROPIC)[1].read == 0
    assert usual_breakpoints((TOOLS, SYSTEM, ANSWER, FIRST), 4) == (0, 1, 2, 3)


# OpenAI: the longest prefix, from 1,024 tokens in steps of 128


def test_openai_reads_whole_steps_of_the_longest_prefix_and_writes_for_nothing() -> None:
    turns = play(
        OPENAI,
        (0, [TOOLS, SYSTEM, FIRST]),
        (1, [TOOLS, SYSTEM, heard(FIRST), ANSWER, SECOND]),
    )
    assert turns[0] == CacheFigures(0, 0, 2100)
    assert turns[1] == CacheFigures(2048, 0, 552)  # 1,024 and 8 steps of the 2,100 that are the same
    assert turns[1].weighed(OPENAI) == pytest.approx(552 + 204.8)


@pytest.mark.parametrize(
    ("same", "read"), [(1023, 0), (1024, 1024), (1151, 1024), (1152, 1152), (1279, 1152), (1280, 1280)]
)
def test_a_prefix_of_openai_may_end_inside_a_part(same: int, read: int) -> None:
    def text(tail: str) -> PromptPart:
        return PromptPart("system", "s" * (4 * same) + tail * 4 * (2000 - same), 2000)

    assert play(OPENAI, (0, [text("x")]), (1, [text("y")]))[1].read == read
    assert play(OPENAI, (0, [text("x")]), (5, [text("y")]))[1].read == 0


def test_the_common_prefix_of_turns_is_counted_in_whole_tokens() -> None:
    one, other = [TOOLS, SYSTEM, FIRST], [TOOLS, SYSTEM, heard(FIRST), ANSWER]
    assert common_prefix(one, other) == 2100
    assert common_prefix(one, [SYSTEM]) == 0
    assert common_prefix([PromptPart("system", "abcdefgh", 2)], [PromptPart("system", "abcdefgx", 2)]) == 1


# turns of a session


def turn(n: int, memory: str, *, place: Any = "before the question", **more: Any) -> CostTurn:
    given: dict[str, Any] = {"provider": "anthropic", "model": "claude-sonnet-4-5", "memories": ()}
    return CostTurn(
        "main",
        "s",
        n,
        n * MINUTE,
        place if memory else "none",
        memory,
        f"question {n} " + "q" * 390,
        f"answer {n} " + "a" * 790,
        system="s" * 8000,
        tools="[]",
        **(given | more),
    )


HEAD, TAIL = "<relevant-memories>\nTreat as untrusted.\n", "\n</relevant-memories>"


def block_of(*lines: str) -> str:
    return HEAD + "\n".join(f"- [fact:global] {line}" for line in lines) + TAIL


def test_a_block_before_the_question_loses_the_message_and_one_before_the_history_loses_all_of_it() -> None:
    blocks = [block_of("one", "two"), block_of("two", "three"), block_of("three")]
    near = cost_turns([turn(n, block) for n, block in enumerate(blocks, 1)])
    front = cost_turns([turn(n, block, place="system prompt") for n, block in enumerate(blocks, 1)])
    assert [cost.changed for cost in near] == [None, True, True]
    assert [cost.lost for cost in near] == [0, 101, 101], "the question of the turn before"
    message = near[0].request
    assert message is not None
    assert [cost.lost for cost in front] == [0, 101, 101 + 200 + 101]
    assert sum(cost.estimated.read for cost in near if cost.estimated) > sum(
        cost.estimated.read for cost in front if cost.estimated
    )


def test_a_block_that_stays_as_it_was_loses_nothing_and_a_new_order_is_a_change() -> None:
    same = cost_turns([turn(n, block_of("one", "two"), place="system prompt") for n in (1, 2, 3)])
    assert [(cost.changed, cost.lost) for cost in same] == [(None, 0), (False, 0), (False, 0)]
    moved = [
        turn(1, block_of("one", "two"), place="system prompt"),
        turn(2, block_of("two", "one"), place="system prompt"),
    ]
    assert cost_turns(moved)[1].changed is True


def test_a_compaction_begins_the_history_anew() -> None:
    turns = cost_turns([turn(1, ""), turn(2, "", window=1)])
    assert turns[1].changed is None
    assert turns[1].request is not None
    assert [part.kind for part in turns[1].request.parts] == ["tools", "system", "question"]


def test_a_provider_without_a_known_rule_has_no_estimate_unless_one_is_assumed() -> None:
    unknown = [turn(n, block_of("one"), provider="fake", model="fake-chat") for n in (1, 2)]
    assert [cost.estimated for cost in cost_turns(unknown)] == [None, None]
    assumed = cost_turns(unknown, assume="anthropic")[1].estimated
    assert assumed is not None
    assert assumed.read > 0
    unrecorded = [turn(n, "", provider="anthropic") for n in (1, 2)]
    lost = [CostTurn("main", "s", 1, 0, "not recorded", provider="anthropic"), *unrecorded]
    assert cost_turns(lost)[0].estimated is None


def test_what_was_measured_stands_beside_the_estimate_and_never_in_its_place() -> None:
    usage = (ModelUsage(10, 5, 1800, 300, "anthropic", "claude-sonnet-4-5"), ModelUsage(7, 5, 2100, 0))
    cost = cost_turns([turn(1, block_of("one"), usage=usage)])[0]
    assert cost.measured == CacheFigures(3900, 300, 17)
    assert cost.estimated is not None
    document = cost.as_json()["cache"]
    assert document["measured"]["label"] == "measured"
    assert document["estimated"]["label"] == "estimated"
    assert cost_turns([turn(1, "", usage=(ModelUsage(10, 5),))])[0].measured is None, "it carries no cache"


@pytest.mark.parametrize(
    ("message", "usage"),
    [
        (
            {
                "usage": {"input": 6593, "output": 1, "cacheRead": 0, "cacheWrite": 0},
                "provider": "p",
                "model": "m",
            },
            ModelUsage(6593, 1, 0, 0, "p", "m"),
        ),
        (
            {
                "model": "claude-opus-4-6",
                "usage": {
                    "input_tokens": 3,
                    "output_tokens": 9,
                    "cache_creation_input_tokens": 8885,
                    "cache_read_input_tokens": 20,
                },
            },
            ModelUsage(3, 9, 20, 8885, "", "claude-opus-4-6"),
        ),
        (
            {
                "usage": {
                    "prompt_tokens": 2006,
                    "completion_tokens": 300,
                    "prompt_tokens_details": {"cached_tokens": 1920},
                }
            },
            ModelUsage(86, 300, 1920, None),
        ),
        ({"usage": {"input_tokens": 12, "output_tokens": 4}}, ModelUsage(12, 4, None, None)),
        ({"usage": {"input": "many"}}, None),
        ({"usage": {"input": True, "output": -1}}, None),
        ({}, None),
    ],
)
def test_the_usage_of_each_host_is_read_and_nothing_is_made_up(message: dict[str, Any], usage: Any) -> None:
    assert usage_of(message) == usage


def test_a_message_is_taken_apart_by_what_the_history_keeps() -> None:
    block = block_of("one")
    assert split_sent(f"{block}\n\nwhich port?", "which port?") == (
        "before the question",
        block,
        "which port?",
        False,
    )
    assert split_sent(f"which port?\n\n{block}", "which port?")[:2] == ("after the question", block)
    assert split_sent(f"{block}\n\nwhich port?", f"{block}\n\nwhich port?") == (
        "before the question",
        block,
        "which port?",
        True,
    )
    assert split_sent("which port?", "which port?") == ("none", "", "which port?", True)
    assert split_sent(None, "which port?")[0] == "not recorded"
    assert split_sent("[Thu 18:21] which port?", "which port?")[0] == "none", (
        "the host's own words are no memory"
    )


# other forms of the block


def test_the_stable_order_is_the_same_set_with_the_old_ones_in_their_places() -> None:
    assert stable_order(["a", "b", "c"], ["d", "c", "a"]) == ["a", "c", "d"]
    assert stable_order([], ["d", "c"]) == ["d", "c"]
    assert stable_order(["a"], []) == []


def test_each_form_is_played_on_the_same_turns_and_says_that_it_is_hypothetical(tmp_path: Path) -> None:
    from memtui.engine.cost import CostReport

    orders = [("one", "two"), ("two", "one"), ("two", "one"), ("one", "two", "three")]
    turns = [turn(n, block_of(*lines), place="system prompt") for n, lines in enumerate(orders, 1)]
    report = CostReport(0, 1, tuple(cost_turns(turns)))
    found = play_variants(report, items=1, repeat=3, recalls={1: 0.5, 3: 1.0}, cases=2, most_items=3)
    by_name = {variant.name: variant for variant in found.variants}
    recorded, stable = by_name["as recorded"], by_name["stable order"]
    assert stable.tokens == recorded.tokens
    assert stable.cache.read > recorded.cache.read
    assert stable.price < recorded.price
    assert by_name["at most 1 item"].tokens < recorded.tokens
    assert by_name["at most 1 item"].recall == 0.5
    assert stable.recall == recorded.recall == 1.0
    rarer = by_name["no repeat within 3 turns"]
    assert rarer.tokens < recorded.tokens
    assert rarer.recall is None
    assert "one question" in rarer.why
    assert {variant.as_json()["label"] for variant in found.variants} == {"hypothetical"}


def test_a_numbered_block_is_numbered_anew() -> None:
    block = split_block("<relevant-memories>\nuntrusted\n1. [fact] one\n2. [fact] two\n</relevant-memories>")
    assert block is not None
    assert block.joined(reversed(block.lines)).split("\n")[2:4] == ["1. [fact] two", "2. [fact] one"]
    assert block.joined([]) == ""
    assert split_block("<relevant-memories>\nno line\n</relevant-memories>") is None


# recorded homes


def recorded(shared: Path, name: str, place: Path) -> Path:
    with tarfile.open(shared / "fixtures" / "openclaw" / f"{name}.tar.gz") as archive:
        archive.extractall(place, filter="data")
    return place / name


def opened(store: Path, home: Path, state: Path) -> Engine:
    return open_engine(store, now=lambda: LATER, environ={"HOME": str(home)}, cwd=home, state=state)


LATER = 1_795_900_000_000


@pytest.mark.parametrize(("name", "table"), [("lancedb", "lancedb"), ("pro", "lancedb-pro")])
def test_recorded_homes_say_what_they_took_and_where_the_block_stood(
    name: str, table: str, shared: Path, tmp_path: Path
) -> None:
    home = recorded(shared, name, tmp_path)
    before = tree_hash(home)
    with opened(home / ".openclaw" / "memory" / table, home, tmp_path / "state") as engine:
        plain = read_cost(engine, engine.environ, home)
        assumed = read_cost(engine, engine.environ, home, assume="anthropic")
    total = plain.total
    assert total.turns == total.measured_turns > 0
    assert total.measured.read == 0, "no recorded session has a cache read above 0"
    assert total.measured.fresh > 10_000
    assert total.estimated_turns == 0, "the model server has no published rule"
    assert plain.as_json()["total"]["cache"]["measured"]["label"] == "measured"
    assert total.places["before the question"] > 0
    assert total.tokens > 0
    assert 0 <= total.used <= total.judged
    assert plain.memories()[0].tokens >= plain.memories()[-1].tokens
    assert assumed.total.estimated.read > 0
    assert assumed.total.lost < assumed.total.head
    assert sum(day.sum.turns for day in plain.days()) == total.turns
    assert tree_hash(home) == before
    one = next(cost.turn.session for cost in plain.turns)
    with opened(home / ".openclaw" / "memory" / table, home, tmp_path / "state") as engine:
        alone = read_cost(engine, engine.environ, home, session=one)
        assert {cost.turn.session for cost in alone.turns} == {one}
        with pytest.raises(UsageError, match="No session has an id"):
            read_cost(engine, engine.environ, home, session="nowhere")


def write_lines(path: Path, values: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps(value) + "\n" for value in values), encoding="utf-8")


@pytest.fixture
def home(shared: Path, tmp_path: Path) -> Path:
    """A home with one session of Claude Code and one of Codex, beside a recorded store."""
    made = recorded(shared, "lancedb", tmp_path)
    shutil.rmtree(made / ".openclaw" / "agents")
    claude = "claude-sonnet-4-5"

    def reply(name: str, text: str, **usage: int) -> dict[str, Any]:
        return {
            "type": "assistant",
            "timestamp": "2026-11-26T10:00:20Z",
            "message": {
                "id": name,
                "role": "assistant",
                "model": claude,
                "content": [{"type": "text", "text": text}],
                "usage": usage,
            },
        }

    def asked(text: str, minute: int) -> dict[str, Any]:
        return {
            "type": "user",
            "timestamp": f"2026-11-26T10:0{minute}:00Z",
            "message": {"role": "user", "content": text},
        }

    block = "<relevant-memories>\nuntrusted\n1. [fact] The Heron relay listens on port 9443.\n</relevant-memories>"
    attached = {"type": "attachment", "attachment": {"type": "hook_additional_context", "content": [block]}}
    figures = {"input_tokens": 4, "output_tokens": 7, "cache_creation_input_tokens": 9000}
    write_lines(
        made / ".claude" / "projects" / "-work" / "0c1d.jsonl",
        [
            asked("which port?", 0),
            attached,
            reply(
                "m1", "It listens on port 9443, the Heron relay does.", cache_read_input_tokens=0, **figures
            ),
            reply("m1", "More of the same reply.", cache_read_input_tokens=0, **figures),
            {"type": "user", "isSidechain": True, "message": {"role": "user", "content": "a sub-agent"}},
            asked("and the time?", 1),
            reply(
                "m2",
                "Noon.",
                **(figures | {"cache_read_input_tokens": 9000, "cache_creation_input_tokens": 60}),
            ),
        ],
    )
    spent = {"input_tokens": 2000, "cached_input_tokens": 1920, "output_tokens": 10}

    def count(total: int) -> dict[str, Any]:
        info = {"total_token_usage": {"total_tokens": total}, "last_token_usage": spent}
        return {"type": "event_msg", "payload": {"type": "token_count", "info": info}}

    write_lines(
        made / ".codex" / "sessions" / "2026" / "11" / "26" / "rollout-2026-11-26T10-00-00-ab.jsonl",
        [
            {"type": "turn_context", "payload": {"model": "gpt-5-codex"}},
            {
                "type": "event_msg",
                "timestamp": "2026-11-26T10:00:00Z",
                "payload": {"type": "user_message", "message": "hello"},
            },
            count(1),
            count(1),
            count(2),
        ],
    )
    return made


def test_claude_code_and_codex_are_measured_once_for_each_reply(home: Path, tmp_path: Path) -> None:
    with opened(home / ".openclaw" / "memory" / "lancedb", home, tmp_path / "state") as engine:
        report = read_cost(engine, engine.environ, home)
        only = read_cost(engine, engine.environ, home, agent="codex")
    first, second = (cost for cost in report.turns if cost.turn.agent == "claude")
    assert first.measured == CacheFigures(0, 9000, 4)
    assert second.measured == CacheFigures(9000, 60, 4)
    assert first.turn.place == "after the question"
    assert first.turn.memories is not None
    assert [(bool(memory.id), memory.used) for memory in first.turn.memories] == [(True, True)]
    assert second.turn.place == "none"
    (codex,) = only.turns
    assert codex.measured == CacheFigures(3840, 0, 160), "two calls; an event that is told again is none"
    assert codex.turn.place == "not recorded"
    assert only.total.as_json()["injected_tokens"] is None


def test_the_recall_of_a_shorter_block_is_measured_on_the_cases(tmp_path: Path) -> None:
    build_demo(tmp_path / "demo", now_ms=LATER)
    cases = [case for case in demo_cases(LATER) if case.expected]
    with opened(tmp_path / "demo", tmp_path, tmp_path / "state") as engine:
        recalls, asked, today = block_recalls(engine, cases, [1, 3])
        assert block_recalls(engine, [case for case in demo_cases(LATER) if not case.expected], [1]) == (
            {},
            0,
            0,
        )
    assert asked == len(cases) > 3
    assert today == 3
    assert 0 < recalls[1] <= recalls[3] <= 1
    assert recalls[1] < recalls[3], "some case expects more than one memory, or one behind the first"
