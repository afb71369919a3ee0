// A client of the TypeScript SDK: it starts the server that its arguments name,
// prints the tools as one line of JSON, and then, for each line on standard input
// ({"name": …, "arguments": {…}}), the result of that call.
import { createInterface } from "node:readline";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const [command, ...args] = process.argv.slice(2);
const say = (value) => process.stdout.write(JSON.stringify(value) + "\n");

const client = new Client({ name: "calls", version: "1" });
await client.connect(new StdioClientTransport({ command, args, env: process.env, stderr: "inherit" }));
say(await client.listTools());
for await (const line of createInterface({ input: process.stdin })) {
	say(await client.callTool(JSON.parse(line), { timeout: 120_000 }));
}
await client.close();
