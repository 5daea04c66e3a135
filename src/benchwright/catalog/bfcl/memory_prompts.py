"""System prompts for conversations with a memory.

Source: bfcl_eval, default_prompts.py and model_handler/utils.py at commit 6ea5797.
"""

from __future__ import annotations

from benchwright.catalog.asking import system
from benchwright.records import Message

SCENARIO_INTROS = {
    "student": "You are an academic-support assistant for college student. Remember key personal and academic details "
    "discussed across sessions, and draw on them to answer questions or give guidance.",
    "customer": "You are a general customer support assistant for an e-commerce platform. Your task is to understand "
    "and remember information that can be used to provide information about user inquiries, preferences, and offer "
    "consistent, helpful assistance over multiple interactions.",
    "finance": "You are a high-level executive assistant supporting a senior finance professional. Retain and "
    "synthesize both personal and professional information including facts, goals, prior decisions, and family life "
    "across sessions to provide strategic, context-rich guidance and continuity.",
    "healthcare": "You are a healthcare assistant supporting a patient across appointments. Retain essential medical "
    "history, treatment plans, and personal preferences to offer coherent, context-aware guidance and reminders.",
    "notetaker": "You are a personal organization assistant. Capture key information from conversations, like tasks, "
    "deadlines, and preferences, and use it to give reliable reminders and answers in future sessions.",
}
"""Mapping from a scenario to the first sentences of its system prompt, word for word, so that scores are comparable."""

_PERSISTENT = (
    "persistent across multiple conversations with the user, and can be accessed in a later interactions. You should "
    "actively manage your memory data to keep track of important information, ensure that it is up-to-date and easy to "
    "retrieve to provide personalized responses to the user later.\n\n"
)

TWO_PART_MEMORY_PROMPT = (
    "\n\nYou have access to an advanced memory system, consisting of two memory types 'Core Memory' and 'Archival "
    f"Memory'. Both type of memory is {_PERSISTENT}"
    "The Core memory is limited in size, but always visible to you in context. The Archival Memory has a much larger "
    "capacity, but will be held outside of your immediate context due to its size.\n\n"
    "Here is the content of your Core Memory from previous interactions:\n"
)
"""The rest of the system prompt for memories with two parts (core and archival memory), word for word."""

SINGLE_TEXT_MEMORY_PROMPT = (
    f"\n\nYou have access to an advanced memory system, which is {_PERSISTENT}"
    "Here is the content of your memory system from previous interactions:\n"
)
"""The rest of the system prompt for memories that are a single text, word for word."""

ANSWER_FORMAT = (
    "For your final answer to the user, you must respond in this format: {'answer': A short and precise answer to the "
    "question, 'context': A brief explanation of how you arrived at this answer or why it is correct}. If you do not "
    "know the answer, respond with {'answer': 'I do not know', 'context': 'I do not know'}. If you think the question "
    "cannot be properly answered, response with {'answer': 'I cannot answer this question', 'context': A short reason "
    "explaining why this question cannot be answered}.\n"
)
"""The end of the system prompt for questions. The prompts of conversations before the questions lack this end."""


def memory_prompt(category: str, scenario: str, memory: str, *, asks: bool) -> Message:
    """Build the system prompt of a conversation with a memory.

    `memory`: the part of the memory that the model sees. `asks`: True for the graded question, False for a
    conversation that fills the memory.
    """
    told = SINGLE_TEXT_MEMORY_PROMPT if category == "memory_rec_sum" else TWO_PART_MEMORY_PROMPT
    prompt = f"{SCENARIO_INTROS[scenario]}{told}{memory}\n"
    return system(f"{prompt}\n\n{ANSWER_FORMAT}" if asks else prompt)
