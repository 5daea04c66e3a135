"""How an instance is put to a model that answers once."""

from __future__ import annotations

from collections.abc import Mapping

from benchwright.catalog.asking import user
from benchwright.records import Message

EXAMPLE = """\
--- a/file.py
+++ b/file.py
@@ -1,27 +1,35 @@
 def euclidean(a, b):
-    while b:
-        a, b = b, a % b
-    return a
+    if b == 0:
+        return a
+    return euclidean(b, a % b)
 
 
 def bresenham(x0, y0, x1, y1):
     points = []
     dx = abs(x1 - x0)
     dy = abs(y1 - y0)
-    sx = 1 if x0 < x1 else -1
-    sy = 1 if y0 < y1 else -1
-    err = dx - dy
+    x, y = x0, y0
+    sx = -1 if x0 > x1 else 1
+    sy = -1 if y0 > y1 else 1
 
-    while True:
-        points.append((x0, y0))
-        if x0 == x1 and y0 == y1:
-            break
-        e2 = 2 * err
-        if e2 > -dy:
+    if dx > dy:
+        err = dx / 2.0
+        while x != x1:
+            points.append((x, y))
             err -= dy
-            x0 += sx
-        if e2 < dx:
-            err += dx
-            y0 += sy
+            if err < 0:
+                y += sy
+                err += dx
+            x += sx
+    else:
+        err = dy / 2.0
+        while y != y1:
+            points.append((x, y))
+            err -= dx
+            if err < 0:
+                x += sx
+                err += dy
+            y += sy
 
+    points.append((x, y))
     return points"""  # noqa: W293

_PREMISE = (
    "You will be provided with a partial code base and an issue statement explaining a problem to resolve."
)
_EXPLANATION = (
    "Here is an example of a patch file. It consists of changes to the code base. "
    "It specifies the file names, the line numbers of each change, and the removed and added lines. "
    "A single patch file can contain changes to multiple files."
)
_INSTRUCTION = (
    "I need you to solve the provided issue by generating a single patch file that I can apply "
    "directly to this repository using git apply. Please respond with a single patch "
    "file in the format shown above."
)


def patch_messages(issue: str, readmes: Mapping[str, str], files: Mapping[str, str]) -> list[Message]:
    """The prompt `style-3` of SWE-bench, word for word, so that scores are comparable."""
    lines = [
        *(_PREMISE, "<issue>", issue, "</issue>", "", "<code>", _numbered(readmes), _numbered(files)),
        *("</code>", "", _EXPLANATION, "<patch>", EXAMPLE, "</patch>", "", _INSTRUCTION, "Respond below:"),
    ]
    return [user("\n".join(lines))]


def _numbered(files: Mapping[str, str]) -> str:
    return "\n".join(
        f"[start of {name}]\n{_with_numbers(text)}\n[end of {name}]" for name, text in sorted(files.items())
    )


def _with_numbers(text: str) -> str:
    return "\n".join(f"{number} {line}" for number, line in enumerate(text.split("\n"), 1))
