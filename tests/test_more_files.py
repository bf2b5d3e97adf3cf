"""More files as people have them: what each must become, by evidence, or the sentence that stops it."""

import pytest
from test_fifty_files import HEADER, Case, becomes_what_it_must, links, list_of, workbook, written

from klafter.graph import read_graph
from klafter.graph.io.encodings import likely_encoding
from klafter.graph.io.errors import GraphFileError
from klafter.graph.io.look import look

RING = {("ann", "bob"): 1, ("bob", "eve"): 1, ("dan", "eve"): 1, ("ann", "dan"): 1}
CIRCLE = (("ann", "bob"), ("bob", "eve"), ("eve", "dan"), ("dan", "ann"))
GENES = "TP53,MDM2,ATM,CHEK2"
ADJACENCY = {("MDM2", "TP53"): 1, ("ATM", "TP53"): 1, ("ATM", "MDM2"): 1, ("ATM", "CHEK2"): 1}
BODY = ("TP53,0,1,1,0{0}", "MDM2,1,0,1,0{1}", "ATM,1,1,0,1{2}", "CHEK2,0,0,1,0{3}")
OTU = {("OTU1", "S1"): 10, ("OTU2", "S2"): 7, ("OTU3", "S1"): 1, ("OTU3", "S2"): 2, ("OTU4", "S3"): 5}


def of(*names):
    """The links of a ring of these names."""
    pairs = zip(names, (*names[1:], names[0]))
    return {tuple(sorted(pair)): 1 for pair in pairs}


def ring(header, *names, delimiter=";"):
    return list_of(header, *zip(names, (*names[1:], names[0])), delimiter=delimiter)


def matrix(*ends, last=(), corner="", header=GENES):
    ends = ends or ("", "", "", "")
    rows = [row.format(*ends) for row in BODY]
    return "\n".join([f"{corner},{header}", *rows, *last]) + "\n"


