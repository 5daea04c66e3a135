"""The metered relay: lets programs of any kind ask a target, and records what they ask.

A loopback server that speaks chat completions, Responses, Messages and Gemini. Each trial gets a token of its own;
requests go on to the target through its client's wire, with the real key, and come back byte for byte, or translated
where the target speaks chat completions only, while a meter reads them.
"""

from benchwright.endpoint.relay.asked import Asked
from benchwright.endpoint.relay.grant import Grant, RelayedRequest
from benchwright.endpoint.relay.server import Relay, SharedGrant, relay_environment

__all__ = ["Asked", "Grant", "Relay", "RelayedRequest", "SharedGrant", "relay_environment"]
