import { join } from 'node:path'
import type { z } from 'zod'
import type { SiteControllers } from '../../../server/console/site-controllers.ts'
import type { Controller } from '../../../server/controller/controller.ts'
import { forkMediaProcess } from '../../../server/nodes/embedded/fork-process.ts'
import type { SpawnMediaProcess } from '../../../server/nodes/embedded/media-process.ts'
import type { siteFileSchema } from '../../../shared/site-file.ts'
import type { ProcedureInput, ProcedureName, ProcedureOutput } from '../../../shared/console/contract.ts'
import type { SettingsPatch } from '../../../shared/settings.ts'
import { ApiClient } from '../api-client.ts'
import { removeFolder } from '../headless.ts'
import { mediaProgram } from '../media/media-program.ts'
import { openController } from './controller-site.ts'
import type { DeviceView } from '../../../shared/domain/devices.ts'

const pageFolder = join(import.meta.dirname, '../media/page')
const lobby = { access_key: 'lobby', secret_key: 'a secret of the tests', label: 'Lobby', p2p: true }

/** Options of the site. */
export interface MediaSiteOptions {
  /** Data folder of an earlier site. */
  folder?: string
  settings?: SettingsPatch
  /** Credential of `api`; default: one with the permission for P2P rooms. */
  credential?: { label: string; access_key: string; secret_key: string }
  /** Nodes; default: one embedded node, `here`. */
  nodes?: z.input<typeof siteFileSchema>['nodes']
  /** Test cameras and test people of the site file. */
  lab?: z.input<typeof siteFileSchema>['lab']
  nodePort?: number
  host?: string
  spawn?: SpawnMediaProcess
  /** Folder of recordings, which exists; default: nothing can be recorded. */
  recordings?: string
  hangsAfterMs?: number
  cores?: number
  /** Controllers of the site; default: this one alone. */
  controllers?: SiteControllers
}

/** A complete controller on free ports, with the embedded node in a process of its own, used through the APIs. */
export class MediaSite implements AsyncDisposable {
  readonly controller: Controller
  readonly folder: string
  /** Log entries of level warn and above. */
  readonly logged: string[]
  readonly api: ApiClient
  /** Process ids of all media processes so far, the current one last. */
  readonly pids: number[]

  private constructor(parts: Pick<MediaSite, 'controller' | 'folder' | 'logged' | 'api' | 'pids'>) {
    this.controller = parts.controller
    this.folder = parts.folder
    this.logged = parts.logged
    this.api = parts.api
    this.pids = parts.pids
  }

  static async start(options: MediaSiteOptions = {}): Promise<MediaSite> {
    const { nodes = [{ name: 'here', kind: 'embedded' }], settings, credential = lobby, lab } = options
    const pids: number[] = []
    const spawn = options.spawn ?? forkMediaProcess(mediaProgram, [pageFolder], options.recordings)
    const fast: SettingsPatch = {
      ...settings,
      // Polls often, with a deadline that a busy machine meets.
      deadlines: { health_interval_ms: 200, health_ms: 10_000, ...settings?.deadlines },
      devices: { reconnect_first_ms: 100, reconnect_longest_ms: 500, ...settings?.devices },
    }
    const { controller, folder, logged } = await openController(
      {
        ...(options.folder === undefined ? {} : { dataFolder: options.folder }),
        cores: options.cores,
        recordingsDir: options.recordings,
        controllers: options.controllers,
        overrides: { host: options.host, node_port: options.nodePort ?? 0 },
        media: {
          spawn: () => {
            const child = spawn()
            if (child.pid !== undefined) pids.push(child.pid)
            return child
          },
          pageFolder,
          hangsAfterMs: options.hangsAfterMs,
        },
      },
      { credentials: [credential], nodes, settings: fast, lab },
    )
    const urls = { media: controller.listeners.url('media'), device: controller.listeners.url('device') }
    const api = new ApiClient(urls, credential)
    await api.authenticate()
    return new MediaSite({ controller, folder, logged, api, pids })
  }

  get nodeUrl(): string {
    return this.controller.listeners.url('node')
  }

  /** Process id of the current media process. */
  get pid(): number {
    const pid = this.pids.at(-1)
    if (pid === undefined) throw new Error('no media process was started')
    return pid
  }

  /** Calls a console procedure and throws if it fails. */
  async rpc<N extends ProcedureName>(name: N, input: ProcedureInput<N>): Promise<ProcedureOutput<N>> {
    const result = await this.controller.dispatch(name, input, { transport: 'internal', client: '', role: 'admin' })
    if (!result.ok) throw new Error(`${name}: ${result.error.code}: ${result.error.message}`)
    return result.value as ProcedureOutput<N>
  }

  /** Calls createOutgoingUser with the usual parameters. */
  async join(roomId: string, userId: string, userAddress: string, options: Record<string, string> = {}) {
    const params = { roomId, userId, userName: `Name of ${userId}`, userAddress, options: JSON.stringify(options) }
    return await this.api.outgoing('createOutgoingUser', params)
  }

  /** Lists the users of a room through the API. */
  async users(roomId: string): Promise<string[]> {
    const answer = await this.api.get('/rtc/room/get_room_info', { room_id: roomId })
    if (!Array.isArray(answer.user_list)) throw new Error(JSON.stringify(answer))
    return answer.user_list.map((user: { user_id: string }) => user.user_id)
  }

  async device(userId: string): Promise<DeviceView> {
    const found = (await this.rpc('devices.list', {})).find((device) => device.userId === userId)
    if (found === undefined) throw new Error(`there is no outgoing user ${userId}`)
    return found
  }

  /** Resolves when the condition holds, checked at each event of the console and periodically; rejects after `withinMs`. */
  async until(condition: () => boolean | Promise<boolean>, withinMs = 20_000): Promise<void> {
    const end = performance.now() + withinMs
    while (!(await condition())) {
      if (performance.now() > end) throw new Error(`it never held: ${String(condition)}\n${this.logged.join('')}`)
      await this.#nextEvent()
    }
  }

  /** Stops it in order; keeps its data. */
  async stop(): Promise<void> {
    await this.controller.stop()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
    await removeFolder(this.folder)
  }

  #nextEvent(): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer)
        unsubscribe()
        resolve()
      }
      const timer = setTimeout(done, 100)
      const unsubscribe = this.controller.hub.listen(done)
    })
  }
}

/** Tells whether a process exists. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
