"""The files that run a Python pack in its process. The process communicates with the host through the bridge.

This folder is on the path of the pack's process. Packs import `benchwright_pack` from it, and the package
`benchwright_pack.inside` runs the pack. Only the standard library is used.
"""
