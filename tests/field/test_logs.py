"""The logs of servers, read: what the figures of Benchwright are compared with."""

from __future__ import annotations

from tests.field.servers import llama_cpp, llama_cpp_python, transformers_serve
from tests.field.servers.server import Served

LLAMA_CPP = """\
0.36.912 I slot launch_slot_: id  0 | task 129 | processing task, is_child = 0
0.39.300 I slot print_timing: id  0 | task 129 | prompt eval time =     880.31 ms /    51 tokens (   17.26 ms per token)
0.39.300 I slot print_timing: id  0 | task 129 |        eval time =    1507.82 ms /    16 tokens (  100.52 ms per token)
0.39.300 I slot print_timing: id  0 | task 129 |       total time =    2388.13 ms /    67 tokens
0.39.300 I slot      release: id  0 | task 129 | stop processing: n_tokens = 90, truncated = 0
0.40.392 I slot print_timing: id  3 | task 77 | prompt eval time =     970.71 ms /    50 tokens
"""
LLAMA_CPP_PYTHON = """\
llama_perf_context_print: prompt eval time =       0.03 ms /    26 tokens (    0.00 ms per token)
llama_perf_context_print:        eval time =    1431.47 ms /    20 runs   (   71.57 ms per token)
llama_perf_context_print:       total time =    8383.33 ms /    46 tokens
INFO:     127.0.0.1:42654 - "POST /v1/chat/completions HTTP/1.1" 200 OK
Llama.generate: 20 prefix-match hit, remaining 46 prompt tokens to eval
llama_perf_context_print:        load time =       0.19 ms
llama_perf_context_print: prompt eval time =       0.03 ms /    46 tokens (    0.00 ms per token)
llama_perf_context_print:        eval time =     889.66 ms /    20 runs   (   44.48 ms per token)
llama_perf_context_print:       total time =    8162.06 ms /    66 tokens
"""
TRANSFORMERS = """\
[transformers] [Request received] Model: smollm2, CB: False
INFO:     127.0.0.1:34256 - "POST /v1/chat/completions HTTP/1.1" 200 OK
INFO:     127.0.0.1:34256 - "POST /v1/chat/completions HTTP/1.1" 500 Internal Server Error
"""


def test_llama_cpp_logs_what_was_in_the_cache_as_part_of_the_prompt() -> None:
    assert llama_cpp.served(LLAMA_CPP) == [Served(75, 16, 2388.13)]


def test_llama_cpp_python_logs_the_cached_part_of_a_prompt_apart() -> None:
    assert llama_cpp_python.served(LLAMA_CPP_PYTHON) == [Served(26, 21, 8383.33), Served(66, 21, 8162.06)]


def test_transformers_logs_that_it_answered() -> None:
    assert transformers_serve.served(TRANSFORMERS) == [Served(0, 0)]
