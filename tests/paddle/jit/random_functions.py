"""Random functions of three whole numbers: branches, loops, jumps and returns, nested in each other."""

from __future__ import annotations

import linecache
import random
from collections.abc import Callable
from typing import Any


class _Writer:
    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.lines = ["def f(a, b, x):"]
        self.count = 0
        self.left = 14

    def value(self, names: list[str]) -> str:
        kind = self.draw.random()
        if kind < 0.35:
            return self.draw.choice(names)
        if kind < 0.5:
            return str(self.draw.randint(-3, 5))
        other = self.draw.choice([*names, str(self.draw.randint(1, 3))])
        return f"({self.value(names)} {self.draw.choice('+-*')} {other}) % 17"

    def test(self, names: list[str]) -> str:
        kind, name = self.draw.random(), self.draw.choice(names)
        first = f"{self.value(names)} {self.draw.choice(['<', '>', '<=', '==', '!='])} {self.value(names)}"
        second = f"{name} {self.draw.choice('<>')} {self.draw.randint(-2, 9)}"
        if kind < 0.65:
            return first
        if kind < 0.8:
            return f"({first}) and {second}"
        if kind < 0.9:
            return f"not ({first}) or {second}"
        return f"{self.draw.randint(-5, 2)} < {name} <= {self.draw.randint(3, 12)}"

    def block(self, names: list[str], depth: int, in_loop: bool) -> None:
        begin = len(self.lines)
        for _ in range(self.draw.randint(1, 3)):
            if self.left > 0:
                self.left -= 1
                self.statement(names, depth, in_loop)
        if len(self.lines) == begin:
            self.line(depth, "pass")

    def line(self, depth: int, text: str) -> None:
        self.lines.append("    " * (depth + 1) + text)

    def statement(self, names: list[str], depth: int, in_loop: bool) -> None:
        kind = self.draw.random()
        if kind < 0.4 or depth > 2:
            self.line(depth, f"{self.draw.choice(names[:3])} {self.draw.choice(['=', '=', '+='])} {self.value(names)}")
        elif kind < 0.65:
            self.branch(names, depth, in_loop)
        elif kind < 0.9:
            self.loop(names, depth, in_loop)
        else:
            self.line(depth, f"if {self.test(names)}:")
            ways = [f"return {self.value(names)}", *(["break", "continue"] if in_loop else [])]
            self.line(depth + 1, self.draw.choice(ways))

    def branch(self, names: list[str], depth: int, in_loop: bool) -> None:
        for word in ("if", "elif"):
            if word == "if" or self.draw.random() < 0.3:
                self.line(depth, f"{word} {self.test(names)}:")
                self.block(names, depth + 1, in_loop)
        if self.draw.random() < 0.5:
            self.line(depth, "else:")
            self.block(names, depth + 1, in_loop)

    def loop(self, names: list[str], depth: int, in_loop: bool) -> None:
        self.count += 1
        name, bound = f"i{self.count}", self.draw.choice(names)
        if self.draw.random() < 0.5:
            self.line(depth, f"{name} = 0")
            self.line(depth, f"while {name} < {bound} and {name} < 5:")
            self.line(depth + 1, f"{name} += 1")
        else:
            items = ["range(3)", f"range({bound} % 5)", f"range(0, {bound} % 4, 2)", f"[1, {bound}, 3]"]
            self.line(depth, f"for {name} in {self.draw.choice(items)}:")
        self.block([*names, name], depth + 1, True)
        if self.draw.random() < 0.25:
            self.line(depth, "else:")
            self.block(names, depth + 1, in_loop)


def function(seed: int) -> Callable[..., int]:
    """The function of a seed; its text is found as that of a file."""
    writer = _Writer(seed)
    while writer.left > 0:
        writer.block(["a", "b", "x"], 0, False)
    text = "\n".join([*writer.lines, "    return a + b * 2 + x * 3", ""])
    file = f"<random function {seed}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names: dict[str, Any] = {"__name__": "random_functions"}
    exec(compile(text, file, "exec"), names)
    made: Callable[..., int] = names["f"]
    return made
