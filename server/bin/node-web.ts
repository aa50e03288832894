import { clientAddress } from '../edge/client-address.ts'
import { connectionLimits } from '../edge/limits.ts'
import type { EdgeLog } from '../edge/guards.ts'
import { RequestProof } from '../edge/request-proof.ts'
import { EdgeServer } from '../edge/server.ts'
import { StaticFiles } from '../edge/static-files.ts'
import { StreamPort } from '../edge/stream-port.ts'
import { unproven } from '../gate/gate.ts'
import type { Web } from '../media/http/web.ts'
import type { MediaLog } from '../media/base/media-log.ts'

/** Creates the port and the page of the embedded node with the code of the controller's ports. */
export function nodeWeb(log: MediaLog): Web {
  return {
    files: (folder) => new StaticFiles(folder),
    client: clientAddress,
    streamPort: (options) => new StreamPort(options),
    port(handlers, passedOn) {
      const server = new EdgeServer({
        request: unproven('media program', (...call) => handlers.request(...call)),
        upgrade: unproven('media program', (...call) => handlers.upgrade?.(...call)),
        name: 'node',
        proof:
          passedOn === undefined
            ? undefined
            : new RequestProof(Buffer.from(passedOn.key, 'base64'), passedOn.self, passedOn.tls),
        log: edgeLog(log),
        limits: connectionLimits.node,
        timeouts: { requestMs: 15_000 },
        maxHeaderSize: 16 * 1024,
      })
      return {
        async start(address) {
          try {
            return await server.start(address)
          } catch (error) {
            // The original system error is sent to the controller, which formulates the message for its operator.
            throw error instanceof Error && error.cause instanceof Error ? error.cause : error
          }
        },
        stop: () => server.stop(0),
        secure: (tls) => server.secure(tls),
        get connections() {
          return server.connections
        },
      }
    },
  }
}

/** Adapts the node's log, which takes a text instead of fields. */
function edgeLog(log: MediaLog): EdgeLog {
  return {
    warn: (fields, message) => log.warn(message, detailOf(fields)),
    error: (fields, message) => log.error(message, detailOf(fields)),
  }
}

function detailOf(fields: object): string {
  const { err, ...others }: { err?: unknown } = fields
  const stack = err instanceof Error ? (err.stack ?? err.message) : ''
  return `${JSON.stringify(others)} ${stack}`.trim()
}
