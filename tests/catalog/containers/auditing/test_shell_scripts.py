"""Shell scripts are read as the commands that they give, wherever these are written."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.catalog.containers.auditing.shell_reader import ShellReader


def words(script: str) -> list[list[str]]:
    return [command.words for command in ShellReader().read(script).commands]


BLOB = base64.b64encode(b"cat /tests/test_outputs.py\n").decode()


@pytest.mark.parametrize(
    ("script", "command"),
    [
        ("cat a b", ["cat", "a", "b"]),
        ("sudo -E timeout 5s env A=1 cat a", ["cat", "a"]),
        ("A=1 cat a > b 2>&1", ["cat", "a"]),
        ("cat <a", ["cat", "a"]),
        ("true && (cd x; cat 'a b')", ["cat", "a b"]),
        ("if true; then cat a; fi", ["cat", "a"]),
        ("bash -c 'cat a'", ["cat", "a"]),
        ("sh -lc \"bash -c 'cat a'\"", ["cat", "a"]),
        ("bash <<'EOF'\ncat a\nEOF", ["cat", "a"]),
        ("eval cat a", ["cat", "a"]),
        ('echo "$(cat a)"', ["cat", "a"]),
        ("x=`cat a`; echo `cat a`", ["cat", "a"]),
        ("cat > run.sh <<EOF\ncat a\nEOF", ["cat", "a"]),
        ("D=a; cat $D", ["cat", "a"]),
        ("for f in a b; do cat $f; done", ["cat", "a"]),
        ("# it's a comment\ncat a", ["cat", "a"]),
        ("cat \\\n  a", ["cat", "a"]),
        ("diff <(cat a) b", ["cat", "a"]),
        (f"echo {BLOB} | base64 -d | sh", ["cat", "/tests/test_outputs.py"]),
        (f"base64 -d <<'E' | sh\n{BLOB}\nE", ["cat", "/tests/test_outputs.py"]),
        ("printf '\\x63\\x61\\x74\\x20\\x61' | sh", ["cat", "a"]),
        (f"echo {b'cat a'.hex()} | xxd -r -p | sh", ["cat", "a"]),
    ],
)
def test_a_command_is_found(script: str, command: list[str]) -> None:
    assert command in words(script)


def test_the_folder_that_one_script_changes_to_is_that_of_the_next() -> None:
    reader = ShellReader()
    reader.read("cd /a && cd b")
    (command,) = reader.read("cat c").commands
    assert command.resolve_path("c") == "/a/b/c"


def test_the_evidence_is_the_line_of_the_script() -> None:
    script = "cat > a.py <<'EOF'\nprint('x')\n\nEOF\ncat   b # why"
    assert [command.line for command in ShellReader().read(script).commands] == [
        "cat > a.py <<'EOF'",
        "cat   b # why",
    ]


@pytest.mark.parametrize(
    ("script", "path"),
    [
        ("echo x >> a", "a"),
        ("echo x | tee -a a", "a"),
        ("cp x y a/", "a/y"),
        ("mv x /usr/bin", "/usr/bin/x"),
        ("sed -i s/x/y/ a", "a"),
        ("dd if=x of=a", "a"),
        ("rm -rf a", "a"),
        ("python3 -c \"open('a', 'w').write('x')\"", "a"),
        ("python3 - <<EOF\nfrom pathlib import Path\nPath('a').write_text('x')\nEOF", "a"),
        ("cat > x.py <<EOF\nimport shutil\nshutil.copy('x', 'a')\nEOF", "a"),
    ],
)
def test_files_that_are_written_are_found(script: str, path: str) -> None:
    assert path in [writing.path for writing in ShellReader().read(script).file_writes]


@pytest.mark.parametrize(
    "script", ["echo 'unclosed", "cat <<EOF\nno end", "$(", ")))", "&& ||", ">", "a=(1 2"]
)
def test_what_is_no_script_is_read_as_far_as_it_goes(script: str) -> None:
    ShellReader().read(script)


@given(st.text(alphabet=st.sampled_from("abc $(){}[]<>|&;'\"`\\\n#=/EOF-")))
def test_no_text_is_too_odd_to_be_read(script: str) -> None:
    ShellReader().read(script)
