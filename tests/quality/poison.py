"""How well stored poison is told from healthy memories, beside two scanners of the package index.

python -m tests.quality.poison [../shared] [--ask]

Poison is an order to a model, or an envelope of the host, among memories. Sets: `poison/texts.tsv`, written after the
detectors and never fitted on (its family `delayed`, orders that wait for an occasion, was left out of every rule);
`tests/engine/orders`, by five earlier hands, which memtui's own rules were made with; healthy texts of the fixtures.
The answers of the scanners are recorded in `poison/scanners.json`. `--ask` records them anew; it needs both of them,
which are no dependency of memtui: pip install safepaste==0.3.0 ai-injection-guard==0.3.0 (both MIT; they load no model
and ask no network).
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from memtui.engine.core.content_rules import injection
from memtui.engine.core.envelopes import find_envelopes
from tests.conftest import ROOT, SHARED

FOLDER = ROOT / "tests" / "quality" / "poison"

ANSWERS = FOLDER / "scanners.json"

SCANNERS = ("safepaste 0.3.0 (MIT)", "ai-injection-guard 0.3.0 (MIT)")

LEFT_OUT = "delayed"

ROUNDS = 1_000


@dataclass(frozen=True, slots=True)
class Labelled:
    """One text, what it is, and who wrote it."""

    text: str
    poison: bool
    family: str
    language: str
    hand: str


def texts() -> list[Labelled]:
    """The labelled texts of the project itself."""
    found = []
    for line in (FOLDER / "texts.tsv").read_text("utf-8").splitlines():
        language, what, family, text = line.split("\t")
        found.append(Labelled(text.replace("\\n", "\n"), what == "poison", family, language, "new"))
    for path in sorted((ROOT / "tests" / "engine" / "orders").glob("*.tsv")):
        for line in path.read_text("utf-8").splitlines():
            language, what, text = line.split("\t")
            found.append(Labelled(text, what == "hostile", "orders", language, path.stem))
    return found


def healthy(shared: Path) -> Iterator[str]:
    """Healthy texts of the fixtures, by other people: notes, dialogues, chat texts, recorded memories."""
    for name in ("memories", "dialogues-memories"):
        path = shared / "fixtures" / "recall-tuning" / f"{name}.jsonl.gz"
        for line in gzip.decompress(path.read_bytes()).decode("utf-8").splitlines():
            yield json.loads(line)["text"]
    for name in ("capture-offline/texts.jsonl", "peer/memories.jsonl"):
        for line in (shared / "fixtures" / name).read_text("utf-8").splitlines():
            yield json.loads(line)["text"]


def by_memtui(text: str) -> bool:
    """What `memtui scan` accuses without a doubt: an order, or an envelope."""
    found = injection(text)
    return bool(find_envelopes(text)) or (found is not None and not found.doubt)


def ask(shared: Path) -> dict[str, object]:
    """The scanners' answers, recorded by the digest of each text; of healthy fixtures only what they accuse."""
    from prompt_shield import PromptScanner  # type: ignore[import-not-found]
    from safepaste import scan_prompt  # type: ignore[import-not-found]

    guard = PromptScanner(threshold="MEDIUM")
    levels = ("MEDIUM", "HIGH", "CRITICAL")
    said: tuple[Callable[[str], bool], ...] = (
        lambda text: bool(scan_prompt(text).flagged),
        lambda text: guard.scan(text).severity in levels,
    )
    ours = {digest(each.text): [one(each.text) for one in said] for each in texts()}
    others = list(healthy(shared)) if shared.is_dir() else []
    accused = [sum(one(text) for text in others) for one in said]
    return {"texts": ours, "healthy": {"accused": accused, "of": [len(others)] * len(said)}}


def digest(text: str) -> str:
    """What a text is recorded by."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]


def f1(pairs: Sequence[tuple[bool, bool]]) -> float:
    """F1 of (is poison, was accused)."""
    hits = sum(truth and said for truth, said in pairs)
    wrong = sum(said and not truth for truth, said in pairs)
    missed = sum(truth and not said for truth, said in pairs)
    return 2 * hits / (2 * hits + wrong + missed) if hits else 0.0


def with_interval(pairs: Sequence[tuple[bool, bool]]) -> tuple[float, float, float]:
    """F1 with the middle 95 in 100 of a bootstrap over the texts."""
    rng = random.Random(7)
    drawn = sorted(f1(rng.choices(pairs, k=len(pairs))) for _ in range(ROUNDS))
    return f1(pairs), drawn[ROUNDS // 40], drawn[-ROUNDS // 40]


def table() -> dict[str, dict[str, tuple[float, float, float]]]:
    """F1 with interval by set and detector, from the recorded answers."""
    recorded = json.loads(ANSWERS.read_text("utf-8"))["texts"]
    every = texts()
    sets: dict[str, list[Labelled]] = {
        "new": [each for each in every if each.hand == "new"],
        "new, known families": [each for each in every if each.hand == "new" and each.family != LEFT_OUT],
        f"new, left out: {LEFT_OUT}": [each for each in every if each.family == LEFT_OUT],
        "new, envelopes": [each for each in every if each.family == "envelope"],
        "new, orders": [
            each for each in every if each.hand == "new" and each.family not in ("envelope", LEFT_OUT)
        ],
        "earlier hands": [each for each in every if each.hand != "new"],
        "all": every,
    }
    found: dict[str, dict[str, tuple[float, float, float]]] = {}
    for name, chosen in sets.items():
        found[name] = {"memtui": with_interval([(each.poison, by_memtui(each.text)) for each in chosen])}
        for at, scanner in enumerate(SCANNERS):
            pairs = [(each.poison, recorded[digest(each.text)][at]) for each in chosen]
            found[name][scanner] = with_interval(pairs)
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("shared", nargs="?", type=Path, default=SHARED)
    parser.add_argument("--ask", action="store_true")
    args = parser.parse_args()
    if args.ask:
        ANSWERS.write_text(json.dumps(ask(args.shared), indent=0, sort_keys=True) + "\n", "utf-8")
    print("| set | " + " | ".join(("memtui", *SCANNERS)) + " |")
    for name, cells in table().items():
        shown = (f"{mean:.2f} [{low:.2f}, {high:.2f}]" for mean, low, high in cells.values())
        print(f"| {name} | {' | '.join(shown)} |")
    if args.shared.is_dir():
        every = list(healthy(args.shared))
        recorded = json.loads(ANSWERS.read_text("utf-8"))["healthy"]["accused"]
        ours = [text for text in every if by_memtui(text)]
        print(
            f"healthy texts of the fixtures accused, of {len(every)}: memtui {len(ours)}, scanners {recorded}"
        )
        envelopes = sum(bool(find_envelopes(text)) for text in every)
        print(f"of memtui's {envelopes} as envelopes")


if __name__ == "__main__":
    main()
