"""Synthetic requests: plain words of given lengths, in turns, with images and tools."""
