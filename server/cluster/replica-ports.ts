import type { IncomingMessage, ServerResponse } from 'node:http'
import { limits } from '../../shared/limits.ts'
import type { OperationContract } from '../../shared/operation.ts'
import type { ApiName } from '../../shared/result-codes.ts'
import type { Settings } from '../../shared/settings.ts'
import { mustNotFail } from '../../shared/unawaited.ts'
import type { EdgeLog } from '../edge/guards.ts'
import type { KeptPorts } from '../edge/kept-ports.ts'
import { connectionLimits } from '../edge/limits.ts'
import type { RequestProof } from '../edge/request-proof.ts'
import { EdgeServer } from '../edge/server.ts'
import { drain } from '../edge/unread-body.ts'
import { unproven } from '../gate/gate.ts'
import { AnswerFunnel } from '../http/answer-funnel.ts'
import { AnswerWriter } from '../http/answer.ts'
import { readCallback } from '../http/checks.ts'
import { type ApiExchange, readRequestHead } from '../http/exchange.ts'
import { maxApiHeaderSize, wantsApiBody } from '../http/listener.ts'
import { type Port, portOf } from '../http/listeners.ts'
import { malformedAnswers } from '../http/malformed.ts'
import { RequestsUnderWay } from '../http/request-handler.ts'
import { type CompatibilitySwitches, routeTables } from '../http/routes.ts'
import type { Log } from '../observe/log.ts'
import type { RequestObserver } from '../observe/observation.ts'
import { clusterTimes } from '../store/election/timings.ts'
import type { ReverseProxy } from './reverse-proxy.ts'
import type { UpgradeProxy } from './upgrade-proxy.ts'

interface ApiProxyOptions {
  api: ApiName
  contracts: readonly OperationContract[]
  olderClients: { contracts: readonly OperationContract[]; switches: () => CompatibilitySwitches }
  settings: () => Settings
  observer: RequestObserver
  passOn: ReverseProxy
  proof: RequestProof
  kept: KeptPorts
  log: Log
}

const noLeader =
  'No controller that leads this site can be reached at the moment: nothing was changed. Try again in a moment.'
const lost =
  'The controller that leads was lost, or did not answer in time: whether this was done is not known. Read before you try again.'
/** Methods that are safe for requests other than operations, such as requests of the join page. */
const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Returns the maximum time for an answer of the leader, in milliseconds. A change may wait for the store, then a node,
 * then a device.
 */
function maxAnswerMs({ deadlines: { store_ms, node_ms, device_ms } }: Settings): number {
  return store_ms + node_ms + device_ms + clusterTimes.answerMargin
}

/** Returns the first part of a path, which contains the operations of an API: `/rtc/`. */
const namespaceOf = (path: string): string => /^\/[^/]*\//.exec(path)?.[0] ?? path

/**
 * Makes one of the two API ports of a replica. Every request is forwarded to the leader; without a leader, the response
 * is an error in the format of the API.
 */
export function apiProxyPort(options: ApiProxyOptions): Port {
  const { api, settings, log, proof, kept, passOn } = options
  const answers = new AnswerWriter(() => settings().cors_origins)
  const table = routeTables(options.contracts.map(withoutCode), {
    operations: options.olderClients.contracts.map(withoutCode),
    switches: options.olderClients.switches,
  })
  // Namespaces of the APIs, in which a newer leader may have unknown operations. Unknown requests in a namespace are
  // not sent again, because even GET requests may change data.
  const namespaces = new Set(
    [...options.contracts, ...options.olderClients.contracts].map(({ path }) => namespaceOf(path)),
  )
  const maySendAgain = ({ request: { method = '', url = '' } }: ApiExchange): boolean =>
    safeMethods.has(method) && !namespaces.has(namespaceOf(url))
  const underWay = new RequestsUnderWay()
  const funnel = new AnswerFunnel({ api, observer: options.observer, log, answers, older: () => table().older })

  const pass = async (exchange: ApiExchange): Promise<void> => {
    const { request, response, route } = exchange
    const result = await passOn.request(request, response, {
      listener: api,
      safe: route === undefined ? maySendAgain(exchange) : route.safe,
      waitMs: settings().deadlines.store_ms,
      answerMs: maxAnswerMs(settings()),
    })
    if (result === 'answered' || result === 'gone') return
    readCallback(exchange)
    exchange.unread = exchange.hasBody && !request.complete
    funnel.refuseUnstored(exchange, result === 'noLeader' ? noLeader : lost)
  }
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    const exchange = readRequestHead(request, response, request.url ?? '/', api, table(), limits.requestTarget)
    mustNotFail(underWay.track(exchange.response, pass(exchange), (error) => funnel.failWith(exchange, error)))
  }
  const server = new EdgeServer({
    ...malformedAnswers({ funnel, pendingAnswer: (socket) => underWay.pendingAnswer(socket) }),
    name: api,
    log,
    limits: connectionLimits.api,
    maxHeaderSize: maxApiHeaderSize,
    wantsBody: wantsApiBody,
    proof,
    kept,
    request: unproven('the leader answers', handle),
    badTarget: (request, response) => funnel.refuseTarget(request, response),
    failed: (request, response) => funnel.answerUnexpected(request, response),
    idle: () => underWay.idle(),
  })
  return portOf(server)
}

/** Returns the contract of an operation that only another controller executes. */
function withoutCode(contract: OperationContract) {
  return {
    contract,
    run: (): never => {
      throw new TypeError('a controller that stands by does nothing itself')
    },
  }
}

interface PlainProxyOptions {
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
