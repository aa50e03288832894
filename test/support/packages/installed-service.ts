import { type ChildProcessByStdio, spawn, execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { serviceEnvironment } from '../../../packaging/server/service-environment.mjs'
import { enterRoot } from './debian-root.ts'

const clientStory = join(import.meta.dirname, 'client-story.ts')

/** Reads section [Service] of a systemd unit; a repeated key has all its values. */
export function readUnit(text: string): Map<string, string[]> {
  const values = new Map<string, string[]>()
  const section = /^\[Service\]\n([^]*?)(?=^\[|(?![^]))/m.exec(text)?.[1] ?? ''
  for (const [, name = '', value = ''] of section.matchAll(/^(\w+)=(.*)$/gm))
    values.set(name, [...(values.get(name) ?? []), value])
  return values
}

/** A controller in a network namespace of its own. */
export class IsolatedController implements AsyncDisposable {
  readonly ready: string
  readonly #child: ChildProcessByStdio<null, Readable, Readable>

  private constructor(child: ChildProcessByStdio<null, Readable, Readable>, ready: string) {
    this.#child = child
    this.ready = ready
  }

  /** Starts it with the arguments of `unshare`, and resolves when it is ready. */
  static async start(unshare: readonly string[], env: NodeJS.ProcessEnv): Promise<IsolatedController> {
    const child = spawn('/usr/bin/unshare', unshare, { stdio: ['ignore', 'pipe', 'pipe'], env })
    const said: string[] = []
    createInterface(child.stderr).on('line', (line) => said.push(line))
    for await (const line of createInterface(child.stdout)) {
      if (line.startsWith('ready ')) return new IsolatedController(child, line)
    }
    throw new Error(`it ended before it was ready:\n${said.join('\n')}`)
  }

  /** Starts the unit of this root folder: its program, user and environment, without capabilities. */
  static async startUnit(root: string): Promise<IsolatedController> {
    const unit = readUnit(readFileSync(join(root, 'usr/lib/systemd/system/roomdesk.service'), 'utf8'))
    const only = (name: string): string => {
      const values = unit.get(name) ?? []
      if (values.length !== 1) throw new Error(`the unit has ${values.length} values of ${name}`)
      return String(values[0])
    }
    const optionsFile = only('EnvironmentFile').replace(/^-/, '')
    const fixed = serviceEnvironment(only('Environment').replaceAll(' ', '\n'))
    const env = { ...fixed, ...serviceEnvironment(readFileSync(join(root, optionsFile), 'utf8')) }
    const user = only('User')
    const bare = ['--no-new-privs', '--bounding-set=-all', '--inh-caps=-all']
    const setpriv = [`--reuid=${user}`, `--regid=${only('Group')}`, '--clear-groups', ...bare]
    return IsolatedController.start(enterRoot(root, only('ExecStart').split(' '), setpriv), {
      PATH: '/usr/bin:/usr/sbin:/bin:/sbin',
      ...env,
    })
  }

  /** Runs the story of a client and an operator in it; returns the room that it kept and the one that it removed. */
  clientStory(key: string, rooms?: { kept: string; removed: string }): { kept: string; removed: string } {
    const story = [process.execPath, clientStory, rooms?.kept ?? 'new', rooms?.removed ?? '', key]
    const said = execFileSync('nsenter', ['-t', String(this.#child.pid), '-n', ...story], {
      input: this.ready,
      encoding: 'utf8',
      timeout: 40_000,
    })
    return JSON.parse(said) as { kept: string; removed: string }
  }

  /** Stops it like systemd; resolves to its exit code. */
  async stop(): Promise<number | null> {
    if (this.#child.exitCode !== null) return this.#child.exitCode
    this.#child.kill('SIGTERM')
    const [code] = (await once(this.#child, 'exit')) as [number | null]
    return code
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }
}
