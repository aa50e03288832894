import { controlVersion, mediaMethods } from '../../../shared/media/control.ts'
import {
  type ControllerHandlers,
  controllerMethods,
  type ReportParams,
} from '../../../shared/media/controller-methods.ts'
import { type ControlFailure, ControlLink, messagesOf } from '../../../shared/media/control-link.ts'
import type { FfmpegTell } from '../../../shared/media/ffmpeg.ts'
import { MediaRefusal } from '../../../shared/media/room-media.ts'
import { DeviceJoinError, NodeConnectionError, NodeError } from '../port/media-node-port.ts'
import { guarded } from '../port/guarded.ts'
import type { NodeLogger } from '../port/node-failure.ts'
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
