"""MATH-500: 500 problems of MATH (Hendrycks et al. 2021) chosen by Lightman et al. (arXiv:2305.20050)."""
