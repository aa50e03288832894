import type { ServerResponse } from 'node:http'
import type { Settings } from '../../shared/settings.ts'
import type { EdgeLog } from '../edge/guards.ts'
import type { KeptPorts } from '../edge/kept-ports.ts'
import { connectionLimits } from '../edge/limits.ts'
import type { RequestProof } from '../edge/request-proof.ts'
import { EdgeServer } from '../edge/server.ts'
import { unproven } from '../gate/gate.ts'
import { type Port, portOf } from '../http/listeners.ts'
import { drain } from '../edge/unread-body.ts'
import type { ReverseProxy } from './reverse-proxy.ts'
import type { UpgradeProxy } from './upgrade-proxy.ts'

export interface PlainProxyOptions {
  listener: 'node' | 'event'
  settings: () => Settings
  passOn: ReverseProxy
  upgrades: UpgradeProxy
  proof: RequestProof
  /** undefined: the next owner of the port creates its own server, like the process of the embedded node. */
  kept?: KeptPorts
  log: EdgeLog
}

/** Maximum size of a request's headers, in bytes; the same as on the leader's own ports. */
const maxHeaderSize = { node: 16 * 1024, event: 8 * 1024 } as const
/** Long enough for uploads of pictures and videos. */
const timeouts = { requestMs: 60_000, stallMs: 120_000 }

/** Makes the node port or the event port of a replica: forwards requests and WebSockets to the leader. */
export function plainProxyPort(options: PlainProxyOptions): Port {
  const { listener, settings, passOn, upgrades, proof, kept, log } = options
  const waitMs = (): number => settings().deadlines.store_ms
  const server = new EdgeServer({
    name: listener,
    log,
    limits: connectionLimits[listener],
    timeouts,
    maxHeaderSize: maxHeaderSize[listener],
    proof,
    kept,
    request: unproven('the leader answers', async (request, response) => {
      // A client that receives no answer repeats its request.
      const result = await passOn.request(request, response, {
        listener,
        safe: request.method === 'GET',
        waitMs: waitMs(),
      })
      if (result !== 'noLeader' && result !== 'lost') return
      refuse(response, result === 'noLeader' ? 503 : 502)
      drain(request, response)
    }),
    upgrade: unproven('the leader answers', (request, socket, head) =>
      upgrades.pass(listener, request, socket, head, waitMs()),
    ),
  })
  return portOf(server)
}

function refuse(response: ServerResponse, status: 502 | 503): void {
  const text = 'The controller that leads this site cannot be reached at the moment.\n'
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'content-length': Buffer.byteLength(text),
    'retry-after': '1',
    connection: 'close',
  })
  response.write(text)
}
