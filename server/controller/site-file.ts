import { readFile } from 'node:fs/promises'
import { RefusalError } from '../../shared/domain/outcome.ts'
import { errorCode } from '../../shared/error-code.ts'
import { licenceSchema } from '../../shared/licence.ts'
import { firstTestCameraPort, type TestCameraSpec } from '../../shared/media/test-camera.ts'
import { nodeConfigOf } from '../../shared/node.ts'
import { keepHiddenSecrets, mergeSettings } from '../../shared/settings.ts'
import { type SiteFile, siteFileSchema } from '../../shared/site-file.ts'
import { changedRecords } from '../event-log/site-state.ts'
import { movedPortProblem, portAfter, portProblem } from '../nodes/embedded/node-ports.ts'
import { nodeSecretsAfter } from '../nodes/secrets/node-secrets.ts'
import { causedBy, type PlannedChange } from '../store/change-cause.ts'
import type { StoredNode } from '../store/records.ts'
import { sealedPlaceOf } from '../store/sealed-places.ts'
import { putSettings, siteSettings } from '../store/site-settings.ts'
import type { Store } from '../store/store.ts'
import { wallClock } from '../store/system/time.ts'
import { pendingEvent } from '../store/transactions/job.ts'

/** Thrown if a site file is unreadable or invalid. `problems` contains each fault with its JSON path. */
export class SiteFileError extends Error {
  override readonly name: string = 'SiteFileError'
  readonly problems: readonly string[]
  constructor(message: string, problems: readonly string[] = []) {
    super([message, ...problems].join('\n  '))
    this.problems = problems
  }
}

/**
 * Reads and validates a site file.
 * @throws SiteFileError
 */
export async function readSiteFile(path: string): Promise<SiteFile> {
  let bytes: Buffer
  try {
    bytes = await readFile(path)
  } catch (error) {
    throw new SiteFileError(`The site file ${path} cannot be read (${errorCode(error) || 'unknown'}).`)
  }
  const text = textOf(bytes)
  if (text === undefined) {
    throw new SiteFileError(`The site file ${path} is not text in UTF-8 or UTF-16 with a mark: save it as UTF-8.`)
  }
  let document: unknown
  try {
    document = JSON.parse(text)
  } catch (error) {
    // The parser's message quotes the text around the fault, which may be a secret: only the position is shown.
    const place = /position \d+( \(line \d+ column \d+\))?/.exec(error instanceof Error ? error.message : '')?.[0]
    throw new SiteFileError(`The site file ${path} is not JSON${place === undefined ? '' : `: a fault at ${place}`}.`)
  }
  const parsed = siteFileSchema.safeParse(document)
  if (!parsed.success) {
    throw new SiteFileError(
      `The site file ${path} has bad content:`,
      parsed.error.issues.map((issue) => `${jsonPath(issue.path)}: ${issue.message}`),
    )
  }
  const twice = duplicates(parsed.data)
  if (twice.length > 0) throw new SiteFileError(`The site file ${path} has bad content:`, twice)
  return parsed.data
}

/**
 * Returns the text without its byte order mark; undefined if the encoding is not supported. PowerShell 5 writes UTF-16
 * with `>`, and Windows editors write UTF-8 with a byte order mark.
 */
function textOf(bytes: Buffer): string | undefined {
  const mark = bytes.toString('hex', 0, 2)
  const encoding = mark === 'fffe' ? 'utf-16le' : mark === 'feff' ? 'utf-16be' : 'utf-8'
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(bytes)
    return text.includes('\0') ? undefined : text
  } catch {
    // The caller reports the unsupported encoding.
    return undefined
  }
}

/**
 * Applies a site file in one transaction, completely or not at all. Idempotent. The sessions of a credential end if its
 * secret changes or it is disabled.
 * @throws ApiError storage; SiteFileError
 */
export async function applySiteFile(store: Store, site: SiteFile, now = Date.now()): Promise<void> {
  const applied = store.transact(['site', 'settings', 'licence', 'test_cameras', 'test_people'], (transaction) => {
    for (const credential of site.credentials ?? []) {
      const before = store.get('credentials', credential.access_key)
      const place = sealedPlaceOf('credentials', credential.access_key)
      const sameSecret = before !== undefined && store.unseal(before.secret_key_sealed, place) === credential.secret_key
      const enabled = credential.enabled ?? before?.enabled ?? true
      const after = {
        access_key: credential.access_key,
        secret_key_sealed: sameSecret ? before.secret_key_sealed : store.seal(credential.secret_key, place),
        label: credential.label ?? before?.label ?? credential.access_key,
        enabled,
        p2p: credential.p2p ?? before?.p2p ?? false,
        created_at: before?.created_at ?? now,
        rotated_at: sameSecret ? before.rotated_at : now,
      }
      if (JSON.stringify(after) !== JSON.stringify(before)) transaction.put('credentials', after.access_key, after)
      if (before !== undefined && (!sameSecret || !enabled)) {
        for (const [token, session] of store.all('sessions')) {
          if (session.access_key === after.access_key) transaction.delete('sessions', token)
        }
      }
    }
    for (const node of nodesAfter(store, site, now)) {
      if (JSON.stringify(node) !== JSON.stringify(store.get('nodes', node.name)))
        transaction.put('nodes', node.name, node)
    }
    if (site.licence !== undefined) {
      const before = store.get('licence', 'site') ?? licenceSchema.parse({})
      const {
        expires_at = before.expires_at,
        max_rooms = before.max_rooms,
        max_users = before.max_users,
      } = site.licence
      transaction.put('licence', 'site', { expires_at, max_rooms, max_users })
    }
    for (const camera of camerasAfter(store, site)) {
      if (JSON.stringify(camera) !== JSON.stringify(store.get('test_cameras', camera.name)))
        transaction.put('test_cameras', camera.name, camera)
    }
    for (const group of site.lab?.people ?? []) {
      if (JSON.stringify(group) !== JSON.stringify(store.get('test_people', group.name)))
        transaction.put('test_people', group.name, group)
    }
    if (site.settings !== undefined) {
      const before = siteSettings(store)
      const after = mergeSettings(before, keepHiddenSecrets(site.settings, before))
      const stays = store.get('settings', 'site') !== undefined && JSON.stringify(after) === JSON.stringify(before)
      if (!stays) putSettings(transaction, after, store)
    }
  })
  await applied.catch((error: unknown) => {
    // A RefusalError means that a limit of the site would be exceeded.
    throw error instanceof RefusalError ? new SiteFileError('The site file cannot be applied:', [error.message]) : error
  })
}

