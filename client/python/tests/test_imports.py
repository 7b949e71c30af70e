"""No module of the package imports itself through others, also where an import stands in a function."""

from __future__ import annotations

import ast
import pathlib
import unittest

import noren_client


def imports(path: pathlib.Path) -> set[str]:
    """The modules of the package that a file imports."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            found |= {node.module} if node.module else {name.name for name in node.names}
    return found


class Imports(unittest.TestCase):
    def test_no_cycle(self) -> None:
        graph = {p.stem: imports(p) for p in pathlib.Path(noren_client.__path__[0]).glob("*.py")}
        self.assertGreater(len(graph), 15)
        while ends := [name for name, needs in graph.items() if not needs & graph.keys()]:
            for name in ends:
                del graph[name]
        self.assertEqual({}, graph, "these modules need each other")
