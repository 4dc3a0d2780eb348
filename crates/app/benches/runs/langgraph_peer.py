"""Five stages with LangGraph and its SQLite checkpointer; prints how long runs took.

usage: langgraph_peer.py DIRECTORY AT_ONCE, one line of seconds for each line on standard input (a number of runs)
"""

import asyncio
import itertools
import os
import sqlite3
import sys
import tempfile
import time
from typing import TypedDict

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph

NAMES = ["one", "two", "three", "four", "five"]
BEGIN = {"raw_input": "Do it.", "outputs": {}}
NUMBERS = itertools.count(1)


class State(TypedDict):
    raw_input: str
    outputs: dict


def stage(name):
    def work(state):
        return {"outputs": {**state["outputs"], name: {"done": True}}}

    return work


def graph():
    built = StateGraph(State)
    for name in NAMES:
        built.add_node(name, stage(name))
    for before, after in zip([START, *NAMES], [*NAMES, END]):
        built.add_edge(before, after)
    return built


def config():
    return {"configurable": {"thread_id": str(next(NUMBERS))}}


def one_at_a_time(path):
    connection = sqlite3.connect(path, check_same_thread=False)
    saver = SqliteSaver(connection)
    saver.setup()
    # As a ledger is: what is acknowledged is on the disk.
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    app = graph().compile(checkpointer=saver)
    for line in sys.stdin:
        start = time.perf_counter()
        for _ in range(int(line)):
            done = app.invoke(BEGIN, config(), durability="sync")
            assert len(done["outputs"]) == len(NAMES)
        print(time.perf_counter() - start, flush=True)
    connection.close()


async def many_at_once(path, at_once):
    async with AsyncSqliteSaver.from_conn_string(path) as saver:
        await saver.setup()
        await saver.conn.execute("PRAGMA journal_mode=WAL")
        await saver.conn.execute("PRAGMA synchronous=FULL")
        app = graph().compile(checkpointer=saver)
        for line in sys.stdin:
            start = time.perf_counter()
            left = iter(range(int(line)))

            async def worker():
                for _ in left:
                    done = await app.ainvoke(BEGIN, config(), durability="sync")
                    assert len(done["outputs"]) == len(NAMES)

            await asyncio.gather(*(worker() for _ in range(at_once)))
            print(time.perf_counter() - start, flush=True)


def main():
    at_once = int(sys.argv[2])
    with tempfile.TemporaryDirectory(dir=sys.argv[1]) as directory:
        path = os.path.join(directory, "peer.sqlite")
        if at_once == 1:
            one_at_a_time(path)
        else:
            asyncio.run(many_at_once(path, at_once))


main()