/**
 * Applies a site file. Each changed record causes an event. If the file overwrites stored values, which the console or
 * the file changed, a line is also written to the program's log.
 * @param path path of the file; empty: unknown
 * @throws errors of `applySiteFile`
 */
export function recordSiteFile(
  store: Store,
  path: string,
  logger: { info(fields: object, message: string): void },
  site: SiteFile,
): Promise<void> {
  const about = {
    kind: 'site.changed',
    actor: { type: 'siteFile', name: path, address: '' },
    params: { procedure: 'siteFile' },
  } as const
  const eventsOf = (planned: PlannedChange) =>
    changedRecords(planned, ['credential', 'node', 'licence', 'settings'], store).map((changed) => {
      const { type, id } = changed.subject
      const fields = Object.keys(changed.before).filter((field) => field in changed.after)
      if (fields.length > 0) logger.info({ record: `${type} ${id}`, fields }, 'site file replaced stored values')
      return pendingEvent({ at: wallClock(), ...about, ...changed })
    })
  return causedBy({ eventsOf }, () => applySiteFile(store, site))
}

/** Returns the records of the nodes in a site file. @throws SiteFileError if two nodes would use the same port */
function nodesAfter(store: Store, { nodes = [] }: SiteFile, now: number): StoredNode[] {
  const names = new Set(nodes.map(({ name }) => name))
  const secretsAfter = nodeSecretsAfter(store)
  const after = nodes.map((input) => {
    const node = nodeConfigOf(input)
    const before = store.get('nodes', node.name)
    return {
      ...node,
      port: portAfter(node, before),
      created_at: before?.created_at ?? now,
      draining: before?.draining ?? false,
      ...(before?.drain === undefined ? {} : { drain: before.drain }),
      secrets_sealed: secretsAfter(input, before),
    }
  })
  const all = [...[...store.all('nodes').values()].filter(({ name }) => !names.has(name)), ...after]
  const problems = after.flatMap((node, index) => {
    const before = store.get('nodes', node.name)
    const problem = (before && movedPortProblem(node, before)) ?? portProblem(node, all)
    return problem === undefined ? [] : [`$.nodes[${index}].port: ${problem.message}`]
  })
  if (problems.length > 0) throw new SiteFileError('The site file cannot be applied:', problems)
  return after
}

function duplicates(site: SiteFile): string[] {
  const seen = (path: string, keys: readonly string[]): string[] =>
    keys.flatMap((key, index) =>
      keys.indexOf(key) < index ? [`$.${path.replace('#', String(index))}: is named twice`] : [],
    )
  return [
    ...seen(
      'credentials[#].access_key',
      (site.credentials ?? []).map((credential) => credential.access_key),
    ),
    ...seen(
      'nodes[#].name',
      (site.nodes ?? []).map((node) => node.name),
    ),
    ...seen(
      'lab.cameras[#].name',
      (site.lab?.cameras ?? []).map((camera) => camera.name),
    ),
    ...seen(
      'lab.people[#].name',
      (site.lab?.people ?? []).map((group) => group.name),
    ),
  ]
}

function jsonPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, step) => (typeof step === 'number' ? `${text}[${step}]` : `${text}.${String(step)}`),
    '$',
  )
}

/** Returns the cameras of a site file with their ports. */
function camerasAfter(store: Pick<Store, 'get' | 'all'>, { lab }: SiteFile): TestCameraSpec[] {
  const cameras = lab?.cameras ?? []
  const taken = new Set([...store.all('test_cameras').values(), ...cameras].map(({ port }) => port))
  let next = firstTestCameraPort
  return cameras.map((camera) => {
    if (camera.port !== 0) return camera
    const before = store.get('test_cameras', camera.name)
    if (before !== undefined) return { ...camera, port: before.port }
    while (taken.has(next)) next += 1
    taken.add(next)
    return { ...camera, port: next }
  })
}
