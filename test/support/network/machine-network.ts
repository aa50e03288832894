import { execFile, spawnSync } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'
import { promisify } from 'node:util'

const run = promisify(execFile)
const prefixLength = 24

/** How packets end on a way that is cut: without a word, or with a refusal that comes back (iptables-extensions(8), REJECT). */
export const cutKinds = [
  'drop',
  'tcp-reset',
  'icmp-port-unreachable',
  'icmp-host-unreachable',
  'icmp-net-unreachable',
  'icmp-proto-unreachable',
  'icmp-host-prohibited',
  'icmp-admin-prohibited',
] as const
export type CutKind = (typeof cutKinds)[number]

/** Packets that one machine no longer exchanges with an address. */
export interface Cut {
  /** Address at the other end. */
  peer: string
  /** Port of the peer; left out: every port of both ends. */
  port?: number
  /** Packets that this machine sends there, that come from there, or both. */
  direction: 'out' | 'in' | 'both'
  kind: CutKind
}

/** A machine of its own on the network: processes in it have its address, its card and its packet filter. A Linux network namespace. */
export class Machine {
  readonly address: string
  readonly #namespace: string
  readonly #card: string

  constructor(namespace: string, address: string, card: string) {
    this.#namespace = namespace
    this.#card = card
    this.address = address
  }

  /** Command that starts a program in this machine; the program itself follows. */
  get through(): readonly string[] {
    return ['ip', 'netns', 'exec', this.#namespace]
  }

  /** Cuts a way until `heal`. */
  async cut({ peer, port, direction, kind }: Cut): Promise<void> {
    const target = kind === 'drop' ? ['DROP'] : ['REJECT', '--reject-with', kind]
    const rule = async (chain: 'OUTPUT' | 'INPUT', end: 'd' | 's'): Promise<void> => {
      const ports = port === undefined ? [] : [`--${end}port`, String(port)]
      await this.#inside('iptables', '-w', '-A', chain, '-p', 'tcp', `-${end}`, peer, ...ports, '-j', ...target)
    }
    if (direction !== 'in') await rule('OUTPUT', 'd')
    if (direction !== 'out') await rule('INPUT', 's')
  }

  /** Ends every cut of this machine. */
  async heal(): Promise<void> {
    await this.#inside('iptables', '-w', '-F')
  }

  /** Takes its card down or up again; its own address stays reachable from inside. */
  async card(state: 'up' | 'down'): Promise<void> {
    await this.#inside('ip', 'link', 'set', this.#card, state)
  }

  /** Adds a card with an address in a network of its own, where nobody else is. */
  async addCard(name: string, address: string): Promise<void> {
    const end = `${name}-end`
    await this.#inside('ip', 'link', 'add', name, 'type', 'veth', 'peer', 'name', end)
    await this.#inside('ip', 'link', 'set', end, 'up')
    await this.#inside('ip', 'address', 'add', `${address}/${prefixLength}`, 'dev', name)
    await this.#inside('ip', 'link', 'set', name, 'up')
  }

  /** The body of a page, as a client in this machine gets it. @throws Error without an answer in `withinMs` */
  async fetch(url: string, withinMs: number): Promise<string> {
    const { stdout } = await this.#inside('curl', '-sS', '--max-time', String(withinMs / 1_000), url)
    return stdout
  }

  async #inside(...command: string[]): Promise<{ stdout: string }> {
    const [first = '', ...rest] = [...this.through, ...command]
    return await run(first, rest)
  }
}

/** How a network is, where it matters. */
export interface NetworkOptions {
  /** First three parts of its addresses; left out: any. */
  subnet?: string
  /** Name of each machine's card. */
  card?: string
}

/** Several machines on one network, beside this one. Needs root, and the Debian packages iproute2, iptables and curl. */
export class MachineNetwork implements AsyncDisposable {
  /** Address of the machine of the test. */
  readonly address: string
  readonly #name: string
  readonly #subnet: string
  readonly #card: string
  readonly #namespaces: string[] = []

  private constructor(name: string, subnet: string, card: string) {
    this.#name = name
    this.#card = card
    this.#subnet = subnet
    this.address = `${subnet}.1`
  }

  /** Whether this system lets the tests make machines. */
  static get possible(): boolean {
    return process.getuid?.() === 0 && spawnSync('iptables', ['--version']).status === 0
  }

  /** Creates the network, with the machine of the test alone. */
  static async create({ subnet, card = 'card' }: NetworkOptions = {}): Promise<MachineNetwork> {
    // Test files that run at the same time have networks of their own.
    const name = `rd${randomBytes(4).toString('hex')}`
    const network = new MachineNetwork(name, subnet ?? `10.${randomInt(100, 250)}.${randomInt(256)}`, card)
    await run('ip', ['link', 'add', name, 'type', 'bridge'])
    await run('ip', ['address', 'add', `${network.address}/${prefixLength}`, 'dev', name])
    await run('ip', ['link', 'set', name, 'up'])
    return network
  }

  /** Adds a machine. @param number last part of its address */
  async add(number = this.#namespaces.length + 2): Promise<Machine> {
    const [namespace, cable] = [`${this.#name}-${number}`, `${this.#name}-${number}`]
    await run('ip', ['netns', 'add', namespace])
    this.#namespaces.push(namespace)
    const machine = new Machine(namespace, `${this.#subnet}.${number}`, this.#card)
    const inside = ['-netns', namespace]
    await run('ip', ['link', 'add', cable, 'type', 'veth', 'peer', 'name', this.#card, 'netns', namespace])
    await run('ip', ['link', 'set', cable, 'master', this.#name, 'up'])
    await run('ip', [...inside, 'address', 'add', `${machine.address}/${prefixLength}`, 'dev', this.#card])
    await run('ip', [...inside, 'link', 'set', this.#card, 'up'])
    await run('ip', [...inside, 'link', 'set', 'lo', 'up'])
    return machine
  }

  /** Removes all machines; processes in them are to be ended before. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const namespace of this.#namespaces.splice(0)) await run('ip', ['netns', 'delete', namespace])
    await run('ip', ['link', 'delete', this.#name])
  }
}
