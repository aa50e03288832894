import { consoleClient } from '../../renderer/kit/transport/client.ts'
import type { ConsoleClient } from '../../renderer/kit/transport/client.ts'
import type { ConsoleEvent } from '../../shared/console/contract.ts'

/** A client that is online, and whose calls a function answers. @param onOpen gets a function that sends the client an event */
export function answeringConsole(
  answer: (name: string, input: unknown) => unknown,
  onOpen: (send: (event: ConsoleEvent) => void) => void = () => undefined,
): ConsoleClient {
  return consoleClient({
    kind: 'websocket',
    call: async (name, input) => ({ ok: true, value: await answer(name, input) }),
    onEvent: (listener) => {
      onOpen(listener)
      return () => undefined
    },
    state: () => 'online',
    onState: () => () => undefined,
    open: () => undefined,
    close: () => undefined,
  })
}
