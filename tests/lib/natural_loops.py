"""The loops of a graph by their definition in books, to compare src/measure/sass/control_flow.cpp with: back edges lead to a block
that dominates their source; the loop of a header is what reaches its back edges without the header.

A graph is a dictionary: node -> the nodes that follow. Nodes are numbers, such as places in code.
"""


def loops(graph):
    """-> ({header: set of nodes}, whether a cycle is left that is no natural loop). The roots are the lowest node, the nodes
    without predecessors, and then the lowest of what these do not reach."""
    if not graph:
        return {}, False
    parent = immediate_dominators(graph)
    before = {node: set() for node in graph}
    for node, follows in graph.items():
        for to in follows:
            before[to].add(node)
    result, forward = {}, {node: set(follows) for node, follows in graph.items()}
    for node, follows in graph.items():
        for header in set(follows):
            if dominates(parent, header, node):
                forward[node].remove(header)
                result.setdefault(header, {header}).update(reaching(before, node, header))
    return result, has_cycle(forward)


def post_order(graph, roots):
    order, seen = [], set()
    for root in roots:
        if root in seen:
            continue
        seen.add(root)
        stack = [(root, iter(graph[root]))]
        while stack:
            node, rest = stack[-1]
            to = next((n for n in rest if n not in seen), None)
            if to is None:
                order.append(node)
                stack.pop()
            else:
                seen.add(to)
                stack.append((to, iter(graph[to])))
    return order


def roots_of(graph):
    followed = {to for follows in graph.values() for to in follows}
    roots = sorted({min(graph)} | (graph.keys() - followed))
    while left := graph.keys() - set(post_order(graph, roots)):
        roots.append(min(left))
    return roots


def immediate_dominators(graph):
    """node -> its immediate dominator; None is that of the roots. Cooper, Harvey and Kennedy 2001."""
    roots = roots_of(graph)
    order = post_order(graph, roots)
    number = {node: n for n, node in enumerate(order)}
    number[None] = len(order)  # in front of all roots
    before = {node: [] for node in graph}
    for node in order:
        for to in graph[node]:
            before[to].append(node)
    for root in roots:
        before[root].append(None)
    parent = {None: None}
    changed = True
    while changed:
        changed = False
        for node in reversed(order):
            known = [p for p in before[node] if p in parent]
            new = known[0]
            for other in known[1:]:
                while new != other:
                    if number[new] < number[other]:
                        new = parent[new]
                    else:
                        other = parent[other]
            if parent.get(node, node) != new or node not in parent:
                parent[node], changed = new, True
    return parent


def dominates(parent, above, node):
    while node is not None and node != above:
        node = parent[node]
    return node == above


def reaching(before, node, header):
    seen, work = set(), [node]
    while work:
        at = work.pop()
        if at != header and at not in seen:
            seen.add(at)
            work += before[at]
    return seen


def has_cycle(graph):
    """Whether nodes are left when those without predecessors are taken away, again and again."""
    count = {node: 0 for node in graph}
    for follows in graph.values():
        for to in follows:
            count[to] += 1
    work, left = [node for node, n in count.items() if n == 0], len(graph)
    while work:
        left -= 1
        for to in graph[work.pop()]:
            count[to] -= 1
            if count[to] == 0:
                work.append(to)
    return left != 0
