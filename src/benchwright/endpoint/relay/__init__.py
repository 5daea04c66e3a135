"""The metered relay: a loopback server that passes programs' requests on to a target, and records them.

It speaks chat completions, Responses, Messages and Gemini. Each trial gets its own token. Requests go to the
target through its client's connections, with the real key. Responses come back byte for byte, or translated
if the target speaks chat completions only, while a meter parses them.
"""

from benchwright.endpoint.relay.grant import Grant, RelayedRequest
from benchwright.endpoint.relay.program_requests import RequestFacts
from benchwright.endpoint.relay.server import Relay, SharedGrant, relay_environment

__all__ = ["Grant", "Relay", "RelayedRequest", "RequestFacts", "SharedGrant", "relay_environment"]
