import { readFileSync } from 'node:fs'
import { arch, availableParallelism, freemem, homedir, platform, release, totalmem, version } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Attention } from '../../shared/console/site.ts'
import { hideSecrets, type Settings } from '../../shared/settings.ts'
import { Diagnostics } from '../diagnostics/diagnostics.ts'
import { knownSecrets } from '../diagnostics/scrubber.ts'
import type { Readiness } from '../readiness/readiness.ts'
import type { Store } from '../store/store.ts'
import type { Listening } from './listening.ts'
import type { ControllerOptions } from './options.ts'
import type { Services } from './services.ts'

interface DiagnosticsDependencies {
  options: ControllerOptions
  services: Pick<Services, 'store' | 'pool' | 'peopleNames'>
  settings: () => Settings
  listeners: Listening['listeners']
  readiness: Readiness
  attention: () => Attention[]
  startedAt: number
}

const counted = [
  'rooms',
  'devices',
  'credentials',
  'nodes',
  'accounts',
  'account_sessions',
  'access_tokens',
  'recordings',
] as const

/** Composes the diagnostics of a controller. */
export function siteDiagnostics(dependencies: DiagnosticsDependencies): Diagnostics {
  const { options, services, settings } = dependencies
  const { store, peopleNames } = services
  const { recentLog, logFiles = [], crashFolder } = options.diagnostics ?? {}
  return new Diagnostics({
    facts: async () => ({
      about: about(dependencies),
      readiness: await dependencies.readiness.run(),
      settings: hideSecrets(settings()),
      state: stateOf(dependencies),
    }),
    secrets: () => [...knownSecrets(store, settings()), ...ofOptions(options)],
    names: () => [...peopleNames.all(), ...ownNames(store), ...homeNames()],
    dataFolder: options.dataFolder,
    recentLog,
    logFiles,
    crashFolder,
  })
}

function about({ options, listeners, startedAt }: DiagnosticsDependencies): object {
  return {
    product: 'Roomdesk',
    version: options.version,
    versions: process.versions,
    machine: { platform: platform(), release: release(), version: version(), arch: arch() },
    cores: availableParallelism(),
    memory: { total: totalmem(), free: freemem(), process: process.memoryUsage() },
    started_at: new Date(startedAt).toISOString(),
    restarts: options.restarts?.times.map((at) => new Date(at).toISOString()) ?? [],
    store: options.database === undefined ? 'files' : 'postgres',
    listeners: listeners.views(),
  }
}

function stateOf({ services, attention }: DiagnosticsDependencies): object {
  const { store, pool } = services
  return {
    counts: Object.fromEntries(counted.map((name) => [name, store.all(name).size])),
    store: store.status(),
    attention: attention(),
    nodes: pool.nodes.views().map(({ config, state, since, last_error }) => ({
      name: config.name,
      kind: config.kind,
      enabled: config.enabled,
      state,
      since: new Date(since).toISOString(),
      last_error,
    })),
  }
}

/** Returns secrets that are not in the store. */
function ofOptions({ dataFolder, sealKey, database }: ControllerOptions): string[] {
  const password = URL.parse(database ?? '')?.password ?? ''
  const keys = [join(dataFolder, 'console.key'), sealKey ?? join(dataFolder, 'seal.key')].map(textOf)
  return [...keys, password, safelyDecoded(password)].filter((text) => text !== '')
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    // A missing file contains no secret.
    return ''
  }
}

function safelyDecoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function ownNames(store: Pick<Store, 'all'>): string[] {
  const accounts = Array.from(store.all('accounts').values(), ({ name }) => name)
  const deleted = Array.from(store.all('trash').values(), (entry) => (entry.kind === 'rooms' ? entry.record.topic : ''))
  return [...accounts, ...Array.from(store.all('rooms').values(), ({ topic }) => topic), ...deleted]
}

/** Returns the user's home folder, which contains a person's name; empty if the home folder is a root folder. */
function homeNames(): string[] {
  const home = homedir()
  return dirname(home) === home ? [] : [home, pathToFileURL(home).href]
}
