"""Replaces the sentence-transformers library for BFCL's classes: sends requests to `encoder.py`.

`encoder.py` runs the real library in a separate process, since loading it takes seconds and 1 GB of memory.
"""

from __future__ import annotations

import base64
import json
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray


class SentenceTransformer:
    """The embedding model. The same model is used, whatever name the caller requests."""

    def __init__(self, name: str, device: str) -> None: ...

    def get_sentence_embedding_dimension(self) -> int:
        """Return the number of dimensions of an embedding."""
        return int(self.encode([""], normalize_embeddings=True).shape[1])

    def encode(self, sentences: list[Any], normalize_embeddings: bool) -> NDArray[np.float32]:
        """Return the embeddings of texts, normalised to length 1, in shape (texts, dimensions).

        Raises:
            ValueError: If the real library raised an exception. The message is that exception's message.
        """
        assert normalize_embeddings, "that is the only kind that there is"
        print(json.dumps({"encode": repr(sentences)}), file=sys.__stdout__, flush=True)
        answer = json.loads(sys.stdin.readline())
        if "error" in answer:
            raise ValueError(answer["error"])
        values = np.frombuffer(base64.b64decode(answer["values"]), dtype="<f4")
        return values.astype(np.float32).reshape(answer["shape"])
