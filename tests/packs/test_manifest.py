"""Manifests: what is read, what is refused and in which words, and what is only doubtful."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.packs.manifest import ManifestError, ManifestMissing, PackManifest, read_manifest
from benchwright.packs.manifest_check import check_manifest
from benchwright.packs.manifest_types import (
    Capabilities,
    CloudVerifier,
    CustomUrlVerifier,
    DockerVerifier,
    Requirements,
    VerifierSpec,
)

VERIFIER = {
    "id": "verifier",
    "transport": "http",
    "required": True,
    "defaultMode": "docker",
    "docker": {"buildContext": "./verification", "listenPort": 4010, "healthcheckPath": "/health"},
}
WHOLE: dict[str, Any] = {
    "schemaVersion": 1,
    "protocolVersion": 1,
    "id": "bugs-15",
    "name": "Bugs 15",
    "author": "somebody",
    "version": "1.0.0",
    "description": "Finds bugs.",
    "repository": {"type": "git", "url": "https://host.example/bugs"},
    "theme": {"accent": "#ff8800"},
    "entry": "./dist/benchlocal/index.js",
    "samplingDefaults": {"temperature": 0, "maxTokens": 400, "stream": False},
    "capabilities": {"tools": False, "multiTurn": True, "streamingProgress": True, "verification": True},
    "requirements": {"benchlocal": {"minVersion": "0.2.0"}, "hostFeatures": ["inferenceEndpoints"]},
    "verifiers": [VERIFIER],
    "somethingNew": {"kept": True},
}


def write(directory: Path, manifest: Any) -> Path:
    (directory / "benchlocal.pack.json").write_text(json.dumps(manifest))
    return directory


def checked(**changes: Any) -> PackManifest:
    manifest, problems = check_manifest({**WHOLE, **changes})
    assert problems == []
    assert manifest is not None
    return manifest


def without(name: str) -> dict[str, Any]:
    return {key: value for key, value in WHOLE.items() if key != name}


def test_every_field_is_read(tmp_path: Path) -> None:
    manifest = read_manifest(write(tmp_path, WHOLE))
    assert (manifest.id, manifest.name, manifest.version, manifest.type) == (
        "bugs-15",
        "Bugs 15",
        "1.0.0",
        "table",
    )
    assert manifest.entry == "./dist/benchlocal/index.js"
    assert (manifest.author, manifest.description) == ("somebody", "Finds bugs.")
    assert (manifest.repository_url, manifest.accent) == ("https://host.example/bugs", "#ff8800")
    assert manifest.capabilities == Capabilities(multi_turn=True, streaming_progress=True, verification=True)
    assert manifest.requirements == Requirements(min_version="0.2.0", host_features=["inferenceEndpoints"])
    assert manifest.verifiers == [
        VerifierSpec(
            "verifier",
            "docker",
            required=True,
            docker=DockerVerifier(4010, None, "./verification", "/health"),
        )
    ]
    assert manifest.warnings == []


def test_keys_that_are_unknown_are_kept_and_sampling_defaults_are_not_filtered() -> None:
    manifest = checked()
    assert manifest.raw == WHOLE
    assert manifest.sampling_defaults == {"temperature": 0, "maxTokens": 400, "stream": False}


def test_the_least_that_a_manifest_needs() -> None:
    least = {
        name: WHOLE[name] for name in ("schemaVersion", "protocolVersion", "id", "name", "version", "entry")
    }
    manifest, problems = check_manifest({**least, "capabilities": {"verification": False}})
    assert problems == []
    assert manifest is not None
    assert (manifest.verifiers, manifest.sampling_defaults, manifest.requirements) == ([], {}, Requirements())


def test_the_old_names_of_verifiers_are_read_where_the_new_ones_are_absent() -> None:
    former = {**without("verifiers"), "sidecars": [VERIFIER], "capabilities": {"sidecars": True}}
    manifest, _ = check_manifest(former)
    assert manifest is not None
    assert manifest.capabilities.verification
    assert [verifier.id for verifier in manifest.verifiers] == ["verifier"]
    both = checked(sidecars=[{**VERIFIER, "id": "former"}])
    assert [verifier.id for verifier in both.verifiers] == ["verifier"]


def test_verifiers_of_all_modes_are_read() -> None:
    verifiers = [
        {"id": "c", "transport": "http", "required": False, "defaultMode": "cloud",
         "cloud": {"baseUrl": "https://host.example", "healthcheckPath": "/ok"}},
        {"id": "u", "transport": "http", "required": False, "defaultMode": "custom_url", "customUrl": {}},
        {"id": "d", "transport": "http", "required": False, "defaultMode": "docker",
         "docker": {"image": "host/image:1", "listenPort": 80}},
    ]  # fmt: skip
    cloud, custom, docker = checked(verifiers=verifiers).verifiers
    assert cloud.cloud == CloudVerifier("https://host.example", "/ok")
    assert custom.custom_url == CustomUrlVerifier()
    assert docker.docker == DockerVerifier(80, "host/image:1")


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "another schema": ({"schemaVersion": 2}, "schemaVersion: expected 1, found 2"),
    "a version as text": ({"protocolVersion": "1"}, 'protocolVersion: expected 1, found "1"'),
    "a version as truth": ({"protocolVersion": True}, "protocolVersion: expected 1, found true"),
    "not a valid file name": ({"name": None}, "name: expected a string, found null"),
    "an empty version": ({"version": " "}, 'version: expected a string, found " "'),
    "a list as entry": ({"entry": ["a"]}, 'entry: expected a string, found ["a"]'),
    "an id that is a path": ({"id": "../x"}, "id: expected letters"),
    "capabilities as a list": ({"capabilities": []}, "capabilities: expected an object, found []"),
    "no word on verification": (
        {"capabilities": {}},
        "capabilities.verification: expected true or false, found nothing",
    ),
    "requirements as text": ({"requirements": "0.2"}, 'requirements: expected an object, found "0.2"'),
    "a host version as number": (
        {"requirements": {"benchlocal": {"minVersion": 2}}},
        "requirements.benchlocal.minVersion: expected a version, found 2",
    ),
    "features as text": (
        {"requirements": {"hostFeatures": "x"}},
        'requirements.hostFeatures: expected a list of strings, found "x"',
    ),
    "a feature as number": (
        {"requirements": {"hostFeatures": [1]}},
        "requirements.hostFeatures: expected a list of strings, found [1]",
    ),
    "verifiers as an object": ({"verifiers": {}}, "verifiers: expected a list, found {}"),
    "a verifier as text": ({"verifiers": ["x"]}, 'verifiers[0]: expected an object, found "x"'),
    "a verifier twice": ({"verifiers": [VERIFIER, VERIFIER]}, "verifiers[1].id: 'verifier' appears twice"),
    "an unknown transport": (
        {"verifiers": [{**VERIFIER, "transport": "grpc"}]},
        'verifiers[0].transport: expected "http", found "grpc"',
    ),
    "an unknown mode": (
        {"verifiers": [{**VERIFIER, "defaultMode": "vm"}]},
        'verifiers[0].defaultMode: expected "docker", "cloud" or "custom_url", found "vm"',
    ),
    "docker without its section": (
        {"verifiers": [{**VERIFIER, "docker": None}]},
        "verifiers[0].docker: expected an object, because defaultMode is docker, found nothing",
    ),
    "a port that is none": (
        {"verifiers": [{**VERIFIER, "docker": {"image": "x", "listenPort": 70000}}]},
        "verifiers[0].docker.listenPort: expected a port from 1 to 65535, found 70000",
    ),
    "an address that is none": (
        {"verifiers": [{**VERIFIER, "cloud": {"baseUrl": "host"}}]},
        'verifiers[0].cloud.baseUrl: expected an http:// or https:// address, found "host"',
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_a_problem_names_the_field_what_was_expected_and_what_was_found(tmp_path: Path, what: str) -> None:
    changes, problem = WRONG[what]
    with pytest.raises(ManifestError) as caught:
        read_manifest(write(tmp_path, {**WHOLE, **changes}))
    assert len(caught.value.problems) == 1
    assert caught.value.problems[0].startswith(problem)


def test_all_problems_are_named_at_once() -> None:
    _, problems = check_manifest({**without("id"), "name": 1, "capabilities": None})
    assert [problem.partition(":")[0] for problem in problems] == ["id", "name", "capabilities"]


def test_what_does_not_keep_a_pack_from_running_is_a_warning() -> None:
    manifest = checked(author=1, theme="blue", samplingDefaults=[], repository={"url": 5})
    assert manifest.warnings == [
        "author: expected a string, found 1",
        "repository.url: expected a string, found 5",
        'theme: expected an object, found "blue"',
        "samplingDefaults: expected an object, found []",
    ]


@pytest.mark.parametrize("entry", ["../out.js", "/etc/passwd", "dist/../../out.js", "out.js\0"])
def test_an_entry_outside_the_pack_is_refused(tmp_path: Path, entry: str) -> None:
    with pytest.raises(ManifestError, match="entry "):
        read_manifest(write(tmp_path, {**WHOLE, "entry": entry}))


def test_an_entry_that_is_a_link_out_of_the_pack_is_refused(tmp_path: Path) -> None:
    pack = tmp_path / "pack"
    pack.mkdir()
    (tmp_path / "out.js").write_text("")
    (pack / "in.js").symlink_to("../out.js")
    with pytest.raises(ManifestError, match="must stay inside the pack"):
        read_manifest(write(pack, {**WHOLE, "entry": "in.js"}))
    (pack / "real.js").write_text("")
    (pack / "linked.js").symlink_to("real.js")
    assert read_manifest(write(pack, {**WHOLE, "entry": "linked.js"})).entry == "linked.js"


def test_a_build_context_outside_the_pack_is_refused(tmp_path: Path) -> None:
    verifier = {**VERIFIER, "docker": {"listenPort": 1, "buildContext": "../.."}}
    with pytest.raises(ManifestError, match=r"verifiers\[0\]\.docker\.buildContext must stay inside"):
        read_manifest(write(tmp_path, {**WHOLE, "verifiers": [verifier]}))


def test_web_packs_are_read_with_an_address_as_entry(tmp_path: Path) -> None:
    manifest = read_manifest(write(tmp_path, {**WHOLE, "type": "web", "entry": "https://host.example/app"}))
    assert manifest.type == "web"


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"\xff\xfe", b"[" * 200_000, b" " * (1024 * 1024) + b"{}", b'{"a": NaN}'],
    ids=["empty", "cut off", "a list", "no UTF-8", "too deep", "too large", "NaN"],
)
def test_a_file_that_is_no_manifest_is_an_error_of_one_line(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "benchlocal.pack.json").write_bytes(content)
    with pytest.raises(ManifestError) as caught:
        read_manifest(tmp_path)
    assert "\n" not in str(caught.value)


def test_a_manifest_that_is_no_file_is_never_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "benchlocal.pack.json")
    with pytest.raises(ManifestError, match="it is not a file"):
        read_manifest(tmp_path)
    with pytest.raises(ManifestMissing):
        read_manifest(tmp_path / "nowhere")


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
"""Any JSON."""


@given(
    changes=st.dictionaries(st.sampled_from([*WHOLE, "sidecars", "type"]), values, max_size=4), value=values
)
def test_whatever_is_written_there_is_a_manifest_or_a_list_of_problems(
    changes: dict[str, Any], value: Any
) -> None:
    for raw in ({**WHOLE, **changes}, value, {**WHOLE, "verifiers": [{**VERIFIER, **changes}]}):
        manifest, problems = check_manifest(raw)
        assert (manifest is None) == bool(problems)
        assert all("\n" not in problem for problem in problems)
