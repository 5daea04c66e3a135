"""The `.env` file with API keys and settings. Its origin decides which variables it may set.

A file that is found in the working directory may come from somebody else, in a repository or archive that the user
has unpacked. Such a file may choose endpoints, settings and variables for the user's own code. It may not choose
which code runs, where Benchwright stores its files, or which proxies and certificates are used. A file that the
user names may set everything. An address from such a file receives only keys from the same file.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from pathlib import Path

from benchwright.errors import UserError

DEFAULT_FILE_NAME = ".env"
NAMED_FILE_VARIABLES = {
    *("BENCHWRIGHT_HOME", "OSMOSIS_CACHE_DIR", "BENCHWRIGHT_CONFIG", "BENCHWRIGHT_ENV_FILE"),
    *("BENCHWRIGHT_MODULE", "BENCHWRIGHT_MCP", "BENCHWRIGHT_AGENT_COMMAND", "BENCHWRIGHT_EVAL_FN"),
    *("BENCHWRIGHT_PLUGIN", "BENCHWRIGHT_NODE", "BENCHWRIGHT_RAY_ADDRESS"),
    *("BENCHWRIGHT_OUTPUT", "BENCHWRIGHT_OUTPUT_DIR", "BENCHWRIGHT_OUTPUT_PATH"),
    *("BENCHWRIGHT_CA_FILE", "BENCHWRIGHT_CLIENT_CERT", "BENCHWRIGHT_CLIENT_KEY", "BENCHWRIGHT_HEADERS_ENV"),
    *("BENCHWRIGHT_JUDGE_HEADERS_ENV", "BENCHWRIGHT_BASELINE_HEADERS_ENV"),
    *("BENCHWRIGHT_CACHE_RM_YES", "BENCHWRIGHT_CACHE_RM_EVERYTHING"),
}
"""Names of Benchwright's variables that only a file named by the user can set.

These variables choose code to run, files to write or remove, trusted certificates, and which other variables are
sent to a server.
"""

CODE_LOADING_PREFIXES = (
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
"""Prefixes of variables with which interpreters, loaders and tools can be made to run other code.

A file that is only found cannot set such variables.
"""

MACHINE_VARIABLES = {"PATH", "HOME", "SHELL", "ENV", "IFS", "TMPDIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"}
"""Names of variables by which this machine finds programs, the user's files and trusted certificates.

A file that is only found cannot set these variables.
"""

MAX_LISTED_VARIABLES = 3


class EnvironmentFile:
    """The `.env` file that was read into this process's environment, if any.

    `values`: the variables that the file set. `named`: the file's absolute path if the user named the file. It is
    None if the file was found.
    """

    def __init__(self) -> None:
        self.values: dict[str, str] = {}
        self.named: Path | None = None
        self._path = Path(DEFAULT_FILE_NAME)
        self._typed: Sequence[str] = ()

    def read(
        self,
        path: Path | None,
        typed: Sequence[str],
        say: Callable[[str], None],
        environ: MutableMapping[str, str] = os.environ,
    ) -> None:
        """Add a file's variables to the environment. A variable that exists already keeps its value.

        `path`: the file that the user named; None for `.env` in the working directory. Such a file may set only
        some variables, and `say` reports the ignored variables in one line. `typed`: option values as typed, by
        which `check_address` later knows addresses that the user gave.

        Raises:
            UserError: If the file cannot be read, or is not UTF-8 text.
        """
        self.values, self._typed, self._path = {}, typed, path or Path(DEFAULT_FILE_NAME)
        self.named = path.absolute() if path is not None else None
        text = _text_of(self._path) if path is not None else _text_found(say)
        values = _values_in(text)
        left = [name for name in values if path is None and not _may_be_found(name)]
        self.values = {
            name: value for name, value in values.items() if name not in left and name not in environ
        }
        environ.update(self.values)
        if left:
            more = ", …" if len(left) > MAX_LISTED_VARIABLES else ""
            say(
                f"Note: {DEFAULT_FILE_NAME} also sets {', '.join(left[:MAX_LISTED_VARIABLES])}{more}, not taken from a "
                "file that is found by "
                f"itself; --env-file {DEFAULT_FILE_NAME} takes all of it."
            )

    def check_address(self, base_url: str, key: str) -> None:
        """Refuse to send an API key to an address that the file sets.

        The key is sent if it is from the same file, or if the user typed the address.

        Raises:
            UserError: If the file sets the address but not the key, and the user did not type the address.
        """
        name = next((name for name, value in self.values.items() if base_url in value), None)
        if name is None or key in self.values.values() or any(base_url in text for text in self._typed):
            return
        raise UserError(
            f"{name} in {self._path} sends requests to {base_url}, but the API key is not from that file, so it is not "
            f"sent there. If you trust the address, give it with --base-url; if it needs no key, give --api-key EMPTY."
        )

    def environment_without(self, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
        """Return the environment for a child process of Benchwright, without the file's variables.

        The child process reads the file by itself.
        """
        kept = {name: value for name, value in environ.items() if name not in self.values}
        return kept if self.named is None else {**kept, "BENCHWRIGHT_ENV_FILE": str(self.named)}


def _may_be_found(name: str) -> bool:
    known = name.upper()
    if known in NAMED_FILE_VARIABLES or known in MACHINE_VARIABLES or known.endswith("_PROXY"):
        return False
    return not known.startswith(CODE_LOADING_PREFIXES)


def _text_found(say: Callable[[str], None]) -> str:
    """Return the content of the file `.env` in the working directory. Empty if there is no such file.

    If other users can change the file, print a warning and return an empty text.
    """
    try:
        link, file = os.lstat(DEFAULT_FILE_NAME), os.stat(DEFAULT_FILE_NAME)
    except OSError:
        return ""
    if stat.S_ISDIR(file.st_mode):
        return ""
    why = _distrust(link) or _distrust(file)
    if why:
        say(
            f"Warning: {DEFAULT_FILE_NAME} is ignored: {why}; or name it with --env-file {DEFAULT_FILE_NAME}."
        )
        return ""
    return _text_of(Path(DEFAULT_FILE_NAME))


def _distrust(file: os.stat_result) -> str | None:
    """Return the reason not to read a file that was found in the working directory.

    None if only the user owns the file (or link) and can write to it.
    """
    if file.st_uid != os.geteuid():
        return "it belongs to another user: write one of your own"
    if not (stat.S_ISREG(file.st_mode) or stat.S_ISLNK(file.st_mode)):
        return "it is not a file: remove it"
    if not stat.S_ISLNK(file.st_mode) and file.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"others can write to it: run `chmod go-w {DEFAULT_FILE_NAME}`"
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
    """Return the variables that the text of an environment file sets, as {name: value}.

    `${NAME}` refers to an earlier line of the file, never to the environment.
    """
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
"""The environment file of this process."""
