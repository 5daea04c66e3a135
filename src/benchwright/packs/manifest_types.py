"""Structs for the contents of a pack's manifest, which `manifest` reads."""

from __future__ import annotations

from typing import Any

from benchwright.packs.types import GenerationRequest, VerifierMode
from benchwright.records import Record


class Capabilities(Record, frozen=True):
    """Features that the pack says it has."""

    tools: bool = False
    multi_turn: bool = False
    streaming_progress: bool = False
    verification: bool = False


class Requirements(Record, frozen=True):
    """The pack's requirements of its host; see `versions.incompatibility_reason`."""

    min_version: str | None = None
    max_version_exclusive: str | None = None
    host_features: list[str] = []


class DockerVerifier(Record, frozen=True):
    """A verifier that runs as a container, with a port inside the container.

    The container's image is named, or it is built from a directory of the pack.
    """

    listen_port: int
    image: str | None = None
    build_context: str | None = None
    healthcheck_path: str | None = None


class CloudVerifier(Record, frozen=True):
    """A verifier that the maker of the pack hosts."""

    base_url: str | None = None
    healthcheck_path: str | None = None


class CustomUrlVerifier(Record, frozen=True):
    """A verifier that the user runs, at an address that the user sets."""

    default_url: str | None = None
    healthcheck_path: str | None = None


class VerifierSpec(Record, frozen=True):
    """A verifier that the pack declares, with one section for each mode in which the verifier can be used."""

    id: str
    default_mode: VerifierMode
    required: bool = False
    description: str | None = None
    docker: DockerVerifier | None = None
    cloud: CloudVerifier | None = None
    custom_url: CustomUrlVerifier | None = None


class PackManifest(Record, frozen=True):
    """A valid manifest.

    `raw`: the whole JSON object as read, including unknown keys. `sampling_defaults`: as in the pack,
    unfiltered. `type`: "table" for packs that can run here. Packs of the type "web" are recognised only to
    report that they are not supported. `warnings`: faults that do not prevent the pack from running.
    """

    id: str
    name: str
    version: str
    entry: str
    capabilities: Capabilities = Capabilities()
    author: str | None = None
    description: str | None = None
    repository_url: str | None = None
    accent: str | None = None
    sampling_defaults: GenerationRequest = {}
    verifiers: list[VerifierSpec] = []
    requirements: Requirements = Requirements()
    type: str = "table"
    warnings: list[str] = []
    raw: dict[str, Any] = {}
