"""MRCR: recall of one of several similar texts in a long chat (OpenAI 2025, after arXiv:2409.12640)."""
