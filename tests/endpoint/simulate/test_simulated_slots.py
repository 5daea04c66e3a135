"""A server with so many slots: what is beyond them waits its turn, and /metrics says so."""

from __future__ import annotations

import threading
import time

import pytest
from tests.endpoint.simulate.simulate_kit import Client, Served, Simulate

from benchwright.endpoint.simulate import Delay, Settings
from benchwright.errors import UserError

FIRST_TOKEN = 0.1


def ask_all(served: Served, count: int) -> None:
    """Sends so many requests at once, and waits for all answers."""

    def ask() -> None:
        client = Client(served.port)
        assert client.chat("hello").status == 200
        client.connection.close()

    threads = [threading.Thread(target=ask) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)


def test_requests_beyond_the_slots_wait_until_one_is_free(simulate: Simulate) -> None:
    served = simulate(slots=2, first_token=Delay("constant", FIRST_TOKEN * 1000))
    ask_all(served, 6)
    ended = sorted(truth.first_token / 1e9 for truth in served.log)
    for before, after in zip(ended, ended[2:], strict=False):
        assert after - before >= FIRST_TOKEN - 0.002, "the third begins when one of the first two has ended"


def test_those_that_wait_are_told_apart_from_those_that_run(simulate: Simulate) -> None:
    served = simulate(slots=1, first_token=Delay("constant", 400))
    asking = threading.Thread(target=ask_all, args=(served, 3))
    asking.start()
    end = time.monotonic() + 5
    while served.stats.waiting < 2 and time.monotonic() < end:
        time.sleep(0.01)
    text = served.ask("GET", "/metrics").body.decode()
    asking.join(10)
    assert 'vllm:num_requests_running{model_name="simulated"} 1' in text
    assert 'vllm:num_requests_waiting{model_name="simulated"} 2' in text
    assert (served.stats.running, served.stats.waiting) == (0, 0)


def test_a_client_that_leaves_the_queue_takes_no_slot(simulate: Simulate) -> None:
    served = simulate(slots=1, first_token=Delay("constant", 300))
    first = threading.Thread(target=ask_all, args=(served, 1))
    first.start()
    while not served.stats.running:
        time.sleep(0.01)
    body = b'{"messages": [{"role": "user", "content": "hello"}]}'
    with served.open_socket() as leaving:
        leaving.sendall(served.request_bytes(body, f"Content-Length: {len(body)}"))
        while not served.stats.waiting:
            time.sleep(0.01)
    first.join(10)
    ask_all(served, 1)
    assert (served.stats.answered, served.stats.aborted, served.stats.waiting) == (2, 1, 0)


def test_answers_begin_in_the_order_in_which_they_came(simulate: Simulate) -> None:
    served = simulate(slots=1, first_token=Delay("constant", 100))
    asked = [served.start("hello", name) for name in "abcd"]
    assert [one.answer.status for one in asked] == [200] * 4
    assert [truth.id for truth in served.log] == ["a", "b", "c", "d"]


def test_the_log_says_how_long_a_request_waited_for_its_slot(simulate: Simulate) -> None:
    served = simulate(slots=1, first_token=Delay("constant", 200))
    asked = [served.start("hello", name) for name in ("first", "second")]
    assert [one.answer.status for one in asked] == [200, 200]
    first, second = served.truth("first"), served.truth("second")
    assert (first.queued, first.prefill_start) == (0, first.received)
    assert second.queued == second.prefill_start - second.received
    assert second.prefill_start >= first.last_byte, "it had the slot of the first"
    assert served.metrics()["vllm:request_queue_time_seconds_sum"] == pytest.approx(second.queued / 1e9)


def test_a_server_without_slots_is_a_user_error() -> None:
    with pytest.raises(UserError, match="at least one slot"):
        Settings(slots=0)
