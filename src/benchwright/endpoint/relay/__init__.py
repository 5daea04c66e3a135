"""The metered relay: lets programs of any kind ask a target, and records what they ask.

A loopback server that speaks the OpenAI paths. Each trial gets a token of its own; requests go on to the
target through its client's wire, with the real key, and come back byte for byte while a meter reads them.
"""

from benchwright.endpoint.relay.grant import Grant, RelayedRequest
from benchwright.endpoint.relay.server import Relay, SharedGrant

__all__ = ["Grant", "Relay", "RelayedRequest", "SharedGrant"]