CASES = {
    # languages and encodings
    "norwegian in windows letters": Case(
        "a.csv", ring(("Avsender", "Mottaker"), "Åse", "Bjørn", "Kåre", "Søren").encode("latin-1"),
        of("Åse", "Bjørn", "Kåre", "Søren"), (HEADER, "read as cp1252"),
    ),
    "polish in windows letters": Case(
        "a.csv", ring(("Nadawca", "Odbiorca"), "Żaneta", "Łukasz", "Paweł", "Małgorzata").encode("cp1250"),
        of("Żaneta", "Łukasz", "Paweł", "Małgorzata"), (HEADER, "read as cp1250"),
    ),
    "turkish in windows letters": Case(
        "a.csv", ring(("Kişi", "Arkadaş"), "Ayşe", "Çağrı", "Işıl", "Can").encode("cp1254"),
        of("Ayşe", "Çağrı", "Işıl", "Can"), (HEADER, "read as cp1254"),
    ),
    "russian in windows letters": Case(
        "a.csv", ring(("Отправитель", "Получатель"), "Анна", "Борис", "Вера", "Глеб").encode("cp1251"),
        of("Анна", "Борис", "Вера", "Глеб"), (HEADER, "read as cp1251"),
    ),
    "greek in windows letters": Case(
        "a.csv", ring(("Από", "Προς"), "Άννα", "Νίκος", "Ελένη", "Γιώργος").encode("cp1253"),
        of("Άννα", "Νίκος", "Ελένη", "Γιώργος"), (HEADER, "read as cp1253"),
    ),
    "japanese of Excel": Case(
        "a.csv", ring(("送信者", "受信者"), "田中", "鈴木", "佐藤", "高橋", delimiter=",").encode("cp932"),
        of("田中", "鈴木", "佐藤", "高橋"), (HEADER, "read as cp932"),
    ),
    "chinese with a mark": Case(
        "a.csv", ring(("发送者", "接收者"), "张伟", "王芳", "李娜", "刘洋").encode("utf-8-sig"),
        of("张伟", "王芳", "李娜", "刘洋"), (HEADER,),
    ),
    "hungarian weights in utf-16": Case(
        "a.txt", "Feladó\tCímzett\tSúly\nAnna\tBéla\t1,5\nBéla\tCili\t2,5\n".encode("utf-16"),
        {("Anna", "Béla"): 1.5, ("Béla", "Cili"): 2.5}, (HEADER, "decimal commas", "read as utf-16"),
    ),
    "letters of an old Mac": Case(
        "a.csv", ring(("Nom", "Ami"), "Zoé", "Noël", "Hélène", "François").encode("mac_roman"),
        of("Zoé", "Noël", "Hélène", "François"), ("read as mac_roman",),
    ),
    "a language without known words": Case(
        "a.csv", ring(("Saatja", "Vastuvõtja"), "ann", "bob", "eve", "dan"), RING, (HEADER, "never stand again")
    ),
    # what stands above and below
    "title of a spreadsheet": Case(
        "a.csv", "Friendship survey 2019,,\nWave 2,,\n\nEgo,Alter,Closeness\nann,bob,3\nbob,eve,4\n",
        {("ann", "bob"): 3, ("bob", "eve"): 4},
        (HEADER, "Left out above the table: 'Friendship survey 2019', 'Wave 2'"),
    ),
    "empty rows of a spreadsheet": Case(
        "a.csv", "Von;Nach;Gewicht\nann;bob;1\n;;\nbob;eve;2\n;;\n;;\n",
        {("ann", "bob"): 1, ("bob", "eve"): 2}, (HEADER,)
    ),
    "names of columns in a remark": Case(
        "a.tsv", "#ID\tInteractor A\tInteractor B\tScore\n1\tMAP2K4\tFLNC\t-\n2\tMYPN\tACTN2\t-\n3\tMYPN\tFLNC\t-\n",
        {("FLNC", "MAP2K4"): 1, ("ACTN2", "MYPN"): 1, ("FLNC", "MYPN"): 1}, (HEADER, "Left out: columns 'id'"),
    ),
    "remark of SNAP": Case(
        "a.txt", "# Undirected graph: a\n# FromNodeId\tToNodeId\n1\t2\n2\t3\n3\t4\n", {(1, 2): 1, (2, 3): 1, (3, 4): 1},
        (HEADER,),
    ),
    "a remark that is a sentence": Case(
        "a.txt", "# my friends\nann bob\nbob eve\n", {("ann", "bob"): 1, ("bob", "eve"): 1}, ("is a link",)
    ),
    "merged cells above the names": Case(
        "a.csv", "Respondent,,Friend,\nID,Name,ID,Name\n1,ann,2,bob\n2,bob,3,eve\n3,eve,4,dan\n",
        {(1, 2): 1, (2, 3): 1, (3, 4): 1}, ("Two lines name the columns", "'Friend ID' share names"),
    ),
    # which columns
    "friends in columns": Case(
        "a.csv", "Name,Friend 1,Friend 2,Friend 3\nann,bob,eve,\nbob,ann,,\neve,dan,bob,ann\ndan,,,\nzoe,,,\n",
        {("ann", "bob"): 1, ("bob", "ann"): 1, ("ann", "eve"): 1, ("eve", "ann"): 1, ("eve", "dan"): 1,
         ("eve", "bob"): 1},
        ("Each line holds links from 'Name' to 3 columns", "2 lines name nobody: 'dan', 'zoe'"), directed=True, nodes=5,
    ),
    "friends in columns of a workbook": Case(
        "a.xlsx", workbook(Ark1=[["Elev", "Venn 1", "Venn 2"], ["ann", "bob", "eve"], ["bob", "ann", None],
                                 ["eve", "ann", "bob"]]),
        {("ann", "bob"): 1, ("ann", "eve"): 1, ("bob", "ann"): 1, ("eve", "ann"): 1, ("eve", "bob"): 1},
        ("Each line holds links from 'Elev' to 2 columns",), directed=True, needs="openpyxl",
    ),
    "names in two columns": Case(
        "a.csv", "First name,Last name,Friend first name,Friend last name\n"
        "Ann,Lee,Bob,Ray\nBob,Ray,Eve,Fox\nEve,Fox,Ann,Lee\n",
        {("Ann", "Bob"): 1, ("Bob", "Eve"): 1, ("Ann", "Eve"): 1},
        ("'First name' and 'Friend first name' share names", "join the columns that name a person"),
    ),
    "times before the names": Case(
        "a.txt", "1082040961 1 2\n1082155839 2 3\n1082414391 3 4\n", {(1, 2): 1, (2, 3): 1, (3, 4): 1},
        ("The first column holds times",),
    ),
    "numbers of lines before the names": Case(
        "a.txt", "1 ann bob\n2 bob eve\n3 eve dan\n4 dan ann\n", RING, ("The first column holds numbers of lines",)
    ),
    "all pairs with yes and no": Case(
        "a.csv", "a,b,same_club\nann,bob,1\nann,eve,0\nann,dan,1\nbob,eve,1\nbob,dan,0\neve,dan,1\n", RING,
        ("has 0 and 1 for nearly all pairs", "3 links of value 0|2 links of value 0"),
    ),
    "an unknown column of numbers": Case(
        "a.csv", "source,target,foo\nann,bob,3\nbob,eve,4\n", {("ann", "bob"): 1, ("bob", "eve"): 1},
        ("Column 'foo' holds numbers; pass weight='foo'",),
    ),
    "papers and their authors": Case(
        "a.csv", "Paper,Author 1,Author 2,Author 3\nP1,ann,bob,eve\nP2,bob,eve,\nP3,dan,,\n",
        {("P1", "ann"): 1, ("P1", "bob"): 1, ("P1", "eve"): 1, ("P2", "bob"): 1, ("P2", "eve"): 1, ("P3", "dan"): 1},
        ("Each line holds links from 'Paper' to 3 columns", "two kinds of nodes"), kinds=3,
    ),
    "people, events and more people": Case(
        "a.csv", "person,event,sponsor,organiser\nann,ball,X,Y\nbob,ball,Y,X\neve,opera,X,X\ndan,opera,Y,Y\n",
        {("ann", "ball"): 1, ("ball", "bob"): 1, ("eve", "opera"): 1, ("dan", "opera"): 1}, ("Left out",), kinds=4,
    ),
    "sums of money": Case(
        "a.csv", "payer,payee,sum\nann,bob,$3.50\nbob,eve,$4.00\n", {("ann", "bob"): 1, ("bob", "eve"): 1},
        (HEADER, "Left out: column 'sum'"),
    ),
    "answers of a survey": Case(
        "a.csv", "id,q1,q2,q3\n1,3,4,5\n2,1,2,2\n3,5,5,1\n", {(3, 4): 1, (1, 2): 1},
        ("The columns 'q1' to 'q3' are alike, but a link has two names",), nodes=5,
    ),
    # names
    "several names in a cell": Case(
        "a.csv", 'title,authors\nOn x,"Ann; Bob"\nOn y,"Bob; Dan"\n',
        {("Ann; Bob", "On x"): 1, ("Bob; Dan", "On y"): 1},
        ("hold several; write one on each line",),
    ),
    "invisible letters": Case(
        "a.csv", "Von;Nach\n\u200bann;bob\nbob;ann\n", {("\u200bann", "bob"): 1, ("ann", "bob"): 1},
        ("differ only in case or blanks",),
    ),
    "identifiers with points": Case(
        "a.csv", "source,target\n1.0,2\n2.0,3\n3.0,4\n", {(1, 2): 1, (2, 3): 1, (3, 4): 1}, ("'?1.0'? were read as 1",)
    ),
    "identifiers that Excel rounded": Case(
        "a.csv", "source,target\n1.23E+17,1.24E+17\n1.24E+17,1.25E+17\n",
        {("1.23E+17", "1.24E+17"): 1, ("1.24E+17", "1.25E+17"): 1}, ("were rounded by a spreadsheet",),
    ),
    "nobody": Case(
        "a.csv", "ego,alter\nann,bob\nbob,NA\n", {("ann", "bob"): 1, ("NA", "bob"): 1},
        ("A node is called 'NA'; delete its lines if that means nobody",),
    ),
    "a code for what is missing": Case(
        "a.csv", "ego,alter,closeness\nann,bob,1\nbob,eve,99\neve,dan,2\n",
        {("ann", "bob"): 1, ("bob", "eve"): 99, ("dan", "eve"): 2}, ("The value 99 stands once",),
    ),
    # matrices
    "matrix with sums": Case(
        "a.csv", matrix(",2", ",2", ",3", ",1", last=["Total,2,2,3,1,8"], header=f"{GENES},Total"), ADJACENCY,
        ("Left out: the last row 'Total' and the last column 'Total'",),
    ),
    "matrix with sums that nobody named": Case(
        "a.csv", matrix(",2", ",2", ",3", ",1"), ADJACENCY, ("Left out: the last column, the sums",)
    ),
    "people and items": Case(
        "a.csv", ",item1,item2,item3\n1,1,0,1\n2,0,1,1\n3,1,1,0\n4,0,0,1\n",
        {("1", "item1"): 1, ("1", "item3"): 1, ("2", "item2"): 1, ("2", "item3"): 1, ("3", "item1"): 1,
         ("3", "item2"): 1, ("4", "item3"): 1},
        ("two modes: 4 rows, 3 columns",), kinds=4,
    ),
    "matrix of write.csv": Case(
        "a.csv", ",V1,V2,V3,V4\n1,0,1,1,0\n2,1,0,1,0\n3,1,1,0,1\n4,0,0,1,0\n",
        {(1, 2): 1, (1, 3): 1, (2, 3): 1, (3, 4): 1}, ("such as 'V1', are of the same nodes",),
    ),
    "matrix with empty rows below": Case(
        "a.csv", matrix(last=[",,,,", ",,,,"]), ADJACENCY, ("square matrix with names",)
    ),
    "matrix with a code": Case(
        "a.csv", ",a,b,c,d\na,0,1,99,0\nb,1,0,1,0\nc,99,1,0,1\nd,0,0,1,0\n",
        {("a", "b"): 1, ("a", "c"): 99, ("b", "c"): 1, ("c", "d"): 1},
        ("The value 99 stands 2 times, the others are 1 at most",),
    ),
    "correlations": Case(
        "a.csv", ",a,b,c,d\na,1,.1,.2,.3\nb,.1,1,.4,.5\nc,.2,.4,1,.6\nd,.3,.5,.6,1\n",
        {("a", "b"): .1, ("a", "c"): .2, ("a", "d"): .3, ("b", "c"): .4, ("b", "d"): .5, ("c", "d"): .6},
        ("Every pair has a value, as in correlations",),
    ),
    "table of species": Case(
        "a.tsv", "#OTU ID\tS1\tS2\tS3\nOTU1\t10\t0\t0\nOTU2\t0\t7\t0\nOTU3\t1\t2\t0\nOTU4\t0\t0\t5\n", OTU,
        ("two modes: 4 rows, 3 columns",), kinds=4,
    ),
    # formats
    "konect of two modes": Case(
        "a.txt", "% bip unweighted\n1 1\n1 2\n2 2\n",
        {("1 (source)", "1 (target)"): 1, ("1 (source)", "2 (target)"): 1, ("2 (source)", "2 (target)"): 1},
        ("Two kinds of nodes",), kinds=2,
    ),
    "json of records": Case(
        "a.json", '[{"source":"ann","target":"bob","weight":2},{"source":"bob","target":"eve","weight":1}]',
        {("ann", "bob"): 2, ("bob", "eve"): 1}, ("the file says nothing of it; pass directed=True",),
    ),
    "json of lines without suffix": Case(
        "a.txt", '{"from":"ann","to":"bob"}\n{"from":"bob","to":"eve"}\n', {("ann", "bob"): 1, ("bob", "eve"): 1}, ()
    ),
    "json of D3": Case(
        "a.json", '{"nodes":[{"name":"ann"},{"name":"bob"},{"name":"eve"}],"links":[{"source":0,"target":1},'
        '{"source":1,"target":2}]}', {("ann", "bob"): 1, ("bob", "eve"): 1}, (),
    ),
    "json of Cytoscape": Case(
        "a.json", '{"elements":{"nodes":[{"data":{"id":"a"}},{"data":{"id":"b"}}],"edges":[{"data":{"source":"a",'
        '"target":"b"}}]}}', {("a", "b"): 1}, (),
    ),
}  # fmt: skip

