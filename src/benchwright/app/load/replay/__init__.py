"""A trace replayed: prompts made from its blocks and lengths, sent when it says, conversation by conversation."""
