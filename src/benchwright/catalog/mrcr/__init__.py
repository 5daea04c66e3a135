"""MRCR: retrieval of one of several similar texts in a long conversation (OpenAI 2025, after arXiv:2409.12640)."""
