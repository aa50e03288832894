import { sleep } from '../../../shared/sleep.ts'
import { onAbort } from '../../../shared/abort.ts'
import type { DeviceErrorKind } from '../../../shared/device.ts'
import { NodeConnectionError, NodeError } from '../port/media-node-port.ts'

/**
 * Fault of a simulated node. offline: every call fails immediately in the same way as with a lost connection, and the
 * people leave; slow: every answer takes `delayMs`; failing: every call is rejected; silent: no call is ever answered.
 */
export interface NodeFault {
  mode: 'none' | 'offline' | 'slow' | 'failing' | 'silent'
  /** Delay of an answer in milliseconds, for `slow` only. */
  delayMs: number
}

/** Devices whose address contains `match` (empty: all devices) fail with this kind, or never answer. */
export interface DeviceFaultRule {
  match: string
  kind: DeviceErrorKind | 'silent'
}

/** Waits until the signal aborts, and then rejects with its reason. */
export function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    onAbort(signal, () => reject(signal.reason))
  })
}

/**
 * The connection between the controller and a simulated node. Passes or rejects calls according to the current fault.
 */
export class FaultyConnection {
  #fault: NodeFault = { mode: 'none', delayMs: 0 }
  #connection = new AbortController()

  get fault(): NodeFault {
    return this.#fault
  }

  set(fault: NodeFault): void {
    this.#fault = fault
  }

  /** Fails every pending call in the same way as a lost connection does. */
  cut(): void {
    this.#connection.abort(new NodeConnectionError('the simulated connection was cut'))
    this.#connection = new AbortController()
  }

  /**
   * Resolves when a call may be answered.
   * @throws NodeError according to the current fault; the signal's reason when it aborts
   */
  async pass(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    const { mode, delayMs } = this.#fault
    if (mode === 'none') return
    if (mode === 'offline') throw new NodeConnectionError('the simulated node is offline')
    if (mode === 'failing') throw new NodeError('the simulated node says no to everything')
    const either = AbortSignal.any([signal, this.#connection.signal])
    if (mode === 'silent') await untilAborted(either)
    await sleep(delayMs, { signal: either })
  }
}
