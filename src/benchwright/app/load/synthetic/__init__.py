"""Synthetic requests: plain words of stated lengths, in turns, with pictures and tools."""
