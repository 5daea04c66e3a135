"""MMMU-Pro: multiple choice about images, in college subjects (Yue et al. 2024, arXiv:2409.02813)."""
