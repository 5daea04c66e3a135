"""Parser of a problem's public and hidden tests. It never executes code from the data."""

from __future__ import annotations

import base64
import binascii
import io
import pickle
import zlib
from typing import NoReturn

import msgspec

from benchwright.records import Record

MAX_TESTS_BYTES = 2**30
"""Maximum size of a problem's decompressed hidden tests, in bytes. The largest have about 200 MB."""


class Test(Record, frozen=True):
    """One test: the program's input and its expected output."""

    __test__ = False

    input: str
    output: str


def read_tests(text: str) -> list[Test]:
    """Parse tests from JSON, or from the encoding of hidden tests.

    Hidden tests are encoded as base64 of a zlib stream of a pickle, which contains only a string of JSON.

    Raises:
        ValueError: If the text has neither form.
    """
    try:
        return msgspec.json.decode(text, type=list[Test])
    except msgspec.DecodeError:
        pass
    try:
        return msgspec.json.decode(_unpickled(_decompressed(text)), type=list[Test])
    except (binascii.Error, zlib.error, pickle.UnpicklingError, EOFError, msgspec.DecodeError) as error:
        raise ValueError(f"the tests cannot be read: {error}") from error


def _decompressed(text: str) -> bytes:
    stream = zlib.decompressobj()
    data = stream.decompress(base64.b64decode(text, validate=True), MAX_TESTS_BYTES)
    if not stream.eof:
        raise ValueError(
            f"the tests cannot be read: they are cut off, or have more than {MAX_TESTS_BYTES:,} bytes"
        )
    return data


def _unpickled(data: bytes) -> str:
    """Return the string that a pickle contains.

    A pickle that refers to a class or function is refused, and the class or function is not imported.
    """
    try:
        found = _OnlyPlainData(io.BytesIO(data)).load()
    except (ValueError, IndexError, KeyError, AttributeError, TypeError, OverflowError, MemoryError) as error:
        raise pickle.UnpicklingError(f"not a pickle: {error}") from error
    if not isinstance(found, str):
        raise pickle.UnpicklingError(f"the pickle holds no text but {type(found).__name__}")
    return found


class _OnlyPlainData(pickle.Unpickler):
    """An unpickler that refuses all classes and functions, so that a pickle cannot execute anything."""

    def find_class(self, module: str, name: str) -> NoReturn:
        raise pickle.UnpicklingError(f"the pickle asks for {module}.{name}")

    def persistent_load(self, identity: object) -> NoReturn:
        raise pickle.UnpicklingError("the pickle asks for an object of its own")
