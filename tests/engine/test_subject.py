"""What a change was about, in a line of words."""

from __future__ import annotations

import pytest

from memtui.engine.changes.change_set import LONGEST, Change, subject_of


def edit(before: str, after: str) -> Change:
    return Change("1", "edit", {"text": before}, {"text": after}, title=after)


@pytest.mark.parametrize(
    ("before", "after", "subject"),
    [
        (
            "SSH to the bastion goes through port 2222 now",
            "SSH to the bastion goes through port 48022 now",
            "bastion goes through port: 2222 to 48022",
        ),
        ("lamps are green", "lamps are green and red", "lamps are green: nothing to and red"),
        ("old", "new", "old to new"),
        ("a b b c", "a b c", "a b: b to nothing"),
    ],
)
def test_a_new_text_says_what_it_is_about_and_both_pieces(before: str, after: str, subject: str) -> None:
    assert subject_of([edit(before, after)]) == subject


def test_fields_are_named_with_their_values() -> None:
    change = Change("1", "edit", {"importance": 0.7}, {"importance": 0.9}, title="the lamp is green")
    assert subject_of([change]) == "the lamp is green: importance 0.7 to 0.9"


def test_several_memories_are_named_and_counted() -> None:
    changes = [Change(str(n), "delete", {"text": f"note {n}"}, {}, title=f"note {n}") for n in range(5)]
    assert subject_of(changes) == "note 0; note 1; 3 more"
    assert subject_of([]) == ""


def test_a_secret_is_named_by_its_kind_and_never_said() -> None:
    secret = "sk-live-4f9a8b7c6d5e4f3a2b1c0d9e"
    said = subject_of([edit(f"the key is {secret}", "the key is [REDACTED]")])
    assert secret not in said
    assert secret[:20] not in subject_of([Change("1", "delete", {"text": secret}, {}, title=f"key {secret}")])


def test_it_is_one_short_line() -> None:
    said = subject_of([edit("a " * 400, "b\n" * 400)])
    assert len(said) <= LONGEST
    assert "\n" not in said
