"""Base URLs taken apart, and the proxy that the environment names for them."""

from __future__ import annotations

import pytest

from benchwright.endpoint.address import Address, Proxy, find_proxy, parse_base_url, replace_url_path
from benchwright.errors import UserError


class TestBaseUrls:
    @pytest.mark.parametrize(
        ("url", "address", "authority"),
        [
            ("http://h/v1", Address("http", "h", 80, "/v1"), "h"),
            ("https://h/v1/", Address("https", "h", 443, "/v1"), "h"),
            ("http://h:443", Address("http", "h", 443), "h:443"),
            ("http://h:8000/a/b/v1", Address("http", "h", 8000, "/a/b/v1"), "h:8000"),
            (" HTTP://Host.Example:80/V1\n", Address("http", "host.example", 80, "/V1"), "host.example"),
            ("http://[::1]:8000/v1", Address("http", "::1", 8000, "/v1"), "[::1]:8000"),
            ("https://[2001:db8::1]", Address("https", "2001:db8::1", 443), "[2001:db8::1]"),
            (
                "https://h/openai/deployments/d?api-version=2024-10-21",
                Address("https", "h", 443, "/openai/deployments/d", query="api-version=2024-10-21"),
                "h",
            ),
            ("unix:///run/llm.sock", Address("unix", "localhost", 0, "/v1", "/run/llm.sock"), "localhost"),
            (
                "unix:///run/a:b.sock:/api/v1/",
                Address("unix", "localhost", 0, "/api/v1", "/run/a:b.sock"),
                "localhost",
            ),
            ("unix:///run/llm.sock:", Address("unix", "localhost", 0, "", "/run/llm.sock"), "localhost"),
            ("http://bücher.example", Address("http", "xn--bcher-kva.example", 80), "xn--bcher-kva.example"),
        ],
    )
    def test_are_taken_apart(self, url: str, address: Address, authority: str) -> None:
        assert parse_base_url(url) == address
        assert address.authority == authority

    @pytest.mark.parametrize(
        ("url", "complaint"),
        [
            ("", "is not an http:// or https:// address (for example http://localhost:8000/v1)"),
            ("localhost:8000", "is not an http:// or https:// address"),
            ("ftp://h/v1", "is not an http:// or https:// address"),
            ("http:///v1", "is not an http:// or https:// address"),
            ("http://h:99999/v1", "cannot be read"),
            ("http://h:port/v1", "cannot be read"),
            ("http://[::1/v1", "cannot be read"),
            (f"http://{'a' * 70}.example/v1", "cannot be read"),
            ("http://a..b/v1", "cannot be read"),
            ("http://h/v1#top", "must end with a plain path"),
            ("http://h/v 1", "must end with a plain path"),
            ("http://h/v1/ü", "must end with a plain path"),
        ],
    )
    def test_are_refused_by_name(self, url: str, complaint: str) -> None:
        with pytest.raises(UserError) as caught:
            parse_base_url(url)
        assert str(caught.value).startswith(f"The base URL {url!r} ")
        assert complaint in str(caught.value)

    @pytest.mark.parametrize(
        ("url", "path", "target"),
        [
            ("http://h/v1", "/v1/models", "/v1/models"),
            ("http://h", "", "/"),
            ("http://h/v1?api-version=1", "/v1/models", "/v1/models?api-version=1"),
            ("http://h?api-version=1", "/x?alt=sse", "/x?alt=sse&api-version=1"),
        ],
    )
    def test_keep_their_query_behind_every_path(self, url: str, path: str, target: str) -> None:
        assert parse_base_url(url).request_target(path) == target

    def test_with_a_secret_in_the_query_are_refused_without_showing_it(self) -> None:
        with pytest.raises(UserError, match="send it as a header, with --header-env") as caught:
            parse_base_url("http://h/v1?key=hunter2")
        assert "hunter2" not in str(caught.value)

    @pytest.mark.parametrize(
        "url",
        [
            *("http+unix://%2Frun%2Fllm.sock/v1", "http://unix:/run/llm.sock:/v1", "unix:/run/llm.sock"),
            *("unix:/run/llm.sock:/v1",),
        ],
    )
    def test_of_sockets_in_the_form_of_others_are_told_in_ours(self, url: str) -> None:
        with pytest.raises(UserError, match=r"write unix:///run/llm\.sock\.$"):
            parse_base_url(url)

    @pytest.mark.parametrize(
        ("url", "complaint"),
        [
            ("unix://llm.sock", "write unix:///path/of/llm.sock"),
            ("unix://", "write unix:///path/of/llm.sock"),
            (f"unix:///{'x' * 120}.sock", "the system takes 107"),
            ("unix:///llm.sock:/v 1", "must end with a plain path such as :/v1"),
            ("/run/llm.sock", "for a Unix socket unix:///run/llm.sock"),
        ],
    )
    def test_of_sockets_are_refused_by_name(self, url: str, complaint: str) -> None:
        with pytest.raises(UserError) as caught:
            parse_base_url(url)
        assert complaint in str(caught.value)

    @pytest.mark.parametrize(
        ("url", "metrics"),
        [
            ("https://h:8443/v1?api-version=1", "https://h:8443/metrics"),
            ("unix:///run/llm.sock", "unix:///run/llm.sock:/metrics"),
        ],
    )
    def test_lead_to_other_paths_of_their_server(self, url: str, metrics: str) -> None:
        assert replace_url_path(url, "/metrics") == metrics
        assert parse_base_url(metrics).server_identity == parse_base_url(url).server_identity

    def test_with_a_password_are_refused_without_showing_it(self) -> None:
        with pytest.raises(UserError, match="holds a user name or password") as caught:
            parse_base_url("http://user:hunter2@h/v1")
        assert "hunter2" not in str(caught.value)

    @pytest.mark.parametrize(
        ("host", "this_machine"),
        [
            *((host, True) for host in ("localhost", "a.localhost", "127.0.0.1", "127.8.8.8", "[::1]")),
            *((host, True) for host in ("0.0.0.0", "[::]")),
            *((host, False) for host in ("localhost.example", "10.0.0.1", "[fe80::1]", "127.example")),
        ],
    )
    def test_know_this_machine(self, host: str, this_machine: bool) -> None:
        assert parse_base_url(f"http://{host}").is_loopback is this_machine


