import type { Settings } from '../../shared/settings.ts'
import type { EmbeddedNodes } from '../nodes/embedded/embedded-nodes.ts'
import { NodeConnectionError } from '../nodes/port/media-node-port.ts'
import { WaitingGuests, type WaitingGuestsOptions } from '../rooms/waiting-guests.ts'

/** Needs of the index of waiting guests. */
interface GuestsParts extends Pick<WaitingGuestsOptions, 'store' | 'began'> {
  settings: () => Settings
  /** Programs of the room page; undefined where none works. */
  media: () => EmbeddedNodes | undefined
}

/** Composes the index of waiting guests. */
export function waitingGuests({ store, began, settings, media }: GuestsParts): WaitingGuests {
  return new WaitingGuests({
    store,
    began,
    request: async (program, method, params) => {
      const programs = media()
      if (programs === undefined) throw new NodeConnectionError('it does not run')
      const signal = AbortSignal.timeout(settings().deadlines.node_ms)
      try {
        return await (await programs.client(program, signal)).request(method, params, signal)
      } catch (error) {
        if (signal.aborted) throw new NodeConnectionError('it does not answer in time', { cause: error })
        throw error
      }
    },
  })
}
