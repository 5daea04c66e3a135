"""Program that runs one bash command in a folder of documents, in a sandbox that contains nothing else.

    {"command": "ls", "writes": false}  ->  {"code": 0, "stdout": "…", "stderr": "", "files": null}

`files` are the files after the command, {relative name: content}. It is null if the command may not write.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

FOLDER = Path("knowledge_base")


def main() -> None:
    """Read the command from stdin and write the result to stdout."""
    asked = json.load(sys.stdin)
    FOLDER.mkdir(exist_ok=True)
    if not asked["writes"]:
        for path in (*FOLDER.rglob("*"), FOLDER):
            path.chmod(0o555 if path.is_dir() else 0o444)
    # Output goes to files, whose size is limited, so that it cannot fill the memory.
    with open("stdout", "wb") as out, open("stderr", "wb") as errors:
        argv = [shutil.which("bash") or "sh", "-c", asked["command"]]
        ended = subprocess.run(argv, cwd=FOLDER, stdin=subprocess.DEVNULL, stdout=out, stderr=errors)
    answer: dict[str, Any] = {
        "code": ended.returncode if ended.returncode >= 0 else 128 - ended.returncode,
        "stdout": text(Path("stdout")),
        "stderr": text(Path("stderr")),
        "files": files_in_folder() if asked["writes"] else None,
    }
    json.dump(answer, sys.stdout, ensure_ascii=False)


def text(file: Path) -> str:
    """Return the content of a file as text, with invalid UTF-8 replaced."""
    return file.read_bytes().decode("utf-8", "replace")


def files_in_folder() -> dict[str, str]:
    """Return the files that are in the folder now, {relative name: content}."""
    files = (path for path in sorted(FOLDER.rglob("*")) if path.is_file() and not path.is_symlink())
    return {str(path.relative_to(FOLDER)): text(path) for path in files}


if __name__ == "__main__":
    main()
