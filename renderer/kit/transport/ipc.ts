import { CallError, isResult, plain, type Transport } from './transport.ts'

/**
 * The desktop's transport, over the bridge of the preload script. Always online: the controller runs in the same
 * application.
 */
export function ipcTransport(bridge: RoomdeskBridge): Transport {
  return {
    kind: 'ipc',
    async call(name, input) {
      const answer: unknown = await bridge.call(name, plain(input))
      if (!isResult(answer)) throw new CallError('internal', `The answer to ${name} is malformed.`)
      return answer
    },
    onEvent: (listener) => bridge.onEvent(listener),
    state: () => 'online',
    onState: () => () => undefined,
    open: () => undefined,
    close: () => undefined,
  }
}
