"""How the recipe `memtui` stands on every kind of set at once, beside keyword search alone.

python -m tests.quality.goals [../shared] [--save FILE] [--against FILE]

English dialogues and chats (ours), notes and their long questions, Chinese (`../shared/fixtures/recall-tuning`),
Japanese, Korean, Arabic, Russian and mixed facts (ours), identifiers (made here), and questions that nothing
answers. recall@10, nDCG@10, hit@1; paired bootstrap over the questions. `--save` keeps the first ten of each question,
`--against` compares with such a file question by question: what a change of the recipe gains and loses.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from memtui.engine.recall.context import RecallContext
from tests.conftest import NOW_MS, SHARED
from tests.quality import confidence, dialogues, languages, tuning
from tests.quality.tuning import Asked, by_recipe, by_words, interval

LONG = 40
"""Words from which a question counts as long."""

Set = tuple[RecallContext, Sequence[Asked]]

KINDS = ("alone", "in a question", "other case", "a part")

_THINGS = ("gateway", "scheduler", "importer", "mailer", "indexer", "cache", "proxy", "backup", "billing")
_VERBS = ("retry", "timeout", "shard", "token", "cursor", "batch", "lease", "quota", "replica", "digest")

_FACTS = (
    "The {thing} reads its {verb} from {made} since the move",
    "We fixed the {verb} of the {thing} in {made}",
    "{made} is where the {thing} keeps the {verb}",
    "Do not touch {made}: the {thing} needs it for the {verb}",
)


def identifier_facts(count: int = 600) -> list[tuple[str, str, str]]:
    """(text, identifier, a part of it): facts about one project, each with an identifier of its own."""
    rng = random.Random(7)
    facts = []
    for number in range(count):
        thing, verb, other = rng.choice(_THINGS), rng.choice(_VERBS), rng.choice(_VERBS)
        sha, words = f"{rng.getrandbits(160):040x}", f"{verb.title()}{other.title()}{number}"
        made, part = (
            (sha, sha[:8]),
            (f"src/{thing}/{verb}_{number}.py", f"{verb}_{number}.py"),
            (thing + words, words),
            (f"{thing.upper()}_{verb.upper()}_{number}", f"{verb.upper()}_{number}"),
            (f"ERR-{thing[:3].upper()}-{number + 1000}", f"{thing[:3].upper()}-{number + 1000}"),
        )[number % 5]
        facts.append((rng.choice(_FACTS).format(thing=thing, verb=verb, made=made), made, part))
    return facts


def identifier_set(folder: Path) -> dict[str, Set]:
    """A store of such facts, and 150 questions for them by kind."""
    facts = identifier_facts()
    turns = [
        dialogues.Turn(f"fact-{at:04d}", "project", "", text, "", NOW_MS - 60_000 * (len(facts) - at))
        for at, (text, _, _) in enumerate(facts)
    ]
    bench = tuning.bench_on(dialogues.write(folder, turns, prefixed=False))
    rng = random.Random(11)
    chosen = rng.sample(range(len(facts)), 150)
    asked: dict[str, list[Asked]] = {kind: [] for kind in KINDS}
    for place, at in enumerate(chosen):
        _, whole, part = facts[at]
        kind = KINDS[0 if place < 50 else 1 if place < 95 else 2 if place < 115 else 3]
        query = {
            "alone": whole,
            "in a question": f"what did we say about {whole}?",
            "other case": whole.lower() if whole != whole.lower() else whole.upper(),
            "a part": part,
        }[kind]
        asked[kind].append(Asked(query, "project", frozenset((f"fact-{at:04d}",)), None))
    return {f"identifiers, {kind}": (bench, questions) for kind, questions in asked.items()}


def talks(folder: Path, source: Path, title: str) -> dict[str, Set]:
    """Dialogues of a folder in one store, each asked in its own scope."""
    read = [dialogues.read(name, source) for name in dialogues.names(source)]
    bench = tuning.bench_on(dialogues.write(folder, [turn for turns, _ in read for turn in turns]))
    asked = [Asked(q.query, str(q.scope), frozenset(q.expected), None) for _, each in read for q in each]
    return {title: (bench, asked)}


def in_languages(folder: Path) -> dict[str, Set]:
    """Facts in languages whose script the bundled model never learned; see `languages`."""
    every = {name: languages.facts(name) for name in languages.LANGUAGES}
    turns = [turn for each in every.values() for turn, _ in each]
    bench = tuning.bench_on(dialogues.write(folder, turns, prefixed=False))
    return {
        name: (bench, [Asked(question, name, frozenset((turn.id,)), None) for turn, question in each])
        for name, each in every.items()
    }


def sets(shared: Path, root: Path) -> dict[str, Set]:
    """Every set by its title; those of the shared material where it is at hand."""
    found = talks(root / "dialogues", dialogues.FOLDER, "English dialogues")
    found |= talks(root / "chats", dialogues.FOLDER / "chats", "chats")
    if shared.is_dir():
        bench, parts = tuning.read_tuning(shared, root / "tuning")
        long = [asked for asked in parts["realmem"] if len(asked.query.split()) >= LONG]
        found |= {"notes": (bench, parts["realmem"]), "long questions": (bench, long)}
        found["Chinese"] = (bench, parts["cmrc"])
    return found | in_languages(root / "languages") | identifier_set(root / "identifiers")


def measures(ids: Sequence[str], relevant: frozenset[str]) -> tuple[float, float, float]:
    """recall@10, nDCG@10, hit@1."""
    gains = np.array([each in relevant for each in ids[:10]], float)
    discounts = 1 / np.log2(np.arange(2, 12))
    ideal = discounts[: min(10, len(relevant))].sum()
    return (
        gains.sum() / len(relevant),
        float(gains @ discounts[: len(gains)] / ideal),
        float(gains[:1].sum()),
    )


def table(
    found: Mapping[str, Set], before: Mapping[str, Sequence[Sequence[str]]]
) -> dict[str, list[list[str]]]:
    """Print a line for each set; the first ten of each question."""
    answers: dict[str, list[list[str]]] = {}
    for title, (bench, questions) in found.items():
        ours, words = by_recipe(bench), by_words(bench)
        answers[title] = [list(ours(asked)) for asked in questions]
        made = np.array([measures(ids, q.relevant) for ids, q in zip(answers[title], questions, strict=True)])
        plain = np.array([measures(words(q), q.relevant) for q in questions])
        mean, low, high = interval(made[:, 1] - plain[:, 1])
        line = (
            f"{title:<26}{len(questions):4d}  recall@10 {made[:, 0].mean():.3f}  nDCG@10 {made[:, 1].mean():.3f}"
            f"  hit@1 {made[:, 2].mean():.3f}  keywords {plain[:, 1].mean():.3f}"
            f"  minus them {mean:+.3f} [{low:+.3f}, {high:+.3f}]"
        )
        if title in before:
            old = np.array(
                [measures(ids, q.relevant) for ids, q in zip(before[title], questions, strict=True)]
            )
            mean, low, high = interval(made[:, 1] - old[:, 1])
            moved = sum(a != list(b) for a, b in zip(answers[title], before[title], strict=True))
            line += f"  since then {mean:+.4f} [{low:+.4f}, {high:+.4f}], {moved} lists differ"
        print(line, flush=True)
    return answers


def main() -> int:
    parser = argparse.ArgumentParser(description="Where the recipe memtui stands.")
    parser.add_argument("shared", nargs="?", type=Path, default=SHARED)
    parser.add_argument("--save", type=Path, metavar="FILE")
    parser.add_argument("--against", type=Path, metavar="FILE")
    args = parser.parse_args()
    before = json.loads(args.against.read_text("utf-8")) if args.against else {}
    with tempfile.TemporaryDirectory() as place:
        answers = table(sets(args.shared, Path(place)), before)
    if args.save:
        args.save.write_text(json.dumps(answers), encoding="utf-8")
    checked = confidence.cross_validated(confidence.samples(shared=args.shared))
    print("questions that nothing answers, a line for one false alarm in twenty:")
    print("\n".join(f"  {each}" for each in confidence.shares(checked)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
