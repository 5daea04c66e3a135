"""BFCL's type names, mapped to JSON Schema types, and to the Python types used for comparing values."""

from __future__ import annotations

from typing import Any

JSON_TYPES = {
    **dict.fromkeys(("integer", "byte", "short", "long", "Bigint"), "integer"),
    **dict.fromkeys(("number", "float", "double"), "number"),
    **dict.fromkeys(("string", "String", "char", "any", "Any"), "string"),
    **dict.fromkeys(("boolean", "bool"), "boolean"),
    **dict.fromkeys(("array", "list", "tuple", "ArrayList", "Array", "Queue", "Stack"), "array"),
    **dict.fromkeys(("dict", "object", "HashMap", "Hashtable"), "object"),
}
"""Mapping from BFCL's type names to those of JSON Schema. Any other name becomes `string`."""

PYTHON_TYPES: dict[str, type[Any]] = {
    "string": str,
    "integer": int,
    "float": float,
    "boolean": bool,
    "array": list,
    "tuple": list,
    "dict": dict,
    "any": str,
}

JAVA_TYPES: dict[str, type[Any]] = {
    **dict.fromkeys(("byte", "short", "integer", "long"), int),
    **dict.fromkeys(("float", "double"), float),
    "boolean": bool,
    **dict.fromkeys(("char", "String", "any"), str),
    **dict.fromkeys(("Array", "ArrayList", "Queue", "Stack"), list),
    "Set": set,
    **dict.fromkeys(("HashMap", "Hashtable"), dict),
}

JAVASCRIPT_TYPES: dict[str, type[Any]] = {
    "String": str,
    "integer": int,
    "float": float,
    "Bigint": int,
    "Boolean": bool,
    "dict": dict,
    "array": list,
    "any": str,
}

COLLECTION_TYPES = {
    "python": ("array", "tuple"),
    "java": ("Array", "ArrayList"),
    "javascript": ("array",),
}
"""Mapping from a language to its collection types.

For these types, the declared type of the elements is checked, too.
"""

MAX_SOURCE_LENGTH = 4000
"""Maximum length in characters of a Java or JavaScript value that is parsed. The longest right value has 210."""
