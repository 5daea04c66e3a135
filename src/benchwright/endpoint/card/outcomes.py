"""All possible outcomes of each line of a card, each with a short text and the consequences for evaluations.

The texts are templates for `str.format`, filled in with the details of a finding. `{option}` is replaced by a
sentence that names the server option for the feature, or by nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from benchwright.endpoint.card.records import State

YES, NO, PARTLY, UNKNOWN = State.YES, State.NO, State.PARTLY, State.UNKNOWN

UNKNOWN_OUTCOME = "unknown"
"""Outcome of a line whose probe found nothing out. Every line can have this outcome."""


class Outcome(NamedTuple):
    """Outcome of a line of the card. `option_topic`: the feature's key in `servers.SERVER_OPTIONS`, or ""."""

    state: State
    text: str
    consequence: str = ""
    option_topic: str = ""


_NO_LIMITS = "Tokens and cost are unknown, and token limits and budgets never stop anything."
_NO_TOOLS = "Benchmarks and agents with tools cannot be run. {option}"
_NO_IMAGES = "Benchmarks with images (mmmu_pro) cannot be run. {option}"
_NO_STREAMED_TOOLS = "Use --no-stream for benchmarks and agents with tools."
_LONGER_ANSWERS = "Benchmarks that end answers at a string get longer ones."
_WRONG_VALUES = "Log-likelihoods from this server are wrong, and nothing shows it."
_ONE_AT_A_TIME = "More than --concurrency {many} only adds waiting time to every latency. {option}"


def _dialect(program: str) -> Mapping[str, Outcome]:
    """Return the outcomes of the card's line for a dialect. `program`: a program that uses the dialect."""
    return {
        "answers": Outcome(YES, "answers", f"{program} speaks with the server itself, through our relay."),
        "other": Outcome(PARTLY, "answers something else", f"{program} may not understand it."),
        "refused": Outcome(PARTLY, "there, but refused: {refusal}", f"{program} may be refused, too."),
        "none": Outcome(NO, "none ({refusal})", f"Our relay translates for {program}."),
    }