def proxy_of(url: str, **environ: str) -> Proxy | None:
    return find_proxy(parse_base_url(url), environ)


SQUID = Proxy("p", 3128)


class TestWhichProxy:
    @pytest.mark.parametrize("name", ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"])
    def test_for_https(self, name: str) -> None:
        assert proxy_of("https://h", **{name: "http://p:3128"}) == SQUID

    @pytest.mark.parametrize("name", ["http_proxy", "all_proxy", "ALL_PROXY"])
    def test_for_http(self, name: str) -> None:
        assert proxy_of("http://h", **{name: "http://p:3128"}) == SQUID

    def test_none_for_a_socket(self) -> None:
        assert proxy_of("unix:///run/llm.sock", all_proxy="http://p:3128") is None

    def test_a_header_of_a_request_cannot_name_one(self) -> None:
        """CGI turns a request's `Proxy` header into HTTP_PROXY; so curl does not read it, nor do we."""
        assert proxy_of("http://h", HTTP_PROXY="http://p:3128") is None

    def test_the_one_for_the_scheme_comes_first(self) -> None:
        assert proxy_of("https://h", all_proxy="http://q:1", https_proxy="http://p:3128") == SQUID
        assert proxy_of("https://h", http_proxy="http://q:1") is None

    def test_none_where_none_is_named(self) -> None:
        assert proxy_of("https://h") is None
        assert proxy_of("https://h", https_proxy="", ALL_PROXY="") is None

    @pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]", "0.0.0.0"])
    def test_none_for_this_machine(self, host: str) -> None:
        assert proxy_of(f"http://{host}:8000", http_proxy="http://p:3128") is None

    @pytest.mark.parametrize(
        ("value", "proxy"),
        [
            ("p:3128", SQUID),
            ("http://p:3128/", SQUID),
            ("http://p", Proxy("p", 80)),
            ("http://user@p:3128", Proxy("p", 3128, "Basic dXNlcjo=")),
            ("http://us%40er:pass%3Aword@p:3128", Proxy("p", 3128, "Basic dXNAZXI6cGFzczp3b3Jk")),
        ],
    )
    def test_may_be_written_in_several_ways(self, value: str, proxy: Proxy) -> None:
        assert proxy_of("https://h", https_proxy=value) == proxy

    @pytest.mark.parametrize(
        "value", ["socks5://p:1080", "https://p:3128", "http://:3128", "http://p:port", "http://[p"]
    )
    def test_of_another_kind_are_refused_without_showing_them(self, value: str) -> None:
        with pytest.raises(UserError, match="only such proxies are supported") as caught:
            proxy_of("https://h", https_proxy=value)
        assert value not in str(caught.value)


class TestNoProxy:
    @pytest.mark.parametrize(
        "no_proxy",
        [
            *(
                "*",
                "models.example",
                "MODELS.example",
                ".example",
                "example",
                "*.example",
                "a, models.example",
            ),
            "models.example:8000",
        ],
    )
    def test_names_hosts_that_are_reached_directly(self, no_proxy: str) -> None:
        url = "http://models.example:8000"
        for name in ("no_proxy", "NO_PROXY"):
            assert proxy_of(url, http_proxy="http://p:3128", **{name: no_proxy}) is None

    @pytest.mark.parametrize(
        "no_proxy", ["", ",", "other.example", "odels.example", "models.example:80", "a.models.example"]
    )
    def test_names_no_others(self, no_proxy: str) -> None:
        assert proxy_of("http://models.example:8000", http_proxy="http://p:3128", no_proxy=no_proxy) == SQUID

    @pytest.mark.parametrize(
        ("host", "no_proxy"),
        [
            ("10.1.2.3", "10.0.0.0/8"),
            ("10.1.2.3", "localhost, 10.1.2.3/32"),
            ("10.1.2.3", "10.1.2.3"),
            ("192.168.0.9", "192.168.0.1/24"),
            ("[fd00::1]", "fd00::/8"),
            ("[fd00::1]", "[fd00::1]"),
        ],
    )
    def test_names_addresses_and_networks(self, host: str, no_proxy: str) -> None:
        assert proxy_of(f"http://{host}:8000", http_proxy="http://p:3128", no_proxy=no_proxy) is None

    @pytest.mark.parametrize(
        ("host", "no_proxy"),
        [
            ("11.1.2.3", "10.0.0.0/8"),
            ("[fe80::1]", "fd00::/8"),
            ("10.1.2.3", "fd00::/8"),
            ("10.models.example", "10.0.0.0/8"),
            ("10.1.2.3", "10.0.0.0/33"),
        ],
    )
    def test_names_no_other_addresses(self, host: str, no_proxy: str) -> None:
        assert proxy_of(f"http://{host}:8000", http_proxy="http://p:3128", no_proxy=no_proxy) == SQUID
