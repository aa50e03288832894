import { readFile } from 'node:fs/promises'
import { type IncomingMessage, request as plainRequest } from 'node:http'
import { request as tlsRequest } from 'node:https'
import { type Headless, startHeadless } from '../headless.ts'
import { answersIn, type Target, targetOf } from '../abusive-client.ts'

const names = ['media', 'device', 'node', 'console', 'event'] as const

/** The built controller with its media node, and measurements of both. */
export class AbusedSite {
  readonly #server: Headless
  readonly #node: number
  readonly #memory: number
  readonly targets: readonly Target[]

  private constructor(server: Headless, node: number, memory: number, targets: readonly Target[]) {
    this.#server = server
    this.#node = node
    this.#memory = memory
    this.targets = targets
  }

  static async start(tls: 'off' | 'self-signed'): Promise<AbusedSite> {
    const site = {
      credentials: [{ label: 'Good', access_key: 'good', secret_key: 'good-secret', p2p: true }],
      nodes: [
        { name: 'here', kind: 'embedded' },
        // A node that does not exist: strangers send events in its name.
        { name: 'hall', kind: 'janus', ws_url: 'ws://127.0.0.1:9', admin_url: 'http://127.0.0.1:9/admin' },
      ],
      settings: { tls: { mode: tls } },
    }
    const server = await startHeadless({ site, flags: ['--event-port', '0'] })
    const { listeners } = await server.rpc('overview.get', {})
    const targets = names.map((name) => targetOf(name, listeners.find((each) => each.name === name)?.url ?? ''))
    const [node = 0] = await children(server.ready.pid)
    const made = new AbusedSite(server, node, 0, targets)
    // Warms up: allocations of the first requests are no growth.
    for (let turn = 0; turn < 50; turn++) await Promise.all(made.targets.map((target) => answersIn(target)))
    return new AbusedSite(server, node, await made.memory(), targets)
  }

  target(name: (typeof names)[number]): Target {
    const target = this.targets.find((each) => each.name === name)
    if (target === undefined) throw new Error(`there is no ${name}`)
    return target
  }

  /** Measures the resident memory of controller and node, in bytes. */
  async memory(): Promise<number> {
    const each = await Promise.all(
      [this.#server.ready.pid, this.#node].map(async (pid) => {
        const status = await readFile(`/proc/${pid}/status`, 'utf8')
        return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024
      }),
    )
    return each.reduce((sum, bytes) => sum + bytes, 0)
  }

  /** Measures how much memory has grown since the start, in bytes. */
  async growth(): Promise<number> {
    return (await this.memory()) - this.#memory
  }

  /** Tells whether controller and node are still the same processes. */
  async same(): Promise<boolean> {
    return this.#node !== 0 && (await children(this.#server.ready.pid)).includes(this.#node)
  }

  /** Reads the open connections of each port from `/metrics`; this request counts among those of the console. */
  async connections(): Promise<Record<string, number>> {
    const { port, tls } = this.target('console')
    const text = await get(`${tls ? 'https' : 'http'}://127.0.0.1:${port}/metrics`)
    const found = text.matchAll(/^roomdesk_connections\{listener="(\w+)"\} (\d+)$/gm)
    return Object.fromEntries([...found].map(([, name = '', count]) => [name, Number(count)]))
  }

  /** Lines of the log about failures. */
  get failures(): string[] {
    return this.#server.log.filter((line) => /"level":(50|60|"error"|"fatal")/.test(line))
  }

  async stop(): Promise<void> {
    await this.#server.remove()
  }
}

async function children(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
  return text.trim().split(' ').map(Number)
}

function get(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const read = (response: IncomingMessage): void => {
      let text = ''
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString()
      })
      response.on('end', () => resolve(text))
    }
    const sent = url.startsWith('https')
      ? tlsRequest(url, { rejectUnauthorized: false, agent: false }, read)
      : plainRequest(url, { agent: false }, read)
    sent.once('error', reject)
    sent.end()
  })
}
