"""Programs that fetch find their way through the proxy by the usual variables."""

from __future__ import annotations

import asyncio
import os
import shutil
import ssl
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.sandbox.egress.outside import Answer, Outside, WebServer, serving

from benchwright.catalog.containers.egress import Egress
from benchwright.catalog.containers.network_rules import NetworkRules
from benchwright.sandbox.egress import EgressPolicy
from benchwright.sandbox.egress.proxy import SOCKET_NAME

INDEX = "packages.example"
HOSTS = (INDEX, "npm.example", "apt.example")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificate"),
]


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for the hosts, with its key."""
    path = tmp_path_factory.mktemp("tls") / "both.pem"
    names = ",".join(f"DNS:{host}" for host in HOSTS)
    command = (
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=mirrors"
    )
    argv = [*command.split(), "-addext", f"subjectAltName={names}", "-keyout", str(path), "-out", str(path)]
    made = subprocess.run([*argv[:-1], f"{path}.crt"], capture_output=True, check=True)
    assert made.returncode == 0
    path.write_bytes(path.read_bytes() + Path(f"{path}.crt").read_bytes())
    return path


def leading_to(path: Path) -> Answer:
    """Connects whoever comes with a Unix socket, as the forwarder in a container does."""

    async def passed(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        while piece := await source.read(65536):
            sink.write(piece)
            await sink.drain()
        sink.write_eof()

    async def lead(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        other_reader, other_writer = await asyncio.open_unix_connection(path)
        ways = (passed(reader, other_writer), passed(other_reader, writer))
        try:
            await asyncio.gather(*ways, return_exceptions=True)
        finally:
            other_writer.transport.abort()
            writer.close()

    return lead


async def asked(argv: Sequence[str], certificate: Path, home: Path) -> list[str]:
    """The first lines of what the world outside was asked by a program that has no other way out."""
    server = WebServer({"/-/ping": b"{}", "/simple/": b"packages"})
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)
    async with (
        serving(server) as plain,
        serving(server, context) as tls,
        Outside(plain, tls=tls).proxy() as proxy,
    ):
        way = Egress(proxy, NetworkRules(), "agent", EgressPolicy(HOSTS))
        async with serving(leading_to(proxy.folder / SOCKET_NAME)) as (_, port):
            environment = {"PATH": os.environ["PATH"], "HOME": str(home), **way.proxy_environment(port)}
            program = await asyncio.create_subprocess_exec(
                *argv, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
            )
            said, _ = await asyncio.wait_for(program.communicate(), 60)
        assert [one.host for one in proxy.traffic.connections if one.allowed], said
    return [head.split(b" HTTP")[0].decode() for head in server.requests]


APT = (
    *("apt-get", "-o", "Dir::Etc::SourceList={home}/sources.list", "-o", "Dir::Etc::SourceParts=/nowhere"),
    *("-o", "Dir::State={home}", "-o", "Dir::Cache={home}", "-o", "APT::Sandbox::User=root", "update"),
)


@pytest.mark.parametrize(
    ("argv", "request_line"),
    [
        (("curl", "-sS", "--cacert", "{ca}", "https://packages.example/simple/"), "GET /simple/"),
        (("curl", "-sS", "http://packages.example/simple/"), "GET /simple/"),
        (("wget", "-q", "-O-", "--ca-certificate={ca}", "https://packages.example/simple/"), "GET /simple/"),
        (
            ("git", "-c", "http.sslCAInfo={ca}", "ls-remote", "https://packages.example/a.git"),
            "GET /a.git/info/refs?service=git-upload-pack",
        ),
        (
            (
                *(sys.executable, "-m", "pip", "--isolated", "download", "--no-deps", "--retries=0"),
                *("-i", "https://packages.example/simple", "--cert={ca}", "-d", "{home}", "sample"),
            ),
            "GET /simple/sample/",
        ),
        (("npm", "ping", "--registry=https://npm.example/", "--cafile={ca}"), "GET /-/ping"),
        (APT, "GET /debian/dists/stable/InRelease"),
    ],
    ids=["curl", "curl without TLS", "wget", "git", "pip", "npm", "apt"],
)
async def test_a_program_reaches_a_mirror(
    argv: Sequence[str], request_line: str, certificate: Path, tmp_path: Path
) -> None:
    if shutil.which(argv[0]) is None:
        pytest.skip(f"there is no {argv[0]}")
    (tmp_path / "sources.list").write_text("deb http://apt.example/debian stable main\n")
    (tmp_path / "lists/partial").mkdir(parents=True)
    (tmp_path / "archives/partial").mkdir(parents=True)
    words = [word.format(ca=f"{certificate}.crt", home=tmp_path) for word in argv]
    assert request_line in await asked(words, certificate, tmp_path)
