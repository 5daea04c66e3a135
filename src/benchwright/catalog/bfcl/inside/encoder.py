"""Embeds texts with sentence-transformers: one JSON line in, one out. Runs in the sandbox, next to the model.

    {"encode": "['a text', 'another']"}     -> {"shape": [2, 384], "values": "…"}     32-bit floats in base64

The texts are written as a Python literal, since a model may have put a value of any type in place of texts.
If the library raises, the response is `{"error": "its message"}`. One thread is used, because otherwise the
last digits would depend on the number of processors.
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
"""Number of responses that are cached: all questions of a scenario begin by embedding the same memory."""


def main() -> None:
    """Print `{}` once the model is loaded. Then respond to each line on stdin until stdin ends."""
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
    """Return the response to a request: embeddings, or an error."""
    try:
        vectors = model.encode(ast.literal_eval(source), normalize_embeddings=True)
    except Exception as error:  # any exception is reported to the caller
        return {"error": str(error)}
    return {"shape": vectors.shape, "values": base64.b64encode(vectors.astype("<f4").tobytes()).decode()}


if __name__ == "__main__":
    main()
