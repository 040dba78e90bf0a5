"""The peer's recorded recalls against ours, twice: with its search hits injected, and with our own searches.

`python -m tests.conformance.table` prints the same comparison as one table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conformance.compare import TIE
from tests.conformance.recalls import compare_builtin
from tests.conformance.replay import Peer

pytestmark = pytest.mark.conformance


@pytest.fixture(scope="module")
def peer(shared: Path, unpack: Callable[[Path], Path]) -> Iterator[Peer]:
    folder = shared / "fixtures" / "peer"
    peer = Peer(shared, unpack(folder / "store-clean.tar.gz"), unpack(folder / "store-lived.tar.gz"))
    yield peer
    peer.reranker.close()


@pytest.mark.parametrize("one_in", [3, pytest.param(1, marks=pytest.mark.slow)])
def test_with_the_recorded_hits_every_stage_of_every_recall_is_equal(peer: Peer, one_in: int) -> None:
    """Every third with the README's command: each configuration and each question has its turn; and all."""
    outcome = peer.run(recorded=True, one_in=one_in)
    assert outcome.cases == -(-1600 // one_in)
    assert outcome.different == {}


@pytest.mark.slow
def test_with_our_own_searches_every_recall_is_equal_but_for_one_tie(peer: Peer) -> None:
    """Nothing is excused by a flag: the one trace left has equal scores on both sides of a cut.

    There the plugin's engine answers from two tasks, in the order in which they come to an end.
    """
    outcome = peer.run(recorded=False)
    assert outcome.different.keys() <= {TIE}
    assert outcome.equal >= 1599, outcome.different


def test_the_recorded_rerank_requests_are_what_we_send(peer: Peer) -> None:
    compared = 0
    for trace in peer.data["traces"]:
        if "rerank_request" not in trace:
            continue
        peer.reranker.requests.clear()
        assert peer.compare(trace, recorded=True) == ""
        assert len(peer.reranker.requests) == 1
        sent, recorded = peer.reranker.requests[0], trace["rerank_request"]
        assert sent["path"] == recorded["path"]
        assert sent["body"] == recorded["body"]
        assert {name: sent["headers"].get(name) for name in recorded["headers"]} == recorded["headers"]
        compared += 1
    assert compared == 12


def test_the_built_in_programs_recalls_are_equal(shared: Path, tmp_path: Path) -> None:
    compared = compare_builtin(shared, tmp_path)
    assert [(name, cases) for name, cases, _, _ in compared] == [
        ("recalls, builtin-old", 22),
        ("recalls, builtin-mixed", 21),
        ("recalls, builtin-new", 24),
    ]
    assert [different for _, _, _, different in compared] == [{}, {}, {}]
