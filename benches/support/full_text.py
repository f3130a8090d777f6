"""SQLite's FTS5 over whole files, ranked by its own bm25(): what a simple search would do.

Reads JSON {"files": [[path, text], ...], "questions": [text, ...], "k": 5} from standard input and
prints {"build": seconds, "answers": [[seconds, [path, ...]], ...]}.
"""

import json
import re
import sqlite3
import sys
import time

given = json.load(sys.stdin)
database = sqlite3.connect(":memory:")
started = time.perf_counter()
database.execute("CREATE VIRTUAL TABLE files USING fts5(path, text, tokenize = 'porter unicode61')")
database.executemany("INSERT INTO files VALUES (?, ?)", given["files"])
database.commit()
build = time.perf_counter() - started
answers = []
for question in given["questions"]:
    started = time.perf_counter()
    words = re.findall(r"\w+", question)
    query = " OR ".join(f'"{word}"' for word in words)
    rows = []
    if query:
        rows = database.execute(
            "SELECT path FROM files WHERE files MATCH ? ORDER BY bm25(files, 4.0, 1.0) LIMIT ?",
            (query, given["k"]),
        ).fetchall()
    answers.append([time.perf_counter() - started, [row[0] for row in rows]])
print(json.dumps({"build": build, "answers": answers}))
