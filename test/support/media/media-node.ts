import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import {
  mediaProgramArguments,
  mediaThreads,
  permissionArguments,
} from '../../../server/nodes/embedded/fork-process.ts'
import type { FfmpegRuns } from '../../../server/nodes/embedded/ffmpeg/ffmpeg-runs.ts'
import { issueToken, type TokenClaims } from '../../../shared/files/signed-tokens.ts'
import {
  type ControlMethod,
  type ControlParams,
  type ControlResult,
  mediaMethods,
} from '../../../shared/media/control.ts'
import { controllerMethods, type ReportParams, type ReportResult } from '../../../shared/media/controller-methods.ts'
import { ControlLink, type ControlMessage, messagesOf } from '../../../shared/media/control-link.ts'
import { parseDeviceAddress } from '../../../shared/device-address.ts'
import { mediaSettingsSchema, type MediaSettings } from '../../../shared/media/media-settings.ts'
import type { StreamStats } from '../../../shared/media/stream-stats.ts'
import type { DeviceErrorKind } from '../../../shared/device.ts'
import { mediaProgram } from './media-program.ts'
import { ffmpegRuns } from './own-ffmpeg.ts'

const root = join(import.meta.dirname, '../../..')
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

/** Differences of a link from one for any member. */
interface TestLink {
  userId?: string
  userName?: string
  url?: string
  role?: TokenClaims<'join-token'>['role']
  lifeMs?: number
}

/** A message of the node, by its name. */
export type NodeReport = {
  [M in keyof typeof controllerMethods]: { type: M } & ReportParams<M>
}[keyof typeof controllerMethods]

/** Facts about a camera in addition to its address. */
type AddedDevice = Partial<Pick<ControlParams<'add_device'>['device'], 'userName' | 'login' | 'oldTls'>> & {
  assistAddress?: string
}

const never = new AbortController().signal

/** The node in a process of its own, confined and controlled as by the controller. */
export class TestMediaNode implements AsyncDisposable {
  readonly child: ChildProcess
  readonly key = randomBytes(32)
  /** Messages of the node, without its log. */
  readonly events: NodeReport[] = []
  /** Locks or unlocks a room for its host; resolves to whether that was done. */
  locks: (wanted: ReportParams<'lock_room'>) => Promise<boolean> = () => Promise.resolve(false)
  /** Rooms that can be joined by number. */
  readonly openToNumber = new Set<string>()
  /** Warnings and errors in its log. */
  readonly complaints: string[] = []
  readonly #watchers = new Set<() => void>()
  readonly #hello = Promise.withResolvers<void>()
  readonly #link: ControlLink<typeof mediaMethods, typeof controllerMethods>
  readonly #ffmpegs: FfmpegRuns
  #settings: MediaSettings
  port = 0
  udpPort = 0

  private constructor(child: ChildProcess, ffmpeg: string | undefined, settings: MediaSettings) {
    this.child = child
    this.#settings = settings
    this.#ffmpegs = ffmpegRuns((message) => this.#link.notify('ffmpeg', message), {
      program: ffmpeg,
      transcoders: () => this.#settings.transcoders,
    })
    const noted =
      <M extends keyof typeof controllerMethods, T>(type: M, run: (params: ReportParams<M>) => T) =>
      (params: ReportParams<M>): T => {
        // The name ties the parameters to it; the compiler cannot follow that through the spread.
        this.#note({ type, ...params } as NodeReport)
        return run(params)
      }
    const note = <M extends keyof typeof controllerMethods>(type: M) => noted(type, () => {})
    this.#link = new ControlLink({
      sends: mediaMethods,
      receives: controllerMethods,
      handlers: {
        hello: () => this.#hello.resolve(),
        ffmpeg: (message) => this.#ffmpegs.take(message),
        log: ({ level, message, detail }) => {
          if (level === 'warn' || level === 'error') this.complaints.push(`${message}: ${detail}`)
        },
        enter_room: noted('enter_room', (wanted) => this.#enter(wanted)),
        look_at_room: noted('look_at_room', ({ roomId }) => ({
          by_number: this.openToNumber.has(roomId),
          host_password: false,
          topic: '',
        })),
        lock_room: noted('lock_room', async (wanted) => ({ done: await this.locks(wanted) })),
        record_room: noted('record_room', () => ({ done: false })),
        make_invitation: noted('make_invitation', () => ({})),
        test_person_entry: noted('test_person_entry', () => ({ room_id: '', token: '', problem: 'no lab' })),
        joined: note('joined'),
        left: note('left'),
        deviceLost: note('deviceLost'),
        streamShort: note('streamShort'),
        hostActed: note('hostActed'),
        waiting: note('waiting'),
        guesses: note('guesses'),
        recorder: note('recorder'),
        removed: note('removed'),
      },
      port: this,
      describe: (error) => ({ reason: 'other', message: String(error) }),
      errorOf: (failure) => new NodeFailure(failure.reason === 'device' ? failure.kind : null, failure.message),
      report: (event, error) => this.complaints.push(`${event}: ${String(error)}`),
    })
    child.on('message', (received) => {
      for (const message of messagesOf(received)) this.#link.receive(message)
    })
    // Nobody waits for it after the start.
    this.#hello.promise.catch(() => {})
    child.once('exit', (code) => {
      this.#ffmpegs.endAll()
      const ended = new Error(`the node ended with ${code}`)
      this.#hello.reject(ended)
      this.#link.close(ended)
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
    await node.#hello.promise
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
    signal: AbortSignal = never,
  ): Promise<ControlResult<M>> {
    if (this.child.exitCode !== null) throw new Error(`the node ended with ${this.child.exitCode}`)
    if (method === 'set_settings') this.#settings = mediaSettingsSchema.parse(params)
    return await this.#link.request(method, params, signal)
  }

  send(message: ControlMessage): void {
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
    { assistAddress, ...more }: AddedDevice = {},
    leftMs = 4_000,
  ): Promise<void> {
    await this.request('add_device', {
      roomId,
      device: {
        userId,
        userName: userId,
        address: parseDeviceAddress(address),
        assistAddress: assistAddress === undefined ? undefined : parseDeviceAddress(assistAddress),
        ...more,
      },
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
  token(room: string, { userId: user, userName: name, url, role = 'member', lifeMs = 60_000 }: TestLink = {}): string {
    const iat = Date.now()
    const id = randomBytes(9).toString('base64url')
    return issueToken('join-token', this.key, { id, room, user, name, url, role, iat, exp: iat + lifeMs })
  }

  /** Waits for the first event, past or future, that matches. */
  async event(matches: (event: NodeReport) => boolean, withinMs = 20_000): Promise<NodeReport> {
    const found = this.events.find(matches)
    if (found !== undefined) return found
    const told = Promise.withResolvers<NodeReport>()
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
    this.#link.notify('stop', {})
    const [code] = (await once(this.child, 'exit')) as [number | null]
    return code
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }

  /** Answers like the controller for a room that does not exist: only rooms opened by a test exist. */
  #enter({ roomId, proof }: ReportParams<'enter_room'>): ReportResult<'enter_room'> {
    const mayEnter = proof.by === 'number' && this.openToNumber.has(roomId)
    return { refusal: mayEnter ? null : refusals[proof.by] }
  }

  #note(report: NodeReport): void {
    this.events.push(report)
    for (const watcher of this.#watchers) watcher()
  }
}
