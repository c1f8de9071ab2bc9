"""Reverse-mode differentiation of single numbers in double precision: no library to trust.

    x, y = Number(2.0), Number(3.0)
    (x * y + x).backward()        x.grad is 4.0
"""
import math


class Number:
    __slots__ = ('value', 'grad', 'parents')

    def __init__(self, value, parents=()):
        self.value, self.grad, self.parents = value, 0.0, parents   # parents: (number, derivative)

    def __add__(self, other):
        if not isinstance(other, Number):
            return Number(self.value + other, ((self, 1.0),))
        return Number(self.value + other.value, ((self, 1.0), (other, 1.0)))

    def __mul__(self, other):
        if not isinstance(other, Number):
            return Number(self.value * other, ((self, other),))
        return Number(self.value * other.value, ((self, other.value), (other, self.value)))

    __radd__, __rmul__ = __add__, __mul__

    def __sub__(self, other):
        return self + other * -1.0

    def of(self, function, derivative):
        return Number(function(self.value), ((self, derivative(self.value)),))

    def exp(self):
        return self.of(math.exp, math.exp)

    def log(self):
        return self.of(math.log, lambda x: 1 / x)

    def tanh(self):
        return self.of(math.tanh, lambda x: 1 - math.tanh(x) ** 2)

    def power(self, exponent):
        return self.of(lambda x: x ** exponent, lambda x: exponent * x ** (exponent - 1))

    def backward(self):
        order, seen, stack = [], set(), [(self, False)]
        while stack:
            node, done = stack.pop()
            if done:
                order.append(node)
            elif id(node) not in seen:
                seen.add(id(node))
                stack.append((node, True))
                stack += [(parent, False) for parent, _ in node.parents]
        self.grad = 1.0
        for node in reversed(order):
            for parent, derivative in node.parents:
                parent.grad += derivative * node.grad


def total(numbers):
    return Number(math.fsum(n.value for n in numbers), tuple((n, 1.0) for n in numbers))


def dot(a, b):
    parents = tuple((x, y.value) for x, y in zip(a, b)) + tuple((y, x.value) for x, y in zip(a, b))
    return Number(math.fsum(x.value * y.value for x, y in zip(a, b)), parents)
