import { controlVersion, type MediaHandlers, mediaMethods, type MediaStart } from '../../shared/media/control.ts'
import { controllerMethods } from '../../shared/media/controller-methods.ts'
import { type ControlFailure, ControlLink, type ControlPort } from '../../shared/media/control-link.ts'
import { MediaRefusal } from '../../shared/media/room-media.ts'
import type { Web } from './http/web.ts'
import { type MediaLog, wholeText } from './base/media-log.ts'
import { MediaServer } from './media-server.ts'
import { FfmpegRunner } from './transcode/ffmpeg-runner.ts'
import { DeviceFailure } from './rooms/device-joins.ts'

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/** Endpoint of the control protocol in the media process. */
export class ControlService {
  readonly link: ControlLink<typeof controllerMethods, typeof mediaMethods>
  /** Handlers of the control methods; before `start`, only `start`, `stop` and `ffmpeg`. */
  readonly #handlers: Partial<Mutable<MediaHandlers>>
  readonly #web: (log: MediaLog) => Web
  readonly #end: () => void
  readonly #ffmpeg: FfmpegRunner
  readonly log: MediaLog
  #server: MediaServer | undefined

  /**
   * @param web creates the node's port factory; called with the log of this service
   * @param end ends the process; called if the controller requests it, or has been silent for so long that another
   *   controller leads
   */
  constructor(port: ControlPort, web: (log: MediaLog) => Web, end: () => void) {
    this.#web = web
    this.#end = end
    const write = (level: 'debug' | 'info' | 'warn' | 'error') => (message: string, detail?: string) =>
      this.link.notify('log', { level, message, detail: detail ?? '' })
    this.log = { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }
    this.#ffmpeg = new FfmpegRunner((message) => this.link.notify('ffmpeg', message), this.log)
    this.#handlers = {
      start: (start) => this.#start(start),
      stop: end,
      ffmpeg: (message) => this.#ffmpeg.take(message),
    }
    this.link = new ControlLink({
      sends: controllerMethods,
      receives: mediaMethods,
      handlers: this.#handlers,
      port,
      describe,
      errorOf,
      report: (event, error) => this.log.error(event, wholeText(error)),
    })
    this.link.notify('hello', { version: controlVersion })
  }

  async close(): Promise<void> {
    this.link.close(new Error('the node ends'))
    await this.#server?.close()
  }

  async #start(start: MediaStart): Promise<MediaServer['ports']> {
    if (this.#server !== undefined) throw new Error('it runs already')
    const fenced = (): void => {
      this.log.warn('the controller has been silent for so long that another one leads: the node ends', '')
      this.#end()
    }
    const parts = { web: this.#web(this.log), ffmpeg: this.#ffmpeg, controller: this.link, fenced }
    this.#server = await MediaServer.start(start, parts, this.log)
    Object.assign(this.#handlers, this.#server.handlers)
    return this.#server.ports
  }
}

function describe(error: unknown): ControlFailure {
  const message = error instanceof Error ? error.message : String(error)
  if (error instanceof DeviceFailure) return { reason: 'device', kind: error.kind, message, detail: error.detail }
  return { reason: 'other', message }
}

function errorOf(failure: ControlFailure): Error {
  return failure.reason === 'media' ? new MediaRefusal(failure.refusal) : new Error(failure.message)
}
