"""Numbers that are secret by their own arithmetic: payment cards, bank accounts, social security numbers."""

from __future__ import annotations

from collections.abc import Iterator

from memtui.engine.core.late_pattern import late

_GAP = r"[ \t.\u2010\u2011\u2013\u00a0\u202f-]"

_LONG_NUMBER = late(rf"(?<![0-9])(?!(?<=:)1[0-9]{{12}}[,}}\]])[0-9](?:{_GAP}{{0,2}}[0-9]){{7}}")
"""Eight digits with a gap at most between two of them; a time in milliseconds as JSON has it is none."""

_CARD = late(
    r"(?<![0-9A-Za-z_+])(?<![0-9][.,:/-])(?<![0-9]{4} )"
    rf"(?:[2-6][0-9]{{3}}(?P<four>{_GAP}{{0,2}})[0-9]{{4}}(?P=four)[0-9]{{4}}(?P=four)[0-9]{{4}}(?:(?P=four)[0-9]{{1,3}})?"
    rf"|3[47][0-9]{{2}}(?P<amex>{_GAP}{{0,2}})[0-9]{{6}}(?P=amex)[0-9]{{5}}"
    rf"|3[47][0-9]{{2}}(?P<even>{_GAP})[0-9]{{4}}(?P=even)[0-9]{{4}}(?P=even)[0-9]{{3}}"
    rf"|3[0689][0-9]{{2}}(?P<club>{_GAP}{{0,2}})[0-9]{{6}}(?P=club)[0-9]{{4}}"
    rf"|3[0689][0-9]{{2}}(?P<fours>{_GAP})[0-9]{{4}}(?P=fours)[0-9]{{4}}(?P=fours)[0-9]{{2}})"
    r"(?![0-9A-Za-z_]|[.,:/-][0-9]|\s[0-9]{4}(?![0-9/]))"
)

_ISSUERS = late(
    r"4[0-9]{15}(?:[0-9]{3})?|5[1-5][0-9]{14}|(?:222[1-9]|22[3-9][0-9]|2[3-6][0-9]{2}|27[01][0-9]|2720)[0-9]{12}"
    r"|3[47][0-9]{13}|3(?:0[0-5]|[689][0-9])[0-9]{11}|(?:6011|65[0-9]{2}|64[4-9][0-9])[0-9]{12,15}"
    r"|35(?:2[89]|[3-8][0-9])[0-9]{12,15}|62[0-9]{14,17}|(?:50|5[6-8]|6[37])[0-9]{14,17}|22[0-9]{14}"
)
"""What a card of a known issuer begins with, and how many digits it has."""

_IBAN = late(
    rf"(?<![0-9A-Za-z])(?P<land>[A-Za-z]{{2}}){_GAP}?(?P<check>[0-9]{_GAP}?[0-9])(?:{_GAP}?[0-9A-Za-z]){{11,30}}"
)

_IBAN_LENGTHS = {
    land: int(length)
    for land, length in (
        each.split(":")
        for each in [
            "AD:24",
            "AE:23",
            "AL:28",
            "AT:20",
            "AZ:28",
            "BA:20",
            "BE:16",
            "BG:22",
            "BH:22",
            "BI:27",
            "BR:29",
            "BY:28",
            "CH:21",
            "CR:22",
            "CY:28",
            "CZ:24",
            "DE:22",
            "DJ:27",
            "DK:18",
            "DO:28",
            "EE:20",
            "EG:29",
            "ES:24",
            "FI:18",
            "FK:18",
            "FO:18",
            "FR:27",
            "GB:22",
            "GE:22",
            "GI:23",
            "GL:18",
            "GR:27",
            "GT:28",
            "HN:28",
            "HR:21",
            "HU:28",
            "IE:22",
            "IL:23",
            "IQ:23",
            "IS:26",
            "IT:27",
            "JO:30",
            "KW:30",
            "KZ:20",
            "LB:28",
            "LC:32",
            "LI:21",
            "LT:20",
            "LU:20",
            "LV:21",
            "LY:25",
            "MC:27",
            "MD:24",
            "ME:22",
            "MK:19",
            "MN:20",
            "MR:27",
            "MT:31",
            "MU:30",
            "NI:28",
            "NL:18",
            "NO:15",
            "OM:23",
            "PK:24",
            "PL:28",
            "PS:29",
            "PT:25",
            "QA:29",
            "RO:24",
            "RS:22",
            "RU:33",
            "SA:24",
            "SC:31",
            "SD:18",
            "SE:24",
            "SI:19",
            "SK:24",
            "SM:27",
            "SO:23",
            "ST:25",
            "SV:28",
            "TL:23",
            "TN:24",
            "TR:26",
            "UA:29",
            "VA:22",
            "VG:24",
            "XK:20",
            "YE:30",
        ]
    )
}

_SOCIAL = late(
    r"(?<![0-9A-Za-z_.+/-])(?!000|666|9)[0-9]{3}(?P<gap>[\u2010\u2011\u2013-])(?!00)[0-9]{2}(?P=gap)(?!0000)[0-9]{4}"
    r"(?![0-9A-Za-z_]|[-./][0-9])"
)
"""The form in which the United States write theirs; no other number is written so."""

