"""MATH-500: 500 competition problems of MATH (Hendrycks et al. 2021) that Lightman et al. chose (arXiv:2305.20050)."""
