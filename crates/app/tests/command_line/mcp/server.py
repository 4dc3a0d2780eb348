"""An MCP server as people write them, with the SDK: tools that take an SR2 envelope and give one."""

import json
import os
from typing import Annotated, Any

from mcp.server import MCPServer
from mcp.server.mcpserver import Elicit, Resolve
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel

server = MCPServer("desk")


def answer(envelope: dict[str, Any], payload: dict[str, Any]) -> dict[str, Any]:
    told = {name: envelope[name] for name in ("goal", "timestamp", "request_id", "turn_id")}
    return {**told, "agent": "tester", "source": "external", "version": "1.0", "escalate": False,
            "reason": None, "provenance": {}, "payload": payload}


@server.tool()
def review(envelope: dict[str, Any]) -> dict[str, Any]:
    """Reviews what it is handed."""
    assert envelope["agent"] == "controller" and envelope["escalate"] is False, envelope
    payload = envelope["payload"]
    return answer(envelope, {"stage": payload["stage"], "saw": payload["state"]["raw_input"],
                             "environment": sorted(os.environ)})


@server.tool()
def wrapped(envelope: dict[str, Any]) -> dict[str, Any] | None:
    return answer(envelope, {"how": "wrapped"})


@server.tool()
def written(envelope: dict[str, Any]) -> str:
    return json.dumps(answer(envelope, {"how": "written"}))


@server.tool(structured_output=False)
def text(envelope: dict[str, Any]) -> str:
    return json.dumps(answer(envelope, {"how": "text"}))


@server.tool()
def fails(envelope: dict[str, Any]) -> dict[str, Any]:
    raise ToolError("the registry is closed")


class Lease(BaseModel):
    lease: str


def which(envelope: dict[str, Any]) -> Lease | Elicit[Lease]:
    said = envelope["payload"]["state"]["clarification_response"]
    return Lease(lease=said) if said else Elicit("Which lease?", Lease)


@server.tool()
def asks(envelope: dict[str, Any], lease: Annotated[Lease, Resolve(which)]) -> dict[str, Any]:
    return answer(envelope, {"intent": "end it", "goals": ["End the lease."], "lease": lease.lease})


server.run()
