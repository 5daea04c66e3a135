"""Images: pulled with the user's login, noted as ours, listed and removed; what registries refuse, in plain words."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.sandbox.docker import stand_ins
from tests.sandbox.docker.registry import Registry, here, registry
from tests.sandbox.docker.stand_ins import IMAGE

from benchwright.sandbox.docker import Engine, EngineError, ImageProvider
from benchwright.sandbox.docker.image_records import lock_images
from benchwright.sandbox.docker.logins import find_login, full_image_name, registry_of
from benchwright.sandbox.docker.own_images import OwnImage, own_images, remove_own_image
from benchwright.sandbox.docker.pulls import PullProgress


@pytest.fixture
def hub(running_engine: None) -> Iterator[Registry]:
    with registry() as found:
        yield found


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BENCHWRIGHT_HOME", str(tmp_path / "home"))
    return tmp_path


async def ours(engine: Engine) -> set[str]:
    return {image.name for image in await own_images(engine)}


async def found(engine: Engine, name: str) -> OwnImage:
    (image,) = [one for one in await own_images(engine) if one.name == name]
    return image


class TestWhichAreOurs:
    async def test_what_we_pulled_is_ours_with_what_it_was_for(self, engine: Engine, hub: Registry) -> None:
        image = hub.image()
        engine.purpose = "swe_bench"
        await ImageProvider(engine).provide(image)
        one = await found(engine, image)
        assert (one.purpose, one.built) == ("swe_bench", False)
        assert one.bytes > 1_000_000
        assert one.used_at > 0

    async def test_what_was_there_before_is_not(self, engine: Engine, hub: Registry) -> None:
        image = hub.image()
        stand_ins.docker("pull", image)
        await ImageProvider(engine).provide(image)
        assert image not in await ours(engine)

    async def test_what_somebody_pulled_anew_under_the_name_is_not(
        self, engine: Engine, hub: Registry
    ) -> None:
        image = hub.image()
        await ImageProvider(engine).provide(image)
        stand_ins.docker("rmi", image)
        stand_ins.docker("tag", IMAGE, image)
        await ImageProvider(engine).provide(image)
        assert image not in await ours(engine)

    async def test_what_was_built_on_one_that_we_built_is_not(self, engine: Engine, hub: Registry) -> None:
        built, child = f"{hub.address}/built:1", f"{hub.address}/child:1"
        label = f"benchwright.image={hub.address}/built"
        stand_ins.docker(
            "build", "--tag", built, "--label", label, "-", stdin=f"FROM {IMAGE}\nENV A=1\n".encode()
        )
        stand_ins.docker("build", "--tag", child, "-", stdin=f"FROM {built}\nENV B=1\n".encode())
        listed = await ours(engine)
        assert built in listed
        assert child not in listed


class TestRemoving:
    async def test_it_goes_and_is_forgotten(self, engine: Engine, hub: Registry) -> None:
        image = hub.image()
        await ImageProvider(engine).provide(image)
        assert await remove_own_image(engine, await found(engine, image))
        assert here(hub) == []
        stand_ins.docker("pull", image)
        assert image not in await ours(engine)

    async def test_one_that_a_run_uses_stays(self, engine: Engine, hub: Registry) -> None:
        image = hub.image()
        await ImageProvider(engine).provide(image)
        async with lock_images(engine, [image]):
            assert not await remove_own_image(engine, await found(engine, image))
        assert here(hub) == [image]
        assert await remove_own_image(engine, await found(engine, image))

    async def test_a_built_one_is_in_use_by_its_name_without_a_tag(
        self, engine: Engine, hub: Registry
    ) -> None:
        name = f"{hub.address}/built"
        label = f"benchwright.image={name}"
        dockerfile = f"FROM {IMAGE}\nENV A=1\n".encode()
        stand_ins.docker("build", "--tag", f"{name}:1", "--label", label, "-", stdin=dockerfile)
        async with lock_images(engine, [name]):
            assert not await remove_own_image(engine, await found(engine, f"{name}:1"))
        assert await remove_own_image(engine, await found(engine, f"{name}:1"))

    async def test_one_that_a_container_uses_stays(self, engine: Engine, hub: Registry) -> None:
        image = hub.image()
        await ImageProvider(engine).provide(image)
        container = stand_ins.docker("create", image, "true")
        try:
            assert not await remove_own_image(engine, await found(engine, image))
            assert image in await ours(engine)
        finally:
            stand_ins.docker("rm", container)


class TestWhatRegistriesRefuse:
    async def test_a_rate_limit_says_what_to_do(self, engine: Engine, hub: Registry) -> None:
        image = hub.image()
        hub.limited = True
        with pytest.raises(EngineError) as refused:
            await ImageProvider(engine).provide(image)
        assert refused.value.kind == "rate_limited"
        assert "allows no more pulls for now. Run `docker login`" in str(refused.value)

    async def test_a_missing_image_says_what_to_do(self, engine: Engine, hub: Registry) -> None:
        with pytest.raises(EngineError) as refused:
            await ImageProvider(engine).provide(f"{hub.address}/nothing:1")
        assert refused.value.kind == "image_missing"
        assert "Check its name; a private one needs `docker login`" in str(refused.value)

    async def test_after_a_failed_pull_nothing_is_shown_as_pulled(
        self, engine: Engine, hub: Registry
    ) -> None:
        hub.limited = True
        with pytest.raises(EngineError):
            await ImageProvider(engine).provide(hub.image())
        assert engine.pulls.progress_lines() == []


class TestLogins:
    SECRET = base64.b64encode(b"me:secret").decode()

    @pytest.fixture
    def settings(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
        return tmp_path / "config.json"

    async def test_what_docker_login_has_kept_is_sent(
        self, engine: Engine, hub: Registry, settings: Path
    ) -> None:
        image = hub.image()
        hub.login = self.SECRET
        with pytest.raises(EngineError):
            await ImageProvider(engine).provide(image)
        settings.write_text(json.dumps({"auths": {hub.address: {"auth": self.SECRET}}}))
        await ImageProvider(engine).provide(image)
        assert here(hub) == [image]

    async def test_a_helper_is_asked(
        self, settings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        helper = tmp_path / "docker-credential-stand-in"
        helper.write_text(
            '#!/bin/sh\nread -r name\necho "{\\"Username\\":\\"me\\",\\"Secret\\":\\"$name\\"}"\n'
        )
        helper.chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
        settings.write_text('{"credsStore": "stand-in"}')
        found = await find_login("swebench/some:1")
        assert found == {"username": "me", "password": "https://index.docker.io/v1/"}

    @pytest.mark.parametrize(
        "written", ["", "[]", '{"auths": []}', '{"auths": {"https://index.docker.io/v1/": {"auth": "?"}}}']
    )
    async def test_without_a_login_that_can_be_read_there_is_none(self, settings: Path, written: str) -> None:
        settings.write_text(written)
        assert await find_login("busybox") is None

    @pytest.mark.parametrize(
        ("image", "registry", "full"),
        [
            ("ubuntu:22.04", "https://index.docker.io/v1/", "docker.io/library/ubuntu:22.04"),
            ("swebench/x:1", "https://index.docker.io/v1/", "docker.io/swebench/x:1"),
            ("docker.io/a/b", "https://index.docker.io/v1/", "docker.io/a/b"),
            ("ghcr.io/a/b:1", "ghcr.io", "ghcr.io/a/b:1"),
            ("localhost:5000/a", "localhost:5000", "localhost:5000/a"),
        ],
    )
    def test_the_registry_is_in_the_name(self, image: str, registry: str, full: str) -> None:
        assert registry_of(image) == registry
        assert full_image_name(image) == full


class TestPulls:
    GIB = 2**30

    def test_nothing_is_told_while_nothing_is_pulled(self) -> None:
        assert PullProgress().progress_lines() == []

    def test_how_much_of_the_layers_is_here(self) -> None:
        pulls = PullProgress()
        pulls.add("a:1")
        assert pulls.progress_lines() == ["pulling a:1"]
        detail = {"current": self.GIB // 2, "total": 2 * self.GIB}
        pulls.update("a:1", {"id": "x", "status": "Downloading", "progressDetail": detail})
        assert pulls.progress_lines() == ["pulling a:1: 0.50 of 2.00 GiB"]
        pulls.update("a:1", {"id": "x", "status": "Download complete"})
        assert pulls.progress_lines() == ["pulling a:1: 2.00 of 2.00 GiB"]

    def test_several_are_told_together(self) -> None:
        pulls = PullProgress()
        for image in ("a:1", "b:1"):
            pulls.add(image)
            detail = {"current": 0, "total": self.GIB}
            pulls.update(image, {"id": "x", "status": "Downloading", "progressDetail": detail})
        assert pulls.progress_lines() == ["pulling 2 images: 0.00 of 2.00 GiB"]
        pulls.remove("a:1")
        assert pulls.progress_lines() == ["pulling b:1: 0.00 of 1.00 GiB"]

    async def test_one_pull_serves_all_who_ask(self, engine: Engine, hub: Registry) -> None:
        image, images = hub.image(), ImageProvider(engine)
        await asyncio.gather(*(images.provide(image) for _ in range(5)))
        assert len(hub.pulled) == 1
        assert engine.pulls.progress_lines() == []
