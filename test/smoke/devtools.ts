import { once } from 'node:events'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { until } from './until.ts'

/** File into which Chromium writes the port for `--remote-debugging-port=0`. */
const portFile = 'DevToolsActivePort'

/** Removes the file of an earlier run: another program may use that port now. */
export const forgetPort = (userData: string): Promise<void> => rm(join(userData, portFile), { force: true })

/**
 * Finds the address of an app's DevTools, by its file or its line on stderr, whichever comes first.
 * @param written stderr of the app so far
 */
export function devtoolsAddress(userData: string, written: () => string, limitMs = 60_000): Promise<string> {
  return until(
    'the app reports the port of its DevTools',
    async () => {
      const line = /^DevTools listening on ws:\/\/([^/\s]+)/m.exec(written())?.[1]
      if (line !== undefined) return `http://${line}`
      const [port] = (await readFile(join(userData, portFile), 'utf8')).split('\n')
      return port !== undefined && /^\d+$/.test(port) && `http://127.0.0.1:${port}`
    },
    limitMs,
  )
}

/** Timeout of a page that does not answer, such as a crashed one, in milliseconds. */
const answerMs = 15_000

interface Reply {
  resolve: (value: Record<string, unknown>) => void
  reject: (error: Error) => void
}

/** A page, over DevTools. Playwright needs to inspect an app's main process, which the fuses forbid. */
export class DevtoolsPage {
  readonly #socket: WebSocket
  readonly #waiting = new Map<number, Reply>()
  readonly #listeners = new Map<string, Set<() => void>>()
  #last = 0

  private constructor(socket: WebSocket) {
    this.#socket = socket
    socket.addEventListener('message', ({ data }) => this.#onMessage(String(data)))
    socket.addEventListener('close', () => {
      for (const { reject } of this.#waiting.values()) reject(new Error('the connection to the page was closed'))
      this.#waiting.clear()
    })
  }

  /**
   * Connects to a page as soon as it exists.
   * @param address of the DevTools
   * @param isWanted selects a page by its URL
   */
  static async open(address: string, isWanted: (url: string) => boolean, limitMs = 60_000): Promise<DevtoolsPage> {
    const url = await until(
      'the app has a page',
      async () => {
        const response = await fetch(`${address}/json/list`)
        const targets = (await response.json()) as { type: string; url: string; webSocketDebuggerUrl: string }[]
        return targets.find(({ type, url }) => type === 'page' && isWanted(url))?.webSocketDebuggerUrl
      },
      limitMs,
    )
    const socket = new WebSocket(url)
    await once(socket, 'open', { signal: AbortSignal.timeout(limitMs) })
    const page = new DevtoolsPage(socket)
    await Promise.all(['Page.enable', 'Runtime.enable', 'Inspector.enable'].map((method) => page.send(method)))
    return page
  }

  /** @throws Error with the method and the message of DevTools */
  send(method: string, params: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
    if (this.#socket.readyState !== WebSocket.OPEN) return Promise.reject(new Error(`${method}: the page has gone`))
    const id = ++this.#last
    const { promise, resolve, reject } = Promise.withResolvers<Record<string, unknown>>()
    this.#waiting.set(id, { resolve, reject: (error) => reject(new Error(`${method}: ${error.message}`)) })
    const timer = setTimeout(() => {
      this.#waiting.delete(id)
      reject(new Error(`${method}: the page did not answer within ${answerMs / 1_000} s`))
    }, answerMs)
    this.#socket.send(JSON.stringify({ id, method, params }))
    return promise.finally(() => clearTimeout(timer))
  }

  /** Resolves at the next event of this name. */
  next(method: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<undefined>()
    const listeners = this.#listeners.get(method) ?? new Set()
    this.#listeners.set(method, listeners)
    const listener = (): void => {
      listeners.delete(listener)
      resolve(undefined)
    }
    listeners.add(listener)
    return promise
  }

  /**
   * Evaluates an expression in the page's own world, and awaits a promise.
   * @throws Error with the exception of the page
   */
  async evaluate(expression: string): Promise<unknown> {
    const options = { awaitPromise: true, returnByValue: true, userGesture: true }
    const { result, exceptionDetails } = (await this.send('Runtime.evaluate', { expression, ...options })) as {
      result: { value?: unknown }
      exceptionDetails?: { text: string; exception?: { description?: string } }
    }
    if (exceptionDetails !== undefined)
      throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text)
    return result.value
  }

  close(): void {
    this.#socket.close()
  }

  #onMessage(text: string): void {
    const { id, method, result, error } = JSON.parse(text) as {
      id?: number
      method?: string
      result?: Record<string, unknown>
      error?: { message: string }
    }
    if (method !== undefined) for (const listener of [...(this.#listeners.get(method) ?? [])]) listener()
    const reply = id === undefined ? undefined : this.#waiting.get(id)
    if (id === undefined || reply === undefined) return
    this.#waiting.delete(id)
    if (error !== undefined) reply.reject(new Error(error.message))
    else reply.resolve(result ?? {})
  }
}
