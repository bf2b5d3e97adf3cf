"""What people call the columns of a table of links, in some twenty languages, and the part each column plays."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from klafter.graph.convert import SOURCE_NAMES, TARGET_NAMES, WEIGHT_NAMES

# written without accents; English, German, French, Spanish, Italian, Portuguese, Dutch; then Nordic languages, Polish,
# Czech, Hungarian, Russian, Turkish, Greek, Japanese, Chinese, Korean
_SOURCE = """
source src from sender origin caller giver follower citing ego exporter reporter chooser rater seller tail
von quelle absender ursprung herkunft geber
de origine emetteur expediteur depart
origen fuente desde emisor remitente
da fonte sorgente mittente
origem remetente
van bron afzender
fra avsender afsender kilde fran avsandare kalla lahde lahettaja
od nadawca źródło odesilatel zdroj kitol felado forras
от отправитель источник відправник gönderen kaynak απο αποστολεας
送信者 差出人 发送者 发件人 보낸사람 발신자
"""
_TARGET = """
target dst dest destination to receiver recipient callee taker followee followed cited alter importer chosen ratee buyer
nach ziel empfanger adressat an zu
cible vers destinataire recepteur arrivee
destino hacia para receptor destinatario
verso destinazione bersaglio
alvo
naar doel ontvanger
til mottaker modtager mål till mottagare kohde vastaanottaja
do odbiorca cel prijemce cil kinek cimzett cel
к кому получатель отримувач alıcı hedef προς παραληπτης
受信者 宛先 接收者 收件人 받는사람 수신자
"""
_NODE = """
node vertex person people name member friend actor user author coauthor student pupil employee colleague partner gene
protein species country company firm organisation organization character city station airport interactor entity account
artist team player scientist researcher lawyer patient household village school neuron mentor mentee citizen respondent
knoten akteur nutzer benutzer mitglied freund freundin schuler schulerin kollege kollegin firma land stadt autor autorin
personne nom prenom ami amie noeud sommet acteur utilisateur membre eleve etudiant etudiante collegue auteur pays ville
persona nombre amigo amiga nodo usuario miembro alumno alumna estudiante colega pais ciudad empresa proteina
nome amico amica attore utente membro studente collega autore paese citta azienda
pessoa ator aluno estudante cidade
persoon naam vriend vriendin knoop leerling stad bedrijf land auteur
navn venn elev deltaker bruker ven bruger deltager namn van anvandare deltagare nimi ystava henkilo oppilas kayttaja
osoba znajomy przyjaciel kolega kolezanka uczen imie nazwisko uzytkownik jmeno pritel kamarad zak uzivatel
nev barat diak szemely имя друг подруга человек участник ученик пользователь фамилия друзья
kişi arkadaş öğrenci isim kullanici ονομα φιλος μαθητης χρηστης
名前 氏名 友人 友達 人物 学生 ユーザー 姓名 朋友 用户 学生 이름 친구 사람 학생 사용자
"""
_GROUP = """
event group club board committee item product film movie paper article project meeting party course class tag topic
ereignis gruppe verein ausschuss projekt produkt kurs treffen veranstaltung artikel
evenement groupe comite reunion projet produit cours
evento grupo proyecto producto curso reunion comite
gruppo progetto prodotto corso riunione
projeto produto reuniao
"""
_WEIGHT = """
weight weights value count counts strength amount frequency freq times intensity volume contacts
gewicht wert anzahl haufigkeit starke menge betrag
poids valeur frequence intensite force
peso valor cantidad frecuencia fuerza intensidad
valore frequenza quantita forza
quantidade frequencia forca
gewicht aantal sterkte
rating score closeness tie linked connected interactions messages calls
vekt antall styrke vægt antal vikt paino maara voima waga sila liczba vaha pocet sila suly szam
вес число количество сила вага ağırlık sayı βαρος 回数 重み 强度 次数 权重 횟수 가중치
"""
_TIME = """
time timestamp date datetime year month day since created updated began ended start end hour week wave
zeit zeitpunkt datum jahr monat tag uhrzeit stunde seit welle
temps annee mois jour heure depuis
fecha hora ano tiempo mes dia
data anno tempo giorno ora mese
tijd jaar maand
dato tidspunkt ar aika paivamaara vuosi czas rok miesiac datum cas ido ev
дата время год tarih zaman yıl 日付 日時 年 日期 时间 날짜
"""
_OTHER = """
id index nr no row number key code label type kind category color colour note notes comment comments directed relation
nummer typ art farbe bemerkung kommentar beziehung schlussel
numero type genre couleur remarque commentaire
tipo categoria comentario observacion numero
commento osservacao
age sex gender role status department office income education
alter geschlecht rolle abteilung beruf einkommen klasse
sexe metier classe
edad sexo genero departamento
eta sesso genere ruolo
idade
"""
# too short or too common to say something as a part of a longer name
_WHOLE_ONLY = frozenset(
    {"de", "da", "an", "zu", "van", "ora", "data", "ego", "alter", "nr", "no", "end", "art", "land"}
)
_WHOLE_ONLY |= {"fra", "til", "fran", "till", "od", "do", "cel", "ar", "ev", "cas", "ido", "tie", "linked", "ven"}
_PIECES = re.compile(r"[^\W\d_]+|\d+")
_CAMEL = re.compile(r"(?<=[a-zà-ÿ])(?=[A-ZÀ-Þ])")


def simplified(name: str) -> str:
    """A name in lower case, without accents."""
    apart = unicodedata.normalize("NFKD", name.replace("ß", "ss"))
    return "".join(c for c in apart if not unicodedata.combining(c)).strip().lower()


_ROLES = (
    ("source", frozenset([*map(simplified, _SOURCE.split()), *(name for name in SOURCE_NAMES if len(name) > 1)])),
    ("target", frozenset([*map(simplified, _TARGET.split()), *(name for name in TARGET_NAMES if len(name) > 1)])),
    ("weight", frozenset([*map(simplified, _WEIGHT.split()), *(name for name in WEIGHT_NAMES if len(name) > 1)])),
    ("time", frozenset(map(simplified, _TIME.split()))),
    ("node", frozenset(map(simplified, _NODE.split()))),
    ("group", frozenset(map(simplified, _GROUP.split()))),
    ("other", frozenset(map(simplified, _OTHER.split()))),
)
_KNOWN = dict(_ROLES)


def role(name: str) -> str | None:
    """The part that a column of this name plays: source, target, weight, time, node, group or other; None if unknown.

    Examples
    --------
    >>> [role(name) for name in ("Von", "to_user", "Personne", "GeneA", "Häufigkeit", "created_at", "Ann")]
    ['source', 'target', 'node', 'node', 'weight', 'time', None]
    """
    whole = simplified(name)
    for title, known in _ROLES:
        if whole in known or _plural(whole) in known:
            return title
    pieces = [simplified(piece) for piece in _PIECES.findall(_CAMEL.sub(" ", name))]
    words = [piece for piece in pieces if len(piece) > 1 and not piece.isdigit()]
    numbered = len(words) < len(pieces)
    if not words or len(words) > 3 or any(piece.isdigit() and len(piece) > 2 for piece in pieces):
        return None
    for title in ("source", "target", "time", "weight", "node", "group"):
        if any(_in(word, title) for word in words):
            return title
    if all(_in(word, "other") for word in words):
        return "node" if numbered and words[0] == "id" else "other"
    return None


def _in(word: str, title: str) -> bool:
    return word not in _WHOLE_ONLY and (word in _KNOWN[title] or _plural(word) in _KNOWN[title])


def _plural(word: str) -> str:
    return word[:-1] if len(word) > 4 and word.endswith("s") else word


def weight_column(names: Sequence[str], taken: Sequence[int]) -> int | None:
    """The column of weights by its name, None if no name says so."""
    lower = [name.lower() for name in names]
    exact = next((lower.index(name) for name in WEIGHT_NAMES if name in lower), None)
    if exact is not None and exact not in taken:
        return exact
    return next((k for k, name in enumerate(names) if k not in taken and role(name) == "weight"), None)
