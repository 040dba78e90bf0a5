"""Replaying the peer's recorded recalls through ours, one by one."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from time import sleep
from typing import Any

import numpy as np

from memtui.engine import MemtuiError, RecallRequest
from memtui.engine.recall.answer import recall
from memtui.engine.recall.context import RecallContext
from memtui.engine.recall.io_cache import IoCache, RerankAnswer, request_scores
from memtui.engine.recall.recipes.pro.settings import RetrievalSettings
from memtui.engine.store.open import open_store
from tests.conformance.compare import TIE, differences, stage_items

EXACT = 1e-12
OWN_SEARCH = 2e-5
"""BM25 raw values agree to 2e-6 where the engines' words agree; vectors to 1e-7 in the score."""


class Reranker:
    """A loopback reranker that answers what the recorded one answered, in the shape of the provider asked."""

    def __init__(self) -> None:
        self.answers: dict[str, float] = {}
        self.requests: list[dict[str, Any]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.requests.append({"path": self.path, "body": body, "headers": dict(self.headers)})
                status, payload = outer.answer(self.path, body)
                data = json.dumps(payload).encode()
                try:
                    self.send_response(status)
                    self.send_header("Content-Length", str(len(data)))
                    self.end_headers()
                    self.wfile.write(data)
                except (BrokenPipeError, ConnectionResetError):
                    return

            def log_message(self, *args: Any) -> None:
                return

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    @property
    def port(self) -> int:
        return int(self.server.server_address[1])

    def answer(self, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        if path.startswith("/fail"):
            return 500, {"error": "down"}
        if path.startswith("/invalid"):
            return 200, {"unexpected": True}
        if path.startswith("/slow"):
            sleep(0.45)
        texts = body.get("texts") or body.get("documents") or body["input"]["documents"]
        texts = [text["text"] if isinstance(text, dict) else text for text in texts]
        scored = [(i, self.answers[text]) for i, text in enumerate(texts) if text in self.answers]
        scored.sort(key=lambda pair: -pair[1])
        items = [{"index": i, "relevance_score": s, "score": s} for i, s in scored]
        if path.startswith("/tei"):
            return 200, items
        if path.startswith("/dashscope"):
            return 200, {"output": {"results": items}}
        return 200, {"data": items} if path.startswith(("/voyage", "/pinecone")) else {"results": items}

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@dataclass
class Outcome:
    """How many recalls agree, and for each that does not: which, and why."""

    cases: int = 0
    equal: int = 0
    different: dict[str, list[str]] = field(default_factory=dict)

    def add(self, name: str, why: str) -> None:
        self.cases += 1
        if why:
            self.different.setdefault(why, []).append(name)
        else:
            self.equal += 1


class Searched(IoCache):
    """Remembers searches; the reranker is asked every time, since the recordings differ in what it answered."""

    def rerank(
        self, retrieval: RetrievalSettings, query: str, documents: Sequence[str], top_n: int, budget_ms: float
    ) -> RerankAnswer:
        return request_scores(retrieval, query, documents, top_n, budget_ms)


class Peer:
    """The recorded recalls, the stores they were made on, and a loopback reranker."""

    def __init__(self, shared: Path, clean: Path, lived: Path) -> None:
        folder = shared / "fixtures" / "peer"
        with gzip.open(folder / "traces.json.gz", "rt", encoding="utf-8") as file:
            self.data: dict[str, Any] = json.load(file)
        self.queries = {query["qid"]: query for query in self.data["queries"]}
        self.vectors = np.load(folder / "query_vectors.npy")
        self.stores = {"clean": open_store(clean), "lived": open_store(lived)}
        self.texts = {}
        for line in (folder / "memories.jsonl").read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            self.texts[row["id"]] = row["text"]
        self.reranker = Reranker()
        self.asked: dict[tuple[str, str], IoCache] = {}

    def request(self, trace: Mapping[str, Any], *, recorded: bool) -> RecallRequest:
        """The recall that makes `trace`; with `recorded` its search hits are injected as lanes."""
        config = self.data["configs"][trace["config"]]
        query = self.queries[trace["qid"]]
        retrieval = dict(config["retrieval"])
        retrieval["disableNativeCosine"] = bool(config["disable_native_cosine"])
        retrieval["rerankEndpoint"] = retrieval["rerankEndpoint"].replace("<rerank>", str(self.reranker.port))
        lanes = {}
        if recorded:
            for lane in ("vector", "bm25"):
                search = trace[f"{lane}_search"]
                if search is not None:
                    lanes[lane] = [hit[:2] for hit in self.data["searches"][lane][search]["hits"]]
        index = query["vector_index"]
        return RecallRequest(
            query=query["text"],
            recipe="pro/tool",
            config={"retrieval": retrieval, "decay": config["decay"]},
            source=trace["source"],
            scopes=query["scope_filter"],
            category=query["category"],
            limit=trace["limit"],
            now_ms=self.data["now_ms"],
            query_vector=None if index is None else self.vectors[index].tolist(),
            lanes=lanes if recorded else None,
            rerank_timeout_ms=(config["call_overrides"] or {}).get("rerankTimeoutMs"),
        )

    def compare(self, trace: Mapping[str, Any], *, recorded: bool) -> str:
        """Empty when ours equals `trace` in every stage and in the result; else the first difference."""
        store = self.stores[self.data["configs"][trace["config"]]["store"]]
        self.reranker.answers = {
            self.texts[item[0]]: item[2]
            for stage in trace["stages"]
            if stage["stage"] == "reranked"
            for item in stage["items"]
            if len(item) > 2 and item[2] is not None
        }
        try:
            request = self.request(trace, recorded=recorded)
            ours = recall(
                request, RecallContext(store, 0, None), outside=self._outside(trace, recorded=recorded)
            )
        except MemtuiError as error:
            return "" if trace.get("error") else f"error: {error.message}"
        if trace.get("error"):
            return "the peer fails, ours does not"
        if not ours.proof.recomputed:
            return f"proof: {ours.proof.failures[0]}"
        document = ours.as_json()
        tolerance = EXACT if recorded else OWN_SEARCH
        names = [stage["name"] for stage in document["stages"]]
        for stage in trace["stages"]:
            if stage["stage"] not in names:
                return f"{stage['stage']} is missing"
            theirs = [(item[0], item[1]) for item in stage["items"]]
            why = differences(
                stage_items(document, stage["stage"]), theirs, tolerance, ties=0 if recorded else tolerance
            )
            if why:
                return f"{stage['stage']}: {why}"
        theirs = [(result["id"], result["score"]) for result in trace["results"]]
        mine = [(result["id"], result["score"]) for result in document["results"]]
        why = differences(mine, theirs, tolerance, ties=0 if recorded else tolerance)
        if why or not recorded:
            return f"results: {why}" if why else ""
        return _other_ranks(document["results"], trace["results"])

    def _outside(self, trace: Mapping[str, Any], *, recorded: bool) -> IoCache | None:
        """What was found for the same question under another configuration: no search is made forty times."""
        if recorded:
            return None
        key = (self.data["configs"][trace["config"]]["store"], trace["qid"])
        if key not in self.asked:
            self.asked[key] = Searched(self.stores[key[0]].pin())
        return self.asked[key]

    def run(self, *, recorded: bool, only: str | None = None, one_in: int = 1) -> Outcome:
        """Compare every recorded recall, or every so many."""
        outcome = Outcome()
        for trace in self.data["traces"][::one_in]:
            if only is not None and trace["config"] != only:
                continue
            name = f"{trace['config']}/{trace['qid']}"
            why = self.compare(trace, recorded=recorded)
            if why.endswith(TIE) and not recorded:
                why = TIE
            outcome.add(name, why)
        return outcome


def _other_ranks(ours: Sequence[Mapping[str, Any]], theirs: Sequence[Mapping[str, Any]]) -> str:
    """The first result whose place in a search is another than the plugin tells; empty when there is none."""
    for mine, recorded in zip(ours, theirs, strict=True):
        for lane in ("vector", "bm25"):
            told, known = (each["sources"].get(lane, {}).get("rank") for each in (mine, recorded))
            if told != known:
                return f"sources.{lane}.rank of {mine['id']} is {told}, the plugin says {known}"
    return ""
