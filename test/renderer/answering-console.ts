import { consoleClient } from '../../renderer/kit/transport/client.ts'
import type { ConsoleClient } from '../../renderer/kit/transport/client.ts'

/** A client that is online, and whose calls a function answers. No events arrive. */
export function answeringConsole(answer: (name: string, input: unknown) => unknown): ConsoleClient {
  return consoleClient({
    kind: 'websocket',
    call: (name, input) => Promise.resolve({ ok: true, value: answer(name, input) }),
    onEvent: () => () => undefined,
    state: () => 'online',
    onState: () => () => undefined,
    open: () => undefined,
    close: () => undefined,
  })
}
