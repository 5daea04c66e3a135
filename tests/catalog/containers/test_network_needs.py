"""What scripts of tests need of a network, as their text shows it."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchwright.catalog.containers.network_needs import find_network_needs, hosts_in, read_texts_below
from benchwright.sandbox.egress import PACKAGE_MIRRORS


@pytest.mark.parametrize(
    ("script", "programs"),
    [
        ("apt-get update && apt-get install -y curl", ("apt-get",)),
        ("DEBIAN_FRONTEND=noninteractive apt-get -y -q install git", ("apt-get",)),
        ("curl -LsSf https://astral.sh/uv/0.9.5/install.sh | sh", ("curl",)),
        ("uvx -p 3.13 -w pytest==8.4.1 pytest /tests/test_outputs.py", ("uvx",)),
        ("if true; then pip install pytest; fi", ("pip",)),
        ("python3 -m pip install \\\n  pytest", ("pip",)),
        ("uv pip install pytest", ("pip",)),
        ("npm ci && npx jest", ("npm", "npx")),
        ("sudo git clone --depth 1 https://code.example/a.git", ("git",)),
        ("wget -q http://data.example/set.tgz", ("wget",)),
    ],
)
def test_programs_that_fetch_are_found(script: str, programs: tuple[str, ...]) -> None:
    assert find_network_needs([f"#!/bin/bash\n{script}\n"]).programs == programs


@pytest.mark.parametrize(
    "script",
    [
        "# pip install pytest",
        "pip install --no-index -f wheels pytest",
        "pip --version; apt-get --version; curl --version",
        "curl -s http://localhost:8080/health",
        "curl -s http://127.0.0.1:8080/",
        "git clone /srv/repository.git",
        "export UV_OFFLINE=1\nuvx pytest",
        "echo done with the installation of pip",
        "python -m pytest /tests",
    ],
)
def test_what_works_without_a_network_needs_none(script: str) -> None:
    assert find_network_needs([script]).programs == ()


def test_hosts_are_those_of_urls_and_of_programs_that_name_none() -> None:
    needs = find_network_needs(["pip install pytest\nwget https://data.example/set.tgz\n"])
    assert needs.hosts == (*PACKAGE_MIRRORS["PyPI"], "data.example")


def test_addresses_and_this_machine_are_no_hosts_that_a_text_names() -> None:
    text = "See https://Data.example:8443/x, http://10.0.0.1/ and http://localhost:80; git://code.example/a."
    assert hosts_in(text) == ("data.example", "code.example")


def test_texts_are_read_below_folders_and_what_is_no_text_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test.sh").write_text("one")
    (tmp_path / "tests/set.bin").write_bytes(b"\xff\xfe")
    (tmp_path / "tests/link").symlink_to("/etc/hostname")
    assert list(read_texts_below([tmp_path / "tests", tmp_path / "missing"])) == ["one"]
