import {
  controlMethods,
  controlVersion,
  type FromNode,
  isControlMethod,
  type ToNode,
  toNodeSchema,
} from '../../shared/media/control.ts'
import type { Web } from './http/web.ts'
import type { Log } from './base/media-log.ts'
import { MediaServer, type RunningMethod } from './media-server.ts'
import { FfmpegRunner } from './transcode/ffmpeg-runner.ts'
import { DeviceFailure } from './rooms/device-failure.ts'

/** The node's end of the messages with its controller: answers every request, once. */
export class ControlService {
  readonly #send: (message: FromNode, urgency?: 'soon') => void
  readonly #web: (log: Log) => Web
  readonly #fenced: () => void
  readonly #running = new Map<number, AbortController>()
  readonly #ffmpeg: FfmpegRunner
  readonly log: Log
  #server: MediaServer | undefined

  /**
   * @param send `soon`: the message may wait for others, in order, for some milliseconds
   * @param web makes the node's port with this log
   * @param fenced called when the controller has been silent for so long that another one leads
   */
  constructor(
    send: (message: FromNode, urgency?: 'soon') => void,
    web: (log: Log) => Web,
    fenced: () => void = () => {},
  ) {
    this.#send = send
    this.#web = web
    this.#fenced = fenced
    const write = (level: 'debug' | 'info' | 'warn' | 'error') => (message: string, detail?: string) =>
      send({ type: 'log', level, message, detail: detail ?? '' })
    this.log = { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }
    this.#ffmpeg = new FfmpegRunner((message) => send({ type: 'ffmpeg', message }), this.log)
    send({ type: 'hello', version: controlVersion })
  }

  /** Takes a message of the controller. Resolves to true when it is to end. */
  async receive(value: unknown): Promise<boolean> {
    const parsed = toNodeSchema.safeParse(value)
    if (!parsed.success) {
      this.log.error('a message of the controller is not valid', parsed.error.message)
      return false
    }
    const message: ToNode = parsed.data
    if (message.type === 'cancel') this.#running.get(message.id)?.abort(new Error('the controller gave up'))
    else if (message.type === 'ffmpeg') this.#ffmpeg.take(message.message)
    else if (message.type === 'request') await this.#answer(message.id, message.method, message.params)
    else return true
    return false
  }

  /** Everything ends. */
  async close(): Promise<void> {
    for (const running of this.#running.values()) running.abort(new Error('the node ends'))
    await this.#server?.close()
  }

  async #answer(id: number, method: string, params: unknown): Promise<void> {
    const abort = new AbortController()
    this.#running.set(id, abort)
    try {
      if (!isControlMethod(method)) throw new Error(`there is no request ${method}`)
      const result = method === 'start' ? await this.#begin(params) : await this.#run(method, params, abort.signal)
      this.#send({ type: 'answer', id, result })
    } catch (error) {
      const failure = error instanceof DeviceFailure ? error : undefined
      if (failure === undefined && !abort.signal.aborted) {
        this.log.error(
          `the request ${method} failed`,
          error instanceof Error ? (error.stack ?? error.message) : String(error),
        )
      }
      const text = error instanceof Error ? error.message : String(error)
      const answer: FromNode = {
        type: 'failure',
        id,
        kind: failure?.kind ?? null,
        message: text,
        detail: failure?.detail ?? '',
      }
      if (failure === undefined) this.#send(answer)
      else this.#send(answer, 'soon')
    } finally {
      this.#running.delete(id)
    }
  }

  async #begin(params: unknown): Promise<unknown> {
    if (this.#server !== undefined) throw new Error('it runs already')
    const start = controlMethods.start.params.parse(params)
    this.#server = await MediaServer.start(
      start,
      {
        web: this.#web(this.log),
        ffmpeg: this.#ffmpeg,
        emit: (event) => this.#send({ type: 'event', event }),
        fenced: () => {
          this.log.warn('the controller has been silent for so long that another one leads: the node ends', '')
          this.#fenced()
        },
      },
      this.log,
    )
    return this.#server.ports
  }

  async #run<M extends RunningMethod>(method: M, params: unknown, signal: AbortSignal): Promise<unknown> {
    if (this.#server === undefined) throw new Error('it was not started')
    const handler = this.#server.handlers[method]
    // The schema of a method and its handler belong together; the compiler cannot follow that through the index.
    const parsed = controlMethods[method].params.parse(params) as Parameters<typeof handler>[0]
    return await handler(parsed, signal)
  }
}
