import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { mediaThreads, permissionArguments } from '../../../server/nodes/embedded/confinement.ts'
import { mediaProgramArguments } from '../../../server/nodes/embedded/fork-process.ts'
import type { FfmpegRuns } from '../../../server/nodes/embedded/ffmpeg/ffmpeg-runs.ts'
import { signJoinToken } from '../../../server/rooms/sign-join-token.ts'
import type { JoinGrant } from '../../../shared/join-token.ts'
import {
  type ControlEvent,
  type ControlMethod,
  type ControlParams,
  type ControlResult,
  controlMethods,
  fromNodeSchema,
  type ToNode,
} from '../../../shared/media/control.ts'
import { mediaSettingsSchema, type MediaSettings } from '../../../shared/media/media-settings.ts'
import type { StreamStats } from '../../../shared/media/stream-stats.ts'
import { messagesOf } from '../../../shared/media/gathered-messages.ts'
import type { DeviceErrorKind } from '../../../shared/device.ts'
import { mediaProgram } from './media-program.ts'
import { ffmpegRuns } from './own-ffmpeg.ts'

const root = join(import.meta.dirname, '../../..')
/** Program of the node as it is delivered. */
export const builtProgram = join(root, 'dist/server/media-node.js')

const refusals = { link: 'noRoom', password: 'hostPasswordWrong', number: 'unauthorised' } as const

/** The node answered a request with an error. */
export class NodeFailure extends Error {
  readonly kind: DeviceErrorKind | null
  constructor(kind: DeviceErrorKind | null, message: string) {
    super(message)
    this.name = 'NodeFailure'
    this.kind = kind
  }
}

/** Options of a node; defaults are a free port, and nothing else. */
export interface MediaNodeOptions {
  program?: string
  settings?: Partial<MediaSettings>
  tls?: { cert: string; key: string }
  udpPort?: number
  /** Path of ffmpeg; default: that of this machine. */
  ffmpeg?: string
  /** Folder of recordings, which exists; default: none. */
  recordings?: string
  /** Arguments of Node, before the program. */
  execArgv?: string[]
  /** Variables of its environment, besides those of this process. */
  env?: Record<string, string>
}

interface Waiting {
  resolve(result: unknown): void
  reject(error: Error): void
}

/** The node in a process of its own, confined and controlled as by the controller. */
export class TestMediaNode implements AsyncDisposable {
  readonly child: ChildProcess
  readonly key = randomBytes(32)
  /** Events of the node. */
  readonly events: ControlEvent[] = []
  /** Rooms that can be joined by number. */
  readonly openToNumber = new Set<string>()
  /** Warnings and errors in its log. */
  readonly complaints: string[] = []
  readonly #waiting = new Map<number, Waiting>()
  readonly #watchers = new Set<() => void>()
  readonly #hello: Promise<void>
  readonly #ffmpegs: FfmpegRuns
  #settings: MediaSettings
  #id = 0
  port = 0
  udpPort = 0

