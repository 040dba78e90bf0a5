"""The official Python SDK, any generation: COMMAND and CALLS as JSON; prints the tools and what came back."""

import asyncio
import json
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main() -> None:
    command, calls = json.loads(sys.argv[1]), json.loads(sys.argv[2])
    parameters = StdioServerParameters(command=command[0], args=command[1:])
    async with stdio_client(parameters) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        tools = [tool.name for tool in (await session.list_tools()).tools]
        answers = []
        for name, given in calls:
            result = await session.call_tool(name, given)
            answers.append("\n".join(part.text for part in result.content))  # type: ignore[union-attr]
        print(json.dumps({"tools": tools, "answers": answers}))


asyncio.run(main())
