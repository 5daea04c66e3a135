"""Versions are ordered as Semantic Versioning says, and requirements are met or named."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.packs.manifest_types import Requirements
from benchwright.packs.versions import COMPATIBLE_VERSION, incompatibility_reason, version_key

PRECEDENCE = [
    *("0.9", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2"),
    *("1.0.0-beta.11", "1.0.0-rc.1", "1.0.0", "1.0.1", "1.2", "1.10", "2"),
]
"""Semantic Versioning 2.0.0, section 11, and numbers that are missing."""


def test_the_order_is_that_of_semantic_versioning() -> None:
    ranks = [version_key(version) for version in PRECEDENCE]
    assert None not in ranks
    assert all(first < second for first, second in itertools.pairwise(ranks))  # type: ignore[operator]


numbers = st.integers(0, 20)
identifiers = st.lists(st.one_of(numbers.map(str), st.sampled_from(["a", "b", "rc", "x-1"])), max_size=3)


@given(
    parts=st.lists(numbers, min_size=1, max_size=3),
    prerelease=identifiers,
    build=st.sampled_from(["", "+7.a"]),
)
def test_missing_numbers_are_zero_and_the_build_counts_for_nothing(
    parts: list[int], prerelease: list[str], build: str
) -> None:
    ending = f"-{'.'.join(prerelease)}" if prerelease else ""
    full = (*parts, 0, 0)[:3]
    short = ".".join(map(str, parts)) + ending + build
    assert version_key(short) == version_key(".".join(map(str, full)) + ending)


@given(parts=st.tuples(numbers, numbers, numbers), prerelease=identifiers.filter(bool))
def test_a_release_is_newer_than_its_prereleases_and_older_than_those_of_the_next(
    parts: tuple[int, int, int], prerelease: list[str]
) -> None:
    major, minor, patch = parts
    release = version_key(f"{major}.{minor}.{patch}")
    before = version_key(f"{major}.{minor}.{patch}-{'.'.join(prerelease)}")
    after = version_key(f"{major}.{minor}.{patch + 1}-{'.'.join(prerelease)}")
    assert before is not None
    assert release is not None
    assert after is not None
    assert before < release < after


@pytest.mark.parametrize(
    "text", ["", "v1", "1.", "1.2.3.4", "1.2.x", "1.0.0-", "1.0.0-a..b", " 1", "1\n", "١.٢"]
)
def test_what_is_no_version_has_no_rank(text: str) -> None:
    assert version_key(text) is None


@pytest.mark.parametrize(
    "requirements",
    [
        Requirements(),
        Requirements(min_version="0.2.0"),
        Requirements(min_version=COMPATIBLE_VERSION),
        Requirements(min_version="0.3.0-beta", max_version_exclusive="0.3.1"),
        Requirements(host_features=["inferenceEndpoints", "dockerInferenceEndpoints"]),
    ],
)
def test_requirements_that_are_met(requirements: Requirements) -> None:
    assert incompatibility_reason(requirements) is None


@pytest.mark.parametrize(
    ("requirements", "reason"),
    [
        (
            Requirements(min_version="0.3.1"),
            "needs host version 0.3.1 (or later); this one is compatible with 0.3.0",
        ),
        (Requirements(max_version_exclusive="0.3.0"), "needs host version 0.3.0 (excluded, at most)"),
        (Requirements(min_version="soon"), "minVersion 'soon' is not a version"),
        (Requirements(max_version_exclusive="1.x"), "maxVersionExclusive '1.x' is not a version"),
        (Requirements(host_features=["inferenceEndpoints", "teleport"]), "not supported: teleport"),
    ],
)
def test_requirements_that_are_not_met_say_why(requirements: Requirements, reason: str) -> None:
    assert reason in str(incompatibility_reason(requirements))


def test_the_version_stood_in_for_is_a_setting() -> None:
    assert incompatibility_reason(Requirements(min_version="0.9"), "1.0.0") is None
    assert "set to 'new'" in str(incompatibility_reason(Requirements(), "new"))
