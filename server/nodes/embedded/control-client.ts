import { type ControlFailure, ControlLink, messagesOf } from '../../../shared/media/control-link.ts'
import { controlVersion, mediaMethods } from '../../../shared/media/control.ts'
import {
  type ControllerHandlers,
  controllerMethods,
  type ReportParams,
} from '../../../shared/media/controller-methods.ts'
import type { FfmpegTell } from '../../../shared/media/ffmpeg.ts'
import { MediaRefusal, roomMediaBy } from '../../../shared/media/room-media.ts'
import { DeviceJoinError, NodeConnectionError, NodeError, type NodeEvent } from '../port/media-node-port.ts'
import { guarded, type NodeLogger } from '../port/node-failure.ts'
import type { EmbeddedMediaOptions } from './embedded-media-options.ts'
import type { MediaProcess } from './media-process.ts'

/** Handlers of the messages of a process, except those that ControlClient handles itself. */
export type ProcessHandlers = Omit<ControllerHandlers, 'hello' | 'log'>

/** Requests to a media process; see ControlLink. They reject with NodeError, DeviceJoinError or NodeConnectionError. */
export type MediaRequests = Pick<ControlLink<typeof mediaMethods, typeof controllerMethods>, 'request'>

/** The controller's side of the protocol with one media process. Its requests fail when the process ends. */
export class ControlClient {
  readonly #process: MediaProcess
  readonly #logger: NodeLogger
  readonly link: ControlLink<typeof mediaMethods, typeof controllerMethods>
  readonly #hello = Promise.withResolvers<void>()
  readonly #exited = Promise.withResolvers<void>()
  #lastReceived = performance.now()

  /** @param exited called once with the reason, when the process has ended; no handler is called afterwards */
  constructor(
    process: MediaProcess,
    handlers: Partial<ProcessHandlers>,
    exited: (why: string) => void,
    logger: NodeLogger,
  ) {
    this.#process = process
    this.#logger = logger
    this.link = new ControlLink({
      sends: mediaMethods,
      receives: controllerMethods,
      handlers: { ...handlers, hello: ({ version }) => this.#greeted(version), log: (line) => this.#log(line) },
      port: process,
      describe,
      errorOf,
      report: (event, error) => logger.error({ err: error }, `embedded node: ${event}`),
    })
    // Prevents an unhandled rejection: the promise may not be awaited when the process ends.
    this.#hello.promise.catch(() => {})
    process.onMessage((received) => {
      this.#lastReceived = performance.now()
      for (const message of messagesOf(received)) this.link.receive(message)
    })
    process.onExit((why) => {
      const error = new NodeConnectionError(why)
      this.#hello.reject(error)
      this.link.close(error)
      this.#exited.resolve()
      exited(why)
    })
  }

  /**
   * Resolves when the process accepts requests.
   * @throws NodeError
   */
  get hello(): Promise<void> {
    return this.#hello.promise
  }

  /** Resolves when the process has ended. */
  get exited(): Promise<void> {
    return this.#exited.promise
  }

  /** Time of the last message of the process, on the clock of `performance.now()`. */
  get lastHeard(): number {
    return this.#lastReceived
  }

  get pid(): number | undefined {
    return this.#process.pid
  }

  /** Sends a message about ffmpeg. */
  tellFfmpeg(message: FfmpegTell): void {
    this.link.notify('ffmpeg', message)
  }

  /** Requests an orderly end of the process. */
  stop(): void {
    this.link.notify('stop', {})
  }

  kill(): void {
    // The process may have ended although its exit event is still pending.
    guarded(this.#logger, 'the process of the embedded node could not be ended', () => this.#process.kill())
  }

  #greeted(version: number): void {
    if (version === controlVersion) this.#hello.resolve()
    else this.#hello.reject(new NodeError(`its program is of another version (${version})`))
  }

  #log({ level, message, detail }: ReportParams<'log'>): void {
    this.#logger[level]({ detail }, `embedded node: ${message}`)
  }
}

function describe(error: unknown): ControlFailure {
  const message = error instanceof Error ? error.message : String(error)
  if (error instanceof MediaRefusal) return { reason: 'media', refusal: error.refusal, message }
  return { reason: 'other', message }
}

function errorOf(failure: ControlFailure): Error {
  if (failure.reason !== 'device') return new NodeError(failure.message)
  return new DeviceJoinError(failure.kind, failure.message, { detail: failure.detail })
}

type Receivers = Pick<
  EmbeddedMediaOptions,
  'answers' | 'failed' | 'gateway' | 'guessed' | 'hostActed' | 'logger' | 'reached' | 'recorder' | 'removed' | 'waiting'
>

/** Passes the messages of the process of one node to their receivers. */
export class ProcessEvents {
  readonly #node: string
  readonly #receivers: Receivers
  readonly #emit: (event: NodeEvent) => void

  /** @param emit emits an event of the node's driver */
  constructor(node: string, receivers: Receivers, emit: (event: NodeEvent) => void) {
    this.#node = node
    this.#receivers = receivers
    this.#emit = emit
  }

  handlers(): Omit<ProcessHandlers, 'ffmpeg'> {
    const node = this.#node
    const { answers, gateway, guessed, hostActed, reached, recorder, removed, waiting } = this.#receivers
    return {
      joined: (joined) => this.#emit({ type: 'joined', ...joined }),
      left: (left) => this.#emit({ type: 'left', ...left }),
      deviceLost: (lost) => this.#emit({ type: 'deviceLost', ...lost }),
      streamShort: (short) => this.#emit({ type: 'streamShort', ...short }),
      enter_room: (wanted) => answers.open(wanted, node),
      look_at_room: (looked) => answers.look(looked),
      lock_room: async (wanted) => ({ done: await answers.lock(wanted) }),
      make_invitation: async (wanted) => {
        const url = await answers.invite(wanted)
        return url === undefined ? {} : { url }
      },
      record_room: async (wanted) => ({ done: await answers.record(wanted) }),
      test_person_entry: async (wanted) => answers.testEntry(wanted),
      ...roomMediaBy(async (method, params) => {
        if (gateway === undefined) throw new MediaRefusal('busy')
        return await gateway().call(node, method, params)
      }),
      remoteEntered: (entered) => gateway?.().entered(node, entered),
      remoteLeft: (left) => gateway?.().left(node, left),
      remoteMuted: (muted) => gateway?.().muted(node, muted),
      hostActed: (acted) => hostActed?.(acted),
      waiting: (report) => waiting?.take(node, report),
      guesses: (guesses) => guessed(guesses),
      pageReached: (visit) => reached?.(visit),
      recorder: ({ event }) => recorder?.().intake?.take(node, event),
      removed: ({ userName, by, ...removal }) => removed(removal, userName, by),
    }
  }

  /** Reports that the process ended, or that a new process started. */
  restarted(): void {
    const { gateway, recorder, waiting } = this.#receivers
    this.#guarded(() => gateway?.().restarted(this.#node))
    this.#guarded(() => waiting?.restarted(this.#node))
    this.#guarded(() => recorder?.().restarted(this.#node))
    this.#guarded(() => this.#emit({ type: 'restarted' }))
  }

  /** Reports the reason why the process ended, hung or could not be started. */
  failed(why: string): void {
    this.#guarded(() => this.#receivers.failed?.(this.#node, why))
  }

  #guarded(run: () => void): void {
    guarded(this.#receivers.logger, 'a listener of the embedded node failed', run)
  }
}
