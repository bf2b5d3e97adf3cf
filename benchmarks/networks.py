"""Real networks: time, memory, communities and held-out AUC of the sparse engine, beside other tools in the same run.

    python benchmarks/networks.py ../shared/data/networks

A fifth of the links and a sample of non-links are hidden whole. Each tool sees the graph without the hidden links (the
others have no notion of hidden pairs) and runs in a process of its own. Tools that only give communities are judged by
the density of the densest community that two nodes share, and then by their degrees.
Needs the extra ``bench``. Results go to benchmarks/results/networks.json, in the place of older ones of the same tool
and network.
"""

import argparse
import json
import multiprocessing
import resource
import sys
import time
from pathlib import Path

import numpy as np
from scale import average_f1
from scipy import sparse
from sklearn.metrics import roc_auc_score

import klafter as kl

RESULTS = Path(__file__).parent / "results" / "networks.json"
NETWORKS = (
    "football", "ego_facebook_348", "ego_facebook_414", "ego_facebook_686", "email_eu_core", "ca_astroph",
    "email_enron", "deezer_ro",
)  # fmt: skip


def cover(groups, n: int) -> sparse.csr_array:
    """Groups of nodes as memberships."""
    groups = [np.fromiter(group, int) for group in groups]
    rows = np.concatenate([np.zeros(0, int), *groups])
    columns = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    return sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(n, max(len(groups), 1)))


def score_by_communities(links: sparse.csr_array, z: sparse.csr_array, pairs: np.ndarray) -> np.ndarray:
    """Density of the densest shared community, then degrees."""
    size = z.sum(axis=0)
    inside = sparse.csr_array(z.multiply(links @ z)).sum(axis=0)
    density = inside / np.maximum(size * (size - 1), 1)
    degree = links.sum(axis=1)
    weighted = sparse.csr_array(z @ sparse.diags_array(density + 1e-12))
    score = np.zeros(len(pairs))
    for low in range(0, len(pairs), 50_000):
        part = pairs[low : low + 50_000]
        shared = sparse.csr_array(z[part[:, 0]].multiply(weighted[part[:, 1]]))
        score[low : low + 50_000] = shared.max(axis=1).toarray().ravel()
    product = degree[pairs[:, 0]] * degree[pairs[:, 1]]
    return score + 1e-9 * product / max(product.max(initial=0.0), 1.0)


def by_klafter(train, pairs):
    model = kl.KLafter(link="exposure", n_init=1, n_jobs=-1, random_state=0).fit(train)
    began = time.perf_counter()
    with_expert = model.predict_proba(pairs)
    model.structure = 0.0
    return model.memberships_, {"model alone": model.predict_proba(pairs), "with expert": with_expert}, began


def by_louvain(train, pairs):
    from sknetwork.clustering import Louvain

    labels = Louvain(random_state=0).fit_predict(sparse.csr_matrix(train.links))
    return cover([np.flatnonzero(labels == k) for k in range(labels.max() + 1)], train.n_nodes), None, None


def by_infomap(train, pairs):
    from infomap import Infomap

    links = sparse.triu(train.links).tocoo()
    search = Infomap("--two-level --silent --seed 1")
    search.add_links(list(zip(links.row.tolist(), links.col.tolist())))
    search.run()
    groups: dict = {}
    for node, module in search.get_modules().items():
        groups.setdefault(module, []).append(node)
    return cover(groups.values(), train.n_nodes), None, None


def by_demon(train, pairs):
    import networkx as nx
    from cdlib import algorithms

    network = nx.from_scipy_sparse_array(sparse.csr_matrix(train.links))
    return cover(algorithms.demon(network, epsilon=0.25, min_com_size=3).communities, train.n_nodes), None, None


def by_angel(train, pairs):
    import networkx as nx
    from cdlib import algorithms

    network = nx.from_scipy_sparse_array(sparse.csr_matrix(train.links))
    return cover(algorithms.angel(network, threshold=0.25, min_community_size=3).communities, train.n_nodes), None, None


