"""Replay of a trace: prompts made from its blocks and lengths, sent at its times, conversation by conversation.
"""
