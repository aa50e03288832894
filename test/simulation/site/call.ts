import type { Machine } from '../machine.ts'
import { ask } from '../network.ts'
import type { ServingController, ServingSite } from './client.ts'
import type { Operation, Reply } from './operation.ts'

/** Asks a controller as a client, and notes it in the trace. @returns undefined: no answer came */
export async function callOf(
  { world, network, patienceMs }: ServingSite,
  from: Machine,
  at: ServingController,
  operation: Operation,
): Promise<Reply | undefined> {
  const over = new AbortController()
  const late = world.plan(patienceMs, () => over.abort(new Error('no answer')))
  const version = operation.kind === 'write' ? ` = ${operation.version}` : ''
  const said = `${operation.kind} ${operation.key.slice(0, 40)}${version} at ${at.name}`
  try {
    const way = { world, network, from, to: at.machine }
    const reply = await ask(way, () => at.serve(operation), over.signal)
    world.note(from.name, `${said}: ${answerOf(reply)}`)
    return reply
  } catch (error) {
    world.note(from.name, `${said}: ${String(error)}`)
    return undefined
  } finally {
    late.isCancelled = true
  }
}

function answerOf(reply: Reply): string {
  if (reply.kind !== 'done') return JSON.stringify(reply)
  const order = reply.order === undefined ? '' : `, order ${reply.order.id}`
  return `version ${reply.version}, number ${reply.id}${order}`
}
