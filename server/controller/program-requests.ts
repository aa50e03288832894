import type { Settings } from '../../shared/settings.ts'
import type { EmbeddedNodes } from '../nodes/embedded/embedded-nodes.ts'
import { NodeConnectionError } from '../nodes/port/media-node-port.ts'
import type { RequestProgram } from '../rooms/waiting-guests.ts'

/** Dependencies of requests to the programs of the room page. */
interface ProgramRequestsDependencies {
  settings: () => Settings
  /** Programs of the room page; undefined where none works. */
  media: () => EmbeddedNodes | undefined
}

/** Returns the function that sends requests about people to the programs of the room page. */
export function programRequests({ settings, media }: ProgramRequestsDependencies): RequestProgram {
  return async (program, method, params) => {
    const programs = media()
    if (programs === undefined) throw new NodeConnectionError('it does not run')
    const signal = AbortSignal.timeout(settings().deadlines.node_ms)
    try {
      return await (await programs.client(program, signal)).request(method, params, signal)
    } catch (error) {
      if (signal.aborted) throw new NodeConnectionError('it does not answer in time', { cause: error })
      throw error
    }
  }
}
