// The official TypeScript SDK and the AI SDK: FOLDER, PACKAGE, COMMAND and CALLS; prints what comes back.
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
const [, , folder, pack, command, calls] = process.argv
const load = (name) => import(pathToFileURL(createRequire(folder + '/').resolve(name)))
const words = JSON.parse(command)
const server = { command: words[0], args: words.slice(1), env: process.env, stderr: 'ignore' }
const answers = []
let tools, client
if (pack === '@ai-sdk/mcp') {
  const { createMCPClient } = await load(pack)
  const { Experimental_StdioMCPTransport: Transport } = await load('@ai-sdk/mcp/mcp-stdio')
  client = await createMCPClient({ transport: new Transport(server) })
  const offered = await client.tools()
  tools = Object.keys(offered)
  for (const [name, input] of JSON.parse(calls)) {
    const output = await offered[name].execute(input, { toolCallId: 'call_1', messages: [] })
    answers.push(JSON.stringify(await offered[name].toModelOutput({ toolCallId: 'call_1', input, output })))
  }
} else {
  const { Client } = await load(pack + '/client/index.js')
  const { StdioClientTransport: Transport } = await load(pack + '/client/stdio.js')
  client = new Client({ name: 'host', version: '1' }, { capabilities: {} })
  await client.connect(new Transport(server))
  tools = (await client.listTools()).tools.map((tool) => tool.name)
  for (const [name, input] of JSON.parse(calls)) {
    const result = await client.callTool({ name, arguments: input })
    answers.push(result.content.map((part) => part.text).join('\n'))
  }
}
console.log(JSON.stringify({ tools, answers }))
await client.close()
