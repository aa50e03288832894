import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import WebSocket from 'ws'
import { z } from 'zod'

/** Firefox of Debian and others; undefined: it is not installed. */
export const firefoxPath = ['/usr/bin/firefox-esr', '/usr/bin/firefox'].find((path) => existsSync(path))

/** Command that installs it, for tests that are skipped without it. */
export const firefoxMissing = 'Firefox is missing: apt-get install firefox-esr'

/** Waits for what a page shows on a busy machine, in milliseconds. */
const patienceMs = 30_000

/** Preferences of a tester's profile: a camera and a microphone that are made up and allowed, and media on the loopback addresses. */
const preferences = {
  'datareporting.policy.dataSubmissionEnabled': false,
  'intl.accept_languages': 'en',
  'media.navigator.streams.fake': true,
  'media.navigator.permission.disabled': true,
  'media.peerconnection.ice.loopback': true,
  'media.peerconnection.ice.obfuscate_host_addresses': false,
}

const created = z.object({ context: z.string() })
const contexts = z.object({ contexts: z.array(created) })
const located = z.object({ nodes: z.array(z.object({ sharedId: z.string() })) })
/** An answer of Firefox, or an event of it, which has no id. */
const answered = z.object({ id: z.number().nullish(), result: z.unknown().optional(), message: z.string().optional() })
const evaluated = z.object({
  result: z.object({ value: z.string() }).optional(),
  exceptionDetails: z.object({ text: z.string() }).optional(),
})

/** Firefox without a window, with a profile of its own, controlled by WebDriver BiDi. */
export class Firefox implements AsyncDisposable {
  readonly #session: Session
  readonly #close: () => Promise<void>
  /** The page that it began with; undefined once it is used. */
  #first: string | undefined

  private constructor(session: Session, first: string, close: () => Promise<void>) {
    this.#session = session
    this.#first = first
    this.#close = close
  }

