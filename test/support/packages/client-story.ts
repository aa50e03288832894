// Story of a client and an operator, as a program that runs in the controller's network namespace.
// Arguments: `new` or the room that must exist; the console key. Input: the `ready` line. Output: the room that it kept, and the one that it removed.
import { setTimeout as sleep } from 'node:timers/promises'
import { text } from 'node:stream/consumers'
import { type Answer, ApiClient } from '../api-client.ts'
import type { Ready } from '../headless.ts'

const [kept = 'new', removed = '', key = ''] = process.argv.slice(2)
const ready = JSON.parse((await text(process.stdin)).replace(/^ready /, '')) as Ready

async function rpc(name: string, input: unknown): Promise<unknown> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const answer = await fetch(`${ready.console}/rpc/${name}`, { method: 'POST', headers, body: JSON.stringify(input) })
  const result = (await answer.json()) as { ok: boolean; value: unknown }
  if (!result.ok) throw new Error(`${name}: ${JSON.stringify(result)}`)
  return result.value
}

function expectCode(answer: Answer, code: number): Answer {
  if (answer.ret !== code) throw new Error(`answered ${JSON.stringify(answer)}, not ${code}`)
  return answer
}

/** The node's process has loaded the native package, and serves the room page. */
async function waitForNode(): Promise<void> {
  for (const end = Date.now() + 20_000; Date.now() < end; await sleep(50)) {
    const nodes = (await rpc('nodes.list', {})) as { state: string }[]
    if (nodes.some(({ state }) => state === 'online')) return
  }
  throw new Error('no media node came online')
}

const [credential] = (await rpc('credentials.list', {})) as { access_key: string }[]
const access_key = String(credential?.access_key)
const { secret_key } = (await rpc('credentials.reveal', { access_key })) as { secret_key: string }
const client = new ApiClient(ready, { access_key, secret_key })
expectCode(await client.authenticate(), 0)
const rooms = { kept, removed }
if (kept === 'new') {
  rooms.kept = await client.createRoom({ topic: 'Stays' })
  rooms.removed = await client.createRoom({ topic: 'Goes' })
  expectCode(await client.get('/rtc/room/del', { room_id: rooms.removed }), 0)
}
expectCode(await client.get('/rtc/room/get', { room_id: rooms.kept }), 0)
const gone = await client.get('/rtc/room/get', { room_id: rooms.removed })
if (gone.ret === 0) throw new Error('a removed room is there')
await waitForNode()
// The `ready` line leaves out a node that started slowly; no other program uses its port here.
const page = await fetch(`${ready.node || 'http://127.0.0.1:7082'}/`)
if (page.status >= 500) throw new Error(`the node answers ${page.status}`)
await page.arrayBuffer()
console.log(JSON.stringify(rooms))