OUTCOMES: Mapping[str, Mapping[str, Outcome]] = {
    "server": {
        "known": Outcome(YES, "{title} (recognised by {by})"),
        "not_reported": Outcome(
            UNKNOWN, "it does not say what it is", "Advice names the options of several servers."
        ),
    },
    "models": {
        "listed": Outcome(YES, "{count:,} listed, this one among them"),
        "not_listed": Outcome(
            PARTLY, "{count:,} listed, none of this name", "Check the name. Some servers answer to any name."
        ),
        "no_list": Outcome(NO, "{refusal}", "A misspelt name is noticed at the first request only."),
    },
    "context": {
        "known": Outcome(
            YES, "{tokens:,} tokens (from {by})", "A prompt and its answer have to fit into it together."
        ),
        "not_reported": Outcome(
            UNKNOWN, "not reported", "Look it up before you run benchmarks with long prompts."
        ),
    },
    "long_prompts": {
        "refused": Outcome(
            YES, "too long ones are refused: {refusal}", "A sample that is too long fails visibly."
        ),
        "read": Outcome(YES, "{read:,} tokens are read whole", "Longer prompts were not tried."),
        "cut": Outcome(
            NO,
            "of about {expected:,} tokens only {read:,} are read, without an error",
            "Long samples are cut silently and then scored as wrong. {option}",
            "context",
        ),
    },
    "metrics": {
        "known": Outcome(
            YES, "/metrics of {title}", "load shows the server's own figures of its queue and cache."
        ),
        "other": Outcome(
            PARTLY,
            "/metrics, without a queue or cache known here",
            "load cannot show the server's own figures.",
        ),
        "none": Outcome(
            NO, "none ({refusal})", "load cannot show the server's own figures. {option}", "metrics"
        ),
    },
    "chat": {
        "answers": Outcome(YES, "answers"),
        "as_stream": Outcome(
            PARTLY,
            "answers by a stream that nobody asked for",
            "Do not use --no-stream: not every form of it is read.",
        ),
        "other": Outcome(
            NO, "answers with no chat completion", "All evaluations but those of base models need it."
        ),
        "missing": Outcome(
            NO,
            "none ({refusal})",
            "Check --model and --base-url. All evaluations but those of base models need it.",
        ),
        "refused": Outcome(NO, "{refusal}", "All evaluations but those of base models need it."),
    },
    "completions": {
        "answers": Outcome(YES, "answers", "Base models can be asked."),
        "none": Outcome(NO, "none ({refusal})", "Base models cannot be asked, and mmlu:5shot cannot be run."),
    },
    "messages": _dialect("Claude Code"),
    "responses": _dialect("Codex"),
    "gemini": _dialect("Gemini CLI"),
    "embeddings": {
        "answers": Outcome(
            YES, "vectors of {dimensions:,} numbers", "tau2_bench can search documents by them."
        ),
        "none": Outcome(
            NO, "none ({refusal})", "Only tau2_bench needs them, for some searches. {option}", "embeddings"
        ),
    },
    "streaming": {
        "by_token": Outcome(YES, "{pieces} pieces", "TTFT and gaps between tokens are measured."),
        "several_tokens": Outcome(
            PARTLY, "{pieces} pieces for {tokens} tokens", "Gaps are between pieces, not between tokens."
        ),
        "one_piece": Outcome(
            PARTLY,
            "all of it in one piece",
            "TTFT is the time of the whole answer, and one answer has no tokens/s.",
        ),
        "held_back": Outcome(
            PARTLY,
            "{pieces} pieces, held back and sent together",
            "A proxy holds them back (nginx: proxy_buffering off); TTFT and gaps are not the model's.",
        ),
        "whole": Outcome(NO, "a whole answer comes all the same", "TTFT and gaps are not measured."),
        "refused": Outcome(NO, "{refusal}", "Use --no-stream. TTFT and gaps are not measured."),
    },
    "usage": {
        "reported": Outcome(
            YES,
            "{prompt} tokens of the prompt, {completion} of the answer",
            "Tokens, cost and budgets are exact.",
        ),
        "in_part": Outcome(PARTLY, "reported in part", _NO_LIMITS),
        "none": Outcome(NO, "not reported", _NO_LIMITS),
    },
    "usage_in_stream": {
        "reported": Outcome(
            YES, "{completion} tokens of the answer", "Tokens/s, cost and budgets are exact."
        ),
        "nothing": Outcome(PARTLY, "0 tokens of an answer", f"{_NO_LIMITS} {{way_out}}"),
        "none": Outcome(NO, "not reported", f"{_NO_LIMITS} {{way_out}}"),
        "refused": Outcome(NO, "stream_options is refused", f"{_NO_LIMITS} {{way_out}}"),
    },
    "finish_reasons": {
        "length": Outcome(YES, "{reasons}", "Answers that the limit cuts off are recognised."),
        "not_length": Outcome(
            NO,
            "{reasons}",
            "Answers that the limit cuts off look whole, and score as wrong: allow enough tokens.",
        ),
        "not_bounded": Outcome(
            NO, "{completion} tokens where {limit} were allowed", "--max-tokens does not bound answers."
        ),
        "too_short": Outcome(UNKNOWN, "the answer ended before its limit ({reasons})"),
    },
    "token_counting": {
        "agree": Outcome(YES, "/tokenize and usage both say {counted}", "Lengths of prompts are exact."),
        "one_more": Outcome(
            YES,
            "/tokenize says {counted}, usage {used}",
            "The server puts a token (BOS) before prompts, which /tokenize leaves out.",
        ),
        "only_tokenize": Outcome(YES, "/tokenize says {counted}", "Lengths of prompts are exact."),
        "differ": Outcome(
            PARTLY,
            "/tokenize says {counted}, usage {used}",
            "Lengths of prompts by /tokenize are approximate.",
        ),
        "none": Outcome(
            NO,
            "no /tokenize ({refusal})",
            "Lengths of prompts are those of usage, else counted in characters.",
        ),
    },
    "output_limit": {
        "both": Outcome(YES, "max_tokens and max_completion_tokens"),
        "max_tokens": Outcome(
            YES,
            "max_tokens; max_completion_tokens {why}",
            "Programs that send only the latter may not be bounded.",
        ),
        "max_completion_tokens": Outcome(
            PARTLY,
            "max_completion_tokens; max_tokens is refused",
            "Give --param max_tokens=null --param max_completion_tokens=N.",
        ),
    },
    "stop": {
        "honoured": Outcome(YES, "honoured, with finish reason {reason}"),
        "left_in": Outcome(
            PARTLY, "honoured, but left in the answer", "Graders that compare exactly see it."
        ),
        "ignored": Outcome(NO, "accepted and ignored", _LONGER_ANSWERS),
        "refused": Outcome(NO, "{refusal}", _LONGER_ANSWERS),
        "not_met": Outcome(UNKNOWN, "the answer had none of the strings"),
    },
    "n": {
        "several": Outcome(YES, "two answers come"),
        "one": Outcome(NO, "one answer comes", "Nothing follows: repeats are requests of their own."),
        "refused": Outcome(NO, "{refusal}", "Nothing follows: repeats are requests of their own."),
    },
    "seed": {
        "honoured": Outcome(
            YES,
            "the same answer with the same seed, another with another",
            "Runs can be repeated, as far as batching lets them.",
        ),
        "ignored": Outcome(
            NO, "two answers with the same seed", "A run cannot be repeated exactly: use --n."
        ),
        "no_effect": Outcome(
            UNKNOWN,
            "the same answer with another seed",
            "Equal repeats (--n) count as one: see what the run says.",
        ),
        "refused": Outcome(NO, "{refusal}", "Give --no-seed. A run cannot be repeated exactly."),
    },
    "sampling": {
        "accepted": Outcome(YES, "{fields}", "All are accepted; whether each is used cannot be seen."),
        "some_refused": Outcome(
            PARTLY, "refused: {refused}", "Do not send these (--recommended may); give others with --param."
        ),
        "refused": Outcome(NO, "{refusal}", "Send fewer of them."),
    },
    "json_schema": {
        "honoured": Outcome(YES, "honoured", "Structured answers have the shape that is asked for."),
        "ignored": Outcome(NO, "accepted and ignored", "Structured answers can have any shape."),
        "refused": Outcome(NO, "{refusal}", "Agents that ask for structured answers fail."),
        "cut_off": Outcome(UNKNOWN, "the answer was cut off before its end"),
    },
    "images": {
        "seen": Outcome(YES, "a red square is called red", "Benchmarks with images can be run."),
        "not_seen": Outcome(
            PARTLY,
            "accepted, but a red square is not called red",
            "The server may drop images silently, or the model sees badly. {option}",
            "images",
        ),
        "refused": Outcome(NO, "{refusal}", _NO_IMAGES, "images"),
        "no_chat": Outcome(NO, "completions take none", _NO_IMAGES, "images"),
    },
    "tools": {
        "called": Outcome(YES, "as tool_calls", "Benchmarks and agents with tools can be run."),
        "called_oddly": Outcome(
            PARTLY, "as tool_calls, {faults}", "They are read all the same; other programs may stumble."
        ),
        "only_required": Outcome(
            PARTLY,
            "only if one is required",
            "By itself the model calls no tool: expect low scores with tools.",
        ),
        "function_call": Outcome(
            PARTLY, "as the old function_call", "Agents that know tool_calls only see no call."
        ),
        "as_text": Outcome(NO, "as text in the answer", _NO_TOOLS, "tools"),
        "not_passed_on": Outcome(
            NO, "the prompt is as long with tools as without: the model never sees them", _NO_TOOLS, "tools"
        ),
        "refused": Outcome(NO, "{refusal}", _NO_TOOLS, "tools"),
        "no_call": Outcome(
            UNKNOWN,
            "the model made no call when asked to",
            "It does not know how, or the server drops its tools. {option}",
            "tools",
        ),
    },
    "several_tools": {
        "several": Outcome(YES, "{calls} calls in one answer", "The parallel categories of bfcl can be run."),
        "one": Outcome(
            UNKNOWN,
            "one call where two were asked for",
            "If the server or the model makes one call an answer, the parallel categories of bfcl score low.",
        ),
    },
    "streamed_tools": {
        "indexed": Outcome(YES, "{form}", "Each call is read as one."),
        "same_index": Outcome(
            PARTLY, "{form}", "Calls are told apart by their ids here; other programs may mix them up."
        ),
        "whole": Outcome(
            PARTLY, "in a whole answer in place of a stream", "They are read; such answers have no TTFT."
        ),
        "misread": Outcome(NO, "{form}, of which {read} are read", _NO_STREAMED_TOOLS),
        "none": Outcome(NO, "none come in streams", _NO_STREAMED_TOOLS),
        "refused": Outcome(NO, "{refusal}", _NO_STREAMED_TOOLS),
    },
    "reasoning": {
        "field": Outcome(YES, "in the field {field}", "Thinking and answer are kept apart."),
        "inline": Outcome(
            PARTLY,
            "inline, in <think> or the like",
            "It is split off here; other programs may not. {option}",
            "reasoning",
        ),
        "only_its_end": Outcome(
            PARTLY,
            "inline, and only its end shows",
            "It is split off here, but answers cut off in thinking look like answers. {option}",
            "reasoning",
        ),
        "counted": Outcome(PARTLY, "not sent, only counted", "Thinking shows in the tokens only."),
        "none": Outcome(NO, "no thinking was seen", "All of an answer counts as the answer."),
    },
    "reasoning_switch": {
        "off": Outcome(
            YES, "off by the fields of {way}", "--reasoning-effort none --thinking-style {way} turns it off."
        ),
        "on": Outcome(YES, "on by {way}", "--param '{param}' turns it on."),
        "not_off": Outcome(
            NO, "nothing turned it off (tried: {tried})", "Allow enough tokens for thinking in every answer."
        ),
        "not_on": Outcome(
            NO, "nothing turned it on (tried: {tried})", "Options for thinking have no effect."
        ),
        "no_chat": Outcome(NO, "completions have none"),
    },
    "logprobs": {
        "completions": Outcome(YES, "in {routes}", "mmlu:5shot can be run."),
        "chat": Outcome(PARTLY, "in chat only", "mmlu:5shot cannot be run: it asks completions."),
        "none": Outcome(NO, "asked for and not reported", "mmlu:5shot cannot be run."),
        "refused": Outcome(NO, "{refusal}", "mmlu:5shot cannot be run."),
    },
    "prompt_logprobs": {
        "echo": Outcome(
            YES, "by echo with logprobs", "Log-likelihoods can be computed, if the next line agrees."
        ),
        "prompt_logprobs": Outcome(
            YES, "by prompt_logprobs", "Log-likelihoods can be computed, if the next line agrees."
        ),
        "none": Outcome(
            NO,
            "echo reports generated tokens only",
            "No log-likelihoods of given answers: programs that do not look score at chance.",
        ),
        "refused": Outcome(NO, "{refusal}", "No log-likelihoods of given answers."),
    },
    "logprobs_agree": {
        "agree": Outcome(YES, "equal for the same tokens", "Log-likelihoods can be trusted."),
        "late": Outcome(NO, "off by one: the value at a token is that of the next position", _WRONG_VALUES),
        "early": Outcome(
            NO, "off by one: the value at a token is that of the position before", _WRONG_VALUES
        ),
        "differ": Outcome(
            NO,
            "no: {generated} generated, {echoed} in the prompt",
            "Do not trust log-likelihoods from this server.",
        ),
    },
    "prompt_cache": {
        "reported": Outcome(
            YES,
            "{cached:,} tokens the second time; {times}",
            "Equal beginnings of prompts are faster: vary prompts under load.",
        ),
        "not_reported": Outcome(
            PARTLY, "it seems so, but is not reported; {times}", "Vary prompts under load. {option}", "cache"
        ),
        "none": Outcome(NO, "0 tokens the second time; {times}", "Every prompt is read anew."),
        "not_seen": Outcome(
            UNKNOWN, "not reported; {times}", "If prompts are cached, it is not seen. {option}", "cache"
        ),
    },
    "parallel": {
        "all": Outcome(YES, "side by side; {times}", "Raise --concurrency, or let auto find it."),
        "some": Outcome(PARTLY, "{many} side by side; {times}", _ONE_AT_A_TIME, "parallel"),
        "one": Outcome(NO, "one after the other; {times}", _ONE_AT_A_TIME, "parallel"),
        "broken_off": Outcome(
            NO,
            "a further request breaks off the one before it",
            "Use --concurrency 1, or answers are lost. {option}",
            "parallel",
        ),
        "refused": Outcome(
            NO, "{refused} of {asked} are refused: {refusal}", "Use --concurrency 1. {option}", "parallel"
        ),
        "not_seen": Outcome(
            UNKNOWN, "it cannot be seen, as answers come at once; {times}", "Let --concurrency auto find it."
        ),
    },
}
"""All outcomes: a mapping from a line's key to a mapping from the outcome's stable name to the outcome."""