  static async start(path: string): Promise<Firefox> {
    const profile = await mkdtemp(join(tmpdir(), 'roomdesk-firefox-'))
    const lines = Object.entries(preferences).map(
      ([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`,
    )
    await writeFile(join(profile, 'user.js'), lines.join(''))
    const program = spawn(path, ['--headless', '--profile', profile, '--remote-debugging-port', '0'], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, HOME: profile },
    })
    const ended = once(program, 'exit')
    const close = async (): Promise<void> => {
      program.kill()
      await ended
      await rm(profile, { recursive: true, force: true, maxRetries: 5 })
    }
    try {
      const session = await connect(await addressOf(program.stderr))
      await session('session.new', { capabilities: {} })
      await session('script.addPreloadScript', { functionDeclaration: keepConnections })
      const [page] = contexts.parse(await session('browsingContext.getTree', {})).contexts
      if (page === undefined) throw new Error('Firefox has no page')
      return new Firefox(session, page.context, close)
    } catch (error) {
      await close()
      throw error
    }
  }

  /** Opens an address in a window of its own: pages of other tabs stand still. */
  async open(url: string): Promise<FirefoxPage> {
    const context =
      this.#first ?? created.parse(await this.#session('browsingContext.create', { type: 'window' })).context
    this.#first = undefined
    const page = new FirefoxPage(this.#session, context)
    await this.#session('browsingContext.navigate', { context, url, wait: 'complete' })
    return page
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close()
  }
}

/** Runs ahead of the scripts of each page, which keep their peer connections to themselves. */
const keepConnections = `() => {
  const connections = []
  window.RTCPeerConnection = class extends RTCPeerConnection {
    constructor(...how) {
      super(...how)
      connections.push(this)
    }
  }
  window.receivedMedia = async () => {
    const counts = { frames: 0, sound: 0 }
    for (const connection of connections)
      for (const stat of (await connection.getStats()).values()) {
        if (stat.type !== 'inbound-rtp') continue
        if (stat.kind === 'video') counts.frames += stat.framesDecoded ?? 0
        else counts.sound += stat.packetsReceived
      }
    return counts
  }
}`

/** A page of Firefox, used as by a person. */
export class FirefoxPage {
  readonly #session: Session
  readonly #context: string

  constructor(session: Session, context: string) {
    this.#session = session
    this.#context = context
  }

  /** Evaluates an expression, and awaits its promise. @returns its value as JSON @throws Error with the exception of the page */
  async evaluate(expression: string): Promise<unknown> {
    const wrapped = `Promise.resolve(${expression}).then((value) => JSON.stringify(value) ?? 'null')`
    const answer = await this.#session('script.evaluate', {
      expression: wrapped,
      target: { context: this.#context },
      awaitPromise: true,
    })
    const { result, exceptionDetails } = evaluated.parse(answer)
    if (result === undefined) throw new Error(exceptionDetails?.text ?? 'Firefox returned no value')
    return JSON.parse(result.value) as unknown
  }

  /** Resolves when an expression is true in the page. @throws Error with the text of the page */
  async until(expression: string, ms = patienceMs): Promise<void> {
    const end = performance.now() + ms
    while ((await this.evaluate(expression)) !== true) {
      if (performance.now() > end) throw new Error(`never true: ${expression}; the page says ${await this.#text()}`)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }

  /** Resolves when the page shows a text. */
  async reads(text: string): Promise<void> {
    await this.until(`document.body.innerText.includes(${JSON.stringify(text)})`)
  }

  /** Clicks the first element of this role and accessible name, once there is one. */
  async click(role: string, name: string): Promise<void> {
    await this.#clickFirst({ type: 'accessibility', value: { role, name } }, `${role} ${name}`)
  }

  /** Clicks the label of a field, and types into the field. */
  async fill(label: string, text: string): Promise<void> {
    const value = `//label[starts-with(normalize-space(.), ${JSON.stringify(label)})]`
    await this.#clickFirst({ type: 'xpath', value }, `field ${label}`)
    const actions = Array.from(text).flatMap((key) => [
      { type: 'keyDown', value: key },
      { type: 'keyUp', value: key },
    ])
    await this.#ask('input.performActions', { actions: [{ type: 'key', id: 'keyboard', actions }] })
  }

  async #clickFirst(locator: object, what: string): Promise<void> {
    const end = performance.now() + patienceMs
    for (;;) {
      const { nodes } = located.parse(await this.#ask('browsingContext.locateNodes', { locator, maxNodeCount: 1 }))
      const [node] = nodes
      if (node !== undefined) return await this.#clickNode(node)
      if (performance.now() > end) throw new Error(`no ${what}; the page says ${await this.#text()}`)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }

  async #text(): Promise<string> {
    return String(await this.evaluate('document.body.innerText'))
  }

  async #clickNode(element: { sharedId: string }): Promise<void> {
    await this.#session('script.callFunction', {
      functionDeclaration: '(element) => element.scrollIntoView({ block: "center" })',
      arguments: [element],
      target: { context: this.#context },
      awaitPromise: false,
    })
    const actions = [
      { type: 'pointerMove', x: 0, y: 0, origin: { type: 'element', element } },
      { type: 'pointerDown', button: 0 },
      { type: 'pointerUp', button: 0 },
    ]
    await this.#ask('input.performActions', { actions: [{ type: 'pointer', id: 'mouse', actions }] })
  }

  #ask(method: string, params: object): Promise<unknown> {
    return this.#session(method, { ...params, context: this.#context })
  }
}

async function addressOf(stderr: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface(stderr)) {
    const address = /WebDriver BiDi listening on (ws:\S+)/.exec(line)?.[1]
    if (address === undefined) continue
    stderr.resume()
    return `${address}/session`
  }
  throw new Error('Firefox ended at its start')
}

type Session = (method: string, params: object) => Promise<unknown>

async function connect(address: string): Promise<Session> {
  const socket = new WebSocket(address)
  await once(socket, 'open')
  const pending = new Map<number, PromiseWithResolvers<unknown> & { method: string }>()
  socket.on('message', (data: Buffer) => {
    const { id, result, message } = answered.parse(JSON.parse(data.toString()))
    const waiting = pending.get(id ?? -1)
    pending.delete(id ?? -1)
    if (result === undefined) waiting?.reject(new Error(`${waiting.method}: ${message ?? 'no result'}`))
    else waiting?.resolve(result)
  })
  socket.once('close', () => {
    for (const { reject } of pending.values()) reject(new Error('Firefox ended'))
  })
  let last = 0
  return async (method, params) => {
    const id = ++last
    const answer = Promise.withResolvers<unknown>()
    pending.set(id, { method, ...answer })
    socket.send(JSON.stringify({ id, method, params }))
    return await answer.promise
  }
}
