"""Synthetic requests: plain words of given lengths, in conversations of several turns, with images and tools."""
