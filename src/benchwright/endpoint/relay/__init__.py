"""The metered relay: a loopback server that passes programs' requests on to a target, and records them.

The relay accepts chat completions, Responses, Messages and Gemini. Each trial gets a token of its own.
Requests go to the target through the connections of the target's client, with the real key. Responses are
passed back byte for byte, or translated if the target has chat completions only. A meter parses them at the
same time.
"""

from benchwright.endpoint.relay.grant import Grant, RelayedRequest
from benchwright.endpoint.relay.program_requests import RequestFacts
from benchwright.endpoint.relay.server import Relay, SharedGrant, relay_environment

__all__ = ["Grant", "Relay", "RelayedRequest", "RequestFacts", "SharedGrant", "relay_environment"]
