"""Secrets as people tell them, in four languages and more; what is none, though it looks like one."""

from __future__ import annotations

import gzip
import json
import random
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from memtui.engine.core import seed_phrases
from memtui.engine.core.column_sieves import suspected_of_secrets, texts_suspected_of_secrets
from memtui.engine.core.secrets import find_secrets, mask
from memtui.engine.transfer.stored_metadata import mask_json

HERE = Path(__file__).parent / "secrets"
SHARED = Path(__file__).parents[2].parent / "shared" / "fixtures"


def told(name: str) -> Iterator[tuple[str, str, str, str]]:
    """(kind, language, secret, text) of each line of a list of wordings."""
    for line in (HERE / name).read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            kind, language, secret, text = line.split("\t")
            yield kind, language, secret, text


def found(secret: str, text: str) -> bool:
    """Whether a secret of a text is masked, and little beside it."""
    masked, count = mask(text)
    return count > 0 and secret not in masked and len(masked) >= len(text) - len(secret)


@pytest.mark.parametrize("name", ["told.tsv", "later.tsv"])
def test_nine_in_ten_wordings_are_found_in_each_language(name: str) -> None:
    all_of, found_of = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for kind, language, secret, text in told(name):
        all_of[kind, language] += 1
        found_of[kind, language] += found(secret, text)
    assert all_of
    short = {key: (found_of[key], count) for key, count in all_of.items() if found_of[key] < 0.9 * count}
    assert not short


def _luhn(digits: str) -> str:
    total = sum(
        sum(divmod(int(digit) * (2 if at % 2 == 0 else 1), 10)) for at, digit in enumerate(reversed(digits))
    )
    return str(-total % 10)


CARDS = (("4", 16), ("51", 16), ("2221", 16), ("34", 15), ("37", 15), ("6011", 16), ("3528", 16), ("36", 14))
ACCOUNTS = (
    ("DE", "n" * 18), ("GB", "aaaa" + "n" * 14), ("FR", "n" * 14 + "a" + "n" * 8), ("ES", "n" * 20), ("CH", "n" * 17),
    ("IT", "a" + "n" * 22), ("NL", "aaaa" + "n" * 10), ("AT", "n" * 16), ("MT", "aaaa" + "n" * 23), ("NO", "n" * 11),
)  # fmt: skip
ROUND = (
    "{}",
    "My card is {}.",
    "bitte auf {} überweisen",
    "ma carte : {}",
    "la cuenta es {} y ya",
    "カード{}です",
    '{{"x": "{}"}}',
    "a\n{}\nb",
)


def _card(dice: random.Random, begin: str, length: int) -> str:
    digits = begin + "".join(dice.choice("0123456789") for _ in range(length - len(begin) - 1))
    digits += _luhn(digits)
    groups = {16: (4, 4, 4, 4), 15: (4, 6, 5), 14: (4, 6, 4)}[length]
    parts, at = [], 0
    for group in groups:
        parts.append(digits[at : at + group])
        at += group
    return dice.choice(("", " ", "-", "\u00a0")).join(parts)


