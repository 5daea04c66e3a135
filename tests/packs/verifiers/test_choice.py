"""Where a verifier is to be had: the pack's declaration and the user's settings together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.packs.configuration import VerifierSettings
from benchwright.packs.manifest_types import CloudVerifier, CustomUrlVerifier, DockerVerifier, VerifierSpec
from benchwright.packs.verifiers import PackVerifiers, locate_verifiers
from benchwright.packs.verifiers.verifier_location import VerifierLocation, image_name

SPEC = VerifierSpec(
    "sandbox",
    "docker",
    required=True,
    docker=DockerVerifier(4010, "maker/image:1", "./verification", "/health"),
    cloud=CloudVerifier("https://verifier.example/v/", "/up"),
    custom_url=CustomUrlVerifier("http://127.0.0.1:4010", "/health"),
)


def choice(spec: VerifierSpec = SPEC, **settings: Any) -> VerifierLocation:
    pack = PackVerifiers(
        "pack-15", "1.0", Path("/packs/pack-15"), [spec], {"sandbox": VerifierSettings(**settings)}
    )
    [only] = locate_verifiers(pack)
    return only


def without(**sections: Any) -> VerifierSpec:
    return VerifierSpec("sandbox", "docker", **{"docker": SPEC.docker, **sections})


def test_the_packs_own_build_comes_before_the_image_it_names() -> None:
    found = choice()
    assert (found.mode, found.port, found.health_path) == ("docker", 4010, "/health")
    assert (found.image, found.build_context) == (
        "benchwright/pack-15-sandbox",
        Path("/packs/pack-15/verification"),
    )


def test_the_users_image_comes_before_both() -> None:
    found = choice(docker_image="mine:2")
    assert (found.image, found.build_context) == ("mine:2", None)


def test_an_image_is_pulled_where_there_is_nothing_to_build() -> None:
    found = choice(without(docker=DockerVerifier(1, "maker/image:1")))
    assert (found.image, found.build_context) == ("maker/image:1", None)


def test_addresses_of_the_user_come_before_those_of_the_pack() -> None:
    assert choice(mode="cloud").url == "https://verifier.example/v"
    assert choice(mode="cloud", cloud_url="http://mine/").url == "http://mine"
    assert choice(mode="custom_url").url == "http://127.0.0.1:4010"
    assert choice(mode="custom_url", custom_url="http://mine:1").url == "http://mine:1"


@pytest.mark.parametrize(
    ("spec", "settings", "missing"),
    [
        (without(docker=None), {}, "the pack has no Docker image; set mode under"),
        (
            without(docker=DockerVerifier(1)),
            {},
            "names neither an image nor a build context; set docker_image under",
        ),
        (without(), {"mode": "cloud"}, "its mode is cloud but no address is set; set cloud_url under"),
        (
            without(),
            {"mode": "custom_url"},
            "its mode is custom_url but no address is set; set custom_url under",
        ),
    ],
)
def test_what_is_missing_is_told_with_what_to_set(
    spec: VerifierSpec, settings: dict[str, Any], missing: str
) -> None:
    said = choice(spec, **settings).missing_setting_advice
    assert said is not None
    assert missing in said
    assert said.endswith("[benchpacks.pack-15.verifiers.sandbox]")


NAMES = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,20}", fullmatch=True)


@given(first=NAMES, second=NAMES)
def test_names_of_images_are_valid_and_differ_where_ids_do(first: str, second: str) -> None:
    name = image_name(first, "verifier")
    assert name == name.lower()
    assert not any(two in name for two in ("--", "-/", "/-"))
    assert (name == image_name(second, "verifier")) == (first == second)