  private constructor(child: ChildProcess, ffmpeg: string | undefined, settings: MediaSettings) {
    this.child = child
    this.#settings = settings
    this.#ffmpegs = ffmpegRuns((message) => this.send({ type: 'ffmpeg', message }), {
      program: ffmpeg,
      transcoders: () => this.#settings.transcoders,
    })
    child.on('message', (received) => {
      for (const message of messagesOf(received)) this.#received(message)
    })
    this.#hello = new Promise((resolve, reject) => {
      child.once('message', () => resolve())
      child.once('exit', (code) => reject(new Error(`the node ended with ${code} before it said hello`)))
    })
    child.once('exit', (code) => {
      this.#ffmpegs.endAll()
      for (const { reject } of this.#waiting.values()) reject(new Error(`the node ended with ${code}`))
    })
  }

  static async start(options: MediaNodeOptions = {}): Promise<TestMediaNode> {
    const { program = mediaProgram, ffmpeg } = options
    const settings = mediaSettingsSchema.parse(options.settings ?? {})
    const recordings = options.recordings ?? ''
    const confined = permissionArguments(program, [root], recordings)
    const execArgv = [...process.execArgv, ...mediaProgramArguments, ...confined, ...(options.execArgv ?? [])]
    const node = new TestMediaNode(
      fork(program, [], { stdio: 'inherit', execArgv, env: { ...process.env, ...mediaThreads, ...options.env } }),
      ffmpeg,
      settings,
    )
    await node.#hello
    const ports = await node.request('start', {
      version: 1,
      host: '127.0.0.1',
      port: 0,
      udp_port: options.udpPort ?? 0,
      tls: options.tls,
      token_key: node.key.toString('base64'),
      page_folder: join(import.meta.dirname, 'page'),
      recordings_folder: recordings,
      settings,
    })
    node.port = ports.port
    node.udpPort = ports.udp_port
    return node
  }

  /** Address of the node. */
  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  /** @throws NodeFailure */
  async request<M extends ControlMethod>(
    method: M,
    params: ControlParams<M>,
    signal?: AbortSignal,
  ): Promise<ControlResult<M>> {
    if (this.child.exitCode !== null) throw new Error(`the node ended with ${this.child.exitCode}`)
    if (method === 'set_settings') this.#settings = mediaSettingsSchema.parse(params)
    this.#id += 1
    const id = this.#id
    const answer = new Promise<unknown>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
    })
    signal?.addEventListener('abort', () => this.send({ type: 'cancel', id }), { once: true })
    this.send({ type: 'request', id, method, params })
    return controlMethods[method].result.parse(await answer) as ControlResult<M>
  }

  send(message: ToNode): void {
    if (this.child.connected) this.child.send(message)
  }

  /** Opens a room; by default unlocked, with many places. */
  async openRoom(roomId: string, more: Partial<ControlParams<'open_room'>> = {}): Promise<void> {
    await this.request('open_room', {
      roomId,
      topic: 'Test',
      mode: 1,
      hostPassword: '',
      attendeeMax: 100,
      maxVideo: 16,
      maxAudio: 16,
      locked: false,
      ...more,
    })
  }

  /** Adds a camera to a room. @throws NodeFailure */
  async addDevice(
    roomId: string,
    userId: string,
    address: string,
    more: Partial<ControlParams<'add_device'>['device']> = {},
    leftMs = 4_000,
  ): Promise<void> {
    await this.request('add_device', {
      roomId,
      device: { userId, userName: userId, address, assistAddress: '', ...more },
      leftMs,
    })
  }

  async userIds(roomId: string): Promise<string[]> {
    return (await this.request('users', { roomId })).users.map(({ userId }) => userId)
  }

  /** Reads the statistics of one stream; undefined if it is not in the room. */
  async stream(roomId: string, streamId: string): Promise<StreamStats | undefined> {
    return (await this.request('stats', { roomId })).streams.find(({ stream_id }) => stream_id === streamId)
  }

  /** Makes a join token, as the controller does. */
  token(roomId: string, more: Partial<JoinGrant> = {}): string {
    return signJoinToken(this.key, { roomId, role: 'member', lifeMs: 60_000, ...more })
  }

  /** Waits for the first event, past or future, that matches. */
  async event(matches: (event: ControlEvent) => boolean, withinMs = 20_000): Promise<ControlEvent> {
    const found = this.events.find(matches)
    if (found !== undefined) return found
    const told = Promise.withResolvers<ControlEvent>()
    const timer = setTimeout(
      () => told.reject(new Error(`the event did not come; there were ${JSON.stringify(this.events)}`)),
      withinMs,
    )
    const watcher = (): void => {
      const event = this.events.find(matches)
      if (event !== undefined) told.resolve(event)
    }
    this.#watchers.add(watcher)
    try {
      return await told.promise
    } finally {
      clearTimeout(timer)
      this.#watchers.delete(watcher)
    }
  }

  /** Ends it as the controller does; resolves to the exit code. */
  async stop(): Promise<number | null> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return this.child.exitCode
    this.send({ type: 'stop' })
    const [code] = (await once(this.child, 'exit')) as [number | null]
    return code
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }

  /** Answers like the controller for a room that does not exist: only rooms opened by a test exist. */
  #answerWanted(event: ControlEvent): void {
    if (event.type === 'roomLooked') {
      const look = { by_number: this.openToNumber.has(event.roomId), host_password: false, topic: '' }
      void this.request('answer_look', { id: event.id, look })
    }
    if (event.type !== 'roomWanted') return
    const mayEnter = event.proof.by === 'number' && this.openToNumber.has(event.roomId)
    void this.request('answer_room', { id: event.id, refusal: mayEnter ? null : refusals[event.proof.by] })
  }

  #received(value: unknown): void {
    const message = fromNodeSchema.parse(value)
    if (message.type === 'answer') this.#settle(message.id)?.resolve(message.result)
    else if (message.type === 'failure')
      this.#settle(message.id)?.reject(new NodeFailure(message.kind, message.message))
    else if (message.type === 'ffmpeg') this.#ffmpegs.take(message.message)
    else if (message.type === 'event') {
      this.events.push(message.event)
      this.#answerWanted(message.event)
      for (const watcher of this.#watchers) watcher()
    } else if (message.type === 'log' && (message.level === 'warn' || message.level === 'error')) {
      this.complaints.push(`${message.message}: ${message.detail}`)
    }
  }

  #settle(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    return waiting
  }
}