def _account(dice: random.Random, land: str, form: str) -> str:
    of = {"n": "0123456789", "a": "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}
    body = "".join(dice.choice(of[each]) for each in form)
    rest = int("".join(str(int(each, 36)) for each in f"{body}{land}00")) % 97
    whole = f"{land}{98 - rest:02d}{body}"
    if dice.random() < 0.5:
        whole = " ".join(whole[at : at + 4] for at in range(0, len(whole), 4))
    return whole


@pytest.mark.parametrize("around", ROUND)
def test_cards_and_accounts_are_found_by_their_arithmetic(around: str) -> None:
    dice = random.Random(around)
    for begin, length in CARDS:
        for _ in range(5):
            number = _card(dice, begin, length)
            assert found(number, around.format(number)), number
    for land, form in ACCOUNTS:
        for _ in range(5):
            number = _account(dice, land, form)
            assert found(number, around.format(number)), number


def test_a_number_with_another_check_digit_is_none() -> None:
    dice = random.Random(5)
    for begin, length in CARDS:
        number = _card(dice, begin, length)
        wrong = f"{number[:-1]}{(int(number[-1]) + 1) % 10}"
        assert find_secrets(f"order {wrong} is there") == ()
    assert find_secrets("DE00 1234 5678 9012 3456 78") == ()


@pytest.mark.parametrize("line", (HERE / "healthy.txt").read_text(encoding="utf-8").splitlines())
def test_what_speaks_of_secrets_or_counts_is_none(line: str) -> None:
    assert find_secrets(line) == ()


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared material is not here")
def test_one_healthy_text_in_a_thousand_is_masked_at_most() -> None:
    texts: list[str] = []
    for file in sorted((SHARED / "recall-tuning").glob("*.gz")):
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            texts += [text for line in lines for text in _strings(json.loads(line))]
    texts += _strings(
        [json.loads(line) for line in (SHARED / "peer/memories.jsonl").read_text().splitlines()]
    )
    labelled = [
        json.loads(line) for line in (SHARED / "capture-offline/texts.jsonl").read_text().splitlines()
    ]
    secrets = [each for each in labelled if "secret" in each]
    texts += [each["text"] for each in labelled if "secret" not in each and each.get("kind") != "secret"]
    wrong = [text for text in texts if find_secrets(text)]
    assert len(texts) > 40_000
    assert len(wrong) <= len(texts) / 1_000, wrong[:5]
    assert sum(found(each["secret"], each["text"]) for each in secrets) >= 0.7 * len(secrets)


@pytest.mark.parametrize(
    "unit",
    [
        "password is the ",
        "4111 1111 1111 1112 ",
        "abandon ability able about ",
        "1234567890",
        "my pin code for the card is ",
        "x is the as ",
        "a-b_c:",
        "seed phrase ",
        "code of the door ",
    ],
)
def test_a_long_text_costs_what_its_length_is(unit: str) -> None:
    def cost(text: str) -> float:
        best = float("inf")
        for _ in range(3):
            begun = time.process_time()
            find_secrets(text)
            best = min(best, time.process_time() - begun)
        return best

    short, long = cost(unit * (24_000 // len(unit))), cost(unit * (192_000 // len(unit)))
    assert long < 24 * short  # eight times as long


def test_the_sieves_for_columns_let_every_secret_through() -> None:
    texts = [text for name in ("told.tsv", "later.tsv") for _, _, _, text in told(name)]
    texts += [
        f"{before}{number}{behind}" for number in _numbers() for before, behind in (("", ""), ("for ", "."))
    ]
    texts += [
        f"it reads: {between.join(words)}"
        for between in (" ", ", ", " | ", "\n", '", "')
        for words in _phrases(50)
    ]
    texts += [" ".join(f"{at}. {word}" for at, word in enumerate(words, 1)) for words in _phrases(50)]
    texts = [text for text in texts if find_secrets(text)]
    assert len(texts) > 1_000
    through = {texts[at] for at in texts_suspected_of_secrets(texts)}
    assert [text for text in texts if text not in through] == []
    for readable in (True, False):
        objects = [
            json.dumps({"l0_abstract": text, "valid_from": 1}, ensure_ascii=readable) for text in texts
        ]
        kept = set(suspected_of_secrets(pa.array(objects), json=True))
        assert [text for at, text in enumerate(texts) if at not in kept] == []


def test_the_times_of_an_object_are_not_looked_at_as_numbers() -> None:
    """The metadata of a memory without a secret, as the plugin writes it: none is looked at closely."""
    texts = [
        json.dumps(
            {
                "l0_abstract": "Prefers the train to the car.",
                "access_count": at,
                "last_accessed_at": 1_757_773_041_880 + at,
                "valid_from": 1_757_773_041_880,
                "fact_key": "preferences:train",
                "superseded_by": str(uuid.UUID(int=random.Random(at).getrandbits(128))),
            },
            separators=(",", ":"),
        )
        for at in range(1_000)
    ]
    assert len(suspected_of_secrets(pa.array(texts), json=True)) <= 100


@pytest.mark.parametrize("between", [" ", "\n", ", "])
def test_a_phrase_in_the_metadata_is_masked_however_its_lines_end(between: str) -> None:
    for words in _phrases(20):
        raw = json.dumps({"l0_abstract": f"They are: {between.join(words)}"})
        masked, count = mask_json(raw)
        assert count == 1
        assert between.join(words[2:9]) not in json.loads(str(masked))["l0_abstract"]


def _phrases(count: int) -> Iterator[list[str]]:
    words = (Path(seed_phrases.__file__).with_name("seed_words.txt")).read_text(encoding="ascii").split()
    random_words = random.Random(3)
    for _ in range(count):
        yield random_words.sample(words, 12)


def _numbers() -> Iterator[str]:
    """Cards, accounts and social security numbers with the signs between their digits that people write."""
    drawn = random.Random(4)
    for begin, length in CARDS * 4:
        body = begin + "".join(drawn.choice("0123456789") for _ in range(length - len(begin) - 1))
        whole = body + _luhn(body)
        yield whole
        for gap in " -.\u00a0":
            yield gap.join(whole[at : at + 4] for at in range(0, len(whole), 4))
    for land, form in ACCOUNTS * 4:
        body = "".join(drawn.choice("0123456789" if each == "n" else "ABCDEFGHK") for each in form)
        rest = "".join(str(int(each, 36)) for each in f"{body}{land}00")
        whole = f"{land}{98 - int(rest) % 97:02d}{body}"
        yield whole
        yield whole.lower()
        yield " ".join(whole[at : at + 4] for at in range(0, len(whole), 4))
    for _ in range(20):
        yield f"{drawn.randint(1, 665):03d}-{drawn.randint(1, 99):02d}-{drawn.randint(1, 9999):04d}"
        born = f"{drawn.choice('12')}{drawn.randint(0, 99):02d}{drawn.randint(1, 12):02d}"
        french = f"{born}75{drawn.randint(0, 999999):06d}"
        yield f"{french}{97 - int(french) % 97:02d}"
