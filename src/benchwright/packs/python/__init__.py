"""The files that run a Python pack in its process, which communicates with the host by the bridge.

The pack's process has this folder on its path. Packs import `benchwright_pack` from it, and its `inside` runs
them. It uses only the standard library.
"""
