"""The image of the Dockerfile is usable as it is, and compose.yaml leads to a real evaluation in the viewer.

The image is built on a base that is made of this machine's files (image_kit.py), not on one that is pulled; the
Dockerfile's own base and its lines of apt-get are not tried.
"""

from __future__ import annotations

import json
import subprocess
import urllib.request

import pytest
from tests.image.composed import composed, services
from tests.image.image_kit import build_image
from tests.sandbox.docker.stand_ins import docker, soon

EXTRAS = ("bfcl", "docker", "hub", "ifbench", "litellm", "math", "mcp", "otel", "parquet")
QUESTIONS = 30


def test_the_viewer_of_the_compose_file_is_reached_from_this_machine_only() -> None:
    published = [port for service in services().values() for port in service.get("ports", [])]
    assert published == ["127.0.0.1:7345:7345"]


@pytest.mark.slow
@pytest.mark.timeout(1800)
class TestInTheEngine:
    """Builds the image where it is not built yet, which takes some minutes."""

    @pytest.fixture
    def image(self, running_engine: None) -> str:
        return build_image("benchwright")

    def findings(self, image: str, *options: str) -> dict[str, tuple[str, str]]:
        """Return what `doctor` says in the image: state and words of each part."""
        found = json.loads(docker("run", "--rm", *options, image, "doctor", "--json"))["findings"]
        return {each["subject"]: (each["state"], each["said"]) for each in found}

    def test_the_user_is_not_root(self, image: str) -> None:
        assert docker("run", "--rm", "--entrypoint", "id", image, "-u") == "1000"

    def test_doctor_finds_every_extra_and_no_problem(self, image: str) -> None:
        findings = self.findings(image)
        assert {findings[f"extra {name}"][0] for name in EXTRAS} == {"ok"}
        assert [name for name, (state, _) in findings.items() if state == "problem"] == []

    def test_bubblewrap_works_with_the_options_of_the_compose_file(self, image: str) -> None:
        options = [f"--security-opt={option}" for option in services()["evaluation"]["security_opt"]]
        state, said = self.findings(image, *options)["sandbox"]
        assert (state, said.partition(",")[0]) == ("ok", "bubblewrap")

    def test_without_these_options_doctor_says_that_only_limits_protect(self, image: str) -> None:
        state, said = self.findings(image)["sandbox"]
        assert (state, said.partition(",")[0]) == ("missing", "limits only")

    def test_the_services_evaluate_a_real_model_and_show_the_run(self, running_engine: None) -> None:
        with composed() as stack:
            stack.start("model")
            evaluated = stack.run("evaluation")
            assert evaluated.returncode == 0, evaluated.stderr[-2000:]
            assert (
                f"questions-smollm2: finished, {QUESTIONS} of {QUESTIONS} trials"
                in evaluated.stdout + evaluated.stderr
            )
            assert "SIMULATED" not in evaluated.stdout
            viewer = stack.start("viewer")
            assert soon(lambda: "token=" in logs(viewer))
            host = docker("port", viewer, "7345/tcp")
            assert host.startswith("127.0.0.1:")
            token = logs(viewer).partition("token=")[2].split()[0]
            visitor = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
            visitor.open(f"http://{host}/?token={token}").close()
            with visitor.open(f"http://{host}/") as page:
                assert "questions-smollm2" in page.read().decode()


def logs(container: str) -> str:
    """Return what a container printed."""
    ended = subprocess.run(["docker", "logs", container], capture_output=True, text=True, check=True)
    return ended.stdout + ended.stderr
