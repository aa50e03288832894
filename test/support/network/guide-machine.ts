import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Machine } from './machine-network.ts'

const run = promisify(execFile)
/** Folders of this system that each machine changes for itself. */
const ownFolders = ['etc', 'var/lib', 'var/log', 'usr/bin']

/** A machine as a guide sets it up: a network and folders of its own, with the programs of this one. Services are started as its service manager would. */
export class GuideMachine {
  readonly name: string
  readonly machine: Machine
  readonly #folder: string
  /** Keeps the folders. */
  readonly #keeper: ChildProcess
  readonly #services = new Map<string, ChildProcess>()
  /** Last words of each service. */
  readonly #log = new Map<string, string[]>()

  private constructor(name: string, machine: Machine, folder: string, keeper: ChildProcess) {
    this.name = name
    this.machine = machine
    this.#folder = folder
    this.#keeper = keeper
  }

  static async start(name: string, machine: Machine): Promise<GuideMachine> {
    const folder = await mkdtemp('/var/tmp/roomdesk-guide-')
    const mounts = ownFolders.map((own) => {
      const [upper, work] = [join(folder, own, 'upper'), join(folder, own, 'work')]
      return `mkdir -p ${upper} ${work} && mount -t overlay overlay -o lowerdir=/${own},upperdir=${upper},workdir=${work} /${own}`
    })
    const script = [...mounts, 'mount -t tmpfs tmpfs /run', 'echo ready', 'exec sleep infinity'].join(' && ')
    const [command = '', ...words] = machine.through
    const keeper = spawn(command, [...words, 'unshare', '--mount', 'sh', '-c', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(keeper.stdout, 'data')
    return new GuideMachine(name, machine, folder, keeper)
  }

  /** Command that starts a program in this machine; the program itself follows. */
  get through(): readonly string[] {
    return ['nsenter', '--target', String(this.#keeper.pid), '--mount', '--net', '--']
  }

  /** Runs a script of a page. @param input what is typed, where something is asked */
  async sh(script: string, { input, env = {} }: { input?: string; env?: NodeJS.ProcessEnv } = {}): Promise<string> {
    const file = join(this.#folder, 'script.sh')
    await writeFile(file, `set -e\n${script}`)
    // A terminal, for programs that ask for passwords.
    const words = input === undefined ? ['sh', file] : ['script', '-qfec', `sh ${file}`, '/dev/null']
    const [command = '', ...rest] = [...this.through, ...words]
    const child = spawn(command, rest, { stdio: ['pipe', 'pipe', 'pipe'], env: { ...process.env, ...env } })
    let said = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (bytes: Buffer) => void (said += bytes.toString()))
    child.stdin.end(input ?? '')
    const [code] = (await once(child, 'close')) as [number | null]
    if (code !== 0) throw new Error(`${this.name}: a script ended with ${code}:\n${script}\n${said}`)
    return said
  }

  /** Writes a file as the page has it. */
  async file(path: string, content: string, { owner = 'root', mode = '644' } = {}): Promise<void> {
    const draft = join(this.#folder, 'draft')
    await writeFile(draft, content)
    await this.sh(`mkdir -p $(dirname ${path}) && install -o ${owner} -m ${mode} ${draft} ${path}`)
  }

  /** Starts a service. @param user that it runs as */
  service(name: string, command: readonly string[], user = 'root', env: NodeJS.ProcessEnv = {}): void {
    const as = user === 'root' ? [] : ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--init-groups']
    const [first = '', ...rest] = [...this.through, ...as, ...command]
    const home = user === 'postgres' ? { HOME: '/var/lib/postgresql' } : {}
    const child = spawn(first, rest, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...home, ...env } })
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (bytes: Buffer) => {
        const said = this.#log.get(name) ?? []
        said.push(bytes.toString().trimEnd())
        this.#log.set(name, said.slice(-8))
      })
    this.#services.set(name, child)
  }

  /** Last words of its services, for the message of a failed test. */
  lastWords(): string {
    return [...this.#log].map(([service, said]) => `${this.name} ${service}:\n${said.join('\n')}`).join('\n')
  }

  /** Kills a service. */
  async kill(name: string): Promise<void> {
    const child = this.#services.get(name)
    this.#services.delete(name)
    if (child?.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }

  /** Kills the process that a file names. */
  async killNamed(file: string): Promise<void> {
    const pid = Number((await this.sh(`cat ${file}`)).split('\n')[0])
    if (pid > 1) process.kill(pid, 'SIGKILL')
  }

  async remove(): Promise<void> {
    for (const name of [...this.#services.keys()]) await this.kill(name)
    await this.killNamed('/var/lib/postgresql/15/roomdesk/postmaster.pid').catch(() => undefined)
    const ended = once(this.#keeper, 'exit')
    this.#keeper.kill('SIGKILL')
    await ended
    await rm(this.#folder, { recursive: true, force: true })
  }
}

/** Code blocks of a page, by the heading or paragraph that they follow. */
export class GuidePage {
  readonly #text: string

  private constructor(text: string) {
    this.#text = text
  }

  static async read(path: string): Promise<GuidePage> {
    return new GuidePage(await readFile(path, 'utf8'))
  }

  /** The first code block behind these words. @throws Error where there is none: the page has changed */
  block(words: string): string {
    const from = this.#text.indexOf(words)
    const match = from === -1 ? null : /\n```\w*\n([^]*?)\n```/.exec(this.#text.slice(from))
    if (match?.[1] === undefined) throw new Error(`The guide has no block behind ${JSON.stringify(words)}.`)
    return `${match[1]}\n`
  }
}

/** A folder that all machines see, as a person brings files from one to the other. */
export async function commonFolder(): Promise<string> {
  return await mkdtemp('/var/tmp/roomdesk-common-')
}

export { run }