STOPS = {
    "table of nodes of Gephi": (
        "Id,Label,Group\n1,ann,A\n2,bob,A\n3,eve,B\n4,dan,B\n",
        "table of nodes; give the file",
    ),
    "measurements": ("gene,s1,s2\nTP53,5.1,6.3\nMDM2,1.1,0.3\nATM,4.4,4.9\n", "'5.1' beside 'TP53'.*matrix=True"),
    "all pairs with yes and no": (
        "a,b,friends?\nann,bob,yes\nann,eve,no\nann,dan,no\nbob,eve,yes\nbob,dan,no\neve,dan,yes\n",
        "the weight 'yes', but weights are finite numbers",
    ),
    "two tables in one file": ("Id,Label\n1,ann\n2,bob\n\nSource,Target\n1,2\n", "names of columns below"),
    "table of edges of Cytoscape": (
        "shared name,name,selected\nA (pp) B,A (pp) B,false\nB (pp) C,B (pp) C,false\n",
        "links of nodes to themselves",
    ),
    "gdf": ("nodedef>name VARCHAR,label VARCHAR\n1,ann\nedgedef>node1 VARCHAR,node2 VARCHAR\n1,2\n", "a GDF file"),
    "vna": ("*node data\nID sex\nann f\n*tie data\nfrom to friends\nann bob 1\n", "a VNA file"),
    "dot": ("graph {\n a -- b;\n}\n", "a DOT file"),
    "web page": ("<html><body><table></table></body></html>\n", "a web page"),
    "tuples": ("(1, 2)\n(2, 3)\n", "delete the brackets"),
    "layers": ("#TYPE multiplex\n#EDGES\nU1,U2,lunch\n", "a multilayer file"),
    "footer": ("Von;Nach\nann;bob\nbob;eve\n\nExport vom 12.03.2020\n", "line 5: found 1 in 'Export"),
    "footer with sums": ("From,To,Count\nann,bob,3\nbob,eve,4\nTotal,,7\n", "line 4: found 'Total,,7'"),
    "sums of nominations": ("Name,Friend 1,Friend 2\nann,bob,eve\nbob,ann,\nTotal,,\n", "sums are no link"),
    "units": ("from,to,time spent\n,,(hours)\nann,bob,3\nbob,eve,4\n", "line 2: found ',,\\(hours\\)'"),
    "a column without a name": (",a,b,c,\na,0,1,0,7\nb,1,0,1,7\nc,0,1,0,7\n", "no name across the top"),
    "old Excel file": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100), "an old Excel file"),
}


