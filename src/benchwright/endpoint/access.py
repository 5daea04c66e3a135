"""Access to an endpoint: the key, headers and TLS files for requests.

It holds secrets, so it is never stored.
"""

from __future__ import annotations

from collections.abc import Mapping

from benchwright.endpoint.address import parse_base_url
from benchwright.endpoint.tls import NO_TLS_FILES, TlsFiles
from benchwright.headers import is_secret_header, secret_parts
from benchwright.records import Record
from benchwright.secrets import SECRETS

NO_KEY_PLACEHOLDER = "EMPTY"
"""Value of a key with which the user states that no key is sent.

The documentation of servers without keys uses this value as a placeholder.
"""


class Header(Record, frozen=True):
    """A header that the user adds to every request. If it is `is_secret`, its value is kept out of all output."""

    name: str
    value: str
    is_secret: bool = False

    def __repr__(self) -> str:
        return f"Header({self.name})"


class Access(Record, frozen=True):
    """Credentials and TLS files for an endpoint.

    Needed to create a `ConnectionPool` to the endpoint, and to send a request.

    `api_key`: the API key; None if none is sent. `headers`: the user's headers. A user's header replaces a header
    of the same name that Benchwright sends. `tls`: the files for TLS.
    """

    api_key: str | None = None
    headers: tuple[Header, ...] = ()
    tls: TlsFiles = NO_TLS_FILES

    def __repr__(self) -> str:
        return (
            f"Access(key={'None' if self.api_key is None else '...'}, headers={self.headers}, tls={self.tls})"
        )

    @property
    def header_names(self) -> frozenset[str]:
        """Names of the user's headers, in lower case."""
        return frozenset(header.name.lower() for header in self.headers)

    @property
    def plain_headers(self) -> dict[str, str]:
        """The user's headers that are not secret: a mapping from the name in lower case to the value.

        These headers can change responses, so they are part of a target.
        """
        return {header.name.lower(): header.value for header in self.headers if not header.is_secret}

    @property
    def without_credentials(self) -> Access:
        """Access for a server at another address: with the TLS files, but without the key and the headers.

        Key and headers must not be sent to another server.
        """
        return Access(tls=self.tls)

    def with_defaults(self, other: Access) -> Access:
        """Return this access, completed from `other`, the access of a model at the same address.

        A missing key, missing headers and missing TLS files are taken from `other`.
        """
        own = self.header_names
        shared = tuple(header for header in other.headers if header.name.lower() not in own)
        return Access(self.api_key or other.api_key, shared + self.headers, other.tls)

    def for_url(self, url: str, base_url: str) -> Access:
        """Return the access for requests to a URL.

        This access is returned if the URL is at the server of `base_url`, and `without_credentials` otherwise.
        """
        same = parse_base_url(url).server_identity == parse_base_url(base_url).server_identity
        return self if same else self.without_credentials


ANONYMOUS_ACCESS = Access()


def make_headers(given: Mapping[str, str], secret: Mapping[str, str]) -> tuple[Header, ...]:
    """Return all headers of the user: those in `given` and those in `secret`.

    A header in `secret` replaces a header of the same name in `given`, and is secret whatever its name. The
    values of secret headers are registered, so that they are redacted wherever they appear.
    """
    headers = {
        name.lower(): Header(name, value, is_secret_header(name, value)) for name, value in given.items()
    }
    headers |= {name.lower(): Header(name, value, is_secret=True) for name, value in secret.items()}
    for header in headers.values():
        for part in secret_parts(header.value) if header.is_secret else ():
            SECRETS.add(part)
    return tuple(headers.values())