def by_slpa(train, pairs):
    import random

    import networkx as nx
    from cdlib import algorithms

    random.seed(0)
    np.random.seed(0)  # noqa: NPY002
    network = nx.from_scipy_sparse_array(sparse.csr_matrix(train.links))
    return cover(algorithms.slpa(network).communities, train.n_nodes), None, None


TOOLS = {
    "KLafter": by_klafter, "scikit-network Louvain": by_louvain, "infomap": by_infomap, "cdlib DEMON": by_demon,
    "cdlib ANGEL": by_angel, "cdlib SLPA": by_slpa,
}  # fmt: skip


def run_tool(name: str, train, pairs, values, truth, answers) -> None:
    """One fit, in a process of its own."""
    wall, cpu = time.perf_counter(), time.process_time()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    z, scores, ended = TOOLS[name](train, pairs)
    facts = {
        "seconds": round((ended or time.perf_counter()) - wall, 2),
        "cpu_seconds": round(time.process_time() - cpu, 2),
        "peak_gb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 3),
        "gb_before": round(before / 2**20, 3),
        "communities": int((z.sum(axis=0) > 0).sum()),
        "nodes_in_none": int((z.sum(axis=1) == 0).sum()),
        "largest": int(z.sum(axis=0).max(initial=0)),
    }
    scores = scores or {"communities": score_by_communities(train.links, sparse.csr_array(z, dtype=float), pairs)}
    facts["auc"] = {how: round(float(roc_auc_score(values > 0, score)), 4) for how, score in scores.items()}
    if truth is not None:
        facts["average_f1_to_labels"] = round(average_f1(truth, sparse.csr_array(z, dtype=float)), 4)
    answers.put(facts)


def measure(name: str, train, held, truth, patience: float) -> dict:
    """Facts of one tool on one network, or what went wrong."""
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    child = context.Process(target=run_tool, args=(name, train, held.pairs, held.values, truth, answers))
    child.start()
    try:
        return answers.get(timeout=patience)
    except Exception:
        return {"failed": f"no answer in {patience:g} s, or an error"}
    finally:
        child.terminate()
        child.join()


def read_truth(folder: Path, name: str, graph):
    """Labelled groups, where the network has them."""
    path = folder / f"{name}.communities.txt"
    if not path.exists():
        return None
    lines = [line.split("\t") for line in path.read_text().splitlines() if line and not line.startswith("#")]
    groups = [[graph.index(word) for word in line[-1].split() if _known(graph, word)] for line in lines]
    return cover([group for group in groups if len(group) > 1], graph.n_nodes)


def _known(graph, word) -> bool:
    try:
        graph.index(word)
    except KeyError:
        return False
    return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--networks", nargs="*", default=NETWORKS)
    parser.add_argument("--tools", nargs="*", default=list(TOOLS), choices=list(TOOLS))
    parser.add_argument("--nonlinks", type=int, default=200_000)
    parser.add_argument("--patience", type=float, default=300, help="seconds for one fit")
    args = parser.parse_args()
    kl.KLafter(link="exposure", n_init=1, random_state=0).fit(kl.read_graph(args.folder / "football.tsv"))
    rows = json.loads(RESULTS.read_text())["fits"] if RESULTS.exists() else []
    for name in args.networks:
        graph = kl.read_graph(args.folder / f"{name}.tsv", directed=False, weight=None)
        truth = read_truth(args.folder, name, graph)
        train, held = kl.split_dyads(graph, 0.2, random_state=0, max_nonlinks=args.nonlinks)
        for tool in args.tools:
            facts = measure(tool, train, held, truth, args.patience)
            rows = [row for row in rows if (row["network"], row["tool"]) != (name, tool)]
            rows.append({"network": name, "nodes": graph.n_nodes, "links": graph.n_links, "tool": tool, **facts})
            sys.stdout.write(json.dumps(rows[-1]) + "\n")
            sys.stdout.flush()
            save(rows, args.patience)


def save(rows: list[dict], patience: float) -> None:
    """What was measured so far."""
    command = f"python benchmarks/networks.py FOLDER --patience {patience:g}"
    RESULTS.write_text(json.dumps({"command": command, "fits": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
