"""Which kinds of secrets are recognised, where they are never printed, and what is none."""

from __future__ import annotations

import json
import random
import string
from pathlib import Path

import pytest

from memtui.engine.core.secrets import MARK, NOT_RECOGNISED, _rules, find_secrets, forms, kinds, mask, veiled
from memtui.tui.dialogs.change_preview_view import difference, value_words
from memtui.tui.paint.glyphs import UNICODE
from tests.cli.every_command import call
from tests.engine.tables import pro_row, write_table

HEX, WORD, CAPS = (
    string.hexdigits[:16],
    string.ascii_letters + string.digits,
    string.ascii_uppercase + string.digits,
)
SHAPES = [
    # prefix, length and alphabet of the rest: the forms of gitleaks' public rules; joined here, never written out
    *(
        ("jina_", 60, WORD),
        ("sk-", 48, WORD),
        ("sk-proj-", 60, WORD),
        ("sk-ant-api03-", 90, WORD),
        ("sk-or-v1-", 64, HEX),
    ),
    *(
        ("tvly-", 32, WORD),
        ("BSA", 28, WORD),
        ("SK", 32, HEX),
        ("xai-", 80, WORD),
        ("r8_", 37, WORD),
        ("nvapi-", 64, WORD),
        ("pa-", 43, WORD),
        ("gsk_", 52, WORD),
    ),
    *(
        ("hf_", 34, WORD),
        ("pplx-", 48, WORD),
        ("npm_", 36, WORD),
        ("AIza", 35, WORD),
        ("ya29.", 60, WORD),
        ("key-", 32, HEX),
    ),
    *(("ghp_", 36, WORD), ("gho_", 36, WORD), ("ghu_", 36, WORD), ("ghs_", 36, WORD), ("ghr_", 36, WORD)),
    *(
        ("github_pat_", 82, WORD),
        ("glpat-", 20, WORD),
        ("glptt-", 40, HEX),
        ("glrt-", 20, WORD),
        ("AKIA", 16, CAPS),
    ),
    *(
        ("ASIA", 16, CAPS),
        ("xoxb-", 50, WORD),
        ("xoxp-", 60, WORD),
        ("xapp-", 60, WORD),
        ("SG." + "a" * 22 + ".", 43, WORD),
    ),
    *(
        ("sk_live_", 24, WORD),
        ("rk_live_", 24, WORD),
        ("sk_test_", 24, WORD),
        ("whsec_", 32, WORD),
        ("sq0atp-", 22, WORD),
    ),
    *(
        ("dop_v1_", 64, HEX),
        ("doo_v1_", 64, HEX),
        ("shpat_", 32, HEX),
        ("shpss_", 32, HEX),
        ("pypi-AgE", 60, WORD),
    ),
    *(
        ("rubygems_", 48, HEX),
        ("dapi", 32, HEX),
        ("dp.pt.", 43, WORD),
        ("glsa_", 41, WORD),
        ("glc_", 40, WORD),
    ),
    *(
        ("ATATT3", 60, WORD),
        ("sntrys_", 60, WORD),
        ("sbp_", 40, HEX),
        ("pscale_tkn_", 40, WORD),
        ("nfp_", 40, WORD),
    ),
    *(
        ("hvs.", 30, WORD),
        ("hvb.", 40, WORD),
        ("lin_api_", 40, WORD),
        ("figd_", 40, WORD),
        ("ntn_", 44, WORD),
    ),
    *(
        ("PMAK-" + "a1" * 12 + "-", 34, HEX),
        ("NRAK-", 27, CAPS),
        ("fc-", 32, HEX),
        ("AGE-SECRET-KEY-1", 58, CAPS),
    ),
    *(("AccountKey=", 86, WORD), ("EAAC", 60, WORD), ("https://hooks.slack.com/services/", 44, WORD)),
    ("https://discord.com/api/webhooks/" + "1" * 18 + "/", 68, WORD),
]
HARMLESS = [
    "The pa-ssenger list is in the key-board drawer, see fc-4.",
    "Use jina_embeddings and hf_hub for the model; tvly- is the prefix of their keys.",
    "The commit 0f3c9ab1d2e4f5a6b7c8d9e0f1a2b3c4d5e6f708 broke the build.",
    "id 3f2c1e9a-7b6d-4c5e-8f90-a1b2c3d4e5f6 of the row",
    "The token bucket refills every second; the secret is patience.",
    "Das Kennwort ist bei Mira hinterlegt.",
    "shpat_ tokens begin so, and sk_live_ too.",
    "see https://discord.com/channels/123456789012345678/2",
]


