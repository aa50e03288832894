import { onAbort } from '../../../shared/abort.ts'
import {
  type ControlEvent,
  type ControlMethod,
  controlMethods,
  type ControlParams,
  type ControlResult,
  controlVersion,
  type FromNode,
  fromNodeSchema,
} from '../../../shared/media/control.ts'
import type { FfmpegAsk } from '../../../shared/media/ffmpeg.ts'
import { DeviceJoinError, NodeConnectionError, NodeError } from '../port/media-node-port.ts'
import { guarded } from '../port/guarded.ts'
import type { NodeLogger } from '../port/node-failure.ts'
import type { MediaProcess } from './media-process.ts'

/** Receives events that a process sends without a request. */
export interface ControlListener {
  event(event: ControlEvent): void
  /** It wants something of ffmpeg. */
  ffmpeg?(message: FfmpegAsk): void
  /** Called once; nothing comes after it. */
  exit(why: string): void
}

interface Waiting {
  resolve(result: unknown): void
  reject(error: Error): void
}

/** The controller's end of the messages with the process of the embedded node: every request is answered once, or fails when the process ends. */
export class ControlClient {
  readonly #process: MediaProcess
  readonly #listener: ControlListener
  readonly #logger: NodeLogger
  readonly #waiting = new Map<number, Waiting>()
  readonly #hello = Promise.withResolvers<void>()
  readonly #exited = Promise.withResolvers<void>()
  #lastId = 0
  #exit: string | undefined
  #lastReceived = performance.now()

  constructor(process: MediaProcess, listener: ControlListener, logger: NodeLogger) {
    this.#process = process
    this.#listener = listener
    this.#logger = logger
    // Nobody may be waiting for it when the process ends.
    this.#hello.promise.catch(() => {})
    process.onMessage((message) => this.#receive(message))
    process.onExit((why) => this.#ended(why))
  }

  /** Resolves when the process listens to requests. @throws NodeError */
  get hello(): Promise<void> {
    return this.#hello.promise
  }

  /** Resolves when the process has ended. */
  get exited(): Promise<void> {
    return this.#exited.promise
  }

  /** When it last said anything, on the clock of `performance.now()`. */
  get lastHeard(): number {
    return this.#lastReceived
  }

  get pid(): number | undefined {
    return this.#process.pid
  }

  /**
   * Sends a request and waits for its answer. When the signal aborts, the process is asked to cancel it.
   * @param tooLate called when it succeeded after the caller had given up
   * @throws NodeError, DeviceJoinError, NodeConnectionError when the process ends; the signal's reason
   */
  async request<M extends ControlMethod>(
    method: M,
    params: ControlParams<M>,
    signal: AbortSignal,
    tooLate: () => void = () => {},
  ): Promise<ControlResult<M>> {
    signal.throwIfAborted()
    if (this.#exit !== undefined) throw new NodeConnectionError(this.#exit)
    this.#lastId += 1
    const id = this.#lastId
    const answer = Promise.withResolvers<unknown>()
    this.#waiting.set(id, answer)
    const giveUp = (): void => {
      // The process answers a request that was given up, too: the entry goes then.
      this.#waiting.set(id, { resolve: tooLate, reject: () => {} })
      answer.reject(signal.reason)
      // An abort does not catch what its listeners throw.
      guarded(this.#logger, 'a request to the embedded node could not be given up', () =>
        this.#process.send({ type: 'cancel', id }),
      )
    }
    const unregister = onAbort(signal, giveUp)
    try {
      this.#process.send({ type: 'request', id, method, params })
      const parsed = controlMethods[method].result.safeParse(await answer.promise)
      if (!parsed.success) throw new NodeError(`its answer to ${method} is malformed`)
      // The schema of a method is its result's; the compiler cannot follow that through the index.
      return parsed.data as ControlResult<M>
    } finally {
      unregister()
    }
  }

  /** Asks the process to end in order. */
  stop(): void {
    this.#process.send({ type: 'stop' })
  }

  /** Ends the process at once. */
  kill(): void {
    // It may be gone already, without the news of it.
    guarded(this.#logger, 'the process of the embedded node could not be ended', () => this.#process.kill())
  }

  #receive(value: unknown): void {
    this.#lastReceived = performance.now()
    const parsed = fromNodeSchema.safeParse(value)
    if (!parsed.success) {
      this.#logger.error({ error: parsed.error.message }, 'a message of the embedded node is malformed')
      return
    }
    guarded(this.#logger, 'a message of the embedded node was not taken', () => this.#take(parsed.data))
  }

  #take(message: FromNode): void {
    switch (message.type) {
      case 'hello':
        if (message.version === controlVersion) this.#hello.resolve()
        else this.#hello.reject(new NodeError(`its program is of another version (${message.version})`))
        break
      case 'answer':
        this.#settle(message.id)?.resolve(message.result)
        break
      case 'failure': {
        const { kind, message: text, detail } = message
        const error = kind === null ? new NodeError(text) : new DeviceJoinError(kind, text, { detail })
        this.#settle(message.id)?.reject(error)
        break
      }
      case 'event':
        this.#listener.event(message.event)
        break
      case 'ffmpeg':
        this.#listener.ffmpeg?.(message.message)
        break
      case 'log':
        this.#log(message)
        break
    }
  }

  #log({ level, message, detail }: Extract<FromNode, { type: 'log' }>): void {
    const text = `embedded node: ${message}`
    if (level === 'error') this.#logger.error({ detail }, text)
    else if (level === 'warn') this.#logger.warn({ detail }, text)
    else if (level === 'info') this.#logger.info({ detail }, text)
    else this.#logger.debug({ detail }, text)
  }

  #settle(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    return waiting
  }

  #ended(why: string): void {
    this.#exit = why
    const error = new NodeConnectionError(why)
    this.#hello.reject(error)
    for (const waiting of this.#waiting.values()) waiting.reject(error)
    this.#waiting.clear()
    this.#exited.resolve()
    this.#listener.exit(why)
  }
}
