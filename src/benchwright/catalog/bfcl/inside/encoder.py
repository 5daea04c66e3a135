"""Embeds texts with sentence-transformers: one JSON line in, one out. Runs in the sandbox, with the model beside it.

    {"encode": "['a text', 'another']"}     -> {"shape": [2, 384], "values": "…"}     32-bit floats in base64

The texts are written as a Python literal, since they may be anything that a model has put in their place. Where the
library raises, the answer is `{"error": "what it said"}`. It works with one thread: its last digits would depend on the
number of processors otherwise.
"""

from __future__ import annotations

import ast
import base64
import json
import os
import sys
from functools import lru_cache
from typing import Any

KEPT = 64
"""Answers that are kept: all questions of a scenario begin by embedding the same memory."""


def main() -> None:
    """Says `{}` once the model is loaded, and answers line by line until stdin ends."""
    out, sys.stdout = sys.stdout, sys.stderr
    os.environ.update(
        HF_HUB_OFFLINE="1", OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", TOKENIZERS_PARALLELISM="false"
    )
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer("model", device="cpu")

    @lru_cache(KEPT)
    def answered(source: str) -> str:
        return json.dumps(embedded(model, source))

    print("{}", file=out, flush=True)
    for line in sys.stdin:
        print(answered(json.loads(line)["encode"]), file=out, flush=True)


def embedded(model: Any, source: str) -> dict[str, Any]:
    """The answer to what is asked."""
    try:
        vectors = model.encode(ast.literal_eval(source), normalize_embeddings=True)
    except Exception as error:  # whatever it raises is told to who asked
        return {"error": str(error)}
    return {"shape": vectors.shape, "values": base64.b64encode(vectors.astype("<f4").tobytes()).decode()}


if __name__ == "__main__":
    main()