@pytest.mark.parametrize("title", CASES)
def test_a_file_becomes_what_it_must(title, tmp_path):
    becomes_what_it_must(CASES[title], tmp_path)


@pytest.mark.parametrize("title", STOPS)
def test_what_is_no_list_of_links_is_refused_with_a_cure(title, tmp_path):
    content, words = STOPS[title]
    with pytest.raises(GraphFileError, match=words):
        read_graph(written(tmp_path, "a.csv", content))


def test_json_of_records_keeps_the_order_when_asked(tmp_path):
    path = written(tmp_path, "a.json", '[{"source":"ann","target":"bob"},{"source":"eve","target":"bob"}]')
    assert links(read_graph(path, directed=True)) == {("ann", "bob"): 1, ("eve", "bob"): 1}


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1252", "Müller;José\nSøren;Zoé\nBjörk;Ångström"),
        ("cp1250", "Jiří;Dvořák\nNováková;Šárka"),
        ("cp1250", "Erdős;Győző\nJános;Éva"),
        ("cp1257", "Žydrūnas;Rūta\nGiedrė;Lukšė"),
        ("koi8-r", "Анна;Борис\nВера;Глеб"),
        ("cp1255", "דוד;שרה\nמשה;דוד"),
        ("cp1256", "أحمد;علي\nسارة;محمد"),
        ("gb18030", "张伟;王芳\n李娜;刘洋"),
        ("cp949", "김민수;이영희\n박지훈;최유진"),
        ("big5", "陳美玲;林志明\n黃淑芬;張家豪"),
        ("cp850", "Müller;Köhler\nJürgen;Groß"),
    ],
)
def test_an_encoding_is_told_by_its_letters(encoding, text):
    assert text.encode(encoding).decode(likely_encoding(text.encode(encoding))) == text


def test_questions_about_names_and_codes_are_among_those_to_check(tmp_path):
    found = look(written(tmp_path, "a.csv", "ego,alter,closeness\nann,bob,1\nbob,NA,99\neve,ann,2\n"))
    assert any("99" in question for question in found.questions)
    assert any("'NA'" in question for question in found.questions)
