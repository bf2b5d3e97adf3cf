"""Tables and graphs of other libraries, out of models and into them."""

import networkx as nx
import numpy as np
import pytest

import klafter as kl
from klafter.datasets import load_karate, load_les_miserables

pd = pytest.importorskip("pandas")


@pytest.fixture(scope="module", params=["auto", "exposure"])
def model(request):
    options = {"n_smooth": 20} if request.param == "auto" else {}
    return kl.KLafter(link=request.param, n_init=2, random_state=0, **options).fit(load_karate())


def test_nodes_as_a_table(model):
    table = model.to_frame()
    assert table.shape[0] == 34
    assert set(table.loc[0, "communities"]) == {
        name for name, members in zip(model.community_names_, model.communities()) if 0 in members
    }
    chances = model.membership_proba_
    chances = chances.toarray() if hasattr(chances, "toarray") else chances
    assert np.allclose(table[model.community_names_].to_numpy(dtype=float), chances)
    assert list(table["partition"]) == list(model.partition().values())
    assert table["degree"].sum() == 2 * 78


def test_communities_as_a_table(model):
    table = model.communities_frame()
    graph = load_karate()
    for k, members in enumerate(model.communities()):
        rows = [graph.index(m) for m in members]
        assert table.loc[k, "size"] == len(members)
        assert set(table.loc[k, "members"]) == members
        assert table.loc[k, "links_inside"] == graph.links[rows][:, rows].nnz // 2
    assert table["density"].between(0, 1).all()


def test_links_as_a_table(model):
    table = model.top_links(5, as_frame=True)
    assert list(table.itertuples(index=False, name=None)) == model.top_links(5)


def test_networkx_there_and_back(model):
    made = model.to_networkx()
    assert kl.as_graph(made).n_links == 78
    assert made.nodes[0]["partition"] == model.partition()[0]
    members = model.communities()
    assert all(0 in members[k] for k in made.nodes[0]["communities"])


def test_igraph_there_and_back(model):
    igraph = pytest.importorskip("igraph")
    made = model.to_igraph()
    assert isinstance(made, igraph.Graph)
    again = kl.as_graph(made)
    assert (again.links != load_karate().links).nnz == 0
    assert made.vs["partition"] == model.labels_.tolist()


def test_cdlib(model):
    pytest.importorskip("cdlib")
    assert len(model.to_node_clustering().communities) == model.n_communities_


def test_a_missing_library_is_named(model, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "igraph", None)
    with pytest.raises(ImportError, match="igraph is not installed, and to_igraph needs it: pip install igraph"):
        model.to_igraph()


PAIRS = [("ann", "bob", 2.0), ("bob", "eve", 1.0), ("eve", "dan", 3.0)]


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_tables_of_links(kind):
    library = pytest.importorskip(kind)
    columns = {"source": [p[0] for p in PAIRS], "target": [p[1] for p in PAIRS], "weight": [p[2] for p in PAIRS]}
    table = library.table(columns) if kind == "pyarrow" else library.DataFrame(columns)
    graph = kl.as_graph(table)
    assert graph.labels.tolist() == ["ann", "bob", "eve", "dan"]
    assert graph.links[graph.index("eve"), graph.index("dan")] == 3.0


def test_weights_of_networkx_are_ignored_with_a_note_unless_asked_for():
    karate = nx.karate_club_graph()
    model = kl.KLafter(n_init=1, n_smooth=20, random_state=0).fit(karate)
    assert model.graph_.n_links == 78
    assert (model.graph_.links.data == 1).all()
    assert any("weights from 1 to 7 are ignored" in note for note in model.graph_.notes)
    counted = kl.KLafter(family="poisson", n_init=1, n_smooth=20, random_state=0).fit(karate)
    assert counted.graph_.links.data.max() == 7


def test_weights_of_what_has_no_weights_by_name_are_refused_as_before():
    with pytest.raises(ValueError, match="needs links of 0 or 1"):
        kl.KLafter().fit(load_les_miserables().replace(links=load_les_miserables().links * 3))
