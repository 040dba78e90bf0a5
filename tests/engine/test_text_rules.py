"""The rules that read a question or a memory: noise, gate, expansion, tags, intent, scopes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtui.engine.access import ScopePolicy
from memtui.engine.core.content_rules import false_positive, is_envelope, noise_rule
from memtui.engine.core.errors import ConfigError, UsageError
from memtui.engine.recall.recipes.pro.prompt_block import format_at_depth
from memtui.engine.recall.recipes.pro.question import (
    BROAD,
    MOST_WORDS,
    analyse,
    boost,
    expand,
    plain_question,
    skip_rule,
    tag_tokens,
)

quick = settings(max_examples=60, deadline=None, database=None)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("ok", "short"),
        ("I dont have any record of it", "denial"),
        ("No relevant memories found", "denial"),
        ("Do you know about Leipzig?", "meta_question"),
        ("如果不知道，只回复none", "meta_question"),
        ("why do you keep forget", "meta_frustration"),
        ("Why are my memories missing", "meta_frustration"),
        ("Good morning everyone", "boilerplate"),
        ("query -> not found", "diagnostic"),
        ("Got it, thanks", None),
        ("I don’t recall the port", None),
        ("The port is 6543.", None),
    ],
)
def test_noise_names_the_rule(text: str, rule: str | None):
    assert noise_rule(text) == rule


def test_a_class_switched_off_lets_the_next_rule_decide():
    text = "Hello, I don't recall. Do you remember?"
    assert noise_rule(text) == "denial"
    assert noise_rule(text, denials=False) == "meta_question"
    assert noise_rule(text, denials=False, meta=False) == "boilerplate"
    assert noise_rule(text, denials=False, meta=False, boilerplate=False) is None


@pytest.mark.parametrize(
    "text",
    [
        "High availability cluster runs in eu-west",
        "History of the project",
        "Hint: use port 8443",
        "Hello world program in Rust",
        "heartbeat interval is 30s",
        "New session token lifetime is 3600s",
        "Good morning routine: coffee first",
        "User said: I don't recall the port",
        "喜欢小猫",
    ],
)
def test_a_good_memory_taken_for_noise_is_a_known_mistake(text: str):
    assert noise_rule(text)
    assert false_positive(text)


@pytest.mark.parametrize(
    "text", ["hi team", "Hello!", "HEARTBEAT 04:00 idle", "ok", "I don't recall", "plain fact"]
)
def test_real_noise_and_plain_text_are_no_mistakes(text: str):
    assert false_positive(text) is None


phrases = st.lists(
    st.sampled_from(["i don't recall", "High ", "do you remember", "port 6543", "只回复 none", "x: ", "\n"]),
    max_size=4,
).map(" ".join)


@quick
@given(phrases | st.text())
def test_only_noise_can_be_a_mistake(text: str):
    assert not (false_positive(text) and noise_rule(text) is None)


def test_an_envelope_begins_a_line():
    assert is_envelope("hello\nSender (untrusted metadata): {}")
    assert not is_envelope("the Sender (untrusted metadata): block")


@pytest.mark.parametrize(
    ("query", "rule"),
    [
        ("do you recall it", None),
        ("weisst du noch", None),
        ("hey team, deploy status please", "greeting"),
        ("/deploy atlas", "slash_command"),
        ("git push origin main", "shell_command"),
        ("Thank you!", "confirmation"),
        ("continue", "go_ahead"),
        ("1 2 3 4 5 6", "emoji"),
        ("🚀 🚀 🚀", "emoji"),
        ("please ignore the heartbeat message", "heartbeat"),
        ("[System] restart", "system"),
        ("debug!", "ping"),
        ("a?", "short"),
        ("short text", "too_short"),
        ("short text?", None),
        ("数据库端口是多少", None),
        ("which merchants are pinned", None),
    ],
)
def test_the_gate_names_the_rule(query: str, rule: str | None):
    assert skip_rule(query) == rule


def test_the_hosts_minimum_overrides_the_threshold_for_chinese():
    assert skip_rule("数据库端口是多少", 15) == "too_short"
    assert skip_rule("short text", 5) is None
    assert skip_rule("short text", 0) == "too_short"


def test_the_gate_looks_behind_what_a_channel_adds():
    wrapped = "[cron:42 nightly] [Mon 2026-03-02 04:21 GMT+8] run the backup"
    assert plain_question(wrapped) == "run the backup"
    assert plain_question('Sender (untrusted metadata):\n{"name": "Mira"}\n\n\nok') == "ok"


@quick
@given(
    st.text(max_size=30) | st.sampled_from(["配置 oom deploy", "docker error config memory", "git push 日志"])
)
def test_expansion_only_appends_a_few_words(query: str):
    expanded = expand(query)
    assert expanded.startswith(query)
    assert len(expanded[len(query) :].replace("git push", "git-push").split()) <= MOST_WORDS


def test_expansion_on_worked_examples():
    assert expand("网关配置") == "网关配置 config configuration settings 设置"
    assert expand("room service") == "room service"


def test_a_tag_may_begin_inside_a_word():
    prefixes = ("proj", "env", "team", "scope")
    assert tag_tokens("curl http://myproj:8080/health", prefixes) == ["proj:8080"]
    assert tag_tokens("PROJ:a-b_c env:队", prefixes) == ["PROJ:a-b_c"]
    assert tag_tokens("proj:a", ()) == []


def test_the_intent_lifts_its_categories_and_caps_at_one():
    intent = analyse("my preference")
    lifted = boost([0.6, 0.55, 0.9], ["fact", "preference", "decision"], intent)
    assert [(at, round(score, 6)) for at, score in lifted] == [(2, 1.0), (1, 0.6325), (0, 0.6)]
    assert boost([0.1, 0.9], ["fact", "fact"], BROAD) == [(0, 0.1), (1, 0.9)]


@quick
@given(st.lists(st.tuples(st.floats(0, 1), st.sampled_from(["fact", "decision", "other"])), max_size=8))
def test_a_boost_reorders_and_never_lowers(rows: list[tuple[float, str]]):
    lifted = boost([score for score, _ in rows], [category for _, category in rows], analyse("why did we"))
    assert sorted(at for at, _ in lifted) == list(range(len(rows)))
    assert all(score >= rows[at][0] for at, score in lifted)
    assert [score for _, score in lifted] == sorted((score for _, score in lifted), reverse=True)


def test_a_line_for_a_prompt_ends_with_the_sentence():
    line = format_at_depth(
        "One. Two.", category="fact", scope="global", depth="l0", score=0.245, reranked=True
    )
    assert line == "- [fact] One. (25%, +reranked)"
    long = format_at_depth("x" * 400, category="fact", scope="global", depth="l1", score=1)
    assert long == f"- [fact:global] {'x' * 297}... (100%)"


def test_an_access_list_replaces_the_usual_scopes_but_never_the_own_reflections():
    policy = ScopePolicy.from_config({"agentAccess": {" ops ": ["global", "project:atlas"], "ghost": []}}, {})
    assert policy.accessible("ops") == ["global", "project:atlas", "reflection:agent:ops"]
    assert policy.store_filter("ghost") == ["reflection:agent:ghost"]
    assert policy.accessible(" main ") == ["global", "agent:main", "reflection:agent:main"]
    assert policy.default_write_scope(" main ") == "global"


def test_no_agent_and_reserved_agents_bypass_every_filter():
    policy = ScopePolicy()
    assert policy.store_filter(None) is None
    assert policy.store_filter("system") is None
    assert policy.is_accessible("agent:anyone", "undefined")
    with pytest.raises(UsageError):
        policy.default_write_scope("system")


def test_team_scopes_come_from_the_environment():
    policy = ScopePolicy.from_config(None, {"CLAWTEAM_MEMORY_SCOPE": " team-a , ,global"})
    assert policy.definitions == ("global", "team-a")
    assert policy.accessible("main")[-1] == "team-a"
    assert policy.is_valid("team-a")
    spaced = {"CLAWTEAM_MEMORY_SCOPE": "has blank"}
    with pytest.raises(ConfigError):
        ScopePolicy.from_config(None, spaced)
    assert ScopePolicy.from_config({"definitions": {"has blank": {}}}, spaced).team == ("has blank",)


@pytest.mark.parametrize("block", [{"default": "nowhere"}, {"agentAccess": {" system ": []}}])
def test_a_block_that_cannot_work_is_refused_with_its_key(block: dict[str, object]):
    with pytest.raises(ConfigError) as caught:
        ScopePolicy.from_config(block, {})
    assert caught.value.path.startswith("scopes.")
    assert caught.value.fix


@pytest.mark.parametrize("space", [" ", "  ", "\t", "\n", "\u00a0", "\u3000", "\ufeff"])
def test_any_white_space_stands_between_the_words_of_the_last_time_in_german(space: str):
    assert skip_rule(f"ok letztes{space}mal") is None
    assert skip_rule(f"letzten{space}mal") is None