_FRENCH = late(
    rf"(?<![0-9A-Za-z_.+])[12378]{_GAP}?[0-9]{{2}}{_GAP}?(?:0[1-9]|1[0-2]|[2-9][0-9]){_GAP}?[0-9][0-9AB]{_GAP}?[0-9]{{3}}"
    rf"{_GAP}?[0-9]{{3}}{_GAP}?[0-9]{{2}}(?![0-9A-Za-z_]|[.,][0-9])"
)

_SWISS = late(r"(?<![0-9A-Za-z_.+])756[. ]?[0-9]{4}[. ]?[0-9]{4}[. ]?[0-9]{2}(?![0-9A-Za-z_]|[.,][0-9])")

# The same for engines that look at a whole column at once (RE2, which looks neither before nor behind).

_GAP_OF_COLUMNS = r"[ \t.\x{2010}\x{2011}\x{2013}\x{a0}\x{202f}-]"

LONG_NUMBER_SIEVE = rf"[0-9](?:{_GAP_OF_COLUMNS}{{0,2}}[0-9]){{7}}"
"""A long number: what a number told as a secret, or an account, has in it."""

SIEVE = (
    rf"(?:^|[^0-9A-Za-z_+])[2-6](?:{_GAP_OF_COLUMNS}{{0,2}}[0-9]){{13}}"
    r"|(?:^|[^0-9A-Za-z_.+/-])[0-8][0-9]{2}[\x{2010}\x{2011}\x{2013}-][0-9]{2}[\x{2010}\x{2011}\x{2013}-][0-9]{4}"
    rf"|(?:^|[^0-9A-Za-z_.+])[12378](?:{_GAP_OF_COLUMNS}?[0-9AB]){{14}}(?:[^0-9A-Za-z_]|$)"
    r"|(?:^|[^0-9A-Za-z_.+])756[. ]?[0-9]{4}[. ]?[0-9]{4}[. ]?[0-9]{2}"
)
"""A card, and a social security number as the United States, France and Switzerland write theirs."""

ACCOUNT_SIEVE = (
    rf"(?i:(?:^|[^0-9A-Z])(?:{'|'.join(_IBAN_LENGTHS)})(?:{_GAP_OF_COLUMNS}?[0-9]){{2}}"
    rf"(?:{_GAP_OF_COLUMNS}?[0-9A-Z]){{11}})"
)
"""What begins as an account does; one has a long number in it as well."""


def may_hold_numbers(text: str) -> bool:
    """Whether `text` has a number long enough that is no time; False is certain."""
    return _LONG_NUMBER.search(text) is not None


def find_numbers(text: str, start: int, stop: int) -> Iterator[tuple[int, int, str]]:
    """(start, end, kind) of the numbers between two places of `text` whose check digits are right."""
    for begin, end in _around_long_numbers(text, start, stop):
        yield from _found_between(text, begin, end)


def _around_long_numbers(text: str, start: int, stop: int) -> Iterator[tuple[int, int]]:
    """The parts of a text that have a long number in them, none inside another."""
    begin = end = start
    for number in _LONG_NUMBER.finditer(text, start, stop):
        if number.start() - _BEFORE > end:
            if end > begin:
                yield begin, end
            begin = max(start, number.start() - _BEFORE)
        end = min(stop, number.end() + _BEHIND)
    if end > begin:
        yield begin, end


_BEFORE, _BEHIND = 16, 40


def _found_between(text: str, start: int, stop: int) -> Iterator[tuple[int, int, str]]:
    for match in _CARD.finditer(text, start, stop):
        digits = _alone(match.group())
        if _ISSUERS.fullmatch(digits) and _luhn(digits) and len(set(digits)) > 1:
            yield match.start(), match.end(), "payment card"
    for match in _IBAN.finditer(text, start, stop):
        end = _end_of_iban(match.group())
        if end:
            yield match.start(), match.start() + end, "IBAN"
    for match in _SOCIAL.finditer(text, start, stop):
        yield match.start(), match.end(), "social security number"
    for match in _FRENCH.finditer(text, start, stop):
        number = _alone(match.group()).replace("A", "0").replace("B", "0")
        if _french_key(_alone(match.group())) and number.isdigit():
            yield match.start(), match.end(), "social security number"
    for match in _SWISS.finditer(text, start, stop):
        if _ean(_alone(match.group())):
            yield match.start(), match.end(), "social security number"


def _alone(number: str) -> str:
    return "".join(char for char in number if char.isalnum())


def _luhn(digits: str) -> bool:
    total = 0
    for at, digit in enumerate(reversed(digits)):
        value = int(digit) * (2 if at % 2 else 1)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def _end_of_iban(written: str) -> int:
    """Where an account ends in what begins like one; 0 where its length or its check digits are wrong."""
    length = _IBAN_LENGTHS.get(written[:2].upper())
    if length is None:
        return 0
    seen, number = 0, []
    for at, char in enumerate(written):
        if char.isalnum():
            seen += 1
            number.append(char.upper())
        if seen == length:
            if written[at + 1 : at + 2].isalnum():
                return 0
            moved = "".join([*number[4:], *number[:4]])
            return at + 1 if int("".join(str(int(each, 36)) for each in moved)) % 97 == 1 else 0
    return 0


def _french_key(number: str) -> bool:
    body = number[:-2].replace("2A", "19").replace("2B", "18")
    return body.isdigit() and 97 - int(body) % 97 == int(number[-2:])


def _ean(digits: str) -> bool:
    return (
        sum(int(digit) * (3 if at % 2 else 1) for at, digit in enumerate(digits[:-1])) + int(digits[-1])
    ) % 10 == 0
