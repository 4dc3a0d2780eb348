"""A server of the revision with a handshake, by hand: it is as its first argument says."""

import json
import sys

how = sys.argv[1]


def say(document):
    print(document if isinstance(document, str) else json.dumps(document), flush=True)


def hear():
    line = sys.stdin.readline()
    return json.loads(line) if line else sys.exit(0)


def review(question):
    envelope = question["params"]["arguments"]["envelope"]
    told = {name: envelope[name] for name in ("goal", "timestamp", "request_id", "turn_id")}
    return {**told, "agent": "tester", "source": "external", "version": "1.0", "escalate": False,
            "reason": None, "provenance": {}, "payload": {"how": how}}


def call(question, answer):
    if how == "leaves":
        sys.exit("the lights went out")
    if how == "refuses":
        say({"jsonrpc": "2.0", "id": question["id"], "error": {"code": -32001, "message": "not today"}})
    elif how == "asks":
        say({"jsonrpc": "2.0", "id": "q1", "method": "elicitation/create", "params": {
            "message": "Which lease?", "requestedSchema": {"type": "object", "properties": {}}}})
        assert hear() == {"jsonrpc": "2.0", "id": "q1", "result": {"action": "cancel"}}
        answer({"content": [{"type": "text", "text": "cancelled"}], "isError": True})
    elif how == "spells":
        # A number that no double is: it must not become another one on the way.
        text = json.dumps({"structuredContent": review(question)})
        text = text.replace('"spells"', "9007199254740993")
        say('{"jsonrpc":"2.0","id":%d,"result":%s}' % (question["id"], text))
    elif how == "deep":
        say('{"jsonrpc":"2.0","id":%d,"result":%s1%s}' % (question["id"], '{"a":' * 500, "}" * 500))
    elif how == "nothing":
        answer({})
    else:
        answer({"structuredContent": review(question)})


if how == "dies":
    sys.exit("there is no licence")
if how == "chatters":
    say("Ready to serve!")
while how == "endless":
    sys.stdout.write("x" * 65536)
while how == "notices":
    say({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x" * 65536}})
while True:
    question = hear()
    method = question.get("method")
    if "id" not in question or method is None:
        continue

    def answer(result):
        say({"jsonrpc": "2.0", "id": question["id"], "result": result})

    if method == "initialize":
        assert question["params"]["protocolVersion"] == "2025-11-25", question
        version = "1999-01-01" if how == "old" else "2025-11-25"
        answer({"protocolVersion": version, "capabilities": {"tools": {}},
                "serverInfo": {"name": "hostile", "version": "1"}})
    elif method == "tools/list" and how == "pages":
        answer({"tools": [], "nextCursor": "again"})
    elif method == "tools/list":
        answer({"tools": [{"name": "review", "inputSchema": {"type": "object"}}]})
    elif method == "tools/call":
        call(question, answer)
    else:
        say({"jsonrpc": "2.0", "id": question["id"], "error": {"code": -32601, "message": "Method not found"}})
