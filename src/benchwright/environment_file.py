"""The `.env` file: keys and settings that are kept in a file, and how far it is trusted.

The file in the working directory is perhaps somebody else's, who wrote it into what the user has cloned or unpacked. It
may say whom to ask and how, and what the user's own code is to know, but not which code runs, where our own files lie,
or which proxies and certificates to use; a file that the user names may say everything. To an address that a file
gives, only keys of the same file are sent.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from pathlib import Path

from benchwright.errors import UserError

NAME = ".env"
ONLY_IF_NAMED = {
    *("BENCHWRIGHT_HOME", "OSMOSIS_CACHE_DIR", "BENCHWRIGHT_CONFIG", "BENCHWRIGHT_ENV_FILE"),
    *("BENCHWRIGHT_MODULE", "BENCHWRIGHT_MCP", "BENCHWRIGHT_AGENT_COMMAND", "BENCHWRIGHT_EVAL_FN"),
    *("BENCHWRIGHT_PLUGIN", "BENCHWRIGHT_NODE", "BENCHWRIGHT_RAY_ADDRESS"),
    *("BENCHWRIGHT_OUTPUT", "BENCHWRIGHT_OUTPUT_DIR", "BENCHWRIGHT_OUTPUT_PATH"),
    *("BENCHWRIGHT_CA_FILE", "BENCHWRIGHT_CLIENT_CERT", "BENCHWRIGHT_CLIENT_KEY", "BENCHWRIGHT_HEADERS_ENV"),
    *("BENCHWRIGHT_JUDGE_HEADERS_ENV", "BENCHWRIGHT_BASELINE_HEADERS_ENV"),
    *("BENCHWRIGHT_CACHE_RM_YES", "BENCHWRIGHT_CACHE_RM_EVERYTHING"),
}
"""Settings of ours that only a file which the user names can make: code, files that are written or removed, the
certificates that are trusted, and which other variables are sent to a server."""

PROGRAMS = (
    "PYTHON",
    "LD_",
    "DYLD_",
    "NODE_",
    "NPM_",
    "PIP_",
    "UV_",
    "GIT_",
    "SSH_",
    "DOCKER_",
    "SSL_",
    "BASH_",
    "XDG_",
)
"""How the names of variables begin by which interpreters, loaders and tools are made to run other code."""

MACHINE = {"PATH", "HOME", "SHELL", "ENV", "IFS", "TMPDIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"}
"""Where this machine looks for programs, its user's files and the certificates it trusts."""

MOST_NAMED = 3


class EnvironmentFile:
    """The file that was read into this process's environment, if any.

    `values` is what it set there. `named` is its absolute path where the user named it, else None.
    """

    def __init__(self) -> None:
        self.values: dict[str, str] = {}
        self.named: Path | None = None
        self._path = Path(NAME)
        self._typed: Sequence[str] = ()

    def read(
        self,
        path: Path | None,
        typed: Sequence[str],
        say: Callable[[str], None],
        environ: MutableMapping[str, str] = os.environ,
    ) -> None:
        """Adds to the environment what a file sets and it does not: `path`, or the one of the working directory.

        `typed` are the values of options as the user typed them. One line says what is not taken from a file that was
        found.

        Raises:
            UserError: the file cannot be read, or is no UTF-8 text.
        """
        self.values, self._typed, self._path = {}, typed, path or Path(NAME)
        self.named = path.absolute() if path is not None else None
        text = _text_of(self._path) if path is not None else _text_found(say)
        values = _values_in(text)
        left = [name for name in values if path is None and not _may_be_found(name)]
        self.values = {
            name: value for name, value in values.items() if name not in left and name not in environ
        }
        environ.update(self.values)
        if left:
            more = ", …" if len(left) > MOST_NAMED else ""
            say(
                f"Note: {NAME} also sets {', '.join(left[:MOST_NAMED])}{more}, not taken from a file that is found by "
                f"itself; --env-file {NAME} takes all of it."
            )

    def check_address(self, base_url: str, key: str) -> None:
        """Sees to it that a key of somebody else's choosing goes to no address that the file gives.

        Raises:
            UserError: the file gives the address and not the key, and the user did not type the address.
        """
        name = next((name for name, value in self.values.items() if base_url in value), None)
        if name is None or key in self.values.values() or any(base_url in text for text in self._typed):
            return
        raise UserError(
            f"{name} in {self._path} sends requests to {base_url}, but the API key is not from that file, so it is not "
            f"sent there. If you trust the address, give it with --base-url; if it needs no key, give --api-key EMPTY."
        )

    def environment_without(self, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
        """The environment for another process of ours, which is to read the file by itself."""
        kept = {name: value for name, value in environ.items() if name not in self.values}
        return kept if self.named is None else {**kept, "BENCHWRIGHT_ENV_FILE": str(self.named)}


def _may_be_found(name: str) -> bool:
    known = name.upper()
    if known in ONLY_IF_NAMED or known in MACHINE or known.endswith("_PROXY"):
        return False
    return not known.startswith(PROGRAMS)


def _text_found(say: Callable[[str], None]) -> str:
    """The text of the file in the working directory; nothing where it is not the user's alone, which is said."""
    try:
        link, file = os.lstat(NAME), os.stat(NAME)
    except OSError:
        return ""
    if stat.S_ISDIR(file.st_mode):
        return ""
    why = _distrust(link) or _distrust(file)
    if why:
        say(f"Warning: {NAME} is ignored: {why}; or name it with --env-file {NAME}.")
        return ""
    return _text_of(Path(NAME))


def _distrust(file: os.stat_result) -> str | None:
    """Why a file found in the working directory is not read; None for a file, or a link, of the user's alone."""
    if file.st_uid != os.geteuid():
        return "it belongs to another user: write one of your own"
    if not (stat.S_ISREG(file.st_mode) or stat.S_ISLNK(file.st_mode)):
        return "it is not a file: remove it"
    if not stat.S_ISLNK(file.st_mode) and file.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"others can write to it: run `chmod go-w {NAME}`"
    return None


def _text_of(path: Path) -> str:
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}.") from None
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise UserError(f"{path} is not UTF-8 text: save it as UTF-8.")
    return text


def _values_in(text: str) -> dict[str, str]:
    """What a file sets. `${NAME}` stands for what is set further up in the file, never for a variable outside of it."""
    if not text:
        return {}
    from io import StringIO

    from dotenv import dotenv_values
    from dotenv.variables import parse_variables

    values: dict[str, str] = {}
    for name, value in dotenv_values(stream=StringIO(text), interpolate=False).items():
        if name and value is not None:
            values[name] = "".join(atom.resolve(values) for atom in parse_variables(value))
    return values


ENVIRONMENT_FILE = EnvironmentFile()
"""That of this process."""
