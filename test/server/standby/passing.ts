import http, { type IncomingMessage, type RequestListener } from 'node:http'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { onTestFinished } from 'vitest'
import { mediaOperations } from '../../../shared/media-operations.ts'
import { defaultSettings, type Settings } from '../../../shared/settings.ts'
import { KeptPorts } from '../../../server/edge/kept-ports.ts'
import { endToEnd } from '../../../server/edge/passed-on.ts'
import { RequestProof } from '../../../server/edge/request-proof.ts'
import type { TlsMaterial } from '../../../server/edge/tls.ts'
import type { Port } from '../../../server/http/listeners.ts'
import { createLog } from '../../../server/observe/log.ts'
import { apiProxyPort, plainProxyPort } from '../../../server/cluster/replica-ports.ts'
import { LeaderResolver } from '../../../server/cluster/leader-resolver.ts'
import { ReverseProxy } from '../../../server/cluster/reverse-proxy.ts'
import { UpgradeProxy } from '../../../server/cluster/upgrade-proxy.ts'
import { createSealer } from '../../../server/store/sealer.ts'

const sealer = createSealer(Buffer.alloc(32, 5))
/** Proof of the replica. */
export const proof = RequestProof.by(sealer, 'self')
/** Proof of the leader `one`. */
const ofLeader = RequestProof.by(sealer, 'one')

/** Reads the proven client of a request at the leader `one`, or the problem. */
export function provedTo(request: IncomingMessage | undefined, checks = ofLeader): string {
  const { rawHeaders = [], method = '', url: target = '' } = request ?? {}
  const found = checks.check(rawHeaders[1] ?? '', { method, target, headers: endToEnd(rawHeaders), listener: 'media' })
  return typeof found === 'string' ? found : found.client
}

/** A replica's media port and node port, with a leader chosen by the test. */
export interface Passing {
  way: LeaderResolver
  media: string
  node: string
  passOn: ReverseProxy
  upgrades: UpgradeProxy
}

/** Opens them. @param storeMs time that a request waits for a leader @param deadlines of the site @param allowPlain see LeaderResolver */
export async function openPassing({
  storeMs = 2_000,
  deadlines = {},
  allowPlain,
}: {
  storeMs?: number
  deadlines?: Partial<Settings['deadlines']>
  allowPlain?: boolean
} = {}): Promise<Passing> {
  const base = defaultSettings()
  const settings = (): Settings => ({ ...base, deadlines: { ...base.deadlines, store_ms: storeMs, ...deadlines } })
  const way = new LeaderResolver(allowPlain)
  const passOn = new ReverseProxy(way, proof)
  const upgrades = new UpgradeProxy(way, proof)
  const log = createLog('silent')
  const media = apiProxyPort({
    api: 'media',
    contracts: mediaOperations,
    olderClients: { contracts: [], switches: () => ({ older_clients: false, get_access_token: false }) },
    settings,
    observer: { observe: () => {} },
    passOn,
    proof,
    kept: new KeptPorts(),
    log,
  })
  const node = plainProxyPort({ listener: 'node', settings, passOn, upgrades, proof, log })
  const ports: Port[] = [media, node]
  for (const port of ports) await port.start('127.0.0.1', 0, undefined)
  onTestFinished(async () => {
    way.close()
    upgrades.close()
    for (const port of ports) await port.stop(0)
  })
  return { way, media: media.url, node: node.url, passOn, upgrades }
}

/** A leader with behaviour chosen by the test. */
export interface FakeLeader {
  url: string
  server: http.Server
  /** Requests that reached it. */
  requests: IncomingMessage[]
  close(): void
}

export async function fakeLeader(
  answer: RequestListener,
  tls?: TlsMaterial,
  port = 0,
  host = '127.0.0.1',
): Promise<FakeLeader> {
  const requests: IncomingMessage[] = []
  const listener: RequestListener = (request, response) => {
    requests.push(request)
    answer(request, response)
  }
  const server = tls === undefined ? http.createServer(listener) : https.createServer(tls, listener)
  server.listen(port, host)
  await once(server, 'listening')
  const close = (): void => {
    server.closeAllConnections()
    server.close()
  }
  onTestFinished(close)
  const { port: bound } = server.address() as AddressInfo
  return { url: `${tls === undefined ? 'http' : 'https'}://${host}:${bound}`, server, requests, close }
}

/** Announces this one as the leader. */
export function leadBy(way: LeaderResolver, id: string, url: string, certificate = ''): void {
  way.lead({ id, place: { media: url, device: url, node: url, console: url, event: url, certificate } })
}
