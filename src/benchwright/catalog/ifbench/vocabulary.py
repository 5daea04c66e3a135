"""Word lists that IFBench's rules use."""

from __future__ import annotations

CONJUNCTIONS = frozenset(("and", "but", "for", "nor", "or", "so", "yet"))

_NAMES = """
Emma Liam Sophia Jackson Olivia Noah Ava Lucas Isabella Mason Mia Ethan Charlotte Alexander Amelia Benjamin
Harper Leo Zoe Daniel Chloe Samuel Lily Matthew Grace Owen Abigail Gabriel Ella Jacob Scarlett Nathan
Victoria Elijah Layla Nicholas Audrey David Hannah Christopher Penelope Thomas Nora Andrew Aria Joseph
Claire Ryan Stella Jonathan
"""
PERSON_NAMES = tuple(_NAMES.split())
"""The 50 personal names that the prompts list."""

_PRONOUNS = """
i me we us you he him she her it they them my mine our ours your yours his hers its their theirs myself
ourselves yourself yourselves himself herself itself themselves this that these those who whom whose which
what whoever whomever whatever whichever anybody anyone anything everybody everyone everything nobody
nothing somebody someone something each either neither both all some any none
"""
PRONOUNS = frozenset(_PRONOUNS.split())
"""The pronouns that the official code counts."""

_STOP_WORDS = """
a about above after again against ain all am an and any are aren as at be because been before being below
between both but by can couldn d did didn do does doesn doing don down during each few for from further had
hadn has hasn have haven having he her here hers herself him himself his how i if in into is isn it its
itself just ll m ma me mightn more most mustn my myself needn no nor not now o of off on once only or other
our ours ourselves out over own re s same shan she should shouldn so some such t than that the their theirs
them themselves then there these they this those through to too under until up ve very was wasn we were
weren what when where which while who whom why will with won wouldn y you your yours yourself yourselves
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
"""NLTK's English stop words, except those with an apostrophe, because no looked-up word contains an apostrophe."""

_CAPITALS = """
Reykjavik Helsinki Oslo Tallinn Stockholm Riga Moscow Copenhagen Vilnius Minsk Dublin Berlin Amsterdam
Warsaw London Brussels Prague Luxembourg Paris Vienna Bratislava Budapest Vaduz Chisinau Bern Ljubljana
Zagreb
"""
EUROPEAN_CAPITALS = tuple(_CAPITALS.split())
"""The European capitals that one prompt requires, from north to south."""
