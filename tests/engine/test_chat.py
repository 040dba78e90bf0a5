"""The chat client against a real server on loopback: what it sends, mends, retries, counts and refuses."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memtui.engine import CancelToken, ConfigError, MemtuiError
from memtui.engine.core.errors import Cancelled
from memtui.engine.providers import codex
from memtui.engine.providers.chat import (
    HOUR_MS,
    ChatClient,
    ChatError,
    ChatSettings,
    HourBudget,
    direct_model_ref,
    reasoning_disabled,
)
from memtui.engine.providers.reply_json import extract_json, read_object, repair_json, whole_items
from tests.engine.loopback import DROP, Answer, Loopback, chat_answer, loopback

NOW = 1_788_264_000_000
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}


def client(server: Loopback, model: str = "small", **known: Any) -> ChatClient:
    budget = known.pop("budget", None)
    settings = ChatSettings(f"{server.url}/v1", model, "sk-very-secret", timeout_s=60, **known)
    return ChatClient(settings, now=lambda: NOW, budget=budget, sleep=lambda _: None)


def test_a_question_and_its_account() -> None:
    with loopback() as server, client(server) as chat:
        server.script = [chat_answer({"a": 1}, (812, 34))]
        reply = chat.ask("extract", "be brief", "what?", schema=SCHEMA)
        sent = server.requests[0]
    assert reply.value == {"a": 1}
    assert reply.text == '{"a": 1}'
    assert sent.path == "/v1/chat/completions"
    assert sent.key == "sk-very-secret"
    assert sent.body["temperature"] == 0.1
    assert [each["role"] for each in sent.body["messages"]] == ["system", "user"]
    assert sent.body["response_format"]["json_schema"]["schema"] == SCHEMA
    assert (reply.call.tokens, reply.call.tokens_in, reply.call.cost) == (846, 812, 0.0)
    assert chat.calls == [reply.call]
    assert reply.call.status == "answered"
    assert reply.call.structured


def test_a_service_that_knows_no_schema_is_asked_without_one() -> None:
    with loopback() as server, client(server) as chat:
        server.script = [
            Answer(400, {"error": {"message": "response_format is not supported"}}),
            chat_answer({"a": 1}),
            chat_answer({"a": 2}),
        ]
        first = chat.ask("extract", "s", "u", schema=SCHEMA)
        second = chat.ask("extract", "s", "u", schema=SCHEMA)
        bodies = [each.body for each in server.requests]
    assert first.value == {"a": 1}
    assert second.value == {"a": 2}
    assert not first.call.structured
    assert ["response_format" in body for body in bodies] == [True, False, False]
    assert first.call.attempts == 1


@pytest.mark.parametrize("bad", [Answer(500, {}), Answer(503, {}), Answer(429, {}), DROP])
def test_what_passes_is_asked_again(bad: Answer) -> None:
    waits: list[tuple[int, float]] = []
    with loopback() as server, client(server) as chat:
        server.script = [bad, bad, chat_answer({"a": 1})]
        reply = chat.ask("extract", "s", "u", on_wait=lambda n, why, s: waits.append((n, s)))
    assert reply.value == {"a": 1}
    assert reply.call.attempts == 3
    assert waits == [(1, 0.5), (2, 1.0)]


def test_a_service_says_how_long_to_wait() -> None:
    waits: list[float] = []
    with loopback() as server, client(server) as chat:
        server.script = [Answer(429, {}, {"Retry-After": "8"}), chat_answer({"a": 1})]
        chat.ask("extract", "s", "u", on_wait=lambda n, why, s: waits.append(s))
    assert waits == [8.0]


@pytest.mark.parametrize(("status", "asked"), [(500, 3), (429, 3), (401, 1), (404, 1)])
def test_a_failure_is_told_without_the_key(status: int, asked: int) -> None:
    with loopback() as server, client(server) as chat:
        server.script = [Answer(status, {"error": "no sk-very-secret here"})] * 3
        with pytest.raises(ChatError) as caught:
            chat.ask("extract", "s", "u")
        assert len(server.requests) == asked
    error = caught.value
    assert str(status) in error.message
    assert error.call.status == "failed"
    assert error.call.attempts == asked
    assert "sk-very-secret" not in f"{error} {error.details} {error.call}"


def test_a_service_that_is_silent_is_given_up() -> None:
    with loopback() as server:
        settings = ChatSettings(f"{server.url}/slow/v1", "small", timeout_s=1.5)
        chat = ChatClient(settings, now=lambda: NOW, attempts=2, sleep=lambda _: None)
        with chat, pytest.raises(ChatError, match="no answer within"):
            chat.ask("extract", "s", "u")
        assert len(server.requests) == 2


def test_a_stop_is_heard_while_a_model_thinks() -> None:
    cancel = CancelToken()
    with loopback() as server:
        settings = ChatSettings(f"{server.url}/slow/v1", "small", timeout_s=30)
        with ChatClient(settings, now=lambda: NOW) as chat:
            threading.Timer(0.2, cancel.cancel).start()
            with pytest.raises(Cancelled):
                chat.ask("extract", "s", "u", cancel=cancel)
        assert server.answered == [], "the model had not answered yet"


def test_an_answer_is_heard_as_it_comes() -> None:
    events = [
        {"choices": [{"delta": {"content": part}}]} for part in ('{"memories": [{"text"', ': "a"}', "]}")
    ]
    events.append({"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3}})
    body = "".join(f"data: {json.dumps(each)}\n\n" for each in events) + "data: [DONE]\n\n"
    heard: list[str] = []
    with loopback() as server, client(server) as chat:
        server.script = [Answer(200, body.encode(), {"Content-Type": "text/event-stream"})]
        reply = chat.ask("extract", "s", "u", on_text=heard.append)
        assert server.requests[0].body["stream"] is True
    assert reply.value == {"memories": [{"text": "a"}]}
    assert reply.call.tokens == 10
    assert heard
    assert heard[-1] == reply.text


def test_a_service_that_does_not_stream_answers_all_the_same() -> None:
    with loopback() as server, client(server) as chat:
        server.script = [chat_answer({"a": 1})]
        assert chat.ask("extract", "s", "u", on_text=lambda _: None).value == {"a": 1}


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        (chat_answer('<think>{"x":1}</think>```json\n{"a": 1}\n```'), {"a": 1}),
        (chat_answer('Sure! {"a": "say "hi" now",}'), {"a": 'say "hi" now'}),
        (chat_answer('{"a": "curly } inside"}'), {"a": "curly } inside"}),
        (chat_answer("", reasoning_content='{"a": 2}'), {"a": 2}),
        (chat_answer('{"memories": [{"a": 1}, {"b"'), None),
        (chat_answer("I will not."), None),
        (Answer(200, b"<html>proxy login</html>"), None),
        (Answer(200, {"choices": []}), None),
        (Answer(200, [1, 2]), None),
    ],
)
def test_whatever_is_answered_is_read_or_is_nothing(answer: Answer, value: Any) -> None:
    with loopback() as server, client(server) as chat:
        server.script = [answer]
        assert chat.ask("extract", "s", "u").value == value


def test_models_that_think_are_told_not_to_and_a_level_is_passed_on() -> None:
    with loopback() as server, client(server, "qwen3-8b", think_level=" low ") as chat:
        server.script = [chat_answer({})]
        chat.ask("extract", "s", "u")
        body = server.requests[0].body
    assert body["chat_template_kwargs"] == {"enable_thinking": False}
    assert body["reasoning"] == {"effort": "low"}


def test_a_price_makes_a_cost() -> None:
    settings = ChatSettings("https://api.example/v1", "m", price_in=0.15, price_out=0.6)
    with ChatClient(settings, now=lambda: NOW) as chat:
        assert chat._cost(1_000_000, 500_000) == pytest.approx(0.45)
        assert chat._cost(None, 5) is None
    assert not settings.local
    assert ChatSettings("http://127.0.0.1:11434/v1", "m").local


def test_the_hour_has_so_many_calls_and_no_more(tmp_path: Path) -> None:
    now = NOW
    budget = HourBudget(2, tmp_path / "calls.json")
    assert [budget.take(now), budget.take(now + 5), budget.take(now + 6)] == [True, True, False]
    assert budget.used(now + 6) == 2
    assert budget.next_ms(now + 6) == HOUR_MS - 6
    again = HourBudget(2, tmp_path / "calls.json")
    assert not again.take(now + 6)
    assert again.take(now + HOUR_MS)


def test_a_call_beyond_the_budget_is_not_sent() -> None:
    with loopback() as server, client(server, budget=HourBudget(1)) as chat:
        server.script = [chat_answer({"a": 1})]
        chat.ask("extract", "s", "u")
        with pytest.raises(ChatError, match="used up") as caught:
            chat.ask("decide", "s", "u")
        assert len(server.requests) == 1
    assert caught.value.call.status == "refused"
    assert [c.status for c in chat.calls] == ["answered", "refused"]


def test_an_address_that_is_none() -> None:
    with (
        pytest.raises(MemtuiError),
        ChatClient(ChatSettings("not an address", "m"), now=lambda: NOW) as chat,
    ):
        chat.ask("extract", "s", "u")


# ---------------------------------------------------------------------- the plugin's login


def test_the_login_is_read_and_never_written(tmp_path: Path) -> None:
    file = tmp_path / "oauth.json"
    login = {
        "access_token": "tok-1",
        "refresh_token": "r",
        "expires_at": NOW + 3_600_000,
        "account_id": "acc",
    }
    file.write_text(json.dumps(login))
    before = (file.read_bytes(), file.stat().st_mtime_ns)
    done = {"type": "response.output_text.done", "text": '{"a": 1}'}
    with loopback() as server:
        settings = ChatSettings(f"{server.url}/api", "openai/gpt-x", oauth_file=file)
        server.script = [Answer(200, f"data: {json.dumps(done)}\n\n".encode())]
        with ChatClient(settings, now=lambda: NOW) as chat:
            assert chat.ask("extract", "be brief", "u").value == {"a": 1}
        sent = server.requests[0]
    assert sent.path == "/api/codex/responses"
    assert sent.key == "tok-1"
    assert sent.body["model"] == "gpt-x"
    assert sent.body["store"] is False
    assert sent.body["stream"] is True
    assert sent.body["instructions"] == "be brief"
    assert (file.read_bytes(), file.stat().st_mtime_ns) == before


@pytest.mark.parametrize(
    "content",
    [
        None,
        "{",
        "[]",
        '{"access_token": ""}',
        json.dumps({"access_token": "tok-secret", "expires_at": NOW + 59_000}),
    ],
)
def test_a_login_that_is_of_no_use(tmp_path: Path, content: str | None) -> None:
    file = tmp_path / "oauth.json"
    if content is not None:
        file.write_text(content)
    with pytest.raises(ConfigError) as caught:
        codex.read_account(file, NOW)
    assert caught.value.fix
    assert "tok-secret" not in str(caught.value)


# ---------------------------------------------------------------------- as the plugin reads answers


def test_whole_items_of_a_stream_that_broke_off() -> None:
    text = '{"x": 1, "memories": [{"a": 1}, {"a": {"b": "}"}}, {"a": 3'
    assert whole_items(text, "memories") == [{"a": 1}, {"a": {"b": "}"}}]
    assert whole_items("nothing", "memories") == []


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("extract_json", extract_json),
        ("repair_json", repair_json),
        ("direct_model_ref", direct_model_ref),
        ("reasoning_disabled", reasoning_disabled),
    ],
)
def test_answers_are_read_as_the_plugin_reads_them(
    shared: Path, name: str, ours: Callable[[str], Any]
) -> None:
    cases = json.loads((shared / "fixtures/capture/functions.json").read_text())["data"][name]
    wrong = [(each["in"], each["out"], got) for each in cases if (got := ours(each["in"])) != each["out"]]
    assert cases
    assert wrong == []


def test_nonsense_is_no_object() -> None:
    assert read_object("{" * 5000) is None
    assert read_object('{"a": ' + "[" * 100_000) is None
