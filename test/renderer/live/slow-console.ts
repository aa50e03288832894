import { consoleClient } from '../../../renderer/kit/transport/client.ts'
import type { ConsoleClient } from '../../../renderer/kit/transport/client.ts'
import { listeners } from '../../../renderer/kit/transport/transport.ts'
import type { ConnectionState } from '../../../renderer/kit/transport/transport.ts'
import type { ConsoleEvent, ProcedureName, ProcedureOutput } from '../../../shared/console/contract.ts'
import { eventually } from '../eventually.ts'

/** A call that waits for its answer. */
interface Call {
  name: string
  input: unknown
  answer(value: unknown): void
  refuse(): void
}

/** A client over a transport whose answers, events and connection are given by the test. */
export function slowConsole() {
  const calls: Call[] = []
  const events = listeners<ConsoleEvent>()
  const states = listeners<ConnectionState>()
  const client: ConsoleClient = consoleClient({
    kind: 'websocket',
    call: (name, input) =>
      new Promise((resolve) => {
        calls.push({
          name,
          input,
          answer: (value) => resolve({ ok: true, value }),
          refuse: () =>
            resolve({ ok: false, error: { code: 'internal', name: 'internal', message: 'no', values: {} } }),
        })
      }),
    onEvent: events.add,
    state: () => 'online',
    onState: states.add,
    open: () => undefined,
    close: () => undefined,
  })
  return {
    client,
    /** All calls so far. */
    calls,
    /** Waits for the call with this index, and checks its procedure. */
    async call<N extends ProcedureName>(index: number, name: N) {
      const call = await eventually(() => {
        const found = calls[index]
        if (found === undefined) throw new Error(`there are only ${calls.length} calls`)
        return found
      })
      if (call.name !== name) throw new Error(`call ${index} is ${call.name}`)
      return { input: call.input, refuse: call.refuse, answer: (value: ProcedureOutput<N>) => call.answer(value) }
    },
    send: events.tell,
    reconnect() {
      states.tell('lost')
      states.tell('online')
    },
  }
}
