import { connect } from 'node:net'
import { onTestFinished } from 'vitest'
import { sole } from '../sole-leadership.ts'
import { implement } from '../../../server/http/operation.ts'
import { createListener, type Listener, type ListenerOptions } from '../../../server/http/listener.ts'
import { authenticateHandler } from '../../../server/apis/authenticate.ts'
import { Credentials } from '../../../server/access/credentials.ts'
import { DigestCache } from '../../../server/access/digest.ts'
import { ClientRateLimit } from '../../../server/edge/client-address.ts'
import { Sessions } from '../../../server/access/sessions.ts'
import { FaultRules } from '../../../server/lab/faults.ts'
import type { Observation } from '../../../server/observe/observation.ts'
import { createOutgoingUser, listOutgoingUsers } from '../../../shared/device-operations.ts'
import { authenticate, createRoom, deleteRoom, getMcu, getRoom } from '../../../shared/media-operations.ts'
import { ApiError, type ApiName } from '../../../shared/result-codes.ts'
import { defaultSettings, type Settings } from '../../../shared/settings.ts'
import { digestOf } from '../api-client.ts'
import { temporaryStore } from './store-site.ts'

/** An answer, with its body byte by byte. */
export interface RawAnswer {
  status: number
  headers: Record<string, string>
  body: string
}

/** A listener on a free port with real access behind it, and operations that record their calls. */
export interface Bench extends AsyncDisposable {
  listener: Listener
  url: string
  port: number
  /** A valid token of the credential `demo_access`. */
  token: string
  settings: Settings
  faults: FaultRules
  seen: Observation[]
  /** Lines of the error log. */
  logged: unknown[]
  /** Parameters of the calls to operations. */
  calls: unknown[]
  /** Makes all further operations of the test run this instead. */
  behave(run: (params: unknown) => unknown): void
  get(path: string, init?: RequestInit): Promise<Record<string, unknown>>
}

const room = {
  id: 7,
  room_id: '123456789',
  topic: '早会',
  room_status: 0,
  owner_id: 'anna',
  host_password: '',
  attendee_max: 100,
  max_audio: 16,
  max_video: 16,
  room_extend_id: '',
  room_mode: 1,
}

/** Starts a listener. */
export async function openBench(api: ApiName, options: Partial<ListenerOptions> = {}): Promise<Bench> {
  const files = await temporaryStore()
  const { store } = files
  const settings = defaultSettings()
  const sessions = new Sessions({ store, settings: () => settings })
  const credentials = new Credentials(store, sessions)
  await credentials.create({
    label: 'Demo',
    access_key: 'demo_access',
    secret_key: 'demo_secret',
    p2p: false,
    enabled: true,
  })
  const digests = new DigestCache(store)
  const failures = new ClientRateLimit({ max: () => settings.access.failures_per_minute, windowMs: 60_000 })
  const calls: unknown[] = []
  let behaviour: ((params: unknown) => unknown) | undefined
  const watch =
    <T>(answer: (params: T) => object) =>
    (params: T) => {
      calls.push(params)
      // A test's operation may return anything, like a faulty one.
      return (behaviour === undefined ? answer(params) : behaviour(params)) as never
    }
  const media = implement([authenticate, getRoom, createRoom, deleteRoom, getMcu], {
    authenticate: authenticateHandler({ store, digests, sessions, stored: false, failures, settings: () => settings }),
    get_room: watch(({ room_id }) => ({ ...room, room_id })),
    create_room: watch(() => ({ room_id: '555555555' })),
    delete_room: watch(() => {
      throw new ApiError('roomNotFound')
    }),
    get_mcu: watch(() => ({ addr: '127.0.0.1:7082' })),
  })
  const device = implement([createOutgoingUser, listOutgoingUsers], {
    create_outgoing_user: watch(({ roomId, userId }) => ({ data: { roomId, userId } })),
    list_outgoing_users: watch(() => ({ data: { total: 0, items: [] } })),
  })
  const seen: Observation[] = []
  const logged: unknown[] = []
  const faults = new FaultRules()
  const note = (line: unknown) => void logged.push(line)
  const listener = createListener({
    api,
    operations: api === 'media' ? media : device,
    sessions,
    settings: () => settings,
    causes: { of: () => undefined },
    leadership: sole,
    observer: { observe: (observation) => void seen.push(observation) },
    openApiDocument: () => '{"openapi":"3.1.0"}',
    log: { debug: note, info: note, warn: note, error: note },
    ...options,
  })
  faults.installIn(listener)
  const { port, url } = await listener.start({ host: '127.0.0.1', port: 0 })
  const key = digests.key('demo_access')
  if (key === undefined) throw new Error('no credential')
  const opened = sessions.open({ accessKey: 'demo_access', form: 'sha1-hex', secret: key })
  return {
    listener,
    url,
    port,
    token: digestOf('demo_secret', `${opened.random}:${opened.key}`),
    settings,
    faults,
    seen,
    logged,
    calls,
    behave(run) {
      behaviour = run
      onTestFinished(() => {
        behaviour = undefined
      })
    },
    async get(path, init) {
      const response = await fetch(`${url}${path}`, init)
      if (response.status !== 200) throw new Error(`HTTP ${response.status}`)
      return (await response.json()) as Record<string, unknown>
    },
    async [Symbol.asyncDispose]() {
      await listener.stop(1_000)
      sessions.close()
      await files.remove()
    },
  }
}

/** Sends bytes on a new connection and reads until the server closes it, or until `count` answers. */
export function sendRaw(port: number, bytes: string | Buffer, count = Number.POSITIVE_INFINITY): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const chunks: Buffer[] = []
  const socket = connect({ host: '127.0.0.1', port }, () => socket.write(bytes))
  const text = () => Buffer.concat(chunks).toString('utf8')
  socket.setTimeout(5_000, () => reject(new Error(`the server keeps the connection; so far: ${text()}`)))
  socket.on('data', (chunk) => {
    chunks.push(chunk)
    if (text().split('HTTP/1.1 200').length > count) {
      socket.destroy()
      resolve(text())
    }
  })
  socket.on('error', reject)
  socket.on('close', () => resolve(text()))
  return promise
}

/** Parses the first answer of a connection. */
export function parseRaw(text: string): RawAnswer {
  const [head = '', ...rest] = text.split('\r\n\r\n')
  const [status = '', ...lines] = head.split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  )
  return { status: Number(status.split(' ')[1]), headers, body: rest.join('\r\n\r\n') }
}

/** Sends one GET on a connection of its own, with only the given headers. */
export async function rawGet(port: number, target: string, headers: readonly string[] = []): Promise<RawAnswer> {
  const lines = [`GET ${target} HTTP/1.1`, 'Host: test', 'Connection: close', ...headers]
  return parseRaw(await sendRaw(port, `${lines.join('\r\n')}\r\n\r\n`))
}
