"""A small model made here: an ONNX file and a tokenizer, with synonyms that stand beside each other.

A word's vector is that of its meaning plus a share of the mean over everything that is read: it knows its sentence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, pre_tokenizers

WIDTH = 48

MARKS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")


def make_model(folder: Path, words: Sequence[str], same: Mapping[str, str], *, seed: int = 1) -> Path:
    """Write `tokenizer.json` and `model.onnx`; a word of `same` has nearly the vector of the word it names."""
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = {word: at for at, word in enumerate((*MARKS, *dict.fromkeys((*words, *same))))}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    random = np.random.default_rng(seed)
    table = random.normal(size=(len(vocabulary), WIDTH)).astype(np.float32)
    for word, other in same.items():
        noise = random.normal(size=WIDTH).astype(np.float32) * 0.1
        table[vocabulary[word]] = table[vocabulary[other]] + noise
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["each"]),
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["mask", "last"], ["mask3"]),
        helper.make_node("Mul", ["each", "mask3"], ["seen"]),
        helper.make_node("ReduceSum", ["seen", "along"], ["sum"], keepdims=1),
        helper.make_node("ReduceSum", ["mask3", "along"], ["count"], keepdims=1),
        helper.make_node("Div", ["sum", "count"], ["mean"]),
        helper.make_node("Add", ["each", "mean"], ["last_hidden_state"]),
    ]
    graph = helper.make_graph(
        nodes,
        "small",
        [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["n", "width"])
            for name in ("input_ids", "attention_mask")
        ],
        [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["n", "width", WIDTH])],
        [
            numpy_helper.from_array(table, "table"),
            numpy_helper.from_array(np.array([2], np.int64), "last"),
            numpy_helper.from_array(np.array([1], np.int64), "along"),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, str(folder / "model.onnx"))
    return folder
