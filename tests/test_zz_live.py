import pytest
from benchwright.endpoint.client import EndpointClient
from benchwright.records import Target
from tests.real_servers import REAL_SERVER, litellm_proxy
pytestmark = REAL_SERVER
@pytest.mark.parametrize("stream",[True,False])
async def test_one(litellm_proxy, stream):
    async with EndpointClient(Target("primary","always-a",litellm_proxy.base_url), key=litellm_proxy.key, stream=stream) as c:
        r = await c.ask("/chat/completions", {"messages":[{"role":"user","content":"hi"}]})
    assert r.text == "The answer is (A)."; print(r.record)
