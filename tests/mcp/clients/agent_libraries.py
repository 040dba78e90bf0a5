"""Libraries for agents: NAME, COMMAND and CALLS; prints the tools and what the library hands to its model."""

# mypy: ignore-errors
import asyncio
import json
import sys

sys.path.pop(0)  # this folder is none of theirs
NAME, COMMAND, CALLS = sys.argv[1], json.loads(sys.argv[2]), json.loads(sys.argv[3])


async def fastmcp():
    from fastmcp import Client

    server = {"mcpServers": {"memtui": {"command": COMMAND[0], "args": COMMAND[1:]}}}
    async with Client(server) as client:
        yield [tool.name for tool in await client.list_tools()]
        for name, given in CALLS:
            yield json.dumps((await client.call_tool(name, given)).structured_content)


async def openai_agents():
    from agents import RunContextWrapper
    from agents.mcp import MCPServerStdio
    from agents.mcp.util import MCPUtil

    parameters = {"command": COMMAND[0], "args": COMMAND[1:]}
    async with MCPServerStdio(params=parameters, client_session_timeout_seconds=60) as server:
        tools = {tool.name: tool for tool in await server.list_tools()}
        yield list(tools)
        for name, given in CALLS:
            context = RunContextWrapper(None)
            yield str(await MCPUtil.invoke_mcp_tool(server, tools[name], context, json.dumps(given)))


async def pydantic_ai():
    from fastmcp.client.transports import StdioTransport
    from pydantic_ai import Agent
    from pydantic_ai.mcp import MCPToolset
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
    from pydantic_ai.models.function import FunctionModel

    seen, offered = [], []

    def model(messages, info):
        offered[:] = [tool.name for tool in info.function_tools]
        last = [part for part in messages[-1].parts if isinstance(part, ToolReturnPart)]
        seen.extend(part.model_response_str() for part in last)
        done = len(seen)
        part = ToolCallPart(*CALLS[done]) if done < len(CALLS) else TextPart("done")
        return ModelResponse(parts=[part])

    toolset = MCPToolset(StdioTransport(COMMAND[0], COMMAND[1:]), init_timeout=60)
    async with Agent(FunctionModel(model), toolsets=[toolset]) as agent:
        await agent.run("which port?")
    yield offered
    for answer in seen:
        yield answer


async def langchain():
    from langchain_mcp_adapters.client import MultiServerMCPClient

    server = {"command": COMMAND[0], "args": COMMAND[1:], "transport": "stdio"}
    tools = {tool.name: tool for tool in await MultiServerMCPClient({"memtui": server}).get_tools()}
    yield list(tools)
    for name, given in CALLS:
        yield str(await tools[name].ainvoke(given))


async def smolagents():
    from mcp import StdioServerParameters
    from smolagents import MCPClient

    parameters = StdioServerParameters(command=COMMAND[0], args=COMMAND[1:])
    with MCPClient(parameters, structured_output=True) as found:
        tools = {tool.name: tool for tool in found}
        yield list(tools)
        for name, given in CALLS:
            yield json.dumps(tools[name](**given))


async def main():
    told = [each async for each in globals()[NAME]()]
    print(json.dumps({"tools": told[0], "answers": told[1:]}))


asyncio.run(main())
