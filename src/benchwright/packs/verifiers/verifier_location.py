"""Decides how each verifier is reached, according to the pack's manifest and the user's settings."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchwright.packs.configuration import VerifierSettings
from benchwright.packs.manifest_types import VerifierSpec
from benchwright.packs.types import VerifierMode
from benchwright.records import Record


class PackVerifiers(Record, frozen=True):
    """The verifiers of a pack. `specs`: their entries in the manifest.

    `settings`: the user's settings by verifier id.
    """

    id: str
    version: str
    directory: Path
    specs: Sequence[VerifierSpec]
    settings: Mapping[str, VerifierSettings] = {}


class VerifierLocation(Record, frozen=True):
    """How one verifier is reached.

    In the mode docker, `port` is the port inside the container, and `build_context` is the folder from which
    `image` is built; it is None if `image` is pulled. In other modes, `url` is the address without a trailing
    slash. `missing_setting_advice`: None if it is known how to reach the verifier. Otherwise, what the user
    can do to make it known.
    """

    id: str
    mode: VerifierMode
    is_required: bool
    auto_start: bool = True
    health_path: str | None = None
    image: str = ""
    build_context: Path | None = None
    port: int = 0
    url: str | None = None
    missing_setting_advice: str | None = None


def locate_verifiers(pack: PackVerifiers) -> list[VerifierLocation]:
    """Return how each verifier of a pack is reached."""
    return [
        locate_verifier(pack, spec, pack.settings.get(spec.id, VerifierSettings())) for spec in pack.specs
    ]


def locate_verifier(pack: PackVerifiers, spec: VerifierSpec, settings: VerifierSettings) -> VerifierLocation:
    """Return how one verifier is reached.

    If several images are possible, an image that the user set is preferred. Next comes the image built from
    the pack, which always has the pack's version, and last the image that the pack names.
    """
    mode = settings.mode or spec.default_mode
    if mode == "docker":
        return _docker(pack, spec, settings)
    if mode == "cloud":
        address = settings.cloud_url or (spec.cloud.base_url if spec.cloud else None)
        path = spec.cloud.healthcheck_path if spec.cloud else None
    else:
        address = settings.custom_url or (spec.custom_url.default_url if spec.custom_url else None)
        path = spec.custom_url.healthcheck_path if spec.custom_url else None
    setting = "cloud_url" if mode == "cloud" else "custom_url"
    missing = (
        None
        if address
        else f"its mode is {mode} but no address is set; set {setting} {settings_location(pack, spec.id)}"
    )
    url = address.rstrip("/") if address else None
    return VerifierLocation(
        spec.id, mode, spec.required, settings.auto_start, path, url=url, missing_setting_advice=missing
    )


def _docker(pack: PackVerifiers, spec: VerifierSpec, settings: VerifierSettings) -> VerifierLocation:
    declared = spec.docker
    missing: str | None = None
    if declared is None:
        missing = f"the pack has no Docker image; set mode {settings_location(pack, spec.id)}"
        return VerifierLocation(
            spec.id, "docker", spec.required, settings.auto_start, missing_setting_advice=missing
        )
    context: Path | None = None
    image = settings.docker_image or declared.image or ""
    if not settings.docker_image and declared.build_context is not None:
        context, image = pack.directory / declared.build_context, image_name(pack.id, spec.id)
    elif not image:
        place = settings_location(pack, spec.id)
        missing = f"the pack names neither an image nor a build context; set docker_image {place}"
    return VerifierLocation(
        spec.id,
        "docker",
        spec.required,
        settings.auto_start,
        declared.healthcheck_path,
        image,
        context,
        declared.listen_port,
        missing_setting_advice=missing,
    )


def settings_location(pack: PackVerifiers, verifier_id: str) -> str:
    """Return where in the configuration the settings of a verifier are, for messages."""
    return f"under [benchpacks.{pack.id}.verifiers.{verifier_id}]"


def image_name(pack_id: str, verifier_id: str) -> str:
    """Return the name, without a tag, of the images built for a verifier. Each verifier has another name."""
    return f"benchwright/{_lowered(pack_id)}-{_lowered(verifier_id)}"


def kept_container_name(pack_id: str, verifier_id: str) -> str:
    """Return the name under which a verifier's container is kept after a run. The next run finds it by this name."""
    return f"{pack_id}/{verifier_id}"


def _lowered(name: str) -> str:
    """Return a name in the form allowed for images. If it had to be changed, it ends with a digest of `name`."""
    lowered = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    if lowered == name:
        return name
    return f"{lowered or 'x'}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
