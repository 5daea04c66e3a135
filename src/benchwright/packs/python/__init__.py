"""The pack's side of the bridge for packs written in Python.

The pack's process has this folder on its path. Packs import `benchwright_pack` from it, and its `inside` runs
them. It uses only the standard library.
"""