def sample(prefix: str, length: int, alphabet: str, seed: int) -> str:
    """A token of this shape."""
    dice = random.Random(f"{prefix} {seed}")
    return prefix + "".join(dice.choice(alphabet) for _ in range(length))


@pytest.mark.parametrize(("prefix", "length", "alphabet"), SHAPES, ids=[shape[0][:24] for shape in SHAPES])
def test_every_shape_is_found_wherever_it_stands(prefix: str, length: int, alphabet: str) -> None:
    for seed in range(5):
        token = sample(prefix, length, alphabet, seed)
        for text in (
            token,
            f"the key is {token}.",
            f"KEY='{token}'",
            f"鍵は{token}です",
            f'{{"k":"{token}"}}',
            f"a\n{token}\nb",
        ):
            found = find_secrets(text)
            assert found, text
            left = mask(text)[0]
            assert token not in left
            assert token[len(prefix) :][: length // 2] not in left, left
            assert token not in veiled(text)


PLAIN_ONES = {
    "The door PIN is 4711, ask Mira.": "4711",
    "PIN: 90210 for the parcel box": "90210",
    "my pin is 8831": "8831",
    "Die Geheimzahl lautet 5512.": "5512",
    'the wifi password is "swordfish" until May': "swordfish",
    "passphrase: correct-horse-battery-staple": "correct-horse-battery-staple",
    "The passphrase is correct-horse-battery-staple, as ever": "correct-horse-battery-staple",
    "WLAN-Passwort: Sonnenblume": "Sonnenblume",
    "password = swordfish\nuser = eva": "swordfish",
    "le mot de passe est 'tournesol'": "tournesol",
    "the wifi password is tulip-garden": "tulip-garden",
    "Guest wifi password: maple-river, changed in May": "maple-river",
    "Das WLAN-Passwort ist apfel-baum-leiter.": "apfel-baum-leiter",
    "door code 4711": "4711",
    "The door code is 4711, ask Mira.": "4711",
    "front gate code: 90210#": "90210#",
    "Der Türcode ist 4711.": "4711",
    "The alarm code for the shed is 9902": "9902",
}
"""PINs and passwords without a digit, and what has to go."""

SPOKEN_OF = (
    "The pin 4711 of the chip is ground, GPIO pin: 1017.",
    "PIN: 2024-10-03 is when it was pinned.",
    "Pin 12 is the clock; the PIN is changed every year.",
    "The password is required and the passphrase is never stored.",
    "password: string",
    'The field "password": "required" is checked.',
    "Password: optional",
    "The password is encrypted end-to-end with state-of-the-art means.",
    "Password policy: long ones, and the password: see the vault, ask Mira for it.",
    "Pinned: 20241003 messages; spinning = 4711",
    "The wifi password is case-sensitive, the guest password is read-only.",
    "The guest wifi password is auto-generated; the network password is one-time.",
    "WLAN-Passwort ist benutzer-abhängig, the router password is well-known",
    "The error code is 4711, alarm code 1042 stops the pump.",
    "zip code 90210, dialling code 0049, product code 471100",
    "door code 4711 means that the sensor is off; the gate code 2.1.4.7 release",
    "Run the quality gate code 20241003-1 and the indoor code 12.",
    "The building code 2024 asks for two exits.",
)


@pytest.mark.parametrize("text", PLAIN_ONES)
def test_pins_and_passwords_without_a_digit_are_found_where_their_form_says_so(text: str) -> None:
    assert [text[one.start : one.end] for one in find_secrets(text)] == [PLAIN_ONES[text]]
    assert PLAIN_ONES[text] not in mask(text)[0]


@pytest.mark.parametrize("text", SPOKEN_OF)
def test_who_speaks_of_pins_and_passwords_tells_none(text: str) -> None:
    assert find_secrets(text) == ()


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_no_secret_is_left_alone(text: str) -> None:
    assert find_secrets(text) == ()
    assert veiled(text) == text


def test_the_kinds_are_listed() -> None:
    assert {"API key", "access token", "payment key", "private key", "webhook address"} <= set(kinds())


def test_a_preview_of_a_mask_never_prints_the_secret(tmp_path: Path) -> None:
    token = sample("jina_", 60, WORD, 1)
    text = f"Embeddings are paid with {token}, ask Mira."
    metadata = json.dumps({"l0_abstract": text, "l2_content": text})
    write_table(tmp_path / "store", [pro_row(1, text=text, metadata=metadata), pro_row(2)])
    on = ("--store", tmp_path / "store")
    memory = pro_row(1)["id"]
    masked = mask(text)[0]
    for line in (
        ["edit", memory, "--set", f"text={masked}", "--in-place", "--dry-run"],
        ["edit", memory, "--set", f"text={masked}", "--in-place", "--dry-run", "--json"],
        ["forget", memory, "--hard", "--dry-run", "--json"],
        ["forget", memory, "--hard", "--dry-run"],
        ["scan"],
        ["scan", "--json"],
        ["edit", memory, "--set", f"text={masked}", "--in-place", "--yes"],
        ["journal", 1],
        ["journal", 1, "--json"],
        ["undo", "--dry-run", "--json"],
        ["undo", "--dry-run"],
    ):
        called = call(*line, *on)
        assert token not in called.out + called.err, line
        assert token[5:25] not in called.out + called.err, line
    assert MARK in masked
    assert token[:20] not in difference(text, masked, UNICODE).plain
    assert "API key" in difference(text, masked, UNICODE).plain
    assert token[:20] not in value_words(text)
    assert token[:20] not in value_words({"a": [text]})


def test_what_is_recognised_can_be_asked(tmp_path: Path) -> None:
    told = json.loads(call("scan", "--kinds", "--json").out)
    assert set(told["secrets"]) == set(kinds()) == set(forms())
    assert all(told["secrets"].values())  # a kind without a form would say nothing
    assert told["not_recognised"] == list(NOT_RECOGNISED)
    assert {"overrides instructions", "hides from the person"} <= set(told["orders"])
    out = call("scan", "--kinds").out
    assert "jina_" in out
    assert "not recognised" in out


PUBLIC_RULES = {
    # id of gitleaks' default rule set (a text with a secret of that form) -> whether it is recognised here
    "age-secret-key": ("AGE-SECRET-KEY-1", 58, CAPS, True),
    "alibaba-access-key-id": ("LTAI", 20, WORD, True),
    "artifactory-api-key": ("AKCp", 69, WORD, True),
    "aws-access-token": ("AKIA", 16, CAPS, True),
    "clojars-api-token": ("CLOJARS_", 60, WORD, True),
    "adobe-client-secret": ("p8e-", 32, WORD, True),
    "clickhouse-cloud-api-secret-key": ("4b1d", 38, WORD, True),
    "1password-service-account-token": ("ops_eyJ", 260, WORD, True),
    "adafruit-api-key": ("adafruit_api_key = ", 32, HEX, True),
    "algolia-api-key": ("algolia api key: ", 32, HEX, True),
    "cohere-api-token": ("CO_API_KEY=", 40, WORD, True),
    "cloudflare-api-key": ("cloudflare: ", 40, WORD, False),
    "bitbucket-client-id": ("bitbucket = ", 32, HEX, False),
    "asana-client-id": ("asana = ", 16, string.digits, False),
}


@pytest.mark.parametrize("rule", PUBLIC_RULES)
def test_coverage_of_a_public_rule_set(rule: str) -> None:
    """A sample of gitleaks' rules by their published forms, beside those of `SHAPES`; what is not covered is said."""
    prefix, length, alphabet, covered = PUBLIC_RULES[rule]
    found = [find_secrets(f"It is {sample(prefix, length, alphabet, seed)} here.") for seed in range(5)]
    assert all(bool(each) is covered for each in found)


@pytest.mark.parametrize(
    "text",
    [
        "Das Passwort lautet Hund3rt!",
        "le mot de passe est Tr0ubad0ur",
        "la contraseña es Qu1jote99",
        "a senha é L1sboa-77",
        "пароль: Zima2041",
        "密码是 abc123XYZ，请保密",
        "数据库口令为Q7r9-tt2k。",
        "パスワードは abc123XYZ です",
        "비밀번호는 seoul-88x",
        "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "blob?sv=2022&sig=" + "aB3" * 14 + "%3D",
        "pinecone pcsk_" + "aB3" * 18,
        "GOCSPX-" + "aB3x" * 7,
    ],
)
def test_a_password_is_found_in_the_words_of_its_language(text: str) -> None:
    masked, count = mask(text)
    assert count == 1, text
    assert not any(
        part in masked for part in ("Hund3rt", "Tr0uba", "Qu1jote", "abc123", "aB3aB3", "Q7r9", "88x")
    )


@pytest.mark.parametrize(
    "text",
    [
        "Das Passwort ist seit Mai Pflicht.",
        "La contraseña es obligatoria para todos.",
        "Le mot de passe est demandé au premier appel.",
        "密码是必填的",
        "パスワードは毎月変更する",
        "The access key is kept in the safe.",
        "A senha é pedida no primeiro acesso.",
    ],
)
def test_who_speaks_of_a_password_does_not_tell_it(text: str) -> None:
    assert mask(text) == (text, 0)


def _planted(seed: int) -> str:
    """A long text with a secret of each shape in it, some of them across the borders of its pieces."""
    dice = random.Random(seed)
    parts: list[str] = []
    for at, shape in enumerate(SHAPES * 2):
        parts.append("the store keeps é " * dice.randrange(20, 60) if at % 7 else "kept " * 300)
        parts.append(
            dice.choice(
                (f"({sample(*shape, at)}) ", "password: hunter2-hunter ", "PIN is 4711, ", "x" * 3_000)
            )
        )
    return "".join(parts)


@pytest.mark.parametrize("seed", range(4))
def test_a_long_text_has_the_secrets_that_its_patterns_find_in_the_whole_of_it(seed: int) -> None:
    text = _planted(seed)
    whole: list[tuple[int, int]] = []
    for _, form in _rules():
        for match in form.pattern.finditer(text):
            start, end = match.span(match.lastgroup or 0)
            if not any(a < end and start < b for a, b in whole):
                whole.append((start, end))
    assert len(text) > 60_000
    assert len(whole) > len(SHAPES) // 2
    assert [(each.start, each.end) for each in find_secrets(text)] == sorted(whole)
    masked, count = mask(text)
    assert (count, masked.count(MARK)) == (len(whole), len(whole))


def test_a_secret_longer_than_a_piece_is_found_whole() -> None:
    block = "-----BEGIN PRIVATE KEY-----\n" + "MIIEvQ" * 9_000 + "\n-----END PRIVATE KEY-----"
    text = f"{'before ' * 2_000}{block}{' behind' * 2_000}"
    assert [text[each.start : each.end] for each in find_secrets(text)] == [block]
    chain = "sk-" * 20_000
    assert [(each.start, each.end) for each in find_secrets(f"it is {chain} there")] == [(6, 6 + len(chain))]
